"""A reward for the total of one integer per (coordinate, value), and as columns and rows.

The total of a point is ``t = sum_j parts[j][index of w_j]``, such as its squared norm, and the
reward ``factor * levels[t]`` is subtracted from the objective. ``levels`` also says which totals
there are: a point whose total lies beyond its end does not belong to the set.

The search of :mod:`oracles.zero_one.lagrangian` prices the total. As a program over the one-hot
lift there are two forms:

- where ``factor * levels`` is concave in t, one integer variable s with the objective
  ``-factor s`` and one row for each slope. At an integer t the optimal s is ``levels[t]``;
- otherwise one binary per total, ``sum_t q[t] = 1`` and ``sum_t t q[t] = t(w)``. The first form
  would be wrong here: a variable that may fall short of a bound does, when that is rewarded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from oracles.arrays import FloatArray
from oracles.errors import ProblemError
from oracles.extend import Column, extend
from oracles.problem import IntegerProgram

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
class TotalReward:
    """A reward that depends on the total of a point.

    Attributes:
        parts: For each coordinate what each of its values adds to the total: integers, not
            negative, one array per coordinate.
        levels: One integer for each total 0, 1, ..., T. Larger totals are not allowed.
        factor: The reward of total t is ``factor * levels[t]``.
    """

    parts: tuple[IntArray, ...]
    levels: IntArray
    factor: int

    def __post_init__(self) -> None:
        arrays = (*self.parts, self.levels)
        whole = all(np.issubdtype(np.asarray(one).dtype, np.signedinteger) for one in arrays)
        if not whole or not isinstance(self.factor, int | np.integer):
            raise ProblemError("total: parts, levels and factor must be integers, of 64 bits")
        # A NumPy integer would wrap where Python's does not.
        object.__setattr__(self, "factor", int(self.factor))
        if not len(self.levels) or any((part < 0).any() for part in self.parts):
            raise ProblemError("total: at least one level, and parts of at least 0, expected")

    @property
    def is_concave(self) -> bool:
        """Whether the reward is concave in the total."""
        return bool((np.sign(self.factor) * np.diff(self.levels, n=2) <= 0).all())

    def total(self, positions: Sequence[int]) -> int:
        """The total of the point at these indices."""
        return sum(int(part[i]) for part, i in zip(self.parts, positions, strict=True))

    def reward(self, positions: Sequence[int]) -> int | None:
        """The reward of the point at these indices, or None if its total is not allowed."""
        total = self.total(positions)
        return self.factor * int(self.levels[total]) if total < len(self.levels) else None

    def columns(self, total: int) -> list[int]:
        """What the columns that :meth:`added_to` appends are at a point of this total."""
        if self._is_flat:
            return []
        if self.is_concave:
            return [int(self.levels[total])]
        return [int(t == total) for t in range(len(self.levels))]

    def added_to(self, program: IntegerProgram, row: sp.csr_array, constant: int) -> IntegerProgram:
        """A program with this reward subtracted.

        Args:
            program: The program before the reward. Its columns come first in the result.
            row: Shape ``(1, n_variables)``: ``row @ x + constant`` is the total.
            constant: See ``row``.
        """
        if self._is_flat:
            return self._limited(program, row, constant)
        if self.is_concave:
            return self._cut(program, row, constant)
        return self._spelled_out(program, row, constant)

    @property
    def _is_flat(self) -> bool:
        """Whether all totals have the same reward."""
        return self.factor == 0 or int(self.levels.min()) == int(self.levels.max())

    @property
    def _last(self) -> int:
        return len(self.levels) - 1

    def _limited(self, program: IntegerProgram, row: sp.csr_array, constant: int) -> IntegerProgram:
        """All totals have the same reward, and what is left is their limit."""
        same = float(self.factor * int(self.levels[0]))
        shifted = program.with_objective(program.objective, program.constant - same)
        if sum(int(part.max()) for part in self.parts) <= self._last:
            return shifted
        return extend(
            shifted, [], row, np.array([-np.inf]), np.array([float(self._last - constant)])
        )

    def _cut(self, program: IntegerProgram, row: sp.csr_array, constant: int) -> IntegerProgram:
        """One variable on the right side of every line through two neighbouring levels."""
        slopes, at = np.unique(np.diff(self.levels), return_index=True)
        # s - slope * (row x + constant) <= levels[at] - slope * at, reversed for a negative factor.
        right = (self.levels[at] - slopes * (at - constant)).astype(float)
        open_end = np.full(len(slopes), np.inf)
        low, high = (-open_end, right) if self.factor > 0 else (right, open_end)
        on_row = np.append(-slopes, 1).astype(float)
        on_s = np.append(np.ones(len(slopes)), 0.0)
        column = Column("s", int(self.levels.min()), int(self.levels.max()), -self.factor)
        return extend(
            program,
            [column],
            _beside(sp.csr_array(on_row[:, None]) @ row, on_s[:, None]),
            np.append(low, -np.inf),
            np.append(high, self._last - constant),
        )

    def _spelled_out(
        self, program: IntegerProgram, row: sp.csr_array, constant: int
    ) -> IntegerProgram:
        """One binary per total."""
        columns = [
            Column(f"q{t}", 0, 1, -self.factor * int(level)) for t, level in enumerate(self.levels)
        ]
        totals = np.arange(len(columns), dtype=float)
        # sum_t q[t] = 1, and row x - sum_t t q[t] = -constant.
        on_row = sp.csr_array(np.array([[0.0], [1.0]])) @ row
        right = np.array([1.0, -constant])
        spelled = _beside(on_row, np.stack([np.ones(len(columns)), -totals]))
        return extend(program, columns, spelled, right, right)


def _beside(left: sp.csr_array, right: FloatArray) -> sp.csr_array:
    return sp.csr_array(sp.hstack([left, sp.csr_array(right)]))
