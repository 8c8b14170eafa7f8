"""The kernels do what their sources say: read by Python itself they find the same optima."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_kernels_without_numba() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.oracles.zero_one.interpreted"],
        cwd=ROOT, env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "the same\n"
