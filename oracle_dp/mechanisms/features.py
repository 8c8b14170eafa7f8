"""Lifts of a public grid into integer vectors phi(w): what radial noise is added along.

A lift is used through two numbers, both found by enumeration in integers
(docs/theory/objective_perturbation.md, Theorem 3):

- the **gain**, a lower bound on ``<phi(w), phi(w) - phi(v)>`` over all w != v. It must exceed
  ``scale * sensitivity``, which says how many lattice steps a unit of loss may have;
- the **radius**, an upper bound on ``norm(phi(w))``, which the noise must cover.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from oracle_dp.errors import ParameterError
from oracles.total import TotalReward

IntArray = NDArray[np.int64]

CENTRED_BINARY_STEP = 8
"""g of the centred-binary lift: with it, the strict shift costs less than 2% of the noise."""


class Lift(Protocol):
    """phi: integer vectors for the points of a grid."""

    @property
    def dimension(self) -> int:
        """k, the length of the vectors."""
        ...

    @property
    def gain(self) -> int:
        """Lower bound on ``<phi(w), phi(w) - phi(v)>`` over distinct points."""
        ...

    @property
    def squared_radius(self) -> int:
        """Upper bound on ``norm(phi(w))^2``."""
        ...

    def rewards(self, noise: IntArray) -> tuple[list[IntArray], TotalReward | None]:
        """``<noise, phi(w)>`` as rewards per (coordinate, value) and one for a total.

        Raises:
            ParameterError: One does not fit in 64 bits.
        """
        ...


def scale_of(lift: Lift, sensitivity: Fraction) -> int:
    """The most lattice steps per unit of loss that the gain allows: ``scale * Delta < gain``.

    Raises:
        ParameterError: Not even one.
    """
    scale = math.ceil(lift.gain / sensitivity) - 1
    if scale < 1:
        raise ParameterError(
            f"sensitivity: {float(sensitivity):g} is too large for this lift; divide the losses by "
            "a public constant, or take lift 'one_hot'"
        )
    return scale


def radius_of(lift: Lift) -> Fraction:
    """A rational at or above the radius, within 2^-20."""
    grid = 1 << 20
    return Fraction(math.isqrt(lift.squared_radius * grid * grid - 1) + 1, grid)


@dataclass(frozen=True, eq=False)
class CentredBinaryLift:
    """``g (2 b - 1)`` for coordinates b with two values: already on a sphere.

    Two points that differ in t coordinates have ``<phi(w), phi(w) - phi(v)> = 2 g^2 t``.

    Args:
        sizes: Number of values of each coordinate, at most 2; those with one have no entry.

    Raises:
        ParameterError: A coordinate has more than two values.
    """

    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if max(self.sizes, default=0) > 2:
            raise ParameterError(
                f"lift: 'centred_binary' needs coordinates of two values, and one has "
                f"{max(self.sizes)}; take 'pi' or 'one_hot'"
            )

    @property
    def dimension(self) -> int:
        """One entry per coordinate of two values, and at least one."""
        return max(1, sum(size == 2 for size in self.sizes))

    @property
    def gain(self) -> int:
        """With t = 1."""
        return 2 * CENTRED_BINARY_STEP**2

    @property
    def squared_radius(self) -> int:
        """The same for all points."""
        return self.dimension * CENTRED_BINARY_STEP**2

    def rewards(self, noise: IntArray) -> tuple[list[IntArray], TotalReward | None]:
        """Linear in the coordinates."""
        own = iter(noise.tolist())
        return [
            multiples(next(own), np.array([-CENTRED_BINARY_STEP, CENTRED_BINARY_STEP]))
            if size == 2
            else np.zeros(size, dtype=np.int64)
            for size in self.sizes
        ], None


def multiples(factor: int, entries: IntArray) -> IntArray:
    """``factor * entries``, in Python's integers."""
    products = [factor * entry for entry in entries.tolist()]
    if max(map(abs, products)) >= 2**63:
        raise ParameterError(
            "epsilon: a draw does not fit in 64 bits; nothing is returned: use a larger epsilon"
        )
    return np.array(products, dtype=np.int64)
