"""The law of Top-R: by enumeration of the capped loss, and from the mechanism's own weights."""

from __future__ import annotations

import math

import numpy as np
import pytest

from oracle_dp.mechanisms.top_r import CappedLaw, top_r
from oracles.finite import FiniteTable

Point = tuple[int, ...]
SENSITIVITY = {"replace": 4, "add_remove": 2}
"""Of losses in {0, 1, 2}."""


def expected_law(table: FiniteTable, n_best: int, rate: float) -> dict[Point, float]:
    """The exponential mechanism on the capped loss, point by point."""
    losses = {tuple(map(int, w)): int(table.losses[tuple(w)]) for w in np.argwhere(table.allowed)}
    cap = sorted(losses.values())[min(n_best, len(losses)) - 1]
    least = min(losses.values())
    weights = {w: math.exp(-rate * (min(loss, cap) - least)) for w, loss in losses.items()}
    total = sum(weights.values())
    return {w: weight / total for w, weight in weights.items()}


def mechanism_law(
    table: FiniteTable, n_best: int, epsilon: float, sensitivity: int
) -> dict[Point, float]:
    """The law that the mechanism's own code draws from."""
    seen: list[CappedLaw] = []

    def peek(self: CappedLaw, problem: object, source: object) -> None:
        seen.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CappedLaw, "draw", peek)
        top_r(table, n_best=n_best, epsilon=epsilon, sensitivity=sensitivity)
    law = seen[0]
    weights = [float(weight) for weight in law.weights()]
    listed = dict(zip((point.positions for point in law.best), weights, strict=False))
    each = weights[-1] / law.others if law.others else 0.0
    points = [tuple(map(int, w)) for w in np.argwhere(table.allowed)]
    assert len(points) == law.others + len(listed)
    return {w: listed.get(w, each) / sum(weights) for w in points}


def log_ratio(first: dict[Point, float], second: dict[Point, float]) -> float:
    return max(abs(math.log(first[w] / second[w])) for w in first)


def tables(seed: int, relation: str, shape: Point, n: int) -> tuple[FiniteTable, FiniteTable]:
    """Totals of n records with losses in {0, 1, 2}, and of a neighbouring data set."""
    generator = np.random.default_rng(seed)
    records = generator.integers(0, 3, (n, *shape))
    allowed = generator.random(shape) < 0.8
    allowed.flat[0] = True
    other = records[1:].sum(axis=0)
    if relation == "replace":
        other = other + generator.integers(0, 3, shape)
    return FiniteTable(records.sum(axis=0), allowed), FiniteTable(other, allowed)
