"""OR-Tools CP-SAT: integer programs with integer data, bounded in exact integers.

CP-SAT reasons over 64-bit integers, so its bound of an integer objective is an integer; its linear
relaxations are floating point and rounded safely by its own account. It stays a claim all the same,
and :mod:`oracles.verdict` decides what is left of it. Install the extra ``[ortools]``.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from oracles.arrays import FloatArray
from oracles.errors import ProblemError, SolverError
from oracles.oracle import UNLIMITED, Limits
from oracles.problem import IntegerProgram
from oracles.solution import Solution, Status
from oracles.verdict import Claim, judge

LARGEST = 2.0**40
"""Largest bound, coefficient or side, so that sums stay within CP-SAT's 64 bits."""

_WAIT = 0.05


@dataclass(frozen=True, slots=True)
class CpSat:
    """The CP-SAT solver, run to a proof."""

    @property
    def name(self) -> str:
        """``CP-SAT`` and the version of OR-Tools."""
        _module()
        return f"CP-SAT {version('ortools')}"

    def minimize(
        self,
        program: IntegerProgram,
        *,
        limits: Limits = UNLIMITED,
        start: ArrayLike | None = None,
    ) -> Solution[FloatArray]:
        """Minimise a program; see :meth:`oracles.oracle.Oracle.minimize`.

        ``limits.nodes`` counts conflicts.

        Raises:
            SolverError: OR-Tools is missing.
            ProblemError: A variable is continuous or unbounded, or a coefficient is not an integer
                up to 2^40.
        """
        _check(program)
        model, variables = _model(program)
        if start is not None and program.is_feasible(start):
            for variable, value in zip(variables, np.asarray(start), strict=True):
                model.add_hint(variable, int(value))
        solver = _module().CpSolver()
        if limits.seconds is not None:
            solver.parameters.max_time_in_seconds = limits.seconds
        if limits.nodes is not None:
            solver.parameters.max_number_of_conflicts = limits.nodes
        if limits.threads is not None:
            solver.parameters.num_workers = limits.threads
        return judge(program, _claim(solver, _run(solver, model), variables), oracle=self.name)


def _module() -> Any:
    try:
        from ortools.sat.python import cp_model
    except ImportError as error:
        raise SolverError("OR-Tools is not installed: pip install 'oracle-dp[ortools]'") from error
    return cp_model


def _check(program: IntegerProgram) -> None:
    if not (program.integer.all() and program.has_integer_objective and program.integer_rows.all()):
        raise ProblemError("program: CP-SAT needs integer variables and coefficients; scale them")
    bounds = np.concatenate([program.lower, program.upper])
    sides = np.concatenate([program.row_lower, program.row_upper])
    finite = np.concatenate(
        [bounds, sides[np.isfinite(sides)], program.objective, program.matrix.data]
    )
    if not (np.abs(finite) <= LARGEST).all():
        raise ProblemError("program: CP-SAT needs finite bounds, and numbers up to 2^40")


def _model(program: IntegerProgram) -> tuple[Any, list[Any]]:
    model = _module().CpModel()
    bounds = zip(np.ceil(program.lower), np.floor(program.upper), program.names, strict=True)
    variables = [model.new_int_var(int(a), int(b), name) for a, b, name in bounds]
    matrix = program.matrix
    for i in range(program.n_rows):
        part = slice(matrix.indptr[i], matrix.indptr[i + 1])
        activity = sum(
            int(a) * variables[j]
            for j, a in zip(matrix.indices[part], matrix.data[part], strict=True)
        )
        low, high = float(program.row_lower[i]), float(program.row_upper[i])
        if part.start == part.stop:
            if low > 0 or high < 0:
                model.add_bool_or([])
            continue
        if math.isfinite(low):
            model.add(activity >= math.ceil(low))
        if math.isfinite(high):
            model.add(activity <= math.floor(high))
    costs = zip(program.objective, variables, strict=True)
    model.minimize(sum(int(c) * x for c, x in costs if c) + int(program.constant))
    return model, variables


def _run(solver: Any, model: Any) -> Any:
    """Run in a thread, so that Ctrl-C is heard and stops the search."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(solver.solve(model)), daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(_WAIT)
    except BaseException:  # Ctrl-C too; the error goes on.
        solver.stop_search()
        raise
    return found[0] if found else None


def _claim(solver: Any, status: Any, variables: list[Any]) -> Claim:
    module = _module()
    known = {
        module.OPTIMAL: Status.OPTIMAL,
        module.FEASIBLE: Status.STOPPED,
        module.UNKNOWN: Status.STOPPED,
        module.INFEASIBLE: Status.INFEASIBLE,
    }
    ended = known.get(status, Status.ERROR)
    if status not in (module.OPTIMAL, module.FEASIBLE):
        bound = float(solver.best_objective_bound) if ended is Status.STOPPED else -math.inf
        return Claim(status=ended, bound=bound)
    return Claim(
        status=ended,
        point=np.array([float(solver.value(x)) for x in variables]),
        objective=float(solver.objective_value),
        bound=float(solver.best_objective_bound),
    )
