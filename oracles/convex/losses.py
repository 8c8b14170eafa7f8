"""Losses of a margin m = y <w, x>, each with the constants that proofs rest on.

A loss ``phi`` is stated with bounds that hold at every margin:

* ``lipschitz``, at least ``|phi'|``; infinite for the squared loss;
* ``smoothness``, at least ``phi''``; infinite where the slope jumps;
* ``hessian_lipschitz``, at least ``|phi'''|``; infinite where the curvature jumps.

``upper_curvature(m)`` is a c(m) with ``phi(t) <= phi(m) + phi'(m) (t - m) + c(m) (t - m)^2 / 2``
for *every* t: a quadratic upper bound, where ``curvature`` is only the local second derivative.
For the logistic loss it is ``tanh(m / 2) / (2 m)`` (Jaakkola and Jordan 2000; proof in
docs/theory/second_order.md, Lemma 1); for other smooth losses it is ``smoothness``. All are exact
to rounding at any finite margin: nothing overflows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from scipy.special import expit

from oracles.arrays import FloatArray
from oracles.errors import ProblemError


@runtime_checkable
class MarginLoss(Protocol):
    """A loss of one real margin."""

    @property
    def name(self) -> str:
        """Its name in messages."""
        ...

    @property
    def is_convex(self) -> bool:
        """Whether phi is convex."""
        ...

    @property
    def lipschitz(self) -> float:
        """A bound on ``|phi'|``, or infinity."""
        ...

    @property
    def smoothness(self) -> float:
        """A bound on ``phi''``, or infinity."""
        ...

    @property
    def hessian_lipschitz(self) -> float:
        """A bound on ``|phi'''|``, or infinity."""
        ...

    def value(self, margins: FloatArray) -> FloatArray:
        """Phi at each margin."""
        ...

    def slope(self, margins: FloatArray) -> FloatArray:
        """The derivative; where there is none, one of the subgradients."""
        ...

    def curvature(self, margins: FloatArray) -> FloatArray:
        """The second derivative; 0 at a kink."""
        ...

    def upper_curvature(self, margins: FloatArray) -> FloatArray:
        """Curvature of a quadratic that touches phi here and is nowhere below it."""
        ...


@dataclass(frozen=True, slots=True)
class Logistic:
    """``log(1 + exp(-m))``. The third derivative is at most 1 / (6 sqrt 3)."""

    name: ClassVar[str] = "logistic"
    is_convex: ClassVar[bool] = True
    lipschitz: ClassVar[float] = 1.0
    smoothness: ClassVar[float] = 0.25
    hessian_lipschitz: ClassVar[float] = 1 / (6 * math.sqrt(3)) * (1 + 1e-15)

    def value(self, margins: FloatArray) -> FloatArray:
        """See :class:`MarginLoss`."""
        return np.logaddexp(0.0, -margins)

    def slope(self, margins: FloatArray) -> FloatArray:
        """See :class:`MarginLoss`."""
        return -np.asarray(expit(-margins))

    def curvature(self, margins: FloatArray) -> FloatArray:
        """See :class:`MarginLoss`."""
        tail = np.exp(-np.abs(margins))  # Not p (1 - p), which loses the small p to rounding.
        return tail / (1.0 + tail) ** 2

    def upper_curvature(self, margins: FloatArray) -> FloatArray:
        """See :class:`MarginLoss`."""
        size = np.maximum(np.abs(margins), 1e-4)
        # Below 1e-4 the next term of the series is smaller than rounding.
        return np.where(
            np.abs(margins) < 1e-4, 0.25 - margins**2 / 48, np.tanh(size / 2) / (2 * size)
        )


