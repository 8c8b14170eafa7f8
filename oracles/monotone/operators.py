"""Operators on convex sets: what they promise, sums over records, and a record's clipping.

An operator F on a compact convex set W is **monotone** if ``<F(w) - F(v), w - v> >= 0`` for all w
and v in W, **L-Lipschitz** if ``|F(w) - F(v)| <= L |w - v|``, and **bounded** by M if
``|F(w)| <= M`` on W. A :class:`RecordOperator` is a mean over records, each of which is an operator
with those three properties: they are promised of *every possible* record, not of those at hand.

A saddle point of f(x, y), convex in x and concave in y, is a solution of the variational inequality
with F = (grad_x f, -grad_y f): :func:`saddle_operator`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oracles.arrays import FloatArray, scalar
from oracles.errors import ProblemError
from oracles.monotone.sets import ConvexSet

Records = NDArray[np.int64] | slice
"""Which records: positions, or a slice of them."""

ALL = slice(None)


@dataclass(frozen=True, eq=False)
class Operator:
    """An operator with its promises.

    Args:
        function: From a point, shape ``(dimension,)``, to a vector of the same shape.
        domain: W.
        lipschitz: L, positive.
        bound: M, positive.
        strong_monotonicity: mu >= 0 with ``<F(w) - F(v), w - v> >= mu |w - v|^2``.

    Raises:
        ProblemError: A constant is out of range.
    """

    function: Callable[[FloatArray], FloatArray]
    domain: ConvexSet
    lipschitz: float
    bound: float
    strong_monotonicity: float = 0.0

    def __post_init__(self) -> None:
        _check_constant("lipschitz", self.lipschitz)
        _check_constant("bound", self.bound)
        mu = scalar("strong_monotonicity", self.strong_monotonicity)
        if not 0 <= mu <= self.lipschitz:
            raise ProblemError(
                f"strong_monotonicity: between 0 and lipschitz={self.lipschitz} expected, not {mu}"
            )

    def __call__(self, point: FloatArray) -> FloatArray:
        """F at a point."""
        return self.function(point)

    def regularized(self, weight: float, anchor: FloatArray) -> Operator:
        """F + weight (w - anchor): strongly monotone with ``mu + weight``.

        Args:
            weight: Positive.
            anchor: Shape ``(dimension,)``, inside the set or not.
        """
        function = self.function
        reach = self.domain.diameter + self.domain.distance(anchor)
        return Operator(
            lambda point: function(point) + weight * (point - anchor),
            self.domain,
            self.lipschitz + weight,
            self.bound + weight * reach,
            self.strong_monotonicity + weight,
        )


def saddle_operator(
    gradient_x: Callable[[FloatArray, FloatArray], FloatArray],
    gradient_y: Callable[[FloatArray, FloatArray], FloatArray],
    n_x: int,
) -> Callable[[FloatArray], FloatArray]:
    """The operator of min over x, max over y of a convex-concave function, from its gradients.

    Args:
        gradient_x: Of (x, y), shape ``(n_x,)``.
        gradient_y: Of (x, y), shape ``(dimension - n_x,)``.
        n_x: How many of a point's coordinates are x; they come first.

    Returns:
        (grad_x f, -grad_y f) as a function of (x, y) side by side.
    """

    def operator(point: FloatArray) -> FloatArray:
        x, y = point[:n_x], point[n_x:]
        return np.concatenate([gradient_x(x, y), -gradient_y(x, y)])

    return operator


class RecordOperator(ABC):
    """The mean of one operator per record, evaluated in batches.

    Subclasses set the attributes and implement :meth:`per_record`; where the records' sum is
    cheaper than its terms they override :meth:`total` too.

    Attributes:
        domain: W, public.
        n_records: How many records there are.
        lipschitz: L, of every possible record's operator.
        bound: M, of every possible record's operator on W.
        monotone: Whether every possible record's operator is monotone on W.
        enforced: Whether the class itself sees to the three: by validation or by clipping features,
            before an operator is formed. False where a caller asserts them.
    """

    domain: ConvexSet
    n_records: int
    lipschitz: float
    bound: float
    monotone: bool = True
    enforced: bool = False

    @abstractmethod
    def per_record(self, point: FloatArray, records: Records = ALL) -> FloatArray:
        """Every record's operator at a point, shape ``(number of records, dimension)``."""

    def total(self, point: FloatArray, records: Records = ALL) -> FloatArray:
        """Sum over records at a point, shape ``(dimension,)``; zeros for no record."""
        return np.asarray(self.per_record(point, records).sum(axis=0))

    def summed(self, records: Records) -> Callable[[FloatArray], FloatArray]:
        """The sum over some records as a function of the point, for many points in a row.

        Subclasses whose records can be added up beforehand override it.
        """
        return lambda point: self.total(point, records)

    def scale(self, point: FloatArray) -> float | FloatArray:
        """Bounds s > 0, one or per coordinate, with ``|F_record(point) / s| <= 1`` for all.

        They may depend on the point and on nothing else. By default M.
        """
        return self.bound

    @property
    def scale_norm(self) -> float:
        """An upper bound, over W, on the Euclidean norm of the scales of all coordinates."""
        return self.bound * math.sqrt(self.domain.dimension)

    def mean(self) -> Operator:
        """The mean over all records as an operator."""
        n = self.n_records
        return Operator(lambda w: self.total(w) / n, self.domain, self.lipschitz, self.bound)


