"""Exact minimisation of the 0-1 loss: branch and bound in integers, with its own certificate.

The bound, why it is valid and why nothing overflows: docs/theory/search.md. In short, two large
attributes are relaxed jointly in a table, the others are branched on, and a node is left only if
its integer bound reaches the incumbent; so an exhausted tree proves the incumbent optimal.

Kernels are compiled at the first call (seconds, kept on disk where numba may write) and run in
pieces of a tenth of a second or so, between which Ctrl-C and limits take effect. The search is
deterministic. Nothing is kept between calls.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from oracles.oracle import Limits
from oracles.solution import Certificate, Solution, Status
from oracles.zero_one._layout import Layout, lay_out, trivial_bound
from oracles.zero_one._shift import Shifts, up_to_shifts
from oracles.zero_one.cells import CellTable, IntArray
from oracles.zero_one.descent import total_cost

if TYPE_CHECKING:
    from oracles.zero_one._local import Walk
    from oracles.zero_one._tree import Tree

_FIRST_WORK = 2**20
_MOST_WORK = 2**23
"""Work per piece: it doubles from the first figure to the second, about 0.1 s."""

_EAGER_PIECES = 64
_LAZY_PERIOD = 8
"""A fifth of the work goes into the incumbent for that many pieces, and for as long again as it
took to the last improvement; then only every so many pieces."""


def search(
    cells: CellTable,
    weights: IntArray,
    costs: Sequence[IntArray],
    *,
    limits: Limits,
    start: tuple[IntArray, ...] | None = None,
) -> Solution[tuple[IntArray, ...]]:
    """Minimise errors plus costs.

    Args:
        cells: The data.
        weights: The values of every weight, increasing.
        costs: One integer array per attribute, shape ``(levels, len(weights))``.
        limits: When to stop without a proof. Threads are ignored: the search uses one.
        start: Weights to begin with, one array per attribute. Default all 0.

    Returns:
        The solution: ``EXACT`` when the tree is exhausted; otherwise ``STOPPED`` with the best
        weights found and a valid bound.

    Raises:
        ProblemError: Margins, or counts and costs together, could overflow.
        KeyboardInterrupt: Within a second of Ctrl-C, except while kernels are compiled.
    """
    deadline = math.inf if limits.seconds is None else time.monotonic() + limits.seconds
    if start is None:
        start = tuple(np.zeros(size, dtype=np.int64) for size in cells.levels)
    found, exhausted = start, False
    if time.monotonic() >= deadline:
        least = trivial_bound(cells, weights, costs)
    else:
        layout = lay_out(cells, weights, costs, cut=True)
        point, least, exhausted = _grow(layout, start, limits.nodes, deadline)
        found = layout.weights(point)
    objective = total_cost(cells, weights, costs, found)
    if exhausted:
        if objective != least:  # a cost that the tree proved cannot differ from the recount
            return Solution(Status.ERROR, None, None, -math.inf, Certificate.NONE, name())
        return Solution(Status.OPTIMAL, found, objective, least, Certificate.EXACT, name())
    first = total_cost(cells, weights, costs, start)
    if first < objective:
        found, objective = start, first
    bound = min(least, objective)
    return Solution(Status.STOPPED, found, objective, bound, Certificate.NONE, name())


def name() -> str:
    """``oracle-dp search`` and the package's version."""
    try:
        return f"oracle-dp search {version('oracle-dp')}"
    except PackageNotFoundError:
        return "oracle-dp search"


def useful_values(layout: Layout) -> NDArray[np.bool_]:
    """Values that some optimum can be restricted to, shape ``(d, V)``; at least one per level.

    Values are left out whose price was cut, and values that another one dominates: where no cell
    of a level gains from a greater weight, a smaller one that is no dearer is as good, and
    conversely. A level without cells keeps the cheapest value next to 0 only.
    """
    cost = layout.arrays.cost
    used = np.ones(cost.shape, dtype=bool)
    first_b = layout.arrays.n_rest
    used[first_b : first_b + layout.arrays.n_b, layout.arrays.n_values_b :] = False
    useful = used & (cost <= layout.level_gain[:, None])
    gains_upward = np.sign(layout.cell_factor) * np.sign(layout.cell_difference)[:, None]
    upward, downward = (
        np.bincount(layout.cell_level[gains_upward == sign], minlength=len(cost)) > 0
        for sign in (1, -1)
    )
    for level in np.flatnonzero(~upward):
        _keep_cheaper(cost[level], useful[level])
    for level in np.flatnonzero(~downward):
        _keep_cheaper(cost[level, ::-1], useful[level, ::-1])
    for level in np.flatnonzero(layout.level_gain == 0):
        free = np.flatnonzero((cost[level] == 0) & used[level])
        useful[level] = False
        useful[level, free[np.abs(layout.arrays.values[free]).argmin()]] = True
    return useful


