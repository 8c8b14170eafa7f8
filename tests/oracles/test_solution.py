from __future__ import annotations

import math

import numpy as np
import pytest

import oracles
from oracles import (
    Certificate,
    InfeasibleError,
    IntegerProgram,
    Limits,
    OracleError,
    ProblemError,
    Solution,
    SolverError,
    Status,
    UnboundedError,
)
from oracles.verdict import MAX_SCALE, Claim, dual_bound, judge, objective_scale, valid_bound

INF = math.inf


def solution(status: Status, value: object = None, objective=None, bound=-INF) -> Solution[object]:
    return Solution(status, value, objective, bound, Certificate.NONE, "test")


# -- Solution, Status, Limits, errors ----------------------------------------------------------


def test_the_gap_is_infinite_without_a_point_or_a_bound():
    assert solution(Status.STOPPED, "x", 5, 3).gap == 2
    assert solution(Status.STOPPED, "x", 5, 5.0000001).gap == 0
    assert solution(Status.STOPPED, None, None, 3).gap == INF
    assert solution(Status.STOPPED, "x", 5, -INF).gap == INF
    for objective, bound in ((math.nan, 5), (5, math.nan), (INF, INF)):
        assert solution(Status.STOPPED, "x", objective, bound).gap == INF


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (Status.INFEASIBLE, InfeasibleError),
        (Status.UNBOUNDED, UnboundedError),
        (Status.STOPPED, SolverError),
        (Status.ERROR, SolverError),
    ],
)
def test_a_missing_point_is_the_error_of_its_status(status, error):
    with pytest.raises(error, match=r"^test: ") as caught:
        solution(status).require_point()
    assert status.message in str(caught.value)


def test_a_point_is_returned_whatever_the_status():
    assert solution(Status.STOPPED, "x", 1).require_point() == "x"


def test_a_solution_can_be_made_with_its_type():
    assert Solution[str](Status.OPTIMAL, "x", 1, 1, Certificate.EXACT, "test").value == "x"


def test_every_status_says_what_to_do():
    for status in Status:
        assert len(status.message) > 40


@pytest.mark.parametrize("name", ["seconds", "nodes", "threads"])
@pytest.mark.parametrize("bad", [0, -1, math.nan, INF, "1", True])
def test_limits_are_positive_numbers(name, bad):
    with pytest.raises(ProblemError, match=name):
        Limits(**{name: bad})


def test_threads_alone_do_not_stop_a_run():
    assert not Limits(threads=2).may_stop_early
    assert Limits(seconds=1.5).may_stop_early
    assert Limits(nodes=1).may_stop_early


def test_public_names_are_what_all_says_and_errors_form_one_tree():
    for name in oracles.__all__:
        assert hasattr(oracles, name)
    errors = [getattr(oracles, name) for name in oracles.__all__ if name.endswith("Error")]
    assert all(issubclass(error, OracleError) for error in errors)
    assert list(oracles.__all__) == sorted(oracles.__all__)


# -- the verdict on a claim -------------------------------------------------------------------


def claim(point, objective, bound, status=Status.OPTIMAL) -> Claim:
    return Claim(status=status, point=np.array(point), objective=objective, bound=bound)


def test_near_integers_are_rounded_before_anything_else():
    program = IntegerProgram([1, 1], [[1, 1]], [2], upper=[3, 3])
    found = judge(program, claim([1 - 1e-10, 1 + 1e-10], 2.0, 2.0), oracle="test")
    assert found.value.tolist() == [1.0, 1.0]
    assert found.objective == 2
    assert found.certificate is Certificate.SOLVER


def test_a_negative_zero_does_not_survive():
    found = judge(IntegerProgram([1]), claim([-0.0], 0.0, 0.0), oracle="test")
    assert math.copysign(1, found.value[0]) == 1


