from __future__ import annotations

import math

import highspy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles.highs
from oracles import (
    Certificate,
    Exhaustive,
    Highs,
    IntegerProgram,
    Limits,
    Status,
)
from oracles.verdict import Claim

INF = math.inf
HIGHS = Highs()


# -- agreement with enumeration --------------------------------------------------------------


SMALL = st.integers(-9, 9)
LARGE = st.sampled_from([-(10**9), -(10**6), -999, -1, 0, 1, 7, 10**3, 10**6 + 1, 10**9])


@st.composite
def programs(draw, coefficients=SMALL):
    """Small integer programs; each row is one-sided, a range or an equation."""
    n = draw(st.integers(2, 5))
    m = draw(st.integers(0, 4))
    vector = st.lists(coefficients, min_size=n, max_size=n)
    lower = np.array(draw(st.lists(st.integers(-3, 2), min_size=n, max_size=n)))
    upper = lower + draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    rows = np.array([draw(vector) for _ in range(m)], dtype=float).reshape(m, n)
    # Sides near the activity of some point: otherwise nearly all programs are infeasible.
    centre = rows @ [draw(st.integers(int(a), int(b))) for a, b in zip(lower, upper, strict=True)]
    below = draw(st.lists(st.sampled_from([0, 0, 1, 3, INF]), min_size=m, max_size=m))
    above = draw(st.lists(st.sampled_from([0, 0, 1, 3, INF]), min_size=m, max_size=m))
    shift = draw(st.sampled_from([0, 0, 0, 1]))
    return IntegerProgram(
        draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n)),
        rows,
        centre + shift - below,
        centre + shift + above,
        lower=lower,
        upper=upper,
        constant=draw(st.integers(-9, 9)),
    )


@given(programs())
@settings(deadline=None, max_examples=150)
def test_agrees_with_enumeration(program):
    truth = Exhaustive().minimize(program)
    solution = HIGHS.minimize(program)
    assert solution.status is truth.status
    assert solution.objective == truth.objective
    if solution.value is not None:
        assert solution.certificate is Certificate.SOLVER
        assert solution.bound == solution.objective
        assert isinstance(solution.bound, int)
        assert program.is_feasible(solution.value)


@given(programs(LARGE))
@settings(deadline=None, max_examples=150)
def test_large_coefficients_are_solved_or_refused(program):
    """Rows of this kind make solvers accept points off by their tolerance times 10^9."""
    truth = Exhaustive().minimize(program)
    solution = HIGHS.minimize(program)
    assert solution.status in (truth.status, Status.ERROR)
    if solution.certificate is Certificate.SOLVER:
        assert solution.objective == truth.objective


def test_a_bound_on_an_ill_scaled_row_is_no_proof():
    """HiGHS 1.16 with a tolerance of 1e-9 proves -55; the optimum is -57."""
    program = IntegerProgram(
        [-5, 5, -8, -2, 1],
        [[2174905, -932, 0, 8049, -7609770]],
        None,
        [8675474],
        lower=[1, 0, 0, -3, -2],
        upper=[6, 1, 3, 2, 1],
    )
    assert Exhaustive().minimize(program).objective == -57
    solution = Highs(feasibility_tolerance=1e-9).minimize(program)
    assert solution.certificate is Certificate.NONE


@pytest.mark.parametrize(
    ("costs", "row", "side", "lower", "upper"),
    [
        ([-3, 6, 6, -3], [10, 1e9, 1000, -999], 1000002000, [0, 1, -1, -2], [4, 1, 4, 0]),
        ([4, -2, 0], [10, -1e9, -999], -1999997033, [-3, 1, -3], [-3, 6, -3]),
    ],
)
def test_a_false_infeasible_of_presolve_is_found_out(costs, row, side, lower, upper):
    program = IntegerProgram(costs, [row], [side], [side], lower=lower, upper=upper)
    truth = Exhaustive().minimize(program)
    assert truth.status is Status.OPTIMAL
    assert HIGHS.minimize(program).objective == truth.objective


def test_a_tolerance_times_a_large_coefficient_is_no_solution():
    """With y = 1e-9, within tolerance of 0, x <= 1e9 y would allow x = 1 at no cost."""
    program = IntegerProgram([0, 1], [[1, -1e9]], None, [0], lower=[1, 0], upper=[1, 1])
    for oracle in (HIGHS, Highs(presolve=False), Highs(feasibility_tolerance=1e-6)):
        solution = oracle.minimize(program)
        assert solution.status is Status.ERROR or solution.objective == 1


