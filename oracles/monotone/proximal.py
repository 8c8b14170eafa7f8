"""The inexact proximal point method, with operator extrapolation inside.

Theorem (docs/theory/variational.md, Theorem 3). Let F be monotone on W and w_{k+1} a point of W
with ``<F(w_{k+1}) + weight (w_{k+1} - w_k), w - w_{k+1}> >= -nu`` for all w of W. Then the average
of w_1, ..., w_K has a gap of at most ``nu + weight D^2 / (2 K)``.

Source: Rockafellar (1976); the ergodic form is in docs/theory/variational.md.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from oracles.errors import ProblemError
from oracles.monotone.extragradient import certificate_growth, check_iterations
from oracles.monotone.extrapolation import extrapolation_iterations, extrapolation_run
from oracles.monotone.gap import VariationalSolution, certificate
from oracles.monotone.operators import Operator


def proximal_point(
    operator: Operator,
    *,
    weight: float,
    steps: int,
    accuracy: float,
    start: ArrayLike | None = None,
    average: bool = True,
) -> VariationalSolution:
    """Solve a chain of strongly monotone problems, each to a stated accuracy.

    Args:
        operator: Monotone, with its set.
        weight: lambda, positive.
        steps: K, positive.
        accuracy: nu, positive; each step takes the number of inner iterations that guarantees it.
        start: A point of the set; its centre by default.
        average: Whether to return the average or the last point.

    Returns:
        The point and its certificate for ``operator``.

    Raises:
        ProblemError: A parameter is out of range, or ``start`` lies outside.
    """
    check_iterations(steps)
    if not (weight > 0 and accuracy > 0):
        raise ProblemError("weight, accuracy: positive numbers expected")
    domain = operator.domain
    point = domain.require_point("start", start)
    modulus = operator.strong_monotonicity + weight
    # All anchors lie in the set, so that one count serves all steps.
    iterations = extrapolation_iterations(
        lipschitz=operator.lipschitz,
        strong_monotonicity=modulus,
        diameter=domain.diameter,
        radius=accuracy / certificate_growth(operator.regularized(weight, point)),
    )
    total = 0 * point
    for _ in range(steps):
        point = extrapolation_run(
            operator.function,
            domain,
            lipschitz=operator.lipschitz,
            strong_monotonicity=modulus,
            iterations=iterations,
            start=point,
            weight=weight,
            anchor=point,
        )
        total += point
    final = total / steps if average else point
    gap = certificate(operator(final), final, domain)
    return VariationalSolution(
        point=final, gap=gap, evaluations=steps * iterations + 1, iterations=steps
    )
