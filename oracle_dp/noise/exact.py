"""Integer samplers whose laws are exact: rational parameters, uniform bits, no float anywhere.

Theorem (Canonne, Kamath, Steinke 2020, Algorithms 1 and 2): from fair bits and integer
comparisons alone, a program that stops with probability one draws Bernoulli(exp(-gamma)) for
every rational gamma >= 0, and the geometric laws with ratio exp(-s/t) for all integers
s, t >= 1. So the privacy loss of a shift is the one on paper, not that of a rounded logarithm.
The proofs, and what they do not cover, are in ``docs/theory/exact_noise.md``.

Running time depends on the values drawn. Exponents and shapes are public parameters.

References:
    C. Canonne, G. Kamath, T. Steinke, "The Discrete Gaussian for Differential Privacy", 2020,
    https://arxiv.org/abs/2004.00010.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from oracle_dp.errors import ParameterError
from oracle_dp.noise.bits import BitSource, uniform_below

SMALLEST_ARRAY_EXPONENT = Fraction(1, 2**40)
"""Below this exponent the array samplers refuse: draws would come near the end of int64."""


def rational(name: str, value: int | float | str | Fraction) -> Fraction:
    """Read a public parameter such as epsilon as a rational that is never above it.

    A float stands for two numbers, its exact binary value and the shortest decimal that prints
    it. The smaller one is taken, so the privacy loss exceeds neither reading. This is the safe
    side for epsilon only; a sensitivity must not be rounded down.

    Args:
        name: Name of the parameter, for the error message.
        value: An int, a Fraction, a finite float (also NumPy's), or a string such as "0.1",
            "1e-3" or "1/3", which is read exactly.

    Returns:
        The rational; equal to ``value`` unless that is a float.

    Raises:
        ParameterError: ``value`` is something else, a bool, NaN, infinite, or not a number.
    """
    if isinstance(value, str):
        return _parse(name, value)
    if isinstance(value, float | np.floating):
        if not np.isfinite(value):
            raise ParameterError(f"{name} must be finite, not {value}")
        # NumPy's formatter, because float32 has a shortest decimal of its own.
        shortest = Fraction(np.format_float_scientific(value, trim="-"))
        return min(shortest, Fraction(*value.as_integer_ratio()))
    if isinstance(value, bool) or not isinstance(value, numbers.Rational):
        raise ParameterError(f"{name} must be an int, float, Fraction or str, not {value!r}")
    return Fraction(int(value.numerator), int(value.denominator))


def positive_rational(name: str, value: int | float | str | Fraction) -> Fraction:
    """Read a public parameter that must be positive; otherwise as :func:`rational`.

    Args:
        name: Name of the parameter, for the error message.
        value: As for :func:`rational`.

    Returns:
        A positive rational, never above ``value``.

    Raises:
        ParameterError: As for :func:`rational`, or ``value`` is zero or negative.
    """
    number = rational(name, value)
    if number <= 0:
        raise ParameterError(f"{name} must be positive, not {value}")
    return number


def bernoulli(p: Fraction | int, source: BitSource) -> bool:
    """Draw True with probability exactly ``p``.

    Args:
        p: A rational in [0, 1].
        source: Where the bits come from.

    Raises:
        ParameterError: ``p`` is not a rational, or outside [0, 1].
    """
    top, bottom = _ratio("p", p)
    if not 0 <= top <= bottom:
        raise ParameterError(f"p must lie in [0, 1], not {p}")
    return uniform_below(source, bottom) < top


def bernoulli_exp(gamma: Fraction | int, source: BitSource) -> bool:
    """Draw True with probability exactly exp(-gamma).

    Args:
        gamma: A rational, 0 or more. A large one costs nothing: the whole part is a run of
            Bernoulli(exp(-1)) that ends at the first False.
        source: Where the bits come from.

    Raises:
        ParameterError: ``gamma`` is not a rational, or negative.
    """
    top, bottom = _ratio("gamma", gamma)
    if top < 0:
        raise ParameterError(f"gamma must be 0 or more, not {gamma}")
    whole, rest = divmod(top, bottom)
    for _ in range(whole):
        if not _bernoulli_exp_unit(1, 1, source):
            return False
    return _bernoulli_exp_unit(rest, bottom, source)


def geometric(exponent: Fraction | int, source: BitSource) -> int:
    """Draw X with P[X = x] = (1 - q) q**x for x = 0, 1, 2, ..., where q = exp(-exponent).

    Args:
        exponent: A positive rational, of any size.
        source: Where the bits come from.

    Returns:
        The draw, unbounded.

    Raises:
        ParameterError: ``exponent`` is not a rational, or not positive.
    """
    return _geometric(*positive_ratio("exponent", exponent), source)


def two_sided_geometric(exponent: Fraction | int, source: BitSource) -> int:
    """Draw X with P[X = x] = (1 - q) / (1 + q) * q**abs(x), where q = exp(-exponent).

    The discrete Laplace law of scale 1 / exponent, on all integers.

    Args:
        exponent: A positive rational, of any size.
        source: Where the bits come from.

    Returns:
        The draw, unbounded.

    Raises:
        ParameterError: ``exponent`` is not a rational, or not positive.
    """
    return _two_sided_geometric(*positive_ratio("exponent", exponent), source)


def geometric_array(
    exponent: Fraction | int, shape: int | tuple[int, ...], source: BitSource
) -> NDArray[np.int64]:
    """Draw an array of independent :func:`geometric` values.

    A draw of 2**63 or more raises; it is neither truncated nor drawn again. That event is
    independent of the data, has probability below ``size * exp(-2**23)``, and adds at most
    e**epsilon times as much to delta; :func:`geometric` has no such event.

    Args:
        exponent: A rational, at least :data:`SMALLEST_ARRAY_EXPONENT`.
        shape: Shape of the array.
        source: Where the bits come from.

    Returns:
        The draws, int64, of the given shape.

    Raises:
        ParameterError: ``exponent`` is not such a rational, or a draw does not fit in int64.
    """
    return _array(_geometric, exponent, shape, source)


def two_sided_geometric_array(
    exponent: Fraction | int, shape: int | tuple[int, ...], source: BitSource
) -> NDArray[np.int64]:
    """Draw an array of independent :func:`two_sided_geometric` values.

    Draws outside int64 are treated as in :func:`geometric_array`.

    Args:
        exponent: A rational, at least :data:`SMALLEST_ARRAY_EXPONENT`.
        shape: Shape of the array.
        source: Where the bits come from.

    Returns:
        The draws, int64, of the given shape.

    Raises:
        ParameterError: ``exponent`` is not such a rational, or a draw does not fit in int64.
    """
    return _array(_two_sided_geometric, exponent, shape, source)


def _bernoulli_exp_unit(top: int, bottom: int, source: BitSource) -> bool:
    """Bernoulli(exp(-top/bottom)) for 0 <= top <= bottom (Algorithm 1, first case)."""
    k = 1
    while uniform_below(source, bottom * k) < top:
        k += 1
    return k % 2 == 1


def _geometric(top: int, bottom: int, source: BitSource) -> int:
    """Geometric with ratio exp(-top/bottom) (Algorithm 2 without its sign).

    ``remainder + bottom * quotient`` has ratio exp(-1/bottom); the floor of its ``top``-th part
    has the ratio asked for. Loops are short whatever the exponent.
    """
    while True:
        remainder = uniform_below(source, bottom)
        if _bernoulli_exp_unit(remainder, bottom, source):
            break
    quotient = 0
    while _bernoulli_exp_unit(1, 1, source):
        quotient += 1
    return (remainder + bottom * quotient) // top


def _two_sided_geometric(top: int, bottom: int, source: BitSource) -> int:
    while True:
        negative = source.bits(1)
        magnitude = _geometric(top, bottom, source)
        if not negative:
            return magnitude
        # -0 is drawn again, sign and magnitude, or zero would have twice its probability.
        if magnitude:
            return -magnitude


def _array(
    draw: Callable[[int, int, BitSource], int],
    exponent: Fraction | int,
    shape: int | tuple[int, ...],
    source: BitSource,
) -> NDArray[np.int64]:
    top, bottom = positive_ratio("exponent", exponent)
    if Fraction(top, bottom) < SMALLEST_ARRAY_EXPONENT:
        raise ParameterError(
            f"exponent {exponent} is below 2**-40, so draws may not fit in int64: "
            "draw one value at a time, as Python integers"
        )
    return fill(lambda: draw(top, bottom, source), shape, f"exponent {exponent}")


def fill(
    draw: Callable[[], int], shape: int | tuple[int, ...], described: str
) -> NDArray[np.int64]:
    """An array of draws; one that does not fit is an error."""
    noise = np.empty(shape, dtype=np.int64)
    draws = (draw() for _ in range(noise.size))
    try:
        noise.reshape(-1)[:] = np.fromiter(draws, dtype=np.int64, count=noise.size)
    except OverflowError:
        # Without the cause: a traceback must not show what was drawn.
        raise ParameterError(
            f"a draw with {described} does not fit in int64; nothing is returned: "
            "draw one value at a time, as Python integers"
        ) from None
    return noise


def _ratio(name: str, value: object) -> tuple[int, int]:
    """Numerator and denominator of a rational, as Python's unbounded integers.

    Fractions built from NumPy integers carry them inside, and those would overflow silently.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Rational):
        raise ParameterError(
            f"{name} must be a Fraction or an int, not {value!r}: "
            "oracle_dp.noise.rational turns a float into a Fraction"
        )
    return int(value.numerator), int(value.denominator)


def positive_ratio(name: str, value: object) -> tuple[int, int]:
    """As ``_ratio``, of a number that must be positive."""
    top, bottom = _ratio(name, value)
    if top <= 0:
        raise ParameterError(f"{name} must be positive, not {value}")
    return top, bottom


def _parse(name: str, text: str) -> Fraction:
    # "1e999999999" would be worked out digit by digit.
    short = len(text.lower().partition("e")[2]) <= len("-9999")
    try:
        if short:
            number = Fraction(text)
            # Beyond, Python would refuse to print it in a message.
            if max(number.numerator.bit_length(), number.denominator.bit_length()) <= 8192:
                return number
    except (ValueError, ZeroDivisionError):
        pass
    raise ParameterError(
        f'{name} must be a number such as "0.1", "1e-3" or "1/3", not {text!r}'
    ) from None
