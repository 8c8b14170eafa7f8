"""What a HiGHS object holds and what it says, for whoever built and ran it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from oracles._highs_run import load_highspy
from oracles.problem import IntegerProgram
from oracles.solution import Status
from oracles.verdict import Claim, dual_bound

_STATUS = {
    "kOptimal": Status.OPTIMAL,
    "kInfeasible": Status.INFEASIBLE,
    # Told apart by a second run.
    "kUnbounded": Status.UNBOUNDED,
    "kUnboundedOrInfeasible": Status.UNBOUNDED,
    "kTimeLimit": Status.STOPPED,
    "kIterationLimit": Status.STOPPED,
    "kSolutionLimit": Status.STOPPED,
    "kInterrupt": Status.STOPPED,
}
"""HiGHS's model status by name. Anything else (errors, memory, unknown) is ``Status.ERROR``."""


def load(highs: Any, program: IntegerProgram) -> bool:
    """Hand the program over; whether HiGHS took exactly this program."""
    module = load_highspy()
    matrix = sp.csc_array(program.matrix)
    matrix.eliminate_zeros()
    status = highs.passModel(
        program.n_variables,
        program.n_rows,
        matrix.nnz,
        int(module.MatrixFormat.kColwise),
        int(module.ObjSense.kMinimize),
        program.constant,
        program.objective,
        program.lower,
        program.upper,
        program.row_lower,
        program.row_upper,
        matrix.indptr.astype(np.int32),
        matrix.indices.astype(np.int32),
        matrix.data,
        program.integer.astype(np.int32),
    )
    return status == module.HighsStatus.kOk and holds(highs, program)


def holds(highs: Any, program: IntegerProgram) -> bool:
    """Whether HiGHS took exactly this program, up to the constant.

    HiGHS drops entries that it finds small, reads finite bounds and costs of 1e20 as infinite
    and refuses entries above 1e15. Each would make its bound one of another problem.
    """
    # Costs are kept as they are, but treated as infinite all the same.
    if (np.abs(program.objective) >= highs.getOptionValue("infinite_cost")[1]).any():
        return False
    held = highs.getLp()
    whole = np.array([kind.name == "kInteger" for kind in held.integrality_], dtype=bool)
    return (
        held.sense_.name == "kMinimize"
        and np.array_equal(held.col_cost_, program.objective)
        and np.array_equal(held.col_lower_, program.lower)
        and np.array_equal(held.col_upper_, program.upper)
        and np.array_equal(held.row_lower_, program.row_lower)
        and np.array_equal(held.row_upper_, program.row_upper)
        and np.array_equal(whole if whole.size else np.zeros_like(program.integer), program.integer)
        and _same_matrix(held.a_matrix_, program.matrix)
    )


def _same_matrix(held: Any, matrix: sp.csr_array) -> bool:
    compressed: Any = sp.csc_array if held.format_.name == "kColwise" else sp.csr_array
    entries = np.asarray(held.value_, dtype=np.float64), held.index_, held.start_
    difference = abs(compressed(entries, shape=matrix.shape) - matrix)
    return bool(difference.nnz == 0 or difference.max() == 0)


def claim(highs: Any, program: IntegerProgram) -> Claim:
    """What HiGHS says of a program after a run."""
    status = _STATUS.get(highs.getModelStatus().name, Status.ERROR)
    info = highs.getInfo()
    solution = highs.getSolution()
    feasible = int(load_highspy().SolutionStatus.kSolutionStatusFeasible)
    claimed = solution.value_valid and info.primal_solution_status == feasible
    if program.integer.any():
        bound = info.mip_dual_bound
    elif status is Status.OPTIMAL and solution.dual_valid:
        bound = dual_bound(program, np.asarray(solution.row_dual))
    else:
        bound = -math.inf
    return Claim(
        status=status,
        point=np.asarray(solution.col_value, dtype=np.float64) if claimed else None,
        objective=info.objective_function_value if claimed else math.nan,
        bound=bound,
    )
