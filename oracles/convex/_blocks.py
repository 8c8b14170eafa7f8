"""Parts of rows that fit into the cache, and the three things that sums ask of them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dsyrk

from oracles.arrays import FloatArray


class DenseBlock:
    """Consecutive rows of an array."""

    def __init__(self, rows: FloatArray, weights: FloatArray) -> None:
        self.rows = rows
        self.weights = weights

    def margins(self, w: FloatArray) -> FloatArray:
        """``Z w``."""
        return np.asarray(self.rows @ w)

    def add_combination(self, coefficients: FloatArray, out: FloatArray) -> None:
        """``out += Z' coefficients``."""
        out += coefficients @ self.rows

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

    def add_combination(self, coefficients: FloatArray, out: FloatArray) -> None:
        """``out += Z' coefficients``."""
        from oracles.convex import _kernels

        _kernels.add_combination(*self.parts, coefficients, out)

    def add_second_moment(self, coefficients: FloatArray, out: FloatArray) -> None:
        """Lower triangle of ``out += Z' diag(coefficients) Z``."""
        from oracles.convex import _kernels

        _kernels.add_second_moment(*self.parts, coefficients, out.reshape(-1))


Block = DenseBlock | SparseBlock
