"""Composition by zCDP: what fits, what does not, and that nothing is promised that is not so."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle_dp import (
    Budget,
    Categorical,
    Charge,
    Composition,
    Domain,
    Ledger,
    LedgerError,
    Neighbors,
    OverspendError,
    ParameterError,
    ZeroOneClassifier,
)
from oracle_dp.accounting import zcdp_epsilon, zcdp_rho

ZCDP = Budget(epsilon=1, delta=1e-6, composition="zcdp")


def charge(epsilon: Any, delta: Any = 0, rho: Any = None) -> Charge:
    return Charge(
        dataset="survey",
        mechanism="test",
        epsilon=epsilon,
        delta=delta,
        neighbors=Neighbors.REPLACE,
        rho=rho,
    )


def fill(ledger: Ledger, entry: Charge) -> int:
    taken = 0
    while True:
        try:
            ledger.charge(entry)
        except OverspendError:
            return taken
        taken += 1


@pytest.mark.parametrize("durable", [False, True])
def test_small_charges_fit_more_often(durable: bool, tmp_path: Path) -> None:
    budgets = {"survey": ZCDP}
    ledger = Ledger.create(tmp_path / "ledger", budgets) if durable else Ledger(budgets)
    each = Fraction(1, 40)
    taken = fill(ledger, charge(each, rho=each**2 / 8))
    rho = Fraction(zcdp_rho(1, delta=1e-6))
    assert taken == math.floor(rho / (each**2 / 8)) > 100
    epsilon, delta = ledger.spent("survey")
    assert 0.98 < epsilon <= 1
    assert delta == Fraction(1, 10**6)
    assert ledger.remaining("survey") == (1 - epsilon, 0)


def test_a_pure_epsilon_is_concentrated_without_saying_so() -> None:
    silent, stated = Ledger({"survey": ZCDP}), Ledger({"survey": ZCDP})
    each = Fraction(1, 60)
    assert fill(silent, charge(each)) == fill(stated, charge(each, rho=each**2 / 2)) > 60


def test_few_large_charges_are_added() -> None:
    ledger = Ledger({"survey": ZCDP})
    for _ in range(2):
        ledger.charge(charge("1/2"))
    assert ledger.spent("survey") == (1, 0)
    with pytest.raises(OverspendError):
        ledger.charge(charge("1e-9"))


def test_basic_is_the_default_and_ignores_rho() -> None:
    assert Budget(epsilon=1).composition is Composition.BASIC
    ledger = Ledger({"survey": Budget(epsilon=1, delta=1e-6)})
    assert fill(ledger, charge("1/40", rho=0)) == 40
    assert ledger.spent("survey") == (1, 0)


def test_a_delta_needs_a_rho() -> None:
    ledger = Ledger({"survey": ZCDP})
    with pytest.raises(LedgerError, match="states no rho"):
        ledger.charge(charge("1/10", 1e-9))
    assert ledger.charges == ()
    # With a rho, that holds by itself: epsilon and delta are another view of it.
    ledger.charge(charge(5, 1e-3, rho="1/1000"))
    assert ledger.spent("survey")[0] == Fraction(
        zcdp_epsilon(Fraction(1, 10**6), rho=Fraction(1, 1000))
    )


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(st.fractions(0, 1), st.booleans(), st.fractions(Fraction(1, 100), 1)), max_size=12
    )
)
def test_what_is_accepted_fits_one_way_or_the_other(
    charges: list[tuple[Fraction, bool, Fraction]],
) -> None:
    ledger = Ledger({"survey": ZCDP})
    limit, added, rhos = Fraction(zcdp_rho(1, delta=Fraction(1, 10**6))), Fraction(0), Fraction(0)
    for epsilon, tells, share in charges:
        rho = epsilon**2 / 2 * (share if tells else 1)
        try:
            ledger.charge(charge(epsilon, rho=rho if tells else None))
        except OverspendError:
            assert added + epsilon > 1
            assert rhos + rho > limit
            continue
        added, rhos = added + epsilon, rhos + rho
        assert added <= 1 or rhos <= limit
        assert ledger.remaining("survey")[0] >= 0


def test_mechanisms_say_their_rho() -> None:
    ledger = Ledger({"survey": Budget(epsilon=100, delta=1e-6)})
    x, y = [["a"], ["b"]] * 5, ["no", "yes"] * 5
    domain = Domain([Categorical("letter", ("a", "b"))])
    frame = pd.DataFrame(x, columns=["letter"])
    for mechanism, share in (("exponential", 8), ("top_r", 8), ("opdisc", 2), ("counts", 2)):
        ZeroOneClassifier(
            1,
            mechanism=mechanism,
            domain=domain,
            classes=["no", "yes"],
            ledger=ledger,
            dataset="survey",
        ).fit(frame, y)
        assert ledger.charges[-1].concentrated == Fraction(1, share), mechanism


@pytest.mark.parametrize(
    ("figures", "name"),
    [
        ({"epsilon": 1, "composition": "zcdp"}, "delta"),
        ({"epsilon": 0, "delta": 0.1, "composition": "zcdp"}, "delta"),
        ({"epsilon": 1, "composition": "best"}, "composition"),
    ],
)
def test_unusable_budgets(figures: dict[str, Any], name: str) -> None:
    with pytest.raises(ParameterError, match=name):
        Budget(**figures)
    with pytest.raises(ParameterError, match="rho"):
        charge(1, rho=-1)
