"""Help and version: what they say, and how soon."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest

from .support import run

COMMANDS = ("train", "predict", "domain", "plan")


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