def test_an_incumbent_that_rounding_breaks_is_an_error():
    """Facilities with big M = 1e9: HiGHS opens none of them, up to its tolerance of 1e-6."""
    rng = np.random.default_rng(0)
    sites, customers, big = 8, 5, 1e9
    flows = sites * customers
    serve = np.hstack([np.zeros((customers, sites)), np.tile(np.eye(customers), sites)])
    opened = np.hstack([-big * np.eye(sites), np.kron(np.eye(sites), np.ones(customers))])
    program = IntegerProgram(
        np.r_[rng.integers(50, 400, sites), rng.random(flows)],
        np.vstack([serve, opened]),
        np.r_[rng.integers(5, 50, customers) + 0.5, np.full(sites, -INF)],
        np.r_[np.full(customers, INF), np.zeros(sites)],
        upper=np.r_[np.ones(sites), np.full(flows, big)],
        integer=np.arange(sites + flows) < sites,
    )
    loose = Highs(feasibility_tolerance=1e-6).minimize(program)
    assert (loose.status, loose.value) == (Status.ERROR, None)
    assert HIGHS.minimize(program).status is Status.OPTIMAL


def test_an_unattainable_equation_is_never_attained():
    """12223 x1 + ... + 85569 x5 = 89643481 has no solution (Aardal, Lenstra: cuww1)."""
    row = [12223, 12224, 36674, 61119, 85569]
    program = IntegerProgram(np.zeros(5), [row], [89643481], [89643481])
    solution = HIGHS.minimize(program, limits=Limits(seconds=2))
    assert solution.value is None
    assert solution.status in (Status.INFEASIBLE, Status.STOPPED, Status.ERROR)


# -- kinds of programs -----------------------------------------------------------------------


@pytest.mark.parametrize("presolve", [True, False])
@pytest.mark.parametrize(
    ("program", "status", "objective", "certificate"),
    [
        (IntegerProgram([], constant=3), "OPTIMAL", 3, "EXACT"),
        (IntegerProgram([], constant=0.5), "OPTIMAL", 0.5, "BOUNDED"),
        (IntegerProgram([], np.zeros((1, 0)), [1]), "INFEASIBLE", None, "NONE"),
        (IntegerProgram([2, -1], upper=[1, 4]), "OPTIMAL", -4, "SOLVER"),
        (IntegerProgram([2, -1], lower=[3, 4], upper=[3, 4]), "OPTIMAL", 2, "SOLVER"),
        (IntegerProgram([0, 0], [[1, 1]], [1], upper=[1, 1]), "OPTIMAL", 0, "SOLVER"),
        (IntegerProgram([1], upper=[1], constant=-7), "OPTIMAL", -7, "SOLVER"),
        (IntegerProgram([1], lower=[0.2], upper=[0.8]), "INFEASIBLE", None, "NONE"),
        (IntegerProgram([1, 1], [[2, 2]], [3], [3], upper=[5, 5]), "INFEASIBLE", None, "NONE"),
        (IntegerProgram([-1]), "UNBOUNDED", None, "NONE"),
        (IntegerProgram([-1, -1], [[1, -1]], [0], [1]), "UNBOUNDED", None, "NONE"),
        (IntegerProgram([-1, 0], [[0, 2]], [1], [1], upper=[INF, 1]), "INFEASIBLE", None, "NONE"),
        (IntegerProgram([-1], integer=[False]), "UNBOUNDED", None, "NONE"),
        (IntegerProgram([1.5, 2], [[2, 2]], [3], upper=[5, 5]), "OPTIMAL", 3.0, "BOUNDED"),
        # An integer variable without bounds: floats need not tell its multiples apart.
        (IntegerProgram([3], [[2]], [3]), "OPTIMAL", 6, "NONE"),
        (IntegerProgram([1], upper=[1], constant=2**52), "OPTIMAL", 2**52, "NONE"),
        # Within what HiGHS drops, reads as infinite, or refuses.
        (IntegerProgram([1, 1], [[1e-13, 1]], [1]), "ERROR", None, "NONE"),
        (IntegerProgram([1], upper=[1e21]), "ERROR", None, "NONE"),
        (IntegerProgram([1e21], [[1]], [1], upper=[3]), "ERROR", None, "NONE"),
        (IntegerProgram([1], [[1e16]], [1]), "ERROR", None, "NONE"),
        (IntegerProgram([1], [[1]], [1e20]), "ERROR", None, "NONE"),
    ],
)
def test_kinds_of_programs(program, status, objective, certificate, presolve):
    solution = Highs(presolve=presolve).minimize(program)
    assert solution.status is Status[status]
    assert solution.objective == objective
    assert type(solution.objective) is type(objective)
    assert solution.certificate is Certificate[certificate]
    assert (solution.value is None) == (objective is None)


def test_linear_programs_are_bounded_by_weak_duality():
    program = IntegerProgram(
        [1, 2, 0], [[1, 1, 0], [1, -1, 1]], [1.5, -INF], [INF, 4], integer=[False] * 3, constant=7
    )
    solution = HIGHS.minimize(program)
    assert solution.objective == pytest.approx(8.5)
    assert solution.certificate is Certificate.BOUNDED
    assert solution.gap <= 1e-9


