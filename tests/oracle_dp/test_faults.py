"""Faults in the middle of a private run: nothing unproven is released, and the charge stays.

Every run charges a ledger's file, which is read again afterwards by a ledger of its own.
"""

from __future__ import annotations

import errno
import math
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pulp
import pytest

from oracle_dp import Ledger, LedgerFileError, OverspendError, UncertifiedError, opdisc
from oracle_dp.cli.files import write_whole
from oracle_dp.mechanisms import opdisc as mechanism
from oracles import (
    Certificate,
    Exhaustive,
    Highs,
    IntegerProgram,
    Limits,
    Pulp,
    Solution,
    SolverError,
    Status,
)
from oracles.released import ReleasedVariables
from oracles.tiny import market_split

ROOT = Path(__file__).parents[2]
PROGRAM = IntegerProgram([3, -2, 1], [[1, 1, 1]], None, [2], upper=[1, 1, 1])
PRIVATE = "4711"
"""In every fault's own message, which no error of ours may repeat."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "ledger"
    Ledger.create(path, {"visits": 3.0})
    return path


def charged(path: Path) -> int:
    """Charges in the file, which must be whole."""
    assert Ledger.open(path).spent("visits")[0] == len(Ledger.open(path).charges)
    return len(Ledger.open(path).charges)


def released(
    oracle: object, path: Path, program: IntegerProgram = PROGRAM, **more: object
) -> object:
    problem = ReleasedVariables(program, (0, 1, 2), oracle)
    return opdisc(
        problem,
        epsilon=1,
        sensitivity=1,
        ledger=Ledger.open(path),
        dataset="visits",
        **more,
    )


@dataclass
class Failing:
    """Right at first, where feasibility is asked for, and faulty where the noise is in."""

    fault: Callable[[IntegerProgram, Solution], Solution]
    name: str = "failing 1.0"
    calls: list[int] = field(default_factory=list)

    def minimize(self, program, *, limits=None, start=None):
        self.calls.append(program.n_variables)
        found = Exhaustive().minimize(program)
        return self.fault(program, found) if len(self.calls) > 1 else found


def answer(**changes: object) -> Callable[[IntegerProgram, Solution], Solution]:
    def fault(program: IntegerProgram, found: Solution) -> Solution:
        fields = {
            "status": found.status,
            "value": found.value,
            "objective": found.objective,
            "bound": found.bound,
            "certificate": Certificate.SOLVER,
            "oracle": PRIVATE,
        }
        return Solution(**{**fields, **changes})

    return fault


def raises(error: BaseException) -> Callable[[IntegerProgram, Solution], Solution]:
    def fault(program: IntegerProgram, found: Solution) -> Solution:
        raise error

    return fault


FAULTS = {
    "limit, with an incumbent": answer(status=Status.STOPPED, bound=-1000),
    "limit, without one": answer(status=Status.STOPPED, value=None, objective=None, bound=-1000),
    "error": answer(status=Status.ERROR, value=None, objective=None, bound=-math.inf),
    "infeasible after all": answer(status=Status.INFEASIBLE, value=None, objective=None),
    "NaN bound": answer(bound=math.nan),
    "no bound": answer(bound=-math.inf),
    "a bound above the optimum": answer(bound=10**6),
    "a better objective than the point's": answer(objective=-(10**6), bound=-(10**6)),
    "a point that is not feasible": answer(value=np.full(7, 9.0)),
    "a point that is no integer": answer(value=np.full(7, 0.5)),
    "no certificate": answer(certificate=Certificate.NONE),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_unproven_is_released(fault: str, path: Path) -> None:
    oracle = Failing(FAULTS[fault])
    with pytest.raises(UncertifiedError, match="stays charged") as refusal:
        released(oracle, path)
    assert len(oracle.calls) == 2
    assert PRIVATE not in str(refusal.value)
    assert charged(path) == 1


@pytest.mark.parametrize(
    "error", [MemoryError(PRIVATE), KeyboardInterrupt(), SolverError("the solver failed")], ids=repr
)
def test_what_a_solver_raises_leaves_the_charge(error: BaseException, path: Path) -> None:
    with pytest.raises(type(error)):
        released(Failing(raises(error)), path)
    assert charged(path) == 1
    # The ledger can go on.
    assert released(Exhaustive(), path) is not None
    assert charged(path) == 2


def test_the_same_oracle_without_a_fault(path: Path) -> None:
    assert released(Failing(lambda program, found: found), path) is not None
    assert charged(path) == 1


@pytest.mark.parametrize("limits", [Limits(seconds=0.5), Limits(nodes=1)], ids=repr)
def test_highs_under_a_limit(limits: Limits, path: Path) -> None:
    split = market_split()
    whole = IntegerProgram(
        split.objective,
        split.matrix,
        split.row_lower,
        split.row_upper,
        upper=np.minimum(split.upper, 10_000),
    )
    with pytest.raises(UncertifiedError):
        released(Highs(), path, whole, limits=limits)
    assert charged(path) == 1


@pytest.mark.parametrize("end", ["kill -9 $$", "kill -11 $$", "exit 1", "echo x > $solution"])
def test_a_solver_process_that_dies(end: str, path: Path, tmp_path: Path) -> None:
    command = tmp_path / "solver"
    head = '#!/bin/sh\nfor word; do [ "$last" = -solution ] && solution=$word; last=$word; done\n'
    command.write_text(head + end + "\n")
    command.chmod(0o755)
    free = IntegerProgram([3, -2, 1], upper=[1, 1, 1])  # So that feasibility needs no solver.
    with pytest.raises(UncertifiedError):
        released(Pulp(pulp.COIN_CMD(path=str(command))), path, free)
    assert charged(path) == 1


# -- memory ------------------------------------------------------------------------------------

STARVED = """
    import resource, sys
    sys.path.insert(0, {root!r})
    import numpy as np
    from oracle_dp import Ledger, opdisc
    import oracle_dp.mechanisms.perturbation as perturbation
    from oracles import Highs, IntegerProgram
    from oracles.released import ReleasedVariables

    rng = np.random.default_rng(0)
    weights = rng.integers(1, 100, (300, 2000))
    program = IntegerProgram(
        -rng.integers(1, 100, 2000), weights, None, weights.sum(axis=1) // 3, upper=np.ones(2000)
    )
    draw = perturbation.OneHotNoise.draw

    def starve(*args):
        # From here on a megabyte more than there is.
        pages = int(open("/proc/self/statm").read().split()[0])
        most = pages * resource.getpagesize() + (1 << 20)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        return draw(*args)

    perturbation.OneHotNoise.draw = starve
    problem = ReleasedVariables(program, tuple(range(5)), Highs())
    opdisc(problem, epsilon=1, sensitivity=1, ledger=Ledger.open({path!r}), dataset="visits")
    print("RELEASED")
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_a_solver_that_runs_out_of_memory(path: Path) -> None:
    """Whether it says so or the process dies of it: the charge was there first."""
    program = textwrap.dedent(STARVED).format(root=str(ROOT), path=str(path))
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert run.returncode != 0
    assert "RELEASED" not in run.stdout
    assert charged(path) == 1


