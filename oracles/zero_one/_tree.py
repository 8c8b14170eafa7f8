"""Depth-first branch and bound over the rest and B; A is collapsed at the leaves.

A node tries every value that is left at every open level ("probing"): a value whose bound reaches
the incumbent is deleted, which tightens intervals for the others, and what remains tells which
level to branch on. Nothing is copied: a trail of deletions takes the state back, in integers and
therefore exactly. (docs/theory/search.md.)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from oracles.zero_one._bounds import probe_b, probe_rest, star
from oracles.zero_one._compile import inner, kernel, merged
from oracles.zero_one._layout import LANES, Arrays
from oracles.zero_one._state import HIGH, LOW, WORK, State
from oracles.zero_one._total import Total, leaf_cost, least_slack, matters, no_total
from oracles.zero_one._trail import TOP, Trail, delete_from, keep_only, propagate, undo
from oracles.zero_one.cells import IntArray

DEPTH, INCUMBENT, NODES, FOUND, CERTAIN = 0, 1, 2, 3, 4
"""Places in ``Tree.numbers``."""

BRANCHED, MARK, COUNT, NEXT = 0, 1, 2, 3
"""Columns of ``Tree.frames``."""

VALUE, BOUND = 0, 1
"""Columns of ``Tree.children``."""

NODE_WORK = 20_000_000
"""Work after which a node stops probing: about 0.2 s, so that large instances stay responsive."""

SHARPNESS = 10.0
"""A child whose bound closes the share s of the gap counts as ``exp(-10 s)`` of its parent."""


class Tree(NamedTuple):
    """The path from the root to the current node.

    Attributes:
        numbers: Depth of the stack (-1: exhausted, or not begun), cost of the incumbent beyond the
            layout's constant, nodes so far, whether ``point`` has that cost, and the least slack
            of the current node.
        frames: At each depth the level branched on, the length of the trail before it, the number
            of children and the next of them, shape ``(depths, 4)``.
        children: Their values and bounds, increasing in bound, shape ``(depths, V, 2)``.
        probe: Bounds of the current node's children, shape ``(d, V)``.
        order: Rest levels in the order of probing: those that lately pruned a node come first.
        point: Positions of the best leaf's values, shape ``(d,)``.
        total: What a leaf pays for its total, if anything.
    """

    numbers: IntArray
    frames: IntArray
    children: IntArray
    probe: IntArray
    order: IntArray
    point: IntArray
    total: Total


def new_tree(arrays: Arrays, incumbent: int, total: Total | None = None) -> Tree:
    """A tree before its root, with the cost to beat beyond the constant."""
    depths = arrays.n_rest + arrays.n_b + 1
    n_levels, n_values = arrays.cost.shape
    return Tree(
        np.array([-1, incumbent, 0, 0, 0], dtype=np.int64),
        np.zeros((depths, 4), dtype=np.int64),
        np.zeros((depths, n_values, 2), dtype=np.int64),
        np.zeros((n_levels, n_values), dtype=np.int64),
        np.arange(arrays.n_rest, dtype=np.int64),
        np.zeros(n_levels, dtype=np.int64),
        no_total() if total is None else total,
    )


@kernel
def run(arrays: Arrays, state: State, tree: Tree, trail: Trail, work: int, nodes: int) -> None:
    """Continue until the tree is exhausted or about that much work or that many nodes are done."""
    numbers = tree.numbers
    stop = state.totals[WORK] + work
    while state.totals[WORK] < stop and numbers[NODES] < nodes:
        if numbers[NODES] > 0:
            depth = numbers[DEPTH]
            if depth < 0:
                return
            undo(arrays, state, trail, tree.frames[depth, MARK])
            i = tree.frames[depth, NEXT]
            # Children are sorted: the first that cannot beat the incumbent ends them all.
            last = i == tree.frames[depth, COUNT]
            if last or tree.children[depth, i, BOUND] >= numbers[INCUMBENT]:
                numbers[DEPTH] = depth - 1
                continue
            tree.frames[depth, NEXT] = i + 1
            value = tree.children[depth, i, VALUE]
            keep_only(arrays, state, trail, tree.frames[depth, BRANCHED], value)
        numbers[NODES] += 1
        bound = _probe(arrays, state, tree, trail)
        if bound < numbers[INCUMBENT]:
            level = _choose(arrays, state, tree, bound)
            if level < 0:
                _record(arrays, state, tree, bound)
            else:
                _push(state, tree, level, bound, trail.numbers[TOP])


def open_bound(tree: Tree) -> int:
    """Least bound of the nodes still to be visited, or the incumbent if that is less."""
    bound = int(tree.numbers[INCUMBENT])
    for depth in range(tree.numbers[DEPTH] + 1):
        waiting = slice(tree.frames[depth, NEXT], tree.frames[depth, COUNT])
        bound = min([bound, *map(int, tree.children[depth, waiting, BOUND])])
    return bound


@merged
def _probe(arrays: Arrays, state: State, tree: Tree, trail: Trail) -> int:
    """The node's bound after all deletions; the incumbent if nothing here can beat it."""
    # Whatever its total, every classifier of this node pays so much beyond its bound.
    certain = least_slack(arrays, state, tree.total)
    tree.numbers[CERTAIN] = certain
    incumbent = tree.numbers[INCUMBENT] - certain
    limit = state.totals[WORK] + NODE_WORK
    while True:
        deletions = 0
        for place in range(-1, arrays.n_rest):
            if not propagate(arrays, state, trail):
                return int(incumbent + certain)
            if place < 0:
                # First and last: what star leaves behind is then this node's.
                bound = _probe_pair(arrays, state, tree, trail, incumbent)
                if bound >= incumbent or limit == 0:
                    return int(bound + certain)
                continue
            level = tree.order[place]
            if state.boxes[level, LOW] == state.boxes[level, HIGH]:
                continue
            if state.totals[WORK] > limit:
                for v in range(state.alive.shape[1]):
                    tree.probe[level, v] = bound
                continue
            probe_rest(arrays, state, level, tree.probe)
            deleted, left = delete_from(arrays, state, trail, level, tree.probe, incumbent)
            if left == 0:
                _bring_forward(tree, place)
                return int(incumbent + certain)
            deletions += deleted
        if deletions == 0:
            return int(bound + certain)
        limit = 0


