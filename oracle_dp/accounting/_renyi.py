"""Renyi divergences of one step on a random batch: orders, and the divergence at each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_LARGEST_GRID = 2_000_000

_WHOLE_ORDERS = [1.25, 1.5, 1.75, *range(2, 64), 128, 256, 512, 1024]
"""Between whole orders the bound for fixed batches is interpolated only."""

Step = tuple[NDArray[np.float64], NDArray[np.float64]]


def poisson(sigma: float, q: float, *, replace: bool) -> Step:
    """Of a step with Poisson sampling.

    Args:
        sigma: Standard deviation over the bound on one record's contribution.
        q: Sampling probability, in (0, 1).
        replace: Whether a record is replaced, or added, removed or zeroed.
    """
    if replace:
        # dp-accounting has no Renyi divergence for this relation.
        orders = _orders()
        return orders, np.array([mixture_divergence(sigma, q, order) for order in orders])
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
    from dp_accounting.rdp import RdpAccountant

    account = RdpAccountant()
    account.compose(PoissonSampledDpEvent(q, GaussianDpEvent(sigma)))
    return account.orders, account.rdp


def fixed_size(sigma: float, size: int, n: int) -> Step:
    """Of a step with batches of ``size`` among ``n`` without replacement, a record replaced."""
    from dp_accounting import (
        GaussianDpEvent,
        NeighboringRelation,
        SampledWithoutReplacementDpEvent,
    )
    from dp_accounting.rdp import RdpAccountant

    account = RdpAccountant(_WHOLE_ORDERS, NeighboringRelation.REPLACE_ONE)
    # Here the accountant means noise over the sensitivity of the batch's sum, which is twice the
    # bound on one contribution: it does not double it as it does for Poisson sampling.
    event = SampledWithoutReplacementDpEvent(n, size, GaussianDpEvent(sigma / 2))
    account.compose(event)
    return account.orders, account.rdp


def _orders() -> NDArray[np.float64]:
    from dp_accounting.rdp.rdp_privacy_accountant import DEFAULT_RDP_ORDERS

    return np.array(DEFAULT_RDP_ORDERS, dtype=float)


def mixture_divergence(sigma: float, q: float, order: float) -> float:
    """D(P || Q) of this order, with P = (1-q) N(0) + q N(1) and Q = (1-q) N(0) + q N(-1).

    By the trapezoid rule, whose error on an integrand that is analytic in a strip around the line
    falls exponentially in the width of the strip over the spacing: P and Q have their zeros at a
    distance of pi sigma from the line (in units of 1), and the spacing is a small part of that.

    Returns:
        The divergence; infinity where the grid would be too large, which is on the safe side.
    """
    shift = 1 / sigma
    spacing = min(1 / 8, 1 / (4 * shift), 1 / (2 * shift * np.sqrt(order)))
    low, high = -shift - 40, 2 * order * shift + 40
    if (high - low) / spacing > _LARGEST_GRID:
        return float("inf")
    z = np.arange(low, high, spacing)
    # Logarithms of densities over that of N(0), in units of sigma.
    base = np.log1p(-q)
    up = np.logaddexp(base, np.log(q) + shift * z - shift * shift / 2)
    down = np.logaddexp(base, np.log(q) - shift * z - shift * shift / 2)
    excess = order * up - (order - 1) * down
    weight = -z * z / 2 + np.log(spacing) - np.log(2 * np.pi) / 2
    largest = float(np.max(excess + weight))
    if largest > 30:
        total = np.log(np.sum(np.exp(excess + weight - largest))) + largest
    else:
        # The mass of N(0), which is 1, is taken off: it would hide a small divergence.
        near = np.abs(excess) < 1
        small = np.exp(weight[near]) * np.expm1(excess[near])
        rest = np.exp(excess[~near] + weight[~near]) - np.exp(weight[~near])
        total = np.log1p(np.sum(small) + np.sum(rest))
    return float(total) / (order - 1)
