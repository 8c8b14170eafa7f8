"""What objective perturbation adds to a loss: a lift, a noise, and how much of it.

Each perturbation says how many lattice steps a unit of loss has, and draws rewards in such steps.
Its theorem turns ``scale * loss - rewards``, minimised, into a guarantee for any tie-break.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from oracle_dp.errors import ParameterError
from oracle_dp.mechanisms.features import CentredBinaryLift, Lift, radius_of, scale_of
from oracle_dp.mechanisms.pi_lift import PiLift
from oracle_dp.mechanisms.radial import RadialNoise, radial_noise
from oracle_dp.noise import SMALLEST_ARRAY_EXPONENT, BitSource, geometric_array
from oracles.coordinates import IntArray
from oracles.total import TotalReward

PROOF = "docs/theory/objective_perturbation.md"
ONE_HOT_BITS = 4
"""Noise steps of 1/16 of a loss unit: at most 6% more noise than a continuous one would need, and
small enough for a floating-point solver to tell objectives apart."""

LARGEST_NOISE = 2**40
"""Bound on scale times radius times dimension of radial noise. Rewards are then below 2^63 except
with a probability below 2^k exp(-2^21 k) in k dimensions, which no data change: an error then."""

TAIL = 2**12
"""How many times its scale times its dimension radial noise is taken to reach."""

NOISES = {
    "one_hot": ("geometric", "exponential"),
    "pi": ("gamma_norm", "gaussian"),
    "centred_binary": ("gamma_norm", "gaussian"),
}
"""Lifts and their noises, the default first."""

Rewards = tuple[list[IntArray], TotalReward | None]


class Perturbation(Protocol):
    """Calibrated noise for the points of a problem."""

    @property
    def theorem(self) -> str:
        """What the guarantee rests on."""
        ...

    @property
    def delta(self) -> Fraction:
        """0 for a pure guarantee."""
        ...

    @property
    def scale(self) -> int:
        """Lattice steps per unit of loss."""
        ...

    @property
    def limit(self) -> TotalReward | None:
        """Which points belong to the set, if not all do."""
        ...

    def draw(self, sizes: Sequence[int], source: BitSource) -> Rewards:
        """Rewards per (coordinate, value), and for a total."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OneHotNoise:
    """Noise of Theorem 2: one-sided geometric, on every (coordinate, value).

    Attributes:
        epsilon: The target.
        sensitivity: Range sensitivity of the loss.
        coordinates: d, the number of coordinates with at least two values.
        lattice_bits: k; one loss unit is ``2**k`` lattice steps.
    """

    epsilon: Fraction
    sensitivity: Fraction
    coordinates: int
    lattice_bits: int

    @property
    def theorem(self) -> str:
        """Theorem 2."""
        return (
            "objective perturbation, one-hot lift, one-sided geometric noise on the lattice "
            f"({PROOF}, Theorem 2)"
        )

    @property
    def delta(self) -> Fraction:
        """Pure."""
        return Fraction(0)

    @property
    def limit(self) -> TotalReward | None:
        """All points belong to the set."""
        return None

    @property
    def scale(self) -> int:
        """Lattice steps per unit of loss."""
        return 1 << self.lattice_bits

    @property
    def shift(self) -> int:
        """N, in lattice steps: the least integer strictly above ``scale * sensitivity``."""
        return int(self.scale * self.sensitivity) + 1

    @property
    def exponent(self) -> Fraction:
        """The geometric law's exponent, ``-ln q = epsilon / (d N)``."""
        return self.epsilon / (self.coordinates * self.shift)

    def draw(self, sizes: Sequence[int], source: BitSource) -> Rewards:
        """One reward per (coordinate, value); coordinates with one value need none."""
        return [
            geometric_array(self.exponent, size, source) if size > 1 else np.zeros(1, np.int64)
            for size in sizes
        ], None


@dataclass(frozen=True, slots=True, kw_only=True)
class RadialPerturbation:
    """Noise of Theorem 3: radial, along integer vectors phi(w).

    Attributes:
        lift: phi.
        noise: Of the lift's dimension and radius.
        scale: Lattice steps per unit of loss, so few that the lift's gain exceeds a shift.
        name: The lift's name.
    """

    lift: Lift
    noise: RadialNoise
    scale: int
    name: str

    @property
    def theorem(self) -> str:
        """Theorem 3."""
        return (
            f"objective perturbation, {self.name} lift in integers, {self.noise.name} noise "
            f"floored to integers ({PROOF}, Theorem 3)"
        )

    @property
    def delta(self) -> Fraction:
        """Of the noise."""
        return self.noise.delta

    @property
    def limit(self) -> TotalReward | None:
        """Points beyond the lift's last level do not belong to the set."""
        return self.lift.rewards(np.zeros(self.lift.dimension, dtype=np.int64))[1]

    @property
    def largest(self) -> int:
        """No reward is beyond it, but with a probability below 10^-1700, which no data change.

        ``<xi, phi(w)>`` is at most the noise's norm times the radius, and the norm of either noise
        exceeds ``TAIL`` times scale times dimension so rarely: Gamma variables of shape k exceed
        ``c k`` with a probability of at most ``exp(-k (c - 1 - log c))``.
        """
        noise = self.noise
        return math.ceil(TAIL * noise.scale * noise.radius * noise.dimension)

    def draw(self, sizes: Sequence[int], source: BitSource) -> Rewards:
        """``<floor(xi), phi(w)>``."""
        return self.lift.rewards(self.noise.draw(source))