class RecordFunction(RecordOperator):
    """A caller's own operator per record, with promises that only the caller can vouch for.

    Args:
        function: From a point and records (positions or a slice) to their operators' values, shape
            ``(number of records, dimension)``.
        domain: W.
        n_records: Positive.
        lipschitz: L of every possible record.
        bound: M of every possible record on W.
        monotone: Whether every possible record's operator is monotone.

    Raises:
        ProblemError: A constant is out of range.
    """

    def __init__(
        self,
        function: Callable[[FloatArray, Records], FloatArray],
        domain: ConvexSet,
        *,
        n_records: int,
        lipschitz: float,
        bound: float,
        monotone: bool = True,
    ) -> None:
        _check_constant("lipschitz", lipschitz)
        _check_constant("bound", bound)
        if isinstance(n_records, bool) or not isinstance(n_records, int) or n_records < 1:
            raise ProblemError(f"n_records: a positive integer expected, not {n_records!r}")
        self.function, self.domain, self.n_records = function, domain, n_records
        self.lipschitz, self.bound, self.monotone = float(lipschitz), float(bound), monotone

    def per_record(self, point: FloatArray, records: Records = ALL) -> FloatArray:
        """The caller's function, one row for each of the records and no other.

        Raises:
            ProblemError: It has another shape: a function that takes no notice of ``records``
                would add up records that are not in the batch.
        """
        values = np.asarray(self.function(point, records))
        count = len(range(self.n_records)[records] if isinstance(records, slice) else records)
        if values.shape != (count, self.domain.dimension):
            raise ProblemError(
                f"function: shape ({count}, {self.domain.dimension}), one row for each of the "
                f"records asked for, expected, not {values.shape}; take only those records' rows"
            )
        return values


class Clipped(RecordOperator):
    """Every record's value scaled down to norm M where it is longer, and 0 where it is not finite.

    The bound then holds whatever the records are, and the Lipschitz constant stays, but a clipped
    monotone operator is in general **not monotone**: ``monotone`` is False.

    Args:
        operator: What to clip.
        bound: M, positive; default: the operator's own.
    """

    monotone = False

    def __init__(self, operator: RecordOperator, bound: float | None = None) -> None:
        self.operator = operator
        self.bound = operator.bound if bound is None else float(bound)
        _check_constant("bound", self.bound)
        self.domain, self.n_records = operator.domain, operator.n_records
        self.lipschitz = operator.lipschitz

    def per_record(self, point: FloatArray, records: Records = ALL) -> FloatArray:
        """The records' values, clipped."""
        values = self.operator.per_record(point, records)
        values = np.where(np.isfinite(values).all(axis=1, keepdims=True), values, 0.0)
        # Squares of huge entries overflow: the norm by way of the largest entry.
        largest = np.abs(values).max(axis=1, initial=0.0, keepdims=True)
        unit = values / np.where(largest > 0, largest, 1.0)
        norms = largest * np.linalg.norm(unit, axis=1, keepdims=True)
        with np.errstate(divide="ignore", over="ignore"):
            factors = np.minimum(1.0, self.bound / norms)
        return np.asarray(np.where(np.isfinite(norms), values * factors, 0.0))


def _check_constant(name: str, given: float) -> None:
    number = scalar(name, given)
    if not 0 < number < math.inf:
        raise ProblemError(f"{name}: a positive finite number expected, not {number}")
