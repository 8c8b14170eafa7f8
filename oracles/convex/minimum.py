"""What a convex oracle answers: a point, and what its gradient proves about it.

Theorem. Let F be mu-strongly convex (mu >= 0) and differentiable, and W all of R^d or a ball of
radius R about 0. Let r be the shortest vector in ``grad F(w) + N_W(w)``, N_W the normal cone: the
gradient, or on the sphere the gradient less its part along -w. Then with g = |r|

    F(w) - min_W F  <=  min(g^2 / (2 mu), 2 R g),        |w - argmin_W F|  <=  g / mu.

Proof. For v in W, F(v) >= F(w) + <grad F(w), v - w> + (mu / 2) |v - w|^2, and r - grad F(w) in the
normal cone gives <grad F(w), v - w> >= <r, v - w>. Minimise over |v - w|, which is at most 2 R. For
the distance: -grad F(w*) is in N_W(w*) and r - grad F(w) in N_W(w), so by monotonicity
mu |w - w*|^2 <= <r, w - w*>. QED
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from oracles.arrays import FloatArray
from oracles.convex.objective import MeanLoss
from oracles.errors import ProblemError
from oracles.solution import Certificate, Solution, Status


@dataclass(frozen=True, eq=False, kw_only=True)
class ConvexMinimum:
    """A point with the bounds of the theorem above.

    Attributes:
        status: ``OPTIMAL``: the stated gradient norm was reached; ``STOPPED``: it was not.
        value: The point, shape ``(d,)``.
        objective: The objective there.
        gradient_norm: g, with a bound on the rounding of the gradient added.
        suboptimality: The theorem's bound on objective minus minimum; infinite without one.
        distance: The theorem's bound on the distance to the minimiser; infinite without one.
        iterations: How many were made.
        oracle: Which oracle.
    """

    status: Status
    value: FloatArray
    objective: float
    gradient_norm: float
    suboptimality: float
    distance: float
    iterations: int
    oracle: str

    @property
    def solution(self) -> Solution[FloatArray]:
        """The same as every oracle answers."""
        bounded = math.isfinite(self.suboptimality)
        return Solution(
            status=self.status,
            value=self.value,
            objective=self.objective,
            bound=self.objective - self.suboptimality if bounded else -math.inf,
            certificate=Certificate.BOUNDED if bounded else Certificate.NONE,
            oracle=self.oracle,
        )


def require_smooth(problem: MeanLoss, radius: float, tolerance: float) -> None:
    """Refuse what the theorem or the oracles cannot serve.

    Raises:
        ProblemError: The loss is not convex or not smooth, or a parameter is out of range.
    """
    if not (problem.loss.is_convex and math.isfinite(problem.loss.smoothness)):
        raise ProblemError(
            f"loss: {problem.loss.name} is not smooth and convex; minimise it over a box by "
            "hinge_program or ramp_program"
        )
    if not (radius > 0) or not (0 < tolerance < math.inf):
        raise ProblemError("radius and tolerance must be positive")


def inside(w: FloatArray, radius: float) -> FloatArray:
    """The nearest point of the ball about 0."""
    size = float(np.linalg.norm(w))
    return w if size <= radius else w * (radius / size)


def residual(gradient: FloatArray, w: FloatArray, radius: float) -> float:
    """The length g of the theorem."""
    size = float(np.linalg.norm(w))
    # Just inside the sphere counts as on it: rounding would make N_W jump otherwise.
    if size < radius * (1 - 1e-12):
        return float(np.linalg.norm(gradient))
    along = float(gradient @ w) / size
    return float(np.linalg.norm(gradient - min(0.0, along) * w / size))


def certified(
    problem: MeanLoss,
    w: FloatArray,
    *,
    radius: float,
    tolerance: float,
    iterations: int,
    oracle: str,
) -> ConvexMinimum:
    """The point with its proof, computed from the problem's data alone."""
    there = problem.expansion(w, curvature=None)
    length = residual(there.gradient, w, radius) + problem.rounding(w)
    mu = problem.ridge
    reach = 2 * radius * length if math.isfinite(radius) else math.inf
    strong = length**2 / (2 * mu) if mu > 0 else math.inf
    return ConvexMinimum(
        status=Status.OPTIMAL if length <= tolerance else Status.STOPPED,
        value=w,
        objective=there.value,
        gradient_norm=length,
        suboptimality=min(strong, reach),
        distance=length / mu if mu > 0 else math.inf,
        iterations=iterations,
        oracle=oracle,
    )
