"""Probability vectors, and what they are in other units and below upper bounds."""

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
    """Nonnegative vectors of a given weighted sum, with an upper bound on each entry.

    All v with ``weights @ v = 1`` and ``0 <= v <= upper``: for weights of 1, probability vectors.

    Args:
        upper: Positive, with ``weights @ upper`` at least 1, shape ``(dimension,)``.
        weights: Positive, the same shape; ones by default.

    Raises:
        ProblemError: The bounds or the weights are not such.
    """

    upper: FloatArray
    weights: FloatArray

    def __init__(self, upper: ArrayLike, weights: ArrayLike | None = None) -> None:
        bounds = finite_bounds("upper", upper)
        size = len(bounds)
        factors = np.ones(size) if weights is None else finite_bounds("weights", weights, size)
        if (factors <= 0).any():
            raise ProblemError("weights: positive numbers expected")
        bounds = np.minimum(bounds, 1 / factors)
        # A sum that only rounding keeps from 1 leaves one point: the bounds themselves.
        total = float(factors @ bounds)
        if (bounds <= 0).any() or total < 1 - 1e-9:
            raise ProblemError("upper: positive bounds that add up to at least 1 expected")
        object.__setattr__(self, "upper", bounds / min(total, 1.0))
        object.__setattr__(self, "weights", factors)

    @property
    def dimension(self) -> int:
        """Number of entries."""
        return len(self.upper)

    @property
    def diameter(self) -> float:
        """An upper bound: that of the box of bounds, or of vectors without a negative entry."""
        if self.dimension == 1:
            return 0.0
        return min(float(np.linalg.norm(self.upper)), math.sqrt(2) * self.magnitude)

    @property
    def centre(self) -> FloatArray:
        """Equal entries if the bounds allow it, otherwise a multiple of the bounds."""
        equal = 1 / float(self.weights.sum())
        if (equal <= self.upper).all():
            return np.full(self.dimension, equal)
        return np.asarray(self.upper / (self.weights @ self.upper))

    @property
    def magnitude(self) -> float:
        """At most the bounds' own; and ``|v|^2 <= max(upper / weights) (weights @ v)``."""
        tilted = math.sqrt(float((self.upper / self.weights).max()))
        return min(float(np.linalg.norm(self.upper)), tilted)

    def project(self, point: FloatArray) -> FloatArray:
        """The nearest point; see :meth:`ConvexSet.project`.

        It is ``clip(point - t weights, 0, upper)`` for the t that gives the right sum. The sum is
        piecewise linear in t with breaks at ``point / weights`` and ``(point - upper) / weights``.
        """
        upper, weights = self.upper, self.weights
        # Filled from the top, the bounds reach the sum at the coordinate ``last``: t lies below its
        # break, by ``reach`` at most. From there, cut where nothing changes any more, huge numbers
        # cost no digits.
        order = np.argsort(-point / weights)
        last = int(np.searchsorted(np.cumsum((weights * upper)[order]), 1.0))
        top = order[min(last, len(order) - 1)]
        reach = (upper / weights).max()
        point = np.clip(point - point[top] / weights[top] * weights, -reach * weights, upper)
        breaks = np.sort(np.concatenate([point, point - upper]) / np.concatenate([weights] * 2))
        sums = np.clip(point - breaks[:, None] * weights, 0.0, upper) @ weights
        # Falling in t: the last break whose sum is still large enough.
        k = max(int(np.count_nonzero(sums >= 1)) - 1, 0)
        low = breaks[k]
        middle = low if k + 1 >= len(breaks) else (low + breaks[k + 1]) / 2
        rest = point - middle * weights
        slope = float((weights**2)[(rest > 0) & (rest < upper)].sum())
        t = low if slope == 0 else low + (sums[k] - 1) / slope
        nearest: FloatArray = np.clip(point - t * weights, 0.0, upper)
        return nearest

    def minimize_linear(self, costs: FloatArray) -> FloatArray:
        """As much as allowed where it costs least; see :meth:`ConvexSet.minimize_linear`."""
        order = np.argsort(costs / self.weights, kind="stable")
        full = (self.weights * self.upper)[order]
        corner = np.zeros(self.dimension)
        corner[order] = np.clip(1 - (np.cumsum(full) - full), 0.0, full) / self.weights[order]
        return corner
