"""Integer lower bounds on the cost of all classifiers in a box of values.

The rest levels have sets of values left; their least and greatest weights bound what the rest adds
to a cell's margin. A table entry (b, slot, a) is what its cells pay whatever the rest does within
its intervals. Every level of A has a copy of each level of B and chooses for itself:

    bound = rest + sum_a min_v ( cost_a[v] + sum_b min_w ( table[b, slot(v, w), a] + share[b, w, a] ) )

The shares of a level of B sum to its cost exactly, so equal copies pay it once; relaxing that they
are equal can only lower the minimum. ``rest`` is the sum of the cheapest values left at the rest
levels. All of it is int64 arithmetic without rounding. (docs/theory/search.md.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oracles.zero_one._compile import inner, kernel, min_sum, set_difference, set_sum
from oracles.zero_one._layout import (
    END,
    FACTOR,
    FACTOR_A,
    FACTOR_B,
    GROUP,
    LANES,
    ROW,
    SIGN,
    SPLIT,
    START,
    Arrays,
    Layout,
    aligned,
)
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
        at_sums, at_best, at_price: Where sums, minima and prices begin in ``scratch``.
        alive: Values left at each level, shape ``(d, V)``.
        boxes: Per rest level the positions of the least and greatest value left, and the cheapest
            cost of a value left, shape ``(n_rest, 3)``.
        moving: Per row the rest's greatest (rows that want +) or least (others) margin and, with
            one-hot attributes, the number of slots paid for, shape ``(R, 2)``.
        table: Flat ``(n_blocks, n_b, S, LANES)``.
        share: Flat ``(n_blocks, n_b, n_values_b, LANES)``: costs of B split over its copies.
        cost_a: Flat ``(n_blocks, V, LANES)``; the padding costs nothing.
        stake: Whether any cell is at (a, b), shape ``(n_b, n_blocks * LANES)``.
        scratch: ``LANES`` zeros; ``V + 1`` times ``LANES`` to work in; the cost of every value of
            every level of A, ``(n_blocks, V, LANES)``; the minima over w behind it,
            ``(n_blocks, n_b, V, LANES)``; prices of one value, ``(n_blocks, LANES)``.
        totals: Cost of the rest's cheapest values, and the work done so far.
    """

    at_sums: int
    at_best: int
    at_price: int
    alive: NDArray[np.bool_]
    boxes: IntArray
    moving: IntArray
    table: IntArray
    share: IntArray
    cost_a: IntArray
    stake: NDArray[np.bool_]
    scratch: IntArray
    totals: IntArray


def new_state(layout: Layout) -> State:
    """All values left everywhere. The table is filled by :func:`settle`."""
    arrays = layout.arrays
    n_levels, n_values = arrays.cost.shape
    alive = np.ones((n_levels, n_values), dtype=np.bool_)
    alive[arrays.n_rest : arrays.n_rest + arrays.n_b, arrays.n_values_b :] = False
    at_sums = (n_values + 2) * LANES
    at_best = at_sums + arrays.n_blocks * n_values * LANES
    at_price = at_best + arrays.n_blocks * arrays.n_b * n_values * LANES
    size = at_price + arrays.n_blocks * LANES
    stake = _stakes(layout)
    n_table = arrays.n_blocks * arrays.n_b * len(arrays.slots) * LANES
    return State(
        at_sums,
        at_best,
        at_price,
        alive,
        np.zeros((arrays.n_rest, 3), dtype=np.int64),
        np.zeros((len(arrays.rows), 2), dtype=np.int64),
        aligned(np.zeros(n_table, dtype=np.int64)),
        aligned(_shares(arrays, stake)),
        aligned(_costs_of_a(arrays)),
        stake > 0,
        aligned(np.zeros(size, dtype=np.int64)),
        np.zeros(2, dtype=np.int64),
    )


def _costs_of_a(arrays: Arrays) -> IntArray:
    n_values = len(arrays.values)
    padded = np.zeros((arrays.n_blocks * LANES, n_values), dtype=np.int64)
    padded[: arrays.n_a] = arrays.cost[arrays.n_rest + arrays.n_b :]
    return padded.reshape(arrays.n_blocks, LANES, n_values).transpose(0, 2, 1)


def _stakes(layout: Layout) -> NDArray[np.float64]:
    """Sum of gains of the cells at each level of B and A."""
    arrays = layout.arrays
    total = np.zeros((arrays.n_b, arrays.n_blocks * LANES))
    b = layout.cell_level[:, -2] - arrays.n_rest
    a = layout.cell_level[:, -1] - arrays.n_rest - arrays.n_b
    np.add.at(total, (b, a), np.abs(layout.cell_difference).astype(float))
    return total


