"""Compiled local search over sets of sites of one size."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from oracles.zero_one._compile import kernel

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@kernel
def interchange(
    costs: FloatArray,
    weights: FloatArray,
    fallback: FloatArray,
    opening: FloatArray,
    chosen: IntArray,
    passes: int,
) -> float:
    """Swap a chosen site for another while that lowers the loss.

    Args:
        costs: Cost of every (client, site), floats.
        weights: Weight of every client, not negative.
        fallback: What a client pays at most.
        opening: Cost of every site.
        chosen: 1 for a chosen site: a start, and overwritten.
        passes: Largest number of passes over the sites.

    Returns:
        The loss.
    """
    clients, sites = costs.shape
    first, second = np.empty(clients), np.empty(clients)
    nearest = np.empty(clients, np.int64)
    lost = np.empty(sites)
    for _ in range(passes):
        improved = False
        for j in range(sites):
            if chosen[j]:
                continue
            for i in range(clients):
                first[i], second[i], nearest[i] = fallback[i], fallback[i], -1
                for k in range(sites):
                    if chosen[k]:
                        if costs[i, k] < first[i]:
                            first[i], second[i], nearest[i] = costs[i, k], first[i], k
                        elif costs[i, k] < second[i]:
                            second[i] = costs[i, k]
            gained = opening[j]
            lost[:] = 0.0
            for i in range(clients):
                gained += weights[i] * min(0.0, costs[i, j] - first[i])
                if nearest[i] >= 0:
                    kept = min(first[i], costs[i, j])
                    lost[nearest[i]] += weights[i] * (min(second[i], costs[i, j]) - kept)
            best, out = -1e-9, -1
            for k in range(sites):
                if chosen[k] and gained + lost[k] - opening[k] < best:
                    best, out = gained + lost[k] - opening[k], k
            if out >= 0:
                chosen[j], chosen[out] = 1, 0
                improved = True
        if not improved:
            break
    loss = 0.0
    for i in range(clients):
        paid = fallback[i]
        for k in range(sites):
            if chosen[k]:
                paid = min(paid, costs[i, k])
        loss += weights[i] * paid
    for k in range(sites):
        if chosen[k]:
            loss += opening[k]
    return loss if not math.isnan(loss) else math.inf
