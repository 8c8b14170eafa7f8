"""The discrete Laplace and discrete Gaussian laws by their usual parameters, exactly.

Theorem (Canonne, Kamath, Steinke 2020, Theorem 4 and Algorithm 3; docs/theory/exact_noise.md). Let
X have P[X = x] proportional to exp(-x^2 / (2 v)) on the integers. Adding independent copies of X to
an integer vector that moves by at most s in Euclidean norm between neighbours is
(s^2 / (2 v))-zCDP. For the discrete Laplace law, proportional to exp(-abs(x) / b), and a vector
that moves by at most s in L1 norm, it is purely (s / b)-differentially private.

The vector must be integer and s its sensitivity; nothing here can check that. The law is exact:
parameters are rational, and every comparison is between integers.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from oracle_dp.errors import ParameterError
from oracle_dp.noise.bits import BitSource
from oracle_dp.noise.exact import (
    SMALLEST_ARRAY_EXPONENT,
    bernoulli_exp,
    fill,
    positive_ratio,
    two_sided_geometric,
    two_sided_geometric_array,
)

LARGEST_ARRAY_VARIANCE = 1 / SMALLEST_ARRAY_EXPONENT**2
"""Above this parameter the array sampler refuses: draws would come near the end of int64."""


def discrete_laplace(scale: Fraction | int, source: BitSource) -> int:
    """Draw X with P[X = x] proportional to exp(-abs(x) / scale).

    Args:
        scale: A positive rational.
        source: Where the bits come from.

    Returns:
        The draw, unbounded: :func:`oracle_dp.noise.two_sided_geometric` of ``1 / scale``.

    Raises:
        ParameterError: ``scale`` is not a rational, or not positive.
    """
    top, bottom = positive_ratio("scale", scale)
    return two_sided_geometric(Fraction(bottom, top), source)


def discrete_laplace_array(
    scale: Fraction | int, shape: int | tuple[int, ...], source: BitSource
) -> NDArray[np.int64]:
    """Draw an array of independent :func:`discrete_laplace` values.

    Draws outside int64 are treated as in :func:`oracle_dp.noise.geometric_array`.

    Args:
        scale: A rational, at most ``1 / SMALLEST_ARRAY_EXPONENT``.
        shape: Shape of the array.
        source: Where the bits come from.

    Raises:
        ParameterError: ``scale`` is not such a rational, or a draw does not fit in int64.
    """
    top, bottom = positive_ratio("scale", scale)
    return two_sided_geometric_array(Fraction(bottom, top), shape, source)


def discrete_gaussian(variance: Fraction | int, source: BitSource) -> int:
    """Draw X with P[X = x] proportional to exp(-x^2 / (2 variance)).

    Args:
        variance: The parameter v, a positive rational. The variance of X itself is at most v, and
            close to it from v = 1 on.
        source: Where the bits come from.

    Returns:
        The draw, unbounded.

    Raises:
        ParameterError: ``variance`` is not a rational, or not positive.
    """
    return _discrete_gaussian(Fraction(*positive_ratio("variance", variance)), source)


def discrete_gaussian_array(
    variance: Fraction | int, shape: int | tuple[int, ...], source: BitSource
) -> NDArray[np.int64]:
    """Draw an array of independent :func:`discrete_gaussian` values.

    A draw of 2**63 or more raises, and is neither truncated nor drawn again; its probability is
    below ``2 * size * exp(-2**44)``.

    Args:
        variance: A rational, at most :data:`LARGEST_ARRAY_VARIANCE`.
        shape: Shape of the array.
        source: Where the bits come from.

    Raises:
        ParameterError: ``variance`` is not such a rational, or a draw does not fit in int64.
    """
    v = Fraction(*positive_ratio("variance", variance))
    if v > LARGEST_ARRAY_VARIANCE:
        raise ParameterError(
            f"variance {variance} is above 2**80, so draws may not fit in int64: "
            "draw one value at a time, as Python integers"
        )
    return fill(lambda: _discrete_gaussian(v, source), shape, f"variance {variance}")


def _discrete_gaussian(variance: Fraction, source: BitSource) -> int:
    """Rejection from the discrete Laplace law of scale t > sqrt(variance) (Algorithm 3)."""
    t = math.isqrt(variance.numerator // variance.denominator) + 1
    while True:
        drawn = two_sided_geometric(Fraction(1, t), source)
        if bernoulli_exp((abs(drawn) - variance / t) ** 2 / (2 * variance), source):
            return drawn
