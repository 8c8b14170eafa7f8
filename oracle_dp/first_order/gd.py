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
from collections.abc import Sequence
from fractions import Fraction

from numpy.typing import ArrayLike

from oracle_dp.ledger import Ledger
from oracle_dp.mechanisms import spending
from oracle_dp.noise import BitSource
from oracle_dp.privacy import Contingency, Neighbors, Release
from oracle_dp.record_losses import RecordLosses, require_bounded, start_point
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
    epsilon: float | Fraction,
    delta: float | Fraction,
    steps: int | None = None,
    step_size: float | None = None,
    start: ArrayLike | None = None,
    neighbors: Neighbors | str = Neighbors.REPLACE,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    random_state: int | BitSource | None = None,
    contingencies: Sequence[Contingency] = (),
) -> Release[FloatArray]:
    """Release the last iterate of noisy gradient descent.

    Args:
        losses: The records' losses with their public constants.
        epsilon: Positive.
        delta: In (0, 1).
        steps: T. Default: :func:`default_steps`.
        step_size: eta. Default: 1 / smoothness.
        start: Public; default 0.
        neighbors: The relation that the noise is for.
        ledger: Charged before noise is drawn, with ``dataset`` as the name.
        dataset: Name of the data set in the ledger.
        random_state: None for the operating system's randomness; an integer reproduces a run and
            marks the release as not private.
        contingencies: Further conditions for the guarantee to state.

    Returns:
        w of shape ``(d,)`` with its guarantee.

    Raises:
        ParameterError: A parameter is out of range or a constant infinite. Nothing is charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.
    """
    target = spending.read_target(
        epsilon=epsilon,
        delta=delta,
        neighbors=neighbors,
        ledger=ledger,
        dataset=dataset,
        random_state=random_state,
        contingencies=contingencies,
    )
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
