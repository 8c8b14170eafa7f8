"""Enumeration: the oracle for small spaces, and the one that tests the others.

Every point of the box of bounds is visited in lexicographic order, in blocks. Where the data
are integer so is the arithmetic: floats while no sum can exceed 2^53 (no rounding happens below
it), Python's own integers beyond.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oracles.arrays import EXACT_FLOAT, FloatArray
from oracles.errors import ProblemError, SpaceTooLargeError
from oracles.oracle import UNLIMITED, Limits
from oracles.problem import FEASIBILITY_TOLERANCE, IntegerProgram
from oracles.solution import Certificate, Solution, Status

_BLOCK_ENTRIES = 2**18
"""Numbers in one block of points: a few megabytes with everything computed from them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhaustive:
    """Minimise by visiting every point; all variables must be integer with finite bounds.

    Of several optima the first in lexicographic order is returned, whatever the machine.

    The certificate is ``EXACT`` when the objective and all rows have integer coefficients.
    Otherwise it is ``BOUNDED`` with gap 0: all points were visited, but floats decided which
    satisfies a row (within ``FEASIBILITY_TOLERANCE``) and which of two nearly equal objectives
    is smaller.

    Args:
        max_points: Largest number of points to visit, positive.

    Raises:
        ProblemError: ``max_points`` is not a positive integer.
    """

    max_points: int = 2**22
    name: str = field(default="enumeration", init=False)

    def __post_init__(self) -> None:
        if isinstance(self.max_points, bool) or not isinstance(self.max_points, int):
            raise ProblemError(f"max_points: an integer expected, not {self.max_points!r}")
        if self.max_points < 1:
            raise ProblemError(f"max_points: must be positive, not {self.max_points!r}")

    def minimize(
        self,
        program: IntegerProgram,
        *,
        limits: Limits = UNLIMITED,
        start: ArrayLike | None = None,
    ) -> Solution[FloatArray]:
        """Minimise a program; see :meth:`oracles.oracle.Oracle.minimize`.

        Args:
            program: What to minimise.
            limits: ``seconds`` is checked after every block of points; ``nodes`` and
                ``threads`` have no meaning here and are ignored.
            start: Ignored.

        Raises:
            ProblemError: A variable is continuous or has no finite bounds.
            SpaceTooLargeError: There are more than ``max_points`` points.
        """
        del start
        box = _Box.of(program, self.max_points)
        deadline = math.inf if limits.seconds is None else time.monotonic() + limits.seconds
        best: FloatArray | None = None
        least: int | float = math.inf
        complete = True
        for points in box.blocks():
            if time.monotonic() >= deadline:
                complete = False
                break
            points = points[_feasible(program, box, points)]
            if len(points):
                objectives = _objectives(program, box, points)
                first = int(np.argmin(objectives))
                if best is None or objectives[first] < least:
                    best, least = points[first].copy(), objectives[first]
        return self._solution(program, best, complete)

    def _solution(
        self, program: IntegerProgram, best: FloatArray | None, complete: bool
    ) -> Solution[FloatArray]:
        none = Certificate.NONE
        if best is None:
            status = Status.INFEASIBLE if complete else Status.STOPPED
            return Solution(status, None, None, -math.inf, none, self.name)
        objective = program.objective_value(best)
        if not complete:
            return Solution(Status.STOPPED, best, objective, -math.inf, none, self.name)
        exact = program.has_integer_objective and bool(program.integer_rows.all())
        certificate = Certificate.EXACT if exact else Certificate.BOUNDED
        return Solution(Status.OPTIMAL, best, objective, objective, certificate, self.name)


@dataclass(frozen=True, slots=True)
class _Box:
    """The integer points between the bounds."""

    lower: FloatArray
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, program: IntegerProgram, max_points: int) -> _Box:
        lower, upper = np.ceil(program.lower), np.floor(program.upper)
        reach = np.maximum(np.abs(lower), np.abs(upper))
        for name, integer, largest in zip(program.names, program.integer, reach, strict=True):
            if not integer:
                raise ProblemError(f"variable {name!r} is continuous: enumeration needs integers")
            if not largest <= EXACT_FLOAT:
                raise ProblemError(
                    f"variable {name!r} has an infinite bound or one beyond 2^53: "
                    "enumeration needs finite bounds"
                )
        sizes = tuple(
            max(0, int(high) - int(low) + 1) for low, high in zip(lower, upper, strict=True)
        )
        points = math.prod(sizes)
        if points > max_points:
            widest = program.names[int(np.argmax(sizes))]
            raise SpaceTooLargeError(
                f"{len(sizes)} variables span more than max_points={max_points} points "
                f"({widest!r} has the widest range): tighten bounds or use another oracle"
            )
        return cls(lower + 0.0, sizes)

    @property
    def reach(self) -> FloatArray:
        """The largest absolute value of each variable."""
        spans = np.array(self.sizes, dtype=np.float64) - 1
        return np.maximum(np.abs(self.lower), np.abs(self.lower + spans))

    def blocks(self) -> Iterator[FloatArray]:
        """All points in lexicographic order, in blocks of shape ``(k, n)``."""
        strides = [1] * len(self.sizes)
        for i in range(len(strides) - 2, -1, -1):
            strides[i] = strides[i + 1] * self.sizes[i + 1]
        total = math.prod(self.sizes)
        length = max(1, _BLOCK_ENTRIES // max(1, len(self.sizes)))
        for begin in range(0, total, length):
            order = np.arange(begin, min(begin + length, total), dtype=np.int64)
            steps = order[:, None] // np.array(strides, dtype=np.int64)
            yield self.lower + steps % np.array(self.sizes, dtype=np.int64)


def _objectives(program: IntegerProgram, box: _Box, points: FloatArray) -> NDArray[np.generic]:
    """The objective, without its constant, at points of shape ``(k, n)``."""
    largest = float(np.abs(program.objective) @ box.reach)
    if program.has_integer_objective and largest > EXACT_FLOAT:
        exact: NDArray[np.generic] = _whole(points) @ _whole(program.objective)
        return exact
    return np.asarray(points @ program.objective)


def _feasible(program: IntegerProgram, box: _Box, points: FloatArray) -> NDArray[np.bool_]:
    """Which points, of shape ``(k, n)``, satisfy the rows."""
    holds = np.ones(len(points), dtype=bool)
    if program.n_rows == 0:
        return holds
    exact = program.integer_rows
    large = exact & (abs(program.matrix) @ box.reach > EXACT_FLOAT)
    plain = ~large
    if plain.any():
        rows = program.matrix[plain]
        activity = (rows @ points.T).T
        slack = FEASIBILITY_TOLERANCE * np.maximum(1.0, (abs(rows) @ np.abs(points).T).T)
        slack[:, exact[plain]] = 0.0
        holds &= (activity >= program.row_lower[plain] - slack).all(axis=1)
        holds &= (activity <= program.row_upper[plain] + slack).all(axis=1)
    for row in np.flatnonzero(large):
        left = holds.nonzero()[0]
        coefficients = program.matrix[[row]].toarray()[0]
        sums = _whole(points[left]) @ _whole(coefficients)
        # Python compares an int with a float, infinite ones included, without rounding.
        low, high = float(program.row_lower[row]), float(program.row_upper[row])
        holds[left] = [low <= total <= high for total in sums]
    return holds


def _whole(values: FloatArray) -> NDArray[np.object_]:
    """Integer-valued floats as Python integers."""
    return np.asarray(np.frompyfunc(int, 1, 1)(values), dtype=object)