# -- the disk ----------------------------------------------------------------------------------

FULL = """
    import resource, signal, sys
    sys.path.insert(0, {root!r})
    from oracle_dp import Ledger, LedgerFileError, opdisc
    from oracles.finite import FiniteTable
    import oracle_dp.mechanisms.perturbation as perturbation

    ledger, drawn = Ledger.open({path!r}), []
    draw = perturbation.OneHotNoise.draw
    perturbation.OneHotNoise.draw = lambda *args: drawn.append(1) or draw(*args)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    released = refused = 0
    for i in range(5):
        try:
            opdisc(FiniteTable([0, 1]), epsilon=1, sensitivity=1, ledger=ledger, dataset="visits")
            released += 1
        except LedgerFileError:
            refused += 1
    print(released, refused, len(drawn))
"""


def test_a_disk_that_is_full_when_a_charge_is_written(path: Path) -> None:
    """By a limit on the size of files: no charge, so no noise and no release, and a whole file."""
    program = textwrap.dedent(FULL).format(root=str(ROOT), path=str(path))
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    done, refused, drawn = map(int, run.stdout.split())
    assert refused > 0
    assert charged(path) >= done == drawn


def test_a_disk_that_is_full_when_a_release_is_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "release.json"
    target.write_text("older")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("oracle_dp.cli.files.os.replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(target, "newer")
    assert target.read_text() == "older"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device /dev/full")
def test_a_device_that_is_full() -> None:
    with pytest.raises(OSError, match="No space left"):
        write_whole(Path("/dev/full"), "text " * 10_000)


def test_a_ledger_that_breaks_before_the_charge_draws_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger.open(path)
    path.write_bytes(path.read_bytes()[:3000])
    monkeypatch.setattr(mechanism, "_perturbed_minimum", lambda *_: pytest.fail("noise was drawn"))
    with pytest.raises(LedgerFileError):
        opdisc(
            ReleasedVariables(PROGRAM, (0, 1, 2), Exhaustive()),
            epsilon=1,
            sensitivity=1,
            ledger=ledger,
            dataset="visits",
        )


def test_refusals_are_charged_until_nothing_is_left(path: Path) -> None:
    for _ in range(3):
        with pytest.raises(UncertifiedError):
            released(Failing(FAULTS["no bound"]), path)
    oracle = Failing(FAULTS["no bound"])
    with pytest.raises(OverspendError):
        released(oracle, path)
    assert len(oracle.calls) == 1
    assert charged(path) == 3
