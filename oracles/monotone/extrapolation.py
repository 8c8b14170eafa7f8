"""Operator extrapolation (OE): one evaluation per iteration, and a count known beforehand.

Theorem (docs/theory/variational.md, Theorem 2). Let G be L-Lipschitz and mu-strongly monotone on W,
``a = 1 + mu / L``, z_0 = z_1 and

    z_{t+1} = P( z_t - [G(z_t) + (G(z_t) - G(z_{t-1})) / a] / (2 L) ).

Then ``|z_{N+1} - z*|^2 <= 2 / (1 + 2 mu / L) a^{-(N - 1)} |z_1 - z*|^2``.

Source: Kotsalis, Lan, Li, "Simple and optimal methods for stochastic variational inequalities, I"
(2020), https://arxiv.org/abs/2011.02987, Theorem 2.3, with the constant proved anew.
"""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from oracles.errors import ProblemError
from oracles.monotone.extragradient import certificate_growth, check_iterations
from oracles.monotone.gap import VariationalSolution, certificate
from oracles.monotone.operators import Operator


def extrapolation_iterations(
    *, lipschitz: float, strong_monotonicity: float, diameter: float, radius: float
) -> int:
    """How many iterations bring any start within ``radius`` of the solution, by the theorem.

    Args:
        lipschitz: L.
        strong_monotonicity: mu, positive.
        diameter: Of the set.
        radius: Positive.

    Raises:
        ProblemError: A constant is not positive.
    """
    if not (lipschitz > 0 and strong_monotonicity > 0 and radius > 0):
        raise ProblemError(
            "lipschitz, strong_monotonicity, radius: positive numbers expected; regularise an "
            "operator that is only monotone"
        )
    if diameter <= radius:
        return 1
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
    return extrapolation_iterations(
        lipschitz=operator.lipschitz,
        strong_monotonicity=operator.strong_monotonicity,
        diameter=operator.domain.diameter,
        radius=gap / certificate_growth(operator),
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
    point = domain.require_point("start", start)
    step = 1 / (2 * operator.lipschitz)
    theta = 1 / (1 + operator.strong_monotonicity / operator.lipschitz)
    before = operator(point)
    for i in range(iterations):
        value = before if i == 0 else operator(point)
        point = domain.project(point - step * (value + theta * (value - before)))
        before = value
    gap = certificate(operator(point), point, domain)
    return VariationalSolution(
        point=point, gap=gap, evaluations=iterations + 1, iterations=iterations
    )
