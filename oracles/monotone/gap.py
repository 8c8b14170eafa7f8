"""How far a point is from solving a variational inequality or a game: computable certificates.

For a monotone F on W and a point z of W,

    sup over w in W of <F(w), z - w>   <=   sup over w in W of <F(z), z - w>  =: certificate(z),

because <F(w), z - w> <= <F(z), z - w>. The right side needs one linear oracle. For a saddle point
problem, convex-concave, it also bounds max_y f(x, y) - min_x f(x, y) at z = (x, y). For an operator
that is not monotone it bounds neither.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from oracles.arrays import FloatArray
from oracles.errors import ProblemError
from oracles.monotone.sets import ConvexSet


@dataclass(frozen=True, eq=False, kw_only=True)
class VariationalSolution:
    """An approximate solution with its certificate.

    Attributes:
        point: In the set.
        gap: The certificate at ``point``, computed there and not promised by a rate; at least 0 up
            to rounding.
        evaluations: How often the operator was evaluated.
        iterations: How many iterations were made.

    Raises:
        ProblemError: The gap is not finite: the operator returned NaN, or the iterates left the
            floating-point numbers.
    """

    point: FloatArray
    gap: float
    evaluations: int
    iterations: int

    def __post_init__(self) -> None:
        if not math.isfinite(self.gap):
            raise ProblemError(
                f"operator: the certificate is {self.gap}; an operator is finite on its set, make "
                "this one so, or shorten the steps"
            )


def certificate(value: FloatArray, point: FloatArray, domain: ConvexSet) -> float:
    """Sup over w in the set of ``<value, point - w>``, by one linear oracle.

    Args:
        value: F(point), shape ``(dimension,)``.
        point: In the set.
        domain: The set.
    """
    # One inner product of small numbers, not the difference of two large ones.
    return float(value @ (point - domain.minimize_linear(value)))


def strong_gap(
    function: Callable[[FloatArray], FloatArray], point: FloatArray, domain: ConvexSet
) -> float:
    """The certificate of a point: an upper bound on its gap where the operator is monotone."""
    return certificate(function(point), point, domain)


def bilinear_gap(
    payoff: FloatArray,
    x: FloatArray,
    y: FloatArray,
    domain_x: ConvexSet,
    domain_y: ConvexSet,
    *,
    linear_x: FloatArray | None = None,
    linear_y: FloatArray | None = None,
) -> float:
    """The exact saddle gap of f(x, y) = x' A y + b' x - c' y: max_y f(x, y) - min_x f(x, y).

    On two simplices it is max(A' x) - min(A y), the exploitability of a matrix game.

    Args:
        payoff: A, shape ``(n_x, n_y)``.
        x: The minimiser's point.
        y: The maximiser's point.
        domain_x: Where x lives.
        domain_y: Where y lives.
        linear_x: b, shape ``(n_x,)``; zeros by default.
        linear_y: c, shape ``(n_y,)``; zeros by default.
    """
    b = np.zeros(len(x)) if linear_x is None else linear_x
    c = np.zeros(len(y)) if linear_y is None else linear_y
    down, up = payoff @ y + b, c - payoff.T @ x
    return certificate(down, x, domain_x) + certificate(up, y, domain_y)
