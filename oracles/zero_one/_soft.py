"""Upper bounds on sums of ``exp(-beta cost)`` over boxes of classifiers.

The table of :mod:`oracles.zero_one._bounds` holds what cells pay for certain. Every classifier in
a box costs at least as much, so by Hoelder's inequality for every level b of B over the levels a of
A, with weights ``rho[b, a]`` that add up to 1 over a,

    sum over the box  <=  (rest)  prod_a sum_v  exp(-beta cost_a[v])
                          prod_b ( sum_w exp(-beta (table + share) / rho[b, a]) )^rho[b, a].

The computation is in floating point: least costs are subtracted as integers first, and what
rounding can do is covered by the margins of :mod:`oracles.zero_one._soft_tree`
(docs/theory/exact_exponential.md, Lemmas 2 and 3).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oracles.zero_one._bounds import HIGH, LOW, WORK, State
from oracles.zero_one._compile import inner, min_sum, set_sum
from oracles.zero_one._layout import LANES, Arrays
from oracles.zero_one.cells import IntArray

FloatArray = NDArray[np.float64]

STEP = 1e-7
"""Least margin per level still free."""

STEP_PER_OPERATION = 1e-12
"""Margin per level and operation: rounding is below 6e-13 of each (Lemma 3)."""

NEGLIGIBLE = 40.0
"""Terms ``exp(-x)`` with larger x are replaced by the larger ``TINY``."""

TINY = 1e-17


class Soft(NamedTuple):
    """What the soft bound needs besides the arrays.

    Attributes:
        beta: Nats per unit of cost.
        step: Margin per level still free.
        reference: Cost whose exponential counts as 1; any value, the optimum is a good one.
        rho, power: Hoelder's weights of each level of B over A's levels, and their inverses
            (infinite for 0), flat ``(n_blocks, n_b, LANES)``.
        active: Levels that the tree fixes: those of the rest and of B with cells, those with most
            to gain first.
        free_log: ``log sum_v exp(-beta cost)`` of each level of the rest, shape ``(n_rest,)``.
        idle_log: The same, added up over the levels of B that the tree does not fix.
        sums: Least integer cost per value, flat ``(n_blocks, V, LANES)``.
        logs: Sum over b of the logarithms in ``part``, same shape.
        best, part: Least cost over w, and the logarithm of the norm over w of what is above it,
            per level of B, flat ``(n_blocks, n_b, V, LANES)``.
        probe: Logarithms of the children's bounds, shape ``(d, V)``.
    """

    beta: float
    step: float
    reference: int
    rho: FloatArray
    power: FloatArray
    active: IntArray
    free_log: FloatArray
    idle_log: float
    sums: IntArray
    logs: FloatArray
    best: IntArray
    part: FloatArray
    probe: FloatArray


@inner
def soft_star(arrays: Arrays, state: State, soft: Soft) -> float:
    """Logarithm of the bound for the state's box."""
    n_values = len(arrays.values)
    state.totals[WORK] += arrays.n_blocks * arrays.n_b * n_values * (arrays.n_values_b + 2) * 8
    logarithm, cost = 0.0, 0
    for k in range(arrays.n_blocks):
        base = k * n_values * LANES
        for v in range(n_values):
            set_sum(soft.sums, base + v * LANES, state.cost_a, base + v * LANES, state.scratch, 0)
            for i in range(LANES):
                soft.logs[base + v * LANES + i] = 0.0
        for b in range(arrays.n_b):
            _add_level_of_b(arrays, state, soft, k, b)
        for i in range(min(LANES, arrays.n_a - k * LANES)):
            least = soft.sums[base + i]
            for v in range(1, n_values):
                least = min(least, soft.sums[base + v * LANES + i])
            cost += least
            total = 0.0
            for v in range(n_values):
                at = base + v * LANES + i
                excess = soft.beta * (soft.sums[at] - least)
                total += _term(excess - soft.logs[at])
            logarithm += math.log(total)
    return _total(arrays, state, soft, logarithm, cost)