def perturbation_of(
    sizes: Sequence[int],
    values: Sequence[IntArray] | None,
    *,
    lift: str,
    noise: str | None,
    epsilon: Fraction,
    delta: Fraction,
    sensitivity: Fraction,
    lattice_bits: int | None,
    max_norm: float | None,
) -> Perturbation:
    """The calibrated perturbation that :func:`oracle_dp.mechanisms.opdisc.opdisc` is asked for.

    Args:
        sizes: Number of values of each coordinate.
        values: The integers that the values are, for the lifts that need them; None if unknown.
        lift: A key of :data:`NOISES`.
        noise: One of its noises, or None for the first.
        epsilon: The target.
        delta: The target of Gaussian noise, 0 for all others.
        sensitivity: Range sensitivity of the loss.
        lattice_bits: Of the one-hot and the pi lift, or None for their defaults.
        max_norm: Of the pi lift.

    Raises:
        ParameterError: There is no such lift or noise, or a parameter is out of range or has no
            meaning for this lift.
    """
    chosen = _noise_name(lift, noise)
    bits = _bits(lift, lattice_bits)
    if max_norm is not None and lift != "pi":
        raise ParameterError(f"max_norm: only lift 'pi' has it, not {lift!r}")
    if lift == "one_hot":
        if delta != 0:
            raise ParameterError("delta: lift 'one_hot' is pure; leave delta out")
        return _one_hot(sizes, epsilon, sensitivity, ONE_HOT_BITS if bits is None else bits)
    phi = (
        CentredBinaryLift(tuple(sizes)) if lift == "centred_binary" else _pi(values, max_norm, bits)
    )
    radius, dimension = radius_of(phi), phi.dimension
    drawn = radial_noise(chosen, epsilon=epsilon, delta=delta, radius=radius, dimension=dimension)
    if drawn.scale * radius * dimension > LARGEST_NOISE:
        raise ParameterError(
            f"epsilon: {float(epsilon)!r} is too small for {dimension} dimensions of noise: it "
            "could exceed 64-bit integers"
        )
    return RadialPerturbation(lift=phi, noise=drawn, scale=scale_of(phi, sensitivity), name=lift)


def _bits(lift: str, given: int | None) -> int | None:
    if given is None:
        return None
    if lift == "centred_binary":
        raise ParameterError(f"lattice_bits: lift {lift!r} has none; leave them out")
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= 20:
        raise ParameterError(f"lattice_bits: an integer in 0..20 expected, not {given!r}")
    return given


def _noise_name(lift: str, noise: str | None) -> str:
    if not isinstance(lift, str) or lift not in NOISES:
        raise ParameterError(f"lift: one of {', '.join(map(repr, NOISES))} expected, not {lift!r}")
    if noise is not None and noise not in NOISES[lift]:
        known = " or ".join(map(repr, NOISES[lift]))
        raise ParameterError(f"noise: lift {lift!r} has {known}, not {noise!r}")
    return noise or NOISES[lift][0]


def _pi(values: Sequence[IntArray] | None, max_norm: float | None, bits: int | None) -> Lift:
    if values is None:
        raise ParameterError(
            "lift: 'pi' needs a problem whose coordinates have integer values and whose oracle "
            "takes a reward for their norm (oracles.coordinates.SphereProblem)"
        )
    return PiLift.of(values, max_norm=max_norm, bits=bits)


def _one_hot(
    sizes: Sequence[int], epsilon: Fraction, sensitivity: Fraction, lattice_bits: int
) -> OneHotNoise:
    noise = OneHotNoise(
        epsilon=epsilon,
        sensitivity=sensitivity,
        coordinates=max(1, sum(size > 1 for size in sizes)),
        lattice_bits=lattice_bits,
    )
    if noise.exponent < SMALLEST_ARRAY_EXPONENT:
        raise ParameterError(
            f"epsilon: {float(epsilon)!r} is too small for {noise.coordinates} coordinates: the "
            "noise would exceed 64-bit integers"
        )
    return noise
