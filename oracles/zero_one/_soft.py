"""Upper bounds on sums of ``exp(-beta cost)`` over boxes of classifiers, and a tree of boxes.

The table of :mod:`oracles.zero_one._bounds` holds what cells pay for certain. Every classifier in
a box costs at least as much, so by Hoelder's inequality for every level b of B over the levels a of
A, with weights ``rho[b, a]`` that add up to 1 over a,

    sum over the box  <=  (rest)  prod_a sum_v  exp(-beta cost_a[v])
                          prod_b ( sum_w exp(-beta (table + share) / rho[b, a]) )^rho[b, a].

Fixing a level can only raise the table, so the bounds of a node's children add up to at most the
node's own. The computation is in floating point: least costs are subtracted as integers first,
and what rounding can do is covered by a margin that is wider for nodes nearer to the root
(docs/theory/exact_exponential.md, Lemmas 2 and 3). Nothing that is drawn depends on these bounds
being tight, or on how they are computed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oracles.zero_one._bounds import HIGH, LOW, WORK, State, move
from oracles.zero_one._compile import inner, kernel, min_sum, set_sum
from oracles.zero_one._layout import LANES, Arrays
from oracles.zero_one.cells import IntArray

FloatArray = NDArray[np.float64]

STEP = 1e-7
"""Least margin per level still free."""

STEP_PER_OPERATION = 1e-12
"""Margin per level and operation: rounding is below 6e-13 of each (Lemma 3)."""

RELATIVE_STEP = 1e-13
"""Margin per level still free and nat of a positive logarithm."""

FLOOR = -1000.0
"""Logarithm of the mass that every complete node has at least: nothing is ever cut off."""

LOOK = 24
"""Free levels of the rest, and of B, that a node tries before it branches."""

NEGLIGIBLE = 40.0
"""Terms ``exp(-x)`` with larger x are replaced by the larger ``TINY``."""

TINY = 1e-17

PARENT, FIRST, LEVEL, VALUE, DEPTH = 0, 1, 2, 3, 4
"""Columns of ``Nodes.links``: parent, first child (-1: none yet), the level its children fix (-1),
the value that the node itself fixes, number of levels fixed."""

USED, FULL = 0, 1
"""Places in ``Nodes.numbers``."""


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


class Nodes(NamedTuple):
    """The tree.

    Attributes:
        log_mass: Of each node; an inner node's is at least its children's together.
        links: As the column names say, shape ``(capacity, 5)``.
        assigned: The value that the state has at each level, or -1.
        wanted: The same for the node to go to.
        numbers: Nodes in use, and whether the capacity stopped the last call.
    """

    log_mass: FloatArray
    links: IntArray
    assigned: IntArray
    wanted: IntArray
    numbers: IntArray


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


@inner
def _margined(arrays: Arrays, soft: Soft, bound: float, depth: int) -> float:
    """The stored mass: rounding covered, and never below the floor."""
    free = len(soft.active) - depth
    bound += (free + 1) * (soft.step + RELATIVE_STEP * max(bound, 0.0))
    floor = FLOOR + free * math.log(len(arrays.values))
    high = max(bound, floor)
    return high + math.log(math.exp(bound - high) + math.exp(floor - high)) + soft.step / 4


@inner
def _assign(arrays: Arrays, state: State, nodes: Nodes, level: int, value: int) -> None:
    """Fix a level at a value, or free it (-1)."""
    nodes.assigned[level] = value
    n_values = len(arrays.values)
    if level < arrays.n_rest:
        if value < 0:
            move(arrays, state, level, 0, n_values - 1)
        else:
            move(arrays, state, level, value, value)
        return
    for w in range(arrays.n_values_b):
        state.alive[level, w] = value < 0 or value == w


@inner
def _go_to(arrays: Arrays, state: State, soft: Soft, nodes: Nodes, node: int) -> None:
    for level in soft.active:
        nodes.wanted[level] = -1
    while node > 0:
        parent = nodes.links[node, PARENT]
        nodes.wanted[nodes.links[parent, LEVEL]] = nodes.links[node, VALUE]
        node = parent
    for level in soft.active:
        if nodes.wanted[level] != nodes.assigned[level]:
            _assign(arrays, state, nodes, level, nodes.wanted[level])


@inner
def _expand(arrays: Arrays, state: State, soft: Soft, nodes: Nodes, node: int) -> None:
    """Give a node its children: of the next levels the one whose children have least mass."""
    _go_to(arrays, state, soft, nodes, node)
    soft_star(arrays, state, soft)
    looked_b = looked_rest = 0
    for level in soft.active:
        if nodes.assigned[level] < 0 and level >= arrays.n_rest and looked_b < LOOK:
            looked_b += 1
            for w in range(arrays.n_values_b):
                soft.probe[level, w] = soft_probe_b(arrays, state, soft, level - arrays.n_rest, w)
    best, least = -1, np.inf
    looked_b = 0
    for level in soft.active:
        if nodes.assigned[level] >= 0:
            continue
        if level >= arrays.n_rest:
            looked_b += 1
        else:
            looked_rest += 1
        if (looked_b if level >= arrays.n_rest else looked_rest) > LOOK:
            continue
        n_children = arrays.n_values_b if level >= arrays.n_rest else len(arrays.values)
        if level < arrays.n_rest:
            for v in range(n_children):
                move(arrays, state, level, v, v)
                soft.probe[level, v] = soft_star(arrays, state, soft)
            move(arrays, state, level, 0, len(arrays.values) - 1)
        mass = _log_sum(soft.probe[level, :n_children])
        if mass < least:
            best, least = level, mass
    _adopt(arrays, soft, nodes, node, best)


@inner
def _adopt(arrays: Arrays, soft: Soft, nodes: Nodes, node: int, level: int) -> None:
    n_children = arrays.n_values_b if level >= arrays.n_rest else len(arrays.values)
    first = nodes.numbers[USED]
    nodes.links[node, FIRST], nodes.links[node, LEVEL] = first, level
    depth = nodes.links[node, DEPTH] + 1
    for v in range(n_children):
        child = first + v
        nodes.links[child, PARENT], nodes.links[child, FIRST] = node, -1
        nodes.links[child, LEVEL], nodes.links[child, VALUE] = -1, v
        nodes.links[child, DEPTH] = depth
        nodes.log_mass[child] = _margined(arrays, soft, soft.probe[level, v], depth)
    nodes.numbers[USED] = first + n_children


@inner
def _log_sum(logs: FloatArray) -> float:
    high = logs[0]
    for x in logs:
        high = max(high, x)
    total = 0.0
    for x in logs:
        total += math.exp(x - high)
    return float(high + math.log(total))


@kernel
def visit(arrays: Arrays, state: State, soft: Soft, nodes: Nodes, node: int) -> float:
    """Go to a node: its bound with margin; at a complete node ``sums`` are then exact costs."""
    _go_to(arrays, state, soft, nodes, node)
    bound = soft_star(arrays, state, soft)
    return _margined(arrays, soft, bound, nodes.links[node, DEPTH])


@kernel
def refine(
    arrays: Arrays,
    state: State,
    soft: Soft,
    nodes: Nodes,
    node: int,
    threshold: float,
    work: int,
) -> int:
    """Expand a node, and depth first all below it of more than a mass, until work or room run out.

    Returns:
        Number of nodes expanded.
    """
    stop = state.totals[WORK] + work
    room = len(nodes.log_mass) - len(arrays.values)
    stack = [node]
    expanded = 0
    nodes.numbers[FULL] = 0
    while len(stack) > 0:
        node = stack.pop()
        if nodes.links[node, DEPTH] == len(soft.active):
            continue
        if nodes.links[node, FIRST] < 0:
            if state.totals[WORK] >= stop:
                break
            if nodes.numbers[USED] > room:
                nodes.numbers[FULL] = 1
                break
            _expand(arrays, state, soft, nodes, node)
            expanded += 1
        first, level = nodes.links[node, FIRST], nodes.links[node, LEVEL]
        n_children = arrays.n_values_b if level >= arrays.n_rest else len(arrays.values)
        for v in range(n_children):
            if nodes.log_mass[first + v] > threshold:
                stack.append(first + v)
    return expanded


@kernel
def gather(arrays: Arrays, soft: Soft, nodes: Nodes) -> None:
    """Let every inner node have just its children's mass, from the leaves up."""
    for node in range(nodes.numbers[USED] - 1, -1, -1):
        first = nodes.links[node, FIRST]
        if first >= 0:
            level = nodes.links[node, LEVEL]
            n_children = arrays.n_values_b if level >= arrays.n_rest else len(arrays.values)
            mass = _log_sum(nodes.log_mass[first : first + n_children])
            mass += soft.step / 4 + RELATIVE_STEP / 4 * max(mass, 0.0)
            nodes.log_mass[node] = min(nodes.log_mass[node], mass)
