"""Any solver that PuLP can drive, as an oracle: second opinions, and users' own licences.

What a solver says through PuLP is a claim that :mod:`oracles.verdict` judges. It says little: PuLP
passes no bound on, so a point is checked and its optimality stays unproven (``Certificate.NONE``).
HiGHS is the exception: PuLP builds its model in memory, where the bound can be read. Options that
loosen HiGHS's tolerances cost the certificate.

PuLP's statuses are not taken at their word. "Optimal" may be an incumbent at a time limit,
"Infeasible" an unbounded program and "Unbounded" an infeasible one, "Not Solved" and "Undefined"
anything; a second run without the objective tells the first of these apart.

A command-line solver reads the model from files. They are in a folder that only the user can enter
and that is removed when the run ends, however it ends; PuLP's settings that would write elsewhere
are refused. What a raw list ``options`` makes a solver do is its author's affair. PuLP writes
numbers with 12 digits: what such a solver sees is the rounded program.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from oracles._highs_run import highs_version
from oracles._pulp_driver import Model, ask, make_driver, require_available, set_limits
from oracles.arrays import FloatArray
from oracles.oracle import UNLIMITED, Limits
from oracles.problem import IntegerProgram
from oracles.pulp_models import load_pulp, write
from oracles.solution import Solution, Status
from oracles.verdict import Claim, judge, settled


@dataclass(frozen=True, slots=True)
class Pulp:
    """A solver behind PuLP.

    Gaps are zero unless the solver object sets others. Ctrl-C raises ``KeyboardInterrupt`` within a
    second and ends a command-line solver and HiGHS; another solver inside this process cannot be
    stopped and works on in its thread.

    Args:
        solver: A name that ``pulp.listSolvers()`` knows (``"COIN_CMD"``, ``"HiGHS"``), or a
            solver object of PuLP, which is copied for every call and never changed.

    Raises:
        ProblemError: There is no such solver, or the object keeps files, writes a log, drops
            integrality, has callbacks, holds a connection, or sets limits, which belong in
            :class:`Limits`.
        SolverError: The solver or PuLP is not installed.
    """

    solver: Any

    def __post_init__(self) -> None:
        require_available(make_driver(self.solver))

    @property
    def name(self) -> str:
        """The solver and the version of PuLP; of HiGHS its version as well."""
        name = str(make_driver(self.solver).name)
        if name == "HiGHS":
            name += f" {highs_version()}"
        return f"{name} through PuLP {load_pulp().__version__}"

    def minimize(
        self,
        program: IntegerProgram,
        *,
        limits: Limits = UNLIMITED,
        start: ArrayLike | None = None,
    ) -> Solution[FloatArray]:
        """Minimise a program; see :meth:`oracles.oracle.Oracle.minimize`.

        Raises:
            ProblemError: PuLP cannot give the solver one of the limits.
            SolverError: The solver refuses an option.
            KeyboardInterrupt: Within a second of Ctrl-C.
        """
        set_limits(make_driver(self.solver), limits)
        known = None if start is None else np.asarray(start, dtype=np.float64)
        if known is not None and not program.is_feasible(known):
            known = None
        rest = _resting(program)
        if rest is not None and not _used(program).any():
            return settled(program, rest, oracle=self.name)
        deadline = math.inf if limits.seconds is None else time.monotonic() + limits.seconds
        claim = self._run(program, limits, deadline, known)
        if claim.status in (Status.INFEASIBLE, Status.UNBOUNDED):
            claim = self._told_apart(program, claim, limits, deadline, known)
        return judge(program, claim, oracle=self.name, known=known)

    def _told_apart(
        self,
        program: IntegerProgram,
        first: Claim,
        limits: Limits,
        deadline: float,
        known: FloatArray | None,
    ) -> Claim:
        """Tell "infeasible" from "unbounded", which solvers and drivers mix up."""
        if known is None:
            feasibility = program.with_objective(np.zeros(program.n_variables))
            claim = self._run(feasibility, limits, deadline, None)
            found = judge(feasibility, claim, oracle=self.name)
            if found.value is None:
                # Nothing is unbounded without an objective.
                absurd = found.status is Status.UNBOUNDED
                return Claim(status=Status.ERROR if absurd else found.status)
        if first.status is Status.UNBOUNDED:
            return first
        # "Infeasible", and it is not.
        relaxed = self._run(program.relaxed(), limits, deadline, None)
        unbounded = relaxed.status is Status.UNBOUNDED
        return Claim(status=Status.UNBOUNDED if unbounded else Status.ERROR)

    def _run(
        self, program: IntegerProgram, limits: Limits, deadline: float, known: FloatArray | None
    ) -> Claim:
        """One run on the variables that matter, as a claim about all of them."""
        point = _resting(program)
        if point is None or not _empty_rows_hold(program):
            return Claim(status=Status.INFEASIBLE)
        used = _used(program)
        if not used.any():
            return Claim(status=Status.OPTIMAL, point=point, bound=program.constant)
        seconds = None if deadline == math.inf else deadline - time.monotonic()
        if seconds is not None and seconds <= 0:
            return Claim(status=Status.STOPPED)
        start = None if known is None else known[used]
        within = replace(limits, seconds=seconds)
        claim = ask(make_driver(self.solver), _model(program, used), within, start)
        if claim.point is not None:
            point[used] = claim.point
        return Claim(
            status=claim.status,
            point=None if claim.point is None else point,
            objective=claim.objective + program.constant,
            bound=claim.bound + program.constant,
        )


def _used(program: IntegerProgram) -> NDArray[np.bool_]:
    """Which variables have a cost or an entry in a row, shape ``(n,)``."""
    in_rows = np.asarray(abs(program.matrix).sum(axis=0)).ravel() > 0
    return np.asarray((program.objective != 0) | in_rows)


def _resting(program: IntegerProgram) -> FloatArray | None:
    """The point nearest to 0 within the bounds, integer where it has to be; None if none is."""
    lower = np.where(program.integer, np.ceil(program.lower), program.lower)
    upper = np.where(program.integer, np.floor(program.upper), program.upper)
    if (lower > upper).any():
        return None
    # Adding zero turns -0.0 into 0.0.
    return np.clip(np.zeros(program.n_variables), lower, upper) + 0.0


def _empty_rows_hold(program: IntegerProgram) -> bool:
    empty = np.asarray(abs(program.matrix).sum(axis=1)).ravel() == 0
    return bool((program.row_lower[empty] <= 0).all() and (program.row_upper[empty] >= 0).all())


def _model(program: IntegerProgram, used: NDArray[np.bool_]) -> Model:
    """The variables in use, and the rows with entries, one side at a time."""
    matrix = sp.csr_array(program.matrix[:, used])
    matrix.eliminate_zeros()
    low, high = program.row_lower, program.row_upper
    filled = np.diff(matrix.indptr) > 0
    equal = np.flatnonzero(filled & (low == high))
    below = np.flatnonzero(filled & (low < high) & (low > -math.inf))
    above = np.flatnonzero(filled & (low < high) & (high < math.inf))
    no_side = np.full(program.n_rows, math.inf)
    part = IntegerProgram(
        program.objective[used],
        sp.csr_array(matrix[np.concatenate([equal, below, above])]),
        np.concatenate([low[equal], low[below], -no_side[above]]),
        np.concatenate([high[equal], no_side[below], high[above]]),
        lower=program.lower[used],
        upper=program.upper[used],
        integer=program.integer[used],
    )
    # PuLP sorts by name. These also fit into every file format, and say nothing.
    problem = write(part, [f"x{j:09d}" for j in range(part.n_variables)])
    return Model(part, problem, tuple(problem.variables()))
