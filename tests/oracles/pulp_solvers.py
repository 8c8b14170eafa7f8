"""What the tests of solvers behind PuLP share: which there are, and commands that only pretend."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
import pulp
import pytest

from oracles import IntegerProgram

INF = math.inf
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
