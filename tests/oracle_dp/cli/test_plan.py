"""Plans on public data."""

from __future__ import annotations

import json

import pytest

from .support import refused, run


def test_plan_is_a_table_that_aligns() -> None:
    words = ("--attributes", "sex,race", "--epsilons", "0.1,10", "--runs", "2", "--rows", "500")
    result = run("plan", "train", "adult", *words)
    assert result.exit_code == 0
    title, rows, heading, *lines = result.stdout.splitlines()
    assert "sex,race" in title
    assert "500 public rows" in rows
    assert [line.split()[0] for line in lines] == ["0.1", "10"]
    assert {len(line) for line in lines} == {len(heading)}


def test_plan_on_synthetic_data_as_json() -> None:
    words = ("--levels", "3,2", "--rows", "200", "--epsilons", "5", "--runs", "1", "--json")
    (line,) = json.loads(run("plan", "train", "synthetic", *words).stdout)
    assert line["epsilon"] == 5
    assert 0 <= line["error"] < 0.6
    assert not line["unfinished"]


def test_plan_says_what_a_limit_left_undone() -> None:
    words = ("--epsilons", "0.1", "--runs", "1", "--seconds", "1e-6")
    result = run("plan", "train", "adult", *words)
    assert result.exit_code == 0
    assert "not drawn within the limit" in result.stdout


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--epsilons", "nan"), "epsilon"),
        (("--epsilons", "a"), "epsilons"),
        (("--runs", "0"), "runs"),
        (("--rows", "0"), "rows"),
        (("--attributes", "height"), "height"),
        (("--weights", "1"), "weights"),
        (("--levels", "3,3"), "levels: only 'synthetic' has it"),
    ],
)
def test_plan_names_what_is_wrong(words: tuple[str, ...], named: str) -> None:
    result = run("plan", "train", "adult", *words)
    refused(result, named)
