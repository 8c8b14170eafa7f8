"""Solvers behind PuLP: agreement with enumeration, with known optima, and lies."""

from __future__ import annotations

import numpy as np
import pulp
import pytest

import oracles._pulp_driver
from oracles import (
    Certificate,
    Exhaustive,
    Highs,
    IntegerProgram,
    Limits,
    Pulp,
    Status,
)
from oracles.verdict import Claim, recheck

from .pulp_solvers import CBC, HIGHS, INF, KNAPSACK, command, needs_cbc, says

# -- agreement with enumeration --------------------------------------------------------------


def random_program(rng: np.random.Generator) -> IntegerProgram:
    """A small program; rows are one-sided, ranges, equations or empty."""
    n, m = int(rng.integers(1, 6)), int(rng.integers(0, 5))
    lower = rng.integers(-3, 3, n)
    upper = lower + rng.integers(0, 5, n)
    rows = rng.integers(-9, 10, (m, n)) * (rng.random((m, 1)) < 0.95)
    # Sides near the activity of some point: otherwise nearly all programs are infeasible.
    centre = rows @ rng.integers(lower, upper + 1) + rng.choice([0, 0, 0, 1])
    return IntegerProgram(
        rng.integers(-9, 10, n) * (rng.random(n) < 0.8),
        rows,
        centre - rng.choice([0, 0, 1, 3, INF], m),
        centre + rng.choice([0, 0, 1, 3, INF], m),
        lower=lower,
        upper=upper,
        constant=int(rng.integers(-9, 10)),
        negated=bool(rng.random() < 0.5),
    )


@pytest.mark.parametrize("solver", [HIGHS, CBC])
def test_agrees_with_enumeration(solver):
    rng = np.random.default_rng(5)
    oracle = Pulp(solver)
    seen = set()
    for _ in range(200):
        program = random_program(rng)
        truth = Exhaustive().minimize(program)
        solution = oracle.minimize(program)
        assert solution.status is truth.status
        assert solution.objective == truth.objective
        seen.add((solution.status, solution.certificate))
        if solution.value is not None:
            assert isinstance(solution.objective, int)
            assert program.is_feasible(solution.value)
            assert solution.bound in (solution.objective, -INF)
    with_point = {certificate for status, certificate in seen if status is Status.OPTIMAL}
    proof = Certificate.SOLVER if solver == HIGHS else Certificate.NONE
    assert with_point == {proof, Certificate.EXACT}  # exact: nothing left to choose
    assert (Status.INFEASIBLE, Certificate.NONE) in seen


