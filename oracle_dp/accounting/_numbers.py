"""Parameters as exact rationals, enclosures as floats, the last float for which a claim holds."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from numbers import Integral, Real

from flint import arb, fmpq

from oracle_dp.errors import ParameterError

SMALLEST = math.ulp(0.0)


def figure(
    name: str, value: object, *, low: float = 0.0, high: float = math.inf, closed: bool = False
) -> Fraction:
    """A public parameter, exactly as the number it is in memory.

    Args:
        name: For the message.
        value: An int, a float (also NumPy's) or a Fraction.
        low: Lower end of its range.
        high: Upper end; never reached.
        closed: Whether ``low`` itself is allowed.

    Raises:
        ParameterError: It is something else, not finite, or outside its range.
    """
    # numbers.Real knows the reals of NumPy too; a bool is one and never meant.
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ParameterError(f"{name}: a number expected, not {value!r}")
    if isinstance(value, Fraction):
        exact = value
    elif isinstance(value, Integral):
        exact = Fraction(int(value))
    elif math.isfinite(value):
        exact = Fraction(float(value))
    else:
        raise ParameterError(f"{name}: must be finite, not {value!r}")
    if not (low < exact < high or (closed and exact == low)):
        bracket = "[" if closed else "("
        raise ParameterError(f"{name}: lies in {bracket}{low:g}, {high:g}), not {value!r}")
    return exact


def count(name: str, value: object) -> int:
    """A positive integer.

    Raises:
        ParameterError: It is something else.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ParameterError(f"{name}: a positive integer expected, not {value!r}")
    return int(value)


def real(value: Fraction) -> arb:
    """An enclosure of a rational at the working precision."""
    return arb(fmpq(value.numerator, value.denominator))


def above(value: Fraction) -> float:
    """The least float that is not below a rational; infinity where there is none."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.nextafter(math.inf, 0)
    return math.nextafter(nearest, math.inf) if Fraction(nearest) < value else nearest


def below(value: Fraction) -> float:
    """The greatest float that is not above a rational."""
    return -above(-value)


def top(enclosure: arb) -> float:
    """The least float that is not below a non-negative real anywhere in an enclosure."""
    upper = enclosure.upper()
    if not upper.is_finite():
        return math.inf
    if upper <= 0:
        return 0.0
    mantissa, exponent = (int(part) for part in upper.man_exp())
    # Its power of two could be too large to write down.
    if mantissa.bit_length() + exponent < -1080:
        return SMALLEST
    if mantissa.bit_length() + exponent > 1100:
        return math.inf
    return above(mantissa * Fraction(2) ** exponent)


def least_float(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The least float in [low, high] for which a claim holds, given that it does for ``high``.

    Args:
        holds: True from some float on.
        low: Not negative.
        high: Not below ``low``.
    """
    # Floats that are not negative are ordered as their bits are.
    first, last = _bits(low), _bits(high)
    while first < last:
        middle = (first + last) // 2
        if holds(_float(middle)):
            last = middle
        else:
            first = middle + 1
    return _float(last)


def greatest_float(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The greatest float in [low, high) for which a claim holds, given that it does for ``low``."""
    beyond = least_float(lambda value: not holds(value), low, high)
    return math.nextafter(beyond, 0.0)


def _bits(value: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def _float(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", bits))[0])
