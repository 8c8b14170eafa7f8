"""Games between two players whose payoffs are averages over records.

Records are clipped or checked before any operator is formed, so that the promises of
:class:`~oracles.monotone.operators.RecordOperator` hold for every record that there could be.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from oracles.arrays import FloatArray, floats, scalar
from oracles.errors import ProblemError
from oracles.monotone.gap import bilinear_gap
from oracles.monotone.operators import ALL, RecordOperator, Records
from oracles.monotone.product import Product
from oracles.monotone.sets import ConvexSet
from oracles.monotone.simplex import Simplex


class BilinearGame(RecordOperator):
    """min over x, max over y of the mean of ``x' A_i y + b_i' x - c_i' y``.

    Every A_i is scaled down to a Frobenius norm of at most ``coupling_norm``, and every (b_i, c_i)
    to a Euclidean norm of at most ``linear_norm``: what is left is bilinear, hence monotone.

    Args:
        couplings: All A_i, shape ``(n_records, n_x, n_y)``.
        linear: All (b_i, c_i) side by side, shape ``(n_records, n_x + n_y)``; None for zeros.
        domain_x: Where x lives, of dimension ``n_x``.
        domain_y: Where y lives, of dimension ``n_y``.
        coupling_norm: Public, positive.
        linear_norm: Public, positive; ignored without ``linear``.

    Raises:
        ProblemError: A shape or a constant is wrong, or an entry is not finite.
    """

    enforced = True

    def __init__(
        self,
        couplings: ArrayLike,
        linear: ArrayLike | None,
        domain_x: ConvexSet,
        domain_y: ConvexSet,
        *,
        coupling_norm: float,
        linear_norm: float = 1.0,
    ) -> None:
        matrices = finite("couplings", couplings, 3)
        n, n_x, n_y = matrices.shape
        if (n_x, n_y) != (domain_x.dimension, domain_y.dimension) or n == 0:
            raise ProblemError(
                "couplings: shape (n_records, dimension of x, dimension of y) needed"
            )
        vectors = np.zeros((n, n_x + n_y)) if linear is None else finite("linear", linear, 2)
        if vectors.shape != (n, n_x + n_y):
            raise ProblemError("linear: shape (n_records, n_x + n_y) expected")
        limit = positive("coupling_norm", coupling_norm)
        self.couplings = clip_rows(matrices.reshape(n, -1), limit).reshape(matrices.shape)
        self.linear = clip_rows(vectors, positive("linear_norm", linear_norm))
        self.domain_x, self.domain_y = domain_x, domain_y
        self.domain = Product(domain_x, domain_y)
        self.n_records = n
        self.lipschitz = limit
        self.bound = limit * self.domain.magnitude + (0.0 if linear is None else linear_norm)

    def per_record(self, point: FloatArray, records: Records = ALL) -> FloatArray:
        """Every record's (A_i y + b_i, c_i - A_i' x)."""
        x, y = self._split(point)
        chosen = self.couplings[records]
        return np.hstack([chosen @ y, -np.einsum("i,kij->kj", x, chosen)]) + self.linear[records]

    def total(self, point: FloatArray, records: Records = ALL) -> FloatArray:
        """The sum, from summed payoffs."""
        return self.summed(records)(point)

    def summed(self, records: Records) -> Callable[[FloatArray], FloatArray]:
        """The sum of games is a game."""
        payoff = self.couplings[records].sum(axis=0)
        linear = self.linear[records].sum(axis=0)
        n_x = len(payoff)

        def total(point: FloatArray) -> FloatArray:
            both = np.concatenate([payoff @ point[n_x:], -(point[:n_x] @ payoff)])
            both += linear
            return both

        return total

    def saddle_gap(self, point: FloatArray) -> float:
        """The exact gap of the mean game at a point."""
        x, y = self._split(point)
        b, c = np.split(self.linear.mean(axis=0), [len(x)])
        return bilinear_gap(
            self.couplings.mean(axis=0), x, y, self.domain_x, self.domain_y, linear_x=b, linear_y=c
        )

    def _split(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        return point[: self.domain_x.dimension], point[self.domain_x.dimension :]


class MatrixGame(BilinearGame):
    """A matrix game on two simplices: the row player pays the mean of ``x' A_i y``.

    Args:
        payoffs: All A_i, shape ``(n_records, n_rows, n_columns)``, entries within
            ``[-payoff_bound, payoff_bound]``.
        payoff_bound: Public, positive.

    Raises:
        ProblemError: A shape is wrong, or an entry lies outside.
    """

    def __init__(self, payoffs: ArrayLike, *, payoff_bound: float = 1.0) -> None:
        limit = positive("payoff_bound", payoff_bound)
        matrices = finite("payoffs", payoffs, 3)
        if (np.abs(matrices) > limit).any():
            raise ProblemError(
                f"payoffs: an entry exceeds payoff_bound={limit:g}; clip the payoffs, or state a "
                "larger public bound"
            )
        _, n_x, n_y = matrices.shape
        super().__init__(
            matrices, None, Simplex(n_x), Simplex(n_y), coupling_norm=limit * math.sqrt(n_x * n_y)
        )
        # |A y| <= max |A_ij| sqrt(n_x) for y on the simplex, and likewise A' x.
        self.bound = limit * math.sqrt(n_x + n_y)


class QuadraticGame(RecordOperator):
    """Linear-quadratic games with a known solution.

    min over x, max over y of the mean of ``mu/2 |x|^2 - mu/2 |y|^2 + x' C y - b_i' x + c_i' y``,
    with public C and mu; records are (b_i, c_i), scaled down to a norm of at most ``linear_norm``.

    Args:
        linear: All (b_i, c_i) side by side, shape ``(n_records, n_x + n_y)``.
        coupling: C, shape ``(n_x, n_y)``, public.
        curvature: mu, positive, public.
        domain: Of dimension ``n_x + n_y``.
        linear_norm: Public, positive.

    Raises:
        ProblemError: A shape or a constant is wrong, or an entry is not finite.
    """

    enforced = True

    def __init__(
        self,
        linear: ArrayLike,
        coupling: ArrayLike,
        curvature: float,
        domain: ConvexSet,
        *,
        linear_norm: float = 1.0,
    ) -> None:
        matrix = finite("coupling", coupling, 2)
        n_x, n_y = matrix.shape
        vectors = finite("linear", linear, 2)
        if vectors.shape[1] != n_x + n_y or domain.dimension != n_x + n_y or not len(vectors):
            raise ProblemError("linear, domain: n_x + n_y coordinates expected, and a record")
        mu = positive("curvature", curvature)
        limit = positive("linear_norm", linear_norm)
        self.linear = clip_rows(vectors, limit)
        self.matrix = mu * np.eye(n_x + n_y)
        self.matrix[:n_x, n_x:] += matrix
        self.matrix[n_x:, :n_x] -= matrix.T
        self.domain, self.n_records, self.strong_monotonicity = domain, len(vectors), mu
        self.lipschitz = math.hypot(mu, float(np.linalg.norm(matrix, 2)))
        self.bound = self.lipschitz * domain.magnitude + limit

    def per_record(self, point: FloatArray, records: Records = ALL) -> FloatArray:
        """Every record's (mu x + C y - b_i, mu y - C' x - c_i)."""
        return self.matrix @ point - self.linear[records]

    def total(self, point: FloatArray, records: Records = ALL) -> FloatArray:
        """The sum, from summed vectors."""
        return self.summed(records)(point)

    def summed(self, records: Records) -> Callable[[FloatArray], FloatArray]:
        """The sum of games is a game."""
        chosen = self.linear[records]
        matrix, linear = len(chosen) * self.matrix, chosen.sum(axis=0)
        return lambda point: np.asarray(matrix @ point - linear)

    def unconstrained_solution(self) -> FloatArray:
        """The solution of the mean game without constraints, the solution where it lies inside."""
        return np.linalg.solve(self.matrix, self.linear.mean(axis=0))


def clip_rows(rows: FloatArray, limit: float) -> FloatArray:
    """Rows scaled down to a norm of at most ``limit``, rounding included."""
    largest = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    unit = rows / np.where(largest > 0, largest, 1.0)
    norms = largest * np.linalg.norm(unit, axis=1, keepdims=True)
    # Lowered by more than rounding can add.
    factors = np.where(norms > limit, limit * (1 - 1e-12) / np.maximum(norms, limit), 1.0)
    clipped: FloatArray = rows * factors
    return clipped


def finite(name: str, given: ArrayLike, n_axes: int) -> FloatArray:
    """A copy as finite floats with so many axes.

    Raises:
        ProblemError: It is something else.
    """
    numbers = floats(name, given)
    if numbers.ndim != n_axes:
        raise ProblemError(f"{name}: {n_axes} dimensions expected, shape {numbers.shape} given")
    if not np.isfinite(numbers).all():
        raise ProblemError(f"{name}: has NaN or infinite entries; drop or replace them")
    return numbers


def positive(name: str, given: float) -> float:
    """One positive finite number.

    Raises:
        ProblemError: It is something else.
    """
    number = scalar(name, given)
    if not 0 < number < math.inf:
        raise ProblemError(f"{name}: a positive finite number expected, not {number}")
    return number
