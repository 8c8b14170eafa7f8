from __future__ import annotations

import math
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import scipy.sparse as sp

from oracles import IntegerProgram, ProblemError

INF = math.inf


@pytest.mark.parametrize("bad", [math.nan, INF, -INF])
def test_coefficients_must_be_finite(bad):
    with pytest.raises(ProblemError, match="objective"):
        IntegerProgram([1, bad])
    with pytest.raises(ProblemError, match="matrix"):
        IntegerProgram([1, 1], [[1, bad]])
    with pytest.raises(ProblemError, match="objective"):
        IntegerProgram([1], constant=bad)


@pytest.mark.parametrize("what", ["lower", "upper", "row_lower", "row_upper"])
def test_bounds_may_be_infinite_on_their_own_side_only(what):
    wrong = INF if what.endswith("lower") else -INF
    for value in (wrong, math.nan):
        with pytest.raises(ProblemError, match="bounds"):
            IntegerProgram([1], [[1]], **{what: [value]})
    IntegerProgram([1], [[1]], **{what: [-wrong]})


def test_crossed_bounds_name_the_variable_or_row():
    with pytest.raises(ProblemError, match="'b'"):
        IntegerProgram([1, 1], lower=[0, 2], upper=[1, 1], names=["a", "b"])
    with pytest.raises(ProblemError, match="number 1"):
        IntegerProgram([1], [[1], [1]], [0, 3], [1, 2])


def test_names_are_distinct_and_complete():
    with pytest.raises(ProblemError, match="'a' is used twice"):
        IntegerProgram([1, 1, 1], names=["b", "a", "a"])
    for names in (["a"], "ab"):
        with pytest.raises(ProblemError, match="names"):
            IntegerProgram([1, 1], names=names)


@pytest.mark.parametrize(
    "arguments",
    [
        {"matrix": [[1, 2, 3]]},
        {"matrix": [1, 2]},
        {"matrix": sp.csr_array(np.ones((1, 3)))},
        {"matrix": sp.coo_array(np.ones(2))},
        {"row_lower": [0]},
        {"matrix": [[1, 1]], "row_upper": [1, 1]},
        {"lower": [0]},
        {"upper": [[1, 1]]},
        {"upper": 3},
        {"integer": [True]},
        {"integer": [1, 0]},
        {"constant": [1, 2]},
        {"constant": "1"},
        {"lower": ["0", "0"]},
        {"lower": [0, 1j]},
        {"lower": [[0], [0, 1]]},
        {"lower": [None, {}]},
    ],
)
def test_arguments_of_the_wrong_shape_or_type_are_refused(arguments):
    with pytest.raises(ProblemError):
        IntegerProgram([1, 1], **arguments)


@pytest.mark.parametrize("objective", [None, 1, "ab", [[1, 1]], [1, "x"], {1: 2}])
def test_objective_is_a_vector_of_numbers(objective):
    with pytest.raises(ProblemError, match="objective"):
        IntegerProgram(objective)


def test_integers_that_floats_would_round_are_refused():
    for value in (2**53 + 1, -(2**60) - 1, 10**400):
        with pytest.raises(ProblemError, match="objective"):
            IntegerProgram([value])
        with pytest.raises(ProblemError, match="constant"):
            IntegerProgram([1], constant=value)
    with pytest.raises(ProblemError, match="matrix"):
        IntegerProgram([1], sp.csr_array(np.array([[2**53 + 1]])))
    assert IntegerProgram([2**53, 2**60]).objective.tolist() == [2.0**53, 2.0**60]


def test_messages_show_no_coefficient():
    secret = 2**53 + 98765
    for arguments in (
        {"objective": [secret, 0]},
        {"objective": ["98765", 0]},
        {"objective": [0, 0], "lower": [98765, 0], "upper": [1, 1]},
        {"objective": [0, 0], "matrix": [[1, 1]], "row_lower": [98765], "row_upper": [1]},
    ):
        with pytest.raises(ProblemError) as caught:
            IntegerProgram(**arguments)
        assert "98765" not in str(caught.value)
        assert caught.value.__cause__ is None


def test_a_program_is_immutable_and_owns_its_data():
    costs, rows = np.array([1.0, 2.0]), sp.csr_array(np.eye(2))
    program = IntegerProgram(costs, rows)
    costs[0], rows.data[0] = 9, 9
    assert program.objective[0] == 1
    assert program.matrix[0, 0] == 1
    arrays = (program.objective, program.matrix.data, program.lower, program.integer)
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(FrozenInstanceError):
        program.constant = 1.0


