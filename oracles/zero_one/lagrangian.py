"""Exact minimisation of errors plus costs less a reward for the weights' total.

Such a reward, as the lift pi has for the squared norm, couples all weights. Window by window of
totals its cost h is split into a line and a slack that is at least 0. The line is a price of every
(level, value), so the branch and bound over cells does the rest: its bounds are those of a
Lagrangian relaxation, strengthened by the least slack that a node has, and its leaves are exact.
Prices, the order of windows and first points come from local search. No proof rests on the first
two, and a point whose cost is not what the search took it for is an error.
(docs/theory/search.md, Totals.)
"""

from __future__ import annotations

import heapq
import itertools
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from oracles.oracle import Limits
from oracles.solution import Certificate, Solution, Status
from oracles.total import TotalReward
from oracles.zero_one._coupled import Coupled
from oracles.zero_one._prices import check_total, defect, steepest
from oracles.zero_one.cells import CellTable, IntArray
from oracles.zero_one.descent import total_cost
from oracles.zero_one.search import explore, name

_TRIALS = 24
"""Prices that are tried for a window."""

_ROUNDS = 16
"""Rounds of local search per price, fewer where a round is long."""

_WORK = 2**20
"""About how many cells, attributes and values those rounds may look at."""

_FIRST_NODES = 64
"""Nodes that every window gets before any gets more, so that all have a bound."""

_MORE = 4
"""A window that is left open gets that many times as many nodes, from its root."""


@dataclass(frozen=True, eq=False)
class _Window:
    """Totals ``first..last``, for which ``h[t] >= constant + price * t``, with equality at one.

    Attributes:
        estimate: About the least cost in it; no bound.
        start: Positions of the values of a good point at that price.
    """

    first: int
    last: int
    price: int
    constant: int
    estimate: int
    start: IntArray


def search_with_total(
    cells: CellTable,
    values: IntArray,
    costs: Sequence[IntArray],
    total: TotalReward,
    *,
    unit: int,
    limits: Limits,
) -> Solution[tuple[IntArray, ...]]:
    """Minimise errors plus costs less the reward for the total.

    Args:
        cells: The data.
        values: The values of every weight, increasing.
        costs: One integer array per attribute, shape ``(levels, len(values))``.
        total: The reward; its parts follow the order of ``values``.
        unit: What one error costs: about how far a window's line may be from h.
        limits: When to stop without a proof. Threads are ignored: the search uses one.

    Returns:
        The solution: ``EXACT`` when no window is left open, or ``INFEASIBLE`` if no point has an
        allowed total; otherwise ``STOPPED`` with the best weights found and a valid bound.
        ``ERROR`` if costs and rewards could leave 64 bits, which does not depend on the rows.

    Raises:
        ProblemError: Margins could overflow, or there are too many rows (:func:`check_total`).
        KeyboardInterrupt: Within a second of Ctrl-C, except while kernels are compiled.
    """
    deadline = math.inf if limits.seconds is None else time.monotonic() + limits.seconds
    check_total(cells.n_rows, total)
    h = [-total.factor * int(level) for level in total.levels]
    reach = steepest(costs, total, h)
    if reach is None:
        return Solution(Status.ERROR, None, None, -math.inf, Certificate.NONE, name())
    problem = _Search(cells, values, costs, _split(cells, total), h, reach, deadline)
    bound = problem.solve(unit, limits.nodes)
    if problem.best is None:
        status = Status.STOPPED if math.isfinite(bound) else Status.INFEASIBLE
        return Solution(status, None, None, -math.inf, Certificate.NONE, name())
    found = problem.weights(problem.best)
    reward = total.reward(np.searchsorted(values, np.concatenate(found)).tolist())
    objective = total_cost(cells, values, costs, found) - (reward or 0)
    if problem.contradicted or reward is None or objective != problem.objective:
        return Solution(Status.ERROR, None, None, -math.inf, Certificate.NONE, name())
    if bound >= objective:
        return Solution(Status.OPTIMAL, found, objective, objective, Certificate.EXACT, name())
    return Solution(Status.STOPPED, found, objective, bound, Certificate.NONE, name())


def _split(cells: CellTable, total: TotalReward) -> list[IntArray]:
    """Its parts per attribute, shape ``(levels, values)``."""
    return np.split(np.stack(total.parts), np.cumsum(cells.levels)[:-1])


