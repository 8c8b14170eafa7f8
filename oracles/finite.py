"""A loss given as a table over a finite grid: the space small enough to write down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oracles.errors import InfeasibleError, ProblemError
from oracles.oracle import UNLIMITED, Limits
from oracles.solution import Certificate, Solution, Status
from oracles.total import TotalReward

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FiniteTable:
    """Integer losses over a product of coordinates, or over a subset of it.

    Args:
        losses: Total loss of each point, integers, shape ``(m_1, ..., m_d)``: coordinate j has
            ``m_j`` values and a point is its tuple of indices.
        allowed: Which points belong to the set, boolean, same shape. Default all.

    Raises:
        ProblemError: ``losses`` is not an integer array, or the shapes disagree.
    """

    losses: IntArray
    allowed: NDArray[np.bool_]

    def __init__(self, losses: ArrayLike, allowed: ArrayLike | None = None) -> None:
        table = np.asarray(losses)
        if table.ndim == 0 or not np.issubdtype(table.dtype, np.integer):
            raise ProblemError("losses: an integer array with one axis per coordinate expected")
        mask = np.ones(table.shape, dtype=bool) if allowed is None else np.asarray(allowed)
        if mask.shape != table.shape or mask.dtype != bool:
            raise ProblemError(f"allowed: a boolean array of shape {table.shape} expected")
        if table.size and not -(2**63) <= int(table.min()) <= int(table.max()) < 2**63:
            raise ProblemError("losses: integers of 64 bits expected")
        object.__setattr__(self, "losses", table.astype(np.int64))
        object.__setattr__(self, "allowed", mask.copy())

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of each coordinate."""
        return self.losses.shape

    @property
    def values(self) -> tuple[IntArray, ...]:
        """The values of each coordinate are its indices."""
        return tuple(np.arange(size) for size in self.sizes)

    @property
    def is_integer(self) -> bool:
        """Always true: the constructor refuses anything else."""
        return True

    @property
    def n_points(self) -> int:
        """Number of allowed points."""
        return int(self.allowed.sum())

    @property
    def loss_spread(self) -> int:
        """Largest loss of an allowed point minus the least."""
        losses = self.losses[self.allowed]
        return int(losses.max()) - int(losses.min()) if losses.size else 0

    def positions(self, value: tuple[int, ...]) -> tuple[int, ...]:
        """A point is its tuple of indices."""
        return value

    def point(self, positions: Sequence[int]) -> tuple[int, ...] | None:
        """The point at these indices, or None if it is not allowed."""
        point = tuple(int(i) for i in positions)
        return point if self.allowed[point] else None

    def check(
        self,
        *,
        scale: int = 1,
        total: TotalReward | None = None,
        limits: Limits = UNLIMITED,
    ) -> None:
        """Refuse an empty set; enumeration proves objectives of any size.

        Raises:
            InfeasibleError: No point is allowed, or none has a total within its levels.
        """
        if not self._points(total):
            raise InfeasibleError("allowed: no point belongs to the set; allow at least one")

    def minimize(
        self,
        rewards: Sequence[IntArray],
        *,
        scale: int = 1,
        total: TotalReward | None = None,
        limits: Limits = UNLIMITED,
    ) -> Solution[tuple[int, ...]]:
        """The first point, in lexicographic order, of least ``scale * loss - rewards``.

        Computed in Python integers, so nothing overflows. ``limits`` are not needed.
        """
        self.check(total=total)
        points = self._points(total)
        costs = [
            int(self.losses[point]) * scale
            - sum(int(reward[i]) for reward, i in zip(rewards, point, strict=True))
            - (0 if total is None else total.reward(point) or 0)
            for point in points
        ]
        best = min(range(len(costs)), key=costs.__getitem__)
        return Solution(
            Status.OPTIMAL,
            points[best],
            costs[best],
            costs[best],
            Certificate.EXACT,
            "enumeration",
        )

    def _points(self, total: TotalReward | None) -> list[tuple[int, ...]]:
        """The allowed points, in lexicographic order."""
        points = [tuple(point) for point in np.argwhere(self.allowed).tolist()]
        if total is None:
            return points
        return [point for point in points if total.total(point) < len(total.levels)]
