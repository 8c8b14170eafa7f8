"""PuLP's drivers: made silent, given their limits, run on a model, and read.

A driver is an ``LpSolver`` of PuLP. Its settings are attributes or entries of ``optionsDict``, and
which it takes is what its constructor says.
"""

from __future__ import annotations

import copy
import inspect
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from oracles._highs_answer import claim as highs_claim
from oracles._highs_answer import holds
from oracles._highs_run import load_highspy
from oracles._highs_run import run as run_highs
from oracles._pulp_run import private_folder, run_driver
from oracles.arrays import FloatArray
from oracles.errors import ProblemError, SolverError
from oracles.oracle import Limits
from oracles.problem import IntegerProgram
from oracles.pulp_models import load_pulp
from oracles.solution import Status
from oracles.verdict import Claim

_INSTALL = {
    "COIN_CMD": "apt-get install coinor-cbc, or put a command cbc on the PATH",
    "GLPK_CMD": "apt-get install glpk-utils",
    "GUROBI": "pip install gurobipy",
    "HiGHS": "pip install 'highspy>=1.15'",
    "SCIP_PY": "pip install pyscipopt",
}

_WRITES_ELSEWHERE = {"CPLEX_CMD": "CPLEX_PY", "GUROBI_CMD": "GUROBI"}
"""Drivers that leave a log in the working directory, and what to use instead."""

_LIMITS = {"timeLimit": "seconds", "time_limit": "seconds"} | {
    option: "nodes" for option in ("maxNodes", "mip_max_nodes")
}
"""Settings of solver objects that belong in ``Limits``: a guarantee must be able to name them."""

_KEEPING_THE_BOUND = frozenset(
    ("mip_abs_gap", "mip_rel_gap", "parallel", "presolve", "random_seed", "small_matrix_value")
)
"""Options of HiGHS under which its bound stays one; tolerances are not among them."""

_WHOLE_SECONDS = frozenset(("GLPK_CMD",))
"""Solvers that refuse a time limit with a fraction."""


def make_driver(solver: Any) -> Any:
    """A driver for one call, silent and with zero gaps unless it was given others.

    Raises:
        ProblemError: There is no such driver, or it is set up in a way that is refused.
    """
    pulp = load_pulp()
    if isinstance(solver, str):
        if solver not in pulp.listSolvers():
            known = ", ".join(pulp.listSolvers())
            raise ProblemError(f"solver: PuLP has no {solver!r}; it has {known}")
        driver = pulp.getSolver(solver, msg=False)
    elif isinstance(solver, pulp.LpSolver):
        _refuse_settings(solver)
        driver = copy.copy(solver)
        driver.optionsDict = dict(solver.optionsDict)
        driver.msg = False
    else:
        kind = type(solver).__name__
        raise ProblemError(f"solver: a name or a solver object of PuLP expected, not {kind}")
    if driver.name in _WRITES_ELSEWHERE:
        other = _WRITES_ELSEWHERE[driver.name]
        raise ProblemError(f"solver: {driver.name} logs to the working directory: use {other}")
    for gap in ("gapRel", "gapAbs"):
        if _takes(driver, gap) and _setting(driver, gap) is None:
            _set(driver, gap, 0.0)
    return driver


def _refuse_settings(solver: Any) -> None:
    if hasattr(type(solver), "__del__"):
        raise ProblemError(
            f"solver: a {solver.name} object holds a connection, and a copy would close it: "
            f"give the name {solver.name!r}"
        )
    if not solver.mip:
        raise ProblemError("solver: mip=False drops integrality: relax the program instead")
    for option in {*solver.optionsDict, *vars(solver)}:
        if _names_a_file(option) and _setting(solver, option):
            raise ProblemError(f"solver: {option} would leave private data on the disk: omit it")
    if getattr(solver, "callbackTuple", None) or getattr(solver, "callbacksToActivate", None):
        raise ProblemError("solver: callbacks are not called here: leave them out")
    for option, limit in _LIMITS.items():
        if _setting(solver, option) is not None:
            raise ProblemError(f"solver: {option} is set: give Limits({limit}=...) to the call")


def _names_a_file(option: str) -> bool:
    """Whether a setting of any of PuLP's solvers is one that writes; some are attributes only."""
    words = option.lower().strip("_")
    return option == "keepFiles" or any(word in words for word in ("file", "logpath", "export"))


def require_available(driver: Any) -> None:
    """Raise a ``SolverError`` that says how to install what is missing."""
    if driver.available():
        return
    found = ", ".join(load_pulp().listSolvers(onlyAvailable=True)) or "none"
    remedy = _INSTALL.get(driver.name, "install it, or set its path")
    raise SolverError(f"{driver.name} is not installed: {remedy}. PuLP finds: {found}")


