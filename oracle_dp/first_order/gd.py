"""Gradient descent with Gaussian noise on every gradient.

Theorem (docs/theory/second_order.md, Theorem 2). With records' gradients of norm at most L0,

    w_{t+1} = w_t - eta (g_t + N(0, (reach L0 / n)^2 / (2 rho / T) I)),        t < T,

satisfies mu-Gaussian differential privacy with mu = sqrt(2 rho), all iterates included.

Where its hypotheses are enforced: rows are clipped by :class:`LinearModelLoss`; eta, T and the
start are arguments; mu from the target by :mod:`oracle_dp.accounting`. The step is 1 / smoothness.

Source: Bassily, Smith, Thakurta (FOCS 2014); Song, Chaudhuri, Sarwate (GlobalSIP 2013).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Unpack

from numpy.typing import ArrayLike

from oracle_dp.mechanisms import spending
from oracle_dp.points import start_point
from oracle_dp.privacy import Release
from oracle_dp.record_losses import RecordLosses, require_bounded
from oracle_dp.second_order import sensitivity
from oracles.arrays import FloatArray

MECHANISM = "gradient_descent"
THEOREM = "gradient descent with Gaussian noise (docs/theory/second_order.md, Theorem 2)"


def default_steps(epsilon: Fraction) -> int:
    """T by the size of epsilon, chosen on public data."""
    return 150 if epsilon <= Fraction(3, 10) else 400


def gradient_descent(
    losses: RecordLosses,
    *,
    steps: int | None = None,
    step_size: float | None = None,
    start: ArrayLike | None = None,
    **asked: Unpack[spending.Asked],
) -> Release[FloatArray]:
    """Release the last iterate of noisy gradient descent.

    Args:
        losses: The records' losses with their public constants.
        steps: T. Default: :func:`default_steps`.
        step_size: eta. Default: 1 / smoothness.
        start: Public; default 0.
        **asked: Epsilon, delta, who pays and with what randomness:
            :class:`oracle_dp.mechanisms.spending.Asked`.

    Returns:
        w of shape ``(d,)`` with its guarantee.

    Raises:
        ParameterError: A parameter is out of range or a constant infinite. Nothing is charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.
    """
    target = spending.read_target(asked)
    require_bounded(losses, target.neighbors)
    total = spending.steps(default_steps(target.epsilon) if steps is None else steps)
    eta = spending.positive("step_size", 1 / losses.smoothness if step_size is None else step_size)
    w = start_point(start, losses.dimension)
    scale = sensitivity.gradient(losses, target.reach) * math.sqrt(total) / target.mu
    target.charge(MECHANISM, rho=target.stated_rho)
    for _ in range(total):
        w = w - eta * spending.noisy(losses.gradient(w), scale, target.source)
    return target.release(
        w,
        mechanism=MECHANISM,
        theorem=THEOREM,
        sensitivity=target.reach * losses.lipschitz,
        sensitivity_source=spending.gradient_source(losses),
        rho=target.stated_rho,
        conditions_of_mechanism=spending.vouched(losses),
    )