def _keep_cheaper(cost: IntArray, useful: NDArray[np.bool_]) -> None:
    """Of the values in use keep those that cost less than all before them."""
    least: float = math.inf
    for v in np.flatnonzero(useful):
        useful[v] = cost[v] < least
        least = min(least, int(cost[v]))


def _grow(
    layout: Layout, start: tuple[IntArray, ...], nodes: int | None, deadline: float
) -> tuple[IntArray, int, bool]:
    """The incumbent's point, a lower bound on all costs, and whether the tree was exhausted."""
    from oracles.zero_one import _local  # imports numba

    useful = useful_values(layout)
    walk = _local.new_walk(layout, useful, layout.point(start))
    least, exhausted, _ = explore(
        layout, useful, walk, shifts=up_to_shifts(layout, useful), nodes=nodes, deadline=deadline
    )
    return walk.best, layout.constant + least, exhausted


def explore(
    layout: Layout,
    allowed: NDArray[np.bool_],
    walk: Walk,
    *,
    below: float = math.inf,
    shifts: Shifts | None = None,
    nodes: int | None = None,
    deadline: float = math.inf,
) -> tuple[int, bool, int]:
    """Search for less than a walk's best cost; the walk then has the best point of both.

    Args:
        layout: The layout.
        allowed: Values left at the root, shape ``(d, V)``.
        walk: Gives the incumbent, and looks for better ones between pieces of the search.
        below: Only less than this counts, if the walk's best is not already.
        shifts: The layout up to shifts, if it has that.
        nodes: How many to visit at most.
        deadline: Of :func:`time.monotonic`.

    Returns:
        A lower bound on all costs beyond the constant, or ``below`` if that is less; whether the
        tree was exhausted; how many nodes were visited.
    """
    from oracles.zero_one import _bounds, _local, _state, _trail, _tree  # imports numba

    inside = layout if shifts is None else shifts.layout
    state = _state.new_state(inside)
    state.alive[:] = allowed if shifts is None else shifts.allowed
    _bounds.settle(inside.arrays, state)
    tree = _tree.new_tree(inside.arrays, int(min(below, walk.numbers[_local.BEST])), walk.total)
    trail = _trail.new_trail(inside.arrays)
    most_nodes = sys.maxsize if nodes is None else nodes
    n_cells, n_attributes = layout.cell_level.shape
    looked_at = 16 * n_cells * n_attributes * len(layout.arrays.values) + 1024
    work, piece, eager, exhausted = _FIRST_WORK, 0, _EAGER_PIECES, False
    while time.monotonic() < deadline and tree.numbers[_tree.NODES] < most_nodes:
        if piece < eager or piece % _LAZY_PERIOD == 0:
            _local.improve(walk, 1 + work // looked_at)
            if _take_over(walk, tree, shifts):
                eager = max(eager, 2 * piece)
        _tree.run(inside.arrays, state, tree, trail, work, most_nodes)
        if exhausted := bool(tree.numbers[_tree.DEPTH] < 0 < tree.numbers[_tree.NODES]):
            break
        work, piece = min(2 * work, _MOST_WORK), piece + 1
    least = _tree.open_bound(tree) if tree.numbers[_tree.NODES] else 0
    _take_over(walk, tree, shifts)
    return least, exhausted, int(tree.numbers[_tree.NODES])


def _take_over(walk: Walk, tree: Tree, shifts: Shifts | None) -> bool:
    """Tell the tree of the walk's best point or conversely; whether the walk's was better."""
    from oracles.zero_one import _local, _tree

    if walk.numbers[_local.BEST] < tree.numbers[_tree.INCUMBENT]:
        tree.numbers[_tree.INCUMBENT] = walk.numbers[_local.BEST]
        tree.numbers[_tree.FOUND] = 0
        return True
    if tree.numbers[_tree.FOUND] and tree.numbers[_tree.INCUMBENT] < walk.numbers[_local.BEST]:
        walk.numbers[_local.BEST] = tree.numbers[_tree.INCUMBENT]
        walk.best[:] = tree.point if shifts is None else shifts.point(tree.point)
    return False
