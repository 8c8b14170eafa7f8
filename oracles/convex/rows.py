"""Signed, weighted rows: the data of a margin loss, dense or sparse, worked through in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from oracles.arrays import FloatArray, floats
from oracles.convex._blocks import GROUP, GROUPS, Block, DenseBlock, SparseBlock, sparse_group
from oracles.errors import ProblemError

ResultT = TypeVar("ResultT")

BLOCK_BYTES = 1 << 19
"""Of rows at a time: a block is read from memory once and served from the cache after that."""

LARGEST = 1e150
"""Of an entry in magnitude: squares of larger ones overflow."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows ``z_i = y_i x_i`` with weights: the margin of w is ``<z_i, w>``.

    Memory beyond the rows themselves is O(d^2) and one block, whatever the number of rows.

    Args:
        features: Shape ``(n, d)``, d at least 1, dense or ``scipy.sparse``, finite.
        labels: -1 or 1 for each row; None when the rows are signed already.
        weights: Nonnegative weight of each row; None for 1.

    Attributes:
        matrix: The signed rows, a C-ordered array or compressed sparse rows.
        weights: Shape ``(n,)``.

    Raises:
        ProblemError: Shapes disagree, an entry is not finite, a label is not -1 or 1.
    """

    matrix: FloatArray | sp.csr_array
    weights: FloatArray

    def __init__(
        self,
        features: ArrayLike | sp.sparray | sp.spmatrix,
        labels: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> None:
        matrix = _signed(features, _labels(labels))
        n = matrix.shape[0]
        count = np.ones(n) if weights is None else floats("weights", weights)
        if count.shape != (n,) or not (np.isfinite(count).all() and (count >= 0).all()):
            raise ProblemError("weights: one finite nonnegative number per row expected")
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "weights", count)

    @property
    def dimension(self) -> int:
        """Number of columns d."""
        return int(self.matrix.shape[1])

    @property
    def n_rows(self) -> int:
        """Number of stored rows; merged rows count once."""
        return int(self.matrix.shape[0])

    @property
    def total_weight(self) -> float:
        """Sum of the weights: the number of records, when weights count them."""
        return float(self.weights.sum())

    @cached_property
    def largest_norm(self) -> float:
        """See :class:`RowSet`."""
        return float(self.norms().max(initial=0.0))

    @cached_property
    def sum_of_squares(self) -> float:
        """See :class:`RowSet`."""
        return float(self.weights @ self.norms() ** 2)

    def map(self, function: Callable[[Iterable[Rows]], ResultT]) -> Iterator[ResultT]:
        """See :class:`RowSet`; one part, all of the rows."""
        yield function((self,))

    def sampled(self, records: NDArray[np.int64]) -> Rows:
        """See :class:`RowSet`."""
        ends = np.cumsum(self.weights)
        return self.taken(np.searchsorted(ends, records, side="right")).counted_once()

    def norms(self) -> FloatArray:
        """Euclidean norm of each row, shape ``(n,)``."""
        if isinstance(self.matrix, np.ndarray):
            return np.asarray(np.linalg.norm(self.matrix, axis=1))
        return np.asarray(np.sqrt(self.matrix.multiply(self.matrix).sum(axis=1))).ravel()

    def merged(self) -> Rows:
        """Equal rows made one, with the sum of their weights; these rows if few are equal."""
        if self.n_rows < 2:
            return self
        order, starts = _groups(self.matrix)
        if len(starts) > 0.9 * self.n_rows:
            return self
        return self._with(self.matrix[order[starts]], np.add.reduceat(self.weights[order], starts))

    def scaled_to(self, bound: float) -> Rows:
        """Rows with a norm above ``bound`` scaled down to it."""
        norms = self.norms()
        if (norms <= bound).all():
            return self
        # A hair more, so that rounding cannot leave a row above the bound.
        factor = np.where(norms > bound, bound / np.maximum(norms, bound) * (1 - 1e-14), 1.0)
        return self._with(_times(self.matrix, factor), self.weights)

    def divided(self, factor: float) -> Rows:
        """Every row divided by a positive number."""
        return self if factor == 1 else self._with(self.matrix / factor, self.weights)

    def signed(self, labels: ArrayLike) -> Rows:
        """Every row times its label.

        Raises:
            ProblemError: There is not one label, -1 or 1, per row.
        """
        signs = _labels(labels)
        if signs is None or len(signs) != self.n_rows:
            raise ProblemError("labels: one per row of features expected")
        return self._with(_times(self.matrix, signs), self.weights)

    def with_constant(self, value: float) -> Rows:
        """The rows with a last column of one value."""
        constant = np.full((self.n_rows, 1), value)
        if isinstance(self.matrix, np.ndarray):
            return self._with(np.hstack([self.matrix, constant]), self.weights)
        # hstack would be slower by far: its columns are not taken to be in order.
        n, d, old = self.n_rows, self.dimension, self.matrix
        ends = old.indptr[1:]
        data, indices = (
            np.insert(entries, ends, last)
            for entries, last in ((old.data, value), (old.indices, d))
        )
        ends_of_rows = old.indptr + np.arange(n + 1, dtype=old.indptr.dtype)
        matrix = sp.csr_array((data, indices, ends_of_rows), shape=(n, d + 1))
        return self._with(matrix, self.weights)

    def taken(self, chosen: Any) -> Rows:
        """The rows at the chosen positions."""
        return self._with(self.matrix[chosen], self.weights[chosen])

    def counted_once(self) -> Rows:
        """The same rows with weight 1."""
        return self._with(self.matrix, np.ones(self.n_rows))

    def _with(self, matrix: Any, weights: FloatArray) -> Rows:
        """Rows of checked data."""
        rows = object.__new__(Rows)
        object.__setattr__(rows, "matrix", matrix)
        object.__setattr__(rows, "weights", weights)
        return rows

    def blocks(self) -> Iterator[Block]:
        """The rows, a block at a time; none for no rows."""
        if isinstance(self.matrix, np.ndarray):
            step = min(max(64, BLOCK_BYTES // (8 * self.dimension)), GROUP * GROUPS)
            for start in range(0, self.n_rows, step):
                part = slice(start, start + step)
                yield DenseBlock(self.matrix[part], self.weights[part])
        else:
            per_row = max(1, self.matrix.nnz // max(1, self.n_rows))
            step = max(sparse_group(self.dimension), BLOCK_BYTES // (12 * per_row))
            for start in range(0, self.n_rows, step):
                stop = min(start + step, self.n_rows)
                yield SparseBlock(self.matrix, start, stop, self.weights[start:stop])


def _labels(given: ArrayLike | None) -> FloatArray | None:
    if given is None:
        return None
    labels = floats("labels", given)
    if labels.ndim != 1 or not np.isin(labels, (-1.0, 1.0)).all():
        raise ProblemError("labels: one of -1 and 1 for each row expected")
    return labels


def _signed(features: Any, labels: FloatArray | None) -> FloatArray | sp.csr_array:
    """The rows times their labels, checked, as a copy."""
    sparse = bool(sp.issparse(features))
    if sparse:
        matrix: Any = sp.csr_array(features, dtype=np.float64, copy=True)
        matrix.sum_duplicates()  # Sorts the columns too, as the kernels need.
    else:
        matrix = floats("features", features)
    if matrix.ndim != 2 or matrix.shape[1] < 1:
        raise ProblemError(
            f"features: shape (n, d) with d >= 1 expected, shape {matrix.shape} given"
        )
    entries = matrix.data if sparse else matrix
    if not np.isfinite(entries).all():
        raise ProblemError("features: NaN or infinite entries; drop or bound them")
    if (np.abs(entries) > LARGEST).any():
        raise ProblemError(f"features: an entry beyond {LARGEST:g}; scale its column down")
    if labels is not None and len(labels) != matrix.shape[0]:
        raise ProblemError("labels: one per row of features expected")
    checked: FloatArray | sp.csr_array = matrix
    return checked if labels is None else _times(checked, labels)


def _times(matrix: FloatArray | sp.csr_array, factors: FloatArray) -> FloatArray | sp.csr_array:
    """Each row times its factor. Not a sparse product: its columns come out of order."""
    if isinstance(matrix, np.ndarray):
        return np.asarray(matrix * factors[:, None])
    entries = matrix.data * np.repeat(factors, np.diff(matrix.indptr))
    scaled: sp.csr_array = sp.csr_array((entries, matrix.indices, matrix.indptr), matrix.shape)
    return scaled


def _groups(matrix: FloatArray | sp.csr_array) -> tuple[Any, Any]:
    """An order in which equal rows are neighbours, and where each group begins.

    Rows are compared by a sum with fixed irregular coefficients first; only within equal sums are
    entries looked at, so that no n x d array is sorted.
    """
    d = matrix.shape[1]
    keys = np.asarray(matrix @ np.sqrt(np.arange(2.0, d + 2.0)))
    order = np.argsort(keys, kind="stable")
    first, second = order[:-1], order[1:]
    same = keys[first] == keys[second]
    places = np.flatnonzero(same)
    if isinstance(matrix, np.ndarray):
        same[places] = (matrix[first[places]] == matrix[second[places]]).all(axis=1)
    else:
        difference = sp.csr_array(matrix[first[places]] - matrix[second[places]])
        difference.eliminate_zeros()
        same[places] = np.diff(difference.indptr) == 0
    return order, np.flatnonzero(np.concatenate([[True], ~same]))
