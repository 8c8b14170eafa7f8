"""Parts of rows that fit into the cache, and the three things that sums ask of them.

``Z' c`` is added up plainly over few rows, and with compensation over those sums. So whatever the
number of rows, an entry goes through at most :func:`plain_additions` roundings of a plain sum:

* dense: ``GROUP`` rows by BLAS, in any order, and the at most ``GROUPS`` such sums of a block;
* sparse: the rows that :func:`sparse_group` says, the same column at most once in each. Many
  columns are added up over more rows, since each compensated addition is one of all columns.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dsyrk

from oracles.arrays import FloatArray
from oracles.convex._compensated import CompensatedSum

GROUP = 1024
"""Rows that are added up plainly."""

GROUPS = 64
"""At most, in a dense block."""


def sparse_group(dimension: int) -> int:
    """How many rows of a sparse block are added up plainly."""
    return max(GROUP, dimension // 2)


def plain_additions(dimension: int) -> int:
    """At most how many plain additions a term of a gradient goes through, however many rows.

    What :meth:`oracles.convex.MeanLoss.rounding` rests on: a public function of the dimension.
    """
    return max(GROUP + GROUPS, sparse_group(dimension))


class DenseBlock:
    """Consecutive rows of an array, at most ``GROUP * GROUPS``.

    Raises:
        ValueError: More.
    """

    def __init__(self, rows: FloatArray, weights: FloatArray) -> None:
        if len(weights) > GROUP * GROUPS:
            raise ValueError(f"a block of {len(weights)} rows: its rounding is not covered")
        self.rows = rows
        self.weights = weights

    def margins(self, w: FloatArray) -> FloatArray:
        """``Z w``."""
        return np.asarray(self.rows @ w)

    def add_combination(self, coefficients: FloatArray, out: CompensatedSum[FloatArray]) -> None:
        """``out += Z' coefficients``."""
        total = coefficients[:GROUP] @ self.rows[:GROUP]
        for start in range(GROUP, len(coefficients), GROUP):
            group = slice(start, start + GROUP)
            total += coefficients[group] @ self.rows[group]
        out.add(total)

    def add_second_moment(self, coefficients: FloatArray, out: FloatArray) -> None:
        """Lower triangle of ``out += Z' diag(coefficients) Z``, nonnegative coefficients."""
        scaled = self.rows * np.sqrt(coefficients)[:, None]
        # The transposes are Fortran-ordered views, so BLAS works in place and on half the matrix.
        dsyrk(1.0, scaled.T, beta=1.0, c=out.T, trans=0, lower=0, overwrite_c=1)


class SparseBlock:
    """Consecutive rows of a compressed sparse matrix."""

    def __init__(self, rows: sp.csr_array, start: int, stop: int, weights: FloatArray) -> None:
        self.parts = rows.data, rows.indices, rows.indptr[start : stop + 1]
        self.weights = weights

    def margins(self, w: FloatArray) -> FloatArray:
        """``Z w``."""
        from oracles.convex import _kernels

        out = np.empty(len(self.weights))
        _kernels.margins(*self.parts, w, out)
        return out

    def add_combination(self, coefficients: FloatArray, out: CompensatedSum[FloatArray]) -> None:
        """``out += Z' coefficients``."""
        from oracles.convex import _kernels

        group = sparse_group(len(out.high))
        _kernels.add_combination(*self.parts, coefficients, group, out.high, out.low)

    def add_second_moment(self, coefficients: FloatArray, out: FloatArray) -> None:
        """Lower triangle of ``out += Z' diag(coefficients) Z``."""
        from oracles.convex import _kernels

        _kernels.add_second_moment(*self.parts, coefficients, out.reshape(-1))


Block = DenseBlock | SparseBlock
