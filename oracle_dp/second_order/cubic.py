"""Newton's method with a cubic upper bound, minimised by a private sub-solver.

Theorem (docs/theory/second_order.md, Theorem 6). Let W be a ball of diameter D, records' gradients
bounded by L0, curvatures by L1, and let phi be the cubic model at w in W of the mean loss plus the
data-free (mu / 2) |w|^2. One step of noisy gradient descent on phi, projected on W, reads
g + H (theta - w) + data-free terms, of sensitivity S = (reach L0 + L1 D) / n; N steps with noise
N(0, N S^2 / (2 rho)) are rho-zCDP, and T models at rho / T each satisfy sqrt(2 rho)-Gaussian DP.

Where its hypotheses are enforced: the start and every theta are projected on W; N and mu are
functions of public numbers, and the noise is for the N that is run.

Source: Ganesh et al. (NeurIPS 2023), Algorithms 1 and 2. The printed noise lacks a factor 1 / n^2
and the printed weights do not sum to 1: see the deviations in the proof note.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from oracle_dp.errors import ParameterError
from oracle_dp.mechanisms import spending
from oracle_dp.noise import BitSource
from oracle_dp.points import start_point
from oracle_dp.privacy import Release
from oracle_dp.record_losses import LinearModelLoss, RecordLosses, require_bounded
from oracles.arrays import FloatArray
from oracles.convex.minimum import inside

MECHANISM = "cubic_newton"
THEOREM = "cubic Newton with a private sub-solver (docs/theory/second_order.md, Theorem 6)"


@dataclass(frozen=True, slots=True, kw_only=True)
class SubSolver:
    """Public constants of the sub-solver.

    Attributes:
        steps: N.
        scale: Standard deviation of the noise on each of its gradients.
        convexity: mu, at most the strong convexity of the model.
        radius: Of W.
        bend: L2, the Lipschitz constant of the records' curvature.
    """

    steps: int
    scale: float
    convexity: float
    radius: float
    bend: float

    @classmethod
    def calibrated(
        cls,
        losses: RecordLosses,
        *,
        rho: float,
        reach: int,
        radius: float,
        bend: float,
        convexity: float | None,
        most: int,
    ) -> SubSolver:
        """For one model at rho-zCDP."""
        across = 2 * radius
        sensitivity = (reach * losses.lipschitz + losses.smoothness * across) / losses.size
        mu = convexity
        if mu is None:
            # Where the ridge's own bias mu R^2 / 2 balances the bound 2 d S^2 / (mu rho).
            mu = 2 * sensitivity * math.sqrt(losses.dimension / rho) / radius
        largest = losses.lipschitz + losses.smoothness * across + bend * across**2 + mu * radius
        wanted = 2 * rho * (largest / sensitivity) ** 2 / losses.dimension
        n_steps = max(1, min(most, math.ceil(wanted)))
        return cls(
            steps=n_steps,
            scale=sensitivity * math.sqrt(n_steps / (2 * rho)),
            convexity=mu,
            radius=radius,
            bend=bend,
        )

    def weights(self) -> FloatArray:
        """Of the average over the iterates: ``2 (i + 1) / (N (N + 1))``, which sum to 1."""
        return 2 * np.arange(1.0, self.steps + 1) / (self.steps * (self.steps + 1))

    def solve(
        self, gradient: FloatArray, matrix: FloatArray, w: FloatArray, source: BitSource
    ) -> FloatArray:
        """A point of W whose model value is close to the least, rho-zCDP."""
        theta, average = w, np.zeros_like(w)
        for i, weight in enumerate(self.weights()):
            average += weight * theta
            step = theta - w
            slope = gradient + matrix @ step
            slope += self.bend / 2 * float(np.linalg.norm(step)) * step
            slope = spending.noisy(slope, self.scale, source)
            theta = inside(theta - 2 / (self.convexity * (i + 2)) * slope, self.radius)
        return average


def cubic_newton(
    losses: LinearModelLoss | RecordLosses,
    *,
    radius: float = 10.0,
    steps: int = 4,
    convexity: float | None = None,
    hessian_lipschitz: float | None = None,
    most_inner_steps: int = 2000,
    start: ArrayLike | None = None,
    **asked: Unpack[spending.Asked],
) -> Release[FloatArray]:
    """Release the last iterate of cubic-regularised Newton over a ball.

    Args:
        losses: The records' losses with their public constants.
        radius: Of the ball W about 0; public.
        steps: T.
        convexity: mu of the data-free ridge that is added to the loss. Default: balanced against
            the sub-solver's own error, from public numbers.
        hessian_lipschitz: L2 of the records' loss. Default: that of the margin loss.
        most_inner_steps: Limit on N.
        start: Public, pulled into the ball; default 0.
        **asked: Epsilon, delta, who pays and with what randomness:
            :class:`oracle_dp.mechanisms.spending.Asked`.

    Returns:
        w of shape ``(d,)`` with its guarantee, rho-zCDP included.

    Raises:
        ParameterError: A parameter is out of range or a constant infinite. Nothing is charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.
    """
    target = spending.read_target(asked)
    require_bounded(losses, target.neighbors, curvature=True)
    bend = hessian_lipschitz
    if bend is None and isinstance(losses, LinearModelLoss):
        bend = losses.problem.loss.hessian_lipschitz
    if bend is None or not 0 <= bend < math.inf:
        raise ParameterError("hessian_lipschitz: a finite bound is needed for this loss")
    total = spending.steps(steps)
    solver = SubSolver.calibrated(
        losses,
        rho=target.rho / total,
        reach=target.reach,
        radius=spending.positive("radius", radius),
        bend=bend,
        convexity=None if convexity is None else spending.positive("convexity", convexity),
        most=spending.steps(most_inner_steps),
    )
    w = inside(start_point(start, losses.dimension), solver.radius)
    target.charge(MECHANISM, rho=target.stated_rho)
    for _ in range(total):
        gradient, matrix = losses.second_order(w, "hessian")
        matrix[np.diag_indices_from(matrix)] += solver.convexity
        w = solver.solve(gradient + solver.convexity * w, matrix, w, target.source)
    return target.release(
        w,
        mechanism=MECHANISM,
        theorem=THEOREM,
        sensitivity=target.reach * losses.lipschitz + 2 * solver.radius * losses.smoothness,
        sensitivity_source=spending.gradient_source(losses),
        rho=target.stated_rho,
        conditions_of_mechanism=spending.vouched(losses),
    )
