"""Help and version: what they say, and how soon."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version

import pytest

from oracle_dp import Neighbors
from oracle_dp.cli.choices import Lift, Mechanism, Missing, Noise, Relation

from .support import run

COMMANDS = ("train", "predict", "domain", "plan", "ledger", "solve", "audit", "doctor")


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)], ids=str)
def test_help(command: Sequence[str]) -> None:
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "Usage: oracle-dp" in result.stdout
    assert all(name in result.stdout for name in COMMANDS) or command


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from oracle_dp.cli import main; sys.argv = ['oracle-dp', '--help']\n"
        "try: main()\n"
        "finally: print('modules:', *sorted({m.split('.')[0] for m in sys.modules}))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    shown, imported = result.stdout.split("modules:")
    assert "Usage: oracle-dp" in shown
    heavy = {"numpy", "pandas", "scipy", "sklearn", "highspy", "numba", "joblib", "matplotlib"}
    assert "oracle_dp" in imported.split()
    assert heavy.isdisjoint(imported.split())


def test_without_a_command_the_help_is_shown() -> None:
    result = run()
    assert "Usage: oracle-dp" in result.output
    assert result.exit_code == 2


def test_version() -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout == f"oracle-dp {version('oracle-dp')}\n"


@pytest.mark.parametrize("command", [*((name,) for name in COMMANDS), ("plan", "train")], ids=str)
def test_help_is_not_cut_on_a_narrow_terminal(
    command: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = run(*command, "--help").stdout
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_every_choice_is_in_the_help() -> None:
    words = run("train", "--help").stdout.replace(",", " ").replace(".", " ").split()
    assert {*Mechanism, *Relation, *Missing, *Lift, *Noise} <= set(words)


def test_choices_are_those_of_the_library() -> None:
    """They are written twice, so that help imports nothing heavy."""
    from oracle_dp.estimators.mechanisms import MECHANISMS
    from oracle_dp.mechanisms.perturbation import NOISES

    assert set(Mechanism) == set(MECHANISMS)
    assert set(Lift) == set(NOISES)
    assert set(Noise) == {noise for noises in NOISES.values() for noise in noises}
    assert set(Relation) == {relation.value for relation in Neighbors}
