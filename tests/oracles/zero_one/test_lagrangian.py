"""Rewards for totals: every optimum against enumeration, with and without local search."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from experiments.adult_data import task
from oracle_dp import Budget, Ledger, opdisc
from oracles import Certificate, Highs, Limits, ProblemError, Solution, Status
from oracles.total import TotalReward
from oracles.zero_one import CellTable, ZeroOneProblem, _local
from oracles.zero_one import _coupled as problems
from oracles.zero_one.cells import IntArray
from oracles.zero_one.lagrangian import search_with_total
from oracles.zero_one.search import search
from tests.oracles.zero_one.test_search import (
    Costs,
    brute_force,
    instances,
    no_costs,
    seconds_to_interrupt,
)

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

    def every_cost(self) -> list[int | None]:
        points = itertools.product(self.values, repeat=sum(self.cells.levels))
        return [self.cost(self.cells.split(list(point))) for point in points]

    def least(self) -> int | None:
        """By enumeration; None if nothing is allowed."""
        return min((cost for cost in self.every_cost() if cost is not None), default=None)

    def share_allowed(self) -> float:
        costs = self.every_cost()
        return sum(cost is not None for cost in costs) / len(costs)


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
        problems, "descend",
        lambda cells, weights, costs, **_: cells.split([0] * sum(cells.levels)),
    )  # fmt: skip
    for case in cases(30 + unit, 150):
        check(case, case.solve(unit=unit))


def test_of_some_cases_no_point_is_allowed_of_some_a_few_of_some_all() -> None:
    shares = [case.share_allowed() for case in cases(20, 150)]
    assert sum(share == 0 for share in shares) > 5
    assert sum(0 < share < 0.5 for share in shares) > 20
    assert sum(share == 1 for share in shares) > 20


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


def hard(levels: int = 6, attributes: int = 7) -> Case:
    """Random labels, a cap that binds, and rewards that are not concave: many windows."""
    generator = np.random.default_rng(7)
    codes = generator.integers(0, levels, (5_000, attributes))
    sizes = (levels,) * attributes
    cells = CellTable.from_codes(codes, generator.random(5_000) < 0.5, sizes)
    d = levels * attributes
    costs = [generator.integers(-9, 10, (levels, 3)) for _ in sizes]
    rewards = np.rint(3 * np.sqrt(np.arange(31))).astype(np.int64)
    total = TotalReward(parts=(TERNARY**2,) * d, levels=rewards, factor=-2)
    return Case(cells, TERNARY, costs, total)


def test_more_time_gives_better_bounds_and_points() -> None:
    case = hard()
    found = [case.solve(nodes=nodes) for nodes in (1, 1_500, 30_000)]
    bounds = [one.bound for one in found]
    assert bounds[0] < bounds[1] <= bounds[2]
    assert [one.status for one in found] == [Status.STOPPED] * 3
    objectives = [one.objective for one in found]
    assert objectives == sorted(objectives, reverse=True)


def test_time_limits_hold() -> None:
    case = hard()
    case.solve(nodes=2)  # compiles
    for seconds in (0.001, 0.5):
        began = time.monotonic()
        assert case.solve(seconds=seconds).status is Status.STOPPED
        assert time.monotonic() - began < seconds + 1


def test_interrupt_within_a_second() -> None:
    program = """
        import signal
        from tests.oracles.zero_one.test_lagrangian import hard
        signal.signal(signal.SIGINT, signal.default_int_handler)
        case = hard()
        case.solve(nodes=2)
        print("compiled", flush=True)
        try:
            case.solve()
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    assert seconds_to_interrupt(program) < 1


def test_an_oracle_for_the_search_is_refused_before_anything_is_charged() -> None:
    ledger = Ledger({"people": Budget(epsilon=1)})
    problem = ZeroOneProblem(SMALL, oracle=Highs())
    for lift in ("one_hot", "pi"):
        with pytest.raises(ProblemError, match="only method 'milp'"):
            opdisc(
                problem, epsilon=0.5, sensitivity=2, lift=lift, ledger=ledger, dataset="people"
            )  # fmt: skip
    assert not ledger.charges


def test_noise_that_could_leave_64_bits_is_refused_before_anything_is_charged() -> None:
    """A refusal afterwards would cut the noise off, which no epsilon allows."""
    ledger = Ledger({"people": Budget(epsilon=128)})
    cells = CellTable.from_codes([[0], [1]], [True, False], (1_000,))
    with pytest.raises(ProblemError, match="64 bits"):
        opdisc(
            ZeroOneProblem(cells, tuple(range(-40, 41))), epsilon=128, sensitivity=2, lift="pi",
            max_norm=44, random_state=1, ledger=ledger, dataset="people",
        )  # fmt: skip
    assert not ledger.charges


