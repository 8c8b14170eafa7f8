"""Stochastic gradient descent on Poisson batches.

Theorem (docs/theory/second_order.md, Theorem 3; accounting: docs/accounting.md). Each step takes
every record with probability q by itself and releases

    (sum of the batch's gradients + N(0, (z L0)^2 I)) / b,        b = q n a public constant.

It is dominated by the Poisson-sampled Gaussian of noise multiplier z, whatever w_t; T steps compose
as the accountant computes from that pair. An empty batch is a sum of zero terms plus noise.

Where its hypotheses are enforced: rows are clipped by :class:`LinearModelLoss`; b, not the size of
the batch, divides; batches come from the same bit source as the noise.

Source: Abadi et al. (CCS 2016); without gradient clipping, since the loss is Lipschitz.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Unpack

from numpy.typing import ArrayLike

from oracle_dp.errors import ParameterError
from oracle_dp.first_order.batches import poisson_batch
from oracle_dp.mechanisms import spending
from oracle_dp.points import start_point, within_range
from oracle_dp.privacy import Neighbors, Release
from oracle_dp.record_losses import LinearModelLoss, require_bounded
from oracles.arrays import FloatArray

MECHANISM = "stochastic_gradient_descent"
THEOREM = "gradient descent on Poisson batches (docs/theory/second_order.md, Theorem 3)"


def stochastic_gradient_descent(
    losses: LinearModelLoss,
    *,
    batch: int | None = None,
    steps: int = 200,
    step_size: float | None = None,
    start: ArrayLike | None = None,
    **asked: Unpack[spending.Asked],
) -> Release[FloatArray]:
    """Release the last iterate of noisy gradient descent on Poisson batches.

    Args:
        losses: The records' losses with their public constants.
        batch: Expected batch size b, from 1 to ``losses.size``; public. Default: a fifth of it.
        steps: T.
        step_size: eta. Default: 1 / smoothness.
        start: Public; default 0.
        **asked: Epsilon, delta, who pays and with what randomness:
            :class:`oracle_dp.mechanisms.spending.Asked`.

    Returns:
        w of shape ``(d,)`` with its guarantee; its rho is None, zCDP not being what was composed.

    Raises:
        ParameterError: A parameter is out of range or a constant infinite. Nothing is charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.
    """
    target = spending.read_target(asked)
    require_bounded(losses, target.neighbors)
    total, expected = spending.steps(steps), expected_batch(losses, batch)
    eta = spending.positive("step_size", 1 / losses.smoothness if step_size is None else step_size)
    w = start_point(start, losses.dimension)
    multiplier = noise_multiplier(target, losses, expected, total)
    target.charge(MECHANISM)
    for _ in range(total):
        drawn = poisson_batch(losses, expected / losses.size, float(expected), target.source)
        scale = multiplier * losses.lipschitz / expected
        w = w - eta * spending.noisy(drawn.gradient(within_range(w)), scale, target.source)
    return target.release(
        w,
        mechanism=MECHANISM,
        theorem=THEOREM,
        sensitivity=target.reach * losses.lipschitz,
        sensitivity_source=spending.gradient_source(losses),
        conditions_of_mechanism=spending.vouched(losses),
    )


def expected_batch(losses: LinearModelLoss, batch: int | None) -> int:
    """The expected batch size, checked.

    Raises:
        ParameterError: The losses cannot be sampled, or the batch is out of range.
    """
    if not isinstance(losses, LinearModelLoss):
        raise ParameterError("losses: batches need a LinearModelLoss, whose records can be drawn")
    expected = max(1, losses.size // 5) if batch is None else batch
    if isinstance(expected, bool) or not isinstance(expected, int):
        raise ParameterError(f"batch: an integer expected, not {batch!r}")
    if not 1 <= expected <= losses.size:
        raise ParameterError(f"batch: from 1 to the size {losses.size} expected, not {expected}")
    return expected


def noise_multiplier(
    target: spending.Target, losses: LinearModelLoss, expected: int, sampled_steps: int
) -> float:
    """Noise over the bound on one record's contribution, for that many Poisson-sampled steps."""
    return _least_multiplier(
        target.epsilon_below,
        target.delta_below,
        expected / losses.size,
        sampled_steps,
        target.neighbors,
    )


@lru_cache(maxsize=64)
def _least_multiplier(
    epsilon: float, delta: float, probability: float, steps: int, neighbors: Neighbors
) -> float:
    """The accountant takes a good part of a second, and is asked the same for every fit."""
    from oracle_dp.accounting.subsampled import poisson_gaussian_noise_multiplier

    return poisson_gaussian_noise_multiplier(
        epsilon,
        delta=delta,
        sampling_probability=probability,
        steps=steps,
        neighbors=neighbors,
    )
