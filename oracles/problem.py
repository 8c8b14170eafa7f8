"""Integer programs as plain data: what every oracle is given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from oracles.errors import ProblemError

FloatArray = NDArray[np.float64]

FEASIBILITY_TOLERANCE = 1e-6
"""Allowed violation of a row with non-integer data, relative to ``max(1, sum |a_j x_j|)``."""

_EXACT_FLOAT = 2.0**53
_INT64_SAFE = 2.0**62


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
            repeat, or an integer is too large for a float to hold exactly.
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
        costs = _vector("objective", objective, None, None)
        n = len(costs)
        rows = _matrix(matrix, n)
        m = rows.shape[0]
        fields = {
            "objective": costs,
            "matrix": rows,
            "row_lower": _vector("row_lower", row_lower, m, -math.inf),
            "row_upper": _vector("row_upper", row_upper, m, math.inf),
            "lower": _vector("lower", lower, n, 0.0),
            "upper": _vector("upper", upper, n, math.inf),
            "integer": _mask(integer, n),
            "constant": float(constant),
            "names": _names(names, n),
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
        """Whether every feasible point has an integer objective that floats hold exactly."""
        used = self.objective != 0
        return bool(
            _all_integer(self.objective)
            and _all_integer(np.array([self.constant]))
            and self.integer[used].all()
        )

    # -- variants ------------------------------------------------------------------------------

    def with_objective(self, objective: ArrayLike, constant: float = 0.0) -> IntegerProgram:
        """The same feasible set with another objective to minimise."""
        costs = _vector("objective", objective, self.n_variables, None)
        program = _with_fields(self, objective=costs, constant=float(constant), negated=False)
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
        """
        x = np.asarray(point, dtype=np.float64)
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
        # Integer rows below 2^53 are summed by floats without rounding: no tolerance there.
        exact = self._integer_rows & (magnitude <= _EXACT_FLOAT)
        slack = np.where(exact, 0.0, FEASIBILITY_TOLERANCE * np.maximum(1.0, magnitude))
        return bool(
            (activity >= self.row_lower - slack).all()
            and (activity <= self.row_upper + slack).all()
        )

    @property
    def _integer_rows(self) -> NDArray[np.bool_]:
        fractional = self.matrix.copy()
        whole = (fractional.data == np.rint(fractional.data)) & self.integer[fractional.indices]
        fractional.data = np.where(whole, 0.0, 1.0)
        return np.asarray(fractional.sum(axis=1) == 0)

    # -- files ---------------------------------------------------------------------------------

    @classmethod
    def from_mps(cls, path: str | Path) -> IntegerProgram:
        """Read a free or fixed MPS file, ``.mps`` or ``.mps.gz``.

        A maximisation is negated, and ``negated`` says so.

        Raises:
            ModelFileError: The file is missing, malformed, truncated, or has a feature that an
                :class:`IntegerProgram` cannot express.
        """
        from oracles.files import read_model

        return read_model(path, suffix=".mps")

    @classmethod
    def from_lp(cls, path: str | Path) -> IntegerProgram:
        """Read a CPLEX LP file, ``.lp`` or ``.lp.gz``; as :meth:`from_mps` otherwise."""
        from oracles.files import read_model

        return read_model(path, suffix=".lp")


def _with_fields(program: IntegerProgram, **changes: object) -> IntegerProgram:
    """A copy with some fields replaced, without validating the others again."""
    copy = object.__new__(IntegerProgram)
    for name in IntegerProgram.__dataclass_fields__:
        object.__setattr__(copy, name, changes.get(name, getattr(program, name)))
    return copy


def _all_integer(x: FloatArray) -> bool:
    """Whether all entries are integers that a float holds exactly."""
    return bool(
        np.isfinite(x).all() and (x == np.rint(x)).all() and (np.abs(x) <= _EXACT_FLOAT).all()
    )


def _integer_dot(a: FloatArray, b: FloatArray) -> int:
    """The exact dot product of two integer-valued vectors."""
    left, right = a.astype(np.int64), b.astype(np.int64)
    if float(np.abs(a) @ np.abs(b)) <= _INT64_SAFE:
        return int(left @ right)
    return sum(int(p) * int(q) for p, q in zip(left, right, strict=True))


def _vector(
    name: str, given: ArrayLike | None, size: int | None, default: float | None
) -> FloatArray:
    if given is None:
        if default is None or size is None:
            raise ProblemError(f"{name}: missing")
        return np.full(size, default)
    try:
        vector = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"{name}: not an array of numbers") from error
    if vector.ndim != 1 or (size is not None and len(vector) != size):
        expected = "one dimension" if size is None else f"shape ({size},)"
        raise ProblemError(f"{name}: {expected} expected, shape {vector.shape} given")
    vector.setflags(write=False)
    return vector


def _matrix(given: ArrayLike | sp.sparray | sp.spmatrix | None, n: int) -> sp.csr_array:
    if given is None:
        return sp.csr_array((0, n), dtype=np.float64)
    try:
        matrix = sp.csr_array(sp.coo_array(given, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ProblemError("matrix: not a two-dimensional array of numbers") from error
    if matrix.shape[-1:] != (n,) or matrix.ndim != 2:
        raise ProblemError(f"matrix: {n} columns expected, shape {matrix.shape} given")
    matrix.sum_duplicates()
    return matrix


def _mask(given: ArrayLike | None, n: int) -> NDArray[np.bool_]:
    if given is None:
        return np.ones(n, dtype=bool)
    mask = np.asarray(given)
    if mask.shape != (n,) or mask.dtype != bool:
        raise ProblemError(f"integer: a boolean array of shape ({n},) expected")
    return mask.copy()


def _names(given: Sequence[str] | None, n: int) -> tuple[str, ...]:
    if given is None:
        return tuple(f"x{i}" for i in range(n))
    names = tuple(str(name) for name in given)
    if len(names) != n:
        raise ProblemError(f"names: {n} expected, {len(names)} given")
    if len(set(names)) != n:
        repeated = next(name for name in names if names.count(name) > 1)
        raise ProblemError(f"names: {repeated!r} is used twice; names must be distinct")
    return names
