"""Depth-first branch and bound over the rest and B; A is collapsed at the leaves.

A node deletes every value whose bound reaches the incumbent, one level and value at a time
("probing"), and branches on the level whose remaining values promise the smallest trees. Nothing
is copied: a trail of deletions takes the state back. (docs/theory/search.md.)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from oracles.zero_one._bounds import HIGH, LOW, WORK, State, balance, probe_b, probe_rest, refresh, star
from oracles.zero_one._compile import inner, kernel
from oracles.zero_one._layout import LANES, Arrays
from oracles.zero_one.cells import IntArray

DEPTH, TRAIL, INCUMBENT, NODES, FOUND, UNIT = 0, 1, 2, 3, 4, 5
"""Places in ``Tree.numbers``."""

BRANCHED, MARK, COUNT, NEXT = 0, 1, 2, 3
"""Columns of ``Tree.frames``."""

VALUE, BOUND = 0, 1
"""Columns of ``Tree.children``."""

SWEEPS = 2
NODE_WORK = 20_000_000
"""Work after which a node stops probing: large instances must stay interruptible."""

_SHARPNESS = 10.0
"""A child whose bound closes the share s of the gap counts as ``exp(-10 s)`` of its parent."""

PRUNED, LEAF = -1, -2


class Tree(NamedTuple):
    """The path from the root to the current node.

    Attributes:
        numbers: Depth of the stack (-1: exhausted), length of the trail, incumbent (cost beyond
            the constant), nodes so far, incumbents found.
        frames: At each depth the level branched on, the length of the trail before it, the number
            of children and the next of them, shape ``(depths, 4)``.
        children: Their values and bounds, increasing in bound, shape ``(depths, V, 2)``.
        trail: Deleted levels and values in order, shape ``(d * V, 2)``.
        probe: Bounds of the current node's children, shape ``(d, V)``.
        point: Positions of the incumbent's values, shape ``(d,)``.
    """

    numbers: IntArray
    frames: IntArray
    children: IntArray
    trail: IntArray
    probe: IntArray
    point: IntArray
    order: IntArray


def new_tree(arrays: Arrays, incumbent: int, resolution: int = 1) -> Tree:
    """A tree before its root, with the cost to beat."""
    depths = arrays.n_rest + arrays.n_b + 1
    n_levels, n_values = arrays.cost.shape
    return Tree(
        np.array([-1, 0, incumbent, 0, 0, resolution], dtype=np.int64),
        np.zeros((depths, 4), dtype=np.int64),
        np.zeros((depths, n_values, 2), dtype=np.int64),
        np.zeros((n_levels * n_values, 2), dtype=np.int64),
        np.zeros((n_levels, n_values), dtype=np.int64),
        np.zeros(n_levels, dtype=np.int64),
        np.arange(arrays.n_rest, dtype=np.int64),
    )


@kernel
def run(arrays: Arrays, state: State, tree: Tree, work: int, nodes: int) -> None:
    """Continue until the tree is exhausted or about that much work or that many nodes are done."""
    numbers = tree.numbers
    stop = state.totals[WORK] + work
    if numbers[NODES] == 0:
        numbers[NODES] = 1
        _expand(arrays, state, tree)
    while numbers[DEPTH] >= 0 and state.totals[WORK] < stop and numbers[NODES] < nodes:
        depth = numbers[DEPTH]
        _undo(arrays, state, tree, tree.frames[depth, MARK])
        i = tree.frames[depth, NEXT]
        # Children are sorted: the first that cannot beat the incumbent ends them all.
        if i == tree.frames[depth, COUNT] or tree.children[depth, i, BOUND] >= numbers[INCUMBENT]:
            numbers[DEPTH] = depth - 1
            continue
        tree.frames[depth, NEXT] = i + 1
        _keep_only(arrays, state, tree, tree.frames[depth, BRANCHED], tree.children[depth, i, VALUE])
        numbers[NODES] += 1
        _expand(arrays, state, tree)


@kernel
def open_bound(tree: Tree) -> int:
    """Least bound of the nodes still to be visited, or the incumbent if that is less."""
    bound = tree.numbers[INCUMBENT]
    for depth in range(tree.numbers[DEPTH] + 1):
        for i in range(tree.frames[depth, NEXT], tree.frames[depth, COUNT]):
            bound = min(bound, tree.children[depth, i, BOUND])
    return bound


@inner
def _delete(arrays: Arrays, state: State, tree: Tree, level: int, value: int) -> None:
    state.alive[level, value] = False
    top = tree.numbers[TRAIL]
    tree.trail[top, 0], tree.trail[top, 1] = level, value
    tree.numbers[TRAIL] = top + 1


@inner
def _keep_only(arrays: Arrays, state: State, tree: Tree, level: int, value: int) -> None:
    for v in range(len(arrays.values)):
        if v != value and state.alive[level, v]:
            _delete(arrays, state, tree, level, v)
    if level < arrays.n_rest:
        refresh(arrays, state, level)


@inner
def _undo(arrays: Arrays, state: State, tree: Tree, mark: int) -> None:
    top = tree.numbers[TRAIL]
    while top > mark:
        level = tree.trail[top - 1, 0]
        while top > mark and tree.trail[top - 1, 0] == level:
            top -= 1
            state.alive[level, tree.trail[top, 1]] = True
        if level < arrays.n_rest:
            refresh(arrays, state, level)
    tree.numbers[TRAIL] = top


@inner
def _n_alive(state: State, level: int) -> int:
    total = 0
    for v in range(state.alive.shape[1]):
        total += state.alive[level, v]
    return total


@inner
def _expand(arrays: Arrays, state: State, tree: Tree) -> None:
    """Bound, probe, and either prune, or improve the incumbent, or push the children."""
    bound, best, best_score = _probe_all(arrays, state, tree)
    if bound >= tree.numbers[INCUMBENT]:
        return
    if best < 0:
        _record(arrays, state, tree, bound)
        return
    depth = tree.numbers[DEPTH] + 1
    tree.numbers[DEPTH] = depth
    tree.frames[depth, BRANCHED], tree.frames[depth, MARK] = best, tree.numbers[TRAIL]
    tree.frames[depth, NEXT] = 0
    count = 0
    for v in range(len(arrays.values)):
        if not state.alive[best, v]:
            continue
        at, own = count, max(bound, tree.probe[best, v])
        while at > 0 and tree.children[depth, at - 1, BOUND] > own:
            tree.children[depth, at, BOUND] = tree.children[depth, at - 1, BOUND]
            tree.children[depth, at, VALUE] = tree.children[depth, at - 1, VALUE]
            at -= 1
        tree.children[depth, at, BOUND], tree.children[depth, at, VALUE] = own, v
        count += 1
    tree.frames[depth, COUNT] = count


@inner
def _probe_all(arrays: Arrays, state: State, tree: Tree) -> tuple[int, int, float]:
    """The node's bound after deletions, the level to branch on (-1: none is open), its score."""
    incumbent = tree.numbers[INCUMBENT]
    bound = _probe_pair(arrays, state, tree)
    if bound >= incumbent:
        return bound, -1, 0.0
    limit = state.totals[WORK] + NODE_WORK
    changed = False
    for place in range(arrays.n_rest):
        level = tree.order[place]
        if state.boxes[level, LOW] == state.boxes[level, HIGH]:
            continue
        if state.totals[WORK] > limit:
            for v in range(len(arrays.values)):
                tree.probe[level, v] = bound
            continue
        deleted = 0
        probe_rest(arrays, state, level, tree.probe)
        for v in range(len(arrays.values)):
            if state.alive[level, v]:
                if tree.probe[level, v] >= incumbent:
                    _delete(arrays, state, tree, level, v)
                    deleted += 1
        if deleted > 0:
            changed = True
            if _n_alive(state, level) == 0:
                # Nothing beats the incumbent here; the level keeps its interval until undone.
                for i in range(place, 0, -1):
                    tree.order[i] = tree.order[i-1]
                tree.order[0] = level
                return incumbent, -1, 0.0
            refresh(arrays, state, level)
    if changed:
        bound = _probe_pair(arrays, state, tree)
        if bound >= incumbent:
            return bound, -1, 0.0
    return _choose(arrays, state, tree, bound)


