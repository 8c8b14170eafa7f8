"""Compiled dual ascent for linear losses under rows that no base set holds."""

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
    duals: FloatArray,
    row_low: FloatArray,
    row_high: FloatArray,
    row_starts: IntArray,
    columns: IntArray,
    entries: FloatArray,
    reduced: FloatArray,
) -> float:
    """Subtract multiples of the rows from the costs; what the rows' sides are then worth."""
    constant = 0.0
    for r in range(len(duals)):
        y = duals[r]
        if y == 0.0:
            continue
        constant += y * (row_low[r] if y > 0 else row_high[r])
        for t in range(row_starts[r], row_starts[r + 1]):
            reduced[columns[t]] -= y * entries[t]
    return constant


@inner
def _ascend(
    duals: FloatArray,
    row_low: FloatArray,
    row_high: FloatArray,
    row_starts: IntArray,
    columns: IntArray,
    entries: FloatArray,
    means: FloatArray,
    unit: FloatArray,
    rate: float,
) -> None:
    """Move every multiplier towards the side that the means violate."""
    for r in range(len(duals)):
        activity = largest = 0.0
        for t in range(row_starts[r], row_starts[r + 1]):
            activity += entries[t] * means[columns[t]]
            largest = max(largest, abs(entries[t]))
        y = duals[r]
        # The side that the multiplier is on; at 0 the side that is violated.
        if y > 0 or (y == 0 and activity < row_low[r]):
            gap = row_low[r] - activity
        elif y < 0 or activity > row_high[r]:
            gap = row_high[r] - activity
        else:
            gap = 0.0
        moved = y + rate * unit[r] * max(-1.0, min(1.0, gap / largest if largest else 0.0))
        # A multiplier stops at 0 on its way to the other side.
        if y * moved < 0 or (moved > 0 and row_low[r] == -math.inf):
            moved = 0.0
        if moved < 0 and row_high[r] == math.inf:
            moved = 0.0
        duals[r] = moved


@kernel
def linear_duals(
    costs: FloatArray,
    column_lower: FloatArray,
    column_upper: FloatArray,
    place_of: IntArray,
    row_starts: IntArray,
    columns: IntArray,
    entries: FloatArray,
    row_low: FloatArray,
    row_high: FloatArray,
    beta: float,
    lower: IntArray,
    upper: IntArray,
    signed: FloatArray,
    starts: IntArray,
    low: FloatArray,
    high: FloatArray,
    thetas: FloatArray,
    duals: FloatArray,
    unit: FloatArray,
    steps: int,
    rate: float,
    decay: float,
    memory: float,
) -> FloatArray:
    """Improve row multipliers so that the envelope's sum gets small; heuristic, in floats.

    Args:
        costs: Of every column.
        column_lower: Bounds of every column, the node's for released ones.
        column_upper: Likewise.
        place_of: Place of every released column in the base set's layout; -1 for recourse.
        row_starts: The rows in compressed form.
        columns: Likewise.
        entries: Likewise.
        row_low: Their sides.
        row_high: Likewise.
        beta: Nats per unit of cost.
        lower: Bounds, sides and multipliers of the base set's own rows, as for ``tilt``.
        upper: Likewise.
        signed: Likewise.
        starts: Likewise.
        low: Likewise.
        high: Likewise.
        thetas: Likewise; a start.
        duals: Multiplier of every row, positive where the lower side binds: a start, and
            overwritten with the best found.
        unit: Length of a step of size 1, for every row.
        steps: Number of steps.
        rate: Size of the first step.
        decay: What the rate is multiplied by after each step.
        memory: Weight of earlier means in the running mean that steps follow.

    Returns:
        The means at the best duals, by place.
    """
    n, places = len(costs), len(lower)
    slopes, means, best_means = np.empty(places), np.empty(places), np.empty(places)
    running, reduced, current = np.zeros(n), np.empty(n), duals.copy()
    best = math.inf
    for step in range(steps + 1):
        reduced[:] = costs
        constant = _price(current, row_low, row_high, row_starts, columns, entries, reduced)
        for j in range(n):
            if place_of[j] >= 0:
                slopes[place_of[j]] = -beta * reduced[j]
            else:
                constant += reduced[j] * (column_lower[j] if reduced[j] > 0 else column_upper[j])
        value = tilt(slopes, lower, upper, signed, starts, low, high, thetas, means)
        value -= beta * constant
        if value < best:
            best = value
            best_means[:] = means
            duals[:] = current
        if step == steps:
            break
        keep = memory if step else 0.0
        for j in range(n):
            if place_of[j] >= 0:
                x = means[place_of[j]]
            else:
                x = column_lower[j] if reduced[j] > 0 else column_upper[j]
            running[j] = keep * running[j] + (1 - keep) * x
        _ascend(current, row_low, row_high, row_starts, columns, entries, running, unit, rate)
        rate *= decay
    return best_means
