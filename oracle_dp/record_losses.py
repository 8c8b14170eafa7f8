"""Records and their loss, with the public constants that sensitivities are made of.

Every record's contribution to the gradient has norm at most ``lipschitz``, and to the curvature
matrix is positive semi-definite with eigenvalues at most ``smoothness`` and trace at most
``curvature_trace``. :class:`LinearModelLoss` enforces these for a margin loss by clipping each row,
label and intercept included, to norm 1. The divisor ``size`` is public: the number of rows under
``"replace"`` and ``"zero_out"``; under ``"add_remove"``, where that number is private, a constant
from the caller that stands for it everywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from oracle_dp.errors import DomainError, ParameterError
from oracle_dp.privacy import Neighbors
from oracles.arrays import FloatArray
from oracles.convex import Logistic, MarginLoss, MeanLoss, Rows
from oracles.convex.objective import Curvature
from oracles.errors import ProblemError


@runtime_checkable
class RecordLosses(Protocol):
    """The mean of the losses of private records, as second-order mechanisms see it.

    The constants must hold for *every* possible record and every w: a guarantee rests on them.
    """

    @property
    def dimension(self) -> int:
        """Number of parameters d."""
        ...

    @property
    def size(self) -> int:
        """The public divisor n."""
        ...

    @property
    def size_is_public(self) -> bool:
        """Whether ``size`` was given, and not counted from the rows."""
        ...

    @property
    def lipschitz(self) -> float:
        """Bound on the norm of one record's gradient."""
        ...

    @property
    def smoothness(self) -> float:
        """Bound on the eigenvalues of one record's curvature."""
        ...

    @property
    def curvature_trace(self) -> float:
        """Bound on the trace of one record's curvature, and so on its Frobenius norm."""
        ...

    def gradient(self, w: FloatArray) -> FloatArray:
        """Sum of the records' gradients over ``size``, shape ``(d,)``."""
        ...

    def second_order(self, w: FloatArray, curvature: Curvature) -> tuple[FloatArray, FloatArray]:
        """The gradient, and the sum of the records' curvatures over ``size``, symmetric."""
        ...


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearModelLoss:
    """Records of a linear model: ``sum_i phi(y_i <w, x_i>) / size`` with ``|x_i| <= 1`` enforced.

    Attributes:
        problem: The loss over the clipped rows.
        size: The public divisor.
        size_is_public: Whether it was given.
        clipped: How many rows were above the bound. Private: for diagnostics only.
    """

    problem: MeanLoss = field(repr=False)
    size: int
    size_is_public: bool
    clipped: int = field(repr=False)

    @classmethod
    def from_data(
        cls,
        features: Any,
        labels: ArrayLike,
        *,
        norm_bound: float = 1.0,
        size: int | None = None,
        loss: MarginLoss | None = None,
    ) -> LinearModelLoss:
        """Clip the rows to ``norm_bound`` and divide by it: w is for rows of norm at most 1.

        Args:
            features: Shape ``(n, d)``, dense or ``scipy.sparse``, finite, n at least 1 unless
                ``size`` is given.
            labels: -1 or 1 for each row.
            norm_bound: Public, positive.
            size: The public divisor; needed for ``"add_remove"``. Default: the number of rows.
            loss: Default :class:`oracles.convex.Logistic`.

        Raises:
            DomainError: The data are not of this form. No value is shown.
            ParameterError: A parameter is out of range.
        """
        if not (isinstance(norm_bound, int | float) and 0 < norm_bound < math.inf):
            raise ParameterError(f"norm_bound: a positive number expected, not {norm_bound!r}")
        try:
            rows = Rows(features, labels)
        except ProblemError as error:
            raise DomainError(str(error)) from None
        divisor = rows.n_rows if size is None else size
        if isinstance(divisor, bool) or not isinstance(divisor, int) or divisor < 1:
            raise ParameterError("size: a positive integer expected; with no rows it must be given")
        clipped = int((rows.norms() > norm_bound).sum())
        held = rows.scaled_to(float(norm_bound)).divided(float(norm_bound)).merged()
        return cls(
            problem=MeanLoss(rows=held, loss=loss or Logistic(), divisor=float(divisor)),
            size=divisor,
            size_is_public=size is not None,
            clipped=clipped,
        )

    @property
    def dimension(self) -> int:
        """See :class:`RecordLosses`."""
        return self.problem.dimension

    @property
    def lipschitz(self) -> float:
        """See :class:`RecordLosses`."""
        return self.problem.loss.lipschitz

    @property
    def smoothness(self) -> float:
        """See :class:`RecordLosses`."""
        return self.problem.loss.smoothness

    @property
    def curvature_trace(self) -> float:
        """See :class:`RecordLosses`; one eigenvalue is not 0."""
        return self.problem.loss.smoothness

    def value(self, w: FloatArray) -> float:
        """The mean loss, for diagnostics: private."""
        return self.problem.value(w)

    def gradient(self, w: FloatArray) -> FloatArray:
        """See :class:`RecordLosses`."""
        return self.problem.gradient(w)

    def second_order(self, w: FloatArray, curvature: Curvature) -> tuple[FloatArray, FloatArray]:
        """See :class:`RecordLosses`."""
        return self.problem.second_order(w, curvature)


def require_bounded(losses: RecordLosses, neighbors: Neighbors, *, curvature: bool = False) -> None:
    """Refuse losses whose sensitivity is infinite, or a private divisor.

    Raises:
        ParameterError: As said.
    """
    if not isinstance(losses, RecordLosses):
        raise ParameterError(f"losses: record losses expected, not a {type(losses).__name__}")
    if not (0 < losses.lipschitz < math.inf):
        raise ParameterError(
            "loss: without a finite Lipschitz constant one record may change the gradient without "
            "limit; use the logistic or the Huber hinge loss"
        )
    if curvature and not (0 < losses.curvature_trace < math.inf):
        raise ParameterError("loss: the curvature of one record must be bounded")
    if neighbors is Neighbors.ADD_REMOVE and not losses.size_is_public:
        raise ParameterError(
            "size: under 'add_remove' the number of rows is private; give a public constant for "
            "it, or choose neighbors='replace'"
        )


def start_point(start: ArrayLike | None, dimension: int) -> FloatArray:
    """Where a run begins: a public point, by default 0.

    Raises:
        ParameterError: It is no finite vector of this dimension.
    """
    if start is None:
        return np.zeros(dimension)
    point = np.array(start, dtype=np.float64)
    if point.shape != (dimension,) or not np.isfinite(point).all():
        raise ParameterError(f"start: a finite vector of shape ({dimension},) expected")
    return point
