"""Integer lower bounds on the cost of all classifiers in a box of values.

The rest levels have sets of values left; their least and greatest weights bound what the rest adds
to a cell's margin. A table entry (b, slot, a) is what its cells pay whatever the rest does within
its intervals. Every level of A has a copy of each level of B and chooses for itself:

    rest + sum_a min_v ( cost_a[v] + sum_b min_w ( table[b, slot(v, w), a] + share[b, w, a] ) )

The shares of a level of B sum to its cost exactly, so equal copies pay it once; relaxing that they
are equal can only lower the minimum. ``rest`` is the sum of the cheapest values left at the rest
levels. All of it is int64 arithmetic without rounding. (docs/theory/search.md.)
"""

from __future__ import annotations

from oracles.zero_one._compile import (
    add_run,
    inner,
    kernel,
    merged,
    min_sum,
    set_difference,
    set_sum,
    subtract_run,
    total,
)
from oracles.zero_one._layout import (
    BUNDLE,
    END,
    FACTOR,
    FACTOR_A,
    FACTOR_B,
    FIRST,
    GROUP,
    LANES,
    LAST,
    SIGN,
    SPLIT,
    START,
    Arrays,
)
from oracles.zero_one._state import FLOOR, PAID, REACH, REST
from oracles.zero_one._state import HIGH as HIGH
from oracles.zero_one._state import LOW as LOW
from oracles.zero_one._state import WORK as WORK
from oracles.zero_one._state import State as State
from oracles.zero_one._state import new_state as new_state
from oracles.zero_one.cells import IntArray


@kernel
def settle(arrays: Arrays, state: State) -> None:
    """Compute boxes, reaches and the table for the values left, from nothing."""
    state.moving[:] = 0
    state.table[:] = 0
    state.boxes[:] = 0
    state.totals[REST] = 0
    for level in range(arrays.n_rest):
        _look(arrays, state, level)
        low = arrays.rest_values[state.boxes[level, LOW]]
        high = arrays.rest_values[state.boxes[level, HIGH]]
        for e in range(arrays.spans[level, START], arrays.spans[level, END]):
            bundle, factor = arrays.entries[e, BUNDLE], arrays.entries[e, FACTOR]
            upward = (factor > 0) == (arrays.bundles[bundle, SIGN] > 0)
            state.moving[bundle, REACH] += factor * (high if upward else low)
    for bundle in range(len(arrays.bundles)):
        for s in range(len(arrays.slots)):
            # The slots of a bundle of several rows are sums: the same for all.
            if _pays(arrays, bundle, s, _within(arrays, state.moving[bundle, REACH])):
                state.moving[bundle, PAID] += 1
                _pay(arrays, state, bundle, s, s + 1, True)


@inner
def _look(arrays: Arrays, state: State, level: int) -> None:
    """Set a rest level's box to the values left."""
    low = high = floor = -1
    for v in range(state.alive.shape[1]):
        if state.alive[level, v]:
            if floor < 0:
                low, floor = v, arrays.cost[level, v]
            floor = min(floor, arrays.cost[level, v])
            high = v
    state.totals[REST] += floor - state.boxes[level, FLOOR]
    state.boxes[level, LOW] = low
    state.boxes[level, HIGH] = high
    state.boxes[level, FLOOR] = floor


@inner
def _within(arrays: Arrays, reach: int) -> int:
    """The reach, given what the rest can contribute at all."""
    return min(max(reach, arrays.reach_low), arrays.reach_high)


@inner
def _pays(arrays: Arrays, bundle: int, s: int, reach: int) -> bool:
    """Whether a bundle's cells pay in a slot, given its reach."""
    row = arrays.bundles[bundle, FIRST]
    margin = reach + arrays.rows[row, FACTOR_A] * arrays.slots[s, 0]
    margin += arrays.rows[row, FACTOR_B] * arrays.slots[s, 1]
    if arrays.bundles[bundle, SIGN] > 0:
        return bool(margin <= 0)
    return bool(margin >= 1)


@inner
def _pay(arrays: Arrays, state: State, bundle: int, s: int, end: int, pays: bool) -> None:
    """Add what a bundle's cells pay to slots s to end, or take it away."""
    first, last = arrays.bundles[bundle, FIRST], arrays.bundles[bundle, LAST]
    state.totals[WORK] += (last - first) * (end - s)
    for row in range(first, last):
        at = arrays.rows[row, GROUP] + s * LANES
        if pays:
            add_run(state.table, at, arrays.gains, row * LANES, end - s)
        else:
            subtract_run(state.table, at, arrays.gains, row * LANES, end - s)


