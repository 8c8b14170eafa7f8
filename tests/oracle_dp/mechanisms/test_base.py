"""What all mechanisms share: the charge comes before any bit, and figures are rounded safely."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle_dp import Ledger, OverspendError, blockwise, counts_zero_one, exponential, opdisc, top_r
from oracle_dp.errors import ParameterError
from oracle_dp.mechanisms.base import limits_or_none, stated
from oracles import Limits
from oracles.finite import FiniteTable
from oracles.zero_one import CellTable

CELLS = CellTable.from_codes(np.array([[0], [1]]), np.array([True, False]), (2,))
TABLE = FiniteTable([0, 1, 2])

RUNS: dict[str, Callable[..., object]] = {
    "exponential": lambda **given: exponential(CELLS, epsilon=1, **given),
    "counts": lambda **given: counts_zero_one(CELLS, epsilon=1, **given),
    "blockwise": lambda **given: blockwise(CELLS, epsilon=1, **given),
    "opdisc": lambda **given: opdisc(TABLE, epsilon=1, sensitivity=1, **given),
    "opdisc pi": lambda **given: opdisc(TABLE, epsilon=1, sensitivity=1, lift="pi", **given),
    "top_r": lambda **given: top_r(TABLE, n_best=2, epsilon=1, sensitivity=1, **given),
}


class Counted:
    """Bits that are counted; all are 0 or 1 in turn."""

    is_private = True

    def __init__(self) -> None:
        self.served = 0

    def bits(self, n: int, /) -> int:
        self.served += 1
        return (0x5DEECE66D * self.served >> 3) % 2**n


@pytest.mark.parametrize("name", RUNS)
def test_no_bit_is_drawn_for_a_charge_that_is_refused(name: str) -> None:
    source, ledger = Counted(), Ledger({"visits": 0.5})
    with pytest.raises(OverspendError):
        RUNS[name](ledger=ledger, dataset="visits", random_state=source)
    assert source.served == 0
    assert ledger.charges == ()
    # With the budget the same run draws.
    RUNS[name](ledger=Ledger({"visits": 1}), dataset="visits", random_state=source)
    assert source.served > 0


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9))
def test_what_is_stated_is_on_the_safe_side_and_next_to_the_truth(value: Fraction) -> None:
    above, below = (stated("epsilon", value, toward=end) for end in (math.inf, 0))
    assert Fraction(below) <= value <= Fraction(above)
    assert above <= math.nextafter(below, math.inf)


def test_what_no_float_can_state_is_refused() -> None:
    with pytest.raises(ParameterError, match="too large for the guarantee"):
        stated("epsilon", Fraction(10) ** 400, toward=math.inf)


def test_limits_without_a_meaning_are_refused() -> None:
    with pytest.raises(ParameterError, match="rounds has no meaning"):
        limits_or_none(Limits(rounds=3))
    with pytest.raises(ParameterError, match=r"an oracles\.Limits or None"):
        limits_or_none(3)
