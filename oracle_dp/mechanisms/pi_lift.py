"""The lift pi of a public grid, rounded to integers once and for all.

The lift pi of Neel et al. (2020), ``(w / D, sqrt(1 - norm(w)^2 / D^2))``, has irrational entries.
Here it is ``(g w, h[norm(w)^2])`` with integers g and h, rounded once and for all: gain and radius
are those of the rounded lift, so rounding costs a little noise and no guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from oracle_dp.errors import ParameterError
from oracle_dp.mechanisms.features import multiples
from oracles.total import TotalReward

IntArray = NDArray[np.int64]
Levels = NDArray[np.int64] | NDArray[np.float64]

MAX_TOTAL = 2_000
"""Largest squared norm, in grid steps, whose pairs are enumerated: 4 million of them."""

MAX_STEPS = 1 << 20
"""Largest value of a coordinate, in grid steps: what lies beyond ``max_norm`` is not squared."""

ROUNDING_COST = 1.1
"""Factor on the noise up to which coarser entries of the rounded lift are preferred."""

FINEST_BITS = 15
"""The finest entries that are tried, whatever they cost."""

_SLOPES = 256
"""How many lines are compared at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """What is used of a grid of integer points z: their squared norms, and how close two can be.

    Attributes:
        least: Least squared norm.
        most: Greatest squared norm.
        gap: Coordinates of two points are equal or differ by at least this.
    """

    least: int
    most: int
    gap: int

    @classmethod
    def of(cls, values: Sequence[IntArray]) -> Pairs:
        """Of a grid given by each coordinate's values; those with one value do not count."""
        varying = [z for z in values if len(z) > 1]
        return cls(
            least=sum(int(np.abs(z).min()) ** 2 for z in varying),
            most=sum(int(np.abs(z).max()) ** 2 for z in varying),
            gap=min((int(np.diff(np.sort(z)).min()) for z in varying), default=1),
        )

    def gain(self, g: int, h: Levels) -> float:
        """Least ``<phi(w), phi(w) - phi(v)>`` that distinct points could have.

        Of points with squared norms a and b, ``<w, v> <= sqrt(a b)`` and
        ``2 <w, v> = a + b - norm(w - v)^2 <= a + b - gap^2``.
        """
        norms = np.arange(self.least, len(h))
        a, b = norms[:, None], norms[None, :]
        inner = np.minimum(_integer_sqrt(a * b), (a + b - self.gap**2) // 2)
        own, other = h[a], h[b]
        gains = g * g * (a - inner) + own * (own - other)
        # No point, no pair: any gain will do.
        return float(gains.min()) if gains.size else float(g * g)

    def squared_radius(self, g: int, h: Levels) -> float:
        """Greatest squared norm of phi, and at least 1."""
        norms = np.arange(self.least, len(h))
        return float(np.max(g * g * norms + h[norms] ** 2, initial=1))

    def noise_per_loss(self, g: int, h: Levels) -> float:
        """Radius squared over gain, to which the noise's effect on the loss is proportional."""
        gain = self.gain(g, h)
        return self.squared_radius(g, h) / gain if gain > 0 else math.inf


@dataclass(frozen=True, eq=False)
class PiLift:
    """``(g z, h[norm(z)^2])`` with ``z = w / step``, step the greatest common divisor of the grid.

    Attributes:
        values: z of each coordinate's values; coordinates with one value have no entry.
        multiplier: g.
        levels: h, for squared norms 0..T. Points beyond T do not belong to the set.
        pairs: Which squared norms and distances there are.
    """

    values: tuple[IntArray, ...]
    multiplier: int
    levels: IntArray
    pairs: Pairs

    @classmethod
    def of(
        cls,
        values: Sequence[IntArray],
        *,
        max_norm: float | None = None,
        bits: int | None = None,
    ) -> PiLift:
        """The lift of a grid.

        Args:
            values: The integer values of each coordinate.
            max_norm: Only points w of at most this Euclidean norm belong to the set; coordinates
                with one value do not count.
            bits: g is its power of two. Default: the least that costs at most ``ROUNDING_COST``.

        Raises:
            ParameterError: The grid reaches too far, ``max_norm`` is not positive, or ``bits`` are
                too few for a gain.
        """
        step, z = _grid(values)
        reach = Pairs.of(z)
        top = reach.most if max_norm is None else min(reach.most, _squared(max_norm, step))
        if top > MAX_TOTAL:
            raise ParameterError(
                f"lift: 'pi' enumerates squared norms, and they reach {top} steps of the grid, "
                f"more than {MAX_TOTAL}: use smaller values, or give max_norm"
            )
        pairs = replace(reach, most=max(top, reach.least))
        ideal = pairs.noise_per_loss(1, np.sqrt(np.arange(pairs.most, -1, -1.0)))
        for tried in range(3, FINEST_BITS + 1) if bits is None else (bits,):
            g = 1 << tried
            h = _concave_levels(g, pairs.most)
            cost = pairs.noise_per_loss(g, h) / ideal
            if cost <= ROUNDING_COST:
                break
        if cost == math.inf:
            raise ParameterError(f"lattice_bits: {bits} are too few for this grid; use more")
        return cls(z, g, h[: top + 1], pairs)

    @property
    def dimension(self) -> int:
        """One entry per coordinate of at least two values, and one for the norm."""
        return sum(len(z) > 1 for z in self.values) + 1

    @property
    def gain(self) -> int:
        """By enumeration of pairs of squared norms."""
        return int(self.pairs.gain(self.multiplier, self.levels))

    @property
    def squared_radius(self) -> int:
        """By enumeration of squared norms."""
        return int(self.pairs.squared_radius(self.multiplier, self.levels))

    def rewards(self, noise: IntArray) -> tuple[list[IntArray], TotalReward | None]:
        """Linear in the coordinates, and ``noise[-1] * h`` for the squared norm."""
        own = iter(noise[:-1].tolist())
        linear = [
            multiples(next(own), self.multiplier * z) if len(z) > 1 else np.zeros(1, np.int64)
            for z in self.values
        ]
        parts = tuple(z * z if len(z) > 1 else np.zeros(1, dtype=np.int64) for z in self.values)
        return linear, TotalReward(parts=parts, levels=self.levels, factor=int(noise[-1]))


def _grid(values: Sequence[IntArray]) -> tuple[int, tuple[IntArray, ...]]:
    """The greatest common divisor of all values of coordinates that vary, and the quotients."""
    varying = [np.asarray(v, dtype=np.int64) for v in values if len(v) > 1]
    step = max(1, int(np.gcd.reduce(np.concatenate(varying)))) if varying else 1
    return step, tuple(np.asarray(v, dtype=np.int64) // (step if len(v) > 1 else 1) for v in values)


def _squared(max_norm: float, step: int) -> int:
    if not 0 < max_norm < math.inf:
        raise ParameterError(f"max_norm: a positive number expected, not {max_norm!r}")
    # The next float: sqrt(3) as a float is below it, and is meant to reach squared norm 3.
    return int(Fraction(math.nextafter(max_norm, math.inf)) ** 2 / step**2)


def _concave_levels(g: int, top: int) -> IntArray:
    """Integers near ``g sqrt(top - t)``, t = 0..top, with concave differences.

    The least over integer slopes of lines with integer offsets, which makes them concave exactly:
    then a program can express them by one variable (:class:`oracles.total.TotalReward`).
    """
    t = np.arange(top + 1)
    true = g * np.sqrt(top - t)
    least = np.full(top + 1, np.iinfo(np.int64).max)
    # Beyond slope g the tangents meet the last level only.
    for begin in range(0, g + 1, _SLOPES):
        rises = np.arange(begin, min(begin + _SLOPES, g + 1))[:, None] * t
        offsets = np.rint((true + rises).max(axis=1)).astype(np.int64)
        least = np.minimum(least, (offsets[:, None] - rises).min(axis=0))
    return least


def _integer_sqrt(squares: IntArray) -> IntArray:
    """Exact floor of the square root of integers below 2^50."""
    root = np.sqrt(squares.astype(np.float64)).astype(np.int64)
    root -= (root * root > squares).astype(np.int64)
    root += ((root + 1) * (root + 1) <= squares).astype(np.int64)
    return root
