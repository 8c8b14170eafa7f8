"""The extragradient method, with the number of iterations that its rate asks for.

Theorem (docs/theory/variational.md, Theorem 1). Let F be monotone and L-Lipschitz on W, of diameter
D, and ``w_t = P(u_{t-1} - step F(u_{t-1}))``, ``u_t = P(u_{t-1} - step F(w_t))``. With step <= 1/L
the average of w_1, ..., w_T has a gap of at most D^2 / (2 step T). If F is mu-strongly monotone,
kappa = mu / L and step = (sqrt(1 + kappa^2) - kappa) / L, then
``|u_t - w*|^2 <= (1 - step mu)^t |u_0 - w*|^2``.

Source: Korpelevich (1976); Nemirovski (2004) for the average; Tseng (1995) for the linear rate.
"""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from oracles.errors import ProblemError
from oracles.monotone.gap import VariationalSolution, certificate
from oracles.monotone.operators import Operator


def default_step(operator: Operator) -> float:
    """The theorem's step: 1/L for a monotone operator, shorter for a strongly monotone one."""
    kappa = operator.strong_monotonicity / operator.lipschitz
    return (math.hypot(1.0, kappa) - kappa) / operator.lipschitz


def extragradient_iterations(operator: Operator, gap: float) -> int:
    """How many iterations suffice for a gap, by the theorem.

    For a strongly monotone operator the gap is the certificate of the last iterate; otherwise it is
    ``sup <F(w), z - w>`` of the average.

    Args:
        operator: With its constants.
        gap: Positive.

    Raises:
        ProblemError: ``gap`` is not positive.
    """
    _check_gap(gap)
    diameter, mu = operator.domain.diameter, operator.strong_monotonicity
    step = default_step(operator)
    if mu == 0:
        return max(1, math.ceil(diameter**2 / (2 * step * gap)))
    radius = gap / certificate_growth(operator)
    if diameter <= radius:
        return 1
    return max(1, math.ceil(2 * math.log(diameter / radius) / -math.log1p(-step * mu)))


def certificate_growth(operator: Operator) -> float:
    """C with ``certificate(z) <= C |z - w*|`` for every z of the set: L D + M."""
    return operator.lipschitz * operator.domain.diameter + operator.bound


def extragradient(
    operator: Operator,
    *,
    iterations: int,
    start: ArrayLike | None = None,
    step: float | None = None,
    average: bool | None = None,
) -> VariationalSolution:
    """Run a fixed number of iterations.

    Args:
        operator: F with its set.
        iterations: Positive.
        start: A point of the set; its centre by default.
        step: Positive; :func:`default_step` by default.
        average: Whether to return the average of the w_t or the last u_t. By default the average,
            unless the operator is strongly monotone.

    Returns:
        The point and its certificate.

    Raises:
        ProblemError: A parameter is out of range, or ``start`` lies outside.
    """
    domain = operator.domain
    point = domain.require_point("start", start)
    check_iterations(iterations)
    length = default_step(operator) if step is None else step
    if not 0 < length < math.inf:
        raise ProblemError(f"step: a positive number expected, not {length}")
    averaged = operator.strong_monotonicity == 0 if average is None else average
    total = 0 * point
    for _ in range(iterations):
        half = domain.project(point - length * operator(point))
        point = domain.project(point - length * operator(half))
        total += half
    final = total / iterations if averaged else point
    gap = certificate(operator(final), final, domain)
    return VariationalSolution(
        point=final, gap=gap, evaluations=2 * iterations + 1, iterations=iterations
    )


def check_iterations(iterations: int) -> None:
    """Refuse anything but a positive integer.

    Raises:
        ProblemError: It is something else.
    """
    if isinstance(iterations, bool) or not isinstance(iterations, int) or iterations < 1:
        raise ProblemError(f"iterations: a positive integer expected, not {iterations!r}")


def _check_gap(gap: float) -> None:
    if not 0 < gap < math.inf:
        raise ProblemError(f"gap: a positive number expected, not {gap}")
