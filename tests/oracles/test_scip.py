"""SCIP, where it is installed, against enumeration; and what is said where it is not."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest

from oracle_dp import solve_private
from oracles import (
    Certificate,
    Exhaustive,
    Highs,
    IntegerProgram,
    Limits,
    SolverError,
    Status,
)
from oracles.scip import Scip


def test_without_pyscipopt_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    with pytest.raises(SolverError, match=r"oracle-dp\[scip\]"):
        Scip().minimize(IntegerProgram([1], upper=[1]))


installed = pytest.mark.skipif(
    importlib.util.find_spec("pyscipopt") is None,
    reason="PySCIPOpt is not installed: the extra [scip]",
)


@installed
@pytest.mark.parametrize("seed", range(6))
def test_minima_are_those_of_enumeration(seed: int) -> None:
    g = np.random.default_rng(seed)
    program = IntegerProgram(
        g.integers(-9, 10, 5), g.integers(-3, 4, (3, 5)), g.integers(-9, 0, 3), g.integers(0, 9, 3),
        lower=g.integers(-2, 1, 5), upper=g.integers(1, 4, 5), constant=float(g.integers(-5, 6)),
    )  # fmt: skip
    truth = Exhaustive().minimize(program)
    found = Scip().minimize(program)
    assert found.objective == truth.objective
    assert found.certificate is Certificate.SOLVER
    nowhere = IntegerProgram([1, 1], [[1, 1]], row_lower=[3], upper=[1, 1])
    assert Scip().minimize(nowhere).status is Status.INFEASIBLE


@installed
@pytest.mark.parametrize("seed", range(6))
def test_mixed_programs_are_bounded(seed: int) -> None:
    g = np.random.default_rng(seed)
    program = IntegerProgram(
        g.integers(-9, 10, 5) / 4, g.integers(-3, 4, (3, 5)), g.integers(-9, 0, 3),
        g.integers(0, 9, 3), lower=-1.5 * np.ones(5), upper=2.5 * np.ones(5),
        integer=np.arange(5) < 3,
    )  # fmt: skip
    truth, found = Highs().minimize(program), Scip().minimize(program)
    assert found.certificate is Certificate.BOUNDED
    assert found.objective == pytest.approx(truth.objective, abs=1e-6)
    assert found.gap < 1e-6


@installed
def test_limits_and_programs_without_a_minimum() -> None:
    g = np.random.default_rng(0)
    weights = g.integers(100, 1000, (5, 60))
    program = IntegerProgram(
        -weights.sum(axis=0), weights, row_upper=weights.sum(axis=1) // 2, upper=np.ones(60)
    )
    stopped = Scip().minimize(program, limits=Limits(seconds=0.5))
    assert stopped.status is Status.STOPPED
    assert stopped.certificate is Certificate.NONE
    assert stopped.value is None or program.is_feasible(stopped.value)
    assert Scip().minimize(program, limits=Limits(nodes=1)).status is Status.STOPPED
    assert Scip().minimize(IntegerProgram([-1])).status is Status.UNBOUNDED
    assert Scip().minimize(IntegerProgram([])).objective == 0


@installed
def test_a_private_answer_rests_on_scip_by_name() -> None:
    program = IntegerProgram([-3, -5, -4], [[2, 3, 1]], row_upper=[5], upper=[1, 1, 2])
    found = solve_private(
        program, release="*", mechanism="opdisc", oracle="scip", cross_check="highs", epsilon=50,
        sensitivity=1, random_state=0,
    )  # fmt: skip
    assert found.value == {"x0": 0, "x1": 1, "x2": 2}
    assert "SCIP" in str(found.guarantee)
