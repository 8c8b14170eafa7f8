"""Gaussian noise on sums over random batches, accounted for by dp-accounting.

Theorem (docs/accounting.md, Theorems 4 and 5). Records contribute vectors of norm at most C, noise
has standard deviation sigma = noise_multiplier * C, and what is divided by is public. With every
record sampled by itself with probability q, a step is dominated, for every order of hockey-stick
divergence and so under adaptive composition, by two one-dimensional mixtures of Gaussians:
(1-q) N(0) + q N(1) and N(0) in both orders under ``"add_remove"`` and ``"zero_out"``;
(1-q) N(0) + q N(1) and (1-q) N(0) + q N(-1) under ``"replace"``. Batches of fixed size under
``"replace"`` are accounted for by the Renyi bound of Wang, Balle, Kasiviswanathan 2019.

Where its hypotheses are enforced: each relation is named to dp-accounting explicitly, and noise is
scaled to the sensitivity that each of its events means (the traps are in docs/accounting.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from oracle_dp.accounting._numbers import above, count, figure
from oracle_dp.accounting.gaussian import composed_mu, gaussian_epsilon, gaussian_mu
from oracle_dp.errors import ParameterError
from oracle_dp.privacy import Neighbors

if TYPE_CHECKING:
    from numpy.typing import NDArray

_REACH = {Neighbors.REPLACE: 2, Neighbors.ADD_REMOVE: 1, Neighbors.ZERO_OUT: 1}
"""Sensitivity of a sum, in units of the bound on one record's contribution."""

_FFT = 1e-12
"""How much of delta is set aside for rounding in the convolutions of a PLD."""

_PORTION = 10_000
"""Steps that a PLD composes at once."""

_RELATIVE = 1e-9
"""By how much floating-point results of the accountants are raised."""

_TOLERANCE = 1e-4
"""Relative, of a calibrated noise multiplier; the error is on the side of more noise."""


def poisson_gaussian_epsilon(
    delta: float,
    *,
    noise_multiplier: float,
    sampling_probability: float,
    steps: int,
    neighbors: Neighbors | str,
    accountant: str = "pld",
) -> float:
    """Epsilon of steps of Gaussian noise on sums over Poisson-sampled batches, rounded up.

    Args:
        delta: In (0, 1); above 1e-11 for ``"pld"``.
        noise_multiplier: Standard deviation over C, the bound on the norm of *one record's
            contribution*, whatever the relation: under ``"replace"`` a sum moves by up to 2 C, and
            that is accounted for here.
        sampling_probability: Of each record, independently, in (0, 1].
        steps: How many steps, positive.
        neighbors: The neighbour relation.
        accountant: ``"pld"`` (tight) or ``"rdp"`` (fast for many steps, tiny delta).

    Raises:
        ParameterError: A parameter is out of its range, or the accountant finds no finite epsilon.
    """
    allowed = figure("delta", delta, high=1)
    sigma = _noise(noise_multiplier)
    q = _probability(sampling_probability)
    times = count("steps", steps)
    relation = Neighbors.parse(neighbors)
    if q == 1:
        return gaussian_epsilon(delta, mu=_whole_mu(sigma, times, relation))
    if accountant == "pld":
        epsilon = _pld_epsilon(float(allowed), sigma, q, times, relation)
    elif accountant == "rdp":
        from oracle_dp.accounting import _renyi

        step = _renyi.poisson(sigma, q, replace=relation is Neighbors.REPLACE)
        epsilon = _rdp_epsilon(float(allowed), step, times)
    else:
        raise ParameterError(f"accountant: 'pld' or 'rdp' expected, not {accountant!r}")
    # Sampling never costs: the whole data set's epsilon is exact, and may be the smaller figure.
    return min(epsilon, _whole_epsilon(delta, sigma, times, relation))


