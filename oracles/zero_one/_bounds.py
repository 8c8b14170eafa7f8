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

from oracles.zero_one._compile import inner, kernel, min_sum, set_difference, set_sum, total
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
        at_sums, at_best: Where sums and minima begin in ``scratch``.
        alive: Values left at each level, shape ``(d, V)``.
        boxes: Per rest level the positions of the least and greatest value left, and the cheapest
            cost of a value left, shape ``(n_rest, 3)``.
        moving: Per row the rest's greatest (rows that want +) or least (others) margin and, with
            one-hot attributes, the number of slots paid for, shape ``(R, 2)``.
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
    n_levels, n_values = arrays.cost.shape
    alive = np.ones((n_levels, n_values), dtype=np.bool_)
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
        np.zeros((len(arrays.rows), 2), dtype=np.int64),
        aligned(np.zeros(n_table, dtype=np.int64)),
        aligned(_shares(layout)),
        aligned(_costs_of_a(arrays)),
        aligned(np.zeros(size, dtype=np.int64)),
        np.zeros(2, dtype=np.int64),
    )


def _costs_of_a(arrays: Arrays) -> IntArray:
    n_values = len(arrays.values)
    padded = np.zeros((arrays.n_blocks * LANES, n_values), dtype=np.int64)
    padded[: arrays.n_a] = arrays.cost[arrays.n_rest + arrays.n_b :]
    return padded.reshape(arrays.n_blocks, LANES, n_values).transpose(0, 2, 1)


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
    low, high, floor = state.boxes[level, LOW], state.boxes[level, HIGH], -1
    for v in range(len(arrays.values)):
        if state.alive[level, v]:
            if floor < 0:
                low, floor = v, arrays.cost[level, v]
            floor = min(floor, arrays.cost[level, v])
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
    start, end = arrays.spans[level, START], arrays.spans[level, END]
    split = arrays.spans[level, SPLIT]
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
    steps, moving = arrays.steps, state.moving
    for e in range(start, end):
        row = arrays.entries[e, ROW]
        reach, paid = moving[row, REACH] + by, moving[row, PAID]
        at = arrays.rows[row, GROUP] + paid * LANES
        while steps[paid + 1] <= -reach:
            set_sum(state.table, at, state.table, at, arrays.gains, row * LANES)
            paid += 1
            at += LANES
        while steps[paid] > -reach:
            paid -= 1
            at -= LANES
            set_difference(state.table, at, state.table, at, arrays.gains, row * LANES)
        moving[row, REACH], moving[row, PAID] = reach, paid


@inner
def _slide_negative(arrays: Arrays, state: State, start: int, end: int, by: int) -> None:
    """Rows that want - pay behind the first ``n_slots - paid``: where ``slot + reach >= 1``."""
    steps, moving, n_slots = arrays.steps, state.moving, len(arrays.slots)
    for e in range(start, end):
        row = arrays.entries[e, ROW]
        reach, free = moving[row, REACH] + by, n_slots - moving[row, PAID]
        at = arrays.rows[row, GROUP] + free * LANES
        while steps[free] > -reach:
            free -= 1
            at -= LANES
            set_sum(state.table, at, state.table, at, arrays.gains, row * LANES)
        while steps[free + 1] <= -reach:
            set_difference(state.table, at, state.table, at, arrays.gains, row * LANES)
            free += 1
            at += LANES
        moving[row, REACH], moving[row, PAID] = reach, n_slots - free


@inner
def _rescan(arrays: Arrays, state: State, level: int, by_low: int, by_high: int) -> None:
    """Any factors: look at every slot of every row of the level."""
    n_slots = len(arrays.slots)
    start, end = arrays.spans[level, START], arrays.spans[level, END]
    state.totals[WORK] += (end - start) * n_slots
    for e in range(start, end):
        row, factor = arrays.entries[e, ROW], arrays.entries[e, FACTOR]
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
    bound = state.totals[REST]
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
        bound += _least_total(scratch, n_values, at_sums)
    return bound


@inner
def _least_total(scratch: IntArray, n_values: int, at: int) -> int:
    """Sum over the lanes of the minimum over the values."""
    at_least = (n_values + 1) * LANES
    set_sum(scratch, at_least, scratch, at, scratch, 0)
    for v in range(1, n_values):
        min_sum(scratch, at_least, scratch, at + v * LANES, scratch, 0)
    return total(scratch, at_least)


@inner
def probe_b(arrays: Arrays, state: State, b: int, probe: IntArray) -> None:
    """Bounds for every value left at level b of B, from what :func:`star` left."""
    n_values, n_slots, scratch = len(arrays.values), len(arrays.slots), state.scratch
    level, at_least = arrays.n_rest + b, (n_values + 1) * LANES
    for w in range(arrays.n_values_b):
        probe[level, w] = state.totals[REST]
    for k in range(arrays.n_blocks):
        pair = k * arrays.n_b + b
        for v in range(n_values):
            at_sums = state.at_sums + (k * n_values + v) * LANES
            at_best = state.at_best + (pair * n_values + v) * LANES
            set_difference(scratch, (v + 1) * LANES, scratch, at_sums, scratch, at_best)
        for w in range(arrays.n_values_b):
            if not state.alive[level, w]:
                continue
            state.totals[WORK] += n_values
            for v in range(n_values):
                at_table = (pair * n_slots + arrays.pair_slot[v, w]) * LANES
                if v == 0:
                    set_sum(scratch, at_least, scratch, LANES, state.table, at_table)
                else:
                    min_sum(scratch, at_least, scratch, (v + 1) * LANES, state.table, at_table)
            at_share = (pair * arrays.n_values_b + w) * LANES
            set_sum(scratch, at_least, scratch, at_least, state.share, at_share)
            probe[level, w] += total(scratch, at_least)


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

