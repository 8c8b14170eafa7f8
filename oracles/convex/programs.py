"""Hinge and ramp loss over a box, as programs for the solver oracles.

With one slack per row, ``xi_i >= 1 - <z_i, w> - M_i b_i`` and ``xi_i >= 0``:

* hinge: no b; the least ``weight_i xi_i`` is the hinge loss, and the program is linear;
* ramp: b_i in {0, 1} at the same price as one unit of xi_i. With ``M_i = 1 + <|z_i|, bounds>``, at
  least the largest value of ``1 - <z_i, w>`` on the box, b_i = 1 lets xi_i be 0: the cheaper of the
  two is ``min(1, max(0, 1 - <z_i, w>))``.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from oracles.arrays import FloatArray, vector
from oracles.convex.rows import Rows
from oracles.errors import ProblemError
from oracles.problem import IntegerProgram


def hinge_program(
    rows: Rows, *, box: float | ArrayLike, linear: ArrayLike | None = None
) -> IntegerProgram:
    """``sum_i weight_i max(0, 1 - <z_i, w>) + <linear, w>`` over ``|w_j| <= box_j``.

    Args:
        rows: Signed, weighted rows.
        box: Half the side of each coordinate's interval, positive and finite.
        linear: Shape ``(d,)``; default zero.

    Returns:
        A linear program whose first d variables are w.

    Raises:
        ProblemError: A parameter is out of range.
    """
    bounds, tilt = _box(rows, box), vector("linear", linear, rows.dimension, 0.0)
    n = rows.n_rows
    return IntegerProgram(
        np.concatenate([tilt, rows.weights]),
        sp.hstack([sp.csr_array(rows.matrix), sp.eye_array(n)], format="csr"),
        row_lower=np.ones(n),
        lower=np.concatenate([-bounds, np.zeros(n)]),
        upper=np.concatenate([bounds, np.full(n, np.inf)]),
        integer=np.zeros(rows.dimension + n, dtype=bool),
    )


def ramp_program(
    rows: Rows, *, box: float | ArrayLike, linear: ArrayLike | None = None
) -> IntegerProgram:
    """``sum_i weight_i min(1, max(0, 1 - <z_i, w>)) + <linear, w>`` over ``|w_j| <= box_j``.

    Args:
        rows: Signed, weighted rows.
        box: Half the side of each coordinate's interval, positive and finite.
        linear: Shape ``(d,)``; default zero.

    Returns:
        A mixed-integer program whose first d variables are w.

    Raises:
        ProblemError: A parameter is out of range.
    """
    bounds, tilt = _box(rows, box), vector("linear", linear, rows.dimension, 0.0)
    n, d = rows.n_rows, rows.dimension
    largest = 1 + np.asarray(abs(sp.csr_array(rows.matrix)) @ bounds)
    return IntegerProgram(
        np.concatenate([tilt, rows.weights, rows.weights]),
        sp.hstack(
            [sp.csr_array(rows.matrix), sp.eye_array(n), sp.diags_array(largest)], format="csr"
        ),
        row_lower=np.ones(n),
        lower=np.concatenate([-bounds, np.zeros(2 * n)]),
        # A slack above 1 is never cheaper than its binary.
        upper=np.concatenate([bounds, np.ones(2 * n)]),
        integer=np.concatenate([np.zeros(d + n, dtype=bool), np.ones(n, dtype=bool)]),
    )


def _box(rows: Rows, box: float | ArrayLike) -> FloatArray:
    bounds = np.broadcast_to(np.asarray(box, dtype=np.float64), (rows.dimension,)).copy()
    if not (np.isfinite(bounds).all() and (bounds > 0).all()):
        raise ProblemError("box: positive finite bounds expected, one or one per coordinate")
    return bounds
