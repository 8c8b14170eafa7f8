from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import (
    Certificate,
    Exhaustive,
    IntegerProgram,
    Limits,
    Oracle,
    ProblemError,
    SpaceTooLargeError,
    Status,
)

ENUMERATION = Exhaustive()


def by_hand(program: IntegerProgram) -> tuple[int | float, tuple[int, ...]] | None:
    """The least objective and the first point that has it, by plain loops."""
    ranges = [
        range(math.ceil(low), math.floor(high) + 1)
        for low, high in zip(program.lower, program.upper, strict=True)
    ]
    feasible = [point for point in itertools.product(*ranges) if program.is_feasible(point)]
    if not feasible:
        return None
    best = min(feasible, key=program.objective_value)
    return program.objective_value(best), best


SMALL = st.integers(-9, 9)
LARGE = st.sampled_from([2**53, 2**53 - 1, -(2**53), -(2**52), 1, -1, 0])


@st.composite
def programs(draw, coefficients=SMALL):
    n = draw(st.integers(1, 4))
    m = draw(st.integers(0, 3))
    vector = st.lists(coefficients, min_size=n, max_size=n)
    lower = draw(st.lists(st.integers(-3, 2), min_size=n, max_size=n))
    widths = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    sides = draw(st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 9)), min_size=m, max_size=m))
    return IntegerProgram(
        draw(vector),
        np.array([draw(vector) for _ in range(m)], dtype=float).reshape(m, n),
        [low for low, _ in sides],
        [low + width for low, width in sides],
        lower=lower,
        upper=np.add(lower, widths),
        constant=draw(coefficients),
    )


@given(programs())
@settings(deadline=None)
def test_agrees_with_plain_loops_and_takes_the_first_optimum(program):
    solution = ENUMERATION.minimize(program)
    expected = by_hand(program)
    if expected is None:
        assert solution.status is Status.INFEASIBLE
        return
    assert solution.certificate is Certificate.EXACT
    assert (solution.objective, tuple(solution.value)) == expected
    assert solution.bound == solution.objective


@given(programs(LARGE))
@settings(deadline=None)
def test_agrees_with_plain_loops_beyond_the_floats(program):
    solution = ENUMERATION.minimize(program)
    expected = by_hand(program)
    if expected is None:
        assert solution.status is Status.INFEASIBLE
    else:
        assert (solution.objective, tuple(solution.value)) == expected


def test_sums_beyond_int64_are_exact():
    big = 2**53
    program = IntegerProgram([big, big, -1], lower=[big - 1, 0, 0], upper=[big, 1, 1])
    solution = ENUMERATION.minimize(program)
    assert solution.objective == big * (big - 1) - 1 > 2**63
    assert solution.certificate is Certificate.EXACT


def test_a_row_beyond_the_floats_is_exact():
    big = 2**53
    program = IntegerProgram([-1, -1], [[big, 1]], None, [big * 4], upper=[4, 4])
    assert ENUMERATION.minimize(program).value.tolist() == [3.0, 4.0]


@pytest.mark.parametrize(
    "program",
    [
        IntegerProgram([0.5, 1], [[1, 1]], [1], upper=[1, 1]),
        IntegerProgram([1, 1], [[0.5, 1]], [0.5], upper=[1, 1]),
        IntegerProgram([1, 1], [[1, 1]], [1], upper=[1, 1], constant=0.25),
    ],
)
def test_fractional_data_are_bounded_with_gap_zero(program):
    solution = ENUMERATION.minimize(program)
    assert solution.status is Status.OPTIMAL
    assert solution.certificate is Certificate.BOUNDED
    assert solution.gap == 0


def test_fractional_bounds_and_sides_do_not_spoil_exactness():
    program = IntegerProgram([1], [[2]], [2.5], lower=[0.5], upper=[3.5])
    solution = ENUMERATION.minimize(program)
    assert solution.value.tolist() == [2.0]
    assert solution.certificate is Certificate.EXACT


def test_no_integer_between_the_bounds_is_infeasible():
    program = IntegerProgram([1, 1], lower=[0, 0.2], upper=[1, 0.8])
    assert ENUMERATION.minimize(program).status is Status.INFEASIBLE


def test_no_variables_leave_one_point():
    assert ENUMERATION.minimize(IntegerProgram([], constant=3)).objective == 3
    infeasible = IntegerProgram([], np.zeros((1, 0)), [1])
    assert ENUMERATION.minimize(infeasible).status is Status.INFEASIBLE


def test_many_fixed_variables_cost_nothing():
    solution = ENUMERATION.minimize(
        IntegerProgram(np.ones(5000), lower=[1] * 5000, upper=[1] * 5000)
    )
    assert solution.objective == 5000


def test_variables_that_cannot_be_enumerated_are_named():
    with pytest.raises(ProblemError, match="'b' is continuous"):
        ENUMERATION.minimize(
            IntegerProgram([1, 1], upper=[1, 1], integer=[True, False], names=["a", "b"])
        )
    for upper in (math.inf, 2.0**60):
        with pytest.raises(ProblemError, match="'b' has an infinite bound"):
            ENUMERATION.minimize(IntegerProgram([1, 1], upper=[1, upper], names=["a", "b"]))


def test_too_many_points_are_refused_before_any_is_visited():
    program = IntegerProgram(np.ones(200), upper=np.ones(200), names=[f"v{i}" for i in range(200)])
    with pytest.raises(SpaceTooLargeError, match="max_points=4194304"):
        ENUMERATION.minimize(program)
    with pytest.raises(SpaceTooLargeError):
        Exhaustive(max_points=3).minimize(IntegerProgram([1, 1], upper=[1, 1]))
    assert Exhaustive(max_points=4).minimize(IntegerProgram([1, 1], upper=[1, 1])).objective == 0


@pytest.mark.parametrize("points", [0, -1, 1.5, True, "9"])
def test_max_points_is_a_positive_integer(points):
    with pytest.raises(ProblemError, match="max_points"):
        Exhaustive(max_points=points)


def test_a_time_limit_stops_without_a_certificate():
    program = IntegerProgram(-np.ones(22), upper=np.ones(22))
    solution = ENUMERATION.minimize(program, limits=Limits(seconds=1e-3))
    assert solution.status is Status.STOPPED
    assert solution.certificate is Certificate.NONE
    assert solution.bound == -math.inf


def test_is_an_oracle_and_hashable_configuration():
    assert isinstance(ENUMERATION, Oracle)
    assert len({ENUMERATION, Exhaustive(), Exhaustive(max_points=3)}) == 2
    assert ENUMERATION.name == "enumeration"
