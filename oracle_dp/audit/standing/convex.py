"""Audits of private logistic regression, read off: one feature, one record is zeroed.

Many records pull the weight far down, where the one that is zeroed would pull it up with all the
slope that it may have. The minimum is monotone in the noise of the linear term; the noise on the
output is small, and whatever it is, it is taken off the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import binom

from oracle_dp.audit.read_off import (
    Law,
    Scripted,
    exponential_word,
    laplace_tail,
    laplace_word,
    law_epsilon,
    normal_tail,
    normal_word,
    steered_epsilon,
)
from oracle_dp.audit.standing import Audit, Method
from oracle_dp.mechanisms import (
    approximate_objective,
    classical_objective,
    gaussian_objective,
    opsamp,
)
from oracle_dp.record_losses import LinearModelLoss
from oracles import Certificate, Solution, Status
from oracles.arrays import FloatArray
from oracles.convex import Logistic, MeanLoss, Rows

EPSILON = 1.0
DELTA = 1e-3
TIGHT_DELTA = 1e-10
"""Where approximate minima perturbation is not far from tight: its tail bounds are loose."""

ROWS = 10_000


def audits() -> list[Audit]:
    """The three objective perturbations, and the average of sampled minima."""
    gaussian, approximate = gaussian_objective, approximate_objective
    return [
        _audit(gaussian.MECHANISM, DELTA, partial(_gaussian, gaussian.gaussian_objective, DELTA)),
        _audit(
            *(approximate.MECHANISM, TIGHT_DELTA),
            partial(_gaussian, approximate.approximate_objective, TIGHT_DELTA),
        ),
        _audit(classical_objective.MECHANISM, 0.0, _classical),
        _audit(opsamp.MECHANISM, SAMPLED_DELTA, _sampled),
    ]


def _audit(mechanism: str, delta: float, measure: Callable[[], float]) -> Audit:
    return Audit(
        mechanism=mechanism,
        variant="one record",
        claimed=EPSILON,
        delta=delta,
        method=Method.EXACT,
        measure=lambda _seed: measure(),
    )


def records(kept: bool) -> LinearModelLoss:
    """One record that pulls up, or zeros in its place, and all others that pull down."""
    rows = Rows(np.array([[float(kept)], [-1.0]]), weights=np.array([1.0, ROWS - 1.0]))
    problem = MeanLoss(rows=rows, loss=Logistic(), divisor=float(ROWS))
    return LinearModelLoss(problem=problem, size=ROWS, size_is_public=False, clipped=0)


def _released(method: Callable[..., Any], kept: bool, words: Sequence[int], **more: Any) -> float:
    release = method(
        records(kept),
        epsilon=EPSILON,
        neighbors="zero_out",
        random_state=Scripted(words),
        **more,
    )
    return float(release.value[0])


def _gaussian(method: Callable[..., Any], delta: float) -> float:
    def steered(kept: bool, z: float, rest: float) -> float:
        words = [normal_word(z), normal_word(8 * rest)]
        return _released(method, kept, words, delta=delta)

    first, second = (partial(steered, kept) for kept in (True, False))
    return steered_epsilon(first, second, delta=delta, tail=normal_tail)


def _classical() -> float:
    """In one dimension its noise is Laplace's: a length, and a sign."""

    def vector(z: float) -> list[int]:
        return [exponential_word(abs(z)), normal_word(math.copysign(1.0, z))]

    def steered(kept: bool, z: float, rest: float) -> float:
        words = [*vector(z), *vector(36 * rest)]
        return _released(classical_objective.classical_objective, kept, words)

    first, second = (partial(steered, kept) for kept in (True, False))
    return steered_epsilon(first, second, delta=0.0, reach=12.0, tail=laplace_tail)


SAMPLED_DELTA = 0.05
CALLS = 4_000
TILT, SHIFT = 1.0, 0.25
"""Scale of the tilts, and by how much one record changes the slope."""


@dataclass(frozen=True)
class Slope:
    """The loss ``slope w`` over [-1, 1]: its minimum is an end, which the tilt decides."""

    slope: float
    dimension = 1
    diameter = 2.0
    is_convex = False
    sides = np.array([2.0])

    def minimize(self, tilt: FloatArray) -> Solution[FloatArray]:
        """Exactly."""
        point = np.where(tilt > self.slope, 1.0, -1.0)
        least = float((self.slope - tilt) @ point)
        return Solution(Status.OPTIMAL, point, least, least, Certificate.EXACT, "by hand")


def _sampled() -> float:
    """Without the record all minima are 1; with it so many are -1 as tilts are below its slope."""

    def released(slope: float, source: Scripted) -> float:
        release = opsamp.opsamp(
            Slope(slope),
            epsilon=EPSILON,
            delta=SAMPLED_DELTA,
            oscillation=2 * SHIFT,
            size=1,
            calls=CALLS,
            scale=TILT,
            gap=1e-12,
            neighbors="zero_out",
            random_state=source,
        )
        return float(release.value.point[0])

    def read(slope: float, low: int, side: int) -> tuple[float, float]:
        """The average and the scale of its noise, from noise that leads back into the set."""
        tilts = [exponential_word(SHIFT / 2)] * low + [exponential_word(2.0)] * (CALLS - low)
        near, far = (
            released(slope, Scripted([*tilts, laplace_word(side * z)])) for z in (0.5, 0.75)
        )
        return near - 2 * (far - near), 4 * abs(far - near)

    highest, scale = read(0.0, 0, -1)
    ends = read(SHIFT, 0, -1)[0], read(SHIFT, CALLS, 1)[0]
    weights = binom.pmf(np.arange(CALLS + 1), CALLS, -math.expm1(-SHIFT / TILT))
    without = Law(np.array([highest]), scale, tail=laplace_tail)
    with_it = Law(np.linspace(*ends, CALLS + 1), scale, weights, tail=laplace_tail)
    # Beyond the set there are no outputs: they are clipped.
    return law_epsilon(without, with_it, delta=SAMPLED_DELTA, within=(-1.0, 1.0))
