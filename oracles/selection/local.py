"""Good sets of sites without a proof: for what may be as good or bad as it likes."""

from __future__ import annotations

import numpy as np

from oracles.selection._interchange import interchange
from oracles.selection.base import IntArray
from oracles.selection.facility import FacilityLoss

STARTS = 10
PASSES = 50

SHARP = 1e4
"""Nats of the largest loss there could be."""


def good_sites(loss: FacilityLoss, size: int, *, starts: int = STARTS) -> IntArray:
    """A set of ``size`` sites that no swap of two improves.

    The best of several local searches, one from the linear relaxation and others from seeded random
    starts: equal losses give equal sets.

    Args:
        loss: Over subsets of that size.
        size: Number of sites.
        starts: Number of random starts.
    """
    generator = np.random.default_rng(0)
    costs, weights = loss.costs.astype(np.float64), loss.counts.astype(np.float64)
    fallback, opening = loss.fallback.astype(np.float64), loss.opening.astype(np.float64)
    best, least = np.zeros(loss.base.n_variables, np.int64), np.inf
    # Nearly without entropy the means are close to the linear relaxation's solution.
    sharp = SHARP / max(1.0, float(weights @ fallback))
    means = loss.minorant(loss.base.lower, loss.base.upper, sharp, None).means
    orders = [np.argsort(-means, kind="stable")]
    orders += [generator.permutation(loss.base.n_variables) for _ in range(starts)]
    for order in orders:
        chosen = np.zeros(loss.base.n_variables, np.int64)
        chosen[order[:size]] = 1
        value = interchange(costs, weights, fallback, opening, chosen, PASSES)
        if value < least:
            best, least = chosen, value
    return best


def with_counts(loss: FacilityLoss, counts: IntArray) -> FacilityLoss:
    """The same loss for other clients; negative counts are taken for 0."""
    return FacilityLoss(
        loss.base,
        loss.costs,
        np.maximum(counts, 0),
        fallback=loss.fallback,
        opening=loss.opening,
    )
