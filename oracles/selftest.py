"""Is a backend to be relied on here? Programs with known optima, and whatever else it must stand.

A backend of this package turns most wrong answers into ``Status.ERROR`` (:mod:`oracles.verdict`);
what gets through to here is what no check of one answer can find.
"""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any

from oracles.errors import OracleError
from oracles.exhaustive import Exhaustive
from oracles.oracle import Limits, Oracle
from oracles.solution import Certificate, Status
from oracles.tiny import INF, Case, cases, knapsack, market_split
from oracles.verdict import recheck

NOT_THIS = "do not use this version of it"

SECONDS = 20.0
"""For one tiny program: far more than any needs."""

PROMPT = 2.0
"""Seconds within which Ctrl-C should end a run; a second on a quiet machine."""

RAISED = (Exception, SystemExit)
"""What anybody's backend may raise besides. An exit of its own would pass for a report without a
fault; interrupts are not among them."""


class Severity(Enum):
    """What a check found."""

    FINE = "ok"
    LIMITED = "limited"
    """It cannot do this, says so, and nothing is released."""
    WRONG = "WRONG"
    """It said what is not true, and offered no proof: nothing is released on it, and as a second
    opinion it is unsafe."""
    UNSAFE = "UNSAFE"
    """Releases from here cannot be relied on: it proved what is not true."""


Found = tuple[Severity, str]


@dataclass(frozen=True, slots=True)
class Check:
    """One line of a report.

    Attributes:
        what: Was examined.
        severity: Of what was found.
        detail: What was found, and what to do; empty where all is fine.
    """

    what: str
    severity: Severity
    detail: str = ""


def examine(oracle: Oracle) -> Iterator[Check]:
    """Try an oracle on everything. An unexpected error of its own becomes a line, too."""
    solved = 0
    for case in cases():
        found = _checked(case.name, partial(_solved, oracle, case))
        solved += found.severity is Severity.FINE
        yield found
    if not solved:
        yield Check("any of these", Severity.WRONG, f"none has its known answer; {NOT_THIS}")
    yield _checked("thread counts that change", partial(_threads, oracle))
    yield _checked("a limit of one node", partial(_limited, oracle))
    if threading.current_thread() is threading.main_thread():
        yield _checked("Ctrl-C", partial(_interrupted, oracle))


def _checked(what: str, check: Callable[[], Found]) -> Check:
    # The types of errors alone: messages are the backend's.
    try:
        severity, detail = check()
    except OracleError as error:
        return Check(what, Severity.LIMITED, f"not possible with it ({type(error).__name__})")
    except RAISED as error:
        return Check(what, Severity.WRONG, f"raises {type(error).__name__}")
    return Check(what, severity, detail)


def _solved(oracle: Oracle, case: Case, **limits: Any) -> Found:
    """Compare an answer with the truth, after the checks that it meets before any release."""
    answer = oracle.minimize(case.program, limits=Limits(**{"seconds": SECONDS, **limits}))
    found = recheck(case.program, answer, oracle)
    if found.status is Status.ERROR and answer.status not in (Status.ERROR, Status.STOPPED):
        return Severity.WRONG, f"its answer contradicts the program, and is refused; {NOT_THIS}"
    if found.status in (Status.ERROR, Status.STOPPED):
        return Severity.LIMITED, "no answer, so nothing would be released"
    words = {INF: "the program is infeasible", -INF: "the program is unbounded"}
    true = words.get(case.optimum, f"the optimum is {case.optimum:g}")
    expected = {INF: Status.INFEASIBLE, -INF: Status.UNBOUNDED}.get(case.optimum, Status.OPTIMAL)
    if found.status is not expected:
        return Severity.WRONG, f"says {found.status.name.lower()}; {true}; {NOT_THIS}"
    if found.objective is None or math.isclose(
        found.objective, case.optimum, rel_tol=1e-6, abs_tol=1e-6
    ):
        return Severity.FINE, ""
    if found.certificate is Certificate.NONE:
        return Severity.WRONG, f"calls {found.objective:g} optimal, without a proof; {true}"
    return Severity.UNSAFE, f"proves {found.objective:g}; {true}; {NOT_THIS}"


def _threads(oracle: Oracle) -> Found:
    case = cases()[0]
    for threads in (1, 2, 1):
        severity, detail = _solved(oracle, case, threads=threads)
        if severity is not Severity.FINE:
            return severity, f"with {threads} threads: {detail}"
    return Severity.FINE, ""


def _limited(oracle: Oracle) -> Found:
    """A run that stops early must not prove what is not optimal."""
    program = knapsack(12)
    truth = Exhaustive().minimize(program).objective
    answer = oracle.minimize(program, limits=Limits(nodes=1, seconds=SECONDS))
    found = recheck(program, answer, oracle)
    if found.certificate is not Certificate.NONE and found.objective != truth:
        return Severity.UNSAFE, "a run that was stopped claims a proof of a wrong optimum"
    return Severity.FINE, ""


def _interrupted(oracle: Oracle) -> Found:
    """A SIGINT of our own in the middle of a long run."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return Severity.LIMITED, "not examined: this process handles SIGINT itself"
    program = knapsack(22) if isinstance(oracle, Exhaustive) else market_split()
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    raised: list[int] = []

    def once(signum: int, frame: object) -> None:
        # A signal that comes late must not end whoever asked for the examination.
        if not raised:
            raised.append(signum)
            raise KeyboardInterrupt

    timer = threading.Timer(0.3, interrupt)
    before = signal.signal(signal.SIGINT, once)
    try:
        timer.start()
        try:
            oracle.minimize(program, limits=Limits(seconds=SECONDS))
        finally:
            timer.cancel()
            timer.join()
    except KeyboardInterrupt:
        late = time.monotonic() - sent[0] if sent else 0.0
        if late > PROMPT:
            return Severity.LIMITED, f"ends a run after {late:.1f} s only"
        return Severity.FINE, ""
    finally:
        raised.append(0)
        signal.signal(signal.SIGINT, before)
    if sent:
        return Severity.LIMITED, "Ctrl-C was swallowed: a run must be ended from outside"
    return Severity.FINE, "not examined: the run ended before it could be interrupted"
