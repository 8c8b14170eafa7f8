"""Compiled sums over base sets: an upper bound by tilting, and exact tables in logarithms.

Log-weights are linear: value v of the variable at a place weighs ``slopes[place] * v``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from oracles.zero_one._compile import inner, kernel

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

NEWTON_STEPS = 60


@inner
def _moments(
    slope: float,
    low: int,
    high: int,
) -> tuple[float, float, float]:
    """Log-sum, mean and variance of ``exp(slope v)`` over the integers low..high."""
    top = slope * (high if slope > 0 else low)
    total = mean = square = 0.0
    for v in range(low, high + 1):
        weight = math.exp(slope * v - top)
        total += weight
        mean += weight * v
        square += weight * v * v
    mean /= total
    return top + math.log(total), mean, max(0.0, square / total - mean * mean)


@inner
def _tilted(
    slopes: FloatArray,
    lower: IntArray,
    upper: IntArray,
    signed: FloatArray,
    first: int,
    last: int,
    theta: float,
    means: FloatArray,
) -> tuple[float, float, float]:
    """Log-sum of a block with slopes ``slope - theta * signed``; its row's mean and variance."""
    total = activity = spread = 0.0
    for place in range(first, last):
        a = signed[place]
        log_sum, mean, variance = _moments(slopes[place] - theta * a, lower[place], upper[place])
        means[place] = mean
        total += log_sum
        activity += a * mean
        spread += a * a * variance
    return total, activity, spread


@inner
def _solve_row(
    slopes: FloatArray,
    lower: IntArray,
    upper: IntArray,
    signed: FloatArray,
    first: int,
    last: int,
    theta: float,
    target: float,
    means: FloatArray,
) -> tuple[float, float]:
    """A multiplier at which a block's row has about the mean ``target``, and the log-sum there.

    Newton's method between bounds; ``theta`` is a start of the right sign.
    """
    begin = 0.0 if theta > 0 else -math.inf
    end = math.inf if theta > 0 else 0.0
    log_sum = 0.0
    for _ in range(NEWTON_STEPS):
        log_sum, activity, spread = _tilted(slopes, lower, upper, signed, first, last, theta, means)
        error = activity - target
        if abs(error) <= 1e-4:
            break
        if error > 0:
            begin = theta
        else:
            end = theta
        step = theta + error / spread if spread > 1e-9 else math.inf
        if begin < step < end and abs(step - theta) < 4 * abs(theta) + 1:
            theta = step
        elif end == math.inf:
            theta = 2 * theta + 1
        elif begin == -math.inf:
            theta = 2 * theta - 1
        else:
            theta = 0.5 * (begin + end)
        if end - begin < 1e-12 * abs(theta):
            break
    return theta, log_sum


@inner
def tilt(
    slopes: FloatArray,
    lower: IntArray,
    upper: IntArray,
    signed: FloatArray,
    starts: IntArray,
    low: FloatArray,
    high: FloatArray,
    thetas: FloatArray,
    means: FloatArray,
) -> float:
    """Bound the log-sum over the base set by dualising every block's row.

    Args:
        slopes: Log-weight per unit, at every place.
        lower: Bounds of the node, at every place.
        upper: Likewise.
        signed: Coefficients, at every place.
        starts: First place of every block.
        low: Sides of the rows; infinite for none.
        high: Likewise.
        thetas: Multipliers of the rows: a start, and overwritten.
        means: Overwritten with the means of the variables.

    Returns:
        An upper bound, up to rounding.
    """
    total = 0.0
    for b in range(len(low)):
        first, last = starts[b], starts[b + 1]
        log_sum, activity, _ = _tilted(slopes, lower, upper, signed, first, last, 0.0, means)
        target = min(max(activity, low[b]), high[b])
        theta = 0.0
        if target != activity:
            theta = thetas[b]
            if theta == 0.0 or (theta > 0.0) != (target < activity):
                theta = 1.0 if target < activity else -1.0
            theta, log_sum = _solve_row(
                slopes, lower, upper, signed, first, last, theta, target, means
            )
            log_sum += theta * target
        thetas[b] = theta
        total += log_sum
    return total


@kernel
def soft_means(
    slopes: FloatArray,
    lower: IntArray,
    upper: IntArray,
    signed: FloatArray,
    starts: IntArray,
    low: FloatArray,
    high: FloatArray,
    thetas: FloatArray,
    means: FloatArray,
) -> float:
    """:func:`tilt` for Python."""
    return tilt(slopes, lower, upper, signed, starts, low, high, thetas, means)


@kernel
def fill_table(
    weights: FloatArray,
    offsets: IntArray,
    moves: IntArray,
    least: int,
    last: FloatArray,
    margin: float,
    table: FloatArray,
) -> float:
    """Log-sums of one block over what is still to be chosen, for every place and sum so far.

    Args:
        weights: Log-weight of every value of every place, places one after another; 0 for an only
            value.
        offsets: Where each place's values begin, and the number of values.
        moves: What each value adds to the sum.
        least: Least allowed sum.
        last: Log-weight of every allowed final sum, shape ``(sums,)``.
        margin: Added at every place.
        table: Overwritten, shape ``(places + 1, sums)``.
    """
    n, sums = table.shape[0] - 1, table.shape[1]
    for s in range(sums):
        table[n, s] = last[s] if s >= least else -math.inf
    for i in range(n - 1, -1, -1):
        if offsets[i + 1] - offsets[i] == 1:
            # Exactly what follows, so that nothing needs to be chosen here.
            move = moves[offsets[i]]
            for s in range(sums):
                table[i, s] = table[i + 1, s + move] if s + move < sums else -math.inf
            continue
        for s in range(sums):
            top = -math.inf
            for k in range(offsets[i], offsets[i + 1]):
                after = s + moves[k]
                if after < sums:
                    top = max(top, weights[k] + table[i + 1, after])
            if top == -math.inf:
                table[i, s] = top
                continue
            total = 0.0
            for k in range(offsets[i], offsets[i + 1]):
                after = s + moves[k]
                if after < sums:
                    total += math.exp(weights[k] + table[i + 1, after] - top)
            table[i, s] = top + math.log(total) + margin
    return float(table[0, 0])
