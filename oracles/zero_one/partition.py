"""A tree of boxes of classifiers with upper bounds on their sums of ``exp(-beta cost)``.

The tree fixes the levels of all attributes but one, A, whose levels do not interact once the others
are fixed. A complete node therefore splits into one independent choice per level of A with known
integer costs. Levels without cells are never fixed: they too are chosen apart, and their sums are
a factor of every mass, so that trees over different attributes can stand side by side.

This is optimisation: a bound on a partition function tells how much a part of the space can matter,
as a bound on a minimum tells whether it can. What is drawn by it is the caller's business.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oracles.zero_one._bounds import new_state, settle
from oracles.zero_one._layout import LANES, Layout, lay_out
from oracles.zero_one._soft import STEP, STEP_PER_OPERATION, Soft
from oracles.zero_one._soft_tree import (
    DEPTH,
    FIRST,
    FULL,
    LEVEL,
    USED,
    Nodes,
    gather,
    refine,
    visit,
)
from oracles.zero_one.cells import CellTable, IntArray

CAPACITY = 2**14
MAX_NODES = 2**23
"""Nodes after which a tree is refined no further: about 0.5 GB."""


@dataclass(frozen=True, eq=False)
class Leaf:
    """A complete node: what is left to choose, with exact integer costs.

    Attributes:
        fixed: Position of the value of each level that the tree fixes, -1 elsewhere.
        levels: The remaining levels, in the layout's numbering: A's, and those without cells.
        costs: Their costs per value, shape ``(len(levels), V)``.
        base: Cost of everything else beyond the layout's constant.
    """

    fixed: IntArray
    levels: IntArray
    costs: IntArray
    base: int


class PartitionTree:
    """The tree, refined on demand. Node 0 is the root; children come after their parents.

    Args:
        cells: The data.
        values: The weights' values, increasing.
        costs: Integer costs per attribute, shape ``(levels, len(values))``.
        beta: Nats per unit of cost, positive.
        reference: A cost, errors included, whose exponential counts as mass 1.

    Attributes:
        layout: The arrays behind it.
        reference: In units beyond the layout's constant.
    """

    def __init__(
        self,
        cells: CellTable,
        values: IntArray,
        costs: Sequence[IntArray],
        *,
        beta: float,
        reference: int,
    ) -> None:
        self.layout: Layout = lay_out(cells, values, costs)
        arrays = self.layout.arrays
        self.reference = reference - self.layout.constant
        gain = self.layout.level_gain
        active = np.flatnonzero(gain[: arrays.n_rest + arrays.n_b] > 0)
        if arrays.n_values_b == 1:
            active = active[active < arrays.n_rest]
        self.active = active[np.argsort(-gain[active], kind="stable")].astype(np.int64)
        idle = np.setdiff1d(np.arange(arrays.n_rest + arrays.n_b), active)
        # Without a second attribute B is a stand-in whose only weight is 0.
        self._idle = idle[idle < arrays.n_rest] if arrays.n_values_b == 1 else idle
        self._state = new_state(self.layout)
        self._keep_idle_levels_of_b()
        self._soft = _soft(self.layout, self.active, beta, self.reference)
        self._nodes = _nodes(CAPACITY, arrays.cost.shape[0])
        self._nodes.numbers[USED] = 1
        self._nodes.links[0, FIRST] = self._nodes.links[0, LEVEL] = -1
        settle(arrays, self._state)
        root = visit(arrays, self._state, self._soft, self._nodes, 0)
        self._nodes.log_mass[0] = root

    def _keep_idle_levels_of_b(self) -> None:
        """A level of B without cells is chosen apart: in the table it stays at a free value."""
        arrays = self.layout.arrays
        for b in range(arrays.n_b):
            level = arrays.n_rest + b
            if self.layout.level_gain[level] == 0 and arrays.n_values_b > 1:
                self._state.alive[level] = False
                self._state.alive[level, int(arrays.cost[level].argmin())] = True

    # -- the tree ------------------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Nodes so far."""
        return int(self._nodes.numbers[USED])

    def log_mass(self, node: int) -> float:
        """Natural logarithm of a node's mass: at least the sum over its box, and its children's."""
        return float(self._nodes.log_mass[node])

    def children(self, node: int) -> range:
        """A node's children, made if need be; empty for a complete node."""
        nodes = self._nodes
        if nodes.links[node, FIRST] < 0:
            if self._depth(node) == len(self.active):
                return range(0)
            self._refine(node, math.inf, 1)
            nodes = self._nodes
        first, level = int(nodes.links[node, FIRST]), int(nodes.links[node, LEVEL])
        return range(first, first + self._n_values(level))

    def refine(self, threshold: float, work: int) -> int:
        """Expand nodes of log mass above ``threshold``, for about that much work.

        ``work`` counts operations, about 10^8 a second. Masses are not updated before
        :meth:`gather`. A tree of ``MAX_NODES`` stays as it is.

        Returns:
            Number of nodes expanded; 0 when there is nothing left to do.
        """
        return 0 if self.n_nodes > MAX_NODES else self._refine(0, threshold, work)

    def _refine(self, node: int, threshold: float, work: int) -> int:
        # Never a limit of its own: a trial that is under way must be able to end.
        total = 0
        while True:
            arguments = self.layout.arrays, self._state, self._soft, self._nodes
            total += int(refine(*arguments, node, threshold, work))
            if not self._nodes.numbers[FULL]:
                return total
            self._make_room()

    def gather(self) -> None:
        """Let every inner node have just its children's mass."""
        gather(self.layout.arrays, self._soft, self._nodes)

    def leaf(self, node: int) -> Leaf:
        """What a complete node leaves to choose."""
        arrays, soft = self.layout.arrays, self._soft
        visit(arrays, self._state, soft, self._nodes, node)
        rest = self.active[self.active < arrays.n_rest]
        base = int(arrays.cost[rest, self._nodes.assigned[rest]].sum())
        sums = soft.sums.reshape(arrays.n_blocks, len(arrays.values), LANES).transpose(0, 2, 1)
        costs_a = sums.reshape(-1, len(arrays.values))[: arrays.n_a]
        first_a = arrays.n_rest + arrays.n_b
        fixed = np.full(arrays.cost.shape[0], -1, dtype=np.int64)
        fixed[self.active] = self._nodes.assigned[self.active]
        return Leaf(
            fixed,
            np.concatenate([np.arange(first_a, len(fixed)), self._idle]),
            np.concatenate([costs_a, arrays.cost[self._idle]]),
            base,
        )

    # -- inside --------------------------------------------------------------------------------

    def _depth(self, node: int) -> int:
        return int(self._nodes.links[node, DEPTH])

    def _n_values(self, level: int) -> int:
        arrays = self.layout.arrays
        return arrays.n_values_b if level >= arrays.n_rest else len(arrays.values)

    def _make_room(self) -> None:
        capacity = len(self._nodes.log_mass)
        larger = _nodes(2 * capacity, len(self._nodes.assigned))
        larger.log_mass[:capacity] = self._nodes.log_mass
        larger.links[:capacity] = self._nodes.links
        larger.assigned[:] = self._nodes.assigned
        larger.numbers[:] = self._nodes.numbers
        self._nodes = larger