@inner
def _bring_forward(tree: Tree, place: int) -> None:
    """Probe the level that pruned this node first at the next ones."""
    level = tree.order[place]
    for i in range(place, 0, -1):
        tree.order[i] = tree.order[i - 1]
    tree.order[0] = level


@merged
def _probe_pair(arrays: Arrays, state: State, tree: Tree, trail: Trail, incumbent: int) -> int:
    """The bound after deleting values of B until none of them reaches the incumbent."""
    while True:
        bound = star(arrays, state)
        if bound >= incumbent:
            return bound
        deletions = 0
        for b in range(arrays.n_b):
            if _n_left(state, arrays.n_rest + b) > 1:
                probe_b(arrays, state, b, tree.probe)
                deleted, left = delete_from(
                    arrays, state, trail, arrays.n_rest + b, tree.probe, incumbent
                )
                if left == 0:
                    return int(incumbent)
                deletions += deleted
        if deletions == 0:
            return bound


@inner
def _n_left(state: State, level: int) -> int:
    left = 0
    for v in range(state.alive.shape[1]):
        left += state.alive[level, v]
    return left


@inner
def _choose(arrays: Arrays, state: State, tree: Tree, bound: int) -> int:
    """The open level with the least estimated size of its subtrees, -1 if none is open."""
    gap, certain = float(tree.numbers[INCUMBENT] - bound), tree.numbers[CERTAIN]
    best, least = -1, math.inf
    for level in range(arrays.n_rest + arrays.n_b):
        if _n_left(state, level) > 1:
            size = 0.0
            for v in range(state.alive.shape[1]):
                if state.alive[level, v]:
                    rise = max(0, tree.probe[level, v] + certain - bound)
                    size += math.exp(-SHARPNESS * float(rise) / gap)
            if size < least:
                best, least = level, size
    return best


@inner
def _push(state: State, tree: Tree, level: int, bound: int, mark: int) -> None:
    """Put the children of a level on the stack, the least bound first."""
    depth = tree.numbers[DEPTH] + 1
    tree.numbers[DEPTH] = depth
    count = 0
    for v in range(state.alive.shape[1]):
        if state.alive[level, v]:
            at, own = count, max(bound, tree.probe[level, v] + tree.numbers[CERTAIN])
            while at > 0 and tree.children[depth, at - 1, BOUND] > own:
                tree.children[depth, at, VALUE] = tree.children[depth, at - 1, VALUE]
                tree.children[depth, at, BOUND] = tree.children[depth, at - 1, BOUND]
                at -= 1
            tree.children[depth, at, VALUE] = v
            tree.children[depth, at, BOUND] = own
            count += 1
    tree.frames[depth, BRANCHED] = level
    tree.frames[depth, MARK] = mark
    tree.frames[depth, COUNT] = count
    tree.frames[depth, NEXT] = 0


@inner
def _record(arrays: Arrays, state: State, tree: Tree, cost: int) -> None:
    """A leaf: rest and B are fixed, the bound is the cost, A takes its best values.

    Nothing was probed here since :func:`star`: it left the costs of every value of A.
    """
    first_a = arrays.n_rest + arrays.n_b
    if matters(tree.total):
        cost = leaf_cost(arrays, state, tree.total)
        if cost >= tree.numbers[INCUMBENT]:
            return
    for level in range(first_a):
        for v in range(state.alive.shape[1]):
            if state.alive[level, v]:
                tree.point[level] = v
    for a in range(arrays.n_a):
        if matters(tree.total):
            tree.point[first_a + a] = tree.total.chosen[a]
        else:
            tree.point[first_a + a] = _cheapest(arrays, state, a)
    tree.numbers[INCUMBENT] = cost
    tree.numbers[FOUND] = 1


@inner
def _cheapest(arrays: Arrays, state: State, a: int) -> int:
    n_values = len(arrays.values)
    at = state.at_sums + (a // LANES) * n_values * LANES + a % LANES
    best = 0
    for v in range(1, n_values):
        gain = state.scratch[at + best * LANES] - state.scratch[at + v * LANES]
        # Of equal values the one next to 0: levels without cells get no weight.
        if gain > 0 or (gain == 0 and abs(arrays.values[v]) < abs(arrays.values[best])):
            best = v
    return best
