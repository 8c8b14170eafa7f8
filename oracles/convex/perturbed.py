"""Summed losses with a linear term over a compact set: what sampling-based perturbation solves.

A problem answers, for any tilt s, with a point of W whose ``sum_i l_i(w) - <s, w>`` is proven to be
within a stated absolute gap of the least. Each answer is a function of the data and of s alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from oracles.arrays import FloatArray
from oracles.convex.losses import Hinge, Logistic, MarginLoss, Ramp
from oracles.convex.newton import Newton
from oracles.convex.objective import MeanLoss
from oracles.convex.programs import hinge_program, ramp_program
from oracles.convex.rows import Rows
from oracles.errors import ProblemError
from oracles.highs import Highs
from oracles.oracle import Oracle
from oracles.solution import Solution


@runtime_checkable
class TiltedProblem(Protocol):
    """A summed loss over a compact set W inside a box about 0."""

    @property
    def dimension(self) -> int:
        """Number of coordinates d."""
        ...

    @property
    def sides(self) -> FloatArray:
        """Length of W in each coordinate, shape ``(d,)``; W lies in the box of half of them."""
        ...

    @property
    def diameter(self) -> float:
        """Twice the radius of a Euclidean ball that holds W."""
        ...

    @property
    def is_convex(self) -> bool:
        """Whether the losses are convex and W is; accuracy bounds need it."""
        ...

    def minimize(self, tilt: FloatArray) -> Solution[FloatArray]:
        """A point of W that nearly minimises ``sum_i l_i(w) - <tilt, w>``, with its bound."""
        ...


@dataclass(frozen=True, eq=False, kw_only=True)
class BallProblem:
    """A smooth convex margin loss over a Euclidean ball, by Newton's method.

    Args:
        rows: Signed rows.
        radius: Of the ball.
        loss: phi.
        gap: Absolute, of the summed objective; above what rounding allows, about
            ``radius n 2^-42``.
    """

    rows: Rows
    radius: float
    loss: MarginLoss = field(default_factory=Logistic)
    gap: float = 1e-6

    @property
    def dimension(self) -> int:
        """See :class:`TiltedProblem`."""
        return self.rows.dimension

    @property
    def sides(self) -> FloatArray:
        """See :class:`TiltedProblem`."""
        return np.full(self.dimension, 2 * self.radius)

    @property
    def diameter(self) -> float:
        """See :class:`TiltedProblem`."""
        return 2 * self.radius

    @property
    def is_convex(self) -> bool:
        """See :class:`TiltedProblem`."""
        return self.loss.is_convex

    def minimize(self, tilt: FloatArray) -> Solution[FloatArray]:
        """See :class:`TiltedProblem`."""
        n = max(1.0, self.rows.total_weight)
        mean = MeanLoss(rows=self.rows, loss=self.loss, divisor=n, linear=-tilt / n)
        tolerance = self.gap / (2 * self.radius * n)
        found = Newton(tolerance=tolerance, radius=self.radius).minimize(mean).solution
        if found.objective is None:
            return found
        return Solution(
            status=found.status,
            value=found.value,
            objective=found.objective * n,
            bound=found.bound * n,
            certificate=found.certificate,
            oracle=found.oracle,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class BoxProgram:
    """Hinge (a linear program) or ramp loss (a mixed-integer one) over a box.

    Args:
        rows: Signed rows.
        half_side: Of the box in every coordinate.
        loss: :class:`Hinge` or :class:`Ramp`.
        oracle: Of the programs.

    Raises:
        ProblemError: The loss is another.
    """

    rows: Rows
    half_side: float
    loss: MarginLoss = field(default_factory=Hinge)
    oracle: Oracle = field(default_factory=Highs)

    def __post_init__(self) -> None:
        if not isinstance(self.loss, Hinge | Ramp):
            raise ProblemError(f"loss: hinge or ramp expected, not {self.loss.name}")

    @property
    def dimension(self) -> int:
        """See :class:`TiltedProblem`."""
        return self.rows.dimension

    @property
    def sides(self) -> FloatArray:
        """See :class:`TiltedProblem`."""
        return np.full(self.dimension, 2 * self.half_side)

    @property
    def diameter(self) -> float:
        """See :class:`TiltedProblem`."""
        return 2 * self.half_side * float(np.sqrt(self.dimension))

    @property
    def is_convex(self) -> bool:
        """See :class:`TiltedProblem`."""
        return self.loss.is_convex

    def minimize(self, tilt: FloatArray) -> Solution[FloatArray]:
        """See :class:`TiltedProblem`."""
        make = hinge_program if isinstance(self.loss, Hinge) else ramp_program
        found = self.oracle.minimize(make(self.rows, box=self.half_side, linear=-tilt))
        if found.value is None:
            return found
        w = np.clip(found.value[: self.dimension], -self.half_side, self.half_side)
        # Slacks may be feasible within a tolerance only: the loss itself is what counts.
        margins = np.asarray(sp.csr_array(self.rows.matrix) @ w)
        objective = float(self.rows.weights @ self.loss.value(margins) - tilt @ w)
        return Solution(
            status=found.status,
            value=w,
            objective=objective,
            bound=min(found.bound, objective),
            certificate=found.certificate,
            oracle=found.oracle,
        )
