"""Probability vectors, with or without an upper bound on each entry."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from oracles.arrays import FloatArray
from oracles.errors import ProblemError
from oracles.monotone.sets import ConvexSet, finite_bounds


@dataclass(frozen=True)
class Simplex(ConvexSet):
    """Probability vectors.

    Args:
        size: Number of entries, at least 1.

    Raises:
        ProblemError: ``size`` is not a positive integer.
    """

    size: int

    def __post_init__(self) -> None:
        if isinstance(self.size, bool) or not isinstance(self.size, int) or self.size < 1:
            raise ProblemError(f"size: a positive integer expected, not {self.size!r}")

    @property
    def dimension(self) -> int:
        """Number of entries."""
        return self.size

    @property
    def diameter(self) -> float:
        """The distance of two corners."""
        return math.sqrt(2) if self.size > 1 else 0.0

    @property
    def centre(self) -> FloatArray:
        """The uniform distribution."""
        return np.full(self.size, 1 / self.size)

    @property
    def magnitude(self) -> float:
        """1, the norm of a corner."""
        return 1.0

    def project(self, point: FloatArray) -> FloatArray:
        """The nearest point, by sorting; see :meth:`ConvexSet.project`.

        With the entries in falling order, the projection keeps the k largest and lowers them by a
        common amount, for the largest k that leaves the k-th positive (Held, Wolfe, Crowder 1974).
        """
        # A common shift moves no projection; without it, 1 is lost in coordinates beyond 2^53.
        point = point - point.max()
        falling = np.sort(point)[::-1]
        excess = np.cumsum(falling) - 1
        kept = int(np.count_nonzero(falling * np.arange(1, self.size + 1) > excess))
        nearest: FloatArray = np.maximum(point - excess[kept - 1] / kept, 0.0)
        return nearest

    def minimize_linear(self, costs: FloatArray) -> FloatArray:
        """A corner of least cost; see :meth:`ConvexSet.minimize_linear`."""
        corner = np.zeros(self.size)
        corner[int(np.argmin(costs))] = 1.0
        return corner


@dataclass(frozen=True, eq=False)
class CappedSimplex(ConvexSet):
    """Probability vectors with an upper bound on each entry.

    Args:
        upper: Positive, of sum at least 1, shape ``(dimension,)``.

    Raises:
        ProblemError: The bounds are not such.
    """

    upper: FloatArray

    def __init__(self, upper: ArrayLike) -> None:
        bounds = np.minimum(finite_bounds("upper", upper), 1.0)
        if (bounds <= 0).any() or bounds.sum() < 1:
            raise ProblemError("upper: positive bounds that add up to at least 1 expected")
        object.__setattr__(self, "upper", bounds)

    @property
    def dimension(self) -> int:
        """Number of entries."""
        return len(self.upper)

    @property
    def diameter(self) -> float:
        """The simplex's: an upper bound."""
        return math.sqrt(2) if self.dimension > 1 else 0.0

    @property
    def centre(self) -> FloatArray:
        """The projection of the bounds' proportions, which satisfy them."""
        return np.asarray(self.upper / self.upper.sum())

    @property
    def magnitude(self) -> float:
        """1, the norm of a corner of the simplex."""
        return 1.0

    def project(self, point: FloatArray) -> FloatArray:
        """The nearest point; see :meth:`ConvexSet.project`.

        It is ``clip(point - t, 0, upper)`` for the t that makes its sum 1. The sum is piecewise
        linear in t with breaks at ``point`` and ``point - upper``.
        """
        # Filled from the top, the bounds reach 1 at the coordinate ``last``: t lies within 1 below
        # it. From there, cut where nothing changes any more, huge numbers cost no digits.
        order = np.argsort(-point)
        last = int(np.searchsorted(np.cumsum(self.upper[order]), 1.0))
        point = np.clip(point - point[order[min(last, len(order) - 1)]], -2.0, 2.0)
        breaks = np.sort(np.concatenate([point, point - self.upper]))
        sums = np.clip(point - breaks[:, None], 0.0, self.upper).sum(axis=1)
        # Falling in t: the last break whose sum is still at least 1.
        k = int(np.count_nonzero(sums >= 1)) - 1
        low = breaks[max(k, 0)]
        middle = low if k + 1 >= len(breaks) else (low + breaks[k + 1]) / 2
        free = (point - middle > 0) & (point - middle < self.upper)
        t = low if not free.any() else low + (sums[max(k, 0)] - 1) / np.count_nonzero(free)
        nearest: FloatArray = np.clip(point - t, 0.0, self.upper)
        return nearest

    def minimize_linear(self, costs: FloatArray) -> FloatArray:
        """As much as the bounds allow on the least costs; see :meth:`ConvexSet.minimize_linear`."""
        order = np.argsort(costs, kind="stable")
        before = np.cumsum(self.upper[order]) - self.upper[order]
        corner = np.zeros(self.dimension)
        corner[order] = np.clip(1 - before, 0.0, self.upper[order])
        return corner
