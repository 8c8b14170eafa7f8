"""Compiled dual ascent for rules that count how many chosen tests are positive."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from oracles.selection._kernels import tilt
from oracles.zero_one._compile import inner, kernel

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@inner
def _price(
    row_starts: IntArray,
    tests: IntArray,
    needed: IntArray,
    room: IntArray,
    positive: IntArray,
    negative: IntArray,
    place_of: IntArray,
    up: FloatArray,
    down: FloatArray,
    slopes: FloatArray,
) -> float:
    """The minorant of some shares: its slopes by place, and its constant."""
    slopes[:] = 0.0
    constant = 0.0
    for i in range(len(needed)):
        if needed[i] == 0:
            continue
        pull = positive[i] * up[i] / needed[i]
        push = negative[i] * down[i] / room[i]
        constant += pull * needed[i] - push * (needed[i] - 1)
        for t in range(row_starts[i], row_starts[i + 1]):
            if place_of[tests[t]] >= 0:
                slopes[place_of[tests[t]]] += push - pull
    return constant


@inner
def _ascend(
    row_starts: IntArray,
    tests: IntArray,
    needed: IntArray,
    room: IntArray,
    place_of: IntArray,
    means: FloatArray,
    rate: float,
    up: FloatArray,
    down: FloatArray,
) -> None:
    """Move every row's shares by how far its mean score is on either side of the threshold."""
    for i in range(len(needed)):
        if needed[i] == 0:
            continue
        score = 0.0
        for t in range(row_starts[i], row_starts[i + 1]):
            if place_of[tests[t]] >= 0:
                score += means[place_of[tests[t]]]
        short = max(-1.0, 1 - score / needed[i])
        over = min(1.0, (score - needed[i] + 1) / room[i])
        up[i] = max(0.0, min(1.0, up[i] + rate * short))
        down[i] = max(0.0, min(1.0, down[i] + rate * over))


@kernel
def rule_duals(
    row_starts: IntArray,
    tests: IntArray,
    needed: IntArray,
    room: IntArray,
    positive: IntArray,
    negative: IntArray,
    place_of: IntArray,
    beta: float,
    lower: IntArray,
    upper: IntArray,
    signed: FloatArray,
    starts: IntArray,
    low: FloatArray,
    high: FloatArray,
    thetas: FloatArray,
    up: FloatArray,
    down: FloatArray,
    steps: int,
    rate: float,
    decay: float,
    memory: float,
) -> FloatArray:
    """Improve the shares of positive and of negative rows; heuristic, in floats.

    Args:
        row_starts: Where every row's tests begin.
        tests: The tests that are positive on a row, row by row.
        needed: How many more chosen tests make the rule positive on a row; 0 for a settled row.
        room: By how much their number can exceed ``needed - 1``; 0 for a settled row.
        positive: Positive records of every row.
        negative: Negative ones.
        place_of: Place of every free test in the base set's layout, -1 for the others.
        beta: Nats per error.
        lower: Bounds, sides and multipliers as for ``tilt``.
        upper: Likewise.
        signed: Likewise.
        starts: Likewise.
        low: Likewise.
        high: Likewise.
        thetas: Likewise; a start.
        up: Share in [0, 1] of every row's positive records: a start, and overwritten.
        down: Of its negative ones.
        steps: Number of steps.
        rate: Size of the first step.
        decay: What the rate is multiplied by after each step.
        memory: Weight of earlier means in the running mean that steps follow.

    Returns:
        The means at the best shares, by place.
    """
    n = len(lower)
    slopes, means, best_means, running = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    current_up, current_down = up.copy(), down.copy()
    best = math.inf
    for step in range(steps + 1):
        constant = _price(
            row_starts, tests, needed, room, positive, negative, place_of, current_up,
            current_down, slopes,
        )  # fmt: skip
        for place in range(n):
            slopes[place] *= -beta
        value = tilt(slopes, lower, upper, signed, starts, low, high, thetas, means)
        value -= beta * constant
        if value < best:
            best = value
            best_means[:] = means
            up[:] = current_up
            down[:] = current_down
        if step == steps:
            break
        keep = memory if step else 0.0
        for place in range(n):
            running[place] = (keep * running[place] if step else 0.0) + (1 - keep) * means[place]
        _ascend(row_starts, tests, needed, room, place_of, running, rate, current_up, current_down)
        rate *= decay
    return best_means
