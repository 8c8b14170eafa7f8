"""Compiled loops for losses of the form sum of least costs over the chosen sites.

A client's sites come in order of cost, so that a loop over the sites nearer than a dual ends early.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from oracles.selection._kernels import tilt
from oracles.zero_one._compile import inner, kernel

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@kernel
def least_costs(
    starts: IntArray,
    sites: IntArray,
    costs: IntArray,
    fallback: IntArray,
    point: IntArray,
    paid: IntArray,
) -> None:
    """What every client pays: the cost of its first chosen site, at most its fallback."""
    for i in range(len(fallback)):
        paid[i] = fallback[i]
        for t in range(starts[i], starts[i + 1]):
            if point[sites[t]] == 1:
                paid[i] = min(fallback[i], costs[t])
                break


@kernel
def open_clients(
    starts: IntArray,
    sites: IntArray,
    costs: IntArray,
    counts: IntArray,
    most: IntArray,
    place_of: IntArray,
    near: IntArray,
    rows: IntArray,
) -> int:
    """Clients that a free site could serve below ``most``, with the least such cost.

    Returns:
        How many: their numbers are in ``rows``, the costs in ``near``.
    """
    found = 0
    for i in range(len(most)):
        near[i] = most[i]
        for t in range(starts[i], starts[i + 1]):
            if costs[t] >= most[i]:
                break
            if place_of[sites[t]] >= 0:
                near[i] = costs[t]
                if counts[i] > 0:
                    rows[found] = i
                    found += 1
                break
    return found


@kernel
def crossing_duals(
    starts: IntArray,
    sites: IntArray,
    costs: IntArray,
    most: IntArray,
    place_of: IntArray,
    rows: IntArray,
    n_rows: int,
    means: FloatArray,
    duals: FloatArray,
) -> None:
    """The cost at which a client's nearer free sites have means that add up to 1."""
    for r in range(n_rows):
        i = rows[r]
        near = 0.0
        duals[i] = most[i]
        for t in range(starts[i], starts[i + 1]):
            if costs[t] >= most[i]:
                break
            place = place_of[sites[t]]
            if place >= 0:
                near += means[place]
                if near >= 1.0:
                    duals[i] = costs[t]
                    break


@inner
def _price(
    client_starts: IntArray,
    sites: IntArray,
    costs: IntArray,
    counts: IntArray,
    rows: IntArray,
    n_rows: int,
    place_of: IntArray,
    duals: FloatArray,
    slopes: FloatArray,
) -> float:
    """Add what clients save to the slopes of their nearer free sites; what they pay without."""
    constant = 0.0
    for r in range(n_rows):
        i = rows[r]
        dual, count = duals[i], counts[i]
        constant += count * dual
        for t in range(client_starts[i], client_starts[i + 1]):
            gain = costs[t] - dual
            if gain >= 0:
                break
            place = place_of[sites[t]]
            if place >= 0:
                slopes[place] += count * gain
    return constant


@inner
def _ascend(
    client_starts: IntArray,
    sites: IntArray,
    costs: IntArray,
    most: IntArray,
    near: IntArray,
    rows: IntArray,
    n_rows: int,
    place_of: IntArray,
    means: FloatArray,
    span: FloatArray,
    rate: float,
    duals: FloatArray,
) -> None:
    """Raise the duals of clients with less than one nearer site on average, lower the others."""
    for r in range(n_rows):
        i = rows[r]
        nearer, dual = 0.0, duals[i]
        for t in range(client_starts[i], client_starts[i + 1]):
            if costs[t] >= dual:
                break
            place = place_of[sites[t]]
            if place >= 0:
                nearer += means[place]
        moved = dual + rate * span[i] * max(-1.0, 1.0 - nearer)
        duals[i] = min(float(most[i]), max(float(near[i]), moved))


@kernel
def facility_duals(
    client_starts: IntArray,
    sites: IntArray,
    costs: IntArray,
    counts: IntArray,
    most: IntArray,
    near: IntArray,
    rows: IntArray,
    n_rows: int,
    place_of: IntArray,
    opening: FloatArray,
    beta: float,
    lower: IntArray,
    upper: IntArray,
    signed: FloatArray,
    starts: IntArray,
    low: FloatArray,
    high: FloatArray,
    thetas: FloatArray,
    duals: FloatArray,
    span: FloatArray,
    steps: int,
    rate: float,
    decay: float,
    memory: float,
) -> FloatArray:
    """Improve duals so that the envelope's sum gets small; heuristic, in floats.

    Args:
        client_starts: Where every client's sites begin.
        sites: Sites by client and cost.
        costs: Their costs.
        counts: Number of clients of every row.
        most: What a client pays at most, as the node has it.
        near: Its least cost among the free sites.
        rows: Clients that still have a choice.
        n_rows: How many.
        place_of: Place of every free site in the base set's layout, -1 for the others.
        opening: Cost of the variable at every place.
        beta: Nats per unit of cost.
        lower: Bounds, sides and multipliers as for ``tilt``.
        upper: Likewise.
        signed: Likewise.
        starts: Likewise.
        low: Likewise.
        high: Likewise.
        thetas: Likewise; a start.
        duals: Of every client: a start, and overwritten with the best found.
        span: Length of a step of size 1, of every client.
        steps: Number of steps.
        rate: Size of the first step.
        decay: What the rate is multiplied by after each step.
        memory: Weight of earlier means in the running mean that steps follow.

    Returns:
        The means at the best duals, by place.
    """
    n = len(opening)
    slopes, means, best_means = np.empty(n), np.empty(n), np.empty(n)
    running = np.empty(n)
    current = duals.copy()
    best = math.inf
    for step in range(steps + 1):
        slopes[:] = opening
        constant = _price(
            client_starts, sites, costs, counts, rows, n_rows, place_of, current, slopes
        )
        for place in range(n):
            slopes[place] *= -beta
        value = tilt(slopes, lower, upper, signed, starts, low, high, thetas, means)
        value -= beta * constant
        if value < best:
            best = value
            best_means[:] = means
            for r in range(n_rows):
                duals[rows[r]] = current[rows[r]]
        if step == steps:
            break
        for place in range(n):
            if step == 0:
                running[place] = means[place]
            else:
                running[place] = memory * running[place] + (1 - memory) * means[place]
        _ascend(
            client_starts, sites, costs, most, near, rows, n_rows, place_of, running, span, rate,
            current,
        )  # fmt: skip
        rate *= decay
    return best_means


@kernel
def facility_slopes(
    client_starts: IntArray,
    sites: IntArray,
    costs: IntArray,
    counts: IntArray,
    rows: IntArray,
    n_rows: int,
    place_of: IntArray,
    duals: IntArray,
    shift: int,
    slopes: IntArray,
) -> None:
    """Add ``sum_i count_i min(0, cost_if 2^shift - dual_i)`` to the slope of every free site.

    All in 64-bit integers, which the caller has checked to suffice.
    """
    for r in range(n_rows):
        i = rows[r]
        dual, count = duals[i], counts[i]
        for t in range(client_starts[i], client_starts[i + 1]):
            gain = (costs[t] << shift) - dual
            if gain >= 0:
                break
            if place_of[sites[t]] >= 0:
                slopes[sites[t]] += count * gain