@inner
def _add_level_of_b(arrays: Arrays, state: State, soft: Soft, k: int, b: int) -> None:
    n_w, n_values, n_slots = arrays.n_values_b, len(arrays.values), len(arrays.slots)
    pair = k * arrays.n_b + b
    count = 0
    for w in range(n_w):
        if state.alive[arrays.n_rest + b, w]:
            count += 1
    for v in range(n_values):
        at = (pair * n_values + v) * LANES
        at_sum = (k * n_values + v) * LANES
        first = True
        for w in range(n_w):
            if state.alive[arrays.n_rest + b, w]:
                at_table = (pair * n_slots + arrays.pair_slot[v, w]) * LANES
                at_share = (pair * n_w + w) * LANES
                if first:
                    set_sum(soft.best, at, state.table, at_table, state.share, at_share)
                else:
                    min_sum(soft.best, at, state.table, at_table, state.share, at_share)
                first = False
        set_sum(soft.sums, at_sum, soft.sums, at_sum, soft.best, at)
        for i in range(LANES):
            soft.part[at + i] = 0.0
        if count == 1:
            continue
        for w in range(n_w):
            if state.alive[arrays.n_rest + b, w]:
                at_table = (pair * n_slots + arrays.pair_slot[v, w]) * LANES
                at_share = (pair * n_w + w) * LANES
                for i in range(LANES):
                    excess = (
                        state.table[at_table + i] + state.share[at_share + i] - soft.best[at + i]
                    )
                    soft.part[at + i] += _power(soft.beta, excess, soft.power[pair * LANES + i])
        for i in range(LANES):
            rho = soft.rho[pair * LANES + i]
            # Without cells of its own at this level of B the lane's factor is exactly 1.
            soft.part[at + i] = rho * math.log(soft.part[at + i]) if rho > 0 else 0.0
            soft.logs[at_sum + i] += soft.part[at + i]


@inner
def _power(beta: float, excess: int, power: float) -> float:
    """At least ``exp(-beta excess power)``."""
    if excess == 0:
        return 1.0
    x = beta * excess * power
    if x > NEGLIGIBLE:
        return TINY
    return math.exp(-x)


@inner
def _term(x: float) -> float:
    """At least ``exp(-x)``."""
    if x > NEGLIGIBLE:
        return TINY
    return math.exp(-x)


@inner
def _total(arrays: Arrays, state: State, soft: Soft, logarithm: float, cost: int) -> float:
    """Add the rest: its fixed levels cost, its free ones count. Costs are summed as integers."""
    for level in range(arrays.n_rest):
        if state.boxes[level, LOW] == state.boxes[level, HIGH]:
            cost += arrays.cost[level, state.boxes[level, LOW]]
        else:
            logarithm += soft.free_log[level]
    return logarithm + soft.idle_log - soft.beta * (cost - soft.reference)


@inner
def soft_probe_b(arrays: Arrays, state: State, soft: Soft, b: int, w: int) -> float:
    """The bound if level b of B takes value w, from what :func:`soft_star` left."""
    n_values = len(arrays.values)
    state.totals[WORK] += arrays.n_blocks * n_values * 16
    logarithm, cost = 0.0, 0
    for k in range(arrays.n_blocks):
        pair = k * arrays.n_b + b
        for i in range(min(LANES, arrays.n_a - k * LANES)):
            least = 0
            for v in range(n_values):
                fixed = _fixed(arrays, state, soft, k, b, v, w, i)
                if v == 0 or fixed < least:
                    least = fixed
            cost += least
            total = 0.0
            for v in range(n_values):
                excess = soft.beta * (_fixed(arrays, state, soft, k, b, v, w, i) - least)
                logs = soft.logs[(k * n_values + v) * LANES + i]
                logs -= soft.part[(pair * n_values + v) * LANES + i]
                total += _term(excess - logs)
            logarithm += math.log(total)
    return _total(arrays, state, soft, logarithm, cost)


@inner
def _fixed(arrays: Arrays, state: State, soft: Soft, k: int, b: int, v: int, w: int, i: int) -> int:
    n_values, n_slots, n_w = len(arrays.values), len(arrays.slots), arrays.n_values_b
    pair = k * arrays.n_b + b
    at_table = (pair * n_slots + arrays.pair_slot[v, w]) * LANES + i
    cost = soft.sums[(k * n_values + v) * LANES + i] - soft.best[(pair * n_values + v) * LANES + i]
    return int(cost + state.table[at_table] + state.share[(pair * n_w + w) * LANES + i])
