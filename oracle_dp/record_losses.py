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
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from numpy.typing import ArrayLike

from oracle_dp.errors import DomainError, ParameterError
from oracle_dp.points import within_range
from oracle_dp.privacy import Neighbors
from oracles.arrays import FloatArray
from oracles.convex import (
    Hinge,
    HuberHinge,
    Logistic,
    MarginLoss,
    MeanLoss,
    Ramp,
    Rows,
    RowSet,
    StreamedRows,
)
from oracles.convex.objective import Curvature
from oracles.convex.row_set import Parts
from oracles.errors import ProblemError

PieceT = TypeVar("PieceT")

_NORM_BOUNDS = (1e-100, 1e100)
"""Beyond these, squares of entries under- or overflow, and clipping would miss rows."""

_LARGEST_SIZE = 2**53

_PROVED_LOSSES = (Logistic, HuberHinge, Hinge, Ramp)


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
        clipped: How many rows were above the bound; None where that was not counted. Private: for
            diagnostics only.
    """

    problem: MeanLoss = field(repr=False)
    size: int
    size_is_public: bool
    clipped: int | None = field(repr=False)

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
            norm_bound: Public, from 1e-100 to 1e100.
            size: The public divisor, up to 2^53; needed for ``"add_remove"``. Default: the number
                of rows.
            loss: Default :class:`oracles.convex.Logistic`. Constants of a loss that is not of
                :mod:`oracles.convex` are taken at their word, which the guarantee names.

        Raises:
            DomainError: The data are not of this form. No value is shown.
            ParameterError: A parameter is out of range.
        """
        bound = _norm_bound(norm_bound)
        try:
            rows = Rows(features, labels)
        except ProblemError as error:
            raise DomainError(str(error)) from None
        clipped = int((rows.norms() > bound).sum())
        return cls._over(_within(rows, bound).merged(), rows.n_rows, size, loss, clipped)

    @classmethod
    def from_parts(
        cls,
        parts: Parts[PieceT],
        read: Callable[[PieceT], Rows],
        dimension: int,
        *,
        norm_bound: float = 1.0,
        size: int | None = None,
        loss: MarginLoss | None = None,
    ) -> LinearModelLoss:
        """The same over rows that are streamed: every reading clips every row, where it is read.

        All parts are read once here, so that what is wrong with the data is found before any
        charge.

        Args:
            parts: The data, such as :class:`oracle_dp.sources.ParquetSource`.
            read: From a piece of a part to signed rows of weight 1; public, and may be pickled.
            dimension: Of the rows.
            norm_bound: As for :meth:`from_data`.
            size: As for :meth:`from_data`.
            loss: As for :meth:`from_data`.

        Raises:
            DomainError: The data are not of this form. No value is shown.
            ParameterError: A parameter is out of range.
        """
        try:
            rows = StreamedRows(parts, _Held(read, _norm_bound(norm_bound)), dimension)
        except ProblemError as error:
            raise DomainError(str(error)) from None
        return cls._over(rows, rows.n_rows, size, loss, None)

    @classmethod
    def _over(
        cls,
        held: RowSet,
        counted: int,
        size: int | None,
        loss: MarginLoss | None,
        clipped: int | None,
    ) -> LinearModelLoss:
        """Of rows within the bound."""
        divisor = counted if size is None else size
        if isinstance(divisor, bool) or not isinstance(divisor, int) or divisor < 1:
            raise ParameterError("size: a positive integer expected; with no rows it must be given")
        if divisor > _LARGEST_SIZE:
            raise ParameterError(f"size: at most 2^53 expected, not {divisor}")
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
        return self.problem.gradient(within_range(w))

    def second_order(self, w: FloatArray, curvature: Curvature) -> tuple[FloatArray, FloatArray]:
        """See :class:`RecordLosses`."""
        return self.problem.second_order(within_range(w), curvature)


@dataclass(frozen=True)
class _Held(Generic[PieceT]):
    """A reading whose rows are within the bound, and divided by it."""

    read: Callable[[PieceT], Rows]
    bound: float

    def __call__(self, piece: PieceT) -> Rows:
        return _within(self.read(piece), self.bound)


def _within(rows: Rows, bound: float) -> Rows:
    return rows.scaled_to(bound).divided(bound)


def _norm_bound(given: float) -> float:
    least, most = _NORM_BOUNDS
    if not (isinstance(given, int | float) and least <= given <= most):
        raise ParameterError(
            f"norm_bound: a number from {least:g} to {most:g} expected, not {given!r}; "
            "beyond, rows cannot be clipped reliably"
        )
    return float(given)


def has_proved_constants(losses: RecordLosses) -> bool:
    """Whether the bounds on one record are proved here, and not its caller's."""
    return isinstance(losses, LinearModelLoss) and type(losses.problem.loss) in _PROVED_LOSSES


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
