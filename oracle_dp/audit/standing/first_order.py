"""Audits of noisy gradient descent, read off: gradients of two records that point apart.

At a start far to the left, the records ``(cos a, sin a)`` and ``(cos a, -sin a)``, with a nearly a
right angle, both have margins far below 0, where the logistic loss is a straight line: their
gradients have length 1 and nearly opposite directions, and no step changes them. The second
coordinate is then a sum of all noises, and of as many differences as there are steps.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from oracle_dp.audit.read_off import Law, Scripted, affine_law, exponential_word, law_epsilon
from oracle_dp.audit.standing import Audit, Method
from oracle_dp.errors import ParameterError
from oracle_dp.first_order import gd, sgd
from oracle_dp.record_losses import LinearModelLoss

EPSILON = 1.0
DELTA = 1e-3
START = (-1e6, 0.0)
STEP = 1e-3
ANGLE = math.acos(1e-4)
SLANTED = (math.cos(ANGLE), math.sin(ANGLE))
STEPS = 3
ROWS = 3


def audits() -> list[Audit]:
    """Over several full batches, and over one Poisson batch."""
    full = {
        gd.MECHANISM: partial(_descended, gd.gradient_descent),
        sgd.MECHANISM: partial(_descended, partial(sgd.stochastic_gradient_descent, batch=ROWS)),
    }
    found = [
        audit(mechanism, f"{STEPS} full batches", partial(_measure, run))
        for mechanism, run in full.items()
    ]
    return [*found, audit(sgd.MECHANISM, "one Poisson batch", _sampled)]


def audit(mechanism: str, variant: str, measure: Callable[[], float]) -> Audit:
    """An audit of the module's epsilon and delta whose measurement needs no seed."""
    return Audit(
        mechanism=mechanism,
        variant=variant,
        claimed=EPSILON,
        delta=DELTA,
        method=Method.EXACT,
        measure=lambda _seed: measure(),
    )


def records(sign: int, rows: int) -> LinearModelLoss:
    """One record that pulls up or down, and rows of zeros, which have no gradient."""
    features = np.zeros((rows, 2))
    features[0] = SLANTED[0], sign * SLANTED[1]
    return LinearModelLoss.from_data(features, np.ones(rows))


def _descended(
    method: Callable[..., Any], sign: int, source: Scripted, *, steps: int = STEPS, rows: int = ROWS
) -> float:
    release = method(
        records(sign, rows),
        epsilon=EPSILON,
        delta=DELTA,
        steps=steps,
        step_size=STEP,
        start=START,
        random_state=source,
    )
    return float(release.value[1])


def _measure(run: Callable[[int, Scripted], float]) -> float:
    # Two coordinates a step; the first does not matter.
    first, second = (affine_law(partial(run, sign), 2 * STEPS) for sign in (1, -1))
    return law_epsilon(first, second, delta=DELTA)


def _sampled() -> float:
    """Two rows and an expected batch of one: every batch that can be drawn, with its law."""
    run = partial(_descended, partial(sgd.stochastic_gradient_descent, batch=1), steps=1, rows=2)
    first, second = (_mixture(partial(run, sign)) for sign in (1, -1))
    return law_epsilon(first, second, delta=DELTA)


def _mixture(run: Callable[[Scripted], float]) -> Law:
    """Both rows are drawn with probability a half each, which is looked at, too."""
    rate = math.log(2)
    parts = [
        affine_law(run, 2, before=_gaps(batch, rate))
        for batch in itertools.product((False, True), repeat=2)
    ]
    # An exponential of the rate parts a gap of none from a gap of one: the record, from the zeros.
    ends = [
        affine_law(
            run, 2, before=[exponential_word(rate * (1 + off)), *_gaps((False, False), rate)]
        )
        for off in (-1e-9, 1e-9)
    ]
    apart = abs(float(ends[0].locations[0] - ends[1].locations[0]))
    pulled = max(abs(float(part.locations[0] - parts[0].locations[0])) for part in parts)
    scales = [part.scale for part in parts]
    if not (math.isclose(apart, pulled, rel_tol=1e-6) and math.isclose(min(scales), max(scales))):
        raise ParameterError("run: its batches are not the ones that were scripted")
    locations = np.concatenate([part.locations for part in parts])
    return Law(locations, scales[0], np.full(4, 0.25), slack=parts[0].slack)


WORDS = 13
"""That one round of gaps takes for two rows."""


def _gaps(batch: tuple[bool, ...], rate: float) -> list[int]:
    """Words for a Poisson batch: gaps between its members, in the middle of their ranges."""
    places = [i for i, drawn in enumerate(batch) if drawn]
    gaps = [after - before - 1 for before, after in itertools.pairwise([-1, *places])]
    middle = [exponential_word((gap + 0.5) * rate) for gap in gaps]
    return middle + [exponential_word(40 * rate)] * (WORDS - len(middle))
