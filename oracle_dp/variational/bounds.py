"""Upper bounds on expected gaps and on argument stability, with every constant.

Proofs: docs/theory/variational.md, Theorems 9 to 12. All are for records drawn independently from
one law. ``gap`` bounds hold for the mean over the law after a single pass, and for the mean over
the records otherwise; there ``M * stability`` more bounds the weak gap for the law. Nothing
about privacy rests on them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from oracle_dp.variational.sampling import Sampling
from oracles.monotone import RecordOperator


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """What the theorems know of a problem.

    Attributes:
        dimension: d.
        lipschitz: L of every record's operator.
        bound: M of every record's operator.
        diameter: D of the set.
        noise_length: Root mean square length of the noise of an evaluation, for noise of one
            standard deviation per unit of one record's contribution; M sqrt(d) or less.
        magnitude: The largest norm of a point of the set; rounding is in proportion to it.
    """

    dimension: int
    lipschitz: float
    bound: float
    diameter: float
    noise_length: float
    magnitude: float

    @classmethod
    def of(cls, operator: RecordOperator) -> Constants:
        """The constants of an operator and its set."""
        return cls(
            dimension=operator.domain.dimension,
            lipschitz=operator.lipschitz,
            bound=operator.bound,
            diameter=operator.domain.diameter,
            noise_length=operator.scale_norm,
            magnitude=operator.domain.magnitude,
        )

    @property
    def trivial_gap(self) -> float:
        """M D, which bounds the gap of any point of the set."""
        return self.bound * self.diameter


def batch_variance(constants: Constants, sampling: Sampling, batch_size: int) -> float:
    """Mean squared error of a batch's mean, before noise."""
    return 0.0 if sampling is Sampling.FULL else constants.bound**2 / batch_size


def extragradient_gap(constants: Constants, *, steps: int, step: float, variance: float) -> float:
    """Of the average of noisy extragradient steps (Theorem 9).

    Args:
        constants: Of the problem.
        steps: T.
        step: At most 1 / (sqrt(3) L).
        variance: Mean squared error of one evaluation: of the batch, and of the noise.
    """
    return constants.diameter**2 / (steps * step) + 3.5 * step * variance


def extragradient_stability(
    constants: Constants,
    sampling: Sampling,
    *,
    n_records: int,
    batch_size: int,
    steps: int,
    step: float,
    noise: float,
) -> float:
    """Mean distance of the averages on two neighbouring data sets with common noise (Theorem 10).

    Args:
        constants: Of the problem.
        sampling: ``FULL``, ``POISSON`` or ``FIXED_SIZE``.
        n_records: n.
        batch_size: Records in a batch, on average.
        steps: T.
        step: Step length.
        noise: Root mean square length of the noise of one evaluation.
    """
    lipschitz, bound, n = constants.lipschitz, constants.bound, n_records
    spread = 1 / batch_size if sampling is Sampling.POISSON else 0.0
    apart = 0.0 if sampling is Sampling.FULL else bound * (2 + spread)
    curved = lipschitz**2 * constants.diameter * (1 + spread) + lipschitz * (
        apart + math.sqrt(2) * noise
    )
    hit = 2 * bound * step / n
    per_step = hit * (1 + lipschitz * step * (1 + spread)) + 2 * step**2 * curved
    grown = (1 + lipschitz * step) * per_step * (steps - 1) / 2
    return min(constants.diameter, grown + hit)


def proximal_gap(
    constants: Constants,
    sampling: Sampling,
    *,
    batch_size: int,
    steps: int,
    weight: float,
    accuracy: float,
    deviation: float,
) -> float:
    """Of the projected average of noisy inexact proximal steps (Theorem 11).

    Args:
        constants: Of the problem.
        sampling: How batches are drawn.
        batch_size: B, records in a batch, on average.
        steps: K.
        weight: lambda.
        accuracy: nu.
        deviation: sigma, standard deviation of the noise per coordinate.
    """
    lipschitz, bound, diameter = constants.lipschitz, constants.bound, constants.diameter
    d, k = constants.dimension, steps
    noise = (weight * diameter + bound) * deviation * math.sqrt(
        d / k
    ) + weight * d * deviation**2 / 2
    start = accuracy + weight * diameter**2 / (2 * k)
    if sampling is Sampling.FULL:
        return start + noise
    poisson = sampling is Sampling.POISSON
    slack = math.sqrt(accuracy / weight)
    swap = (1 if poisson else 2) * bound / (weight * batch_size) + math.sqrt(2) * slack
    # Root mean square of (1 + r) r, where a Poisson batch is r times its mean size.
    size = 1 / batch_size if poisson else 0.0
    moved = math.sqrt(4 + 13 * size + 9 * size**2 + size**3) * (bound / weight + slack)
    spread = bound / math.sqrt(batch_size) + lipschitz * moved
    bias = (bound + 2 * lipschitz * diameter) * swap
    return start + bias + diameter * spread / math.sqrt(k) + noise


def proximal_stability(
    constants: Constants, *, n_records: int, steps: int, weight: float, accuracy: float
) -> float:
    """Mean distance of the averages on neighbouring data sets with common noise (Theorem 12)."""
    per_step = 2 * constants.bound / (n_records * weight) + math.sqrt(2 * accuracy / weight)
    return min(constants.diameter, per_step * (steps + 1) / 2)
