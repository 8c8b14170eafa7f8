"""Double-noise Newton on Poisson batches.

Theorem (docs/theory/second_order.md, Theorem 5). Two independent Poisson batches of rate q, one for
the gradient sum and one for the curvature sum, each over the public b = q n, with a fixed floor l:

    g~ = (sum of gradients + N(0, (z L0)^2 I)) / b
    w+ = w - Psi_l(A_batch)^-1 g~ + N(0, (|g~| s z)^2 I)

with s the direction's sensitivity at n = b. For fixed other members of the batch, one record moves
the direction by at most |g~| s, although the map is not linear in the batch; so each half of a step
is dominated by the Poisson-sampled Gaussian of multiplier z, and T steps are 2 T of those, composed
by the accountant.

Where its hypotheses are enforced: b and l are public constants; no batch is used twice.

Source: Ganesh et al. (NeurIPS 2023), Section 6.1 and the authors' public code, which has no
accountant and fails on an empty batch; deviations in the proof note.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from oracle_dp.errors import ParameterError
from oracle_dp.first_order.batches import poisson_batch
from oracle_dp.first_order.sgd import expected_batch, noise_multiplier
from oracle_dp.mechanisms import spending
from oracle_dp.noise import BitSource
from oracle_dp.points import start_point, within_range
from oracle_dp.privacy import Release
from oracle_dp.record_losses import LinearModelLoss, require_bounded
from oracle_dp.second_order import sensitivity
from oracle_dp.second_order.double_noise import SMALLEST_FLOOR, added
from oracles.arrays import FloatArray
from oracles.convex.objective import Curvature

MECHANISM = "minibatch_newton"
THEOREM = "double-noise Newton on Poisson batches (docs/theory/second_order.md, Theorem 5)"


def minibatch_newton(
    losses: LinearModelLoss,
    *,
    batch: int | None = None,
    steps: int = 30,
    curvature: Curvature = "upper",
    floor: float | None = None,
    start: ArrayLike | None = None,
    **asked: Unpack[spending.Asked],
) -> Release[FloatArray]:
    """Release the last iterate of double-noise Newton on Poisson batches (floor added).

    Args:
        losses: The records' losses with their public constants.
        batch: Expected size of each batch, from 1 to ``losses.size``. Default: a fifth of it.
        steps: T.
        curvature: ``"upper"`` or ``"hessian"``.
        floor: Added to every eigenvalue; public. Default: the balance of bias and noise at the
            largest trace that is possible.
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
    require_bounded(losses, target.neighbors, curvature=True)
    if curvature not in ("hessian", "upper"):
        raise ParameterError(f"curvature: 'hessian' or 'upper' expected, not {curvature!r}")
    total, expected = spending.steps(steps), expected_batch(losses, batch)
    if floor is not None and spending.positive("floor", floor) < SMALLEST_FLOOR:
        raise ParameterError(f"floor: at least {SMALLEST_FLOOR:g} expected, not {floor!r}")
    w = start_point(start, losses.dimension)
    multiplier = noise_multiplier(target, losses, expected, 2 * total)
    # As if the data had `expected` records: the sums of a batch are over that.
    scaled = LinearModelLoss(problem=losses.problem, size=expected, size_is_public=True, clipped=0)
    held = floor or sensitivity.floor_for(
        scaled, losses.curvature_trace, 1 / (2 * multiplier**2), 1.0
    )
    target.charge(MECHANISM)
    for _ in range(total):
        w = _step(scaled, losses, w, curvature, held, multiplier, target.source)
    return target.release(
        w,
        mechanism=MECHANISM,
        theorem=THEOREM,
        sensitivity=target.reach * losses.lipschitz,
        sensitivity_source=spending.gradient_source(losses),
        conditions_of_mechanism=spending.vouched(losses),
    )


def _step(
    scaled: LinearModelLoss,
    losses: LinearModelLoss,
    w: FloatArray,
    curvature: Curvature,
    floor: float,
    multiplier: float,
    source: BitSource,
) -> FloatArray:
    probability, divisor = scaled.size / losses.size, float(scaled.size)
    place = within_range(w)
    first = poisson_batch(losses, probability, divisor, source)
    scale = multiplier * losses.lipschitz / divisor
    slope = spending.noisy(first.gradient(place), scale, source)
    length = float(np.linalg.norm(slope))
    second = poisson_batch(losses, probability, divisor, source)
    if length == 0:
        return w
    _, matrix = second.second_order(place, curvature)
    bound = sensitivity.direction_add(scaled, floor)
    moved = w - added(matrix, floor)(slope)
    return spending.noisy(moved, length * bound * multiplier, source)
