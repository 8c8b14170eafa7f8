"""Some integer variables of a program as a problem of their own; the others are recourse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from oracles.errors import ProblemError, SolverError, UnboundedError
from oracles.exhaustive import Exhaustive
from oracles.lift import OneHotLift, one_hot
from oracles.oracle import UNLIMITED, Limits, Oracle
from oracles.problem import IntegerProgram
from oracles.recourse import check_recourse, exact_objective
from oracles.solution import Certificate, Solution, Status
from oracles.total import TotalReward
from oracles.verdict import check_provable, gap_margin, objective_scale, recheck

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ReleasedVariables:
    """A program of which some integer variables are wanted; the others are recourse.

    The loss of a choice w of the released variables is the minimum of the objective over the
    recourse; ``Solution.value`` is w alone, shape ``(len(released),)``, never the recourse.

    Args:
        program: The program.
        released: Indices or names of integer variables with finite bounds.
        oracle: What solves it.

    Raises:
        ProblemError: As :func:`one_hot`.
    """

    program: IntegerProgram
    released: tuple[int | str, ...]
    oracle: Oracle
    lift: OneHotLift = field(init=False)

    def __post_init__(self) -> None:
        indices = tuple(self._index(variable) for variable in self.released)
        object.__setattr__(self, "lift", one_hot(self.program, indices))

    def _index(self, variable: int | str) -> int:
        if isinstance(variable, str):
            if variable not in self.program.names:
                raise ProblemError(f"released: the program has no variable {variable!r}")
            return self.program.names.index(variable)
        return int(variable)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of each released variable."""
        return tuple(len(values) for values in self.lift.values)

    @property
    def values(self) -> tuple[IntArray, ...]:
        """The values of each released variable, ascending."""
        return self.lift.values

    @property
    def is_integer(self) -> bool:
        """Whether objective and recourse are integer."""
        return self.program.has_integer_objective and bool(self.program.integer.all())

    @property
    def n_points(self) -> int | None:
        """Number of choices; not known for a program with rows."""
        return None if self.program.n_rows else math.prod(self.sizes)

    @property
    def loss_spread(self) -> int:
        """Sum of ``|cost| * (greatest - least value)``: without rows, no choice moves the rest."""
        costs = self.program.objective[list(self.lift.coordinates)]
        return sum(
            math.ceil(abs(float(cost))) * int(values[-1] - values[0])
            for cost, values in zip(costs, self.lift.values, strict=True)
        )

    def positions(self, value: IntArray) -> tuple[int, ...]:
        """Index of each released variable's value."""
        return tuple(
            int(np.searchsorted(values, chosen))
            for values, chosen in zip(self.lift.values, value, strict=True)
        )

    def point(self, positions: Sequence[int]) -> IntArray:
        """The released variables; without rows every choice is a point."""
        chosen = zip(self.lift.values, positions, strict=True)
        return np.array([values[i] for values, i in chosen], dtype=np.int64)

    def check(
        self,
        *,
        scale: int = 1,
        total: TotalReward | None = None,
        limits: Limits = UNLIMITED,
    ) -> None:
        """Refuse a program that is infeasible, unbounded, or too large for a solver's floats.

        With ``total``, points beyond its last level count as infeasible.

        Raises:
            ProblemError: No bound of a solver could prove an objective of this size.
            InfeasibleError: No point satisfies the constraints.
            UnboundedError: The objective has no minimum.
            SolverError: The oracle proves nothing, whatever the objective.
            SolverError: The limits were reached before a feasible point was found.
        """
        if not self.program.integer.all():
            check_recourse(self.program)
        if total is None:
            constant = self.program.with_objective(self.program.objective * 0)
        else:
            nothing = [np.zeros(size, dtype=np.int64) for size in self.sizes]
            flat = replace(total, factor=0)
            constant = self.lift.with_rewards(nothing, scale=0, total=flat)
        feasible = self.oracle.minimize(constant, limits=limits)
        feasible.require_point()
        if feasible.certificate is Certificate.NONE and self.is_integer:
            raise SolverError(
                f"{self.oracle.name} proves no minimum of this program, not even of a constant: "
                "its bound cannot be read, or the rows are too large for its floats; use another "
                "oracle, such as Highs()"
            )
        improving = np.where(self.program.objective > 0, self.program.lower, self.program.upper)
        if not np.isfinite(improving[self.program.objective != 0]).all():
            # A feasible program with rational data is unbounded iff its relaxation is.
            relaxed = self.oracle.minimize(self.program.relaxed(), limits=limits)
            if relaxed.status is Status.UNBOUNDED:
                raise UnboundedError(f"program: {Status.UNBOUNDED.message}")
        if not isinstance(self.oracle, Exhaustive) and self.is_integer:
            check_provable(scale * objective_scale(self.program), scale)

    def minimize(
        self,
        rewards: Sequence[IntArray],
        *,
        scale: int = 1,
        total: TotalReward | None = None,
        limits: Limits = UNLIMITED,
    ) -> Solution[IntArray]:
        """Minimise ``scale * objective - rewards``; the oracle's answer is checked here again.

        With continuous recourse, the point is feasible by a rational solve, or there is none. Where
        the objective is not integer, the bound has :func:`gap_margin` taken off, so that
        ``Solution.gap`` is what is proven of the real objective.
        """
        lifted = self.lift.with_rewards(rewards, scale=scale, total=total)
        found = recheck(lifted, self.oracle.minimize(lifted, limits=limits), self.oracle)
        if found.value is None:
            return Solution(found.status, None, None, found.bound, found.certificate, found.oracle)
        objective, bound = found.objective, found.bound
        if not lifted.integer.all():
            proven = exact_objective(lifted, found.value)
            if proven is None:
                none = Certificate.NONE
                return Solution(Status.ERROR, None, None, -math.inf, none, found.oracle)
            if not lifted.has_integer_objective:
                objective = math.nextafter(float(proven), math.inf)
        if not lifted.has_integer_objective:
            bound -= gap_margin(lifted)
        value = found.value[list(self.lift.coordinates)].astype(np.int64)
        return Solution(found.status, value, objective, bound, found.certificate, found.oracle)
