"""What changes during a search: values left, reaches, and the table that bounds are read from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oracles.zero_one._layout import LANES, Arrays, Layout, aligned
from oracles.zero_one.cells import IntArray

LOW, HIGH, FLOOR = 0, 1, 2
"""Columns of ``State.boxes``."""

REACH, PAID = 0, 1
"""Columns of ``State.moving``."""

REST, WORK = 0, 1
"""Places in ``State.totals``."""


class State(NamedTuple):
    """What changes during a search.

    Attributes:
        at_sums, at_best: Where sums and minima begin in ``scratch``.
        alive: Values left at each level, shape ``(d, V)``.
        boxes: Per rest level the positions of the least and greatest value left, and the cheapest
            cost of a value left, shape ``(n_rest, 3)``.
        moving: Per bundle the rest's greatest (those that want +) or least (others) margin and,
            with one-hot attributes, the number of slots paid for, shape ``(n_bundles, 2)``.
        table: Flat ``(n_blocks, n_b, S, LANES)``.
        share: Flat ``(n_blocks, n_b, n_values_b, LANES)``: costs of B split over its copies.
        cost_a: Flat ``(n_blocks, V, LANES)``; the padding costs nothing.
        scratch: ``LANES`` zeros; ``V + 1`` times ``LANES`` to work in; the cost of every value of
            every level of A, ``(n_blocks, V, LANES)``; the minima over w behind it,
            ``(n_blocks, n_b, V, LANES)``.
        totals: Cost of the rest's cheapest values, and the work done so far.
    """

    at_sums: int
    at_best: int
    alive: NDArray[np.bool_]
    boxes: IntArray
    moving: IntArray
    table: IntArray
    share: IntArray
    cost_a: IntArray
    scratch: IntArray
    totals: IntArray


def new_state(layout: Layout) -> State:
    """All values left everywhere. The table is filled by :func:`settle`."""
    arrays = layout.arrays
    n_values = len(arrays.values)
    alive = np.ones(arrays.cost.shape, dtype=np.bool_)
    alive[arrays.n_rest : arrays.n_rest + arrays.n_b, arrays.n_values_b :] = False
    at_sums = (n_values + 2) * LANES
    at_best = at_sums + arrays.n_blocks * n_values * LANES
    size = at_best + arrays.n_blocks * arrays.n_b * n_values * LANES
    n_table = arrays.n_blocks * arrays.n_b * len(arrays.slots) * LANES
    return State(
        at_sums,
        at_best,
        alive,
        np.zeros((arrays.n_rest, 3), dtype=np.int64),
        np.zeros((len(arrays.bundles), 2), dtype=np.int64),
        aligned(np.zeros(n_table, dtype=np.int64)),
        aligned(_shares(layout)),
        aligned(_costs_of_a(arrays)),
        aligned(np.zeros(size, dtype=np.int64)),
        np.zeros(2, dtype=np.int64),
    )


def _costs_of_a(arrays: Arrays) -> IntArray:
    n_values = len(arrays.values)
    padded = np.zeros((arrays.n_blocks * LANES, n_values), dtype=np.int64)
    padded[: arrays.n_a] = arrays.cost[arrays.n_rest + arrays.n_b :, :n_values]
    by_block: IntArray = padded.reshape(arrays.n_blocks, LANES, n_values).transpose(0, 2, 1)
    return by_block


def _shares(layout: Layout) -> IntArray:
    """B's costs, split in proportion to the gains of the cells at (a, b); exact sums."""
    arrays = layout.arrays
    n_b, n_w = arrays.n_b, arrays.n_values_b
    stake = np.zeros((n_b, arrays.n_blocks * LANES))
    b = layout.cell_level[:, -2] - arrays.n_rest
    a = layout.cell_level[:, -1] - arrays.n_rest - n_b
    np.add.at(stake, (b, a), np.abs(layout.cell_difference).astype(float))
    total = stake.sum(axis=1, keepdims=True)
    part = np.divide(stake, total, out=np.zeros_like(stake), where=total > 0)
    cost = arrays.cost[arrays.n_rest : arrays.n_rest + n_b, :n_w]
    share = np.floor(cost[:, :, None] * part[:, None, :]).astype(np.int64)
    # The rounding, either way, is left to the copy with most at stake.
    share[np.arange(n_b), :, stake.argmax(axis=1)] += cost - share.sum(axis=2)
    by_block: IntArray = share.reshape(n_b, n_w, arrays.n_blocks, LANES).transpose(2, 0, 1, 3)
    return by_block
