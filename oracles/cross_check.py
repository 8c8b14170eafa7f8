"""Two oracles for one problem: an answer only where they agree."""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from oracles.arrays import FloatArray
from oracles.oracle import UNLIMITED, Limits, Oracle
from oracles.problem import IntegerProgram
from oracles.solution import Certificate, Solution, Status
from oracles.verdict import CLAIM_TOLERANCE, objective_scale, recheck


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """An oracle that asks another one for a second opinion.

    The first one's point is returned, if both prove the same integer objective, or both bound a
    fractional one and agree up to ``CLAIM_TOLERANCE``; or if both find the problem infeasible or
    unbounded. Anything else is ``Status.ERROR`` without a point.

    Args:
        first: Whose point is returned.
        second: Who must agree.
    """

    first: Oracle
    second: Oracle

    @property
    def name(self) -> str:
        """Both names."""
        return f"{self.first.name}, cross-checked with {self.second.name}"

    def minimize(
        self,
        program: IntegerProgram,
        *,
        limits: Limits = UNLIMITED,
        start: ArrayLike | None = None,
    ) -> Solution[FloatArray]:
        """Minimise with both; see :meth:`oracles.oracle.Oracle.minimize`."""
        one = recheck(program, self.first.minimize(program, limits=limits, start=start), self.first)
        two = recheck(program, self.second.minimize(program, limits=limits), self.second)
        if Status.STOPPED in (one.status, two.status):
            return Solution(Status.STOPPED, None, None, -math.inf, Certificate.NONE, self.name)
        proven = (Certificate.EXACT, Certificate.SOLVER)
        if one.certificate in proven and two.certificate in proven:
            if one.objective == two.objective:
                return Solution(
                    one.status, one.value, one.objective, one.bound, one.certificate, self.name
                )
        elif one.certificate is two.certificate is Certificate.BOUNDED:
            # Of fractional objectives the weaker bound; the points may differ by tolerances.
            if _agree(program, one, two):
                bound = min(one.bound, two.bound)
                return Solution(
                    one.status, one.value, one.objective, bound, one.certificate, self.name
                )
        elif one.value is None and two.value is None and one.status is two.status:
            return Solution(one.status, None, None, -math.inf, Certificate.NONE, self.name)
        return Solution(Status.ERROR, None, None, -math.inf, Certificate.NONE, self.name)


def _agree(program: IntegerProgram, one: Solution[FloatArray], two: Solution[FloatArray]) -> bool:
    assert one.objective is not None, "what is bounded has a point"
    assert two.objective is not None, "what is bounded has a point"
    allowed = CLAIM_TOLERANCE * max(1.0, objective_scale(program))
    return abs(one.objective - two.objective) <= allowed
