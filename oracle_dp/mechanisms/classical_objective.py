"""Objective perturbation with pure epsilon.

Theorem (docs/theory/objective_perturbation_convex.md, Theorem 2). Under the hypotheses of Lemma 1,
with C = log(1 + beta / lambda), epsilon' = epsilon_1 - C > 0 and b of density proportional to
exp(-(epsilon' / reach) |b|), the minimiser of ``sum_i l_i(w) + (lambda / 2) |w|^2 + <b, w>`` is
epsilon_1-differentially private. A point whose gradient norm is at most tau, plus noise of density
proportional to exp(-(epsilon_2 lambda / (2 tau)) |.|), is (epsilon_1 + epsilon_2)-DP.

Where its hypotheses are enforced: logistic loss, clipped rows and the ridge in
``perturbed_objective``; tau by the solver's certificate; lambda and the split are public.

Source: Chaudhuri, Monteleoni, Sarwate, "Differentially private empirical risk minimization"
(JMLR 2011), Algorithm 2, with one factor of the Jacobian instead of two and a ridge that is chosen
so that epsilon' is never near 0: see the deviations in the proof note.
"""

from __future__ import annotations

import math
from typing import Unpack

from oracle_dp.errors import ParameterError
from oracle_dp.mechanisms import spending
from oracle_dp.mechanisms.base import stated
from oracle_dp.mechanisms.perturbed_objective import (
    SOLVED,
    Ridge,
    minimize_perturbed,
    require_logistic,
    tolerance_for,
    warn_of_rounding,
)
from oracle_dp.noise.floating import gamma_norm
from oracle_dp.privacy import Release
from oracle_dp.record_losses import LinearModelLoss
from oracles import Certificate
from oracles.arrays import FloatArray

MECHANISM = "objective_perturbation"
THEOREM = (
    "objective perturbation with pure epsilon, logistic loss "
    "(docs/theory/objective_perturbation_convex.md, Theorem 2)"
)
OUTPUT_SHARE = 0.01
"""Of epsilon, for the noise that hides that the minimum is approximate."""


def classical_objective(
    losses: LinearModelLoss,
    *,
    ridge_share: float = 0.1,
    ridge: float = 0.0,
    **asked: Unpack[spending.Asked],
) -> Release[FloatArray]:
    """Release the minimiser of the logistic loss with a random linear term and a ridge.

    Args:
        losses: Records of a linear model with the logistic loss.
        ridge_share: Of epsilon that the ridge may spend, strictly between 0 and 1.
        ridge: A public lower limit for lambda, of the *summed* objective.
        **asked: Epsilon, delta, who pays and with what randomness:
            :class:`oracle_dp.mechanisms.spending.Asked`.

    Returns:
        w of shape ``(d,)`` with its guarantee: pure epsilon, rho = epsilon^2 / 2.

    Raises:
        ParameterError: A parameter is out of range, or the loss is another. Nothing is charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.
        UncertifiedError: The solver did not reach the gradient norm. The charge stays.
        VacuousBoundWarning: So many rows that noise for the solver's rounding drowns the answer.
    """
    target = spending.read_target(asked, pure=True)
    require_logistic(losses, target.neighbors)
    share = spending.fraction_of_one("ridge_share", ridge_share)
    least = 0.0 if ridge == 0 else spending.positive("ridge", ridge)
    whole = target.epsilon_below
    first, second = whole * (1 - OUTPUT_SHARE) * (1 - 1e-12), whole * OUTPUT_SHARE
    held = Ridge.spending(share * first, losses.smoothness, least)
    left = (first - held.log_determinant) * (1 - 1e-12)
    if left <= 0:
        raise ParameterError("epsilon: nothing is left beside the ridge's share")
    tolerance = tolerance_for(losses.size, losses.dimension)
    output = 2 * tolerance / held.strength / second * (1 + 1e-12)
    rho = stated("epsilon", target.epsilon**2 / 2, toward=float("inf"))
    # A direction times a gamma length: a coefficient's variance is (d + 1) output^2.
    warn_of_rounding(tolerance, output * math.sqrt(losses.dimension + 1))
    target.charge(MECHANISM)
    drawn = gamma_norm(target.source, target.reach / left, losses.dimension)
    w = minimize_perturbed(losses, drawn, held.strength, tolerance)
    return target.release(
        w + gamma_norm(target.source, output, losses.dimension),
        mechanism=MECHANISM,
        theorem=THEOREM,
        sensitivity=target.reach * losses.lipschitz,
        certificate=Certificate.BOUNDED,
        rho=rho,
        conditions_of_mechanism=(SOLVED,),
    )
