"""Exact decisions about real numbers that are only known by enclosures.

A coin of probability p, a real number, is tossed by comparing p with a uniform U whose binary
digits are drawn one block after another. As long as the digits so far and an enclosure of p leave
the answer open, both are refined. The answer is then that of the real numbers: no rounding takes
part in it (the "interval refining" of Haney, Desfontaines, Hartman, Shrestha, Hay 2022,
https://arxiv.org/abs/2207.13793). Enclosures are Arb's balls (F. Johansson, IEEE Transactions on
Computers 66, 2017), whose comparisons are true only when they are certain.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from flint import arb, ctx, fmpq, fmpz

from oracle_dp.noise.bits import BitSource, uniform_below
from oracle_dp.noise.exact import bernoulli_exp

BLOCK = 64
"""Binary digits drawn at a time."""

GUARD = 32
"""Bits of working precision beyond the digits of U."""

MANTISSA = 52
"""Binary digits of :func:`dyadic` integers behind the shift."""


class NotAProbabilityError(ArithmeticError):
    """What should be a probability, or masses within a total, certainly is not."""


def real_exp(exponent: Fraction) -> arb:
    """An enclosure of ``exp(exponent)`` at the working precision."""
    return arb(fmpq(exponent.numerator, exponent.denominator)).exp()


def bernoulli_real(probability: Callable[[], arb], source: BitSource) -> bool:
    """True with probability p, exactly.

    Args:
        probability: Encloses p, between 0 and 1, at the working precision of its call. The
            enclosures must shrink to p as the precision grows.
        source: Where the bits come from.

    Raises:
        NotAProbabilityError: p is certainly above 1 or below 0.
    """
    digits, n = 0, 0
    while True:
        digits = (digits << BLOCK) | source.bits(BLOCK)
        n += BLOCK
        with ctx.workprec(n + GUARD):
            p = probability()
            if p > 1 or p < 0:
                raise NotAProbabilityError("a probability outside [0, 1]")
            # U lies in [digits, digits + 1) / 2^n.
            scaled = p * arb(fmpz(1) << n)
            if scaled >= digits + 1:
                return True
            if scaled <= digits:
                return False


def pick_real(weights: Callable[[], Sequence[arb]], source: BitSource) -> int:
    """Index i with probability proportional to the real number ``w_i``, exactly.

    Args:
        weights: Encloses w, not negative and not all 0, at the working precision of its call. The
            enclosures must shrink to w as the precision grows.
        source: Where the bits come from.

    Raises:
        ValueError: A weight is certainly negative, or their sum is certainly not positive.
    """
    digits, n = 0, 0
    while True:
        digits = (digits << BLOCK) | source.bits(BLOCK)
        n += BLOCK
        with ctx.workprec(n + GUARD):
            index = _place(weights(), digits, n)
        if index is not None:
            return index


def _place(weights: Sequence[arb], digits: int, n: int) -> int | None:
    """Whose stretch of the line holds ``U * total`` for every U in ``[digits, digits + 1) / 2^n``.

    None if the enclosures leave it open.
    """
    if any(weight < 0 for weight in weights):
        raise ValueError("a negative weight")
    total = sum(weights, arb(0))
    if total <= 0:
        raise ValueError("weights without a positive sum")
    least, most = total * arb(fmpz(digits)), total * arb(fmpz(digits + 1))
    begin = arb(0)
    for i, weight in enumerate(weights):
        end = begin + weight * arb(fmpz(1) << n)
        # The line's own ends need no comparison, which would compare a ball with itself.
        if i > 0 and not least >= begin:
            return None
        if i == len(weights) - 1 or most <= end:
            return i
        begin = end
    raise ValueError("no weight")


def dyadic(logarithm: float, shift: int) -> int:
    """A fixed function of a float: about ``exp(logarithm) * 2^(shift + 52)``, as an integer.

    It rounds relatively by less than 2^-40 for logarithms up to 4000 in size. What matters is
    only that equal floats give equal integers: masses are what this function says they are.
    """
    mantissa, exponent = dyadic_parts(logarithm)
    moved = exponent + shift
    return mantissa << moved if moved >= 0 else mantissa >> -moved


def dyadic_parts(logarithm: float) -> tuple[int, int]:
    """A fixed function of a float: integers with ``m 2^(e - 52)`` about ``exp(logarithm)``.

    As :func:`dyadic`, and never 0.
    """
    power = logarithm / math.log(2)
    whole = math.floor(power)
    return int(2.0 ** (power - whole) * 2.0**MANTISSA), whole


def pick_mass(masses: Sequence[int], total: int, source: BitSource) -> int | None:
    """Index i with probability ``masses[i] / total``, exactly; None with what is left.

    Raises:
        NotAProbabilityError: The masses add up to more than the total.
    """
    if sum(masses) > total:
        raise NotAProbabilityError("masses above their total")
    place = uniform_below(source, total)
    for i, mass in enumerate(masses):
        if place < mass:
            return i
        place -= mass
    return None


def pick_cost(costs: Sequence[int], beta: Fraction, source: BitSource) -> int:
    """Index i with probability proportional to ``exp(-beta costs[i])``, exactly.

    By rejection from the uniform law: every round accepts the cheapest index surely.
    """
    least = min(costs)
    while True:
        i = uniform_below(source, len(costs))
        if bernoulli_exp(beta * (costs[i] - least), source):
            return i
