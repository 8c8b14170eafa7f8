"""Solvers behind PuLP: agreement with enumeration, lies, limits, and what is left behind."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import highspy
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
    Oracle,
    ProblemError,
    Pulp,
    SolverError,
    Status,
)
from oracles.verdict import Claim, recheck

INF = math.inf
ROOT = Path(__file__).parents[2]
HIGHS = "HiGHS"
CBC = pytest.param(
    "COIN_CMD",
    marks=pytest.mark.skipif(
        shutil.which("cbc") is None, reason="no command cbc: apt-get install coinor-cbc"
    ),
)
needs_cbc = CBC.marks[0]
KNAPSACK = IntegerProgram([-3, -4, -5], [[2, 3, 4]], None, [6], upper=[1, 1, 1])  # optimum -8


def market_split(columns: int, rows: int, *, slack: bool) -> IntegerProgram:
    """Equations that branch and bound cannot decide in reasonable time (Cornuejols, Dawande)."""
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 100, (rows, columns))
    half = weights.sum(axis=1) // 2
    if not slack:
        return IntegerProgram(np.zeros(columns), weights, half, half, upper=np.ones(columns))
    return IntegerProgram(
        np.r_[np.zeros(columns), np.ones(2 * rows)],
        np.hstack([weights, np.eye(rows), -np.eye(rows)]),
        half,
        half,
        upper=np.r_[np.ones(columns), np.full(2 * rows, INF)],
        integer=np.arange(columns + 2 * rows) < columns,
    )


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


def command(folder: Path, script: str) -> pulp.COIN_CMD:
    """A driver whose command is a shell script: $1 is the model, $solution the file to write."""
    path = folder / "solver"
    head = '#!/bin/sh\nfor word; do [ "$last" = -solution ] && solution=$word; last=$word; done\n'
    path.write_text(head + script)
    path.chmod(0o755)
    return pulp.COIN_CMD(path=str(path))


def says(header: str, *values: float) -> str:
    lines = [header, *(f"{j} X{j:07d} {value} 0" for j, value in enumerate(values))]
    return "".join(f"echo '{line}' >> $solution\n" for line in lines)


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
    solution = oracle.minimize(KNAPSACK, limits=Limits(seconds=0.2))
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
    program = market_split(40, 5, slack=True)
    start = np.r_[np.zeros(40), program.row_lower, np.zeros(5)]
    limits = Limits(nodes=1, threads=1)
    solution = Pulp(HIGHS).minimize(program, limits=limits, start=start)
    assert solution.objective <= program.row_lower.sum()


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


# -- what is left behind ---------------------------------------------------------------------


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """An own working directory and an own place for temporary files."""
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir()
    temporary.mkdir()
    monkeypatch.chdir(here)
    for variable in ("TMPDIR", "TMP", "TEMP"):
        monkeypatch.setenv(variable, str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return here, temporary


@pytest.mark.parametrize("solver", [HIGHS, CBC])
def test_nothing_is_printed_or_left(capfd, folders, solver):
    oracle = Pulp(solver)
    for program in (KNAPSACK, IntegerProgram([-1]), IntegerProgram([1, 1], [[2, 2]], [1], [1])):
        oracle.minimize(program, start=np.zeros(program.n_variables))
    assert oracle.name
    assert capfd.readouterr() == ("", "")
    assert [list(folder.iterdir()) for folder in folders] == [[], []]


@needs_cbc
def test_a_loud_solver_object_is_silent(capfd):
    Pulp(pulp.COIN_CMD(msg=True)).minimize(KNAPSACK)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("end", ["exit 0\n", "exit 3\n", "kill -SEGV $$\n"])
def test_files_are_private_while_they_are_there(tmp_path, folders, end):
    seen = tmp_path / "seen"
    look = f'stat -c "%a %n" "$(dirname $1)" > {seen}; ls -A . "$TMPDIR" >> {seen}\n'
    Pulp(command(tmp_path, look + end)).minimize(KNAPSACK)
    mode, folder = seen.read_text().splitlines()[0].split()
    assert mode == "700"
    assert Path(folder).parent == folders[1]
    # The only thing there, and nothing where the caller works.
    assert seen.read_text().split("\n", 1)[1].split() == [
        ".:", f"{folders[1]}:", Path(folder).name
    ]  # fmt: skip
    assert [list(place.iterdir()) for place in folders] == [[], []]


@pytest.mark.parametrize("raised", [KeyboardInterrupt, ZeroDivisionError, MemoryError])
def test_nothing_is_left_after_an_exception(monkeypatch, folders, raised):
    def fail(self, problem):
        (Path(self.tmpDir) / "model").write_text("private")
        raise raised

    monkeypatch.setattr(pulp.COIN_CMD, "actualSolve", fail)
    oracle = Pulp(pulp.COIN_CMD(path="/bin/true"))
    if raised is MemoryError:
        assert oracle.minimize(KNAPSACK).status is Status.ERROR
    else:
        with pytest.raises(raised):
            oracle.minimize(KNAPSACK)
    assert [list(folder.iterdir()) for folder in folders] == [[], []]


INTERRUPTED = """
    import json, os, signal, sys, threading, time
    sys.path[:0] = [{root!r}, {tests!r}]
    import pulp
    from oracles import Pulp
    from test_pulp import KNAPSACK, market_split

    def latency(solver, delay):
        oracle, program, sent = Pulp(solver), market_split(40, 5, slack=True), []
        def interrupt():
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(delay, interrupt).start()
        try:
            oracle.minimize(program)
        except KeyboardInterrupt:
            return time.perf_counter() - sent[0]

    solvers = {solvers}
    print(json.dumps([[latency(solver, delay) for solver in solvers for delay in (0.05, 1)],
                      [Pulp(solver).minimize(KNAPSACK).objective for solver in solvers[:-1]]]))
