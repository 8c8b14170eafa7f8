"""HiGHS through highspy, in memory: the default oracle for mixed-integer programs.

What HiGHS says is a claim, and :mod:`oracles.verdict` decides what is left of it. This module
only translates: a program into HiGHS's arrays, HiGHS's status into ours, Ctrl-C into HiGHS's
interrupt. Every call builds a HiGHS object and drops it; no basis, incumbent or file survives.

What checking cannot find is a feasible point that is not the best together with a bound that is
wrong by the same error. ``Highs(presolve=False)`` searches by another route and gives a second
opinion.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from oracles._highs_answer import claim as _claim
from oracles._highs_answer import load
from oracles._highs_run import highs_version, load_highspy, run
from oracles.arrays import FloatArray
from oracles.errors import ProblemError, SolverError
from oracles.oracle import UNLIMITED, Limits
from oracles.problem import IntegerProgram
from oracles.solution import Solution, Status
from oracles.verdict import Claim, judge, settled


@dataclass(frozen=True, slots=True, kw_only=True)
class Highs:
    """The HiGHS solver, run to a proof with zero gaps.

    Ctrl-C raises ``KeyboardInterrupt`` within a second. HiGHS does not look for interrupts while
    it presolves or solves a linear program inside branch and bound; its thread may then work on
    for as long as that takes, without holding up the caller or the end of the process.

    Args:
        feasibility_tolerance: HiGHS's tolerance for integrality, bounds and rows of
            mixed-integer programs, between 1e-10 and 1e-6. A larger one lets through points
            that rounding the integer variables breaks (``Status.ERROR``); a smaller one cuts
            off feasible points of ill-scaled rows.
        presolve: Whether HiGHS may transform the program first.

    Raises:
        ProblemError: The tolerance is outside its range.
    """

    feasibility_tolerance: float = 1e-8
    presolve: bool = True

    def __post_init__(self) -> None:
        if not 1e-10 <= self.feasibility_tolerance <= 1e-6:
            raise ProblemError(
                f"feasibility_tolerance: {self.feasibility_tolerance!r} is not in [1e-10, 1e-6]"
            )

    @property
    def name(self) -> str:
        """``HiGHS`` and its version."""
        return f"HiGHS {highs_version()}"

    def minimize(
        self,
        program: IntegerProgram,
        *,
        limits: Limits = UNLIMITED,
        start: ArrayLike | None = None,
    ) -> Solution[FloatArray]:
        """Minimise a program; see :meth:`oracles.oracle.Oracle.minimize`.

        Raises:
            SolverError: highspy is missing or refuses an option.
            KeyboardInterrupt: Within a second of Ctrl-C.
        """
        if program.n_variables == 0:
            return settled(program, np.empty(0), oracle=self.name)
        known = None if start is None else np.asarray(start, dtype=np.float64)
        if known is not None and not program.is_feasible(known):
            known = None
        deadline = math.inf if limits.seconds is None else time.monotonic() + limits.seconds
        claim = self._resolve_infeasible(program, limits, deadline, known)
        if claim.status is Status.UNBOUNDED and known is None:
            claim = self._resolve_unbounded(program, limits, deadline)
        return judge(program, claim, oracle=self.name, known=known)

    def _resolve_infeasible(
        self, program: IntegerProgram, limits: Limits, deadline: float, known: FloatArray | None
    ) -> Claim:
        """A run, and another one without presolve if the first finds nothing feasible.

        Presolve has been seen to call feasible integer programs infeasible: of random ones with
        sums ``|a_j x_j|`` from 1e5 on, one in a thousand. The search without it never did.
        """
        claim = self._run(program, limits, deadline, known)
        if claim.status is Status.INFEASIBLE and self.presolve:
            claim = replace(self, presolve=False)._run(program, limits, deadline, known)
        return claim

    def _resolve_unbounded(self, program: IntegerProgram, limits: Limits, deadline: float) -> Claim:
        """Tell "unbounded" from "infeasible": without an objective only one is possible."""
        feasibility = program.with_objective(np.zeros(program.n_variables))
        claim = self._resolve_infeasible(feasibility, limits, deadline, None)
        found = judge(feasibility, claim, oracle=self.name)
        if found.value is not None:
            return Claim(status=Status.UNBOUNDED)
        return Claim(status=found.status)

    def _run(
        self, program: IntegerProgram, limits: Limits, deadline: float, known: FloatArray | None
    ) -> Claim:
        # The class below highspy.Highs, whose constructor prints a banner.
        highs = load_highspy()._Highs()
        for option, setting in self._options(limits, deadline).items():
            if highs.setOptionValue(option, setting) != load_highspy().HighsStatus.kOk:
                raise SolverError(f"HiGHS refuses option {option!r}: install highspy 1.15 or later")
        if not load(highs, program):
            return Claim(status=Status.ERROR)
        if known is not None:
            columns = np.arange(program.n_variables, dtype=np.int32)
            highs.setSolution(program.n_variables, columns, known)
        try:
            failed = run(highs) == load_highspy().HighsStatus.kError
        except MemoryError:
            failed = True
        return Claim(status=Status.ERROR) if failed else _claim(highs, program)

    def _options(self, limits: Limits, deadline: float) -> dict[str, Any]:
        options: dict[str, Any] = {
            "output_flag": False,
            "mip_rel_gap": 0.0,
            "mip_abs_gap": 0.0,
            "mip_feasibility_tolerance": self.feasibility_tolerance,
            "small_matrix_value": 1e-12,  # smaller entries are dropped; this is the least allowed
            "presolve": "on" if self.presolve else "off",
            "time_limit": max(0.0, deadline - time.monotonic()),
        }
        if limits.nodes is not None:
            options["mip_max_nodes"] = limits.nodes
        if limits.threads is not None:
            options["threads"] = limits.threads
        return options
