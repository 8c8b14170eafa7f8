"""How much noise a schedule of releases needs.

Theorem (docs/theory/variational.md, Theorems 5 and 6). Let C bound what one record can contribute
to a release, at every common past. Noise of standard deviation z C per coordinate, with z from
:func:`noise_multiplier`, makes all releases together (epsilon, delta)-differentially private:
``SINGLE_PASS`` by adaptive parallel composition, ``FULL`` by composition of Gaussian mechanisms,
``POISSON`` and ``FIXED_SIZE`` by the accountants of subsampled Gaussian mechanisms.

Where its hypotheses are enforced: the schedule that is accounted for is the one that is drawn
(:mod:`oracle_dp.variational.sampling`); n is public in every scheme, so that ``"add_remove"`` is
refused; fixed-size batches have a bound under ``"replace"`` only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from numbers import Integral

from oracle_dp.accounting import (
    fixed_size_gaussian_noise_multiplier,
    gaussian_mu,
    poisson_gaussian_noise_multiplier,
)
from oracle_dp.errors import ParameterError
from oracle_dp.mechanisms.base import stated
from oracle_dp.noise import positive_rational
from oracle_dp.privacy import Neighbors
from oracle_dp.variational.sampling import Sampling

PLD_RELEASES = 20_000
"""Up to here the tighter accountant of Poisson sampling is used; beyond it takes minutes."""

_ROUNDING = 1e-12
"""Relative margin on a standard deviation for the rounding of its own formula."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyTarget:
    """What is promised, exactly.

    Attributes:
        epsilon: Positive.
        delta: In (0, 1).
        neighbors: ``REPLACE`` or ``ZERO_OUT``.
    """

    epsilon: Fraction
    delta: Fraction
    neighbors: Neighbors

    @classmethod
    def checked(
        cls, epsilon: float | Fraction, delta: float | Fraction, neighbors: Neighbors | str
    ) -> PrivacyTarget:
        """From what a caller gives.

        Raises:
            ParameterError: A parameter is out of range, or the relation is ``"add_remove"``.
        """
        relation = Neighbors.parse(neighbors)
        if relation is Neighbors.ADD_REMOVE:
            raise ParameterError(
                "neighbors: the number of records is public here; use 'replace' or 'zero_out'"
            )
        small = positive_rational("delta", delta)
        if small >= 1:
            raise ParameterError(f"delta: lies in (0, 1), not {delta!r}; 1 / n^2 is usual")
        return cls(epsilon=positive_rational("epsilon", epsilon), delta=small, neighbors=relation)

    @property
    def reach(self) -> int:
        """By how many contributions the relation moves a sum: 2 for a replaced record."""
        return 2 if self.neighbors is Neighbors.REPLACE else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Which releases there are.

    Args:
        sampling: How each one's records are chosen.
        n_records: n, public.
        batch_size: Records in a batch, at most n; expected number for ``POISSON``.
        releases: How many noisy releases.

    Raises:
        ParameterError: The sampling is no :class:`Sampling`, or the batches are larger than the
            data, or do not fit into one pass.
    """

    sampling: Sampling
    n_records: int
    batch_size: int
    releases: int

    def __post_init__(self) -> None:
        # A string would be drawn as another scheme than the one that is accounted for.
        if not isinstance(self.sampling, Sampling):
            raise ParameterError(
                f"sampling: an oracle_dp.variational.Sampling expected, not {self.sampling!r}; "
                "Sampling.parse reads a string"
            )
        for name in ("n_records", "batch_size", "releases"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
                raise ParameterError(f"{name}: a positive integer expected, not {value!r}")
            object.__setattr__(self, name, int(value))
        if self.batch_size > self.n_records:
            raise ParameterError(
                f"batch_size: {self.batch_size} exceeds n = {self.n_records}; use smaller batches "
                "or more records"
            )
        if self.sampling is Sampling.FULL and self.batch_size != self.n_records:
            raise ParameterError(
                f"batch_size: n = {self.n_records} expected for sampling='full', not "
                f"{self.batch_size}"
            )
        needed = self.batch_size * self.releases
        if self.sampling is Sampling.SINGLE_PASS and needed > self.n_records:
            raise ParameterError(
                f"steps: {self.releases} disjoint batches of {self.batch_size} need {needed} "
                f"records and there are {self.n_records}; lower steps or batch_size"
            )


@lru_cache(maxsize=64)
def noise_multiplier(schedule: Schedule, target: PrivacyTarget) -> float:
    """Standard deviation over C, the bound on one record's contribution to a release.

    Raises:
        ParameterError: There is no accountant for this scheme and relation, or no noise suffices.
    """
    sampling, releases = schedule.sampling, schedule.releases
    epsilon = stated("epsilon", target.epsilon, toward=0)
    delta = stated("delta", target.delta, toward=0)
    if sampling in (Sampling.SINGLE_PASS, Sampling.FULL):
        mu = gaussian_mu(target.epsilon, delta=target.delta)
        if mu <= 0:
            raise ParameterError(f"epsilon: {epsilon!r} is too small with delta={delta!r}")
        composed = 1 if sampling is Sampling.SINGLE_PASS else releases
        return target.reach * math.sqrt(composed) / mu * (1 + _ROUNDING)
    if sampling is Sampling.FIXED_SIZE:
        if target.neighbors is not Neighbors.REPLACE:
            raise ParameterError(
                "sampling: batches of fixed size are accounted for under neighbors='replace' only; "
                "use sampling='poisson'"
            )
        return fixed_size_gaussian_noise_multiplier(
            epsilon,
            delta=delta,
            batch_size=schedule.batch_size,
            n=schedule.n_records,
            steps=releases,
        )
    return poisson_gaussian_noise_multiplier(
        epsilon,
        delta=delta,
        sampling_probability=schedule.batch_size / schedule.n_records,
        steps=releases,
        neighbors=target.neighbors,
        accountant="pld" if releases <= PLD_RELEASES and delta > 1e-10 else "rdp",
    )


def proximal_sensitivity(change: float, *, modulus: float, accuracy: float) -> float:
    """How far apart two nu-solutions of neighbouring proximal problems can be (Theorem 6).

    Let G and G' be ``modulus``-strongly monotone on W and differ by at most ``change`` there. Two
    points that solve them up to ``accuracy`` satisfy ``modulus a^2 <= change a + 2 accuracy``.

    Args:
        change: c, not negative.
        modulus: lambda, or lambda - L where records need not be monotone; positive.
        accuracy: nu, not negative.

    Returns:
        The larger root, rounded up.
    """
    root = math.sqrt(change * change + 8 * modulus * accuracy)
    return (change + root) / (2 * modulus) * (1 + _ROUNDING)


def proximal_contribution(
    schedule: Schedule, target: PrivacyTarget, *, bound: float, modulus: float, accuracy: float
) -> float:
    """C of a proximal step: what :func:`noise_multiplier` multiplies.

    Under Poisson sampling a record is in the batch or is not, whatever the relation: the change is
    M / batch_size, and C the distance that goes with it. Elsewhere a batch's record is replaced
    (2 M / batch_size, a distance of 2 C) or zeroed.
    """
    reach = 1 if schedule.sampling is Sampling.POISSON else target.reach
    change = reach * bound / schedule.batch_size
    return proximal_sensitivity(change, modulus=modulus, accuracy=accuracy) / reach
