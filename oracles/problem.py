"""Integer programs as plain data: what every oracle is given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from oracles import arrays
from oracles.arrays import EXACT_FLOAT, FloatArray
from oracles.errors import ProblemError

if TYPE_CHECKING:
    import pulp

FEASIBILITY_TOLERANCE = 1e-6
"""Allowed violation of a row with non-integer data, relative to ``max(1, sum |a_j x_j|)``."""


@dataclass(frozen=True, eq=False)
class IntegerProgram:
    """Minimise ``objective @ x + constant`` over ``row_lower <= matrix @ x <= row_upper``.

    Args:
        objective: Coefficients, shape ``(n,)``, finite.
        matrix: Constraint matrix, shape ``(m, n)``, dense or ``scipy.sparse``; None for no rows.
        row_lower: Shape ``(m,)``; ``-inf`` for no bound. Default ``-inf``.
        row_upper: Shape ``(m,)``; ``inf`` for no bound. Default ``inf``.
        lower: Bounds of the variables, shape ``(n,)``. Default 0.
        upper: Shape ``(n,)``. Default ``inf``.
        integer: Boolean, shape ``(n,)``: which variables are integer. Default all.
        constant: Added to the objective.
        names: ``n`` distinct names; default ``x0, x1, ...``.
        negated: True when a maximisation was read and its objective negated.

    Raises:
        ProblemError: Shapes disagree, a coefficient is NaN or infinite, bounds cross, names
            repeat, or an integer is one that a float cannot hold exactly.
    """

    objective: FloatArray
    matrix: sp.csr_array
    row_lower: FloatArray
    row_upper: FloatArray
    lower: FloatArray
    upper: FloatArray
    integer: NDArray[np.bool_]
    constant: float
    names: tuple[str, ...]
    negated: bool

    def __init__(
        self,
        objective: ArrayLike,
        matrix: ArrayLike | sp.sparray | sp.spmatrix | None = None,
        row_lower: ArrayLike | None = None,
        row_upper: ArrayLike | None = None,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        integer: ArrayLike | None = None,
        constant: float = 0.0,
        names: Sequence[str] | None = None,
        negated: bool = False,
    ) -> None:
        costs = arrays.vector("objective", objective, None, None)
        n = len(costs)
        rows = arrays.matrix(matrix, n)
        m = rows.shape[0]
        fields = {
            "objective": costs,
            "matrix": rows,
            "row_lower": arrays.vector("row_lower", row_lower, m, -math.inf),
            "row_upper": arrays.vector("row_upper", row_upper, m, math.inf),
            "lower": arrays.vector("lower", lower, n, 0.0),
            "upper": arrays.vector("upper", upper, n, math.inf),
            "integer": arrays.mask("integer", integer, n),
            "constant": arrays.scalar("constant", constant),
            "names": arrays.names(names, n),
            "negated": bool(negated),
        }
        for name, entry in fields.items():
            object.__setattr__(self, name, entry)
        self._check()

    def _check(self) -> None:
        if not np.isfinite(self.objective).all() or not math.isfinite(self.constant):
            raise ProblemError(
                "objective: NaN or infinite coefficients; every coefficient must be finite"
            )
        if not np.isfinite(self.matrix.data).all():
            raise ProblemError("matrix: NaN or infinite coefficients; drop or bound them")
        for low, high, what in (
            (self.lower, self.upper, "variable"),
            (self.row_lower, self.row_upper, "row"),
        ):
            if np.isnan(low).any() or np.isnan(high).any():
                raise ProblemError(f"{what} bounds: NaN; use -inf or inf for no bound")
            if (low == math.inf).any() or (high == -math.inf).any():
                raise ProblemError(f"{what} bounds: a lower bound of inf or an upper bound of -inf")
            crossed = np.flatnonzero(low > high)
            if len(crossed):
                where = self.names[crossed[0]] if what == "variable" else f"number {crossed[0]}"
                raise ProblemError(f"{what} bounds: lower exceeds upper at {where!r}")

    # -- facts ---------------------------------------------------------------------------------

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.objective)

    @property
    def n_rows(self) -> int:
        """Number of constraints."""
        return int(self.matrix.shape[0])

    @property
    def has_integer_objective(self) -> bool:
        """Whether every feasible point has an integer objective.

        True when the constant and all coefficients are integers up to 2^53 and no continuous
        variable has one. The objective itself may be larger: it is a Python ``int``.
        """
        used = self.objective != 0
        return bool(
            _all_integer(self.objective)
            and _all_integer(np.array([self.constant]))
            and self.integer[used].all()
        )

    # -- variants ------------------------------------------------------------------------------

    def with_objective(self, objective: ArrayLike, constant: float = 0.0) -> IntegerProgram:
        """The same feasible set with another objective to minimise."""
        costs = arrays.vector("objective", objective, self.n_variables, None)
        program = _with_fields(
            self, objective=costs, constant=arrays.scalar("constant", constant), negated=False
        )
        program._check()
        return program

    def relaxed(self) -> IntegerProgram:
        """The same program with every variable continuous."""
        return _with_fields(self, integer=np.zeros(self.n_variables, dtype=bool))

    # -- exact evaluation ----------------------------------------------------------------------

    def objective_value(self, point: ArrayLike) -> int | float:
        """The objective at a point of shape ``(n,)``.

        An ``int``, without rounding, when the objective is integer and the variables in it hold
        integers; a ``float`` otherwise.

        Raises:
            ProblemError: The point has another shape.
        """
        x = np.asarray(point, dtype=np.float64)
        if x.shape != (self.n_variables,):
            raise ProblemError(f"point: shape ({self.n_variables},) expected, {x.shape} given")
        used = self.objective != 0
        if self.has_integer_objective and _all_integer(x[used]):
            return _integer_dot(self.objective[used], x[used]) + int(self.constant)
        return float(math.fsum(self.objective * x) + self.constant)

    def is_feasible(self, point: ArrayLike) -> bool:
        """Whether a point satisfies integrality, bounds and rows.

        Integrality is exact, and so are bounds of integer variables and rows whose coefficients
        and variables are integer. Other rows and bounds may be violated by
        ``FEASIBILITY_TOLERANCE`` relative to the size of the row.
        """
        x = np.asarray(point, dtype=np.float64)
        if x.shape != (self.n_variables,) or not np.isfinite(x).all():
            return False
        if not _all_integer(x[self.integer]):
            return False
        slack = np.where(self.integer, 0.0, FEASIBILITY_TOLERANCE * np.maximum(1.0, np.abs(x)))
        if (x < self.lower - slack).any() or (x > self.upper + slack).any():
            return False
        return self._rows_hold(x)

    def _rows_hold(self, x: FloatArray) -> bool:
        if self.n_rows == 0:
            return True
        magnitude = abs(self.matrix) @ np.abs(x)
        activity = self.matrix @ x
        slack = FEASIBILITY_TOLERANCE * np.maximum(1.0, magnitude)
        # Floats sum integers up to 2^53 without rounding: no tolerance is needed there.
        slack[self.integer_rows] = 0.0
        large = self.integer_rows & (magnitude > EXACT_FLOAT)
        holds = (activity >= self.row_lower - slack) & (activity <= self.row_upper + slack)
        return bool(holds[~large].all()) and all(
            self._large_row_holds(row, x) for row in np.flatnonzero(large)
        )

    def _large_row_holds(self, row: np.intp, x: FloatArray) -> bool:
        begin, end = self.matrix.indptr[row], self.matrix.indptr[row + 1]
        activity = _integer_dot(self.matrix.data[begin:end], x[self.matrix.indices[begin:end]])
        # Python compares an int with a float, infinite ones included, without rounding.
        return float(self.row_lower[row]) <= activity <= float(self.row_upper[row])

    @cached_property
    def integer_rows(self) -> NDArray[np.bool_]:
        """Which rows have only integer coefficients on integer variables, shape ``(m,)``."""
        fractional = self.matrix.copy()
        whole = (fractional.data == np.rint(fractional.data)) & self.integer[fractional.indices]
        fractional.data = np.where(whole, 0.0, 1.0)
        return np.asarray(fractional.sum(axis=1) == 0)

    # -- files ---------------------------------------------------------------------------------

    @classmethod
    def from_mps(cls, path: str | Path) -> IntegerProgram:
        """Read a free or fixed MPS file, ``.mps`` or ``.mps.gz``.

        A maximisation is negated, and ``negated`` says so. :mod:`oracles.files` lists the
        conventions, among them: an integer variable without bounds is binary.

        Raises:
            ModelFileError: The file is missing, malformed, truncated, has a feature that an
                :class:`IntegerProgram` cannot express, or is not read within the limits of
                :mod:`oracles.files` on time and memory.
            SolverError: highspy is missing, or no process can be started for its parser.
        """
        from oracles.files import read_model

        return read_model(path, suffix=".mps")

    @classmethod
    def from_lp(cls, path: str | Path) -> IntegerProgram:
        """Read a CPLEX LP file, ``.lp`` or ``.lp.gz``; as :meth:`from_mps` otherwise."""
        from oracles.files import read_model

        return read_model(path, suffix=".lp")

    # -- PuLP ----------------------------------------------------------------------------------

    @classmethod
    def from_pulp(cls, problem: pulp.LpProblem) -> IntegerProgram:
        """Read a model of PuLP. A maximisation is negated, and ``negated`` says so.

        :mod:`oracles.pulp_models` lists the conventions, among them the order of the variables:
        find them by ``names``.

        Raises:
            ProblemError: The model has special ordered sets, semi-continuous variables, two
                variables of one name, a coefficient that is no finite number, or is an elastic
                sub-problem.
            SolverError: PuLP is missing, or its version is not supported.
        """
        from oracles.pulp_models import read

        return read(problem)

    def to_pulp(self, names: Sequence[str] | None = None) -> pulp.LpProblem:
        """The program as a model of PuLP, a negated one as the maximisation that it was.

        Args:
            names: ``n`` distinct names for PuLP; default the program's own.

        Raises:
            ProblemError: PuLP would change a name: it replaces blanks and any of ``-+[]>/``.
            SolverError: PuLP is missing, or its version is not supported.
        """
        from oracles.pulp_models import write

        return write(self, names)


def _with_fields(program: IntegerProgram, **changes: object) -> IntegerProgram:
    """A copy with some fields replaced, without validating the others again."""
    copy = object.__new__(IntegerProgram)
    for name in IntegerProgram.__dataclass_fields__:
        object.__setattr__(copy, name, changes.get(name, getattr(program, name)))
    return copy


def _all_integer(x: FloatArray) -> bool:
    """Whether all entries are integers that a float holds exactly."""
    return bool(
        np.isfinite(x).all() and (x == np.rint(x)).all() and (np.abs(x) <= EXACT_FLOAT).all()
    )


def _integer_dot(a: FloatArray, b: FloatArray) -> int:
    """The exact dot product of two integer-valued vectors."""
    if float(np.abs(a) @ np.abs(b)) <= EXACT_FLOAT:
        return int(a @ b)
    return sum(int(p) * int(q) for p, q in zip(a.tolist(), b.tolist(), strict=True))
