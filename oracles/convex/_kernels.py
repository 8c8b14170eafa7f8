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
    data: FloatArray,
    indices: Any,
    indptr: Any,
    coefficients: FloatArray,
    limit: int,
    high: FloatArray,
    low: FloatArray,
) -> None:
    """``high + low += Z' coefficients``, plainly over ``limit`` rows at a time.

    What such rows add up to is added as by :class:`oracles.convex._compensated.CompensatedSum`.
    """
    plain, rows = np.zeros(len(high)), len(coefficients)
    for begin in range(0, rows, limit):
        for row in range(begin, min(begin + limit, rows)):
            factor = coefficients[row]
            for place in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
                plain[np.uint64(indices[place])] += factor * data[place]
        for column in range(len(high)):
            old, term = high[column], plain[column]
            total = old + term
            back = total - old
            rest = low[column] + ((old - (total - back)) + (term - back))
            plain[column] = 0.0
            high[column] = total + rest
            back = high[column] - total
            low[column] = (total - (high[column] - back)) + (rest - back)


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
