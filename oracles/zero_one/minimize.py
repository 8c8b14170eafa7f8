"""The front door: minimise errors plus costs over integer weights, with a certificate."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from oracles.errors import ProblemError
from oracles.highs import Highs
from oracles.oracle import UNLIMITED, Limits, Oracle
from oracles.solution import Certificate, Solution, Status
from oracles.total import TotalReward
from oracles.verdict import check_provable, recheck
from oracles.zero_one._prices import check_noise, check_total
from oracles.zero_one.cells import CellTable, IntArray
from oracles.zero_one.descent import descend, total_cost
from oracles.zero_one.formulation import formulate
from oracles.zero_one.lagrangian import search_with_total
from oracles.zero_one.search import search

TERNARY = (-1, 0, 1)


def minimize(
    cells: CellTable,
    weights: Sequence[int] = TERNARY,
    *,
    costs: Sequence[ArrayLike] | None = None,
    method: str = "search",
    oracle: Oracle | None = None,
    limits: Limits | None = None,
) -> Solution[tuple[IntArray, ...]]:
    """Minimise the number of errors plus a cost per (level, value) of the weights.

    Args:
        cells: The data.
        weights: The values that every weight may take: distinct integers, 0 among them.
        costs: For each attribute an integer array of shape ``(levels, len(weights))``, columns
            in the order of ``weights``. Default no costs.
        method: ``"search"``: branch and bound in integers over the cells, whose answer is proven
            exactly. ``"milp"``: the formulation over cells, solved by ``oracle``. Both begin with
            an incumbent found by block coordinate descent.
        oracle: What solves the program of ``"milp"``. Default :class:`oracles.Highs`.
        limits: When to stop without a proof. Default never.

    Returns:
        A solution whose ``value`` is one int array of weights per attribute, in order, and whose
        ``objective`` is an ``int`` recounted from the cells, not from the program.

    Raises:
        ProblemError: ``weights``, ``costs`` or ``method`` are not as described.
    """
    if method not in ("search", "milp"):
        raise ProblemError(f"method: 'search' or 'milp' expected, not {method!r}")
    order, values = check_weights(weights)
    tables = _check_costs(cells, costs, order)
    within = limits or UNLIMITED
    if method == "search":
        _check_oracle(method, oracle)
        return _search(cells, values, tables, within)
    return _solve(cells, values, None if costs is None else tables, None, oracle, within)


def _solve(
    cells: CellTable,
    values: IntArray,
    costs: list[IntArray] | None,
    total: TotalReward | None,
    oracle: Oracle | None,
    limits: Limits,
) -> Solution[tuple[IntArray, ...]]:
    """Solve the formulation over cells, and count the errors of the answer again."""
    listed = [int(v) for v in values]
    tables = costs or [np.zeros((size, len(values)), dtype=np.int64) for size in cells.levels]
    program = formulate(cells, listed, costs, total)
    first = descend(cells, listed, tables)
    start = None if _beyond(total, values, first) else program.point(first)
    solver = Highs() if oracle is None else oracle
    answer = solver.minimize(program.program, limits=limits, start=start)
    found = recheck(program.program, answer, solver)
    if found.value is None:
        return Solution(found.status, None, None, found.bound, found.certificate, found.oracle)
    chosen = program.weights(found.value)
    objective = total_cost(cells, values, tables, chosen)
    if total is not None:
        objective -= total.reward(np.searchsorted(values, np.concatenate(chosen)).tolist()) or 0
    proven = found.certificate is not Certificate.NONE
    claimed = found.objective
    if claimed is None or objective > claimed or (proven and objective < claimed):
        # A feasible point of the program pays for every wrong row, and an optimal one for no other.
        return Solution(Status.ERROR, None, None, -np.inf, Certificate.NONE, found.oracle)
    return Solution(found.status, chosen, objective, found.bound, found.certificate, found.oracle)


def _beyond(total: TotalReward | None, values: IntArray, weights: tuple[IntArray, ...]) -> bool:
    """Whether a classifier's total has no level."""
    if total is None:
        return False
    return total.reward(np.searchsorted(values, np.concatenate(weights)).tolist()) is None


def _search(
    cells: CellTable, values: IntArray, costs: list[IntArray], limits: Limits
) -> Solution[tuple[IntArray, ...]]:
    seconds = math.inf if limits.seconds is None else limits.seconds
    deadline = time.monotonic() + seconds
    start = descend(cells, [int(v) for v in values], costs, restarts=1, deadline=deadline)
    if limits.seconds is not None:
        left = max(deadline - time.monotonic(), 1e-9)  # a limit is positive
        limits = dataclasses.replace(limits, seconds=left)
    return search(cells, values, costs, limits=limits, start=start)


