from __future__ import annotations

import json
import math
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from oracles import Certificate, Highs, IntegerProgram, Limits, Oracle, ProblemError, Status

INF = math.inf
HIGHS = Highs()
ROOT = Path(__file__).parents[2]
KNAPSACK = IntegerProgram([-3, -4, -5], [[2, 3, 4]], None, [6], upper=[1, 1, 1])


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


# -- limits, threads, start ------------------------------------------------------------------


def test_a_time_limit_with_an_incumbent_returns_it_uncertified():
    program = market_split(40, 5, slack=True)
    solution = HIGHS.minimize(program, limits=Limits(seconds=0.5, threads=1))
    assert solution.status is Status.STOPPED
    assert program.is_feasible(solution.value)
    assert solution.certificate is Certificate.NONE
    assert solution.bound < solution.objective


def test_a_time_limit_without_an_incumbent_returns_nothing():
    limits = Limits(seconds=0.5, threads=1)
    solution = HIGHS.minimize(market_split(40, 5, slack=False), limits=limits)
    assert (solution.status, solution.value, solution.objective) == (Status.STOPPED, None, None)
    assert solution.certificate is Certificate.NONE
    assert solution.gap == INF


def test_a_node_limit_stops():
    program = market_split(40, 5, slack=True)
    solution = HIGHS.minimize(program, limits=Limits(nodes=5, threads=1))
    assert solution.status is Status.STOPPED
    assert solution.certificate is Certificate.NONE


def test_thread_counts_may_change_within_a_process():
    program = IntegerProgram([1, 2], [[2, 2]], [3], upper=[5, 5])
    for threads in (1, 2, 1, None, 2):
        assert HIGHS.minimize(program, limits=Limits(threads=threads)).objective == 2


def test_runs_from_several_threads_at_once():
    program = IntegerProgram([1, 2], [[2, 2]], [3], upper=[5, 5])
    found: list[object] = []

    def solve(threads: int) -> None:
        found.append(HIGHS.minimize(program, limits=Limits(threads=threads)).objective)

    workers = [threading.Thread(target=solve, args=(1 + i % 2,)) for i in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [2] * 6


def test_a_start_is_used_and_an_infeasible_one_ignored():
    program = market_split(40, 5, slack=True)
    limits = Limits(nodes=1, threads=1)
    rows = program.n_rows
    halves = program.row_lower
    start = np.r_[np.zeros(40), halves, np.zeros(rows)]
    assert HIGHS.minimize(program, limits=limits, start=start).objective <= halves.sum()
    for wrong in (np.zeros(program.n_variables), [1.0, 2.0], np.full(program.n_variables, np.nan)):
        assert HIGHS.minimize(program, limits=limits, start=wrong).value is not None


# -- the object and the process --------------------------------------------------------------


def test_is_an_oracle_and_names_its_version():
    assert isinstance(HIGHS, Oracle)
    assert HIGHS.name.startswith("HiGHS 1.")
    assert Highs() == HIGHS


@pytest.mark.parametrize("tolerance", [0.0, 1e-12, 1e-3, math.nan])
def test_the_tolerance_is_checked(tolerance):
    with pytest.raises(ProblemError, match="feasibility_tolerance"):
        Highs(feasibility_tolerance=tolerance)


def test_nothing_is_printed_or_written(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    HIGHS.minimize(KNAPSACK)
    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_importing_the_package_does_not_import_highspy():
    code = "import sys, oracles; oracles.Highs(); sys.exit('highspy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def cover(size: int) -> IntegerProgram:
    """A set cover large enough to spend seconds in presolve and in its first relaxation."""
    rng = np.random.default_rng(0)
    where = (np.repeat(np.arange(size), 12), rng.integers(0, size, 12 * size))
    rows = sp.coo_array((np.ones(12 * size), where), shape=(size, size))
    return IntegerProgram(rng.integers(1, 100, size), rows, np.ones(size), upper=np.ones(size))


INTERRUPTED = """
    import json, os, signal, sys, threading, time
    sys.path[:0] = [{root!r}, {tests!r}]
    from test_highs_process import HIGHS, KNAPSACK, cover, market_split

    def latency(program, delay):
        sent = []
        def interrupt():
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)
        timer = threading.Timer(delay, interrupt)
        timer.start()
        try:
            HIGHS.minimize(program)
        except KeyboardInterrupt:
            return time.perf_counter() - sent[0]

    seconds = [
        latency(market_split(40, 5, slack=True), 1.0),
        latency(cover(30000).relaxed(), 0.5),
        latency(cover(30000), 0.1),
        latency(cover(30000), 1.5),
    ]
    print(json.dumps([seconds, HIGHS.minimize(KNAPSACK).objective]))
"""


def test_ctrl_c_stops_within_a_second_and_leaves_the_process_usable():
    """In branch and bound, in presolve and in a large relaxation, by a real SIGINT."""
    code = textwrap.dedent(INTERRUPTED).format(root=str(ROOT), tests=str(Path(__file__).parent))
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    latencies, objective = json.loads(run.stdout)
    assert objective == -8
    assert all(latency is not None and latency < 1 for latency in latencies)