def test_a_program_survives_pickling():
    program = IntegerProgram([1, 2], [[1, 1]], [1], names=["a", "b"])
    copy = pickle.loads(pickle.dumps(program))
    assert copy.names == program.names
    assert copy.objective_value([1, 1]) == 3


def test_duplicate_entries_of_a_sparse_matrix_are_summed():
    matrix = sp.coo_array(([1, 2], ([0, 0], [0, 0])), shape=(1, 1))
    assert IntegerProgram([1], matrix).matrix.toarray().tolist() == [[3.0]]


def test_with_objective_keeps_the_feasible_set():
    program = IntegerProgram([1, 2], [[1, 1]], [1], negated=True)
    other = program.with_objective([0.5, 0], constant=2)
    assert other.objective_value([1, 0]) == 2.5
    assert other.matrix is program.matrix
    assert not other.negated
    for objective in ([1], [1, math.nan]):
        with pytest.raises(ProblemError):
            program.with_objective(objective)


def test_relaxed_makes_every_variable_continuous():
    assert not IntegerProgram([1, 2]).relaxed().integer.any()


# -- exact evaluation ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (IntegerProgram([1, 2]), True),
        (IntegerProgram([1, 0.5]), False),
        (IntegerProgram([1, 2], constant=0.5), False),
        (IntegerProgram([1, 2], integer=[True, False]), False),
        (IntegerProgram([1, 0], integer=[True, False]), True),
        (IntegerProgram([2**54]), False),
        (IntegerProgram([]), True),
    ],
)
def test_has_integer_objective(program, expected):
    assert program.has_integer_objective is expected


def test_objective_beyond_the_floats_is_exact():
    big = 2**53
    program = IntegerProgram([big, big - 1, -1], constant=1)
    value = program.objective_value([big, big, 3])
    assert value == big * big + (big - 1) * big - 3 + 1
    assert isinstance(value, int)


def test_cancellation_does_not_hide_a_unit():
    program = IntegerProgram([2**53, -(2**53), 1])
    assert program.objective_value([2**20, 2**20, 1]) == 1


def test_objective_of_a_fractional_point_is_a_float():
    assert isinstance(IntegerProgram([1]).objective_value([0.5]), float)
    assert isinstance(IntegerProgram([0.5]).objective_value([2]), float)
    assert IntegerProgram([0.1] * 10).objective_value([1] * 10) == 1.0


@pytest.mark.parametrize("point", [[1], [1, 1, 1], [[1, 1]], 1])
def test_points_have_the_shape_of_the_program(point):
    program = IntegerProgram([1, 1])
    assert not program.is_feasible(point)
    with pytest.raises(ProblemError, match="point"):
        program.objective_value(point)


def test_integrality_and_integer_bounds_are_exact():
    program = IntegerProgram([1], upper=[3])
    assert program.is_feasible([3])
    for near in (3 + 1e-9, 1 - 1e-12, -1e-12, math.nan, INF):
        assert not program.is_feasible([near])


def test_integer_rows_are_exact_and_others_have_a_tolerance():
    exact = IntegerProgram([1, 1], [[10**6, 1]], [10**6 + 2], [10**6 + 2])
    assert exact.is_feasible([1, 2])
    assert not exact.is_feasible([1, 1])
    mixed = IntegerProgram([1, 1], [[10**6, 1]], [10**6], integer=[True, False])
    assert mixed.is_feasible([1, -0.0])
    assert not mixed.is_feasible([0, 10**5])
    fractional = IntegerProgram([1, 1], [[1 / 3, 1 / 3]], [2 / 3], [2 / 3])
    assert fractional.is_feasible([1, 1])


def test_rows_beyond_the_floats_are_exact():
    big = 2**53
    program = IntegerProgram([0, 0, 0], [[big, -big, 1]], [1], [1])
    assert program.is_feasible([2**20, 2**20, 1])
    assert not program.is_feasible([2**20, 2**20, 0])
    assert not program.is_feasible([2**20, 2**20, 2])


def test_integer_rows_need_integer_coefficients_and_variables():
    program = IntegerProgram([1, 1], [[1, 0], [0.5, 0], [1, 1], [0, 0]], integer=[True, False])
    assert program.integer_rows.tolist() == [True, False, False, True]
