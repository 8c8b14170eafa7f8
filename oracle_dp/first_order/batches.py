"""Poisson batches: every record is in a batch with the same probability, by itself."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from oracle_dp.noise import BitSource
from oracle_dp.noise.floating import exponential
from oracle_dp.record_losses import LinearModelLoss
from oracles.convex import MeanLoss


def poisson_positions(n: int, probability: float, source: BitSource) -> NDArray[np.int64]:
    """Positions among n, each with the probability, independently.

    Gaps between them are geometric, ``floor(E / -log(1 - q))`` with E exponential, so the work is
    that of the batch and not of the data.
    """
    if probability >= 1:
        return np.arange(n, dtype=np.int64)
    rate = -math.log1p(-probability)
    last, found = -1, [np.empty(0, dtype=np.int64)]
    while last < n:
        count = int(probability * n + 4 * math.sqrt(probability * n)) + 8
        # Cut before they become integers: a tiny probability makes gaps beyond 64 bits.
        gaps = np.minimum(np.floor(exponential(source, 1.0, count) / rate), float(n)) + 1
        positions = last + np.cumsum(gaps.astype(np.int64))
        found.append(positions)
        last = int(positions[-1])
    drawn = np.concatenate(found)
    return drawn[drawn < n]


def poisson_batch(
    losses: LinearModelLoss, probability: float, divisor: float, source: BitSource
) -> MeanLoss:
    """The loss over a Poisson batch of the *records*, over a fixed divisor; it may be empty."""
    rows = losses.problem.rows
    chosen = poisson_positions(int(rows.total_weight), probability, source)
    return MeanLoss(rows=rows.sampled(chosen), loss=losses.problem.loss, divisor=divisor)
