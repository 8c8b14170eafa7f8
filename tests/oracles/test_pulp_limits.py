"""Solvers behind PuLP: limits, starts, and which solvers are taken."""

from __future__ import annotations

import time

import highspy
import numpy as np
import pulp
import pytest

from oracles import (
    Certificate,
    IntegerProgram,
    Limits,
    Oracle,
    ProblemError,
    Pulp,
    SolverError,
    Status,
)

from .pulp_solvers import CBC, HIGHS, INF, KNAPSACK, command, market_split, says

# -- limits, threads, start ------------------------------------------------------------------


@pytest.mark.parametrize("solver", [HIGHS, CBC])
@pytest.mark.parametrize("limits", [Limits(seconds=0.5), Limits(nodes=5, threads=1)])
def test_a_limit_with_an_incumbent_returns_it_uncertified(solver, limits):
    program = market_split(40, 5, slack=True)
    solution = Pulp(solver).minimize(program, limits=limits)
    assert solution.status is Status.STOPPED
    assert program.is_feasible(solution.value)
    assert solution.certificate is Certificate.NONE


@pytest.mark.parametrize("solver", [HIGHS, CBC])
def test_a_time_limit_without_an_incumbent_returns_nothing(solver):
    program = market_split(40, 5, slack=False)
    solution = Pulp(solver).minimize(program, limits=Limits(seconds=0.5))
    assert (solution.status, solution.value, solution.objective) == (Status.STOPPED, None, None)
    assert (solution.certificate, solution.gap) == (Certificate.NONE, INF)


@pytest.mark.parametrize("solver", [HIGHS, CBC])
def test_thread_counts_may_change_within_a_process(solver):
    program = IntegerProgram([1, 2], [[2, 2]], [3], upper=[5, 5])
    for threads in (1, 2, None):
        assert Pulp(solver).minimize(program, limits=Limits(threads=threads)).objective == 2


def test_a_solver_that_ignores_its_time_limit_is_ended(tmp_path):
    oracle = Pulp(command(tmp_path, "sleep 60\n"))
    began = time.monotonic()
    solution = oracle.minimize(KNAPSACK, limits=Limits(seconds=0.2))
    assert time.monotonic() - began < 10
    assert (solution.status, solution.value) == (Status.STOPPED, None)


def test_limits_reach_the_command(tmp_path):
    seen = tmp_path / "seen"
    oracle = Pulp(
        command(tmp_path, f'echo "$@" > {seen}\n' + says("Optimal - objective value -8", 1, 0, 1))
    )
    oracle.minimize(KNAPSACK, limits=Limits(seconds=9.5, nodes=7, threads=2))
    words = seen.read_text().split()
    given = {word: words[i + 1] for i, word in enumerate(words[:-1])}
    assert 9 < float(given["-sec"]) <= 9.5
    assert (given["-maxNodes"], given["-threads"]) == ("7", "2")
    assert (given["-ratio"], given["-allow"]) == ("0.0", "0.0")


@pytest.mark.parametrize("limit", ["nodes", "threads"])
def test_a_limit_that_pulp_cannot_pass_on_is_refused(limit):
    oracle = Pulp(pulp.GLPK_CMD(path="/bin/true"))
    with pytest.raises(ProblemError, match=f"gives GLPK_CMD no limit of {limit}"):
        oracle.minimize(KNAPSACK, limits=Limits(**{limit: 2}))


def test_glpk_is_given_whole_seconds(tmp_path):
    seen = tmp_path / "seen"
    (tmp_path / "glpsol").write_text(f'#!/bin/sh\necho "$@" > {seen}\n')
    (tmp_path / "glpsol").chmod(0o755)
    oracle = Pulp(pulp.GLPK_CMD(path=str(tmp_path / "glpsol")))
    assert oracle.minimize(KNAPSACK, limits=Limits(seconds=1.5)).status is Status.ERROR
    assert "--tmlim 2" in seen.read_text()


def test_a_start_reaches_the_command(tmp_path):
    seen = tmp_path / "seen"
    script = f'while [ "$1" != -mips ]; do shift; done; cp $2 {seen}\n'
    oracle = Pulp(command(tmp_path, script + says("Optimal - objective value -8", 1, 0, 1)))
    assert oracle.minimize(KNAPSACK, start=[0, 1, 0]).objective == -8
    values = [float(line.split()[2]) for line in seen.read_text().splitlines()[1:]]
    assert values == [0, 1, 0]


@pytest.mark.parametrize("solver", [HIGHS, CBC])
def test_an_infeasible_start_is_ignored_and_a_feasible_one_does_no_harm(solver):
    for start in ([1, 1, 1], [1.0, 2.0], np.full(3, np.nan), [0, 1, 0]):
        assert Pulp(solver).minimize(KNAPSACK, start=start).objective == -8


