"""Bounded polytopes through HiGHS: linear programs for corners, quadratic ones for projections."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from oracles._highs_run import load_highspy
from oracles.arrays import FloatArray, floats, matrix, vector
from oracles.errors import InfeasibleError, ProblemError, SolverError, UnboundedError
from oracles.monotone.sets import ConvexSet

PROJECTION_ERROR = 1e-6
"""What HiGHS's quadratic solver is trusted with, relative to ``1 + magnitude``. Its feasibility
and optimality tolerances are 1e-7 by default."""


@dataclass(frozen=True, eq=False)
class Polytope(ConvexSet):
    """All x with ``rows @ x <= upper``, bounded and not empty.

    Boundedness is decided at construction, by two linear programs per coordinate; they also give
    the bounding box, whose diagonal stands for the diameter.

    Args:
        rows: Shape ``(n_rows, dimension)``.
        upper: Shape ``(n_rows,)``.

    Raises:
        ProblemError: Shapes or entries are not what is expected.
        InfeasibleError: No point satisfies the rows.
        UnboundedError: Some coordinate is without a bound: add rows.
        SolverError: HiGHS failed.
    """

    rows: FloatArray
    upper: FloatArray
    _box: tuple[FloatArray, FloatArray] = field(init=False, repr=False)
    _centre: FloatArray = field(init=False, repr=False)

    def __init__(self, rows: ArrayLike, upper: ArrayLike) -> None:
        dense = np.atleast_2d(floats("rows", rows))
        checked = matrix(dense, dense.shape[-1]).toarray()
        limits = vector("upper", upper, len(checked), None)
        if not (np.isfinite(checked).all() and np.isfinite(limits).all()):
            raise ProblemError("rows, upper: finite numbers expected")
        object.__setattr__(self, "rows", checked)
        object.__setattr__(self, "upper", limits)
        corners = [
            [self._solve(sign * unit) for sign in (1.0, -1.0)] for unit in np.eye(self.dimension)
        ]
        low = np.array([pair[0][j] for j, pair in enumerate(corners)])
        high = np.array([pair[1][j] for j, pair in enumerate(corners)])
        object.__setattr__(self, "_box", (low, high))
        # An average of corners lies inside, whatever the shape.
        object.__setattr__(self, "_centre", np.mean([c for pair in corners for c in pair], axis=0))

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return int(self.rows.shape[1])

    @property
    def diameter(self) -> float:
        """The diagonal of the bounding box and HiGHS's tolerance: an upper bound."""
        low, high = self._box
        return float(np.linalg.norm(high - low)) * (1 + PROJECTION_ERROR)

    @property
    def centre(self) -> FloatArray:
        """An average of corners."""
        return self._centre

    @property
    def projection_error(self) -> float:
        """HiGHS's tolerance: methods that need exact projections refuse this set."""
        return PROJECTION_ERROR * (1 + self.magnitude)

    def project(self, point: FloatArray) -> FloatArray:
        """The nearest point by a quadratic program; see :meth:`ConvexSet.project`."""
        if (self.rows @ point <= self.upper).all():
            return point
        # Around the point itself, so that large coordinates cost no digits.
        return point + self._solve(None, shift=point)

    def minimize_linear(self, costs: FloatArray) -> FloatArray:
        """A corner by a linear program; see :meth:`ConvexSet.minimize_linear`."""
        scale = float(np.abs(costs).max())
        return self.centre if scale == 0 else self._solve(costs / scale)

    def _solve(self, costs: FloatArray | None, shift: FloatArray | None = None) -> FloatArray:
        """Minimise linear costs, or the squared norm for None, over the shifted rows."""
        module = load_highspy()
        highs = module._Highs()
        highs.setOptionValue("output_flag", False)
        n, n_rows = self.dimension, len(self.upper)
        upper = self.upper if shift is None else self.upper - self.rows @ shift
        columns = np.tile(np.arange(n, dtype=np.int32), n_rows)
        highs.passModel(
            n, n_rows, n * n_rows, int(module.MatrixFormat.kRowwise),
            int(module.ObjSense.kMinimize), 0.0,
            np.zeros(n) if costs is None else costs,
            np.full(n, -math.inf), np.full(n, math.inf),
            np.full(n_rows, -math.inf), upper,
            (np.arange(n_rows + 1) * n).astype(np.int32), columns, self.rows.ravel(),
            np.zeros(n, dtype=np.int32),
        )  # fmt: skip
        if costs is None:
            starts = np.arange(n + 1, dtype=np.int32)
            triangular = int(module.HessianFormat.kTriangular)
            highs.passHessian(n, n, triangular, starts, np.arange(n, dtype=np.int32), np.ones(n))
        highs.run()
        return _point(highs, module)


def _point(highs: Any, module: Any) -> FloatArray:
    """The optimum, or the error that says why there is none."""
    status = highs.getModelStatus()
    if status == module.HighsModelStatus.kOptimal:
        return np.asarray(highs.getSolution().col_value, dtype=np.float64)
    if status == module.HighsModelStatus.kInfeasible:
        raise InfeasibleError("rows, upper: no point satisfies them; check the signs of the rows")
    if status in (
        module.HighsModelStatus.kUnbounded,
        module.HighsModelStatus.kUnboundedOrInfeasible,
    ):
        raise UnboundedError("rows: the polytope is unbounded; add rows that bound each coordinate")
    raise SolverError(f"HiGHS: status {status.name} on a set's linear or quadratic program")
