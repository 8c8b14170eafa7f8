"""Which rows become a base set, and counting through them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from oracles import Highs, InfeasibleError, IntegerProgram, ProblemError
from oracles.ranking import best_points
from oracles.selection.counted import CountedVariables
from oracles.selection.detect import base_set


def test_an_equation_comes_before_a_longer_inequality() -> None:
    program = IntegerProgram(
        [1, 1, 1, 1], [[1, 1, 0, 0], [1, 1, 1, 1]], [1, -np.inf], [1, 3], upper=np.ones(4)
    )
    base, rest = base_set(program, range(4))
    assert base.n_points == 8
    assert rest.tolist() == [1]


def test_rows_of_recourse_or_fractions_are_left() -> None:
    program = IntegerProgram(
        [1, 1, 1], [[1, 0, 1], [0.5, 1, 0], [0, 2, 0]], row_upper=[1, 1, 3], upper=[1, 2, 1]
    )
    base, rest = base_set(program, (0, 1))
    assert rest.tolist() == [0, 1]
    assert base.n_points == 4  # 2 w_1 <= 3.


def test_parallel_rows_are_one_and_rows_of_one_variable_are_bounds() -> None:
    rows = [[1, 2, 1], [-2, -4, -2], [3, 6, 3], [0, -1, 0], [2, 0, 0], [1, 1, 0]]
    low = [-np.inf, -7, 4, -2, 1, -np.inf]
    high = [np.inf, np.inf, np.inf, np.inf, np.inf, 9]
    program = IntegerProgram([1, 1, 1], rows, low, high, upper=[3, 5, 2])
    base, rest = base_set(program, (0, 1, 2))
    assert rest.tolist() == [5]
    assert base.blocks[0].coefficients == (1, 2, 1)
    assert (base.blocks[0].low, base.blocks[0].high) == (2, 3)  # 4 / 3 and 7 / 2, to integers.
    assert base.lower.tolist() == [1, 0, 0]
    assert base.upper.tolist() == [3, 2, 2]
    found = {tuple(base.point_at(r).tolist()) for r in range(base.n_points)}
    assert found == {
        w
        for w in itertools.product(range(4), range(6), range(3))
        if program.is_feasible(np.array(w, dtype=float))
    }
    for row, side in (([2, 2], 3), ([2, 0], 1)):
        with pytest.raises(InfeasibleError):
            base_set(IntegerProgram([1, 1], [row], [side], [side], upper=[4, 4]), (0, 1))


@pytest.mark.parametrize("seed", range(20))
def test_members_that_satisfy_the_other_rows_are_the_feasible_points(seed: int) -> None:
    g = np.random.default_rng(seed)
    rows = g.integers(-2, 3, (5, 3)) * (g.random((5, 3)) < 0.6)
    rows[1] = rows[0] * int(g.choice([-3, -1, 2]))
    low = g.integers(-6, 2, 5).astype(float)
    high = low + g.integers(2, 9, 5)
    low[g.random(5) < 0.5] = -np.inf
    program = IntegerProgram([1, 1, 1], rows, low, high, upper=[2, 3, 2])
    points = [
        w
        for w in itertools.product(range(3), range(4), range(3))
        if program.is_feasible(np.array(w, dtype=float))
    ]
    try:
        base, rest = base_set(program, (0, 1, 2))
    except InfeasibleError:
        assert not points
        return
    others = IntegerProgram(
        [1, 1, 1], program.matrix[rest], program.row_lower[rest], program.row_upper[rest],
        upper=[2, 3, 2],
    )  # fmt: skip
    members = (tuple(base.point_at(r).tolist()) for r in range(base.n_points))
    assert [w for w in sorted(members) if others.is_feasible(np.array(w, dtype=float))] == points


def test_a_row_with_too_many_sums_is_left() -> None:
    program = IntegerProgram([1, 1], [[1000, 7]], row_upper=[900], upper=[1, 1])
    base, rest = base_set(program, (0, 1), most_states=100)
    assert rest.tolist() == [0]
    assert base.n_points == 4


def test_what_cannot_be_a_base_set() -> None:
    with pytest.raises(ProblemError, match="'x0' must be integer"):
        base_set(IntegerProgram([1], integer=[False], upper=[1]), (0,))
    with pytest.raises(ProblemError, match="'x0' must be integer, with finite"):
        base_set(IntegerProgram([1]), (0,))
    with pytest.raises(ProblemError, match="twice"):
        base_set(IntegerProgram([1], upper=[1]), (0, 0))
    with pytest.raises(InfeasibleError):
        base_set(IntegerProgram([1], lower=[0.2], upper=[0.8]), (0,))


def test_counted_variables_rank_what_enumeration_ranks() -> None:
    g = np.random.default_rng(2)
    costs = g.integers(-9, 10, 5)
    program = IntegerProgram(costs, np.ones((1, 5)), [2], [2], upper=np.ones(5))
    problem = CountedVariables(program, tuple(range(5)), Highs())
    assert problem.n_points == 10
    points = {tuple(problem.point_at(r).tolist()) for r in range(10)}
    assert points == {w for w in itertools.product((0, 1), repeat=5) if sum(w) == 2}
    assert problem.point((0, 0, 0, 0, 1)) is None
    found = best_points(problem, 4).require_point()
    truth = sorted(int(costs @ np.array(w)) for w in points)
    assert [point.loss for point in found] == truth[:4]


def test_what_cannot_be_counted() -> None:
    rows = IntegerProgram([1, 1], [[1, 1], [1, 2]], row_upper=[1, 2], upper=[1, 1])
    with pytest.raises(ProblemError, match="row 1 shares"):
        CountedVariables(rows, (0, 1), Highs())
    with pytest.raises(ProblemError, match="recourse"):
        CountedVariables(rows, (0,), Highs())
