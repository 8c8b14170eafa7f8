"""Points at which losses are evaluated: public ones to start from, and all others in safe range."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from oracle_dp.errors import ParameterError
from oracles.arrays import FloatArray

_FARTHEST = 1e100
"""Of a coordinate at which losses are evaluated."""


def within_range(w: FloatArray) -> FloatArray:
    """The point at which losses are evaluated for w: a function of w alone, in safe range.

    Near the largest floats a margin is NaN for some rows and not for others, and so one record
    would make a sum NaN whatever its bound.
    """
    known = np.nan_to_num(w, nan=0.0, posinf=_FARTHEST, neginf=-_FARTHEST)
    return np.asarray(np.clip(known, -_FARTHEST, _FARTHEST))


def start_point(start: ArrayLike | None, dimension: int) -> FloatArray:
    """Where a run begins: a public point, by default 0.

    Raises:
        ParameterError: It is no vector of this dimension, or a coordinate is beyond 1e100.
    """
    if start is None:
        return np.zeros(dimension)
    point = np.array(start, dtype=np.float64)
    if point.shape != (dimension,) or not (np.abs(point) <= _FARTHEST).all():
        raise ParameterError(
            f"start: a vector of shape ({dimension},) with coordinates up to {_FARTHEST:g} expected"
        )
    return point
