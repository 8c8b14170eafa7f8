"""Real noise rounded down to integers, exactly: no float takes part.

Each sampler returns ``floor(xi)`` of an *ideal* real vector xi, computed as if with infinite
precision: uniform digits are drawn a block at a time, xi is enclosed in balls by Arb, and both are
refined until every floor is certain (docs/theory/exact_noise.md, "Floors of real noise"). Since
``floor(xi + s) = floor(xi) + s`` for integer s, a proof that shifts the real density by an integer
vector is a proof for these integers.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from oracle_dp.errors import ParameterError
from oracle_dp.noise.bits import BitSource

IntArray = NDArray[np.int64]

BLOCK = 64
"""Binary digits drawn at a time, for each uniform."""

GUARD = 32
"""Bits of working precision beyond the digits of the uniforms."""


def floored_gaussian(scale: Fraction, size: int, source: BitSource) -> IntArray:
    """``floor(scale * g_i)`` of independent standard Gaussians g_i.

    Args:
        scale: The standard deviation, positive.
        size: How many.
        source: Where the bits come from.

    Raises:
        ParameterError: ``scale`` is not positive, or a draw does not fit in 64 bits.
    """
    _check(scale)
    return _floors(lambda uniforms: _gaussians(uniforms, size), 2 * size, scale, source)


def floored_gamma_norm(scale: Fraction, size: int, source: BitSource) -> IntArray:
    """``floor(xi)`` of a vector xi with density proportional to ``exp(-norm(xi) / scale)``.

    With g standard Gaussian in ``size`` dimensions and h in ``size + 1``, independent, the vector
    ``scale * norm(h) * g`` has this density: it is the scale mixture of Gaussians whose variance is
    a Gamma variable of shape (size + 1) / 2, and norm(h)^2 is twice such a variable.

    Args:
        scale: Positive; the norm is a Gamma variable of shape ``size`` and this scale.
        size: Dimension of the vector, at least 1.
        source: Where the bits come from.

    Raises:
        ParameterError: ``scale`` is not positive, or a draw does not fit in 64 bits.
    """
    _check(scale)

    def enclose(uniforms: list[arb]) -> list[arb]:
        normals = _gaussians(uniforms, 2 * size + 1)
        norm = sum((h * h for h in normals[size:]), arb(0)).sqrt()
        return [norm * g for g in normals[:size]]

    return _floors(enclose, 2 * (2 * size + 1), scale, source)


def _gaussians(uniforms: list[arb], size: int) -> list[arb]:
    """Independent standard Gaussians, each of two uniforms (Box and Muller 1958)."""
    radii = ((-2 * u.log()).sqrt() for u in uniforms[:size])
    return [r * (2 * u).cos_pi() for r, u in zip(radii, uniforms[size:], strict=True)]


def _floors(
    enclose: Callable[[list[arb]], list[arb]], n_uniforms: int, scale: Fraction, source: BitSource
) -> IntArray:
    """Refine uniforms until the floors of ``scale * enclose(uniforms)`` are certain."""
    digits = [0] * n_uniforms
    n = 0
    while True:
        digits = [(old << BLOCK) | source.bits(BLOCK) for old in digits]
        n += BLOCK
        with ctx.workprec(n + GUARD):
            exact = arb(fmpq(scale.numerator, scale.denominator))
            # U lies in [digit, digit + 1) / 2^n; the ball of that interval contains 0 only if its
            # first digits are all 0, and then the logarithm is no number and more digits are drawn.
            width = 1 << (n + 1)
            half = arb(fmpq(1, width))
            balls = [arb(arb(fmpq(2 * digit + 1, width)), half) for digit in digits]
            floors = [(exact * x).floor().unique_fmpz() for x in enclose(balls)]
        known = [int(value) for value in floors if value is not None]
        if len(known) == len(floors):
            return _as_int64(known)


def _as_int64(values: list[int]) -> IntArray:
    if any(abs(value) >= 2**63 for value in values):
        raise ParameterError(
            "scale: a draw does not fit in 64 bits; nothing is returned: use a larger epsilon"
        )
    return np.array(values, dtype=np.int64)


def _check(scale: Fraction) -> None:
    if scale <= 0:
        raise ParameterError(f"scale: a positive number expected, not {scale}")
