"""Stability and calibration of OPSamp's three perturbations, from public numbers alone.

Proofs: docs/theory/opsamp.md. Omega is the most by which one record's change moves a difference of
two summed losses over W; D_j the sides and D_2 the diameter of W; p the largest density of one
coordinate of the perturbation; alpha the oracle's absolute gap; m the number of calls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

import numpy as np

from oracle_dp.errors import ParameterError
from oracle_dp.noise import BitSource
from oracle_dp.noise.floating import exponential, gaussian, laplace
from oracles.arrays import FloatArray

_UP = 1 + 1e-12


class Perturbation(Enum):
    """The law of the random linear term."""

    EXPONENTIAL = "exponential"
    """Independent, of mean ``scale``: the paper's form."""
    LAPLACE = "laplace"
    """Independent, two-sided, of mean magnitude ``scale``."""
    GAUSSIAN = "gaussian"
    """Independent, of standard deviation ``scale``; the output noise is Gaussian too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """What is public about problem and relation.

    Attributes:
        sides: D_j, shape ``(d,)``.
        diameter: D_2.
        oscillation: Omega.
        gap: alpha.
    """

    sides: FloatArray
    diameter: float
    oscillation: float
    gap: float

    @property
    def dimension(self) -> int:
        """D."""
        return len(self.sides)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledNoise:
    """A perturbation of a stated size, and how many calls are averaged.

    Attributes:
        perturbation: The law.
        scale: Its scale.
        calls: m.
    """

    perturbation: Perturbation
    scale: float
    calls: int

    def draw(self, dimension: int, source: BitSource) -> FloatArray:
        """All tilts, shape ``(m, d)``."""
        law = {
            Perturbation.EXPONENTIAL: exponential,
            Perturbation.LAPLACE: laplace,
            Perturbation.GAUSSIAN: gaussian,
        }[self.perturbation]
        return law(source, self.scale, (self.calls, dimension))

    @property
    def density(self) -> float:
        """p: the largest density of one coordinate."""
        peak = {
            Perturbation.EXPONENTIAL: 1.0,
            Perturbation.LAPLACE: 0.5,
            Perturbation.GAUSSIAN: 1 / math.sqrt(2 * math.pi),
        }
        return peak[self.perturbation] / self.scale

    def stability(self, geometry: Geometry) -> float:
        """Bound on how far one record moves the mean minimiser.

        In L1, or in L2 for the Gaussian perturbation (Theorems 1 and 2).
        """
        p, omega = self.density, geometry.oscillation
        if self.perturbation is Perturbation.GAUSSIAN:
            return p * omega + 2 * math.sqrt(2 * geometry.gap * geometry.diameter * p)
        terms = {
            Perturbation.EXPONENTIAL: geometry.dimension * omega * p,
            Perturbation.LAPLACE: math.sqrt(geometry.dimension) * omega * p,
        }
        slack = 2 * np.sqrt(2 * geometry.gap * geometry.sides * p).sum()
        return terms[self.perturbation] + float(slack)

    def sensitivity(self, geometry: Geometry, failure: float) -> float:
        """Distance that the averages of neighbours exceed with probability ``failure`` at most.

        Each of the two averages is within half of the second term of its mean (Theorem 3).
        """
        m = self.calls
        if self.perturbation is Perturbation.GAUSSIAN:
            radius = geometry.diameter * (0.5 + math.sqrt(-math.log(failure) / 2)) / math.sqrt(m)
            return (self.stability(geometry) + 2 * radius) * _UP
        log = math.log(2 * geometry.dimension / failure)
        return (
            self.stability(geometry) + 2 * float(geometry.sides.sum()) * math.sqrt(log / (2 * m))
        ) * _UP


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Everything a run draws with, and what it can promise.

    Attributes:
        noise: Perturbation and number of calls.
        sensitivity: Of the average, up to the failure probability.
        output_scale: Of the output noise: Laplace, or Gaussian for that perturbation.
    """

    noise: SampledNoise
    sensitivity: float
    output_scale: float

    def excess(self, geometry: Geometry, size: int, lipschitz: float) -> float:
        """Bound on the expected excess of the summed convex loss (Theorem 4).

        Args:
            geometry: As for the calibration.
            size: Number of records.
            lipschitz: Of one record's loss in the L1 norm; for the Gaussian perturbation in L2.
        """
        d, scale = geometry.dimension, self.noise.scale
        if self.noise.perturbation is Perturbation.GAUSSIAN:
            tilt = scale * math.sqrt(d) * geometry.diameter
            added = size * lipschitz * math.sqrt(d) * self.output_scale
        else:
            tilt = scale * float(geometry.sides.sum())
            added = size * lipschitz * d * self.output_scale
        return tilt + geometry.gap + added


