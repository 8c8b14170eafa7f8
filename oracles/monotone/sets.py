"""Convex sets: projection, linear oracle, diameter. The ground on which operators act.

A set is public and bounded. Every set is a frozen value; points are arrays of shape
``(dimension,)``. Simplices, polytopes and products have modules of their own.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from oracles.arrays import FloatArray, scalar, vector
from oracles.errors import ProblemError, UnboundedError

MEMBERSHIP_TOLERANCE = 1e-9
"""How far a point may lie outside, relative to ``1 + diameter``, before it is called outside."""


class ConvexSet(ABC):
    """A compact convex set."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Number of coordinates."""

    @property
    @abstractmethod
    def diameter(self) -> float:
        """An upper bound on the distance of two points, exact up to rounding unless said."""

    @property
    @abstractmethod
    def centre(self) -> FloatArray:
        """A point of the set that does not depend on data: where methods start."""

    @property
    def projection_error(self) -> float:
        """How far :meth:`project` may be from the projection; 0 means up to rounding."""
        return 0.0

    @abstractmethod
    def project(self, point: FloatArray) -> FloatArray:
        """The nearest point of the set, shape ``(dimension,)``."""

    @abstractmethod
    def minimize_linear(self, costs: FloatArray) -> FloatArray:
        """A point of the set at which ``costs @ point`` is least, shape ``(dimension,)``."""

    @property
    def magnitude(self) -> float:
        """An upper bound on the norm of a point of the set."""
        return float(np.linalg.norm(self.centre)) + self.diameter

    def distance(self, point: FloatArray) -> float:
        """Euclidean distance of a point from the set."""
        return float(np.linalg.norm(point - self.project(point)))

    def require_point(self, name: str, given: ArrayLike | None) -> FloatArray:
        """A checked point of the set; the centre for None.

        Raises:
            ProblemError: The shape is wrong, or the point lies outside.
        """
        if given is None:
            return self.centre
        point = vector(name, given, self.dimension, None)
        if not np.isfinite(point).all():
            raise ProblemError(f"{name}: a finite point of the set expected; pass one inside")
        allowed = MEMBERSHIP_TOLERANCE * (1 + self.diameter) + self.projection_error
        if self.distance(point) > allowed:
            raise ProblemError(f"{name}: lies outside the set; project it, or leave it out")
        return point


@dataclass(frozen=True, eq=False)
class Ball(ConvexSet):
    """A Euclidean ball.

    Args:
        radius: Positive and finite.
        middle: Its centre, shape ``(dimension,)``.

    Raises:
        ProblemError: An argument is no number or out of range.
        UnboundedError: The radius is infinite.
    """

    radius: float
    middle: FloatArray

    def __init__(self, radius: float, middle: ArrayLike) -> None:
        object.__setattr__(self, "radius", positive_bound("radius", radius))
        object.__setattr__(self, "middle", finite_bounds("middle", middle))

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.middle)

    @property
    def diameter(self) -> float:
        """Twice the radius."""
        return 2 * self.radius

    @property
    def centre(self) -> FloatArray:
        """The ball's centre."""
        return self.middle

    @property
    def magnitude(self) -> float:
        """Norm of the centre plus the radius."""
        return float(np.linalg.norm(self.middle)) + self.radius

    def project(self, point: FloatArray) -> FloatArray:
        """The nearest point; see :meth:`ConvexSet.project`."""
        offset = point - self.middle
        length = math.sqrt(float(offset @ offset))
        if length <= self.radius:
            return point
        return self.middle + offset * (self.radius / length)

    def minimize_linear(self, costs: FloatArray) -> FloatArray:
        """The point opposite to the costs; see :meth:`ConvexSet.minimize_linear`."""
        length = math.sqrt(float(costs @ costs))
        return self.middle if length == 0 else self.middle - costs * (self.radius / length)


@dataclass(frozen=True, eq=False)
class Box(ConvexSet):
    """All points between two bounds.

    Args:
        lower: Shape ``(dimension,)``.
        upper: The same shape; nowhere below ``lower``.

    Raises:
        ProblemError: The shapes differ, or a bound is NaN or the wrong way round.
        UnboundedError: A bound is infinite.
    """

    lower: FloatArray
    upper: FloatArray

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        low = finite_bounds("lower", lower)
        high = finite_bounds("upper", upper, len(low))
        if (low > high).any():
            raise ProblemError("upper: below lower at some coordinate; swap the two")
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.lower)

    @property
    def diameter(self) -> float:
        """The length of the diagonal."""
        return float(np.linalg.norm(self.upper - self.lower))

    @property
    def centre(self) -> FloatArray:
        """The midpoint."""
        return self.lower + (self.upper - self.lower) / 2

    def project(self, point: FloatArray) -> FloatArray:
        """The nearest point; see :meth:`ConvexSet.project`."""
        return np.minimum(np.maximum(point, self.lower), self.upper)

    def minimize_linear(self, costs: FloatArray) -> FloatArray:
        """A corner; see :meth:`ConvexSet.minimize_linear`."""
        return np.where(costs > 0, self.lower, self.upper)


def positive_bound(name: str, given: float) -> float:
    """One positive finite number that bounds a set."""
    number = scalar(name, given)
    if number == math.inf:
        raise UnboundedError(f"{name}: infinite; the set must be bounded, state a finite bound")
    if not number > 0:
        raise ProblemError(f"{name}: a positive number expected, not {number}")
    return number


def finite_bounds(name: str, given: ArrayLike, size: int | None = None) -> FloatArray:
    """A vector of finite numbers that bound a set."""
    numbers = vector(name, given, size, None)
    if np.isnan(numbers).any() or not len(numbers):
        raise ProblemError(f"{name}: at least one coordinate, and no NaN, expected")
    if np.isinf(numbers).any():
        raise UnboundedError(f"{name}: infinite; the set must be bounded, state finite bounds")
    return numbers