"""


@needs_cbc
def test_ctrl_c_stops_within_a_second_and_leaves_nothing(tmp_path, folders):
    """By a real SIGINT to Python alone; the last solver starts a process of its own."""
    command(tmp_path, "trap '' INT TERM; echo $$ > ../pid; sleep 321.25; sleep 321.25\n")
    solvers = f"['HiGHS', 'COIN_CMD', pulp.COIN_CMD(path={str(tmp_path / 'solver')!r})]"
    code = textwrap.dedent(INTERRUPTED).format(
        root=str(ROOT), tests=str(Path(__file__).parent), solvers=solvers
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    latencies, objectives = json.loads(run.stdout)
    assert objectives == [-8, -8]
    assert all(latency is not None and latency < 1 for latency in latencies)
    assert list(folders[1].iterdir()) == []
    assert (tmp_path / "pid").exists()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
        except OSError:
            continue
        assert os.fsencode(tmp_path) not in words
        assert b"321.25" not in words


# -- public instances ------------------------------------------------------------------------


PUBLIC = [
    "MANN_a9.clq.lp", "bell5.mps", "blend2.mps", "egout.mps", "enigma.mps", "flugpl.mps",
    "gt2.mps", "p0033.mps", "p01.mps", "p0201.mps", "rgn.mps", "sp150x300d.mps",
]  # fmt: skip
TOO_SLOW_FOR_CBC = {
    "bell5.mps": "CBC 2.10.8 proves its optimum in 23 s",
    "sp150x300d.mps": "CBC 2.10.8 has no proof after 120 s",
}


@needs_cbc
@pytest.mark.parametrize("name", PUBLIC)
def test_public_instances_have_their_known_optimum_by_both_routes(test_data, name):
    folder = test_data / "mip" / "miplib"
    lines = (folder / "known_optima.solu").read_text().splitlines()
    known = {instance: float(value) for _, instance, value in (line.split() for line in lines)}
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
