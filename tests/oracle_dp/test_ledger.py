"""The ledger adds up exactly, refuses what exceeds it, and is never there twice."""

from __future__ import annotations

import copy
import math
import pickle
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from oracle_dp import (
    Budget,
    Charge,
    Ledger,
    LedgerError,
    Neighbors,
    OverspendError,
    ParameterError,
    ZeroOneClassifier,
)


def charge(epsilon: Any = 0.1, delta: Any = 0, **changes: Any) -> Charge:
    settings: dict[str, Any] = {
        "dataset": "survey",
        "mechanism": "opdisc",
        "epsilon": epsilon,
        "delta": delta,
        "neighbors": Neighbors.REPLACE,
        **changes,
    }
    return Charge(**settings)


# -- sums --------------------------------------------------------------------------------------


def test_ten_tenths_fill_a_budget_of_one() -> None:
    # Summed as floats ten tenths are 0.9999999999999999, and three are 0.30000000000000004.
    ledger = Ledger({"survey": Budget(epsilon=1.0)})
    for _ in range(10):
        ledger.charge(charge(0.1))
    assert ledger.spent("survey") == (1, 0)
    assert ledger.remaining("survey") == (0, 0)
    for smallest in (0.1, 5e-324, Fraction(1, 10**1000)):
        with pytest.raises(OverspendError):
            ledger.charge(charge(smallest))
    assert len(ledger.charges) == 10
    ledger.charge(charge(0))


@given(st.integers(1, 40), st.integers(1, 9))
def test_as_many_charges_fit_as_decimals_say(n: int, digit: int) -> None:
    # The binary values of 0.3 and many others are below their decimals.
    ledger = Ledger({"survey": float(Decimal(digit) * n / 10)})
    for _ in range(n):
        ledger.charge(charge(digit / 10))
    with pytest.raises(OverspendError):
        ledger.charge(charge(digit / 10))


@given(st.lists(st.fractions(min_value=0, max_value=1), max_size=8))
def test_sums_are_exact(parts: list[Fraction]) -> None:
    ledger = Ledger({"survey": Budget(epsilon=sum(parts, Fraction(0)), delta=0)})
    for part in parts:
        ledger.charge(charge(part))
    assert ledger.remaining("survey") == (0, 0)
    assert [entry.epsilon for entry in ledger.charges] == parts


def test_the_figures_of_a_charge_are_exact() -> None:
    for entry in (charge(0.1, 0.01), charge(np.float64(0.1), "0.01"), charge("1/10", "1e-2")):
        assert (entry.epsilon, entry.delta) == (Fraction(1, 10), Fraction(1, 100))
        assert isinstance(entry.epsilon, Fraction)
    assert charge(neighbors="zero_out").neighbors is Neighbors.ZERO_OUT


# -- refusals ----------------------------------------------------------------------------------


def test_overspend_is_refused_and_charges_nothing() -> None:
    ledger = Ledger({"survey": 1.0, "census": 5.0})
    ledger.charge(charge("0.7"))
    with pytest.raises(OverspendError, match=r"'survey'.*epsilon 0\.4"):
        ledger.charge(charge(0.4))
    assert ledger.charges == (charge("0.7"),)
    ledger.charge(charge("0.3"))
    ledger.charge(charge(5, dataset="census"))
    assert ledger.remaining("survey") == ledger.remaining("census") == (0, 0)


def test_delta_is_a_budget_of_its_own() -> None:
    ledger = Ledger({"survey": Budget(epsilon=10, delta=1e-6), "pure": 10.0})
    ledger.charge(charge(1, "6e-7"))
    with pytest.raises(OverspendError, match="delta 6e-07"):
        ledger.charge(charge(1, "6e-7"))
    with pytest.raises(OverspendError):
        ledger.charge(charge(1, 1e-12, dataset="pure"))
    ledger.charge(charge(1, "4e-7"))
    assert ledger.spent("survey") == (2, Fraction(1, 10**6))


def test_unknown_data_set_is_refused() -> None:
    ledger = Ledger({"survey": 1.0})
    for ask in (ledger.budget, ledger.remaining, lambda name: ledger.charge(charge(dataset=name))):
        with pytest.raises(LedgerError, match=r"no budget for 'Survey'; the ledger knows 'survey'"):
            ask("Survey")
    with pytest.raises(LedgerError, match="knows none"):
        Ledger({}).budget("survey")
    assert ledger.charges == ()


