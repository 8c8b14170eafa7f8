"""The objective that the convex oracles minimise: mean loss, linear term, quadratic term."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from oracles.arrays import FloatArray, vector
from oracles.convex.losses import Logistic, MarginLoss
from oracles.convex.rows import Rows
from oracles.errors import ProblemError

Curvature = Literal["hessian", "upper"]
"""Which second-order information: the Hessian, or that of a global quadratic upper bound."""


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanLoss:
    """``sum_i weight_i phi(<z_i, w>) / divisor + <linear, w> + (ridge / 2) |w|^2``.

    Args:
        rows: The signed rows.
        loss: phi.
        divisor: Positive; default: the total weight, at least 1.
        linear: Shape ``(d,)``; default zero.
        ridge: Not negative.

    Raises:
        ProblemError: A parameter is out of range.
    """

    rows: Rows
    loss: MarginLoss
    divisor: float
    linear: FloatArray
    ridge: float

    def __init__(
        self,
        rows: Rows,
        *,
        loss: MarginLoss | None = None,
        divisor: float | None = None,
        linear: ArrayLike | None = None,
        ridge: float = 0.0,
    ) -> None:
        scale = max(1.0, rows.total_weight) if divisor is None else float(divisor)
        if not (0 < scale < math.inf):
            raise ProblemError(f"divisor: a positive number expected, not {divisor!r}")
        if not (0 <= ridge < math.inf):
            raise ProblemError(f"ridge: a finite number >= 0 expected, not {ridge!r}")
        tilt = vector("linear", linear, rows.dimension, 0.0)
        if not np.isfinite(tilt).all():
            raise ProblemError("linear: NaN or infinite coefficients")
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "loss", loss if loss is not None else Logistic())
        object.__setattr__(self, "divisor", scale)
        object.__setattr__(self, "linear", tilt)
        object.__setattr__(self, "ridge", float(ridge))

    @property
    def dimension(self) -> int:
        """Number of variables d."""
        return self.rows.dimension

    def value(self, w: FloatArray) -> float:
        """The objective at w."""
        total = 0.0
        for block in self.rows.blocks():
            total += float(block.weights @ self.loss.value(block.margins(w)))
        return total / self.divisor + float(self.linear @ w) + self.ridge / 2 * float(w @ w)

    def gradient(self, w: FloatArray) -> FloatArray:
        """The gradient at w, shape ``(d,)``."""
        out = np.zeros(self.dimension)
        for block in self.rows.blocks():
            block.add_combination(block.weights * self.loss.slope(block.margins(w)), out)
        return out / self.divisor + self.linear + self.ridge * w

    def second_order(
        self, w: FloatArray, curvature: Curvature = "hessian"
    ) -> tuple[FloatArray, FloatArray]:
        """Gradient and curvature matrix at w, in one pass over the rows.

        Returns:
            Shapes ``(d,)`` and ``(d, d)``, the latter symmetric.
        """
        slope, bend = self.loss.slope, self.loss.curvature
        if curvature == "upper":
            bend = self.loss.upper_curvature
        out = np.zeros(self.dimension)
        moment = np.zeros((self.dimension, self.dimension))
        for block in self.rows.blocks():
            margins = block.margins(w)
            block.add_combination(block.weights * slope(margins), out)
            block.add_second_moment(block.weights * bend(margins), moment)
        lower = np.tril(moment, -1)
        matrix = (lower + lower.T + np.diag(np.diag(moment))) / self.divisor
        matrix[np.diag_indices_from(matrix)] += self.ridge
        return out / self.divisor + self.linear + self.ridge * w, matrix

    @cached_property
    def mean_square(self) -> float:
        """``sum_i weight_i |z_i|^2 / divisor``, at least the largest eigenvalue of its matrix."""
        return float(self.rows.weights @ self.rows.norms() ** 2) / self.divisor

    @cached_property
    def largest_norm(self) -> float:
        """Of a row; 0 without rows."""
        return float(self.rows.norms().max(initial=0.0))

    def rounding(self, w: FloatArray) -> float:
        """A bound on the error of :meth:`gradient` in floating point, in Euclidean norm.

        Sums of k terms in any order err by at most ``1.01 k u`` times the sum of magnitudes
        (Higham 2002, Section 3.1). Margins are such sums of d terms and shift the slope by at most
        ``smoothness`` times that; the combination is one of n terms; 8 u covers the loss itself.
        """
        unit = 2.0**-53
        size = float(np.linalg.norm(w))
        slopes = min(self.loss.lipschitz, 1.0 + self.loss.smoothness * self.largest_norm * size)
        weight = self.rows.total_weight / self.divisor
        shift = 1.01 * (self.dimension + 2) * unit * self.largest_norm * size
        per_row = self.loss.smoothness * shift
        combined = 1.01 * (self.rows.n_rows + 10) * unit * slopes
        tail = 4 * unit * (float(np.linalg.norm(self.linear)) + self.ridge * size)
        # Entry by entry the bound is on |z_ij|; summed over columns it is on the rows' norms.
        return weight * self.largest_norm * (per_row + combined) + tail
