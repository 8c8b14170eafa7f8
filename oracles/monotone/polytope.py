"""Bounded polytopes: corners by linear programs, projections by non-negative least squares."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls

from oracles._highs_run import load_highspy
from oracles.arrays import FloatArray, floats, matrix, vector
from oracles.errors import InfeasibleError, ProblemError, SolverError, UnboundedError
from oracles.monotone.sets import ConvexSet

PROJECTION_ERROR = 1e-6
"""What projections are trusted with, relative to the set's size and its distance from 0. HiGHS's
tolerances, of which the bounding box is made, are 1e-7 by default, in units of the set's size."""


@dataclass(frozen=True, eq=False)
class Polytope(ConvexSet):
    """All x with ``rows @ x <= upper``, bounded and not empty.

    Boundedness is decided at construction, by two linear programs per coordinate; they also give
    the bounding box, whose diagonal stands for the diameter. HiGHS is given rows of norm 1 and the
    set in units of its size, because its tolerances are absolute.

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
    _unit: float = field(init=False, repr=False)
    _box: tuple[FloatArray, FloatArray] = field(init=False, repr=False)
    _centre: FloatArray = field(init=False, repr=False)

    def __init__(self, rows: ArrayLike, upper: ArrayLike) -> None:
        dense = np.atleast_2d(floats("rows", rows))
        checked = matrix(dense, dense.shape[-1]).toarray()
        limits = vector("upper", upper, len(checked), None)
        if not (np.isfinite(checked).all() and np.isfinite(limits).all()):
            raise ProblemError("rows, upper: finite numbers expected")
        norms = np.linalg.norm(checked, axis=1)
        lengths = np.where(norms > 0, norms, 1.0)
        object.__setattr__(self, "rows", checked / lengths[:, None])
        object.__setattr__(self, "upper", limits / lengths)
        object.__setattr__(self, "_unit", _unit(float(np.abs(self.upper).max())))
        corners = [
            [self._corner(sign * unit) for sign in (1.0, -1.0)] for unit in np.eye(self.dimension)
        ]
        low = np.array([pair[0][j] for j, pair in enumerate(corners)])
        high = np.array([pair[1][j] for j, pair in enumerate(corners)])
        object.__setattr__(self, "_box", (low, high))
        object.__setattr__(self, "_unit", _unit(float(np.linalg.norm(high - low))))
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
        return PROJECTION_ERROR * (self._unit + self.magnitude)

    def project(self, point: FloatArray) -> FloatArray:
        """The nearest point; see :meth:`ConvexSet.project`.

        The shortest z with ``rows @ (point + z) <= upper`` is a residual of a problem of
        non-negative least squares (Lawson, Hanson, "Solving Least Squares Problems", 1974, section
        23.4), which ends after finitely many exact steps.

        Raises:
            SolverError: Rounding left no solution.
        """
        # From far away the first step leaves the rounding of the distance, the second one does not.
        return self._nearer(self._nearer(point))

    def _nearer(self, point: FloatArray) -> FloatArray:
        excess = self.rows @ point - self.upper
        unit = float(np.abs(excess).max())
        if (excess <= 0).all():
            return point
        system = np.vstack([-self.rows.T, excess / unit])
        target = np.zeros(self.dimension + 1)
        target[-1] = 1.0
        factors, _ = nnls(system, target)
        residual = system @ factors - target
        if not residual[-1] < 0:
            raise SolverError(
                "rows: rounding left no projection; shorten the steps, or simplify the rows"
            )
        return np.asarray(point - unit * residual[:-1] / residual[-1])

    def minimize_linear(self, costs: FloatArray) -> FloatArray:
        """A corner by a linear program; see :meth:`ConvexSet.minimize_linear`."""
        scale = float(np.abs(costs).max())
        return self.centre if scale == 0 else self._corner(costs / scale)

    def _corner(self, costs: FloatArray) -> FloatArray:
        """Where linear costs are least, solved for in units of the set's size."""
        module = load_highspy()
        highs = module._Highs()
        highs.setOptionValue("output_flag", False)
        n, n_rows = self.dimension, len(self.upper)
        columns = np.tile(np.arange(n, dtype=np.int32), n_rows)
        highs.passModel(
            n, n_rows, n * n_rows, int(module.MatrixFormat.kRowwise),
            int(module.ObjSense.kMinimize), 0.0, costs,
            np.full(n, -math.inf), np.full(n, math.inf),
            np.full(n_rows, -math.inf), self.upper / self._unit,
            (np.arange(n_rows + 1) * n).astype(np.int32), columns, self.rows.ravel(),
            np.zeros(n, dtype=np.int32),
        )  # fmt: skip
        highs.run()
        return _point(highs, module) * self._unit


def _unit(size: float) -> float:
    """In what units a set of some size is solved for: large ones suit HiGHS as they are."""
    return min(size, 1.0) if size > 0 else 1.0


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
    raise SolverError(f"HiGHS: status {status.name} on a set's linear program")
