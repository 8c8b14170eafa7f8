"""``oracle-dp doctor``: what it examines, says, and exits with."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from oracle_dp import Ledger, doctor, opdisc
from oracle_dp.noise import SystemBits
from oracles import Exhaustive, Highs, SolverError
from oracles.cp_sat import CpSat
from oracles.released import ReleasedVariables
from oracles.scip import Scip
from oracles.selftest import Check, Severity
from oracles.tiny import cases

from .support import refused, run, started

FAKES = """
import numpy as np
from oracles import Certificate, Highs, Solution, Status

class Broken:
    name = "broken 1.0"
    def minimize(self, program, *, limits=None, start=None):
        found = Highs().minimize(program)
        if found.value is None:
            return found
        worst = Highs().minimize(program.with_objective(-program.objective)).value
        if worst is None:
            return found
        value = program.objective_value(worst)
        return Solution(Status.OPTIMAL, worst, value, value, Certificate.EXACT, self.name)

class Liar(Broken):
    name = "liar 1.0"
    def minimize(self, program, *, limits=None, start=None):
        found = super().minimize(program)
        if found.value is None:
            return found
        return Solution(found.status, found.value, found.objective, -np.inf, Certificate.NONE, "x")

class Sound:
    name = "sound"
    def minimize(self, program, *, limits=None, start=None):
        return Highs().minimize(program, limits=limits)

class NoOracle:
    pass

class Leaving:
    name = "leaving"

    def minimize(self, program, *, limits=None, start=None):
        raise SystemExit(0)

class Failing(Leaving):
    def minimize(self, program, *, limits=None, start=None):
        class OwnError(Exception):
            pass
        raise OwnError

class LeavingWhenMade:
    def __init__(self):
        raise SystemExit(0)

class Numbered(Leaving):
    name = 3

class Nameless(Leaving):
    @property
    def name(self):
        raise ValueError
"""


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "fake_backends.py").write_text(FAKES)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_here_nothing_is_unsafe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pulp.listSolvers", lambda onlyAvailable=False: ["HiGHS", "CHOCO_CMD"])
    result = run("doctor")
    assert result.exit_code == 0, result.output
    assert "Nothing unsafe was found." in result.stdout
    for title in ("installation", "noise", "ledger", "backend enumeration", "through PuLP"):
        assert title in result.stdout
    assert "cannot be used" in result.stdout


def test_a_broken_backend_shows_in_the_exit_code(fakes: Path) -> None:
    result = run("doctor", "--backend", "fake_backends:Broken")
    assert result.exit_code == 1
    assert "UNSAFE   knapsack of three: proves 0; the optimum is -8" in result.stdout
    assert "backend enumeration" not in result.stdout
    entries = json.loads(run("doctor", "--backend", "fake_backends:Broken", "--json").stdout)
    assert {"section", "what", "severity", "detail"} == set(entries[0])
    assert sum(entry["severity"] == "unsafe" for entry in entries) >= 3


@pytest.mark.parametrize(("name", "error"), [("Leaving", "SystemExit"), ("Failing", "OwnError")])
def test_a_backend_that_leaves_does_not_end_the_report(fakes: Path, name: str, error: str) -> None:
    result = run("doctor", "--backend", f"fake_backends:{name}")
    assert result.exit_code == 1
    assert f"WRONG    knapsack of three: raises {error}" in result.stdout
    assert "UNSAFE AS A SECOND OPINION" in result.stdout


def test_a_liar_without_proofs_is_named_and_certifies_nothing(
    fakes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As CBC is here: it counts where it was asked about, and not where it was only found."""
    liar = doctor.load_backend("fake_backends:Liar")
    monkeypatch.setattr(doctor, "_installed", lambda: iter([Highs(), liar]))
    result = run("doctor")
    assert result.exit_code == 0, result.output
    assert "WRONG    knapsack of three: calls 0 optimal, without a proof; the opt" in result.stdout
    summary = result.stdout[result.stdout.index("UNSAFE AS A SECOND OPINION") :]
    assert "do not use them for cross_check" in summary
    assert "liar 1.0\n    knapsack of three: calls 0 optimal" in summary
    assert "HiGHS" not in summary
    assert "Nothing unsafe that a release can rest on was found." in summary
    assert run("doctor", "--backend", "fake_backends:Liar").exit_code == 1
    released = ReleasedVariables(cases()[0].program, released=(0, 1, 2), oracle=liar)
    with pytest.raises(SolverError, match="proves no minimum"):
        opdisc(released, epsilon=1, sensitivity=1)


def test_every_installed_solver_is_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pulp.listSolvers", lambda onlyAvailable=False: [])
    monkeypatch.setattr(doctor, "find_spec", lambda package: True)
    assert list(doctor._installed())[3:] == [CpSat(), Scip()]


def test_a_sound_backend_of_ones_own(fakes: Path) -> None:
    result = started("doctor", "--backend", "fake_backends:Sound", env={"PYTHONPATH": str(fakes)})
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fake_backends", "module:Class expected"),
        ("no_such_module:X", "cannot be made"),
        ("fake_backends:Nothing", "cannot be made"),
        ("fake_backends:NoOracle", "is no oracle"),
        ("fake_backends:LeavingWhenMade", "cannot be made"),
        ("fake_backends:Numbered", "is no oracle"),
        ("fake_backends:Nameless", "cannot be made"),
    ],
)
def test_what_is_no_backend(fakes: Path, name: str, said: str) -> None:
    refused(run("doctor", "--backend", name), said)


def found(checks: object) -> dict[str, Check]:
    return {check.what.split(" ")[0]: check for check in checks}


def test_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(doctor, "version", missing)
    assert found(doctor._installation())["highspy"].severity is Severity.UNSAFE


def test_bits_that_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.urandom", lambda n: bytes(n))
    (check,) = doctor._noise()
    assert check.severity is Severity.UNSAFE


def test_noise_without_its_law(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oracle_dp.noise.bernoulli_exp", lambda gamma, source: source.bits(1) == 1)
    assert [check.what for check in doctor._noise() if check.severity is Severity.UNSAFE] == [
        "exact noise"
    ]


def test_a_child_that_repeats_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor._child_differs(SystemBits())

    class Forgetful:
        """A buffer that a fork copies."""

        def __init__(self) -> None:
            self.words = list(range(5))

        def bits(self, n: int) -> int:
            return self.words.pop()

    assert not doctor._child_differs(Forgetful())


def test_a_ledger_that_takes_everything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = type(Ledger.create(tmp_path / "ledger", {}))
    monkeypatch.setattr(file, "charge", lambda self, charge: None)
    (check,) = doctor._ledger()
    assert check.severity is Severity.UNSAFE


def test_the_seeded_stream_is_the_documented_one() -> None:
    block = hashlib.shake_256(b"oracle_dp.noise.SeededBits/1:0:0").digest(8)
    assert int.from_bytes(block, "big") == doctor.STREAM


def test_without_pulp_its_solvers_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pulp", None)
    monkeypatch.setattr(doctor, "find_spec", lambda package: None)
    assert list(doctor._installed()) == [Exhaustive(), Highs(), Highs(presolve=False)]