@dataclass(frozen=True, eq=False)
class ZeroOneProblem:
    """The 0-1 loss as a problem with rewards: one coordinate per level of every attribute.

    Args:
        cells: The data.
        weights: The values that every weight may take.
        method: As :func:`minimize`.
        oracle: As :func:`minimize`.
    """

    cells: CellTable
    weights: tuple[int, ...] = TERNARY
    method: str = "search"
    oracle: Oracle | None = None

    @property
    def sizes(self) -> tuple[int, ...]:
        """``len(weights)`` for every level of every attribute."""
        return (len(self.weights),) * sum(self.cells.levels)

    @property
    def is_integer(self) -> bool:
        """Always true: the loss counts rows."""
        return True

    @property
    def n_points(self) -> int:
        """Number of classifiers."""
        return math.prod(self.sizes)

    @property
    def loss_spread(self) -> int:
        """At most every row is wrong, at least none."""
        return self.cells.n_rows

    def positions(self, value: tuple[IntArray, ...]) -> tuple[int, ...]:
        """Index in ``weights`` of every level's weight."""
        index = {int(weight): i for i, weight in enumerate(self.weights)}
        return tuple(index[int(weight)] for block in value for weight in block)

    def point(self, positions: Sequence[int]) -> tuple[IntArray, ...]:
        """One array of weights per attribute; every choice is a classifier."""
        return self.cells.split([self.weights[i] for i in positions])

    @property
    def values(self) -> tuple[IntArray, ...]:
        """``weights``, for every level of every attribute."""
        return (np.asarray(self.weights, dtype=np.int64),) * len(self.sizes)

    def check(
        self,
        *,
        scale: int = 1,
        total: TotalReward | None = None,
        limits: Limits = UNLIMITED,
    ) -> None:
        """Refuse weights that :func:`minimize` would refuse, and too many rows for a solver.

        The zero classifier is always there, so the set is not empty.

        Raises:
            ProblemError: The weights are not distinct integers with 0 among them; there is an
                oracle that the method does not take; or for so many rows no bound of a solver
                could prove a minimum, or with a total 64 bits do not suffice.
        """
        _check_oracle(self.method, self.oracle)
        check_weights(self.weights)
        self.cells.margin_bounds(self.weights)
        if total is not None and self.method == "search":
            check_total(scale * self.cells.n_rows, total)
        if self.method == "milp":
            check_provable(scale * self.cells.n_rows, scale)

    def check_noise(self, largest: int, total: TotalReward) -> None:
        """Refuse rewards up to ``largest`` for points with an allowed total, if too large.

        Raises:
            ProblemError: With a total 64 bits could not suffice for :func:`minimize`.
        """
        if self.method == "search":
            check_noise(largest, total)

    def minimize(
        self,
        rewards: Sequence[IntArray],
        *,
        scale: int = 1,
        total: TotalReward | None = None,
        limits: Limits = UNLIMITED,
    ) -> Solution[tuple[IntArray, ...]]:
        """Minimise ``scale * errors - rewards``."""
        stacked = -np.stack([np.asarray(reward, dtype=np.int64) for reward in rewards])
        costs = np.split(stacked, np.cumsum(self.cells.levels)[:-1])
        scaled = self.cells.scaled(scale)
        if total is not None:
            order, values = check_weights(self.weights)
            parts = tuple(part[order] for part in total.parts)
            tables = [table[:, order] for table in costs]
            sorted_total = dataclasses.replace(total, parts=parts)
            _check_oracle(self.method, self.oracle)
            if self.method == "milp":
                return _solve(scaled, values, tables, sorted_total, self.oracle, limits)
            return search_with_total(
                scaled, values, tables, sorted_total, unit=scale, limits=limits
            )
        return minimize(
            scaled,
            self.weights,
            costs=costs,
            method=self.method,
            oracle=self.oracle,
            limits=limits,
        )


def _check_oracle(method: str, oracle: Oracle | None) -> None:
    if method == "search" and oracle is not None:
        raise ProblemError("oracle: only method 'milp' takes one")


def check_weights(weights: Sequence[int]) -> tuple[IntArray, IntArray]:
    """The order that sorts the weights, and the sorted weights."""
    given = np.asarray(weights)
    whole = np.issubdtype(given.dtype, np.integer) and given.ndim == 1
    if not whole or len(np.unique(given)) != len(given) or 0 not in given:
        raise ProblemError(
            f"weights: distinct integers with 0 among them expected, such as (-1, 0, 1), "
            f"not {weights!r}"
        )
    order = np.argsort(given)
    return order, given[order].astype(np.int64)


def _check_costs(
    cells: CellTable, costs: Sequence[ArrayLike] | None, order: IntArray
) -> list[IntArray]:
    shapes = [(size, len(order)) for size in cells.levels]
    if costs is None:
        return [np.zeros(shape, dtype=np.int64) for shape in shapes]
    tables = [np.asarray(table) for table in costs]
    if [table.shape for table in tables] != shapes:
        raise ProblemError("costs: one array of shape (levels, len(weights)) per attribute")
    if not all(np.issubdtype(table.dtype, np.integer) for table in tables):
        raise ProblemError("costs: integers expected; multiply counts and costs by one factor")
    return [table[:, order].astype(np.int64) for table in tables]
