"""The commands of ``oracle-dp ledger``, and ``--ledger`` of ``train``."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from oracle_dp import Ledger
from oracle_dp.cli import app


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(app, list(map(str, words)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "privacy.ledger"


def test_create_spend_and_show(path: Path) -> None:
    made = run(
        "ledger", "create", path, "--dataset", "adult", "--epsilon", "1/3", "--delta", "1e-6"
    )
    assert made.exit_code == 0, made.output
    assert Ledger.open(path).budget("adult").epsilon == Fraction(1, 3)
    added = run("ledger", "create", path, "--dataset", "survey", "--epsilon", "2")
    assert added.exit_code == 0, added.output
    train: tuple[Any, ...] = (
        *("train", "adult", "--attributes", "sex", "--epsilon", "0.25"),
        *("--ledger", path, "--dataset", "adult", "--json"),
    )
    assert run(*train).exit_code == 0
    # The second does not fit, and leaves everything as it was.
    again = run(*train)
    assert again.exit_code == 1
    assert "OverspendError" in again.output
    shown = run("ledger", "show", path, "--json")
    adult, survey = json.loads(shown.stdout)["datasets"]
    assert (adult["dataset"], survey["dataset"]) == ("adult", "survey")
    assert adult["spent"]["exact"] == {"epsilon": "1/4", "delta": "0"}
    assert adult["remaining"]["exact"] == {"epsilon": "1/12", "delta": "1/1000000"}
    assert [charge["mechanism"] for charge in adult["charges"]] == ["exponential"]
    assert survey["charges"] == []
    text = run("ledger", "show", path, "--dataset", "adult").stdout
    assert "exponential" in text
    assert "survey" not in text


def test_remaining_is_rounded_down(path: Path) -> None:
    Ledger.create(path, {"adult": Fraction(1, 3)})  # a budget may be one
    shown = json.loads(run("ledger", "remaining", path, "--json").stdout)
    (entry,) = shown["datasets"]
    assert Fraction(entry["remaining"]["epsilon"]) < Fraction(1, 3)
    assert "charges" not in entry


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("show", "{}"), "LedgerFileError"),
        (("remaining", "{}"), "there is no file"),
        (("create", "{}", "--dataset", "x", "--epsilon", "much"), "epsilon"),
        (("create", "{}", "--dataset", "x", "--epsilon", "-1"), "epsilon"),
        (("create", "{}", "--dataset", "", "--epsilon", "1"), "dataset"),
        (("create", "{}", "--dataset", "x", "--epsilon", "1", "--composition", "zcdp"), "delta"),
    ],
)
def test_what_is_refused(words: tuple[str, ...], message: str, path: Path) -> None:
    result = run("ledger", *(word.format(path) for word in words))
    assert result.exit_code == 1
    assert message in result.output
    assert not path.exists()


def test_names_that_are_there_or_not(path: Path) -> None:
    first = ("ledger", "create", path, "--dataset", "x", "--epsilon")
    assert run(*first, "1").exit_code == 0
    twice = run(*first, "5")
    assert (twice.exit_code, "a budget already" in twice.output) == (1, True)
    other = run("ledger", "show", path, "--dataset", "y")
    assert (other.exit_code, "no budget for 'y'" in other.output) == (1, True)


def test_a_ledger_needs_a_data_set(path: Path) -> None:
    Ledger.create(path, {"adult": 1})
    result = run("train", "adult", "--attributes", "sex", "--ledger", path)
    assert result.exit_code == 1
    assert "dataset: needed together with ledger" in result.output
    assert Ledger.open(path).charges == ()


def test_amend(path: Path) -> None:
    Ledger.create(path, {"adult": 1})
    words = ("ledger", "amend", path, "--dataset", "adult", "--reason", "a new study")
    done = run(*words, "--epsilon", "3/2", "--delta", "1e-6")
    assert done.exit_code == 0, done.output
    assert "epsilon 3/2, delta 1/1000000 (before: epsilon 1, delta 0)" in done.output
    (entry,) = json.loads(run("ledger", "show", path, "--json").stdout)["datasets"]
    (amendment,) = entry["amendments"]
    assert (amendment["reason"], amendment["charges_before"]) == ("a new study", 0)
    assert amendment["before"]["exact"] == {"epsilon": "1", "delta": "0"}
    assert amendment["after"]["exact"] == {"epsilon": "3/2", "delta": "1/1000000"}
    assert "a new study" in run("ledger", "show", path).stdout
    assert "amendments" not in run("ledger", "remaining", path, "--json").stdout
    for more, said in ((("--epsilon", "-1"), "epsilon"), ((), "at least one")):
        refused = run(*words, *more)
        assert (refused.exit_code, said in refused.output) == (1, True)
    assert len(Ledger.open(path).amendments) == 1