def test_a_start_is_used_by_highs():
    """It solves equations that HiGHS finds no solution of."""
    unsolved = market_split(40, 5, slack=False)
    start = np.random.default_rng(1).integers(0, 2, 40)
    sides = unsolved.matrix @ start
    program = IntegerProgram(np.zeros(40), unsolved.matrix, sides, sides, upper=np.ones(40))
    limits = Limits(seconds=0.5)
    assert Pulp(HIGHS).minimize(program, limits=limits).value is None
    assert Pulp(HIGHS).minimize(program, limits=limits, start=start).status is Status.OPTIMAL


# -- the object ------------------------------------------------------------------------------


def test_is_an_oracle_and_names_its_versions():
    assert isinstance(Pulp(HIGHS), Oracle)
    version = f"{highspy.HIGHS_VERSION_MAJOR}.{highspy.HIGHS_VERSION_MINOR}"
    assert Pulp(HIGHS).name.startswith(f"HiGHS {version}.")
    assert Pulp(HIGHS).name.endswith(f"through PuLP {pulp.__version__}")
    assert Pulp(pulp.COIN_CMD(path="/bin/true")).name.startswith("COIN_CMD through PuLP 3.")
    assert Pulp(HIGHS) == Pulp(HIGHS)


def test_a_missing_solver_is_said_to_be_missing():
    with pytest.raises(SolverError, match=r"COIN_CMD is not installed: apt-get.*coinor-cbc.*HiGHS"):
        Pulp(pulp.COIN_CMD(path="/nowhere/cbc"))
    with pytest.raises(SolverError, match=r"MIPCL_CMD is not installed: .*PuLP finds: .*HiGHS"):
        Pulp("MIPCL_CMD")


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        ("cbc", "no 'cbc'; it has .*COIN_CMD"),
        (None, "not NoneType"),
        (pulp.HiGHS, "not type"),
        (pulp.HiGHS(mip=False), "drops integrality"),
        (pulp.HiGHS(timeLimit=5), r"timeLimit is set: give Limits\(seconds"),
        (pulp.HiGHS(mip_max_nodes=5), r"mip_max_nodes is set: give Limits\(nodes"),
        (pulp.HiGHS(callbackTuple=(print, None)), "callbacks"),
        (pulp.COIN_CMD(path="/bin/true", maxNodes=5), "maxNodes"),
        (pulp.COIN_CMD(path="/bin/true", keepFiles=True), "private data"),
        (pulp.COIN_CMD(path="/bin/true", logPath="log"), "private data"),
        (pulp.HiGHS(mip_improving_solution_file="x"), "solution_file would leave private data"),
        (pulp.COPT_CMD(path="/bin/true", logfile="log"), "logfile would leave private data"),
        (pulp.XPRESS_PY(export="model.lp"), "_export would leave private data"),
        (pulp.CPLEX_CMD(path="/bin/true"), "working directory: use CPLEX_PY"),
        (pulp.GUROBI_CMD(path="/bin/true"), "working directory: use GUROBI"),
    ],
)
def test_solvers_that_are_refused(solver, message):
    with pytest.raises(ProblemError, match=message):
        Pulp(solver)


def test_a_solver_with_a_connection_is_refused():
    class Connected(pulp.HiGHS):
        def __del__(self) -> None:
            pass

    with pytest.raises(ProblemError, match="give the name"):
        Pulp(Connected())


def test_options_that_highs_refuses_are_named():
    with pytest.raises(SolverError, match="'no_such_option'"):
        Pulp(pulp.HiGHS(no_such_option=1)).minimize(KNAPSACK)


@pytest.mark.parametrize(
    ("options", "certificate"),
    [
        ({}, Certificate.SOLVER),
        ({"presolve": "off", "random_seed": 3, "threads": 1}, Certificate.SOLVER),
        ({"dual_feasibility_tolerance": 1e-3}, Certificate.NONE),
        ({"mip_feasibility_tolerance": 1e-6}, Certificate.NONE),
    ],
)
def test_loosened_tolerances_cost_the_certificate(options, certificate):
    solution = Pulp(pulp.HiGHS(**options)).minimize(KNAPSACK, limits=Limits(nodes=1000))
    assert (solution.objective, solution.certificate) == (-8, certificate)


def test_only_pulps_own_highs_has_a_bound(tmp_path):
    class Other(pulp.HiGHS):
        """What it solves is its own business."""

        def createAndConfigureSolver(self, lp: pulp.LpProblem) -> None:
            lp.solverModel = highspy._Highs()
            lp.solverModel.setOptionValue("output_flag", False)

    solution = Pulp(Other()).minimize(KNAPSACK)
    assert (solution.objective, solution.certificate) == (-8, Certificate.NONE)


def test_a_solver_object_is_not_changed():
    solver = pulp.COIN_CMD(path="/bin/true", gapRel=0.5, threads=3)
    before = dict(vars(solver), optionsDict=dict(solver.optionsDict))
    Pulp(solver).minimize(KNAPSACK, limits=Limits(seconds=5, threads=1), start=[1, 0, 1])
    assert vars(solver) == before
