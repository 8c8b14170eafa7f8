"""What the three objective perturbations share: the perturbed problem and its certified minimum.

Hypotheses of Lemma 1 in docs/theory/objective_perturbation_convex.md, checked here: the loss is
phi(y <w, x>) with phi convex, twice continuously differentiable, -1 <= phi' <= 0 and
0 <= phi'' <= beta (the logistic loss); rows have norm at most 1; w is unconstrained; the ridge is
on every coordinate, the intercept included.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

from oracle_dp.errors import ParameterError, UncertifiedError, VacuousBoundWarning
from oracle_dp.mechanisms.base import REFUSED
from oracle_dp.privacy import Contingency, ContingencyKind, Neighbors
from oracle_dp.record_losses import LinearModelLoss, require_bounded
from oracles import Status
from oracles.arrays import FloatArray
from oracles.convex import Logistic, MeanLoss, Newton, plain_additions

TOLERANCE = 1e-6
"""Gradient norm of the summed objective that the solver must reach, where floats allow it."""

_LARGEST_OUTPUT = 0.1
"""Of the scale of the noise on coefficients for rows of norm 1, before it is warned of."""

SOLVED = Contingency(
    ContingencyKind.COMPLETION,
    "the solver proved the stated gradient norm; a run that cannot is refused, which may depend on "
    "the data and is not covered by epsilon",
)

_LARGEST_RATIO = 10.0
"""Of the determinants, as a logarithm: beyond it less ridge would only slow the solver down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ridge:
    """The quadratic term of the summed objective.

    Attributes:
        strength: lambda in ``(lambda / 2) |w|^2``.
        log_determinant: C, at least ``log(1 + beta / lambda)``: the most by which one record
            changes the logarithm of the Jacobian's determinant (Lemma 1).
    """

    strength: float
    log_determinant: float

    @classmethod
    def spending(cls, epsilon: float, beta: float, least: float = 0.0) -> Ridge:
        """With C at most ``epsilon``, and lambda at least ``least``."""
        wanted = beta / math.expm1(min(epsilon, _LARGEST_RATIO))
        strength = max(wanted * (1 + 1e-12), least)
        return cls(strength=strength, log_determinant=math.log1p(beta / strength) * (1 + 1e-12))


def require_logistic(losses: LinearModelLoss, neighbors: Neighbors) -> None:
    """Refuse losses that Lemma 1 is not about.

    Raises:
        ParameterError: As said.
    """
    require_bounded(losses, neighbors)
    if not isinstance(losses, LinearModelLoss) or type(losses.problem.loss) is not Logistic:
        raise ParameterError(
            "loss: objective perturbation is proved for the logistic loss of a linear model (twice "
            "continuously differentiable, slopes of one sign, curvature of rank one)"
        )


def tolerance_for(size: int, dimension: int) -> float:
    """The gradient norm of the summed objective to reach: public, and above rounding.

    Rounding is proven to be at most ``1.01 n u (K + 14 + 7 n u + (d + 2) |w| / 4)``, K the plain
    additions of a sum (Lemma 3). This leaves room for |w| up to 2000 in any dimension, whatever n,
    and up to 3500 in a hundred.
    """
    terms = 4 * plain_additions(dimension) + 51 * dimension
    return max(TOLERANCE, 10 * size * terms * 2.0**-53)


def warn_of_rounding(tolerance: float, output_scale: float) -> None:
    """Say, from public parameters alone, that noise for the solver's rounding drowns the answer.

    Slopes are proven to a multiple of u that n does not enter, so their sum's tolerance grows as n,
    and the noise that covers it with it.
    """
    if tolerance > TOLERANCE and output_scale > _LARGEST_OUTPUT:
        warnings.warn(
            f"at this size the noise for the solver's rounding is {output_scale:.2g} on every "
            "coefficient, whatever the rows: take method='preconditioned' or 'newton', whose noise "
            "only falls with the number of rows",
            VacuousBoundWarning,
            stacklevel=3,
        )


def minimize_perturbed(
    losses: LinearModelLoss, noise: FloatArray, ridge: float, tolerance: float
) -> FloatArray:
    """A point where the gradient of ``sum_i l_i + <noise, w> + ridge / 2 |w|^2`` is small.

    Deterministic, from a public start, without redrawing anything: it is within
    ``tolerance / ridge`` of the exact minimiser, a function of data and noise alone.

    Raises:
        UncertifiedError: The gradient norm was not reached.
    """
    problem = losses.problem
    perturbed = MeanLoss(
        rows=problem.rows,
        loss=problem.loss,
        divisor=problem.divisor,
        linear=noise / problem.divisor,
        ridge=ridge / problem.divisor,
    )
    found = Newton(tolerance=tolerance / problem.divisor).minimize(perturbed)
    if found.status is not Status.OPTIMAL:
        raise UncertifiedError(
            f"no certificate, no release ({found.oracle}: {found.status.message}). {REFUSED}"
        )
    return found.value