@pytest.mark.parametrize("given_", [Neighbors.ADD_REMOVE, "add_remove", "zero_out"])
def test_another_relation_is_refused(given_: Any) -> None:
    ledger = Ledger({"survey": 1.0, "other": Budget(epsilon=1, neighbors=given_)})
    with pytest.raises(LedgerError, match="do not add up") as caught:
        ledger.charge(charge(neighbors=given_))
    assert not isinstance(caught.value, OverspendError)
    assert ledger.charges == ()
    ledger.charge(charge(neighbors=given_, dataset="other"))


UNUSABLE: list[dict[str, Any]] = [
    {"epsilon": -1},
    {"epsilon": -1e-300},
    {"epsilon": math.nan},
    {"epsilon": math.inf},
    {"epsilon": None},
    {"epsilon": True},
    {"epsilon": "much"},
    {"epsilon": 1, "delta": 1},
    {"epsilon": 1, "delta": -1e-9},
    {"epsilon": 1, "delta": math.nan},
    {"epsilon": 1, "neighbors": "friends"},
]


@pytest.mark.parametrize("figures", UNUSABLE, ids=str)
def test_unusable_figures_are_refused(figures: dict[str, Any]) -> None:
    name = list(figures)[-1]
    with pytest.raises(ParameterError, match=name):
        Budget(**figures)
    with pytest.raises(ParameterError, match=name):  # A negative one would give budget back.
        charge(**figures)
    if name == "epsilon":
        with pytest.raises(ParameterError, match=name):
            Ledger({"survey": figures["epsilon"]})


@pytest.mark.parametrize("budgets", [1.0, ["survey"], {1: 1.0}, {"": 1.0}, {None: 1.0}], ids=str)
def test_unusable_names_are_refused(budgets: Any) -> None:
    with pytest.raises(ParameterError, match=r"budgets: a mapping|non-empty string"):
        Ledger(budgets)


def test_a_budget_of_nothing_allows_nothing() -> None:
    ledger = Ledger({"survey": 0})
    with pytest.raises(OverspendError):
        ledger.charge(charge(1e-300))
    assert ledger.charges == ()


# -- threads -----------------------------------------------------------------------------------


@pytest.fixture
def impatient() -> Iterator[None]:
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("fits", [400, 399, 137])
def test_threads_lose_and_overspend_nothing(fits: int) -> None:
    ledger = Ledger({"survey": Budget(epsilon=Fraction(fits, 100))})
    together = threading.Barrier(8)

    def spend(_: int) -> int:
        together.wait()
        taken = 0
        for _ in range(50):
            try:
                ledger.charge(charge(Fraction(1, 100)))
                taken += 1
            except OverspendError:
                pass
        return taken

    with ThreadPoolExecutor(8) as pool:
        taken = sum(pool.map(spend, range(8)))
    assert taken == len(ledger.charges) == fits
    assert ledger.remaining("survey") == (0, 0)


# -- copies ------------------------------------------------------------------------------------


def test_copies_share_the_ledger() -> None:
    ledger = Ledger({"survey": 1.0})
    estimator = ZeroOneClassifier(ledger=ledger, dataset="survey")
    copies = (
        copy.copy(ledger),
        copy.deepcopy(ledger),
        copy.deepcopy({"mine": [ledger]})["mine"][0],
        clone(estimator).ledger,
        copy.deepcopy(estimator).ledger,
    )
    for each in copies:
        assert each is ledger
        each.charge(charge(0.2))
    assert ledger.remaining("survey") == (0, 0)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickling_is_refused(protocol: int) -> None:
    ledger = Ledger({"survey": 1.0})
    for holder in (ledger, ZeroOneClassifier(ledger=ledger, dataset="survey")):
        with pytest.raises(LedgerError, match=r"set_params\(ledger=None\)"):
            pickle.dumps(holder, protocol)


def test_ledgers_with_the_same_budgets_are_not_the_same() -> None:
    first, second = Ledger({"survey": 1.0}), Ledger({"survey": 1.0})
    assert first != second
    assert len({first, second}) == 2


def test_a_budget_without_delta_says_how_to_give_it_one() -> None:
    charge = Charge(
        dataset="survey",
        mechanism="newton",
        epsilon=Fraction(1),
        delta=Fraction(1, 10**6),
        neighbors=Neighbors.REPLACE,
    )
    with pytest.raises(OverspendError, match=r"no delta: Budget\(epsilon"):
        Ledger({"survey": 2.0}).charge(charge)
