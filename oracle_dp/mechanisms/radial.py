"""Noise that looks the same in all directions, floored to integers, and its calibration.

Theorem (docs/theory/objective_perturbation.md, Theorem 3). Let a mechanism answer w from the noise
``floor(xi)`` on D only if it answers w from ``floor(xi + phi(w))`` on D', with phi(w) an integer
vector of norm at most R. Then it is

- epsilon-differentially private if xi has density proportional to ``exp(-epsilon norm(xi) / R)``;
- (epsilon, delta)-differentially private if xi is Gaussian of standard deviation sigma in k
  dimensions, mu = R / sigma, and ``delta = E[(1 - exp(epsilon - mu chi_k - mu^2 / 2))_+]``.

The second bound holds for the *worst direction*: w depends on xi, so ``<xi, phi(w)>`` is not a
Gaussian of variance ``sigma^2 R^2``, and is only known to be at most ``R norm(xi)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import acb, arb, ctx, fmpq
from numpy.typing import NDArray

from oracle_dp.errors import ParameterError
from oracle_dp.noise import BitSource
from oracle_dp.noise.lattice import floored_gamma_norm, floored_gaussian

IntArray = NDArray[np.int64]

PRECISION = 128
"""Bits of working precision of the calibration."""

EPSILONS = Fraction(10**9)
"""Largest epsilon of Gaussian noise, and inverse of the least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GammaNormNoise:
    """The first noise of the theorem: pure epsilon.

    Attributes:
        epsilon: The target.
        radius: R, an upper bound.
        dimension: k.
    """

    epsilon: Fraction
    radius: Fraction
    dimension: int

    @property
    def name(self) -> str:
        """For the guarantee."""
        return "gamma-norm"

    @property
    def delta(self) -> Fraction:
        """Pure."""
        return Fraction(0)

    @property
    def scale(self) -> Fraction:
        """Of the norm, which is a Gamma variable of shape k."""
        return self.radius / self.epsilon

    def draw(self, source: BitSource) -> IntArray:
        """Shape ``(k,)``."""
        return floored_gamma_norm(self.scale, self.dimension, source)


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianNoise:
    """The second noise of the theorem.

    Attributes:
        epsilon: The target.
        delta: The target.
        radius: R, an upper bound.
        dimension: k.
        scale: sigma, the least for which the theorem proves delta, but for less than 1e-6 of it.
    """

    epsilon: Fraction
    delta: Fraction
    radius: Fraction
    dimension: int
    scale: Fraction = field(init=False)

    def __post_init__(self) -> None:
        mu = _largest_mu(self.epsilon, self.delta, self.dimension)
        object.__setattr__(self, "scale", self.radius / mu)

    @property
    def name(self) -> str:
        """For the guarantee."""
        return "Gaussian"

    def draw(self, source: BitSource) -> IntArray:
        """Shape ``(k,)``."""
        return floored_gaussian(self.scale, self.dimension, source)


RadialNoise = GammaNormNoise | GaussianNoise


def radial_noise(
    name: str, *, epsilon: Fraction, delta: Fraction, radius: Fraction, dimension: int
) -> RadialNoise:
    """A noise of the theorem by name.

    Raises:
        ParameterError: There is no such noise, or it needs a delta, or has none.
    """
    if name == "gamma_norm":
        if delta != 0:
            raise ParameterError("delta: noise 'gamma_norm' is pure; leave delta out")
        return GammaNormNoise(epsilon=epsilon, radius=radius, dimension=dimension)
    if name == "gaussian":
        if not 0 < delta < 1:
            raise ParameterError(
                f"delta: noise 'gaussian' needs one between 0 and 1, not {float(delta):g}"
            )
        return GaussianNoise(epsilon=epsilon, delta=delta, radius=radius, dimension=dimension)
    raise ParameterError(f"noise: 'gamma_norm' or 'gaussian' expected, not {name!r}")


def gaussian_delta(epsilon: Fraction, mu: Fraction, dimension: int) -> arb:
    """An enclosure of ``E[(1 - exp(epsilon - mu chi_k - mu^2 / 2))_+]``.

    Its upper end is proven: the integral is Arb's, and the tail beyond is bounded by its mass.
    """
    with ctx.workprec(PRECISION):
        eps, slope = _real(epsilon), _real(mu)
        begin = eps / slope - slope / 2
        start = begin if begin > 0 else arb(0)
        end = start + arb(dimension).sqrt() + 30
        log_constant = (arb(dimension) / 2 - 1) * arb.const_log2() + (arb(dimension) / 2).lgamma()

        def integrand(x: acb, _: bool) -> acb:
            gain = 1 - (eps - slope * x - slope * slope / 2).exp()
            return x ** (dimension - 1) * (-x * x / 2 - log_constant).exp() * gain

        inside = acb.integral(integrand, acb(start), acb(end)).real
        tail = (end * end / 2).gamma_upper(arb(dimension) / 2, regularized=1)
        return inside + tail * arb(0.5, 0.5)


@lru_cache(maxsize=256)
def _largest_mu(epsilon: Fraction, delta: Fraction, dimension: int) -> Fraction:
    """A mu whose delta is proven to be at most ``delta``, within 1e-6 of the largest."""
    if not 1 / EPSILONS <= epsilon <= EPSILONS:
        raise ParameterError(
            f"epsilon: Gaussian noise takes 1e-9 to 1e9, not {float(epsilon):g}; noise "
            "'gamma_norm' takes others"
        )

    def proven(mu: Fraction) -> bool:
        return bool(gaussian_delta(epsilon, mu, dimension) <= _real(delta))

    low = _bracket(proven, min(Fraction(1), epsilon) / (8 * (math.isqrt(dimension) + 1)))
    high = 2 * low
    while high - low > low / 10**6:
        middle = Fraction(float((low + high) / 2))
        low, high = (middle, high) if proven(middle) else (low, middle)
    return low


def _bracket(proven: Callable[[Fraction], bool], first: Fraction) -> Fraction:
    """A proven mu of which the double is not."""
    mu = first
    while not proven(mu):
        mu /= 2
    while proven(2 * mu):
        mu *= 2
    return mu


def _real(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))
