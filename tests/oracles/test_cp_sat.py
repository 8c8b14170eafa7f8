"""CP-SAT against enumeration, its refusals and its limits."""

from __future__ import annotations

import numpy as np
import pytest

from oracles import Certificate, Exhaustive, IntegerProgram, Limits, ProblemError, Status
from oracles.backends import backend
from oracles.cp_sat import CpSat

pytest.importorskip("ortools", reason="OR-Tools is not installed: the extra [ortools]")


def random_program(seed: int) -> IntegerProgram:
    g = np.random.default_rng(seed)
    return IntegerProgram(
        g.integers(-9, 10, 5), g.integers(-3, 4, (3, 5)), g.integers(-9, 0, 3), g.integers(0, 9, 3),
        lower=g.integers(-2, 1, 5), upper=g.integers(1, 4, 5), constant=float(g.integers(-5, 6)),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_minima_are_those_of_enumeration(seed: int) -> None:
    program = random_program(seed)
    truth = Exhaustive().minimize(program)
    found = CpSat().minimize(program, limits=Limits(threads=1), start=truth.value)
    assert found.objective == truth.objective
    assert found.certificate is Certificate.SOLVER
    assert found.bound == found.objective
    assert program.is_feasible(found.require_point())
    assert found.oracle.startswith("CP-SAT 9")


def test_infeasible_programs_and_empty_rows() -> None:
    program = IntegerProgram([1, 1], [[1, 1]], row_lower=[3], upper=[1, 1])
    assert CpSat().minimize(program).status is Status.INFEASIBLE
    empty = IntegerProgram([1, 1], [[0, 0]], row_lower=[1], upper=[1, 1])
    assert CpSat().minimize(empty).status is Status.INFEASIBLE
    fine = IntegerProgram([1, 1], [[0, 0]], row_lower=[-1], upper=[1, 1])
    assert CpSat().minimize(fine).objective == 0


def test_a_limit_without_a_proof_has_no_certificate() -> None:
    g = np.random.default_rng(0)
    weights = g.integers(500, 1000, (5, 60))
    program = IntegerProgram(-weights.sum(axis=0), weights, row_upper=weights.sum(axis=1) // 2,
                             upper=np.ones(60))  # fmt: skip
    found = CpSat().minimize(program, limits=Limits(nodes=1, threads=1))
    assert found.status is Status.STOPPED
    assert found.certificate is Certificate.NONE


@pytest.mark.parametrize(
    "program",
    [
        IntegerProgram([1], upper=[1], integer=[False]),
        IntegerProgram([0.5], upper=[1]),
        IntegerProgram([1], [[0.5]], upper=[1]),
        IntegerProgram([1]),
        IntegerProgram([2.0**41], upper=[1]),
    ],
)
def test_programs_that_are_not_integer_are_refused(program: IntegerProgram) -> None:
    with pytest.raises(ProblemError, match="CP-SAT needs"):
        CpSat().minimize(program)


def test_backends_have_names() -> None:
    assert isinstance(backend("cp_sat"), CpSat)
    mine = Exhaustive()
    assert backend(mine) is mine
    with pytest.raises(ProblemError, match="'cplex'"):
        backend("cplex")
