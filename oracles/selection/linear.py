"""Linear losses over some integer variables of a program, the others being recourse.

    L(w) = constant + c @ w + min over the recourse z of q @ z,   low <= A w + B z <= high

For multipliers y of the rows, positive ones on their lower and negative ones on their upper sides,

    g(w) = constant + (c - A' y) @ w + sum_r y_r side_r + min over the box of (q - B' y) @ z

is nowhere above L (Lagrangian duality). It is evaluated in integers, so any y will do: they start
from the linear relaxation's, and are improved for sums of exponentials.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from oracles.arrays import EXACT_FLOAT
from oracles.errors import ProblemError, SolverError
from oracles.oracle import Oracle
from oracles.problem import IntegerProgram
from oracles.selection._linear import linear_duals
from oracles.selection.base import BaseSet, IntArray
from oracles.selection.detect import base_set
from oracles.selection.envelope import FloatArray, Minorant
from oracles.solution import Certificate, Status
from oracles.verdict import recheck

ROOT_STEPS, ROOT_RATE, ROOT_END = 400, 0.1, 0.0003
NODE_STEPS, NODE_RATE, NODE_END = 16, 0.02, 0.002
"""Steps of the dual ascent, the first one's size and the last one's, as a part of the size of a
cost per unit of the row."""

MEMORY = 0.7

MOST_SOLVED = 100_000
"""Choices whose best recourse is remembered."""

_UNKNOWN = -(2**62)
"""Beyond every loss, which stays below 2^53."""

FINE = 20
"""Binary digits of multipliers behind the point, where there is room."""


@dataclass(frozen=True, eq=False)
class ProgramLoss:
    """The loss of a choice of released variables.

    Args:
        program: Integer coefficients everywhere, all variables integer with finite bounds.
        released: Indices of the variables that are chosen.
        oracle: Finds the best recourse.

    Raises:
        ProblemError: The program is not as described.
        InfeasibleError: Rows of the released variables alone allow nothing.
    """

    program: IntegerProgram
    released: tuple[int, ...]
    oracle: Oracle
    base: BaseSet = field(init=False)
    rows: IntArray = field(init=False)
    _solved: dict[bytes, int | None] = field(init=False, repr=False)

    def __init__(self, program: IntegerProgram, released: Sequence[int], oracle: Oracle) -> None:
        check_lattice(program)
        chosen = tuple(int(j) for j in released)
        base, rows = base_set(program, chosen)
        for name, value in (
            ("program", program), ("released", chosen), ("oracle", oracle), ("base", base),
            ("rows", rows), ("_solved", {}),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    @property
    def has_recourse(self) -> bool:
        """Whether a loss is itself a minimum, and rests on the oracle."""
        return len(self.released) < self.program.n_variables

    def value(self, point: IntArray) -> int | None:
        """The loss of a member of the base set, or None where the rows do not allow it.

        Raises:
            SolverError: The best recourse was not proven.
        """
        low, high = self.program.lower.copy(), self.program.upper.copy()
        low[list(self.released)] = high[list(self.released)] = point
        if not self.has_recourse:
            if not self.program.is_feasible(low):
                return None
            return int(self.program.objective_value(low))
        known = self._solved.get(point.tobytes(), _UNKNOWN)
        if known is _UNKNOWN:
            known = self._solve(low, high)
            if len(self._solved) < MOST_SOLVED:
                self._solved[point.tobytes()] = known
        return known

    def _solve(self, low: FloatArray, high: FloatArray) -> int | None:
        fixed = IntegerProgram(
            self.program.objective, self.program.matrix, self.program.row_lower,
            self.program.row_upper, lower=low, upper=high, constant=self.program.constant,
        )  # fmt: skip
        found = recheck(fixed, self.oracle.minimize(fixed), self.oracle)
        if found.status is Status.INFEASIBLE:
            return None
        if found.certificate not in (Certificate.EXACT, Certificate.SOLVER):
            raise SolverError(f"recourse: not proven ({found.oracle}: {found.status.message})")
        return int(found.objective or 0)

    def minorant(
        self, lower: IntArray, upper: IntArray, beta: float, parent: Minorant | None
    ) -> Minorant | None:
        """A minorant on a box; see :class:`oracles.selection.envelope.SelectionLoss`."""
        low, high = self.program.lower.copy(), self.program.upper.copy()
        low[list(self.released)], high[list(self.released)] = lower, upper
        if self._is_empty(low, high):
            return None
        layout = self.base.layout
        place_of = np.full(self.program.n_variables, -1)
        place_of[np.array(self.released, dtype=np.int64)[layout.order]] = np.arange(len(lower))
        if parent is None:
            duals = self._relaxation_duals()
            steps, rate, end = ROOT_STEPS, ROOT_RATE, ROOT_END
        else:
            duals = parent.duals.astype(np.float64)
            steps, rate, end = NODE_STEPS, NODE_RATE, NODE_END
        if not len(self.rows):
            steps = 0
        matrix = self._matrix
        means = linear_duals(
            self.program.objective, low, high, place_of, matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.int64), matrix.data, *self._sides, beta, lower[layout.order],
            upper[layout.order], layout.signed, layout.starts, *self.base.sides,
            np.zeros(len(self.base.blocks)), duals, self._units, steps, rate,
            (end / rate) ** (1 / max(1, steps)), MEMORY,
        )  # fmt: skip
        where = np.empty(len(lower))
        where[layout.order] = means
        return self._exact(duals, low, high, where)

    def _exact(
        self, duals: FloatArray, low: FloatArray, high: FloatArray, means: FloatArray
    ) -> Minorant:
        """The minorant of rounded multipliers, in integers."""
        size = np.abs(self.program.objective) + abs(self._matrix).T @ np.abs(duals)
        room = 60 - max(1, math.ceil(float(size.max(initial=1)))).bit_length()
        if room < 0:
            # Slopes would wrap around in 64 bits. Smaller multipliers do as well for a minorant.
            duals, room = duals * 2.0 ** (room - 1), 0
        shift = min(FINE, room)
        y = np.rint(duals * 2.0**shift).astype(np.int64)
        least, most = self._sides
        y[np.isinf(np.where(y > 0, least, most))] = 0
        transposed = self._matrix.T.astype(np.int64)
        slopes = (self.program.objective.astype(np.int64) << shift) - transposed @ y
        constant = int(self.program.constant) << shift
        sides = np.where(y > 0, least, most)
        constant += sum(int(a) * int(b) for a, b in zip(y, sides, strict=True) if a)
        for j in self._recourse:
            constant += int(slopes[j]) * int(low[j] if slopes[j] > 0 else high[j])
        return Minorant(constant, slopes[list(self.released)], shift, duals, means)

    def _is_empty(self, low: FloatArray, high: FloatArray) -> bool:
        """Whether a row certainly fails on the box; integers below 2^53 are not rounded."""
        if not len(self.rows):
            return False
        up, down = self._signs
        least, most = self._sides
        fewest, largest = up @ low + down @ high, up @ high + down @ low
        return bool((fewest > most).any() or (largest < least).any())

    def _relaxation_duals(self) -> FloatArray:
        """Multipliers of the linear relaxation: a start, whatever they are."""
        if not len(self.rows):
            return np.empty(0)
        whole = self.program
        finite_low, finite_high = np.isfinite(whole.row_lower), np.isfinite(whole.row_upper)
        stacked = sp.vstack([-whole.matrix[finite_low], whole.matrix[finite_high]], format="csr")
        sides = np.concatenate([-whole.row_lower[finite_low], whole.row_upper[finite_high]])
        bounds = np.column_stack([whole.lower, whole.upper])
        solve: Any = linprog  # Its stubs know no sparse matrix.
        found = solve(whole.objective, stacked, sides, bounds=bounds, method="highs")
        duals = np.zeros(whole.n_rows)
        if found.status == 0:
            marginals = np.asarray(found.ineqlin.marginals)
            duals[finite_low] -= marginals[: int(finite_low.sum())]
            duals[finite_high] += marginals[int(finite_low.sum()) :]
        least, most = whole.row_lower, whole.row_upper
        duals[np.isinf(np.where(duals > 0, least, most))] = 0.0
        chosen: FloatArray = duals[self.rows]
        return chosen

    @cached_property
    def _matrix(self) -> sp.csr_array:
        return sp.csr_array(self.program.matrix[self.rows])

    @cached_property
    def _signs(self) -> tuple[sp.csr_array, sp.csr_array]:
        return sp.csr_array(self._matrix.maximum(0)), sp.csr_array(self._matrix.minimum(0))

    @cached_property
    def _sides(self) -> tuple[FloatArray, FloatArray]:
        return self.program.row_lower[self.rows], self.program.row_upper[self.rows]

    @cached_property
    def _recourse(self) -> tuple[int, ...]:
        chosen = set(self.released)
        return tuple(j for j in range(self.program.n_variables) if j not in chosen)

    @cached_property
    def _units(self) -> FloatArray:
        size = float(np.abs(self.program.objective).mean()) or 1.0
        counts = np.maximum(1, np.diff(self._matrix.indptr))
        mean = np.asarray(abs(self._matrix).sum(axis=1)) / counts
        return np.asarray(size / np.maximum(mean, 1e-9), dtype=np.float64)


def check_lattice(program: IntegerProgram) -> None:
    """Refuse a program whose losses are not integers that 64-bit sums hold.

    Raises:
        ProblemError: A coefficient is not an integer, a variable is continuous or unbounded, or
            sums may exceed 2^53.
    """
    if not program.integer.all():
        name = program.names[int(np.argmin(program.integer))]
        raise ProblemError(f"program: {name!r} is continuous; every variable must be integer here")
    if not program.has_integer_objective:
        raise ProblemError("objective: integer coefficients expected; multiply them to integers")
    if not program.integer_rows.all():
        raise ProblemError("matrix: integer coefficients expected; multiply rows to integers")
    bounds = np.concatenate([program.lower, program.upper])
    if not np.isfinite(bounds).all():
        j = int(np.argmin(np.isfinite(program.lower) & np.isfinite(program.upper)))
        raise ProblemError(f"program: {program.names[j]!r} has no finite bounds; state both")
    sides = np.concatenate([program.row_lower, program.row_upper])
    if not np.array_equal(sides[np.isfinite(sides)], np.rint(sides[np.isfinite(sides)])):
        raise ProblemError("row_lower and row_upper: integers expected")
    reach = np.maximum(np.abs(program.lower), np.abs(program.upper))
    sums = np.append(abs(program.matrix) @ reach, np.abs(program.objective) @ reach)
    if (sums >= EXACT_FLOAT).any():
        raise ProblemError("program: a sum may exceed 2^53; use coarser units or tighter bounds")
