"""Incumbents by iterated block descent, compiled: disturb the best classifier, descend, compare.

Given all other weights, the levels of one attribute do not interact, so each takes its best value
exactly. Nothing is proven here; the random numbers are fixed, so equal problems get equal answers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oracles.zero_one._compile import inner, kernel
from oracles.zero_one._layout import Layout
from oracles.zero_one._total import Total, no_total, slack_at, slack_of
from oracles.zero_one.cells import IntArray

RANDOM, CURRENT, BEST = 0, 1, 2
"""Places in ``Walk.numbers``."""

_MAX_SWEEPS = 50
_MAX_WORK = 2**24
"""Prices looked at in one descent, at most: about 0.1 s."""

_SEED = 88172645463325252
_RETURN_EVERY = 64
"""Rounds after which the walk goes back to the best point, should it have drifted away."""


class Walk(NamedTuple):
    """A walk over classifiers.

    Attributes:
        values, cost: As in the layout's arrays.
        level, factor: Level and factor of each open cell in each attribute, shape ``(n, k)``.
        difference: Positive minus negative count of each open cell, shape ``(n,)``.
        first: Where each attribute's levels begin, and the end, shape ``(k + 1,)``.
        allowed: Values that may be taken, shape ``(d, V)``.
        margin: Margin of each cell under ``current``, shape ``(n,)``.
        price: Cost of each value of each level, the other attributes fixed, shape ``(d, V)``.
        current, kept, best: Positions of values: tried, last accepted, best, shape ``(d,)``.
        numbers: State of the random numbers, cost of ``kept``, cost of ``best``.
        total: What a classifier pays for its total, if anything.
    """

    values: IntArray
    cost: IntArray
    level: IntArray
    factor: IntArray
    difference: IntArray
    first: IntArray
    allowed: NDArray[np.bool_]
    margin: IntArray
    price: IntArray
    current: IntArray
    kept: IntArray
    best: IntArray
    numbers: IntArray
    total: Total


def new_walk(
    layout: Layout, allowed: NDArray[np.bool_], point: IntArray, total: Total | None = None
) -> Walk:
    """A walk that begins at a point, given by the positions of its values."""
    total = no_total() if total is None else total
    n_levels = len(layout.arrays.cost)
    # Columns of cell_level are the attributes in the order in which their levels are numbered.
    arrays = layout.arrays
    begins = {*layout.starts, arrays.n_rest, n_levels}
    first = np.array(sorted(begins), dtype=np.int64)
    cost = layout.cost(point) + slack_of(total, point)
    return Walk(
        layout.arrays.values,
        layout.arrays.cost,
        np.ascontiguousarray(layout.cell_level),
        np.ascontiguousarray(layout.cell_factor),
        layout.cell_difference,
        first,
        allowed,
        np.zeros(len(layout.cell_level), dtype=np.int64),
        np.zeros_like(layout.arrays.cost),
        point.copy(),
        point.copy(),
        point.copy(),
        np.array([_SEED, cost, cost], dtype=np.int64),
        total,
    )


@kernel
def improve(walk: Walk, rounds: int) -> None:
    """That many rounds of disturbing and descending."""
    n_levels, n_values = walk.cost.shape
    for i in range(rounds):
        if i % _RETURN_EVERY == 0:
            _copy(walk.best, walk.kept)
            walk.numbers[CURRENT] = walk.numbers[BEST]
        _copy(walk.kept, walk.current)
        for _ in range(1 + _random(walk, 4)):
            level, v = _random(walk, n_levels), _random(walk, n_values)
            if walk.allowed[level, v]:
                walk.current[level] = v
        cost = _descend(walk)
        # Equal cost is accepted: 0-1 loss has wide plateaus to cross.
        if cost <= walk.numbers[CURRENT]:
            _copy(walk.current, walk.kept)
            walk.numbers[CURRENT] = cost
        if cost < walk.numbers[BEST]:
            _copy(walk.current, walk.best)
            walk.numbers[BEST] = cost


@inner
def _copy(source: IntArray, target: IntArray) -> None:
    # Assignments between slices take seconds to compile, for the sake of their error messages.
    for i in range(len(source)):
        target[i] = source[i]


@inner
def _random(walk: Walk, n: int) -> int:
    """The next of a xorshift sequence, below n."""
    x = walk.numbers[RANDOM]
    x ^= x << 13
    x ^= (x >> 7) & 0x1FFFFFFFFFFFFFF
    x ^= x << 17
    walk.numbers[RANDOM] = x
    return int((x >> 33 & 0x3FFFFFFF) % n)


@inner
def _measure(walk: Walk) -> None:
    n_cells, n_attributes = walk.level.shape
    for c in range(n_cells):
        margin = 0
        for j in range(n_attributes):
            margin += walk.values[walk.current[walk.level[c, j]]] * walk.factor[c, j]
        walk.margin[c] = margin


@inner
def _cost(walk: Walk) -> int:
    """Cost of the current point, from its margins, with what its total costs beyond its price."""
    cost = slack_at(walk.total, walk.current)
    for level in range(len(walk.current)):
        cost += walk.cost[level, walk.current[level]]
    for c in range(len(walk.margin)):
        if (walk.margin[c] >= 1) != (walk.difference[c] > 0):
            cost += abs(walk.difference[c])
    return int(cost)


@inner
def _descend(walk: Walk) -> int:
    """Best responses of all attributes in turn until nothing changes or it takes too long."""
    _measure(walk)
    n_cells, n_attributes = walk.level.shape
    turns = min(_MAX_SWEEPS * n_attributes, 1 + _MAX_WORK // (1 + n_cells * len(walk.values)))
    turn, unchanged = _random(walk, n_attributes), 0
    for _ in range(turns):
        changed = _respond(walk, turn)
        unchanged = 0 if changed else unchanged + 1
        if unchanged >= n_attributes:
            break
        turn = (turn + 1) % n_attributes
    return _cost(walk)


@inner
def _respond(walk: Walk, j: int) -> bool:
    """Give every level of attribute j its best value; whether that changed any."""
    n_values = len(walk.values)
    first, end = walk.first[j], walk.first[j + 1]
    for level in range(first, end):
        for v in range(n_values):
            walk.price[level, v] = walk.cost[level, v]
    for c in range(len(walk.margin)):
        level, factor, difference = walk.level[c, j], walk.factor[c, j], walk.difference[c]
        others = walk.margin[c] - factor * walk.values[walk.current[level]]
        for v in range(n_values):
            if (others + factor * walk.values[v] >= 1) != (difference > 0):
                walk.price[level, v] += abs(difference)
    changed = False
    for level in range(first, end):
        best = walk.current[level]
        for v in range(n_values):
            if walk.allowed[level, v] and walk.price[level, v] < walk.price[level, best]:
                best = v
        # The first price is not needed any more: what the weight rises by takes its place.
        walk.price[level, 0] = walk.values[best] - walk.values[walk.current[level]]
        if best != walk.current[level]:
            walk.current[level] = best
            changed = True
    if changed:
        for c in range(len(walk.margin)):
            walk.margin[c] += walk.factor[c, j] * walk.price[walk.level[c, j], 0]
    return changed