@inner
def _probe_pair(arrays: Arrays, state: State, tree: Tree) -> int:
    """The bound after deleting values of B until none of them reaches the incumbent."""
    incumbent = tree.numbers[INCUMBENT]
    while True:
        bound = star(arrays, state)
        for _ in range(SWEEPS):
            if bound >= incumbent:
                break
            bound = balance(arrays, state)
        if bound >= incumbent:
            return bound
        deleted = 0
        for b in range(arrays.n_b):
            level = arrays.n_rest + b
            if _n_alive(state, level) == 1:
                continue
            left = 0
            for w in range(arrays.n_values_b):
                if not state.alive[level, w]:
                    continue
                tree.probe[level, w] = probe_b(arrays, state, b, w)
                if tree.probe[level, w] >= incumbent:
                    _delete(arrays, state, tree, level, w)
                    deleted += 1
                else:
                    left += 1
            if left == 0:
                return incumbent
        if deleted == 0:
            return bound


@inner
def _choose(arrays: Arrays, state: State, tree: Tree, bound: int) -> tuple[int, int, float]:
    """The open level with the least estimated size of its subtrees."""
    gap = float(tree.numbers[INCUMBENT] - bound)
    best, best_score = -1, 0.0
    for level in range(arrays.n_rest + arrays.n_b):
        if _n_alive(state, level) == 1:
            continue
        score = 0.0
        for v in range(len(arrays.values)):
            if state.alive[level, v]:
                score += math.exp(-_SHARPNESS * max(0, tree.probe[level, v] - bound) / gap)
        if best < 0 or score < best_score:
            best, best_score = level, score
    return bound, best, best_score


@inner
def _record(arrays: Arrays, state: State, tree: Tree, total: int) -> None:
    """All of rest and B is fixed: the bound is the cost, each level of A takes its best value."""
    star(arrays, state)
    n_values = len(arrays.values)
    for level in range(arrays.n_rest + arrays.n_b):
        for v in range(n_values):
            if state.alive[level, v]:
                tree.point[level] = v
    for a in range(arrays.n_a):
        at = state.at_sums + (a // LANES) * n_values * LANES + a % LANES
        best = 0
        for v in range(1, n_values):
            if state.scratch[at + v * LANES] < state.scratch[at + best * LANES]:
                best = v
        tree.point[arrays.n_rest + arrays.n_b + a] = best
    tree.numbers[INCUMBENT] = total - tree.numbers[UNIT] + 1
    tree.numbers[FOUND] += 1
