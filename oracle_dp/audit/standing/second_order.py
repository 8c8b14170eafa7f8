"""Audits of second-order methods, read off: every noise by itself, made to be the one that counts.

A run's noises hide each other, so an audit picks public settings under which all but one noise are
negligible: nearly the whole budget is the gradient's, or the matrix's, or the direction's. Losses
are the worst there can be: gradients and curvatures do not depend on w, and the last record's are
as far from its neighbour's as the constants allow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from oracle_dp.audit.read_off import Scripted, affine_law, law_epsilon
from oracle_dp.audit.standing import Audit, first_order
from oracle_dp.audit.standing.first_order import DELTA, EPSILON, audit
from oracle_dp.record_losses import LinearModelLoss
from oracle_dp.second_order import cubic, damped, double_noise, minibatch, preconditioned
from oracle_dp.second_order.double_noise import DoubleNoise
from oracles.arrays import FloatArray
from oracles.convex import Logistic, MeanLoss, Rows
from oracles.convex.objective import Curvature

STEPS = 2
MOST, LEAST = 0.999, 0.001
"""Shares of the budget: the noise that counts, and all others."""

CURVED = 0.25
"""L1 and tau: one record's curvature, in one dimension."""

TOLERANCE = 0.005
"""In standard deviations: what other noises and bends do to an output that is nearly affine."""


@dataclass(frozen=True)
class Flat:
    """Losses in one dimension with the same derivatives everywhere, over ``size`` records.

    Attributes:
        slopes: Sum of all records' gradients.
        curvatures: Sum of all records' curvatures.
        size: n.
    """

    slopes: float
    curvatures: float
    size: int
    dimension = 1
    size_is_public = True
    lipschitz = 1.0
    smoothness = CURVED
    curvature_trace = CURVED

    def gradient(self, w: FloatArray) -> FloatArray:
        """The same at every w."""
        return np.array([self.slopes / self.size])

    def second_order(self, w: FloatArray, curvature: Curvature) -> tuple[FloatArray, FloatArray]:
        """The same at every w."""
        return self.gradient(w), np.array([[self.curvatures / self.size]])


GRADIENTS = tuple(Flat(slope, CURVED * 1e6, 10**6) for slope in (1.0, -1.0))
"""One record's gradient is replaced by its opposite; curvatures are large."""

MATRICES = tuple(Flat(-1e8, 1e4 + curved, 10**8) for curved in (0.0, CURVED))
"""One record's curvature is zeroed; gradients are large, and other curvatures small."""

DIRECTIONS = tuple(Flat(-1e6, curved, 10**6) for curved in (0.0, CURVED))
"""One record has all there is of curvature, or a record without any takes its place."""


@dataclass(frozen=True)
class Case:
    """A noise that is audited.

    Attributes:
        mechanism: Whose.
        noise: Which of its noises.
        pair: Losses of neighbours.
        noises: How many numbers a run draws.
        method: The mechanism with its public settings.
    """

    mechanism: str
    noise: str
    pair: tuple[Any, ...]
    noises: int
    method: Callable[..., Any]

    def measure(self) -> float:
        """A lower bound on epsilon."""
        first, second = (
            affine_law(partial(self._released, losses), self.noises, tolerance=TOLERANCE)
            for losses in self.pair
        )
        return law_epsilon(first, second, delta=DELTA)

    def _released(self, losses: Any, source: Scripted) -> float:
        release = self.method(losses, epsilon=EPSILON, delta=DELTA, random_state=source)
        return float(release.value[-1])


def audits() -> list[Audit]:
    """One for each noise that a method adds; only the trace's cannot be told from the others."""
    return [audit(case.mechanism, case.noise, case.measure) for case in _cases()]


def _cases() -> list[Case]:
    def doubly(share: float, floor: float) -> Callable[..., Any]:
        settings = DoubleNoise(steps=STEPS, gradient_share=share, floor=floor)
        return partial(double_noise.double_noise_newton, settings=settings)

    def damping(share: float, **more: Any) -> Callable[..., Any]:
        return partial(damped.damped_newton, steps=STEPS, gradient_share=share, **more)

    def conditioned(share: float, **more: Any) -> Callable[..., Any]:
        descent = preconditioned.preconditioned_descent
        return partial(descent, steps=STEPS, matrices=1, matrix_share=share, **more)

    def batched(floor: float, rows: int, **more: Any) -> Callable[..., Any]:
        start = first_order.START
        newton = minibatch.minibatch_newton
        return partial(
            newton, steps=1, batch=rows, curvature="hessian", floor=floor, start=start, **more
        )

    # Steps are so short that the ball's surface and the curvature are far away.
    inner = partial(
        cubic.cubic_newton,
        steps=1,
        radius=1e-3,
        convexity=1e9,
        hessian_lipschitz=0.0,
        most_inner_steps=INNER,
    )
    few = tuple(first_order.records(sign, first_order.ROWS) for sign in (1, -1))
    many = tuple(_flat_rows(first) for first in ((0.0, 1.0), (0.0, 0.0)))
    zero_out = {"neighbors": "zero_out"}
    return [
        Case(double_noise.MECHANISM, "gradient", GRADIENTS, 2 * STEPS, doubly(MOST, 100.0)),
        Case(double_noise.MECHANISM, "direction", DIRECTIONS, 2 * STEPS, doubly(LEAST, 1e-6)),
        Case(damped.MECHANISM, "gradient", GRADIENTS, 2 * STEPS, damping(MOST)),
        Case(damped.MECHANISM, "matrix", MATRICES, 2 * STEPS, damping(LEAST, **zero_out)),
        Case(preconditioned.MECHANISM, "gradient", GRADIENTS, 1 + STEPS, conditioned(LEAST)),
        Case(
            preconditioned.MECHANISM, "matrix", MATRICES, 1 + STEPS, conditioned(MOST, **zero_out)
        ),
        Case(cubic.MECHANISM, "gradient", GRADIENTS, INNER, inner),
        Case(minibatch.MECHANISM, "gradient", few, 4, batched(1e6, first_order.ROWS)),
        Case(minibatch.MECHANISM, "direction", many, 4, batched(1e-6, ROWS, **zero_out)),
    ]


INNER, ROWS = 8, 10_000


def _flat_rows(first: tuple[float, float]) -> LinearModelLoss:
    """A row, and many whose loss is a straight line, with gradients downwards."""
    rows = Rows(np.array([first, first_order.SLANTED]), weights=np.array([1.0, ROWS - 1.0]))
    problem = MeanLoss(rows=rows, loss=Logistic(), divisor=float(ROWS))
    return LinearModelLoss(problem=problem, size=ROWS, size_is_public=False, clipped=0)
