"""Exact integer noise: samplers without floating point over a source of random bits.

Parameters are rationals (:func:`rational` reads a float or a string), draws come from a
:class:`BitSource`, and each law is exactly the stated one; ``docs/theory/exact_noise.md`` has
the proofs.
"""

from oracle_dp.noise.bits import BitSource, SeededBits, SystemBits, bit_source, uniform_below
from oracle_dp.noise.discrete import (
    LARGEST_ARRAY_VARIANCE,
    discrete_gaussian,
    discrete_gaussian_array,
    discrete_laplace,
    discrete_laplace_array,
)
from oracle_dp.noise.exact import (
    SMALLEST_ARRAY_EXPONENT,
    bernoulli,
    bernoulli_exp,
    geometric,
    geometric_array,
    positive_rational,
    rational,
    two_sided_geometric,
    two_sided_geometric_array,
)

__all__ = [
    "LARGEST_ARRAY_VARIANCE",
    "SMALLEST_ARRAY_EXPONENT",
    "BitSource",
    "SeededBits",
    "SystemBits",
    "bernoulli",
    "bernoulli_exp",
    "bit_source",
    "discrete_gaussian",
    "discrete_gaussian_array",
    "discrete_laplace",
    "discrete_laplace_array",
    "geometric",
    "geometric_array",
    "positive_rational",
    "rational",
    "two_sided_geometric",
    "two_sided_geometric_array",
    "uniform_below",
]
