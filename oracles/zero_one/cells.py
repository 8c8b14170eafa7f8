"""Rows of a data set merged into weighted cells.

A linear classifier over attributes gives attribute j's level ``codes[c, j]`` the integer weight
``w_j[codes[c, j]]`` and predicts the positive class iff the sum of active weights is at least 1.
Rows that agree in all attributes are predicted alike, so only the counts of each class matter:
the 0-1 loss depends on the data through the cells alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oracles.errors import ProblemError
from oracles.zero_one.sources.constructors import FromSources

IntArray = NDArray[np.int64]

MAX_TOTAL = 2**60
"""Largest total count: every sum of errors, and of costs besides, then fits into 64 bits."""


@dataclass(frozen=True, eq=False)
class CellTable(FromSources):
    """Distinct rows with their counts per class.

    From rows that lie elsewhere: :class:`FromSources`.

    Args:
        codes: Level of each attribute, shape ``(n_cells, n_attributes)``, ``0 <= code < levels``.
        factors: What the active weight is multiplied by, shape of ``codes``; 1 for one-hot
            attributes, the feature's value for a feature matrix.
        positive: Number of positive rows per cell, shape ``(n_cells,)``.
        negative: Number of negative rows per cell, shape ``(n_cells,)``.
        levels: Number of levels per attribute. Public: levels without rows count too.
        is_matrix: Whether the columns are features with values of their own. Public.

    Raises:
        ProblemError: Shapes disagree, a code is outside its levels, a count is negative or
            fractional, or counts or margins could overflow 64 bits.
    """

    codes: IntArray
    factors: IntArray
    positive: IntArray
    negative: IntArray
    levels: tuple[int, ...]
    is_matrix: bool = False

    def __post_init__(self) -> None:
        for name in ("codes", "factors", "positive", "negative"):
            object.__setattr__(self, name, _integers(name, getattr(self, name)))
        n, k = self.codes.shape if self.codes.ndim == 2 else (-1, -1)
        if k != len(self.levels) or self.factors.shape != (n, k):
            raise ProblemError(
                f"codes and factors: shape (n_cells, {len(self.levels)}) expected, "
                f"{self.codes.shape} and {self.factors.shape} given"
            )
        if self.positive.shape != (n,) or self.negative.shape != (n,):
            raise ProblemError("positive and negative: one count per cell expected")
        if any(level < 1 for level in self.levels) or not self.levels:
            raise ProblemError("levels: at least one attribute, each with at least one level")
        outside = (self.codes < 0) | (self.codes >= np.array(self.levels))
        if outside.any():
            column = int(np.flatnonzero(outside.any(axis=0))[0])
            raise ProblemError(
                f"codes: attribute number {column} has a code outside 0..{self.levels[column] - 1}"
            )
        if (self.positive < 0).any() or (self.negative < 0).any():
            raise ProblemError("positive and negative: counts must not be negative")
        if sum(map(int, self.positive)) + sum(map(int, self.negative)) > MAX_TOTAL:
            raise ProblemError(f"positive and negative: more than {MAX_TOTAL} rows in all")

    # -- construction --------------------------------------------------------------------------

    @classmethod
    def from_codes(cls, codes: ArrayLike, positive: ArrayLike, levels: Sequence[int]) -> CellTable:
        """Cells of one-hot attributes.

        Args:
            codes: Level of each row's attributes, integers, shape ``(n_rows, n_attributes)``.
            positive: Which rows are positive, boolean, shape ``(n_rows,)``.
            levels: Number of levels of each attribute, public.

        Raises:
            ProblemError: As the class, or ``codes`` are not integers.
        """
        rows = _integers("codes", codes)
        if rows.ndim != 2 or rows.shape[1] != len(levels):
            raise ProblemError(f"codes: shape (n_rows, {len(levels)}) expected, not {rows.shape}")
        # Validated before merging: a code outside its levels would collide with another cell.
        sizes = tuple(int(level) for level in levels)
        cls(rows, np.ones_like(rows), *_no_counts(len(rows)), sizes)
        distinct, plus, minus = _merge(rows, positive, sizes)
        return cls(distinct, np.ones_like(distinct), plus, minus, sizes)

    @classmethod
    def from_matrix(cls, features: ArrayLike, positive: ArrayLike) -> CellTable:
        """Cells of an integer feature matrix: each column is an attribute with one weight.

        Args:
            features: Integers, shape ``(n_rows, n_features)``, absolute values below 2^31.
            positive: Which rows are positive, boolean, shape ``(n_rows,)``.

        Raises:
            ProblemError: As the class, or ``features`` are not integers of that size.
        """
        rows = _integers("features", features)
        if rows.ndim != 2 or rows.shape[1] == 0:
            raise ProblemError("features: shape (n_rows, n_features) with a feature expected")
        if (np.abs(rows) >= 2**31).any():
            raise ProblemError("features: absolute values must be below 2^31; scale the columns")
        distinct, plus, minus = _merge(rows, positive, None)
        return cls(
            np.zeros_like(distinct), distinct, plus, minus, (1,) * rows.shape[1], is_matrix=True
        )

    @classmethod
    def _of_classes(cls, codes: IntArray, counts: IntArray, levels: tuple[int, ...]) -> Self:
        if counts.shape[1] != 2:
            raise ProblemError("target: two classes expected, negative first; ClassCounts has more")
        return cls(codes, np.ones_like(codes), counts[:, 1], counts[:, 0], levels)

    # -- facts ---------------------------------------------------------------------------------

    @property
    def n_cells(self) -> int:
        """Number of distinct rows."""
        return len(self.positive)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.positive.sum() + self.negative.sum())

    @property
    def columns(self) -> IntArray:
        """Position of each cell's active weights in the concatenated weights, like ``codes``."""
        return self.codes + np.concatenate([[0], np.cumsum(self.levels)[:-1]]).astype(np.int64)

    def scaled(self, factor: int) -> CellTable:
        """The same cells with every count multiplied by a positive integer.

        Raises:
            ProblemError: The counts would exceed ``MAX_TOTAL``.
        """
        if self.n_rows * factor > MAX_TOTAL:
            raise ProblemError(f"counts: more than {MAX_TOTAL} in all after scaling")
        positive, negative = self.positive * factor, self.negative * factor
        return CellTable(self.codes, self.factors, positive, negative, self.levels, self.is_matrix)

    def project(self, attributes: Sequence[int]) -> CellTable:
        """The cells of some of the attributes, in the order given; the others are ignored.

        Raises:
            ProblemError: There is no such attribute, or it is given twice.
        """
        columns = [int(j) for j in attributes]
        if (
            not columns
            or len(set(columns)) < len(columns)
            or not set(columns) <= set(range(len(self.levels)))
        ):
            raise ProblemError("attributes: distinct attribute numbers expected, at least one")
        levels = tuple(self.levels[j] for j in columns)
        codes, factors = self.codes[:, columns], self.factors[:, columns]
        if (factors == 1).all():
            first, inverse = _distinct(codes, levels)
        else:
            both = np.hstack([codes, factors])
            _, first, inverse = np.unique(both, axis=0, return_index=True, return_inverse=True)
        positive, negative = _no_counts(len(first))
        np.add.at(positive, inverse.ravel(), self.positive)
        np.add.at(negative, inverse.ravel(), self.negative)
        return CellTable(codes[first], factors[first], positive, negative, levels, self.is_matrix)

    def split(self, flat: ArrayLike) -> tuple[IntArray, ...]:
        """Concatenated weights as one array per attribute."""
        weights = np.asarray(flat).astype(np.int64)
        return tuple(part.copy() for part in np.split(weights, np.cumsum(self.levels)[:-1]))

    def margins(self, weights: Sequence[ArrayLike]) -> IntArray:
        """Sum of active weights of each cell, shape ``(n_cells,)``."""
        flat = np.concatenate([np.asarray(w, dtype=np.int64) for w in weights])
        total: IntArray = (flat[self.columns] * self.factors).sum(axis=1, dtype=np.int64)
        return total

    def errors(self, weights: Sequence[ArrayLike]) -> int:
        """Number of rows that the classifier gets wrong: predicted positive iff margin >= 1."""
        predicted = self.margins(weights) >= 1
        return int(np.where(predicted, self.negative, self.positive).sum())

    def margin_bounds(self, weights: Sequence[int]) -> tuple[IntArray, IntArray]:
        """Smallest and largest margin of each cell when every weight is one of ``weights``.

        Raises:
            ProblemError: A margin could reach 2^53. With one-hot attributes this does not depend
                on the rows, nor on whether there are any.
        """
        size = np.abs(self.factors).astype(float).sum(axis=1).max(initial=len(self.levels))
        if size * max(abs(w) for w in weights) >= 2.0**53:
            raise ProblemError("weights: a margin could reach 2^53; use smaller weights")
        low, high = min(weights), max(weights)
        ends = np.stack([self.factors * low, self.factors * high])
        return ends.min(axis=0).sum(axis=1), ends.max(axis=0).sum(axis=1)


