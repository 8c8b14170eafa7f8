"""Errors plus costs plus a cost of the weights' total, in the numbering of a layout."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from oracles.zero_one._idle import take_out
from oracles.zero_one._layout import Layout, lay_out
from oracles.zero_one._parts import normalise
from oracles.zero_one.cells import CellTable, IntArray
from oracles.zero_one.descent import descend


class Coupled:
    """The problem in the numbering of its layout, and the best point so far.

    Attributes:
        layout: With the costs, totals not priced.
        own, part: Cost, and part of the total, of each level's values, shape ``(d, V)``.
        h: Cost of each total; empty if none is allowed.
        steepest: No price beyond it is of use.
        deadline: Of :func:`time.monotonic`.
        constant: What every point pays, costs and total apart.
        allowed: Values that levels may take, shape ``(d, V)``.
        start: Positions of the values of some point.
        best, objective: The best point so far and its cost; None and infinity before.
        idle: The levels without cells that matter, taken out of all of the above but ``constant``.
        contradicted: Whether the search once claimed a cost that its point does not have.
    """

    def __init__(
        self,
        cells: CellTable,
        values: IntArray,
        costs: Sequence[IntArray],
        parts: Sequence[IntArray],
        h: Sequence[int],
        reach: int,
        deadline: float,
    ) -> None:
        self.layout = lay_out(cells, values, costs)
        self.steepest, self.deadline = reach, deadline
        self.own = self._by_level(costs)
        # A part beyond every level is as good as one just beyond.
        self.part = np.minimum(self._by_level(parts), len(h))
        self.constant = self.layout.constant - sum(map(int, self.own.min(axis=1)))
        arrays = self.layout.arrays
        self.allowed = np.ones(self.own.shape, dtype=bool)
        self.allowed[arrays.n_rest : arrays.n_rest + arrays.n_b, arrays.n_values_b :] = False
        idle = np.flatnonzero(self.layout.level_gain == 0)
        self.idle = take_out(idle, self.own, self.part, np.argsort(np.abs(values)), h)
        self.h = self.idle.h
        self.own[idle], self.allowed[idle, 1:] = 0, False
        self.part = self.part.copy()
        self.part[idle] = 0
        self.contradicted = False
        self.best: IntArray | None = None
        self.objective: int | float = math.inf
        self.start = self.layout.point(
            descend(cells, [int(v) for v in values], costs, restarts=1, deadline=deadline)
        )
        self.offer(self.start)

    def _by_level(self, tables: Sequence[IntArray]) -> IntArray:
        """The attributes' tables as one, in the layout's numbering of levels."""
        found = np.zeros(self.layout.arrays.cost.shape, dtype=np.int64)
        for start, table in zip(self.layout.starts, tables, strict=True):
            found[start : start + len(table)] = table
        return found

    def priced(self, price: int) -> tuple[Layout, int]:
        """The layout with the total at a price, and its constant."""
        cost, least = normalise([self.own + price * self.part], None)
        arrays = self.layout.arrays._replace(cost=cost)
        return replace(self.layout, arrays=arrays), self.constant + least

    def total(self, point: IntArray) -> int:
        """The total of a point."""
        return int(self.part[np.arange(len(point)), point].sum())

    def offer(self, point: IntArray) -> int | float:
        """Take a point over if it is the best so far; its cost, infinite if it is not allowed."""
        total = self.total(point)
        if total >= len(self.h):
            return math.inf
        layout, constant = self.priced(0)
        objective = layout.cost(point) + constant + self.h[total]
        if objective < self.objective:
            self.best, self.objective = point.copy(), objective
        return objective

    def weights(self, best: IntArray) -> tuple[IntArray, ...]:
        """Weights per attribute, those of idle levels too."""
        return self.layout.weights(self.idle.complete(best, self.total(best)))
