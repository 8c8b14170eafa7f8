"""A tree of boxes of classifiers, with bounds on the mass of each.

Fixing a level can only raise the table, so the bounds of a node's children add up to at most the
node's own (:mod:`oracles.zero_one._soft`). What rounding can do is covered by a margin that is
wider for nodes nearer to the root (docs/theory/exact_exponential.md, Lemmas 2 and 3). Nothing that
is drawn depends on these bounds being tight, or on how they are computed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from oracles.zero_one._bounds import WORK, State, move
from oracles.zero_one._compile import inner, kernel
from oracles.zero_one._layout import Arrays
from oracles.zero_one._soft import FloatArray, Soft, soft_probe_b, soft_star
from oracles.zero_one.cells import IntArray

RELATIVE_STEP = 1e-13
"""Margin per level still free and nat of a positive logarithm."""

FLOOR = -1000.0
"""Logarithm of the mass that every complete node has at least: nothing is ever cut off."""

LOOK = 24
"""Free levels of the rest, and of B, that a node tries before it branches."""

PARENT, FIRST, LEVEL, VALUE, DEPTH = 0, 1, 2, 3, 4
"""Columns of ``Nodes.links``: parent, first child (-1: none yet), the level its children fix (-1),
the value that the node itself fixes, number of levels fixed."""

USED, FULL = 0, 1
"""Places in ``Nodes.numbers``."""


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
