"""Sums over compressed sparse rows, compiled. Importing this imports numba."""

from __future__ import annotations

from numpy.typing import NDArray

from oracles.arrays import FloatArray
from oracles.zero_one._compile import kernel


@kernel
def margins(
    data: FloatArray,
    indices: NDArray,  # type: ignore[type-arg]  # int32 or int64
    indptr: NDArray,  # type: ignore[type-arg]
    w: FloatArray,
    out: FloatArray,
) -> None:
    """``out = Z w``."""
    for row in range(len(out)):
        total = 0.0
        for place in range(indptr[row], indptr[row + 1]):
            total += data[place] * w[indices[place]]
        out[row] = total


@kernel
def add_combination(
    data: FloatArray,
    indices: NDArray,  # type: ignore[type-arg]
    indptr: NDArray,  # type: ignore[type-arg]
    coefficients: FloatArray,
    out: FloatArray,
) -> None:
    """``out += Z' coefficients``."""
    for row in range(len(coefficients)):
        factor = coefficients[row]
        for place in range(indptr[row], indptr[row + 1]):
            out[indices[place]] += factor * data[place]


@kernel
def add_second_moment(
    data: FloatArray,
    indices: NDArray,  # type: ignore[type-arg]
    indptr: NDArray,  # type: ignore[type-arg]
    coefficients: FloatArray,
    out: FloatArray,
) -> None:
    """Lower triangle of ``out += Z' diag(coefficients) Z``. Columns of each row in order."""
    for row in range(len(coefficients)):
        begin = indptr[row]
        for place in range(begin, indptr[row + 1]):
            scaled = coefficients[row] * data[place]
            line = indices[place]
            for other in range(begin, place + 1):
                out[line, indices[other]] += scaled * data[other]
