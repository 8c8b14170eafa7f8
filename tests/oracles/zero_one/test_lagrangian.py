"""Rewards for totals: every optimum against enumeration, with and without local search."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from experiments.adult_data import task
from oracles import Certificate, Limits, ProblemError, Solution, Status
from oracles.total import TotalReward
from oracles.zero_one import CellTable, ZeroOneProblem, _local
from oracles.zero_one import lagrangian as searches
from oracles.zero_one.cells import IntArray
from oracles.zero_one.lagrangian import search_with_total
from tests.oracles.zero_one.test_search import Costs, instances, no_costs

Found = Solution[tuple[IntArray, ...]]


@dataclass(frozen=True)
class Case:
    cells: CellTable
    values: IntArray
    costs: Costs
    total: TotalReward

    def solve(self, *, unit: int = 1, **limits: float) -> Found:
        return search_with_total(
            self.cells, self.values, self.costs, self.total, unit=unit, limits=Limits(**limits)
        )

    def cost(self, weights: tuple[IntArray, ...]) -> int | None:
        """Counted without the search's own functions; None if the total is not allowed."""
        flat = np.concatenate(weights)
        positions = [int(np.flatnonzero(self.values == w)[0]) for w in flat]
        total = sum(int(part[i]) for part, i in zip(self.total.parts, positions, strict=True))
        if total >= len(self.total.levels):
            return None
        table = np.concatenate(self.costs)
        own = sum(int(row[i]) for row, i in zip(table, positions, strict=True))
        return self.cells.errors(weights) + own - self.total.factor * int(self.total.levels[total])

    def least(self) -> int | None:
        """By enumeration; None if nothing is allowed."""
        every = itertools.product(self.values, repeat=sum(self.cells.levels))
        costs = [self.cost(self.cells.split(list(point))) for point in every]
        return min((cost for cost in costs if cost is not None), default=None)


def levels_of(generator: np.random.Generator, size: int) -> IntArray:
    """Concave, convex, flat, or anything."""
    kind = generator.integers(4)
    steps = generator.integers(-6, 7, size)
    if kind == 0:
        return np.cumsum(np.sort(steps)[::-1])
    if kind == 1:
        return np.cumsum(np.sort(steps))
    if kind == 2:
        return np.full(size, 3)
    return generator.integers(-30, 31, size)


def cases(seed: int, n: int, *, most: int = 800) -> Iterator[Case]:
    """Tables, grids and costs of every kind, with totals that may rule out most points or all."""
    generator = np.random.default_rng(seed)
    for cells, values, costs in instances(seed, n, most=most):
        d = sum(cells.levels)
        if generator.random() < 0.5:
            parts = (values * values,) * d
        else:
            parts = tuple(generator.integers(0, 4, (d, len(values))))
        top = sum(int(part.max()) for part in parts)
        size = 1 + int(generator.integers(0, min(top, 60) + 2))
        factor = int(generator.integers(-2, 3))
        yield Case(cells, values, costs, TotalReward(
            parts=parts, levels=levels_of(generator, size), factor=factor
        ))  # fmt: skip


def check(case: Case, found: Found) -> None:
    least = case.least()
    if least is None:
        assert found.status is Status.INFEASIBLE
        assert found.value is None
        assert found.certificate is Certificate.NONE
        return
    assert found.status is Status.OPTIMAL
    assert found.certificate is Certificate.EXACT
    assert found.value is not None
    assert found.objective == found.bound == least == case.cost(found.value)
    assert isinstance(found.objective, int)


@pytest.mark.parametrize("unit", [0, 1, 40])
def test_equals_enumeration(unit: int) -> None:
    for case in cases(20 + unit, 150):
        check(case, case.solve(unit=unit))


@pytest.mark.parametrize("unit", [0, 1, 1_000])
def test_equals_enumeration_where_the_tree_finds_everything(
    monkeypatch: pytest.MonkeyPatch, unit: int
) -> None:
    # Local search finds most optima of tiny cases, and would hide what the tree prunes wrongly.
    monkeypatch.setattr(_local, "improve", lambda walk, rounds: None)
    monkeypatch.setattr(
        searches, "descend",
        lambda cells, weights, costs, **_: cells.split([0] * sum(cells.levels)),
    )  # fmt: skip
    for case in cases(30 + unit, 150):
        check(case, case.solve(unit=unit))


def test_some_cases_have_no_allowed_point_and_some_have_few() -> None:
    leasts = [case.least() for case in cases(20, 150)]
    assert 0 < sum(least is None for least in leasts) < 40
    zero = [case.total.total([0] * sum(case.cells.levels)) for case in cases(20, 150)]
    assert any(zero)


def test_bounds_of_stopped_searches_are_valid() -> None:
    stopped = 0
    for case in cases(50, 120, most=3_000):
        least = case.least()
        for limits in ({"nodes": 1}, {"nodes": 3}, {"seconds": 1e-9}):
            found = case.solve(unit=0, **limits)
            if found.status is Status.STOPPED:
                stopped += 1
                assert found.certificate is Certificate.NONE
            if least is not None and found.value is not None:
                assert found.bound <= least <= found.objective == case.cost(found.value)
    assert stopped > 50


def test_the_same_minimum_as_a_solver_on_adult() -> None:
    rows = task("two", "drop")
    generator = np.random.default_rng(1)
    d = rows.dimension
    for sign in (-1, 1):
        problem = ZeroOneProblem(rows.train)
        rewards = [generator.integers(-9_000, 9_001) * np.array([-1, 0, 1]) for _ in range(d)]
        levels = np.rint(900 * np.sqrt(d - np.arange(d + 1))).astype(np.int64)
        total = TotalReward(parts=(np.array([1, 0, 1]),) * d, levels=levels, factor=sign * 40)
        ours = problem.minimize(rewards, scale=16, total=total)
        theirs = ZeroOneProblem(rows.train, method="milp").minimize(rewards, scale=16, total=total)
        assert ours.certificate is Certificate.EXACT
        assert theirs.certificate is Certificate.SOLVER
        assert ours.objective == theirs.objective


def test_the_order_in_which_weights_are_given_does_not_matter() -> None:
    cells = CellTable.from_codes([[0, 0], [1, 1], [1, 0]], [True, False, True], (2, 2))
    total = TotalReward(parts=(np.array([1, 1, 0]),) * 4, levels=np.array([0, 5, 1]), factor=1)
    found = ZeroOneProblem(cells, (1, -1, 0)).minimize(
        [np.zeros(3, dtype=np.int64)] * 4, total=total
    )
    assert found.value is not None
    assert sum(abs(int(w)) for block in found.value for w in block) == 1
    assert found.objective == cells.errors(found.value) - 5


def test_numbers_beyond_64_bits_are_refused() -> None:
    cells = CellTable.from_codes([[0], [1]], [True, False], (2,))
    parts = (np.array([1, 0, 1]),) * 2
    for levels, factor in (([0, 2**40], 2**30), ([2**61, 2**61], 1)):
        total = TotalReward(parts=parts, levels=np.array(levels), factor=factor)
        with pytest.raises(ProblemError, match="64 bits"):
            search_with_total(
                cells, np.array([-1, 0, 1]), no_costs((2,), 3), total, unit=1, limits=Limits()
            )


def test_parts_far_beyond_the_last_level_do_not_overflow() -> None:
    cells = CellTable.from_codes([[0], [1]], [True, False], (2,))
    total = TotalReward(parts=(np.array([2**50, 0, 1]),) * 2, levels=np.array([0, 1]), factor=-1)
    case = Case(cells, np.array([-1, 0, 1]), no_costs((2,), 3), total)
    check(case, case.solve())
