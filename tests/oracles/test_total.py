"""A reward for a total: the program equals enumeration, for both signs of its factor."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from oracles import Exhaustive, Highs, InfeasibleError, IntegerProgram, ProblemError, Status
from oracles.finite import FiniteTable
from oracles.released import ReleasedVariables
from oracles.total import TotalReward


def random_case(
    seed: int,
) -> tuple[IntegerProgram, tuple[int, ...], list[np.ndarray], TotalReward]:
    """A small program with a row, its released variables, rewards, and a norm-like reward."""
    generator = np.random.default_rng(seed)
    n = int(generator.integers(2, 5))
    low = generator.integers(-2, 1, n)
    high = low + generator.integers(0, 4, n)
    row = generator.integers(-2, 3, n)
    program = IntegerProgram(
        generator.integers(-9, 10, n),
        row[None, :],
        None,
        [float(generator.integers(-1, 6))],
        lower=low,
        upper=high,
        constant=float(generator.integers(-5, 6)),
    )
    released = tuple(sorted(generator.choice(n, int(generator.integers(1, n + 1)), replace=False)))
    values = [np.arange(low[j], high[j] + 1) for j in released]
    rewards = [generator.integers(-20, 21, len(v)) for v in values]
    parts = tuple(v * v for v in values)
    top = sum(int(part.max()) for part in parts) - int(generator.integers(0, 3))
    top = max(top, sum(int(part.min()) for part in parts))
    levels = np.floor(10 * np.sqrt(np.arange(top, -1, -1.0))).astype(np.int64)
    if seed % 3 == 0:  # Of no particular shape.
        levels = generator.integers(-9, 10, top + 1)
    factor = int(generator.integers(1, 8)) * (-1 if seed % 2 else 1)
    return program, released, rewards, TotalReward(parts=parts, levels=levels, factor=factor)


def by_enumeration(
    program: IntegerProgram,
    released: tuple[int, ...],
    rewards: list[np.ndarray],
    total: TotalReward,
    scale: int,
) -> float | None:
    """The minimum of ``scale * objective - rewards``, by Python over all points."""
    best = None
    boxes = [range(int(a), int(b) + 1) for a, b in zip(program.lower, program.upper, strict=True)]
    for point in itertools.product(*boxes):
        if not program.is_feasible(np.array(point, dtype=float)):
            continue
        squares = 0
        reward = 0
        for j, own, part in zip(released, rewards, total.parts, strict=True):
            index = point[j] - int(program.lower[j])
            reward += int(own[index])
            squares += int(part[index])
        if squares >= len(total.levels):
            continue
        reward += total.factor * int(total.levels[squares])
        value = scale * program.objective_value(np.array(point, dtype=float)) - reward
        best = value if best is None else min(best, value)
    return best


@pytest.mark.parametrize("block", range(10))
def test_the_program_equals_enumeration(block: int) -> None:
    signs = set()
    for seed in range(20 * block, 20 * block + 20):
        program, released, rewards, total = random_case(seed)
        problem = ReleasedVariables(program, released, Highs())
        expected = by_enumeration(program, released, rewards, total, scale=3)
        found = problem.minimize(rewards, scale=3, total=total)
        if expected is None:
            assert found.status is Status.INFEASIBLE
            with pytest.raises(InfeasibleError):
                problem.check(total=total)
            continue
        problem.check(total=total)
        assert found.objective == expected
        signs.add((np.sign(total.factor), total.is_concave))
    assert {(1, True), (-1, False)} <= signs


def test_a_free_variable_is_wrong_for_a_negative_factor() -> None:
    """Why totals are spelled out: a variable that may fall short of sqrt(D^2 - norm^2) does."""
    levels = np.floor(10 * np.sqrt(np.arange(2, -1, -1.0))).astype(np.int64)
    parts = (np.array([0, 1]),) * 2
    # The origin is cheapest, and by far the worst if its norm counts against it.
    program = IntegerProgram([9, 9], upper=[1, 1])
    problem = ReleasedVariables(program, (0, 1), Exhaustive())
    nothing = [np.zeros(2, dtype=np.int64)] * 2
    norm = sp.csr_array(np.ones((1, 2)))
    for factor, is_right in ((4, True), (-4, False)):
        total = TotalReward(parts=parts, levels=levels, factor=factor)
        true = by_enumeration(program, (0, 1), nothing, total, scale=1)
        assert problem.minimize(nothing, total=total).objective == true
        # s <= levels[norm^2], whatever the sign: the convex relaxation.
        cut = replace(total, factor=abs(factor)).added_to(program, norm, 0)
        costs = cut.objective.copy()
        costs[-1] = -factor
        relaxed = Exhaustive().minimize(cut.with_objective(costs, cut.constant))
        assert (relaxed.objective == true) is is_right


@pytest.mark.parametrize("seed", range(6))
def test_a_finite_table_agrees(seed: int) -> None:
    generator = np.random.default_rng(seed)
    losses = generator.integers(0, 9, (3, 3))
    parts = tuple(np.array([0, 1, 4]) for _ in range(2))
    levels = generator.integers(-5, 6, int(generator.integers(3, 9)))
    total = TotalReward(parts=parts, levels=levels, factor=3 * (-1) ** seed)
    rewards = [generator.integers(-4, 5, 3) for _ in range(2)]
    found = FiniteTable(losses).minimize(rewards, scale=2, total=total)
    expected = min(
        2 * losses[i, j] - rewards[0][i] - rewards[1][j] - total.factor * levels[t]
        for i in range(3)
        for j in range(3)
        if (t := parts[0][i] + parts[1][j]) < len(levels)
    )
    assert found.objective == expected


def test_no_point_within_the_levels() -> None:
    total = TotalReward(parts=(np.array([3, 2]),), levels=np.array([0, 1]), factor=1)
    with pytest.raises(InfeasibleError):
        FiniteTable([1, 2]).check(total=total)


@pytest.mark.parametrize(
    ("parts", "levels"), [((np.array([-1, 0]),), np.arange(3)), ((np.array([1]),), np.arange(0))]
)
def test_what_is_no_total_is_refused(parts: tuple[np.ndarray, ...], levels: np.ndarray) -> None:
    with pytest.raises(ProblemError, match="total"):
        TotalReward(parts=parts, levels=levels, factor=1)
