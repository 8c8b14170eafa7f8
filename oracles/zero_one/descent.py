"""An incumbent by block coordinate descent.

Given the weights of all other attributes, the levels of one attribute do not interact when each
row has one level of it: every level takes its best value by itself, exactly. Cycling through the
attributes from several starts gives classifiers that are often optimal. They are only starts for
a solver: nothing is proven here, and nothing is kept between calls.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np

from oracles.zero_one.cells import CellTable, IntArray

_MAX_SWEEPS = 50


def descend(
    cells: CellTable,
    weights: Sequence[int],
    costs: Sequence[IntArray],
    *,
    restarts: int = 8,
    deadline: float = math.inf,
) -> tuple[IntArray, ...]:
    """The best of several descents, deterministic for equal arguments.

    Args:
        cells: The table.
        weights: The integer values of every weight.
        costs: One integer array per attribute, shape ``(levels, len(weights))``.
        restarts: Number of starts; the first is all zeros, the others are random.
        deadline: Time of :func:`time.monotonic` from which on descents end where they are.

    Returns:
        One array of weights per attribute.
    """
    generator = np.random.default_rng(0)
    values = np.asarray(weights, dtype=np.int64)
    best: tuple[int, list[IntArray]] | None = None
    for attempt in range(restarts):
        if attempt == 0:
            nearest = values[np.argmin(np.abs(values))]
            start = [np.full(size, nearest) for size in cells.levels]
        else:
            start = [generator.choice(values, size) for size in cells.levels]
        total, found = _descend_from(cells, values, costs, start, deadline)
        if best is None or total < best[0]:
            best = total, found
    assert best is not None, "restarts is positive"
    return tuple(best[1])


def _descend_from(
    cells: CellTable,
    values: IntArray,
    costs: Sequence[IntArray],
    current: list[IntArray],
    deadline: float,
) -> tuple[int, list[IntArray]]:
    total = total_cost(cells, values, costs, current)
    margins = cells.margins(current)
    for _ in range(_MAX_SWEEPS):
        before = total
        for j in range(len(cells.levels)):
            if time.monotonic() >= deadline:
                break
            code, factor = cells.codes[:, j], cells.factors[:, j]
            others = margins - current[j][code] * factor
            current[j] = values[_best_response(cells, values, costs[j], others, j)]
            margins = others + current[j][code] * factor
        total = total_cost(cells, values, costs, current)
        if total >= before:
            break
    return total, current


def _best_response(
    cells: CellTable, values: IntArray, costs: IntArray, others: IntArray, j: int
) -> IntArray:
    """Index of the best value of every level of attribute j, given the others' margins."""
    code, factor = cells.codes[:, j], cells.factors[:, j]
    prices = np.empty(costs.shape, dtype=np.float64)
    for i, value in enumerate(values):
        wrong = np.where(others + value * factor >= 1, cells.negative, cells.positive)
        prices[:, i] = np.bincount(code, weights=wrong, minlength=cells.levels[j])
    best: IntArray = np.argmin(prices + costs, axis=1)
    return best


def total_cost(
    cells: CellTable,
    values: IntArray,
    costs: Sequence[IntArray],
    current: Sequence[IntArray],
) -> int:
    """Errors plus costs, exactly."""
    priced = 0
    for table, chosen in zip(costs, current, strict=True):
        index = np.searchsorted(values, chosen)
        priced += sum(int(cost) for cost in table[np.arange(len(chosen)), index])
    return cells.errors(current) + priced
