"""Two oracles must agree."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import ArrayLike

from oracles import (
    Certificate,
    Exhaustive,
    Highs,
    IntegerProgram,
    Limits,
    Oracle,
    Solution,
    Status,
)
from oracles.cross_check import CrossCheck
from oracles.oracle import UNLIMITED

PROGRAM = IntegerProgram([-3, -5, -4], [[2, 3, 1]], row_upper=[5], upper=[1, 1, 2])


@dataclass(frozen=True)
class Wrong:
    """Claims a feasible point that is not the best, with a bound to match."""

    name: str = "wrong"

    def minimize(
        self, program: IntegerProgram, *, limits: Limits = UNLIMITED, start: ArrayLike | None = None
    ) -> Solution[np.ndarray]:
        return Solution(Status.OPTIMAL, np.zeros(3), 0, 0, Certificate.SOLVER, self.name)


@dataclass(frozen=True)
class Ended:
    """Ends with a status."""

    status: Status
    name: str = "ended"

    def minimize(
        self, program: IntegerProgram, *, limits: Limits = UNLIMITED, start: ArrayLike | None = None
    ) -> Solution[np.ndarray]:
        return Solution(self.status, None, None, -math.inf, Certificate.NONE, self.name)


def test_agreement_gives_the_first_ones_point() -> None:
    both = CrossCheck(Highs(), Exhaustive())
    found = both.minimize(PROGRAM)
    assert found.certificate is Certificate.SOLVER
    assert found.objective == Exhaustive().minimize(PROGRAM).objective
    assert "cross-checked with enumeration" in found.oracle


@pytest.mark.parametrize("pair", [(Highs(), Wrong()), (Wrong(), Highs())])
def test_disagreement_gives_nothing(pair: tuple[Oracle, Oracle]) -> None:
    found = CrossCheck(*pair).minimize(PROGRAM)
    assert found.status is Status.ERROR
    assert found.value is None
    assert found.certificate is Certificate.NONE


def test_both_must_call_it_infeasible() -> None:
    nowhere = replace_rows()
    found = CrossCheck(Highs(), Exhaustive()).minimize(nowhere)
    assert found.status is Status.INFEASIBLE
    found = CrossCheck(Highs(), Ended(Status.INFEASIBLE)).minimize(PROGRAM)
    assert found.status is Status.ERROR


def replace_rows() -> IntegerProgram:
    return IntegerProgram(PROGRAM.objective, PROGRAM.matrix, [20], [30], upper=PROGRAM.upper)


def test_a_limit_of_either_is_a_limit() -> None:
    found = CrossCheck(Highs(), Ended(Status.STOPPED)).minimize(PROGRAM)
    assert (found.status, found.value) == (Status.STOPPED, None)
    assert replace(found, value=None) == found