def poisson_gaussian_noise_multiplier(
    epsilon: float,
    *,
    delta: float,
    sampling_probability: float,
    steps: int,
    neighbors: Neighbors | str,
    accountant: str = "pld",
) -> float:
    """The least noise multiplier for (epsilon, delta), up to a relative 1e-4, rounded up.

    Args:
        epsilon: In (0, 1e6].
        delta: As for :func:`poisson_gaussian_epsilon`.
        sampling_probability: As there.
        steps: As there.
        neighbors: As there.
        accountant: As there.

    Returns:
        Standard deviation over the bound C on one record's contribution.

    Raises:
        ParameterError: A parameter is out of its range, or no noise suffices.
    """
    relation = Neighbors.parse(neighbors)

    def spent(sigma: float) -> float:
        return poisson_gaussian_epsilon(
            delta,
            noise_multiplier=sigma,
            sampling_probability=sampling_probability,
            steps=steps,
            neighbors=relation,
            accountant=accountant,
        )

    q = _probability(sampling_probability)
    return _least_noise(spent, epsilon, _enough(epsilon, delta, steps, relation), q)


def fixed_size_gaussian_epsilon(
    delta: float, *, noise_multiplier: float, batch_size: int, n: int, steps: int
) -> float:
    """Epsilon of steps of Gaussian noise on sums over batches of fixed size, ``"replace"``.

    Each step's batch is a uniform subset without replacement. By Renyi differential privacy, which
    may be well above the truth.

    Args:
        delta: In (0, 1).
        noise_multiplier: Standard deviation over C, the bound on the norm of one record's
            contribution; a sum moves by up to 2 C, which is accounted for here.
        batch_size: Records in a batch.
        n: Records in all; public.
        steps: How many steps, positive.

    Raises:
        ParameterError: A parameter is out of its range.
    """
    allowed = figure("delta", delta, high=1)
    sigma = _noise(noise_multiplier)
    size, total, times = count("batch_size", batch_size), count("n", n), count("steps", steps)
    if size > total:
        raise ParameterError(f"batch_size: at most n = {n} expected, not {batch_size}")
    whole = _whole_epsilon(delta, sigma, times, Neighbors.REPLACE)
    if size == total:
        return whole
    from oracle_dp.accounting import _renyi

    return min(whole, _rdp_epsilon(float(allowed), _renyi.fixed_size(sigma, size, total), times))


def fixed_size_gaussian_noise_multiplier(
    epsilon: float, *, delta: float, batch_size: int, n: int, steps: int
) -> float:
    """The least noise multiplier for (epsilon, delta), up to a relative 1e-4, rounded up.

    Args:
        epsilon: In (0, 1e6].
        delta: As for :func:`fixed_size_gaussian_epsilon`.
        batch_size: As there.
        n: As there.
        steps: As there.

    Raises:
        ParameterError: A parameter is out of its range.
    """

    def spent(sigma: float) -> float:
        return fixed_size_gaussian_epsilon(
            delta, noise_multiplier=sigma, batch_size=batch_size, n=n, steps=steps
        )

    q = min(1.0, count("batch_size", batch_size) / count("n", n))
    return _least_noise(spent, epsilon, _enough(epsilon, delta, steps, Neighbors.REPLACE), q)


def _noise(noise_multiplier: float) -> float:
    figure("noise_multiplier", noise_multiplier, low=1e-3, high=1e9, closed=True)
    return float(noise_multiplier)


def _probability(sampling_probability: float) -> float:
    figure("sampling_probability", sampling_probability, high=math.nextafter(1, 2))
    return float(sampling_probability)


def _whole_mu(sigma: float, steps: int, relation: Neighbors) -> float:
    """Of all steps on all records."""
    return above(composed_mu([_REACH[relation] / Fraction(sigma)], times=steps))


def _whole_epsilon(delta: float, sigma: float, steps: int, relation: Neighbors) -> float:
    mu = _whole_mu(sigma, steps, relation)
    return gaussian_epsilon(delta, mu=mu) if mu < 1e4 else math.inf


