"""Accelerated gradient descent with restarts, over R^d or a ball: memory O(d), for many columns."""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from oracles.arrays import FloatArray, vector
from oracles.convex.minimum import ConvexMinimum, certified, inside, require_smooth, residual
from oracles.convex.objective import MeanLoss


@dataclass(frozen=True, slots=True, kw_only=True)
class Gradient:
    """Minimise a smooth convex mean loss to a stated gradient norm, without any d x d matrix.

    Nesterov's acceleration with the step 1 / L, L = smoothness * mean |z|^2 + ridge, started anew
    whenever the momentum points uphill (O'Donoghue and Candes 2015). Deterministic.

    Args:
        tolerance: The gradient norm to reach, rounding included; positive.
        radius: Of the ball about 0; infinite for all of R^d.
        max_iterations: After which the answer is ``STOPPED``, with the bounds that hold there.
    """

    tolerance: float = 1e-8
    radius: float = math.inf
    max_iterations: int = 100_000

    @property
    def name(self) -> str:
        """As guarantees cite it."""
        return "Gradient"

    def minimize(self, problem: MeanLoss, *, start: ArrayLike | None = None) -> ConvexMinimum:
        """Minimise a problem; as :meth:`oracles.convex.Newton.minimize`.

        Raises:
            ProblemError: The loss is not smooth and convex, or a parameter is out of range.
        """
        require_smooth(problem, self.radius, self.tolerance)
        w = inside(vector("start", start, problem.dimension, 0.0), self.radius)
        curvature = problem.loss.smoothness * problem.mean_square + problem.ridge
        step = 1.0 / max(curvature, 1e-300)
        ahead, momentum, done = w, 1.0, 0
        for done in range(self.max_iterations + 1):
            gradient = problem.gradient(ahead)
            if (done % 10 == 0 and self._reached(problem, w)) or done == self.max_iterations:
                break
            moved = inside(ahead - step * gradient, self.radius)
            if float((ahead - moved) @ (moved - w)) > 0:
                momentum, moved = 1.0, inside(w - step * problem.gradient(w), self.radius)
            following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
            ahead = moved + (momentum - 1) / following * (moved - w)
            w, momentum = moved, following
        return certified(
            problem,
            w,
            radius=self.radius,
            tolerance=self.tolerance,
            iterations=done,
            oracle=self.name,
        )

    def _reached(self, problem: MeanLoss, w: FloatArray) -> bool:
        length = residual(problem.gradient(w), w, self.radius)
        return length + problem.rounding(w) <= self.tolerance