@dataclass(frozen=True, slots=True)
class HuberHinge:
    """The hinge with its kink rounded over ``1 - width < m < 1 + width``.

    ``(1 + width - m)^2 / (4 width)`` in between (Chaudhuri, Monteleoni, Sarwate 2011, Section 3).

    Args:
        width: Half the width of the rounding, positive and finite.

    Raises:
        ProblemError: The width is not.
    """

    width: float = 0.5

    def __post_init__(self) -> None:
        if not (0 < self.width < math.inf):
            raise ProblemError(f"width: a positive number expected, not {self.width!r}")

    @property
    def name(self) -> str:
        """Its name in messages."""
        return "huber_hinge"

    @property
    def is_convex(self) -> bool:
        """True."""
        return True

    @property
    def lipschitz(self) -> float:
        """1."""
        return 1.0

    @property
    def smoothness(self) -> float:
        """The constant curvature of the middle piece."""
        return 1 / (2 * self.width)

    @property
    def hessian_lipschitz(self) -> float:
        """Infinite: the curvature jumps."""
        return math.inf

    def value(self, margins: FloatArray) -> FloatArray:
        """See :class:`MarginLoss`."""
        middle = np.clip(1 + self.width - margins, 0.0, 2 * self.width)
        below = np.maximum(0.0, 1 - self.width - margins)
        return middle**2 / (4 * self.width) + below

    def slope(self, margins: FloatArray) -> FloatArray:
        """See :class:`MarginLoss`."""
        return -np.clip((1 + self.width - margins) / (2 * self.width), 0.0, 1.0)

    def curvature(self, margins: FloatArray) -> FloatArray:
        """See :class:`MarginLoss`."""
        return np.where(np.abs(margins - 1) < self.width, self.smoothness, 0.0)

    def upper_curvature(self, margins: FloatArray) -> FloatArray:
        """See :class:`MarginLoss`."""
        return np.full_like(margins, self.smoothness)


@dataclass(frozen=True, slots=True)
class Squared:
    """``(1 - m)^2 / 2``, which is ``(y - <w, x>)^2 / 2`` for labels -1 and 1. Not Lipschitz."""

    name: ClassVar[str] = "squared"
    is_convex: ClassVar[bool] = True
    lipschitz: ClassVar[float] = math.inf
    smoothness: ClassVar[float] = 1.0
    hessian_lipschitz: ClassVar[float] = 0.0

    def value(self, margins: FloatArray) -> FloatArray:
        """See :class:`MarginLoss`."""
        return (1 - margins) ** 2 / 2

    def slope(self, margins: FloatArray) -> FloatArray:
        """See :class:`MarginLoss`."""
        return margins - 1

    def curvature(self, margins: FloatArray) -> FloatArray:
        """See :class:`MarginLoss`."""
        return np.ones_like(margins)

    def upper_curvature(self, margins: FloatArray) -> FloatArray:
        """See :class:`MarginLoss`."""
        return np.ones_like(margins)


@dataclass(frozen=True, slots=True)
class Hinge:
    """``max(0, 1 - m)``: not smooth, so a linear program (:func:`oracles.convex.hinge_program`)."""

    name: ClassVar[str] = "hinge"
    is_convex: ClassVar[bool] = True
    lipschitz: ClassVar[float] = 1.0
    smoothness: ClassVar[float] = math.inf
    hessian_lipschitz: ClassVar[float] = math.inf

    def value(self, margins: FloatArray) -> FloatArray:
        """See :class:`MarginLoss`."""
        return np.maximum(0.0, 1 - margins)

    def slope(self, margins: FloatArray) -> FloatArray:
        """See :class:`MarginLoss`."""
        return np.where(margins < 1, -1.0, 0.0)

    def curvature(self, margins: FloatArray) -> FloatArray:
        """See :class:`MarginLoss`."""
        return np.zeros_like(margins)

    def upper_curvature(self, margins: FloatArray) -> FloatArray:
        """Infinite: no quadratic stays above the kink."""
        return np.full_like(margins, math.inf)


@dataclass(frozen=True, slots=True)
class Ramp:
    """``min(1, max(0, 1 - m))``: values in [0, 1], not convex, a mixed-integer program."""

    name: ClassVar[str] = "ramp"
    is_convex: ClassVar[bool] = False
    lipschitz: ClassVar[float] = 1.0
    smoothness: ClassVar[float] = math.inf
    hessian_lipschitz: ClassVar[float] = math.inf

    def value(self, margins: FloatArray) -> FloatArray:
        """See :class:`MarginLoss`."""
        return np.clip(1 - margins, 0.0, 1.0)

    def slope(self, margins: FloatArray) -> FloatArray:
        """See :class:`MarginLoss`."""
        return np.where((margins > 0) & (margins < 1), -1.0, 0.0)

    def curvature(self, margins: FloatArray) -> FloatArray:
        """See :class:`MarginLoss`."""
        return np.zeros_like(margins)

    def upper_curvature(self, margins: FloatArray) -> FloatArray:
        """Infinite: no quadratic stays above the kink."""
        return np.full_like(margins, math.inf)