def _shares(arrays: Arrays, stake: NDArray[np.float64]) -> IntArray:
    """B's costs, split in proportion to what is at stake at (a, b); exact sums."""
    n_b, n_w = arrays.n_b, arrays.n_values_b
    total = stake.sum(axis=1, keepdims=True)
    part = np.divide(stake, total, out=np.zeros_like(stake), where=total > 0)
    cost = arrays.cost[arrays.n_rest : arrays.n_rest + n_b, :n_w]
    share = np.floor(cost[:, :, None] * part[:, None, :]).astype(np.int64)
    # The rounding, either way, is left to the copy with most at stake.
    share[np.arange(n_b), :, stake.argmax(axis=1)] += cost - share.sum(axis=2)
    return share.reshape(n_b, n_w, arrays.n_blocks, LANES).transpose(2, 0, 1, 3)


@kernel
def settle(arrays: Arrays, state: State) -> None:
    """Compute reaches, the table and the rest's boxes for the values left, from nothing."""
    state.moving[:] = 0
    state.table[:] = 0
    state.boxes[:] = 0
    state.totals[REST] = 0
    # First as if every rest level had its least weight only: boxes of zeros.
    for level in range(arrays.n_rest):
        for e in range(arrays.spans[level, START], arrays.spans[level, END]):
            add = arrays.entries[e, FACTOR] * arrays.values[0]
            state.moving[arrays.entries[e, ROW], REACH] += add
    for row in range(len(arrays.rows)):
        for s in range(len(arrays.slots)):
            if _pays(arrays, row, s, state.moving[row, REACH]):
                at = arrays.rows[row, GROUP] + s * LANES
                set_sum(state.table, at, state.table, at, arrays.gains, row * LANES)
                state.moving[row, PAID] += 1
    for level in range(arrays.n_rest):
        refresh(arrays, state, level)


@inner
def _pays(arrays: Arrays, row: int, s: int, reach: int) -> bool:
    margin = reach + arrays.rows[row, FACTOR_A] * arrays.slots[s, 0]
    margin += arrays.rows[row, FACTOR_B] * arrays.slots[s, 1]
    if arrays.rows[row, SIGN] > 0:
        return margin <= 0
    return margin >= 1


@inner
def refresh(arrays: Arrays, state: State, level: int) -> None:
    """Follow the values left at a rest level: its cheapest cost, its interval, its rows."""
    low = high = -1
    floor = 0
    for v in range(len(arrays.values)):
        if state.alive[level, v]:
            if low < 0 or arrays.cost[level, v] < floor:
                floor = arrays.cost[level, v]
            if low < 0:
                low = v
            high = v
    state.totals[REST] += floor - state.boxes[level, FLOOR]
    state.boxes[level, FLOOR] = floor
    move(arrays, state, level, low, high)


@inner
def move(arrays: Arrays, state: State, level: int, low: int, high: int) -> None:
    """Give a rest level another interval; only its rows change. Moving back undoes it exactly."""
    by_low = arrays.values[low] - arrays.values[state.boxes[level, LOW]]
    by_high = arrays.values[high] - arrays.values[state.boxes[level, HIGH]]
    state.boxes[level, LOW] = low
    state.boxes[level, HIGH] = high
    start, split, end = arrays.spans[level]
    state.totals[WORK] += end - start
    if not arrays.one_hot:
        _rescan(arrays, state, level, by_low, by_high)
        return
    if by_high != 0:
        _slide_positive(arrays, state, start, split, by_high)
    if by_low != 0:
        _slide_negative(arrays, state, split, end, by_low)


@inner
def _slide_positive(arrays: Arrays, state: State, start: int, end: int, by: int) -> None:
    """Rows that want + pay in the first ``paid`` slots: those with ``slot + reach <= 0``."""
    n_slots = len(arrays.slots)
    for e in range(start, end):
        row = arrays.entries[e, ROW]
        reach, paid = state.moving[row, REACH] + by, state.moving[row, PAID]
        at = arrays.rows[row, GROUP] + paid * LANES
        while paid < n_slots and arrays.slots[paid, 0] + arrays.slots[paid, 1] + reach <= 0:
            set_sum(state.table, at, state.table, at, arrays.gains, row * LANES)
            paid += 1
            at += LANES
        while paid > 0 and arrays.slots[paid - 1, 0] + arrays.slots[paid - 1, 1] + reach >= 1:
            paid -= 1
            at -= LANES
            set_difference(state.table, at, state.table, at, arrays.gains, row * LANES)
        state.moving[row, REACH], state.moving[row, PAID] = reach, paid


