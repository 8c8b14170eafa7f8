"""Parts on equal shares: the shares are exact, the charge is of the whole, and before any noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle_dp import Budget, Guarantee, Ledger, Neighbors, OverspendError, ParameterError, Release
from oracle_dp.errors import LedgerError, PrivacyError
from oracle_dp.estimators.split_budget import Settings, SplitCharge, split
from oracle_dp.ledger import Charge
from oracle_dp.mechanisms.base import charge_before_noise, stated
from oracle_dp.noise import SeededBits, SystemBits, rational
from oracle_dp.privacy import RUNNING_TIME, Contingency, ContingencyKind
from oracles import Certificate

COMMON: dict[str, Any] = {"epsilon": 1, "ledger": None, "dataset": None, "random_state": 0}
CALLER = Contingency(ContingencyKind.CALLER, "promised")


def part(
    drawn: list[int], times: int = 1, rho: float | None = 0.25, **changes: Any
) -> Callable[[Settings, Settings], Release[int]]:
    """A mechanism that charges, and then draws 64 bits."""

    def train(common: Settings, options: Settings) -> Release[int]:
        delta = rational("delta", options.get("delta", 0))
        for _ in range(times):
            charge_before_noise(
                common["ledger"],
                common["dataset"],
                mechanism="toy",
                epsilon=common["epsilon"],
                delta=delta,
                neighbors=Neighbors.REPLACE,
            )
        drawn.append(common["random_state"].bits(64))
        guarantee = {
            "mechanism": "toy",
            "theorem": "a theorem",
            "neighbors": Neighbors.REPLACE,
            "epsilon": stated("epsilon", common["epsilon"], toward=math.inf),
            "delta": stated("delta", delta, toward=math.inf),
            "rho": rho,
            "sensitivity": 2.0,
            "sensitivity_source": "proved",
            "certificate": Certificate.EXACT,
            "contingencies": (RUNNING_TIME,),
        }
        return Release(drawn[-1], Guarantee(**{**guarantee, **changes}))

    return train


@given(
    st.integers(2, 9),
    st.floats(1e-6, 1e6) | st.fractions(Fraction(1, 9), 9),
    st.just(0)
    | st.floats(1e-12, 0.999)
    | st.fractions(0, Fraction(999, 1000), max_denominator=10**9),
)
def test_shares_are_exact_and_add_up_to_the_whole(k: int, epsilon: Any, delta: Any) -> None:
    ledger = Ledger({"survey": Budget(epsilon=10**10, delta=Fraction(9999, 10000))})
    common = COMMON | {"epsilon": epsilon, "ledger": ledger, "dataset": "survey"}
    release = split([part([])] * k, common, {"delta": delta})
    whole = rational("epsilon", epsilon), rational("delta", delta)
    (charge,) = ledger.charges
    assert (charge.epsilon, charge.delta) == whole == ledger.spent("survey")
    assert charge.mechanism == release.guarantee.mechanism == "one_vs_rest(toy)"
    for said, true in zip((release.guarantee.epsilon, release.guarantee.delta), whole, strict=True):
        assert true <= Fraction(said) <= true * (1 + Fraction(1, 2**51))
    assert release.guarantee.rho == 0.25 * k


def test_an_overspend_leaves_nothing_drawn() -> None:
    # A third would fit, and two of them, but not the whole.
    ledger = Ledger({"survey": 0.9})
    drawn: list[int] = []
    with pytest.raises(OverspendError):
        split([part(drawn)] * 3, COMMON | {"ledger": ledger, "dataset": "survey"}, {})
    assert (drawn, ledger.charges) == ([], ())
    split([part(drawn)] * 3, COMMON | {"ledger": ledger, "dataset": "survey", "epsilon": 0.9}, {})
    assert ledger.remaining("survey") == (0, 0)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"epsilon": 0}, ParameterError, "epsilon must be positive"),
        ({"epsilon": "much"}, ParameterError, "epsilon must be"),
        ({"epsilon": 2 * Fraction(10) ** 308}, ParameterError, "epsilon: too large"),
        ({"random_state": -1}, ParameterError, "random_state must be"),
        ({"ledger": None}, ParameterError, "ledger: needed together with dataset"),
        ({"dataset": None}, ParameterError, "dataset: needed together with ledger"),
        ({"ledger": 5}, ParameterError, "ledger: an oracle_dp.Ledger"),
        ({"dataset": "census"}, LedgerError, "no budget for 'census'"),
    ],
    ids=str,
)
def test_what_is_wrong_with_the_whole_is_found_before_anything(
    changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    ledger = Ledger({"survey": Fraction(10) ** 400})
    drawn: list[int] = []
    with pytest.raises(error, match=message):
        split([part(drawn)] * 3, COMMON | {"ledger": ledger, "dataset": "survey"} | changes, {})
    assert (drawn, ledger.charges) == ([], ())


@pytest.mark.parametrize("delta", [1, 2.5, -0.1])
def test_delta_is_of_the_whole(delta: float) -> None:
    with pytest.raises(ParameterError, match="delta: a number in"):
        split([part([])] * 3, COMMON, {"delta": delta})


def test_no_part_repeats_the_bits_of_another() -> None:
    drawn: list[int] = []
    release = split([part(drawn)] * 3, COMMON, {})
    source = SeededBits(0)
    assert list(release.value) == drawn == [source.bits(64) for _ in range(3)]
    again: list[int] = []
    split([part(again)] * 3, COMMON | {"random_state": SeededBits(0)}, {})
    assert again == drawn
    split([part(again)] * 3, COMMON | {"random_state": SystemBits()}, {})
    assert len(set(again)) == 6


def test_the_guarantee_is_as_weak_as_its_weakest_part() -> None:
    drawn: list[int] = []
    parts = [
        part(drawn),
        part(drawn, certificate=Certificate.SOLVER, contingencies=(CALLER, RUNNING_TIME)),
        part(drawn, contingencies=(CALLER,)),
    ]
    guarantee = split(parts, COMMON, {}).guarantee
    assert guarantee.certificate is Certificate.SOLVER
    assert guarantee.contingencies == (RUNNING_TIME, CALLER)
    assert "sequential composition of 3 cards" in guarantee.theorem
    assert guarantee.theorem.endswith("each: a theorem")
    assert (guarantee.sensitivity, guarantee.epsilon) == (2, 1)
    assert guarantee.sensitivity_source == "proved, for each of the 3 cards"
    assert split([*parts, part(drawn, rho=None)], COMMON, {}).guarantee.rho is None
    assert split([part(drawn, rho=1.7e308)] * 3, COMMON, {}).guarantee.rho is None


@pytest.mark.parametrize("times", [0, 2])
def test_a_part_must_charge_once(times: int) -> None:
    with pytest.raises(PrivacyError, match="a part"):
        split([part([])] * 2 + [part([], times=times)], COMMON, {})


def test_parts_must_spend_alike() -> None:
    charge = Charge(
        dataset="part",
        mechanism="toy",
        epsilon=Fraction(1),
        delta=Fraction(0),
        neighbors=Neighbors.REPLACE,
    )
    more = Charge(
        dataset="part",
        mechanism="toy",
        epsilon=Fraction(2),
        delta=Fraction(0),
        neighbors=Neighbors.REPLACE,
    )
    account = SplitCharge(2, None, None)
    account.charge(charge)
    with pytest.raises(PrivacyError, match="a part was not charged"):
        _ = account.spent_in_all
    with pytest.raises(PrivacyError, match="a part spends what was not charged"):
        account.charge(more)
    account.charge(charge)
    assert account.spent_in_all == (2, 0)