def _nodes(capacity: int, n_levels: int) -> Nodes:
    return Nodes(
        np.zeros(capacity),
        np.zeros((capacity, 5), dtype=np.int64),
        np.full(n_levels, -1, dtype=np.int64),
        np.full(n_levels, -1, dtype=np.int64),
        np.zeros(2, dtype=np.int64),
    )


def _soft(layout: Layout, active: IntArray, beta: float, reference: int) -> Soft:
    arrays = layout.arrays
    n_values = len(arrays.values)
    rho = _weights_of_a(layout)
    power = np.divide(1.0, rho, out=np.full_like(rho, np.inf), where=rho > 0)
    free_log = np.log(np.exp(-beta * arrays.cost.astype(float)).sum(axis=1))
    idle_of_b = np.setdiff1d(np.arange(arrays.n_rest, arrays.n_rest + arrays.n_b), active)
    idle_log = 0.0 if arrays.n_values_b == 1 else float(free_log[idle_of_b].sum())
    shape = arrays.n_blocks * n_values * LANES
    operations = shape * arrays.n_b * (arrays.n_values_b + 2)
    return Soft(
        beta,
        max(STEP, STEP_PER_OPERATION * operations),
        reference,
        rho,
        power,
        active,
        free_log[: arrays.n_rest],
        idle_log,
        np.zeros(shape, dtype=np.int64),
        np.zeros(shape),
        np.zeros(shape * arrays.n_b, dtype=np.int64),
        np.zeros(shape * arrays.n_b),
        np.zeros((arrays.cost.shape[0], n_values)),
    )


def _weights_of_a(layout: Layout) -> NDArray[np.float64]:
    """Hoelder's weights: each level of B over the levels of A, by the gains of their cells.

    The costs of B are shared out alike, so where the table is empty the bound is the sum itself.
    The weights of a level with cells add up to slightly more than 1, which is the safe side: norms
    of sums only grow.
    """
    arrays = layout.arrays
    stake = np.zeros((arrays.n_b, arrays.n_blocks * LANES))
    b = layout.cell_level[:, -2] - arrays.n_rest
    a = layout.cell_level[:, -1] - arrays.n_rest - arrays.n_b
    np.add.at(stake, (b, a), np.abs(layout.cell_difference).astype(float))
    total = stake.sum(axis=1, keepdims=True)
    rho = np.divide(stake, total, out=np.zeros_like(stake), where=total > 0) * (1 + 1e-12)
    flat = rho.reshape(arrays.n_b, arrays.n_blocks, LANES).transpose(1, 0, 2)
    return np.ascontiguousarray(flat).ravel()
