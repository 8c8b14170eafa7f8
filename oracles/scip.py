"""SCIP through PySCIPOpt, in memory. Install the extra ``[scip]``.

What SCIP says is a claim, and :mod:`oracles.verdict` decides what is left of it. This module only
translates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from oracles.arrays import FloatArray
from oracles.errors import SolverError
from oracles.oracle import UNLIMITED, Limits
from oracles.problem import IntegerProgram
from oracles.solution import Solution, Status
from oracles.verdict import Claim, judge

_STATUS = {
    "optimal": Status.OPTIMAL,
    "infeasible": Status.INFEASIBLE,
    "unbounded": Status.UNBOUNDED,
    "timelimit": Status.STOPPED,
    "nodelimit": Status.STOPPED,
    "totalnodelimit": Status.STOPPED,
    "userinterrupt": Status.STOPPED,
    "memlimit": Status.STOPPED,
}
"""SCIP's status by name. Anything else, ``inforunbd`` among it, is ``Status.ERROR``."""


@dataclass(frozen=True, slots=True)
class Scip:
    """The SCIP solver, run to a proof with zero gaps."""

    @property
    def name(self) -> str:
        """``SCIP`` and its version."""
        return f"SCIP {_module().Model().version()}"

    def minimize(
        self,
        program: IntegerProgram,
        *,
        limits: Limits = UNLIMITED,
        start: ArrayLike | None = None,
    ) -> Solution[FloatArray]:
        """Minimise a program; see :meth:`oracles.oracle.Oracle.minimize`. ``start`` is ignored.

        Raises:
            SolverError: PySCIPOpt is missing.
        """
        del start
        model = _module().Model()
        model.hideOutput()
        model.setParam("limits/gap", 0.0)
        model.setParam("limits/absgap", 0.0)
        if limits.seconds is not None:
            model.setParam("limits/time", float(limits.seconds))
        if limits.nodes is not None:
            model.setParam("limits/totalnodes", int(limits.nodes))
        variables = _load(model, program)
        model.optimize()
        return judge(program, _claim(model, variables), oracle=self.name)


def _module() -> Any:
    try:
        import pyscipopt  # type: ignore[import-not-found, unused-ignore]  # an extra
    except ImportError as error:
        raise SolverError("PySCIPOpt is not installed: pip install 'oracle-dp[scip]'") from error
    return pyscipopt


def _load(model: Any, program: IntegerProgram) -> list[Any]:
    variables = [
        model.addVar(
            name=f"x{j}",
            vtype="I" if program.integer[j] else "C",
            lb=None if program.lower[j] == -math.inf else float(program.lower[j]),
            ub=None if program.upper[j] == math.inf else float(program.upper[j]),
            obj=float(program.objective[j]),
        )
        for j in range(program.n_variables)
    ]
    quicksum = _module().quicksum
    for i in range(program.n_rows):
        part = slice(program.matrix.indptr[i], program.matrix.indptr[i + 1])
        terms = zip(program.matrix.indices[part], program.matrix.data[part], strict=True)
        activity = quicksum(float(a) * variables[j] for j, a in terms)
        if np.isfinite(program.row_lower[i]):
            model.addCons(activity >= float(program.row_lower[i]))
        if np.isfinite(program.row_upper[i]):
            model.addCons(activity <= float(program.row_upper[i]))
    model.addObjoffset(program.constant)
    model.setMinimize()
    return variables


def _claim(model: Any, variables: list[Any]) -> Claim:
    status = _STATUS.get(model.getStatus(), Status.ERROR)
    if model.getNSols() == 0:
        return Claim(status=status, bound=float(model.getDualbound()))
    best = model.getBestSol()
    return Claim(
        status=status,
        point=np.array([best[x] for x in variables], dtype=np.float64),
        objective=float(model.getObjVal()),
        bound=float(model.getDualbound()),
    )