def set_limits(driver: Any, limits: Limits) -> None:
    """Give a driver its limits.

    Raises:
        ProblemError: It takes none of that kind.
    """
    seconds = limits.seconds
    if seconds is not None and driver.name in _WHOLE_SECONDS:
        seconds = math.ceil(seconds)
    nodes = "mip_max_nodes" if driver.name == "HiGHS" else "maxNodes"
    for limit, option, setting in (
        ("seconds", "timeLimit", seconds),
        ("nodes", nodes, limits.nodes),
        ("threads", "threads", limits.threads),
    ):
        if setting is None:
            continue
        if not (_takes(driver, option) or option == "mip_max_nodes"):
            raise ProblemError(f"limits: PuLP gives {driver.name} no limit of {limit}; omit it")
        _set(driver, option, setting)


def _takes(driver: Any, option: str) -> bool:
    return option in inspect.signature(type(driver).__init__).parameters


def _setting(driver: Any, option: str) -> Any:
    return driver.optionsDict.get(option, getattr(driver, option, None))


def _set(driver: Any, option: str, setting: Any) -> None:
    if hasattr(driver, option):
        setattr(driver, option, setting)
    else:
        driver.optionsDict[option] = setting


# -- runs ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A model of PuLP and what it was written from.

    Attributes:
        program: Its rows have one side, or two equal ones; its constant is 0.
        problem: The ``pulp.LpProblem``, with the same rows in the same order.
        variables: PuLP's variables, in the order of the program; their names sort alike.
    """

    program: IntegerProgram
    problem: Any
    variables: tuple[Any, ...]


def ask(driver: Any, model: Model, limits: Limits, start: FloatArray | None) -> Claim:
    """Run a driver on a model.

    Args:
        driver: From :func:`make_driver`.
        model: What to minimise.
        limits: When to stop.
        start: A feasible point, if one is known.

    Returns:
        What the solver says.
    """
    set_limits(driver, limits)
    # A subclass may have another solver, whose bound may mean something else.
    if type(driver) is load_pulp().HiGHS:
        return _ask_highs(driver, model, start)
    return _ask_other(driver, model, limits, start)


def _ask_highs(driver: Any, model: Model, start: FloatArray | None) -> Claim:
    """HiGHS, on the model that PuLP builds in memory.

    PuLP's own call would print a banner, and fail on a node limit.
    """
    # The class below highspy.Highs, whose constructor prints the banner.
    highs = load_highspy()._Highs()
    options = {
        "mip_feasibility_tolerance": 1e-8,
        "small_matrix_value": 1e-12,
        "mip_rel_gap": driver.gapRel,
        "mip_abs_gap": driver.gapAbs,
        "threads": driver.threads,
        "time_limit": None if driver.timeLimit is None else float(driver.timeLimit),
        **driver.optionsDict,
        "output_flag": False,
    }
    for option, setting in options.items():
        if setting is None:
            continue
        if highs.setOptionValue(option, setting) != load_highspy().HighsStatus.kOk:
            raise SolverError(f"HiGHS refuses option {option!r}: see its list of options")
    model.problem.solverModel = highs
    driver.buildSolverModel(model.problem)
    if not holds(highs, model.program):
        return Claim(status=Status.ERROR)
    if start is not None:
        highs.setSolution(len(start), np.arange(len(start), dtype=np.int32), start)
    try:
        failed = run_highs(highs) == load_highspy().HighsStatus.kError
    except MemoryError:
        failed = True
    if failed:
        return Claim(status=Status.ERROR)
    claim = highs_claim(highs, model.program)
    if driver.optionsDict.keys() <= _KEEPING_THE_BOUND | {"mip_max_nodes"}:
        return claim
    return replace(claim, bound=-math.inf)


def _ask_other(driver: Any, model: Model, limits: Limits, start: FloatArray | None) -> Claim:
    pulp = load_pulp()
    problem = model.problem
    if start is not None and _takes(driver, "warmStart"):
        _set(driver, "warmStart", True)
        for variable, number in zip(model.variables, start.tolist(), strict=True):
            variable.setInitialValue(number, check=False)
    with private_folder() as folder:
        if isinstance(driver, pulp.LpSolver_CMD):
            driver.keepFiles = False
            driver.tmpDir = str(folder)
        ended = run_driver(
            lambda: problem.solve(driver), folder, failure=pulp.PulpError, seconds=limits.seconds
        )
    if not ended:
        return Claim(status=Status.STOPPED if ended is None else Status.ERROR)
    status = pulp.LpStatus[problem.status]
    if status == "Infeasible":
        return Claim(status=Status.INFEASIBLE)
    if status == "Unbounded":
        return Claim(status=Status.UNBOUNDED)
    if status != "Optimal":
        # Not solved, or undefined: no reason is given.
        return Claim(status=Status.STOPPED if limits.may_stop_early else Status.ERROR)
    proven = problem.sol_status == pulp.LpSolutionOptimal
    values = [variable.varValue for variable in model.variables]
    point = None if None in values else np.array(values, dtype=np.float64)
    return Claim(status=Status.OPTIMAL if proven else Status.STOPPED, point=point)
