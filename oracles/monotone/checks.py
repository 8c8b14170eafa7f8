"""Looking at an operator on sampled points: is it monotone, L-Lipschitz, bounded by M?

A sample can refute these and never prove them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from oracles.arrays import FloatArray
from oracles.errors import NonMonotoneWarning, ProblemError
from oracles.monotone.sets import ConvexSet

ROUNDING = 1e-9
"""Relative slack for what rounding alone may do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledProperties:
    """What a sample of pairs of points shows.

    Attributes:
        monotonicity: The least ``<F(w) - F(v), w - v> / |w - v|^2``: negative refutes.
        lipschitz: The largest ``|F(w) - F(v)| / |w - v|``: a lower bound on L.
        bound: The largest ``|F(w)|``: a lower bound on M.
    """

    monotonicity: float
    lipschitz: float
    bound: float


def sample_points(domain: ConvexSet, count: int, generator: np.random.Generator) -> FloatArray:
    """Points of a set, most of them on its boundary, shape ``(count, dimension)``."""
    spread = domain.diameter or 1.0
    steps = generator.standard_normal((count, domain.dimension))
    steps *= spread * generator.random((count, 1)) / np.sqrt(domain.dimension)
    return np.array([domain.project(domain.centre + step) for step in steps])


def sampled_properties(
    function: Callable[[FloatArray], FloatArray],
    domain: ConvexSet,
    *,
    samples: int = 100,
    seed: int = 0,
) -> SampledProperties:
    """Look at an operator at pairs of sampled points.

    Args:
        function: The operator.
        domain: Where it is sampled.
        samples: Number of pairs, at least 1; a third of them are close to each other.
        seed: Of the sample; the same seed gives the same points.

    Raises:
        ProblemError: ``samples`` is below 1, or the operator returns NaN or infinite values.
    """
    if samples < 1:
        raise ProblemError(f"samples: at least 1 expected, not {samples}")
    generator = np.random.default_rng(seed)
    first = sample_points(domain, samples, generator)
    second = sample_points(domain, samples, generator)
    near = slice(0, samples // 3)
    moved = first[near] + 1e-3 * (second[near] - first[near])
    second[near] = moved  # A convex combination, so still inside.
    values = [(function(w), function(v)) for w, v in zip(first, second, strict=True)]
    if not np.isfinite(values).all():
        raise ProblemError(
            "function: NaN or infinite at a sampled point; it must be finite on the set"
        )
    changes = np.array([a - b for a, b in values])
    steps = first - second
    squares = np.einsum("ij,ij->i", steps, steps)
    apart = squares > 0
    inner = np.einsum("ij,ij->i", changes, steps)[apart] / squares[apart]
    slopes = np.linalg.norm(changes, axis=1)[apart] / np.sqrt(squares[apart])
    return SampledProperties(
        monotonicity=float(inner.min(initial=0.0)) if not apart.any() else float(inner.min()),
        lipschitz=float(slopes.max(initial=0.0)),
        bound=max(float(np.linalg.norm(value)) for pair in values for value in pair),
    )


def check_operator(
    function: Callable[[FloatArray], FloatArray],
    domain: ConvexSet,
    *,
    lipschitz: float,
    bound: float,
    samples: int = 100,
    seed: int = 0,
) -> SampledProperties:
    """Compare an operator with what is claimed of it, at sampled points.

    Args:
        function: The operator.
        domain: Where it is sampled.
        lipschitz: The claimed L.
        bound: The claimed M.
        samples: Number of pairs of points.
        seed: Of the sample.

    Returns:
        What the sample shows.

    Warns:
        NonMonotoneWarning: Two sampled points refute monotonicity.

    Raises:
        ProblemError: They refute L or M, or the operator is not finite there.
    """
    found = sampled_properties(function, domain, samples=samples, seed=seed)
    if found.lipschitz > lipschitz * (1 + ROUNDING):
        raise ProblemError(
            f"lipschitz: {lipschitz:g} is exceeded at sampled points; state a larger constant, or "
            "clip the features that the operator is made of"
        )
    if found.bound > bound * (1 + ROUNDING):
        raise ProblemError(
            f"bound: {bound:g} is exceeded at a sampled point; state a larger constant, or clip "
            "the features that the operator is made of"
        )
    if found.monotonicity < -ROUNDING * max(1.0, lipschitz):
        warnings.warn(
            "the operator is not monotone at sampled points: rates and gap certificates do not "
            "hold for it; declare it monotone=False",
            NonMonotoneWarning,
            stacklevel=2,
        )
    return found
