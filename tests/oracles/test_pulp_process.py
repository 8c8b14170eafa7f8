"""Solvers behind PuLP: what they print, and what is left behind."""

from __future__ import annotations

import _thread
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pulp
import pytest

from oracles import (
    IntegerProgram,
    Pulp,
    Status,
)
from oracles._pulp_run import run_driver

from .pulp_solvers import CBC, HIGHS, KNAPSACK, command, needs_cbc

ROOT = Path(__file__).parents[2]


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


def test_an_interrupt_waits_for_the_driver(tmp_path):
    """Otherwise it could write into the folder while that is removed."""
    ended = threading.Event()

    def solve() -> None:
        time.sleep(0.2)
        ended.set()

    threading.Timer(0.05, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        run_driver(solve, tmp_path, failure=pulp.PulpError, seconds=None)
    assert ended.is_set()


INTERRUPTED = """
    import json, os, signal, sys, threading, time
    sys.path[:0] = [{root!r}, {tests!r}]
    import pulp
    from oracles import Pulp
    from pulp_solvers import KNAPSACK, market_split

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
    nap = f"600.{os.getpid()}"
    command(tmp_path, f"trap '' INT TERM; echo > {tmp_path}/seen; sleep {nap}; sleep {nap}\n")
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
    assert (tmp_path / "seen").exists()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
        except OSError:
            continue
        assert os.fsencode(tmp_path) not in words
        assert nap.encode() not in words
