"""Minorants stay below their losses where multipliers times rows exceed 64 bits."""

from __future__ import annotations

import numpy as np
import pytest

from oracles import Highs, IntegerProgram
from oracles.selection.linear import ProgramLoss

MEMBERS = [np.array(w) for w in ((1, 1, 0), (0, 1, 1), (1, 1, 1))]


@pytest.mark.parametrize("cost", [10**6, 10**10, 10**15 // 2])
def test_a_minorant_does_not_wrap_around(cost: int) -> None:
    """The row's multiplier is about the cost: times 10^9 it passes 2^63 from 10^10 on."""
    costs = (cost, 1_000, cost + 1)
    program = IntegerProgram(costs, [[1, 10**9, 1]], [10**9 + 1], [np.inf], upper=np.ones(3))
    loss = ProgramLoss(program, range(3), Highs())
    assert len(loss.rows) == 1, "the row has too many sums to be held"
    root = loss.minorant(loss.base.lower, loss.base.upper, 1.0, None)
    assert root is not None
    child = loss.minorant(np.array([0, 1, 1]), loss.base.upper, 1.0, root)
    assert child is not None
    for point in MEMBERS:
        true = sum(a * int(x) for a, x in zip(costs, point, strict=True))
        assert root.at(point) <= true
        assert point[2] == 0 or child.at(point) <= true