@merged
def refresh(arrays: Arrays, state: State, level: int) -> None:
    """Follow the values left at a rest level: its box, and what its bundles pay."""
    low, high = state.boxes[level, LOW], state.boxes[level, HIGH]
    _look(arrays, state, level)
    _shift(arrays, state, level, low, high)


@inner
def move(arrays: Arrays, state: State, level: int, low: int, high: int) -> None:
    """Give a rest level another interval; moving back undoes it exactly."""
    old_low, old_high = state.boxes[level, LOW], state.boxes[level, HIGH]
    state.boxes[level, LOW] = low
    state.boxes[level, HIGH] = high
    _shift(arrays, state, level, old_low, old_high)


@merged
def _shift(arrays: Arrays, state: State, level: int, old_low: int, old_high: int) -> None:
    """Let the level's bundles, the only ones that change, follow its interval."""
    by_low = arrays.rest_values[state.boxes[level, LOW]] - arrays.rest_values[old_low]
    by_high = arrays.rest_values[state.boxes[level, HIGH]] - arrays.rest_values[old_high]
    start, end = arrays.spans[level, START], arrays.spans[level, END]
    split = arrays.spans[level, SPLIT]
    state.totals[WORK] += end - start
    if not arrays.one_hot:
        _rescan(arrays, state, level, by_low, by_high)
        return
    # Bundles that want + come first and follow the greatest weight, the others the least.
    first, last = start if by_high != 0 else split, end if by_low != 0 else split
    _slide(arrays, state, first, last, by_low, by_high)


@inner
def _slide(arrays: Arrays, state: State, start: int, end: int, by_low: int, by_high: int) -> None:
    """One-hot attributes: shift the reach of the bundles of some of a level's entries.

    Slots increase. A bundle that wants + pays in those with ``slot + reach <= 0``, its first
    ``paid``; one that wants - pays in those with ``slot + reach >= 1``, all but the others.
    """
    for e in range(start, end):
        bundle = arrays.entries[e, BUNDLE]
        positive = arrays.bundles[bundle, SIGN] > 0
        reach = state.moving[bundle, REACH] + (by_high if positive else by_low)
        state.moving[bundle, REACH] = reach
        reach = _within(arrays, reach)
        old = state.moving[bundle, PAID]
        below = old if positive else len(arrays.slots) - old
        edge = below
        while arrays.steps[edge + 1] <= -reach:
            edge += 1
        while arrays.steps[edge] > -reach:
            edge -= 1
        if edge == below:
            continue
        state.moving[bundle, PAID] += edge - below if positive else below - edge
        pays = (edge > below) == positive
        _pay(arrays, state, bundle, min(edge, below), max(edge, below), pays)


@inner
def _rescan(arrays: Arrays, state: State, level: int, by_low: int, by_high: int) -> None:
    """Any factors: look at every slot of every bundle of the level, a row each."""
    n_slots = len(arrays.slots)
    start, end = arrays.spans[level, START], arrays.spans[level, END]
    state.totals[WORK] += (end - start) * n_slots
    for e in range(start, end):
        bundle, factor = arrays.entries[e, BUNDLE], arrays.entries[e, FACTOR]
        upward = (factor > 0) == (arrays.bundles[bundle, SIGN] > 0)
        old = state.moving[bundle, REACH]
        new = old + factor * (by_high if upward else by_low)
        state.moving[bundle, REACH] = new
        for s in range(n_slots):
            before, after = _pays(arrays, bundle, s, old), _pays(arrays, bundle, s, new)
            if after != before:
                _pay(arrays, state, bundle, s, s + 1, after)


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
            at_cost = (k * n_values + v) * LANES
            set_sum(scratch, at_sums + v * LANES, state.cost_a, at_cost, scratch, 0)
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
    return int(bound)


@inner
def _least_total(scratch: IntArray, n_values: int, at: int) -> int:
    """Sum over the lanes of the minimum over the values."""
    at_least = (n_values + 1) * LANES
    set_sum(scratch, at_least, scratch, at, scratch, 0)
    for v in range(1, n_values):
        min_sum(scratch, at_least, scratch, at + v * LANES, scratch, 0)
    return int(total(scratch, at_least))


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


@merged
def probe_rest(arrays: Arrays, state: State, level: int, probe: IntArray) -> None:
    """Bounds for every value left at a rest level, into ``probe[level]``."""
    low, high = state.boxes[level, LOW], state.boxes[level, HIGH]
    n_values = state.alive.shape[1]
    for v in range(n_values + 1):
        back = v == n_values  # one call of move: code is compiled once per call
        if back or state.alive[level, v]:
            move(arrays, state, level, low if back else v, high if back else v)
            if not back:
                bound = star(arrays, state) - state.boxes[level, FLOOR]
                probe[level, v] = bound + arrays.cost[level, v]