@given(programs())
@settings(deadline=None, max_examples=50)
def test_the_relaxation_bounds_the_integer_program(program):
    relaxed = HIGHS.minimize(program.relaxed())
    truth = Exhaustive().minimize(program)
    if relaxed.status is Status.INFEASIBLE:
        assert truth.status is Status.INFEASIBLE
    else:
        assert relaxed.status is Status.OPTIMAL
        assert relaxed.gap <= 1e-5
        if truth.objective is not None:
            assert relaxed.bound <= truth.objective + 1e-6


def test_a_free_variable_has_a_bound_all_the_same():
    program = IntegerProgram(
        [1, 0], [[1, 1], [1, -1]], [1, 0], lower=[-INF] * 2, integer=[False] * 2
    )
    solution = HIGHS.minimize(program)
    assert solution.objective == pytest.approx(0.5)
    assert solution.certificate is Certificate.BOUNDED


# -- a solver that lies ----------------------------------------------------------------------

KNAPSACK = IntegerProgram([-3, -4, -5], [[2, 3, 4]], None, [6], upper=[1, 1, 1])  # optimum -8


def lying(monkeypatch: pytest.MonkeyPatch, **changes: object) -> None:
    truthful = {"status": Status.OPTIMAL, "point": np.array([1.0, 0.0, 1.0]), "objective": -8.0}
    claim = Claim(**{**truthful, "bound": -8.0, **changes})
    monkeypatch.setattr(oracles.highs, "_claim", lambda highs, program: claim)


def test_the_truth_is_certified(monkeypatch):
    lying(monkeypatch)
    solution = HIGHS.minimize(KNAPSACK)
    assert (solution.objective, solution.certificate) == (-8, Certificate.SOLVER)


@pytest.mark.parametrize(
    "lie",
    [
        {"point": np.array([1.0, 1.0, 1.0]), "objective": -12.0, "bound": -12.0},  # infeasible
        {"point": np.array([2.0, 0.0, 0.0]), "objective": -6.0},  # beyond a bound
        {"point": np.array([1.0, np.nan, 1.0])},
        {"point": np.array([1.0, 0.0])},
        {"point": None},
        {"objective": -9.0},
        {"bound": -7.0},
        {"bound": INF},
        {"status": Status.ERROR},
    ],
)
def test_a_lie_leaves_no_point(monkeypatch, lie):
    lying(monkeypatch, **lie)
    solution = HIGHS.minimize(KNAPSACK)
    assert (solution.status, solution.value) == (Status.ERROR, None)
    assert solution.certificate is Certificate.NONE
    assert solution.bound == -INF


@pytest.mark.parametrize(
    ("bound", "certificate", "kept"),
    [
        (-8.0, Certificate.SOLVER, -8),
        (-8.0 + 1e-7, Certificate.SOLVER, -8),
        (-8.999, Certificate.SOLVER, -8),
        (-8.99999, Certificate.NONE, -9),  # within the margin of -9
        (-9.0, Certificate.NONE, -9),
        (-9.5, Certificate.NONE, -9),
        (math.nan, Certificate.NONE, -INF),
        (-INF, Certificate.NONE, -INF),
    ],
)
def test_a_weak_bound_leaves_no_certificate(monkeypatch, bound, certificate, kept):
    lying(monkeypatch, bound=bound)
    solution = HIGHS.minimize(KNAPSACK)
    assert solution.status is Status.OPTIMAL
    assert solution.certificate is certificate
    assert solution.bound == kept


def test_a_known_point_refutes_infeasibility_and_bounds_above_it(monkeypatch):
    best = np.array([1.0, 0.0, 1.0])
    lying(monkeypatch, status=Status.INFEASIBLE, point=None)
    assert HIGHS.minimize(KNAPSACK).status is Status.INFEASIBLE
    assert HIGHS.minimize(KNAPSACK, start=best).status is Status.ERROR
    worse = np.array([1.0, 1.0, 0.0])
    lying(monkeypatch, point=worse, objective=-7.0, bound=-7.0)
    assert HIGHS.minimize(KNAPSACK).certificate is Certificate.SOLVER
    assert HIGHS.minimize(KNAPSACK, start=best).status is Status.ERROR


@pytest.mark.parametrize(
    ("raised", "expected"), [(MemoryError, None), (ZeroDivisionError, ZeroDivisionError)]
)
def test_exceptions_in_the_solver(monkeypatch, raised, expected):
    class Failing(highspy._Highs):
        def run(self):
            raise raised

    monkeypatch.setattr(highspy, "_Highs", Failing)
    if expected is None:
        assert HIGHS.minimize(KNAPSACK).status is Status.ERROR
        return
    with pytest.raises(expected):
        HIGHS.minimize(KNAPSACK)