def _integers(name: str, given: ArrayLike) -> IntArray:
    array = np.asarray(given)
    if array.dtype == bool or np.issubdtype(array.dtype, np.integer):
        if array.dtype == np.uint64 and array.size and array.max() > 2**63 - 1:
            raise ProblemError(f"{name}: integers beyond 64 bits")
        return array.astype(np.int64)
    if np.issubdtype(array.dtype, np.floating) or array.size == 0:
        with np.errstate(invalid="ignore"):
            whole = array.astype(np.int64)
        if np.isfinite(array.astype(float)).all() and np.array_equal(whole, array):
            return whole
    raise ProblemError(f"{name}: finite integers expected; scale or bin the columns first")


def _no_counts(n: int) -> tuple[IntArray, IntArray]:
    return np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)


def _merge(
    rows: IntArray, positive: ArrayLike, levels: tuple[int, ...] | None
) -> tuple[IntArray, IntArray, IntArray]:
    """Distinct rows in lexicographic order, with positive and negative counts."""
    labels = np.asarray(positive)
    if labels.shape != (len(rows),) or labels.dtype != bool:
        raise ProblemError(f"positive: a boolean array of shape ({len(rows)},) expected")
    if levels is None:
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    else:
        first, inverse = _distinct(rows, levels)
    distinct = rows[first]
    inverse = inverse.ravel()
    plus = np.bincount(inverse[labels], minlength=len(distinct)).astype(np.int64)
    minus = np.bincount(inverse[~labels], minlength=len(distinct)).astype(np.int64)
    return distinct, plus, minus


def _distinct(codes: IntArray, levels: tuple[int, ...]) -> tuple[IntArray, IntArray]:
    """Where each distinct row, in lexicographic order, is found first, and which of them each is.

    The codes lie within their levels.
    """
    if math.prod(levels) >= MAX_TOTAL:
        _, first, inverse = np.unique(codes, axis=0, return_index=True, return_inverse=True)
        return first, inverse.ravel()
    # One mixed-radix key per row: sorting integers is much faster than sorting rows.
    keys = np.zeros(len(codes), dtype=np.int64)
    for j, level in enumerate(levels):
        keys = keys * level + codes[:, j]
    if math.prod(levels) > len(codes):
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        return first, inverse
    # Few possible keys, as in projections on a few attributes: no sorting at all.
    place = np.full(math.prod(levels), -1, dtype=np.int64)
    place[keys[::-1]] = np.arange(len(keys) - 1, -1, -1)
    occurring = np.flatnonzero(place >= 0)
    number = np.zeros(len(place), dtype=np.int64)
    number[occurring] = np.arange(len(occurring))
    return place[occurring], number[keys]