def _enough(epsilon: float, delta: float, steps: int, relation: Neighbors) -> float:
    """A noise multiplier that suffices without any sampling."""
    figure("epsilon", epsilon)
    mu = gaussian_mu(epsilon, delta=delta)
    return max(1e-3, _REACH[relation] * math.sqrt(count("steps", steps)) / mu * (1 + _RELATIVE))


def _pld_epsilon(delta: float, sigma: float, q: float, steps: int, relation: Neighbors) -> float:
    from dp_accounting import NeighboringRelation
    from dp_accounting.pld import privacy_loss_distribution

    if delta <= 10 * _FFT:
        raise ParameterError(
            f"delta: above {10 * _FFT:g} expected for accountant='pld', not {delta!r}; its "
            "convolutions are not exact enough; use accountant='rdp'"
        )
    # One record's contribution, not a sum's sensitivity: it is doubled there for REPLACE_ONE.
    named = {
        Neighbors.REPLACE: NeighboringRelation.REPLACE_ONE,
        Neighbors.ADD_REMOVE: NeighboringRelation.ADD_OR_REMOVE_ONE,
        Neighbors.ZERO_OUT: NeighboringRelation.REPLACE_SPECIAL,
    }
    interval = _interval(sigma, q, steps, relation)
    one = privacy_loss_distribution.from_gaussian_mechanism(
        sigma,
        sampling_prob=q,
        value_discretization_interval=interval,
        neighboring_relation=named[relation],
    )
    # In portions: a power of integers that only decides on a method would take minutes for the
    # millions of steps that the convolution itself does in no time.
    portions, rest = divmod(steps, _PORTION)
    whole = one.self_compose(rest) if rest else privacy_loss_distribution.identity(interval)
    if portions:
        whole = whole.compose(one.self_compose(_PORTION).self_compose(portions))
    epsilon = float(whole.get_epsilon_for_delta(delta - _FFT))
    return max(0.0, epsilon) * (1 + _RELATIVE)


def _interval(sigma: float, q: float, steps: int, relation: Neighbors) -> float:
    """Of the grid of privacy losses: fine enough for a step, coarse enough for memory.

    The accountant rounds to its grid on the safe side, so that this is a matter of tightness.
    """
    shift = _REACH[relation] / sigma
    typical = q * shift * min(1.0, math.sqrt(math.expm1(min(shift * shift, 1.0))) / shift)
    widest = shift * (12 + shift)
    return max(typical / 50, widest / 200_000, typical * math.sqrt(steps) / 100_000)


def _rdp_epsilon(
    delta: float, step: tuple[NDArray[np.float64], NDArray[np.float64]], steps: int
) -> float:
    from dp_accounting.rdp import compute_epsilon

    orders, divergences = step
    # Rounding below zero would be read as no loss at all; underflow to zero too.
    padded = divergences * (1 + _RELATIVE) + 1e-14 / (orders - 1)
    padded[~(divergences >= 0)] = np.inf
    epsilon = float(compute_epsilon(list(orders), list(padded * steps), delta)[0])
    return epsilon * (1 + _RELATIVE)


def _least_noise(spent: Callable[[float], float], epsilon: float, start: float, q: float) -> float:
    """The least noise multiplier that spends at most epsilon, to the tolerance, from above."""
    from scipy.optimize import brentq

    def excess(log_sigma: float) -> float:
        # The floor is below any epsilon: above one, no noise would seem enough, without end.
        return math.log(max(min(spent(math.exp(log_sigma)), 1e9), 1e-9 * epsilon) / epsilon)

    high = math.log(start)
    while excess(high) > 0:
        high += 10 * _TOLERANCE
    low = high
    step = max(0.5, -math.log(q) / 2)
    while excess(low) <= 0 and low > math.log(2e-3):
        high, low = low, max(low - step, math.log(1e-3))
    if excess(low) <= 0:
        return math.exp(low)
    found = float(brentq(excess, low, high, xtol=_TOLERANCE / 4))
    sigma = math.exp(found)
    while spent(sigma) > epsilon:
        sigma *= 1 + _TOLERANCE / 2
    return sigma
