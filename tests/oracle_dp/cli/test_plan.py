"""Plans on public data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .support import DOMAIN_FILE, own, refused, run


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


def test_plan_for_a_domain_file(tmp_path: Path) -> None:
    own(tmp_path)
    (tmp_path / "rows.csv").unlink()  # Not needed: the rows are made up.
    words = ("plan", "train", "--domain", str(tmp_path / "domain.toml"), "--epsilons", "5")
    result = run(*words, "--rows", "300", "--runs", "1")
    assert result.exit_code == 0
    title, rows, *_ = result.stdout.splitlines()
    assert title == "exponential on made-up rows for purpose,age, weights -1,0,1"
    assert rows.startswith("300 public rows")
    (line,) = json.loads(run(*words, "--runs", "1", "--attributes", "age", "--json").stdout)
    assert line["epsilon"] == 5


def test_plan_for_three_classes_is_of_one_card(tmp_path: Path) -> None:
    three = DOMAIN_FILE.replace('"no", ', '"no", "late", ')
    own(tmp_path, domain=three)
    words = ("--epsilons", "0.1875", "--rows", "300", "--runs", "3")
    many = ("plan", "train", "--domain", str(tmp_path / "domain.toml"))
    result = run(*many, *words)
    assert "; one of 3 cards, on its share of epsilon" in result.stdout
    assert result.stdout.splitlines()[-1].split()[0] == "0.1875"
    # The same made-up rows and seeds at a third of epsilon.
    (of_three,) = json.loads(run(*many, *words, "--json").stdout)
    words = ("--epsilons", "0.0625", *words[2:], "--levels", "3,3", "--json")
    (alone,) = json.loads(run("plan", "train", "synthetic", *words).stdout)
    assert (of_three["error"], of_three["spread"]) == (alone["error"], alone["spread"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "data: one of 'adult', 'synthetic' or --domain FILE.toml expected"),
        (("adult", "--domain", "d.toml"), "and not both"),
        (("synthetic", "--attributes", "sex"), "attributes: only 'adult' and a domain file"),
        (("synthetic", "--missing", "drop"), "missing: only 'adult' has it"),
        (("--domain", "d.toml", "--levels", "2"), "levels: only 'synthetic' has it"),
    ],
    ids=str,
)
def test_plan_on_one_thing_at_a_time(words: tuple[str, ...], message: str) -> None:
    refused(run("plan", "train", *words), message)
