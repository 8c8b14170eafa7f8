"""The one-hot lift against enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import (
    Certificate,
    Exhaustive,
    Highs,
    InfeasibleError,
    IntegerProgram,
    ProblemError,
    SpaceTooLargeError,
    Status,
    UnboundedError,
)
from oracles.released import ReleasedVariables, one_hot


@st.composite
def programs(draw: st.DrawFn) -> tuple[IntegerProgram, list[np.ndarray]]:
    """A feasible program whose coordinates have two, three or five values, and rewards."""
    sizes = draw(st.lists(st.sampled_from([2, 3, 5]), min_size=1, max_size=3))
    n = len(sizes)
    lower = np.array(draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)))
    upper = lower + np.array(sizes) - 1
    costs = draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n))
    row = np.array(draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)))
    # The row holds at one point at least.
    inside = np.array(
        [draw(st.integers(int(a), int(b))) for a, b in zip(lower, upper, strict=True)]
    )
    slack = draw(st.integers(0, 3))
    program = IntegerProgram(
        costs, row[None, :], [-np.inf], [row @ inside + slack], lower=lower, upper=upper, constant=4
    )
    rewards = [
        np.array(draw(st.lists(st.integers(-20, 60), min_size=size, max_size=size)))
        for size in sizes
    ]
    return program, rewards


def brute_force(program: IntegerProgram, rewards: list[np.ndarray], scale: int) -> int:
    """The least ``scale * objective - rewards`` over the feasible points."""
    ranges = [range(int(a), int(b) + 1) for a, b in zip(program.lower, program.upper, strict=True)]
    best = None
    for point in itertools.product(*ranges):
        if not program.is_feasible(point):
            continue
        earned = sum(
            int(reward[value - axis[0]])
            for reward, value, axis in zip(rewards, point, ranges, strict=True)
        )
        total = scale * int(program.objective_value(point)) - earned
        best = total if best is None else min(best, total)
    assert best is not None
    return best


@settings(max_examples=60, deadline=None)
@given(programs(), st.sampled_from([1, 16]))
def test_lift_equals_enumeration(case: tuple[IntegerProgram, list[np.ndarray]], scale: int) -> None:
    program, rewards = case
    problem = ReleasedVariables(program, tuple(range(program.n_variables)), Highs())
    problem.check()
    found = problem.minimize(rewards, scale=scale)
    assert found.status is Status.OPTIMAL
    assert found.certificate is Certificate.SOLVER
    assert found.objective == brute_force(program, rewards, scale)
    assert found.value is not None
    assert program.is_feasible(found.value)


def test_a_reward_lowers_the_objective_of_its_own_value() -> None:
    # A sign error would choose one of the other two values.
    program = IntegerProgram([0], lower=[0], upper=[2])
    for favourite in range(3):
        reward = np.array([7 if a == favourite else 0 for a in range(3)])
        found = ReleasedVariables(program, (0,), Exhaustive()).minimize([reward])
        assert found.value is not None
        assert found.value.tolist() == [favourite]
        assert found.objective == -7


def test_two_adjacent_values_need_no_new_column() -> None:
    binary = one_hot(IntegerProgram([1, 1], upper=[1, 2]), [0, 1])
    assert binary.first_indicator == (None, 2)
    assert binary.program.n_variables == 5


def test_values_with_gaps_are_respected() -> None:
    program = IntegerProgram([-1], lower=[-5], upper=[5])
    lift = one_hot(program, [0], [[-5, 0, 3]])
    solution = Exhaustive().minimize(lift.with_rewards([np.zeros(3, dtype=np.int64)]))
    assert solution.value is not None
    assert solution.value[0] == 3


def test_complete_gives_a_feasible_point() -> None:
    program = IntegerProgram([1, 1], [[1, 1]], [0], [4], lower=[0, -2], upper=[1, 2])
    lift = one_hot(program, [0, 1])
    assert lift.program.is_feasible(lift.complete([1, -1]))
    assert not lift.program.is_feasible(lift.complete([1, -2]))


def test_recourse_is_optimised_and_not_released() -> None:
    # The loss of w is min over u of 3w - u with u <= 5 w: the released value has one entry.
    program = IntegerProgram([3, -1], [[-5, 1]], None, [0], upper=[1, 9])
    problem = ReleasedVariables(program, (0,), Highs())
    problem.check()
    found = problem.minimize([np.zeros(2, dtype=np.int64)])
    assert found.value is not None
    assert found.value.tolist() == [1]
    assert found.objective == -2


def test_indicator_names_stay_distinct() -> None:
    program = IntegerProgram([0, 0], upper=[2, 1], names=["x", "x=1"])
    assert len(set(one_hot(program, [0]).program.names)) == 5


@pytest.mark.parametrize(
    ("program", "coordinates", "error"),
    [
        (IntegerProgram([1], upper=[2]), [0, 0], ProblemError),
        (IntegerProgram([1], upper=[2]), [1], ProblemError),
        (IntegerProgram([1]), [0], ProblemError),
        (IntegerProgram([1], upper=[10**6]), [0], SpaceTooLargeError),
        (IntegerProgram([1], upper=[2], integer=[False]), [0], ProblemError),
        (IntegerProgram([1], lower=[0.2], upper=[0.8]), [0], InfeasibleError),
    ],
)
def test_bad_coordinates(
    program: IntegerProgram, coordinates: list[int], error: type[Exception]
) -> None:
    with pytest.raises(error, match="coordinates"):
        one_hot(program, coordinates)


@pytest.mark.parametrize("values", [[[0, 0]], [[0, 5]], [[]], [[0.5, 1]]])
def test_bad_values(values: list[list[float]]) -> None:
    with pytest.raises(ProblemError, match="values"):
        one_hot(IntegerProgram([1], upper=[2]), [0], values)


def test_rewards_of_the_wrong_shape() -> None:
    lift = one_hot(IntegerProgram([1], upper=[2]), [0])
    with pytest.raises(ProblemError, match="rewards"):
        lift.with_rewards([np.zeros(2, dtype=np.int64)])


def test_check_refuses_infeasible_and_unbounded_programs() -> None:
    infeasible = IntegerProgram([1, 1], [[2, 2]], [1], [1], upper=[1, 1])
    with pytest.raises(InfeasibleError):
        ReleasedVariables(infeasible, (0,), Highs()).check()
    unbounded = IntegerProgram([1, -1], upper=[1, np.inf])
    with pytest.raises(UnboundedError):
        ReleasedVariables(unbounded, (0,), Highs()).check()
    held_by_a_row = IntegerProgram([1, -1], [[1, 1]], None, [7], upper=[1, np.inf])
    with pytest.raises(ProblemError, match="without bounds"):  # A float bound proves nothing then.
        ReleasedVariables(held_by_a_row, (0,), Highs()).check()
