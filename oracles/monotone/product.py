"""Products of convex sets: points side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from oracles.arrays import FloatArray
from oracles.errors import ProblemError
from oracles.monotone.sets import ConvexSet


class Product(ConvexSet):
    """The product of sets: points side by side.

    Args:
        factors: At least one set.

    Raises:
        ProblemError: There is none, or one is not a :class:`ConvexSet`.
    """

    def __init__(self, *factors: ConvexSet) -> None:
        if not factors or not all(isinstance(factor, ConvexSet) for factor in factors):
            raise ProblemError("factors: at least one convex set expected, and nothing else")
        self.factors: Sequence[ConvexSet] = factors
        ends = np.cumsum([factor.dimension for factor in factors]).tolist()
        starts = [0, *ends[:-1]]
        self._parts = [slice(start, end) for start, end in zip(starts, ends, strict=True)]
        self._dimension = int(ends[-1])

    @property
    def dimension(self) -> int:
        """Number of coordinates of all factors."""
        return self._dimension

    @property
    def diameter(self) -> float:
        """By Pythagoras from the factors'."""
        return math.hypot(*(factor.diameter for factor in self.factors))

    @property
    def centre(self) -> FloatArray:
        """The factors' centres."""
        return np.concatenate([factor.centre for factor in self.factors])

    @property
    def magnitude(self) -> float:
        """By Pythagoras from the factors'."""
        return math.hypot(*(factor.magnitude for factor in self.factors))

    @property
    def projection_error(self) -> float:
        """By Pythagoras from the factors'."""
        return math.hypot(*(factor.projection_error for factor in self.factors))

    def split(self, point: FloatArray) -> list[FloatArray]:
        """The factors' parts of a point."""
        return [point[part] for part in self._parts]

    def project(self, point: FloatArray) -> FloatArray:
        """The nearest point, factor by factor; see :meth:`ConvexSet.project`."""
        pairs = zip(self.factors, self._parts, strict=True)
        return np.concatenate([factor.project(point[part]) for factor, part in pairs])

    def minimize_linear(self, costs: FloatArray) -> FloatArray:
        """Factor by factor; see :meth:`ConvexSet.minimize_linear`."""
        pairs = zip(self.factors, self._parts, strict=True)
        return np.concatenate([factor.minimize_linear(costs[part]) for factor, part in pairs])
