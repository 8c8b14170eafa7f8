"""Newton's method with a line search, over R^d or a ball: a pass over the rows a step."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from oracles.arrays import FloatArray, vector
from oracles.convex.minimum import ConvexMinimum, certified, inside, require_smooth, residual
from oracles.convex.objective import Expansion, MeanLoss

_DECREASE = 1e-4
_RISE = 1e-12
"""Of the objective by rounding, relatively: less is no reason to shorten a step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Newton:
    """Minimise a smooth convex mean loss to a stated gradient norm.

    Each step minimises the quadratic model over the ball exactly (an eigenvalue decomposition and
    one root), then searches the segment. Deterministic: equal problems get equal answers.

    Args:
        tolerance: The gradient norm to reach, rounding included; positive.
        radius: Of the ball about 0; infinite for all of R^d.
        max_iterations: After which the answer is ``STOPPED``, with the bounds that hold there.
    """

    tolerance: float = 1e-10
    radius: float = math.inf
    max_iterations: int = 200

    @property
    def name(self) -> str:
        """As guarantees cite it."""
        return "Newton"

    def minimize(self, problem: MeanLoss, *, start: ArrayLike | None = None) -> ConvexMinimum:
        """Minimise a problem.

        Args:
            problem: With a smooth, convex loss.
            start: Where to begin, shape ``(d,)``; default 0. Pulled into the ball.

        Raises:
            ProblemError: The loss is not smooth and convex, or a parameter is out of range.
        """
        require_smooth(problem, self.radius, self.tolerance)
        w = inside(vector("start", start, problem.dimension, 0.0), self.radius)
        near = problem.expansion(w)
        done = 0
        for done in range(self.max_iterations + 1):
            length = residual(near.gradient, w, self.radius)
            if length + problem.rounding(w) <= self.tolerance or done == self.max_iterations:
                break
            step = model_minimum(near.gradient, near.matrix, w, self.radius) - w
            found = _search(problem, w, near, step, self.radius)
            if found is None:
                break
            w, near = found
        return certified(
            problem,
            w,
            radius=self.radius,
            tolerance=self.tolerance,
            iterations=done,
            oracle=self.name,
        )


def model_minimum(
    gradient: FloatArray, hessian: FloatArray, w: FloatArray, radius: float
) -> FloatArray:
    """The least ``<gradient, v - w> + (v - w)' hessian (v - w) / 2`` over ``|v| <= radius``."""
    eigenvalues, vectors = scipy.linalg.eigh(hessian)
    floor = max(float(eigenvalues[-1]), 1e-300) * 1e-14
    held = np.maximum(eigenvalues, floor)
    target = vectors.T @ (hessian @ w - gradient)

    def point(shift: float) -> FloatArray:
        return np.asarray(target / (held + shift))

    if not math.isfinite(radius) or float(np.linalg.norm(point(0.0))) <= radius:
        return (
            np.asarray(w - vectors @ ((vectors.T @ gradient) / held))
            if not math.isfinite(radius)
            else np.asarray(vectors @ point(0.0))
        )
    high = float(np.linalg.norm(target)) / radius
    shift = brentq(
        lambda s: 1 / radius - 1 / max(float(np.linalg.norm(point(s))), 1e-300),
        0.0,
        high,
        xtol=1e-300,
        rtol=1e-15,
        maxiter=500,
    )
    return np.asarray(vectors @ point(float(shift)))


def _search(
    problem: MeanLoss, w: FloatArray, near: Expansion, step: FloatArray, radius: float
) -> tuple[FloatArray, Expansion] | None:
    """A point on the segment with enough decrease, and what is known there; None if none is found.

    The whole step is nearly always good enough, so derivatives there are taken in the same pass.
    """
    slope, slack = float(near.gradient @ step), _RISE * max(1.0, abs(near.value))
    fraction = 1.0
    for _ in range(60):
        moved = inside(w + fraction * step, radius)
        there = problem.expansion(moved) if fraction == 1.0 else None
        new = problem.value(moved) if there is None else there.value
        if new <= near.value + _DECREASE * fraction * slope + slack:
            return moved, there or problem.expansion(moved)
        fraction /= 2
    return None