@inner
def _slide_negative(arrays: Arrays, state: State, start: int, end: int, by: int) -> None:
    """Rows that want - pay in the last ``paid`` slots: those with ``slot + reach >= 1``."""
    n_slots = len(arrays.slots)
    for e in range(start, end):
        row = arrays.entries[e, ROW]
        reach, free = state.moving[row, REACH] + by, n_slots - state.moving[row, PAID]
        at = arrays.rows[row, GROUP] + free * LANES
        while free > 0 and arrays.slots[free - 1, 0] + arrays.slots[free - 1, 1] + reach >= 1:
            free -= 1
            at -= LANES
            set_sum(state.table, at, state.table, at, arrays.gains, row * LANES)
        while free < n_slots and arrays.slots[free, 0] + arrays.slots[free, 1] + reach <= 0:
            set_difference(state.table, at, state.table, at, arrays.gains, row * LANES)
            free += 1
            at += LANES
        state.moving[row, REACH], state.moving[row, PAID] = reach, n_slots - free


@inner
def _rescan(arrays: Arrays, state: State, level: int, by_low: int, by_high: int) -> None:
    """Any factors: look at every slot of every row of the level."""
    n_slots = len(arrays.slots)
    start, _, end = arrays.spans[level]
    state.totals[WORK] += (end - start) * n_slots
    for e in range(start, end):
        row, factor = arrays.entries[e]
        upward = (factor > 0) == (arrays.rows[row, SIGN] > 0)
        old = state.moving[row, REACH]
        new = old + factor * (by_high if upward else by_low)
        state.moving[row, REACH] = new
        for s in range(n_slots):
            before, after = _pays(arrays, row, s, old), _pays(arrays, row, s, new)
            at = arrays.rows[row, GROUP] + s * LANES
            if after and not before:
                set_sum(state.table, at, state.table, at, arrays.gains, row * LANES)
            if before and not after:
                set_difference(state.table, at, state.table, at, arrays.gains, row * LANES)


@inner
def star(arrays: Arrays, state: State) -> int:
    """The bound; leaves sums and minima in ``scratch`` for :func:`probe_b` and the leaves."""
    n_b, n_w, n_values = arrays.n_b, arrays.n_values_b, len(arrays.values)
    n_slots, scratch = len(arrays.slots), state.scratch
    state.totals[WORK] += arrays.n_blocks * n_b * n_values * (n_w + 2)
    total = state.totals[REST]
    for k in range(arrays.n_blocks):
        at_sums = state.at_sums + k * n_values * LANES
        for v in range(n_values):
            set_sum(scratch, at_sums + v * LANES, state.cost_a, (k * n_values + v) * LANES, scratch, 0)
        for b in range(n_b):
            pair = k * n_b + b
            at_best = state.at_best + pair * n_values * LANES
            first = True
            for w in range(n_w):
                if not state.alive[arrays.n_rest + b, w]:
                    continue
                at_share = (pair * n_w + w) * LANES
                for v in range(n_values):
                    at_table = (pair * n_slots + arrays.pair_slot[v, w]) * LANES
                    at = at_best + v * LANES
                    if first:
                        set_sum(scratch, at, state.table, at_table, state.share, at_share)
                    else:
                        min_sum(scratch, at, state.table, at_table, state.share, at_share)
                first = False
            for v in range(n_values):
                at = at_sums + v * LANES
                set_sum(scratch, at, scratch, at, scratch, at_best + v * LANES)
        total += _least_total(scratch, n_values, at_sums)
    return total


@inner
def _least_total(scratch: IntArray, n_values: int, at: int) -> int:
    """Sum over the lanes of the minimum over the values."""
    at_least = (n_values + 1) * LANES
    set_sum(scratch, at_least, scratch, at, scratch, 0)
    for v in range(1, n_values):
        min_sum(scratch, at_least, scratch, at + v * LANES, scratch, 0)
    total = 0
    for i in range(LANES):
        total += scratch[at_least + i]
    return total


@inner
def probe_b(arrays: Arrays, state: State, b: int, w: int) -> int:
    """The bound if level b of B takes value w, from what :func:`star` left."""
    n_values, n_slots, scratch = len(arrays.values), len(arrays.slots), state.scratch
    state.totals[WORK] += arrays.n_blocks * n_values * 2
    total = state.totals[REST]
    for k in range(arrays.n_blocks):
        pair = k * arrays.n_b + b
        at_share = (pair * arrays.n_values_b + w) * LANES
        for v in range(n_values):
            at_sums = state.at_sums + (k * n_values + v) * LANES
            at_best = state.at_best + (pair * n_values + v) * LANES
            at_table = (pair * n_slots + arrays.pair_slot[v, w]) * LANES
            at = (v + 1) * LANES
            set_difference(scratch, at, scratch, at_sums, scratch, at_best)
            set_sum(scratch, at, scratch, at, state.table, at_table)
            set_sum(scratch, at, scratch, at, state.share, at_share)
        total += _least_total(scratch, n_values, LANES)
    return total


