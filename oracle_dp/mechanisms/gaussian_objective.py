"""Objective perturbation with a Gaussian linear term: the method of choice for logistic loss.

Theorem (docs/theory/objective_perturbation_convex.md, Theorem 1). Under the hypotheses of Lemma 1,
with b ~ N(0, sigma^2 I), mu = reach / sigma, C = log(1 + beta / lambda), take a point where the
gradient of ``sum_i l_i(w) + (lambda / 2) |w|^2 + <b, w>`` is at most tau and add N(0, sigma_o^2 I),
mu_o = 2 tau / (lambda sigma_o). For epsilon >= C that is (epsilon, delta)-DP if

    delta >= G(sqrt(mu^2 + mu_o^2)) + G(mu_o) + [reach = 2] 2 G(sqrt(mu^2 / 4 + mu_o^2)),

G(m) being the Gaussian mechanism's delta at epsilon - C. The number of records does not occur.

Where its hypotheses are enforced: logistic loss, clipped rows and the ridge in
``perturbed_objective``; the inequality itself is decided with enclosures by
:func:`oracle_dp.accounting.gaussian.gaussian_delta`; tau by the solver's certificate.

Sources: Kifer, Smith, Thakurta (COLT 2012); Redberg, Koskela, Wang (NeurIPS 2023), whose accounting
this tightens: no factor 2, no second branch, and any lambda > 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
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

MECHANISM = "gaussian_objective_perturbation"
THEOREM = (
    "objective perturbation with Gaussian noise, logistic loss "
    "(docs/theory/objective_perturbation_convex.md, Theorem 1)"
)
OUTPUT_SHARE = 0.01
"""Of mu^2, for the noise that hides that the minimum is approximate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianObjective:
    """Calibrated noise of Theorem 1.

    Attributes:
        ridge: The quadratic term.
        scale: sigma.
        tolerance: tau, of the summed objective's gradient.
        output_scale: sigma_o.
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
        ridge_share: float,
        ridge: float = 0.0,
    ) -> GaussianObjective:
        """The least noise that Theorem 1 allows for these public parameters.

        Raises:
            ParameterError: The ridge given leaves nothing of epsilon. With the default it cannot.
        """
        held = Ridge.spending(ridge_share * epsilon, beta, ridge)
        left = math.nextafter(epsilon - held.log_determinant, 0)
        if left <= 0:
            raise ParameterError("epsilon: nothing is left beside the ridge's share")
        total = largest_total_mu(left, delta, reach)
        mu, mu_output = (
            total * math.sqrt(1 - OUTPUT_SHARE) * (1 - 1e-12),
            total * math.sqrt(OUTPUT_SHARE),
        )
        return cls(
            ridge=held,
            scale=reach / mu,
            tolerance=tolerance,
            output_scale=2 * tolerance / (held.strength * mu_output) * (1 + 1e-12),
        )


def total_delta(epsilon: float, total: float, reach: int) -> float:
    """The theorem's bound at ``epsilon - C = epsilon``, with ``total^2 = mu^2 + mu_o^2``."""
    from oracle_dp.accounting.gaussian import gaussian_delta

    output = OUTPUT_SHARE * total**2
    bound = gaussian_delta(epsilon, mu=total)
    bound += gaussian_delta(epsilon, mu=math.sqrt(output) * (1 + 1e-12))
    if reach == 2:
        half = (1 - OUTPUT_SHARE) * total**2 / 4 + output
        bound += 2 * gaussian_delta(epsilon, mu=math.sqrt(half) * (1 + 1e-12))
    return bound * (1 + 1e-12)


@lru_cache(maxsize=256)
def largest_total_mu(epsilon: float, delta: float, reach: int) -> float:
    """The largest total for which the bound is at most delta, up to a relative 1e-9, from below."""
    from oracle_dp.accounting.gaussian import gaussian_mu

    high = gaussian_mu(epsilon, delta=delta)
    low = high
    while low > 0 and total_delta(epsilon, low, reach) > delta:
        low *= 0.9
    if low == high:
        return low
    while high > low * (1 + 1e-9):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if total_delta(epsilon, middle, reach) <= delta else (low, middle)
        )
    return low


def gaussian_objective(
    losses: LinearModelLoss,
    *,
    ridge_share: float = 0.1,
    ridge: float = 0.0,
    **asked: Unpack[spending.Asked],
) -> Release[FloatArray]:
    """Release the minimiser of the logistic loss with a Gaussian linear term and a ridge.

    Args:
        losses: Records of a linear model with the logistic loss.
        ridge_share: Of epsilon that the ridge may spend: a smaller share means a larger ridge.
        ridge: A public lower limit for lambda, of the *summed* objective.
        **asked: Epsilon, delta, who pays and with what randomness:
            :class:`oracle_dp.mechanisms.spending.Asked`.

    Returns:
        w of shape ``(d,)`` with its guarantee. No rho: the mechanism is not zCDP at that rho.

    Raises:
        ParameterError: A parameter is out of range, or the loss is another. Nothing is charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.
        UncertifiedError: The solver did not reach the gradient norm. The charge stays.
        VacuousBoundWarning: So many rows that noise for the solver's rounding drowns the answer.
    """
    target = spending.read_target(asked)
    require_logistic(losses, target.neighbors)
    noise = GaussianObjective.calibrated(
        epsilon=target.epsilon_below,
        delta=target.delta_below,
        reach=target.reach,
        beta=losses.smoothness,
        tolerance=tolerance_for(losses.size, losses.dimension),
        ridge_share=spending.fraction_of_one("ridge_share", ridge_share),
        ridge=0.0 if ridge == 0 else spending.positive("ridge", ridge),
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