def calibrate(
    geometry: Geometry,
    *,
    epsilon: float,
    delta: float,
    perturbation: Perturbation,
    calls: int,
    scale: float | None,
    size: int,
    lipschitz: float,
) -> Calibration:
    """Noise for a target; the perturbation's scale minimises the accuracy bound unless given."""
    from scipy.optimize import minimize_scalar

    def at(log_scale: float) -> Calibration:
        noise = SampledNoise(perturbation=perturbation, scale=math.exp(log_scale), calls=calls)
        return _with_output(noise, geometry, epsilon, delta)

    if scale is not None:
        return at(math.log(scale))
    # Where the stability term alone would be best: the minimum is near it, and sought around it.
    span = float(geometry.sides.sum())
    guess = math.log(geometry.oscillation * size * lipschitz / (span * epsilon) + 1e-300) / 2
    found = minimize_scalar(
        lambda x: math.log(at(x).excess(geometry, size, lipschitz)),
        bounds=(guess - 15, guess + 25),
        method="bounded",
    )
    return at(float(found.x))


def _with_output(
    noise: SampledNoise, geometry: Geometry, epsilon: float, delta: float
) -> Calibration:
    if noise.perturbation is not Perturbation.GAUSSIAN:
        sensitivity = noise.sensitivity(geometry, delta)
        return Calibration(
            noise=noise, sensitivity=sensitivity, output_scale=sensitivity / epsilon * _UP
        )
    sensitivity = noise.sensitivity(geometry, delta / 2 * (1 - 1e-12))
    return Calibration(
        noise=noise,
        sensitivity=sensitivity,
        output_scale=sensitivity / _mu(epsilon, delta / 2 * (1 - 1e-12)) * _UP,
    )


@lru_cache(maxsize=1)  # A calibration asks for one and the same many times.
def _mu(epsilon: float, delta: float) -> float:
    from oracle_dp.accounting.gaussian import gaussian_mu

    return gaussian_mu(epsilon, delta=delta)


def needed(
    geometry: Geometry,
    *,
    epsilon: float,
    delta: float,
    perturbation: Perturbation,
    size: int,
    lipschitz: float,
    baseline: float,
) -> tuple[int, int]:
    """For the accuracy bound per record to fall below ``baseline``: records, and calls.

    Returns:
        The least power of two of records that suffices with unlimited calls; and the least power of
        two of calls that suffices with that many records, or with ``size`` if that is more.

    Raises:
        ParameterError: No number of records suffices, for a target out of all proportion.
    """

    def excess(records: int, calls: int) -> float:
        best = calibrate(
            geometry,
            epsilon=epsilon,
            delta=delta,
            perturbation=perturbation,
            calls=calls,
            scale=None,
            size=records,
            lipschitz=lipschitz,
        )
        return best.excess(geometry, records, lipschitz) / records

    powers: list[int] = [2**exponent for exponent in range(120)]
    records = next((n for n in powers if excess(n, powers[-1]) < baseline), None)
    if records is None:
        raise ParameterError("epsilon: too small for any number of records")
    held = max(records, size)
    return records, next((m for m in powers if excess(held, m) < baseline), powers[-1])