@inner
def probe_rest(arrays: Arrays, state: State, level: int, probe: IntArray) -> None:
    """Bounds for every value left at a rest level, into ``probe[level]``."""
    low, high = state.boxes[level, LOW], state.boxes[level, HIGH]
    for v in range(len(arrays.values)):
        if state.alive[level, v]:
            move(arrays, state, level, v, v)
            bound = star(arrays, state)
            probe[level, v] = bound - state.boxes[level, FLOOR] + arrays.cost[level, v]
    move(arrays, state, level, low, high)


@inner
def balance(arrays: Arrays, state: State) -> int:
    """Raise the bound by moving shares between the copies of each level of B; after :func:`star`.

    Each copy's price for w becomes the average over the copies of what w costs their level of A at
    least. The shares' sum is kept exactly, so any shares are valid at any node.
    """
    n_values, scratch = len(arrays.values), state.scratch
    for b in range(arrays.n_b):
        n_copies = 0
        for a in range(arrays.n_a):
            n_copies += state.stake[b, a]
        if n_copies < 2:
            continue
        for k in range(arrays.n_blocks):
            pair = k * arrays.n_b + b
            for v in range(n_values):
                at = state.at_sums + (k * n_values + v) * LANES
                at_best = state.at_best + (pair * n_values + v) * LANES
                set_difference(scratch, at, scratch, at, scratch, at_best)
        for w in range(arrays.n_values_b):
            if state.alive[arrays.n_rest + b, w]:
                _average(arrays, state, b, w, n_copies)
        _rejoin(arrays, state, b)
    total = state.totals[REST]
    for k in range(arrays.n_blocks):
        total += _least_total(scratch, n_values, state.at_sums + k * n_values * LANES)
    return total


@inner
def _average(arrays: Arrays, state: State, b: int, w: int, n_copies: int) -> None:
    """Make what w costs every copy of level b at least the same, up to rounding."""
    n_values, n_slots, scratch = len(arrays.values), len(arrays.slots), state.scratch
    total = 0
    for k in range(arrays.n_blocks):
        pair = k * arrays.n_b + b
        at_share, at = (pair * arrays.n_values_b + w) * LANES, state.at_price + k * LANES
        for v in range(n_values):
            at_sums = state.at_sums + (k * n_values + v) * LANES
            at_table = (pair * n_slots + arrays.pair_slot[v, w]) * LANES
            if v == 0:
                set_sum(scratch, at, scratch, at_sums, state.table, at_table)
            else:
                min_sum(scratch, at, scratch, at_sums, state.table, at_table)
        set_sum(scratch, at, scratch, at, state.share, at_share)
        for i in range(LANES):
            if state.stake[b, k * LANES + i]:
                total += scratch[at + i]
    average = total // n_copies
    left = total - average * n_copies
    for k in range(arrays.n_blocks):
        at_share = ((k * arrays.n_b + b) * arrays.n_values_b + w) * LANES
        for i in range(LANES):
            if state.stake[b, k * LANES + i]:
                extra = 1 if left > 0 else 0
                state.share[at_share + i] += average + extra - scratch[state.at_price + k * LANES + i]
                left -= extra


@inner
def _rejoin(arrays: Arrays, state: State, b: int) -> None:
    """Put the minima of level b back into the sums, with its new shares."""
    n_values, n_w, n_slots = len(arrays.values), arrays.n_values_b, len(arrays.slots)
    scratch = state.scratch
    state.totals[WORK] += arrays.n_blocks * n_values * n_w * 4
    for k in range(arrays.n_blocks):
        pair = k * arrays.n_b + b
        for v in range(n_values):
            at_best = state.at_best + (pair * n_values + v) * LANES
            first = True
            for w in range(n_w):
                if not state.alive[arrays.n_rest + b, w]:
                    continue
                at_share = (pair * n_w + w) * LANES
                at_table = (pair * n_slots + arrays.pair_slot[v, w]) * LANES
                if first:
                    set_sum(scratch, at_best, state.table, at_table, state.share, at_share)
                else:
                    min_sum(scratch, at_best, state.table, at_table, state.share, at_share)
                first = False
            at = state.at_sums + (k * n_values + v) * LANES
            set_sum(scratch, at, scratch, at, scratch, at_best)
