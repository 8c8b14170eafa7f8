"""The objective that the convex oracles minimise: mean loss, linear term, quadratic term."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from oracles.arrays import FloatArray, vector
from oracles.convex._blocks import plain_additions
from oracles.convex._compensated import CompensatedSum
from oracles.convex.losses import Logistic, MarginLoss
from oracles.convex.row_set import RowSet
from oracles.convex.rows import Rows
from oracles.errors import ProblemError

Curvature = Literal["hessian", "upper"]
"""Which second-order information: the Hessian, or that of a global quadratic upper bound."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Expansion:
    """An objective near a point. What was not asked for holds nothing of the rows.

    Attributes:
        value: There.
        gradient: Shape ``(d,)``.
        matrix: The curvature, shape ``(d, d)``, symmetric; ``(0, 0)`` if not asked for.
    """

    value: float
    gradient: FloatArray
    matrix: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanLoss:
    """``sum_i weight_i phi(<z_i, w>) / divisor + <linear, w> + (ridge / 2) |w|^2``.

    Args:
        rows: The signed rows, in memory or streamed.
        loss: phi.
        divisor: Positive; default: the total weight, at least 1.
        linear: Shape ``(d,)``; default zero.
        ridge: Not negative.

    Raises:
        ProblemError: A parameter is out of range.
    """

    rows: RowSet
    loss: MarginLoss
    divisor: float
    linear: FloatArray
    ridge: float

    def __init__(
        self,
        rows: RowSet,
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
        return self.expansion(w, derivatives=False, curvature=None).value

    def gradient(self, w: FloatArray) -> FloatArray:
        """The gradient at w, shape ``(d,)``."""
        return self.expansion(w, value=False, curvature=None).gradient

    def second_order(
        self, w: FloatArray, curvature: Curvature = "hessian"
    ) -> tuple[FloatArray, FloatArray]:
        """Gradient and curvature matrix at w, in one pass over the rows.

        Returns:
            Shapes ``(d,)`` and ``(d, d)``, the latter symmetric.
        """
        found = self.expansion(w, value=False, curvature=curvature)
        return found.gradient, found.matrix

    def expansion(
        self,
        w: FloatArray,
        *,
        value: bool = True,
        derivatives: bool = True,
        curvature: Curvature | None = "hessian",
    ) -> Expansion:
        """What is asked for of the objective at w, in one pass over the rows.

        Args:
            w: Shape ``(d,)``.
            value: Whether the value is.
            derivatives: Whether the gradient is.
            curvature: Which curvature matrix is, if any.
        """
        parts = self.rows.map(_SumsAt(self.loss, w, value, derivatives, curvature))
        first = next(parts, None)
        sums = _Sums.nothing(self.dimension, curvature is not None) if first is None else first
        for part in parts:
            sums.add(part)
        tilt, ridge = self.linear, self.ridge
        lower = np.tril(sums.moment, -1)
        matrix = (lower + lower.T + np.diag(np.diag(sums.moment))) / self.divisor
        matrix[np.diag_indices_from(matrix)] += ridge
        return Expansion(
            value=sums.value.high / self.divisor + float(tilt @ w) + ridge / 2 * float(w @ w),
            gradient=sums.slopes.high / self.divisor + tilt + ridge * w,
            matrix=matrix,
        )

    @property
    def mean_square(self) -> float:
        """``sum_i weight_i |z_i|^2 / divisor``, at least the largest eigenvalue of its matrix."""
        return self.rows.sum_of_squares / self.divisor

    def rounding(self, w: FloatArray) -> float:
        """A bound on the error of :meth:`gradient` in floating point, in Euclidean norm.

        Sums of k terms in any order err by at most ``1.01 k u`` times the sum of magnitudes
        (Higham 2002, Section 3.1). Margins are such sums of d terms and shift the slope by at most
        ``smoothness`` times that. Slopes are added up plainly over K rows and with compensation
        over those sums, so by (K + 7 n u) u: docs/theory/objective_perturbation_convex.md, Lemma 3.
        14 u covers the loss itself (8 u), its weight and what is done to the sum.
        """
        unit = 2.0**-53
        size = float(np.linalg.norm(w))
        longest = self.rows.largest_norm
        slopes = min(self.loss.lipschitz, 1.0 + self.loss.smoothness * longest * size)
        weight = self.rows.total_weight / self.divisor
        shift = 1.01 * (self.dimension + 2) * unit * longest * size
        per_row = self.loss.smoothness * shift
        n = self.rows.n_rows
        terms = min(n, plain_additions(self.dimension)) + 7 * n * unit
        combined = 1.01 * (terms + 14) * unit * slopes
        tail = 4 * unit * (float(np.linalg.norm(self.linear)) + self.ridge * size)
        # Entry by entry the bound is on |z_ij|; summed over columns it is on the rows' norms.
        return weight * longest * (per_row + combined) + tail


@dataclass(eq=False)
class _Sums:
    """Sums over rows: losses, slopes, and the lower triangle of the second moment."""

    value: CompensatedSum[float]
    slopes: CompensatedSum[FloatArray]
    moment: FloatArray

    @classmethod
    def nothing(cls, dimension: int, curved: bool) -> _Sums:
        side = dimension if curved else 0
        slopes = CompensatedSum(np.zeros(dimension), np.zeros(dimension))
        return cls(CompensatedSum(0.0, 0.0), slopes, np.zeros((side, side)))

    def add(self, other: _Sums) -> None:
        self.value.merge(other.value)
        self.slopes.merge(other.slopes)
        self.moment += other.moment


@dataclass(frozen=True, eq=False)
class _SumsAt:
    """One part's sums at a point."""

    loss: MarginLoss
    w: FloatArray
    valued: bool
    sloped: bool
    curvature: Curvature | None

    def __call__(self, parts: Iterable[Rows]) -> _Sums:
        loss, sums = self.loss, _Sums.nothing(len(self.w), self.curvature is not None)
        bend = loss.upper_curvature if self.curvature == "upper" else loss.curvature
        for block in (block for rows in parts for block in rows.blocks()):
            margins = block.margins(self.w)
            if self.valued:
                sums.value.add(float(block.weights @ loss.value(margins)))
            if self.sloped:
                block.add_combination(block.weights * loss.slope(margins), sums.slopes)
            if self.curvature is not None:
                block.add_second_moment(block.weights * bend(margins), sums.moment)
        return sums
