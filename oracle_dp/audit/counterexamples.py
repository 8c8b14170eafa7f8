"""Neighbouring data sets over {-1, +1}^d on which objective perturbation can be computed exactly.

Both instances break calibrations that bound the noise in one direction only
(docs/theory/objective_perturbation.md, "Counterexamples"). What matters of a perturbation there is
the **advantage** A_i: by how much, in units of loss, its noise prefers w_i = +1 to w_i = -1. On
{-1, +1}^d all lifts of this package add up such advantages, independent given one mixing variable.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from scipy.stats import gamma


@dataclass(frozen=True, slots=True)
class Tails:
    """Probabilities of one advantage A, given the mixing variable, for whole t.

    Attributes:
        above: ``P[A > t]``.
        reach: ``P[A >= t]``.
        below: ``P[A < -t]``.
    """

    above: Callable[[int], float]
    reach: Callable[[int], float]
    below: Callable[[int], float]


class Advantages(Protocol):
    """The law of d advantages."""

    def average(self, conditional: Callable[[Tails], float], /) -> float:
        """The mean, over the mixing variable, of a function of the conditional law."""
        ...


@dataclass(frozen=True, slots=True)
class GeometricAdvantages:
    """``step`` times differences of two geometric variables with ratio ``exp(-exponent)``.

    Attributes:
        exponent: Of the geometric law.
        step: Loss per lattice step.
    """

    exponent: Fraction
    step: Fraction

    def average(self, conditional: Callable[[Tails], float], /) -> float:
        """There is nothing to mix."""
        q = math.exp(-self.exponent)

        def from_index(m: int) -> float:
            return q**m / (1 + q) if m > 0 else 1 - q ** (1 - m) / (1 + q)

        above = _above(self.step)
        return conditional(
            Tails(
                lambda t: from_index(above(t)),
                lambda t: from_index(math.ceil(t / self.step)),
                lambda t: from_index(above(t)),
            )
        )


@dataclass(frozen=True, slots=True)
class GaussianAdvantages:
    """``step * floor(scale * g)`` for a standard Gaussian g.

    Attributes:
        scale: Standard deviation before the floor.
        step: Loss per unit of noise.
    """

    scale: float
    step: Fraction

    def average(self, conditional: Callable[[Tails], float], /) -> float:
        """There is nothing to mix."""
        above = _above(self.step)
        return conditional(
            Tails(
                lambda t: _upper_tail(above(t) / self.scale),
                lambda t: _upper_tail(math.ceil(t / self.step) / self.scale),
                # A < -t iff the noise before the floor is below the least integer from -t on.
                lambda t: _upper_tail(-math.ceil(-t / self.step) / self.scale),
            )
        )


@dataclass(frozen=True, slots=True)
class GammaNormAdvantages:
    """``step * floor(xi_i)``, xi of density proportional to ``exp(-norm(xi) / scale)``.

    Given V, a Gamma variable of shape (k + 1) / 2 and scale 2, xi is Gaussian of variance
    ``scale^2 V``.

    Attributes:
        scale: Of the norm.
        dimension: k, which may exceed the number of advantages.
        step: Loss per unit of noise.
    """

    scale: float
    dimension: int
    step: Fraction

    def average(self, conditional: Callable[[Tails], float], /) -> float:
        """By the trapezoidal rule over log V, whose error is exponentially small here."""
        mixing = gamma((self.dimension + 1) / 2, scale=2)
        grid, width = np.linspace(-30, 10, 1201, retstep=True)
        weights = mixing.pdf(np.exp(grid)) * np.exp(grid) * width
        return math.fsum(
            weight * GaussianAdvantages(scale, self.step).average(conditional)
            for weight, scale in zip(
                weights.tolist(), (self.scale * np.exp(grid / 2)).tolist(), strict=True
            )
            if weight > 0
        )


@dataclass(frozen=True, slots=True)
class RealGaussianAdvantages:
    """``scale * g``, on no lattice.

    Attributes:
        scale: Standard deviation, in units of loss.
    """

    scale: float

    def average(self, conditional: Callable[[Tails], float], /) -> float:
        """There is nothing to mix."""

        def tail(t: int) -> float:
            return _upper_tail(t / self.scale)

        return conditional(Tails(tail, tail, tail))


def _upper_tail(x: float) -> float:
    """Of a standard Gaussian."""
    return math.erfc(x / math.sqrt(2)) / 2


def _above(step: Fraction) -> Callable[[int], int]:
    """The least m with ``m * step > t``."""
    return lambda t: math.floor(t / step) + 1


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Two neighbouring data sets and an event S that favours the first.

    Attributes:
        dimension: d.
        on_first: The most that S can have on the first data set, whatever breaks ties.
        on_second: The least that S can have on the second.
    """

    dimension: int
    on_first: Callable[[Advantages], float]
    on_second: Callable[[Advantages], float]

    def excess(self, law: Advantages, epsilon: float) -> float:
        """``P[S] - e^epsilon P'[S]``: above delta, the claim (epsilon, delta) is broken."""
        return self.on_first(law) - math.exp(epsilon) * self.on_second(law)


def halfspace(n_base: int) -> Counterexample:
    """A linear classifier in one dimension: all rows have x = 1, and w in {-1, +1} predicts w.

    ``n_base`` rows have the label -1. The last row has +1 on the first data set and -1 on the
    second. S is ``w = +1``: n_base - 1 errors behind on the first, n_base + 1 on the second.
    """
    return Counterexample(
        1,
        lambda law: law.average(lambda tails: tails.reach(n_base - 1)),
        lambda law: law.average(lambda tails: tails.above(n_base + 1)),
    )


def parity(dimension: int) -> Counterexample:
    """Two records with losses in {0, 1} over {-1, +1}^d that are decided by the parity of w.

    The first record loses at points with an even number of -1. The second loses at the others on
    the first data set, and at the same on the second. S is "even": on the first data set all points
    are alike; on the second S is two errors behind, and wins only if every single flip would cost
    more than two. All d advantages must be large: that is where a factor sqrt(d) comes in.
    """

    def at_most(tails: Tails) -> float:
        plus, minus = tails.above(0), tails.below(0)
        # Without a zero advantage the best point is unique; with one S can have it.
        odd_and_unique = ((plus + minus) ** dimension - (plus - minus) ** dimension) / 2
        return 1 - odd_and_unique

    def at_least(tails: Tails) -> float:
        plus, minus = tails.above(2), tails.below(2)
        return ((plus + minus) ** dimension + (plus - minus) ** dimension) / 2

    return Counterexample(
        dimension, lambda law: law.average(at_most), lambda law: law.average(at_least)
    )