@pytest.mark.parametrize(
    "wrong", [{"factor": 1.5}, {"levels": np.array([0.5, 1])}, {"parts": (np.array([0.5]),)}]
)
def test_totals_are_of_integers(wrong: dict[str, Any]) -> None:
    given = {"parts": (TERNARY**2,), "levels": np.array([0, 1]), "factor": 1}
    with pytest.raises(ProblemError, match="integers"):
        TotalReward(**(given | wrong))
    for kind in (np.int32, np.int64):
        factor = kind(2**30)
        total = TotalReward(parts=(TERNARY**2,) * 2, levels=np.array([0, 2**24, 7]), factor=factor)
        case = Case(SMALL, TERNARY, no_costs((2,), 3), total)
        check(case, case.solve())


def test_cells_that_are_listed_twice_count_twice() -> None:
    generator = np.random.default_rng(8)
    for case in cases(60, 120, most=300):
        n = case.cells.n_cells
        again = generator.integers(0, n, 4) if n else np.zeros(0, dtype=np.int64)
        rows = np.concatenate([np.arange(n), again])
        positive, negative = generator.integers(0, 9, (2, len(rows)))
        twice = CellTable(
            case.cells.codes[rows], case.cells.factors[rows], positive, negative, case.cells.levels
        )
        one = Case(twice, case.values, case.costs, case.total)
        check(one, one.solve())
        plain = search(twice, case.values, case.costs, limits=Limits())
        assert plain.objective == brute_force(twice, case.values, case.costs)


def test_a_local_search_that_errs_about_costs_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def lie(walk: Any, rounds: int) -> None:
        walk.numbers[_local.BEST] -= 3

    monkeypatch.setattr(_local, "improve", lie)
    statuses = set()
    for case in cases(70, 40):
        found = case.solve()
        statuses.add(found.status)
        if found.certificate is Certificate.EXACT:
            check(case, found)
    assert Status.ERROR in statuses


def test_levels_without_cells_cost_nothing_but_a_sum() -> None:
    generator = np.random.default_rng(44)
    for levels in ((5, 20, 2), (2, 2, 60)):
        codes = np.stack([generator.integers(0, min(size, 3), 6) for size in levels], axis=1)
        cells = CellTable.from_codes(codes, generator.random(6) < 0.5, levels)
        d = sum(levels)
        costs = [generator.integers(-30, 31, (size, 3)) for size in levels]
        total = TotalReward(
            parts=(TERNARY**2,) * d, levels=generator.integers(-40, 41, 23), factor=1
        )
        case = Case(cells, TERNARY, costs, total)
        found = case.solve(seconds=20)
        assert found.status is Status.OPTIMAL
        assert found.value is not None
        assert found.objective == case.cost(found.value)
        for _ in range(2_000):
            flat = generator.choice(TERNARY, d, p=[0.1, 0.8, 0.1])
            other = case.cost(cells.split(flat))
            assert other is None or other >= found.objective


def test_leaves_count_as_work_so_that_limits_hold() -> None:
    generator = np.random.default_rng(5)
    sizes = (300, 30)
    codes = np.stack([generator.integers(0, size, 2_000) for size in sizes], axis=1)
    cells = CellTable.from_codes(codes, generator.random(2_000) < 0.5, sizes)
    values = np.arange(-7, 8)
    costs = [generator.integers(-9, 10, (size, 15)) for size in sizes]
    levels = np.rint(50 * np.sqrt(np.arange(2_000))).astype(np.int64)
    total = TotalReward(parts=(values**2,) * 330, levels=levels, factor=-1)
    case = Case(cells, values, costs, total)
    case.solve(nodes=2)  # compiles
    began = time.monotonic()
    case.solve(seconds=1)
    assert time.monotonic() - began < 4


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


SMALL = CellTable.from_codes([[0], [1]], [True, False], (2,))
TERNARY = np.array([-1, 0, 1])


def with_levels(levels: list[int], factor: int, cells: CellTable = SMALL) -> Case:
    total = TotalReward(parts=(TERNARY**2,) * 2, levels=np.array(levels), factor=factor)
    return Case(cells, TERNARY, no_costs((2,), 3), total)


def test_numbers_beyond_64_bits_are_refused() -> None:
    for levels, factor in (([0, 2**40], 2**30), ([2**61, 2**61], 1)):
        found = with_levels(levels, factor).solve()
        assert found.status is Status.ERROR
        assert found.value is None


@pytest.mark.parametrize("sign", [-1, 1])
def test_numbers_as_large_as_are_admitted(sign: int) -> None:
    # Four times as much of either is refused.
    most = SMALL.scaled(2**54)
    for levels in ([0, 2**54, 2**54 + 3], [2**54, 0, 7], [5, 2**53, 2**54]):
        case = with_levels(levels, sign, most)
        check(case, case.solve(unit=2**54))
    assert with_levels([0, 2**56, 2**57], sign, most).solve().status is Status.ERROR
    with pytest.raises(ProblemError, match="64 bits"):
        with_levels([0, 1, 2], sign, SMALL.scaled(2**56)).solve()


def test_parts_far_beyond_the_last_level_do_not_overflow() -> None:
    total = TotalReward(parts=(np.array([2**50, 0, 1]),) * 2, levels=np.array([0, 1]), factor=-1)
    case = Case(SMALL, TERNARY, no_costs((2,), 3), total)
    check(case, case.solve())
