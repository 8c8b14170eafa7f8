"""The self-test of backends: its programs' optima, and what it says of oracles that fail."""

from __future__ import annotations

import math
import os
import signal
import threading
from collections.abc import Callable

import numpy as np
import pytest

from oracles import (
    Certificate,
    Exhaustive,
    Highs,
    IntegerProgram,
    Limits,
    ProblemError,
    Solution,
    SolverError,
    Status,
)
from oracles.selftest import Check, Severity, examine
from oracles.tiny import Case, cases

CASES = cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_optima_by_enumeration(case: Case) -> None:
    program = case.program
    if not (program.integer.all() and np.isfinite(program.upper).all()):
        pytest.skip("has a continuous or an unbounded variable: see the next tests")
    found = Exhaustive().minimize(program).objective
    assert (math.inf if found is None else found) == case.optimum


@pytest.mark.parametrize(
    ("name", "point"),
    [
        ("two branches of unequal cost", [1, 0, 1000, 0, 0, 1000]),
        ("one binary among continuous", [0, 0.75, 0.25, 0]),
    ],
)
def test_the_optima_of_mixed_programs(name: str, point: list[float]) -> None:
    """The point has the value, and for each choice of the binaries a linear program is no lower."""
    (case,) = (case for case in CASES if case.name == name)
    program, binary = case.program, case.program.integer
    assert program.is_feasible(point)
    assert program.objective_value(point) == case.optimum
    for choice in np.ndindex(*[2] * int(binary.sum())):
        lower, upper = program.lower.copy(), program.upper.copy()
        lower[binary] = upper[binary] = choice
        fixed = replace_bounds(program.relaxed(), lower, upper)
        found = Highs().minimize(fixed)
        assert found.status is Status.INFEASIBLE or found.bound >= case.optimum - 1e-6


def replace_bounds(p: IntegerProgram, lower: np.ndarray, upper: np.ndarray) -> IntegerProgram:
    return IntegerProgram(
        p.objective,
        p.matrix,
        p.row_lower,
        p.row_upper,
        lower=lower,
        upper=upper,
        integer=p.integer,
    )


def severities(oracle: object) -> dict[str, Check]:
    return {check.what: check for check in examine(oracle)}


def test_the_backends_of_this_package_are_never_wrong() -> None:
    for oracle in (Exhaustive(), Highs(), Highs(presolve=False)):
        found = severities(oracle)
        assert len(found) == len(CASES) + 3
        assert {check.severity for check in found.values()} <= {Severity.FINE, Severity.LIMITED}
        assert found["Ctrl-C"] == Check("Ctrl-C", Severity.FINE)
    assert not [check for check in found.values() if check.severity is Severity.LIMITED]


class Fake:
    """HiGHS, with its answer changed."""

    name = "fake"

    def __init__(self, change: Callable[[IntegerProgram, Solution], Solution]) -> None:
        self.change = change

    def minimize(self, program, *, limits=None, start=None):
        return self.change(program, Highs().minimize(program, limits=Limits(seconds=1)))


def at(program: IntegerProgram, found: Solution, point: np.ndarray, proof: Certificate) -> Solution:
    objective = program.objective_value(point)
    return Solution(Status.OPTIMAL, point, objective, objective, proof, "fake")


def worst(program: IntegerProgram, found: Solution, proof: Certificate) -> Solution:
    """The worst feasible point, called the best."""
    if found.value is None or not np.isfinite(program.upper).all():
        return found
    return at(
        program, found, Highs().minimize(program.with_objective(-program.objective)).value, proof
    )


KNAPSACK, MIXED = "knapsack of three", "two branches of unequal cost"


@pytest.mark.parametrize(
    ("change", "severity", "said"),
    [
        (
            lambda p, s: worst(p, s, Certificate.EXACT),
            Severity.UNSAFE,
            "proves 0; the opt",
        ),
        (lambda p, s: worst(p, s, Certificate.NONE), Severity.WRONG, "calls 0 optimal"),
        (
            lambda p, s: Solution(Status.INFEASIBLE, None, None, -math.inf, Certificate.NONE, "x"),
            Severity.WRONG,
            "says infeasible; the optimum is -8",
        ),
        (
            lambda p, s: at(p, s, np.full(p.n_variables, 0.5), Certificate.EXACT),
            Severity.WRONG,
            "contradicts the program",
        ),
        (
            lambda p, s: Solution(Status.STOPPED, None, None, -math.inf, Certificate.NONE, "x"),
            Severity.LIMITED,
            "nothing would be released",
        ),
    ],
)
def test_lies_are_found_out(change: Callable, severity: Severity, said: str) -> None:
    check = severities(Fake(change))[KNAPSACK]
    assert check.severity is severity
    assert said in check.detail


@pytest.mark.parametrize(
    ("error", "severity"),
    [(SolverError("secret"), Severity.LIMITED), (TypeError("secret"), Severity.WRONG)],
)
def test_errors_are_lines_without_their_message(error: Exception, severity: Severity) -> None:
    def fail(program: IntegerProgram, found: Solution) -> Solution:
        raise error

    found = severities(Fake(fail))
    assert found[KNAPSACK].severity is severity
    assert type(error).__name__ in found[KNAPSACK].detail
    assert found["any of these"].severity is Severity.WRONG
    assert not any("secret" in check.detail for check in found.values())


def test_a_proof_under_a_limit_must_be_one() -> None:
    def stopped(program: IntegerProgram, found: Solution) -> Solution:
        return worst(program, found, Certificate.SOLVER) if program.n_variables == 12 else found

    found = severities(Fake(stopped))
    assert found["a limit of one node"].severity is Severity.UNSAFE
    assert found[KNAPSACK].severity is Severity.FINE


def test_thread_counts_that_are_refused_or_break_it() -> None:
    class Refusing(Fake):
        def minimize(self, program, *, limits=None, start=None):
            if limits.threads is not None:
                raise ProblemError("no threads")
            return Highs().minimize(program, limits=limits)

    assert severities(Refusing(worst))["thread counts that change"].severity is Severity.LIMITED

    class Breaking(Fake):
        def minimize(self, program, *, limits=None, start=None):
            found = Highs().minimize(program, limits=limits)
            return worst(program, found, Certificate.SOLVER) if limits.threads == 2 else found

    check = severities(Breaking(worst))["thread counts that change"]
    assert check.severity is Severity.UNSAFE
    assert check.detail.startswith("with 2 threads")


def test_an_interrupt_that_is_swallowed_or_late() -> None:
    class Deaf(Fake):
        def minimize(self, program, *, limits=None, start=None):
            if program.n_variables != 50:
                return Highs().minimize(program, limits=limits)
            waited = threading.Event()
            try:
                waited.wait(3)
            except KeyboardInterrupt:
                if self.change is worst:
                    waited.wait(2.2)
                    raise
            return Solution(Status.STOPPED, None, None, -math.inf, Certificate.NONE, "deaf")

    swallowed = severities(Deaf(at))["Ctrl-C"]
    assert "swallowed" in swallowed.detail
    late = severities(Deaf(worst))["Ctrl-C"]
    assert late.severity is Severity.LIMITED
    assert "only" in late.detail


def test_an_interrupt_is_not_sent_where_somebody_else_handles_it() -> None:
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        assert "not examined" in severities(Highs())["Ctrl-C"].detail
    finally:
        signal.signal(signal.SIGINT, before)
    found: list[Check] = []
    thread = threading.Thread(target=lambda: found.extend(examine(Highs())))
    thread.start()
    thread.join()
    assert "Ctrl-C" not in {check.what for check in found}
    assert os.getpid() > 0
