"""Operator extrapolation (OE): one evaluation per iteration, and a count known beforehand.

Theorem (docs/theory/variational.md, Theorem 2). Let F be L-Lipschitz on W, lambda >= 0,
``G = F + lambda (. - c)`` mu-strongly monotone there, ``a = 1 + mu / L``, ``eta = 1 / (2 L)``,
z_0 = z_1 and

    z_{t+1} = P( (z_t + eta lambda c - eta g_t) / (1 + eta lambda) ),
    g_t = F(z_t) + (F(z_t) - F(z_{t-1})) / a.

Then ``|z_{N+1} - z*|^2 <= 2 / (1 + 2 mu / L) a^{-(N - 1)} |z_1 - z*|^2`` for the solution z* of G.

Source: Kotsalis, Lan, Li, "Simple and optimal methods for stochastic variational inequalities, I"
(2020), https://arxiv.org/abs/2011.02987, Theorem 2.3, with the constant proved anew and the term in
lambda solved exactly: the rate is that of L alone, however large lambda is.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from numpy.typing import ArrayLike

from oracles.arrays import FloatArray
from oracles.errors import ProblemError
from oracles.monotone.extragradient import certificate_growth, check_iterations
from oracles.monotone.gap import VariationalSolution, certificate
from oracles.monotone.operators import Operator
from oracles.monotone.sets import ConvexSet


def extrapolation_iterations(
    *, lipschitz: float, strong_monotonicity: float, diameter: float, radius: float
) -> int:
    """How many iterations bring any start within ``radius`` of the solution, by the theorem.

    Args:
        lipschitz: L.
        strong_monotonicity: mu, positive; of G, where there is a lambda.
        diameter: Of the set, or how far the start is from the solution at most.
        radius: Positive.

    Raises:
        ProblemError: A constant is not positive.
    """
    if not (lipschitz > 0 and strong_monotonicity > 0 and radius > 0):
        raise ProblemError(
            "lipschitz, strong_monotonicity, radius: positive numbers expected; regularise an "
            "operator that is only monotone"
        )
    if diameter == 0:
        return 1
    # Also for a start within the radius: a first step may lead out of it, by a factor of sqrt(2).
    kappa = strong_monotonicity / lipschitz
    lengths = math.log(2 / (1 + 2 * kappa)) + 2 * math.log(diameter / radius)
    # One more than the exact ceiling can need, against rounding of the logarithms.
    return 2 + max(0, math.ceil(lengths / math.log1p(kappa)))


def iterations_for_gap(operator: Operator, gap: float) -> int:
    """How many iterations bring the certificate below ``gap``, whatever the start.

    Raises:
        ProblemError: ``gap`` is not positive, or the operator is not strongly monotone.
    """
    if not gap > 0:
        raise ProblemError(f"gap: a positive number expected, not {gap}")
    radius = gap / certificate_growth(operator)
    if operator.domain.diameter <= radius:
        return 1  # All points will do.
    return extrapolation_iterations(
        lipschitz=operator.lipschitz,
        strong_monotonicity=operator.strong_monotonicity,
        diameter=operator.domain.diameter,
        radius=radius,
    )


def extrapolate(
    operator: Operator, *, iterations: int, start: ArrayLike | None = None
) -> VariationalSolution:
    """Run a fixed number of iterations of operator extrapolation.

    Args:
        operator: Strongly monotone, with its set.
        iterations: Positive.
        start: A point of the set; its centre by default.

    Returns:
        The last point, which lies in the set, and its certificate.

    Raises:
        ProblemError: A parameter is out of range, or the operator is not strongly monotone.
    """
    check_iterations(iterations)
    if operator.strong_monotonicity <= 0:
        raise ProblemError(
            "strong_monotonicity: 0; operator extrapolation needs a strongly monotone operator: "
            "use regularized(), proximal_point or extragradient"
        )
    domain = operator.domain
    point = extrapolation_run(
        operator.function,
        domain,
        lipschitz=operator.lipschitz,
        strong_monotonicity=operator.strong_monotonicity,
        iterations=iterations,
        start=domain.require_point("start", start),
    )
    gap = certificate(operator(point), point, domain)
    return VariationalSolution(
        point=point, gap=gap, evaluations=iterations + 1, iterations=iterations
    )


def extrapolation_run(
    function: Callable[[FloatArray], FloatArray],
    domain: ConvexSet,
    *,
    lipschitz: float,
    strong_monotonicity: float,
    iterations: int,
    start: FloatArray,
    weight: float = 0.0,
    anchor: FloatArray | None = None,
) -> FloatArray:
    """The theorem's z_{N+1}; constants are taken at their word.

    Args:
        function: F.
        domain: W.
        lipschitz: L, of F.
        strong_monotonicity: mu, of G.
        iterations: N.
        start: z_1, a point of W.
        weight: lambda.
        anchor: c, in W or not; any without a weight.
    """
    step, theta = 1 / (2 * lipschitz), 1 / (1 + strong_monotonicity / lipschitz)
    shrink = 1 / (1 + step * weight)
    pulled = 0.0 if anchor is None else step * weight * anchor
    point, before = start, None
    for _ in range(iterations):
        value = function(point)
        ahead = value if before is None else value + theta * (value - before)
        point, before = domain.project(shrink * (point + pulled - step * ahead)), value
    return point