@pytest.mark.parametrize(
    ("program", "status", "objective", "certificate"),
    [
        (IntegerProgram([], constant=3), "OPTIMAL", 3, "EXACT"),
        (IntegerProgram([], np.zeros((1, 0)), [1]), "INFEASIBLE", None, "NONE"),
        (IntegerProgram([0, 0], upper=[1, 1], constant=0.5), "OPTIMAL", 0.5, "BOUNDED"),
        (IntegerProgram([2, -1], upper=[1, 4]), "OPTIMAL", -4, "SOLVER"),
        (IntegerProgram([2, -1], lower=[3, 4], upper=[3, 4]), "OPTIMAL", 2, "SOLVER"),
        (IntegerProgram([0, 0], [[1, 1]], [1], upper=[1, 1]), "OPTIMAL", 0, "SOLVER"),
        (IntegerProgram([1], upper=[1], constant=-7), "OPTIMAL", -7, "SOLVER"),
        (IntegerProgram([1], lower=[-3], upper=[-2]), "OPTIMAL", -3, "SOLVER"),
        (IntegerProgram([1, 0], lower=[0, 0.2], upper=[1, 0.8]), "INFEASIBLE", None, "NONE"),
        (IntegerProgram([1, 1], [[2, 2]], [3], [3], upper=[5, 5]), "INFEASIBLE", None, "NONE"),
        (IntegerProgram([0, 5], [[0, 0], [0, 1]], [1, 0]), "INFEASIBLE", None, "NONE"),
        (IntegerProgram([-1]), "UNBOUNDED", None, "NONE"),
        (IntegerProgram([-1, -1], [[1, -1]], [0], [1]), "UNBOUNDED", None, "NONE"),
        (IntegerProgram([-1, 0], [[0, 2]], [1], [1], upper=[INF, 1]), "INFEASIBLE", None, "NONE"),
        (IntegerProgram([-1, -1], [[1, 0], [1, -2]], [1, 0], [1, 0]), "INFEASIBLE", None, "NONE"),
        (IntegerProgram([-1], integer=[False]), "UNBOUNDED", None, "NONE"),
        (IntegerProgram([1.5, 2], [[2, 2]], [3], upper=[5, 5]), "OPTIMAL", 3.0, "BOUNDED"),
        (IntegerProgram([1.5], [[2]], [3], integer=[False], constant=1),
         "OPTIMAL", 3.25, "BOUNDED"),
        (IntegerProgram([3], [[2]], [3]), "OPTIMAL", 6, "NONE"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("solver", [HIGHS, CBC])
def test_kinds_of_programs(program, status, objective, certificate, solver):
    solution = Pulp(solver).minimize(program)
    assert solution.status is Status[status]
    assert solution.objective == objective
    assert type(solution.objective) is type(objective)
    nothing_to_choose = program.n_rows == 0 and not program.objective.any()
    proven = solver == HIGHS or nothing_to_choose
    assert solution.certificate is (Certificate[certificate] if proven else Certificate.NONE)


@pytest.mark.parametrize("solver", [HIGHS, CBC])
def test_variables_that_nothing_names_get_a_value_within_their_bounds(solver):
    program = IntegerProgram(
        [0, 0, 5, 0],
        [[0, 0, 1, 0], [0, 0, 0, 0]],
        [1, -1],
        [4, 2],
        lower=[2, -INF, 0, 0.5],
        upper=[3, -1, 9, 0.75],
        integer=[True, True, True, False],
    )
    solution = Pulp(solver).minimize(program)
    assert solution.value.tolist() == [2, -1, 1, 0.5]
    assert solution.objective == 5


@pytest.mark.parametrize(
    "program",
    [
        IntegerProgram([1, 1], [[1e-13, 1]], [1]),  # dropped
        IntegerProgram([1], upper=[1e21]),  # read as infinite
        IntegerProgram([1e21], [[1]], [1], upper=[3]),
        IntegerProgram([1], [[1e16]], [1]),  # refused
        IntegerProgram([1], [[1]], [1e20]),
    ],
)
def test_a_bound_of_another_program_is_none(program):
    assert Pulp(HIGHS).minimize(program).status is Status.ERROR


def test_options_that_change_the_program_are_found_out():
    program = IntegerProgram([1, 1], [[1e-7, 1]], [1], upper=[1, 2])
    assert Pulp(HIGHS).minimize(program).objective == 1
    dropping = Pulp(pulp.HiGHS(small_matrix_value=1e-6))
    assert dropping.minimize(program).status is Status.ERROR


# -- solvers that lie ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "status", "certificate"),
    [
        ({}, Status.OPTIMAL, Certificate.SOLVER),
        ({"point": np.ones(3), "objective": -12.0, "bound": -12.0}, Status.ERROR, Certificate.NONE),
        ({"point": None}, Status.ERROR, Certificate.NONE),
        ({"objective": -9.0}, Status.ERROR, Certificate.NONE),
        ({"bound": -7.0}, Status.ERROR, Certificate.NONE),
        ({"bound": -9.0}, Status.OPTIMAL, Certificate.NONE),
        ({"bound": -INF}, Status.OPTIMAL, Certificate.NONE),
    ],
)
def test_what_highs_says_through_pulp_is_judged(monkeypatch, changes, status, certificate):
    truth = {"status": Status.OPTIMAL, "point": np.array([1.0, 0, 1]), "objective": -8.0}
    claim = Claim(**{**truth, "bound": -8.0, **changes})
    monkeypatch.setattr(oracles._pulp_driver, "highs_claim", lambda highs, program: claim)
    solution = Pulp(HIGHS).minimize(KNAPSACK)
    assert (solution.status, solution.certificate) == (status, certificate)


@pytest.mark.parametrize(
    ("script", "status", "objective"),
    [
        (says("Optimal - objective value -8", 1, 0, 1), "OPTIMAL", -8),
        (says("Optimal - objective value -8", 1, 0, 0.9999999), "OPTIMAL", -8),
        (says("Optimal - objective value -12", 1, 1, 1), "ERROR", None),
        (says("Optimal - objective value -8", 1, 0, "nan"), "ERROR", None),
        (says("Optimal - objective value -8", 1, 0, 0.5), "OPTIMAL", -3),  # rounds to (1, 0, 0)
        (says("Stopped on time - objective value -7", 1, 1, 0), "STOPPED", -7),
        (says("Stopped on time (no integer solution)", 1, 1, 0.3), "ERROR", None),  # no limit set
        (says("Infeasible - objective value 0", 1, 0, 1), "INFEASIBLE", None),
        (says("Integer infeasible - objective value 0", 1, 0, 1), "INFEASIBLE", None),
        (says("Unbounded - objective value 0"), "ERROR", None),
        (says("Confused - objective value 0"), "ERROR", None),
        ("exit 3\n", "ERROR", None),
        ("kill -SEGV $$\n", "ERROR", None),
        ("exit 0\n", "ERROR", None),
        ("echo > $solution\n", "ERROR", None),
        ("echo 'Optimal\nrubbish' > $solution\n", "ERROR", None),
        ("printf 'Optimal \\377\\376\\n' > $solution\n", "ERROR", None),
        ("mkdir $solution\n", "ERROR", None),
    ],
)
def test_what_a_command_says_is_judged(tmp_path, script, status, objective):
    solution = Pulp(command(tmp_path, script)).minimize(KNAPSACK)
    assert (solution.status, solution.objective) == (Status[status], objective)
    assert (solution.certificate, solution.bound) == (Certificate.NONE, -INF)


@pytest.mark.parametrize(
    ("header", "status"),
    [("Stopped on time (no integer solution)", "STOPPED"), ("Confused - value 0", "STOPPED")],
)
def test_no_reason_under_a_limit_is_a_stop(tmp_path, header, status):
    oracle = Pulp(command(tmp_path, says(header, 1, 1, 0.3)))
    solution = oracle.minimize(KNAPSACK, limits=Limits(nodes=1))
    assert (solution.status, solution.value) == (Status[status], None)


def test_infeasible_is_contradicted_by_a_known_point(tmp_path):
    oracle = Pulp(command(tmp_path, says("Infeasible - objective value 0")))
    assert oracle.minimize(KNAPSACK).status is Status.INFEASIBLE
    assert oracle.minimize(KNAPSACK, start=[1, 0, 1]).status is Status.ERROR


def test_unbounded_called_infeasible_is_told_apart(tmp_path):
    """As HiGHS's "unbounded or infeasible", which PuLP calls infeasible."""
    script = (
        # Without costs: feasible. Otherwise infeasible, or unbounded once integrality is gone.
        'if ! grep -q "OBJ *-1" $1; then\n' + says("Optimal - objective value 0", 0) + "\n"
        "elif grep -q MARKER $1; then\n" + says("Infeasible - objective value 0") + "\n"
        "else\n" + says("Unbounded - objective value 0") + "\nfi\n"
    )
    unbounded = IntegerProgram([-1], [[1]], [0])
    assert Pulp(command(tmp_path, script)).minimize(unbounded).status is Status.UNBOUNDED
    lie = script.replace("Unbounded", "Optimal")
    assert Pulp(command(tmp_path, lie)).minimize(unbounded).status is Status.ERROR


def test_answers_are_judged_once(tmp_path):
    for oracle in (
        Pulp(HIGHS),
        Pulp(command(tmp_path, says("Optimal - objective value -8", 1, 0, 1))),
    ):
        found = oracle.minimize(KNAPSACK)
        assert recheck(KNAPSACK, found, oracle) is found


# -- public instances ------------------------------------------------------------------------


PUBLIC = [
    "MANN_a9.clq.lp", "bell5.mps", "blend2.mps", "egout.mps", "enigma.mps", "flugpl.mps",
    "gt2.mps", "p0033.mps", "p01.mps", "p0201.mps", "rgn.mps", "sp150x300d.mps",
]  # fmt: skip
TOO_SLOW_FOR_CBC = {
    "sp150x300d.mps": "CBC 2.10.8 proves its optimum in 238 s",
}


@needs_cbc
@pytest.mark.parametrize("name", PUBLIC)
def test_public_instances_have_their_known_optimum_by_both_routes(test_data, name):
    folder = test_data / "mip" / "miplib"
    lines = (folder / "known_optima.solu").read_text().splitlines()
    known = {instance: float(value) for _, instance, value in (line.split() for line in lines)}
    assert {file.rsplit(".", 1)[0] for file in PUBLIC} == set(known)
    reader = IntegerProgram.from_mps if name.endswith(".mps") else IntegerProgram.from_lp
    program = reader(folder / name)
    optimum = known[name.rsplit(".", 1)[0]] * (-1 if program.negated else 1)
    first = Highs().minimize(program, limits=Limits(seconds=60))
    assert first.status is Status.OPTIMAL
    assert first.objective == pytest.approx(optimum, rel=1e-6)
    limits = Limits(seconds=2 if name in TOO_SLOW_FOR_CBC else 60)
    second = Pulp("COIN_CMD").minimize(program, limits=limits)
    assert program.is_feasible(second.value)
    if second.status is Status.OPTIMAL:
        assert second.objective == pytest.approx(optimum, rel=1e-6)
    else:
        assert name in TOO_SLOW_FOR_CBC
        assert second.objective >= optimum - 1e-6 * abs(optimum)
