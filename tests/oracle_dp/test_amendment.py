"""Budgets that are changed on purpose: recorded, and never below what is spent."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from oracle_dp import (
    Budget,
    Charge,
    Ledger,
    LedgerError,
    LedgerFileError,
    Neighbors,
    OverspendError,
    ParameterError,
)

Make = Callable[[Any], Ledger]


@pytest.fixture(params=["memory", "file"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    if request.param == "memory":
        return Ledger
    return lambda budgets: Ledger.create(tmp_path / "ledger", budgets)


def charge(epsilon: Any, delta: Any = 0, rho: Any = None, dataset: str = "survey") -> Charge:
    return Charge(
        dataset=dataset,
        mechanism="opdisc",
        epsilon=Fraction(epsilon),
        delta=Fraction(delta),
        neighbors=Neighbors.REPLACE,
        rho=rho,
    )


def test_an_overspend_says_how_and_then_it_fits(make: Make) -> None:
    ledger = make({"survey": 1.0, "census": 1.0})
    ledger.charge(charge(1))
    with pytest.raises(OverspendError, match=r"Ledger\.amend, oracle-dp ledger amend"):
        ledger.charge(charge(1))
    made = ledger.amend("survey", epsilon=2, reason="the board agreed")
    ledger.charge(charge(1))
    with pytest.raises(OverspendError):
        ledger.charge(charge("1/10"))
    assert ledger.remaining("survey") == (0, 0)
    assert ledger.budget("census").epsilon == 1
    assert ledger.amendments == (made,)
    assert (made.before.epsilon, made.after.epsilon, made.charges) == (1, 2, 1)
    assert (made.dataset, made.reason) == ("survey", "the board agreed")


def test_a_file_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    first = Ledger.create(path, {"survey": Budget(epsilon="1/3", delta=1e-6)})
    first.amend("survey", delta="1/7", reason="a first")
    second = Ledger.open(path)
    second.amend("survey", epsilon=0.5, reason="a second; with 'quotes'")
    assert first.amendments == second.amendments
    assert [one.reason for one in first.amendments] == ["a first", "a second; with 'quotes'"]
    assert first.budget("survey").epsilon == Fraction(1, 2)
    assert first.budget("survey").delta == Fraction(1, 7)
    for statement in ("DELETE FROM amendments", "UPDATE amendments SET reason = 'x'"):
        with sqlite3.connect(path) as connection, pytest.raises(sqlite3.IntegrityError):
            connection.execute(statement)
    connection.close()


def test_a_damaged_record_is_found(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    Ledger.create(path, {"survey": 1}).amend("survey", epsilon=2, reason="why")
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TRIGGER amendments_are_final")
        connection.execute("UPDATE amendments SET epsilon_after = 'much'")
    connection.close()
    with pytest.raises(LedgerFileError, match="damaged"):
        Ledger.open(path)


def test_lower_but_not_below_what_is_spent(make: Make) -> None:
    ledger = make({"survey": Budget(epsilon=3, delta=1e-3)})
    ledger.charge(charge(1, "1/10000"))
    for less in ({"epsilon": "99/100"}, {"delta": "1/10001"}, {"epsilon": 0, "delta": 0}):
        with pytest.raises(LedgerError, match="would not cover what is spent"):
            ledger.amend("survey", reason="a mistake", **less)
    assert ledger.amendments == ()
    assert ledger.budget("survey").epsilon == 3
    ledger.amend("survey", epsilon=1, delta=Fraction(1, 10000), reason="no more")
    assert ledger.remaining("survey") == (0, 0)
    with pytest.raises(OverspendError):
        ledger.charge(charge("1/1000000"))


def test_by_the_composition_of_the_budget(make: Make) -> None:
    """A hundred small charges: their epsilons add up to 10, their rhos to much less."""
    ledger = make({"survey": Budget(epsilon=8, delta=1e-6, composition="zcdp")})
    for _ in range(100):
        ledger.charge(charge("1/10"))
    assert 5 < ledger.spent("survey")[0] < 6
    ledger.amend("survey", epsilon=6, reason="enough")
    with pytest.raises(LedgerError):
        ledger.amend("survey", epsilon=5, reason="too little by any composition")
    # The smaller delta, the more rho costs.
    with pytest.raises(LedgerError):
        ledger.amend("survey", delta=1e-12, reason="too little")
    with pytest.raises(ParameterError, match="delta"):
        ledger.amend("survey", delta=0, reason="zcdp needs one")
    assert len(ledger.amendments) == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "at least one"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": "much"}, "epsilon"),
        ({"delta": 1}, "delta"),
        ({"epsilon": 2, "reason": " "}, "reason"),
        ({"epsilon": 2, "reason": None}, "reason"),
        ({"epsilon": 2, "reason": "\ud800"}, "name"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger", {"survey": 1})
    with pytest.raises((ParameterError, LedgerError), match=said):
        ledger.amend("survey", **{"reason": "why", **changes})
    assert ledger.amendments == ()
    assert ledger.budgets == {"survey": Budget(epsilon=1)}


def test_an_unknown_data_set(make: Make) -> None:
    with pytest.raises(LedgerError, match="no budget for 'census'"):
        make({"survey": 1}).amend("census", epsilon=2, reason="why")