class _Search(Coupled):
    """Windows of totals, and the search of each."""

    def solve(self, unit: int, nodes: int | None) -> int | float:
        """Search all windows, then again those that are still open, the least bound first.

        Returns:
            A lower bound on all costs in windows that are left open; infinity if none is.
        """
        left = sys.maxsize if nodes is None else nodes
        order = itertools.count()
        waiting: list[tuple[int | float, int, int, _Window]] = []
        fresh = self.windows(unit)
        while fresh or waiting:
            if fresh:
                bound, share, window = -math.inf, _FIRST_NODES, fresh.pop(0)
            elif left > 0 and time.monotonic() < self.deadline:
                bound, _, share, window = heapq.heappop(waiting)
                # The last one need not begin again.
                share = share if waiting else left
            else:
                break
            least, visited, window = self.search(window, min(share, left))
            left -= visited
            if least is not None:
                entry = (max(bound, least), next(order), _MORE * share, window)
                heapq.heappush(waiting, entry)
        return min((bound for bound, *_ in waiting if bound < self.objective), default=math.inf)

    def windows(self, unit: int) -> list[_Window]:
        """Split until windows are narrow or hopeless; those with the least estimates first."""
        if not self.h:
            return []
        order = itertools.count()
        whole = self.window(0, len(self.h) - 1, self.start)
        waiting = [(whole.estimate, next(order), whole)]
        found: list[_Window] = []
        while waiting:
            estimate, _, window = heapq.heappop(waiting)
            open_ = estimate < self.objective and time.monotonic() < self.deadline
            if not open_ or defect(self.h[window.first : window.last + 1]) <= unit:
                found.append(window)
                continue
            middle = (window.first + window.last) // 2
            for first, last in ((window.first, middle), (middle + 1, window.last)):
                half = self.window(first, last, window.start)
                heapq.heappush(waiting, (half.estimate, next(order), half))
        return sorted(found, key=lambda window: window.estimate)

    def window(self, first: int, last: int, point: IntArray) -> _Window:
        """A window at the price whose Lagrangian bound is about the best, found by bisection."""
        from oracles.zero_one import _local  # imports numba

        n_cells, n_attributes = self.layout.cell_level.shape
        rounds = min(_ROUNDS, 1 + _WORK // (1 + n_cells * n_attributes * self.own.shape[1]))
        low, high = -self.steepest, self.steepest
        chord = (self.h[last] - self.h[first]) // max(last - first, 1)
        price = min(max(chord, low), high)
        step = 1 + abs(price) // 8
        found: _Window | None = None
        for _ in range(_TRIALS):
            layout, constant = self.priced(price)
            walk = _local.new_walk(layout, self.allowed, point)
            _local.improve(walk, rounds)
            point = walk.best.copy()
            rest = [self.h[t] - price * t for t in range(first, last + 1)]
            estimate = constant + int(walk.numbers[_local.BEST]) + min(rest)
            if found is None or estimate > found.estimate:
                found = _Window(first, last, price, min(rest), estimate, point)
            self.offer(point)
            total, wanted = self.total(point), first + rest.index(min(rest))
            if total > wanted:
                low, following = price, min(price + step, high)
            else:
                high, following = price, max(price - step, low)
            # Doubled steps until the best price is between two, halves from there on.
            if -self.steepest < low and high < self.steepest:
                following = (low + high) // 2
            if total == wanted or following == price or time.monotonic() >= self.deadline:
                break
            price, step = following, 4 * step
        assert found is not None, "a price is tried before any end"
        return found

    def search(self, window: _Window, nodes: int) -> tuple[int | None, int, _Window]:
        """Search a window for less than the best so far.

        Returns:
            A lower bound on it, None if nothing in it is better than the best point; nodes; the
            window with the best start for another search.
        """
        from oracles.zero_one import _local, _total  # imports numba

        layout, constant = self.priced(window.price)
        constant += window.constant
        below = self.objective - constant
        if below <= 0:
            return None, 0, window
        slack = np.full(len(self.h), _total.NEVER, dtype=np.int64)
        for t in range(window.first, window.last + 1):
            slack[t] = self.h[t] - window.price * t - window.constant
        total = _total.new_total(layout.arrays, self.part, slack)
        walk = _local.new_walk(layout, self.allowed, window.start, total)
        least, exhausted, visited = explore(
            layout, self.allowed, walk, below=below, nodes=nodes, deadline=self.deadline
        )
        claimed, real = int(walk.numbers[_local.BEST]), self.offer(walk.best)
        # What was searched for is less than a claim; so a wrong one voids all that is proven.
        self.contradicted |= claimed < min(below, _total.NEVER) and constant + claimed != real
        again = replace(window, start=walk.best.copy())
        return None if exhausted else constant + least, visited, again
