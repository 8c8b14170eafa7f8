"""Approximate minima perturbation (AMP), as a baseline: two Gaussians and tail bounds.

Theorem (docs/theory/objective_perturbation_convex.md, Theorem 3). Under the hypotheses of Lemma 1,
let epsilon = epsilon_1 + epsilon_2, delta = delta_1 + delta_2, t_i = sqrt(2 log(1 / delta_i)),
lambda >= beta / (exp(epsilon_1 - epsilon_3) - 1), b ~ N(0, s_1^2 I) on the summed objective with
s_1 = reach (1 + t_1) / epsilon_3, and s_2 = (2 tau / lambda) (1 + t_2) / epsilon_2 on a point whose
gradient norm is at most tau. It is (epsilon, delta)-DP if epsilon_3 <= 2 (1 + t_1),
epsilon_2 <= 2 (1 + t_2) and delta_1 <= exp(-3/2).

Where its hypotheses are enforced: the conditions in :class:`ApproximateObjective`, which refuses an
epsilon beyond them; the loss in ``perturbed_objective``; tau by the solver's certificate.

Source: Iyengar, Near, Song, Thakkar, Thakurta, Wang (S&P 2019), Algorithm 1, corrected: see the
deviations in the proof note. :mod:`oracle_dp.mechanisms.gaussian_objective` adds less noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Unpack

from oracle_dp.errors import ParameterError
from oracle_dp.mechanisms import spending
from oracle_dp.mechanisms.perturbed_objective import (
    SOLVED,
    Ridge,
    minimize_perturbed,
    require_logistic,
    tolerance_for,
    warn_of_rounding,
)
from oracle_dp.noise.floating import gaussian
from oracle_dp.privacy import Release
from oracle_dp.record_losses import LinearModelLoss
from oracles import Certificate
from oracles.arrays import FloatArray

MECHANISM = "approximate_minima_perturbation"
THEOREM = (
    "approximate minima perturbation, logistic loss "
    "(docs/theory/objective_perturbation_convex.md, Theorem 3)"
)
OUTPUT_SHARE = 0.01
"""Of epsilon and of delta, for the noise on the output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproximateObjective:
    """Calibrated noise of Theorem 3.

    Attributes:
        ridge: The quadratic term.
        scale: s_1, of the summed objective's linear term.
        tolerance: tau.
        output_scale: s_2.
    """

    ridge: Ridge
    scale: float
    tolerance: float
    output_scale: float

    @classmethod
    def calibrated(
        cls,
        *,
        epsilon: float,
        delta: float,
        reach: int,
        beta: float,
        tolerance: float,
        noise_share: float,
    ) -> ApproximateObjective:
        """For these public parameters.

        Args:
            epsilon: The target.
            delta: The target.
            reach: 2 under ``"replace"``, else 1.
            beta: Smoothness of the loss.
            tolerance: tau.
            noise_share: epsilon_3 / epsilon_1.

        Raises:
            ParameterError: A condition of the theorem fails: epsilon is too large, or delta.
        """
        first, second = epsilon * (1 - OUTPUT_SHARE), epsilon * OUTPUT_SHARE
        third = noise_share * first
        tail = math.sqrt(-2 * math.log(delta * (1 - OUTPUT_SHARE)))
        output_tail = math.sqrt(-2 * math.log(delta * OUTPUT_SHARE))
        if tail**2 < 3:
            raise ParameterError(f"delta: {delta!r} is too large for this theorem; give a smaller")
        if third > 2 * (1 + tail) or second > 2 * (1 + output_tail):
            raise ParameterError(
                f"epsilon: {epsilon!r} is beyond the conditions of this theorem at delta "
                f"{delta!r}; use gaussian_objective, which has none"
            )
        held = Ridge.spending((first - third) * (1 - 1e-12), beta)
        return cls(
            ridge=held,
            scale=reach * (1 + tail) / third * (1 + 1e-12),
            tolerance=tolerance,
            output_scale=2 * tolerance / held.strength * (1 + output_tail) / second * (1 + 1e-12),
        )


def approximate_objective(
    losses: LinearModelLoss,
    *,
    noise_share: float = 0.9,
    **asked: Unpack[spending.Asked],
) -> Release[FloatArray]:
    """Release an approximate minimiser by approximate minima perturbation.

    Args:
        losses: Records of a linear model with the logistic loss.
        noise_share: Of epsilon_1 that the linear term spends, strictly between 0 and 1.
        **asked: Epsilon, delta, who pays and with what randomness:
            :class:`oracle_dp.mechanisms.spending.Asked`.

    Returns:
        w of shape ``(d,)`` with its guarantee.

    Raises:
        ParameterError: A parameter is out of range, or the loss is another. Nothing is charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.
        UncertifiedError: The solver did not reach the gradient norm. The charge stays.
        VacuousBoundWarning: So many rows that noise for the solver's rounding drowns the answer.
    """
    target = spending.read_target(asked)
    require_logistic(losses, target.neighbors)
    noise = ApproximateObjective.calibrated(
        epsilon=target.epsilon_below,
        delta=target.delta_below,
        reach=target.reach,
        beta=losses.smoothness,
        tolerance=tolerance_for(losses.size, losses.dimension),
        noise_share=spending.fraction_of_one("noise_share", noise_share),
    )
    warn_of_rounding(noise.tolerance, noise.output_scale)
    target.charge(MECHANISM)
    drawn = gaussian(target.source, noise.scale, losses.dimension)
    w = minimize_perturbed(losses, drawn, noise.ridge.strength, noise.tolerance)
    return target.release(
        w + gaussian(target.source, noise.output_scale, losses.dimension),
        mechanism=MECHANISM,
        theorem=THEOREM,
        sensitivity=target.reach * losses.lipschitz,
        certificate=Certificate.BOUNDED,
        conditions_of_mechanism=(SOLVED,),
    )
