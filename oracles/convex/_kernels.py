"""Sums over compressed sparse rows, compiled. Importing this imports numba.

Places are unsigned, since numba tests signed ones for being negative: half the time of a sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from oracles.arrays import FloatArray
from oracles.zero_one._compile import kernel


@kernel
def margins(data: FloatArray, indices: Any, indptr: Any, w: FloatArray, out: FloatArray) -> None:
    """``out = Z w``."""
    for row in range(len(out)):
        total = 0.0
        for place in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            total += data[place] * w[np.uint64(indices[place])]
        out[row] = total


@kernel
def add_combination(
    data: FloatArray, indices: Any, indptr: Any, coefficients: FloatArray, out: FloatArray
) -> None:
    """``out += Z' coefficients``."""
    for row in range(len(coefficients)):
        factor = coefficients[row]
        for place in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            out[np.uint64(indices[place])] += factor * data[place]


@kernel
def add_second_moment(
    data: FloatArray, indices: Any, indptr: Any, coefficients: FloatArray, out: FloatArray
) -> None:
    """Lower triangle of ``out += Z' diag(coefficients) Z``. Columns of each row in order.

    ``out`` has C order; it is passed as one row after the other.
    """
    width = np.uint64(len(out) ** 0.5 + 0.5)
    one = np.uint64(1)
    for row in range(len(coefficients)):
        begin, end = np.uint64(indptr[row]), np.uint64(indptr[row + 1])
        for place in range(begin, end):
            scaled = coefficients[row] * data[place]
            line = np.uint64(indices[place]) * width
            for other in range(begin, place + one):
                out[line + np.uint64(indices[other])] += scaled * data[other]
