"""SCIP, where it is installed, against enumeration; and what is said where it is not."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest

from oracles import Certificate, Exhaustive, IntegerProgram, SolverError, Status
from oracles.scip import Scip


def test_without_pyscipopt_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    with pytest.raises(SolverError, match=r"oracle-dp\[scip\]"):
        Scip().minimize(IntegerProgram([1], upper=[1]))


@pytest.mark.skipif(
    importlib.util.find_spec("pyscipopt") is None,
    reason="PySCIPOpt is not installed: the extra [scip]",
)
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