def test_a_stopped_run_keeps_its_bound_without_a_point():
    program = IntegerProgram([1, 1], upper=[3, 3])
    stopped = Claim(status=Status.STOPPED, bound=1.2)
    found = judge(program, stopped, oracle="test")
    assert (found.status, found.value, found.bound) == (Status.STOPPED, None, 2)
    for bound in (math.nan, INF, -INF):
        stopped = Claim(status=Status.STOPPED, bound=bound)
        assert judge(program, stopped, oracle="test").bound == -INF


def test_a_stopped_run_may_have_its_proof():
    program = IntegerProgram([1, 1], upper=[3, 3])
    found = judge(program, claim([2, 0], 2.0, 1.4, Status.STOPPED), oracle="test")
    assert (found.status, found.certificate) == (Status.STOPPED, Certificate.SOLVER)
    fractional = IntegerProgram([0.5, 1], upper=[3, 3])
    found = judge(fractional, claim([2, 0], 1.0, 1.0, Status.STOPPED), oracle="test")
    assert found.certificate is Certificate.NONE


def test_a_bounded_certificate_states_its_gap():
    program = IntegerProgram([0.5, 1], upper=[3, 3])
    found = judge(program, claim([2, 0], 1.0, 0.9), oracle="test")
    assert found.certificate is Certificate.BOUNDED
    assert found.gap == pytest.approx(0.1)


def test_continuous_variables_have_a_tolerance_and_integer_ones_none():
    program = IntegerProgram([1, 1], [[1, 1]], [2], upper=[3, 3], integer=[True, False])
    found = judge(program, claim([1, 1 - 1e-9], 2.0, 2.0), oracle="test")
    assert found.status is Status.OPTIMAL
    assert judge(program, claim([1, 1 - 1e-3], 2.0, 2.0), oracle="test").status is Status.ERROR


@pytest.mark.parametrize(
    ("objective", "constant", "scale"),
    [([2, -3], 0, 2 * 4 + 3 * 5), ([2, 0], -7, 2 * 4 + 7), ([0, 0], 1, 1), ([0, 1], 0, 5)],
)
def test_the_scale_is_the_largest_sum(objective, constant, scale):
    program = IntegerProgram(objective, lower=[-4, -5], upper=[1, 5], constant=constant)
    assert objective_scale(program) == scale


def test_unbounded_variables_count_only_where_they_cost():
    assert objective_scale(IntegerProgram([1, 0], upper=[1, INF])) == 1
    assert objective_scale(IntegerProgram([1, 1], upper=[1, INF])) == INF


def test_integers_are_told_apart_up_to_the_cap():
    small = IntegerProgram([1], upper=[MAX_SCALE])
    assert valid_bound(small, 6.5) == 7
    assert isinstance(valid_bound(small, 6.5), int)
    large = IntegerProgram([1], upper=[MAX_SCALE + 1])
    assert valid_bound(large, 6.5) == 6.5


def test_the_margin_grows_with_the_scale():
    assert valid_bound(IntegerProgram([1], upper=[1]), 6.01) == 7
    assert valid_bound(IntegerProgram([1], upper=[1e9]), 6.01) == 6


def test_ill_scaled_rows_leave_no_certificate():
    for largest, certificate in ((1e7, Certificate.SOLVER), (1e8, Certificate.NONE)):
        program = IntegerProgram([1], [[largest]], [0], upper=[1])
        assert judge(program, claim([0], 0.0, 0.0), oracle="test").certificate is certificate


@pytest.mark.parametrize(
    ("multipliers", "bound"),
    [([0.0], 0.0), ([1.0], 3.0), ([0.5], 1.5), ([2.0], -4.0), ([-1.0], 0.0)],
)
def test_any_multipliers_give_a_valid_bound(multipliers, bound):
    """Minimise x + 2y over x + y >= 3, 0 <= x, y <= 10: the optimum is 3."""
    program = IntegerProgram([1, 2], [[1, 1]], [3], upper=[10, 10])
    assert dual_bound(program, np.array(multipliers)) == bound
