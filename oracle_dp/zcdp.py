"""From zero-concentrated to approximate differential privacy, never on the optimistic side.

Theorem (docs/theory/rivals.md, Lemma 5; Canonne, Kamath, Steinke 2020, Proposition 12). A mechanism
that is rho-zCDP is (epsilon, delta)-differentially private whenever, for *some* order a > 1,

    delta >= exp((a - 1) (a rho - epsilon)) / (a - 1) * (1 - 1 / a)^a.

Where its hypotheses are enforced: floating point only proposes rho and the order; the inequality is
decided for these two rationals by Arb's enclosures (:func:`converts`).

Source: "The Discrete Gaussian for Differential Privacy", https://arxiv.org/abs/2004.00010.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, ctx, fmpq
from scipy.optimize import brentq

from oracle_dp.errors import ParameterError

PRECISION = 256
"""Bits; undecided comparisons count against the claim."""

_SHRINK = 1e-9
"""By how much, relatively, a proposed rho is lowered before it is checked, at first."""


def converts(rho: Fraction, epsilon: Fraction, delta: Fraction, order: Fraction) -> bool:
    """Whether rho-zCDP is certain to imply (epsilon, delta) by this order."""
    with ctx.workprec(PRECISION):
        a, above = _real(order), _real(order - 1)
        exponent = _real((order - 1) * (order * rho - epsilon))
        logarithm = exponent - above.log() + a * (above / a).log()
        return bool(logarithm <= _real(delta).log())


def largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """A rho that implies (epsilon, delta), the largest up to a relative 1e-6 or so.

    Args:
        epsilon: Positive.
        delta: In (0, 1).

    Raises:
        ParameterError: The figures are too large or small for floating point to propose a rho.
    """
    try:
        proposed = _propose(float(epsilon), _log(delta))
        shrink = _SHRINK
        while shrink < 1:
            rho = Fraction(proposed * (1 - shrink))
            order = 1 + Fraction(_best_order(float(rho), float(epsilon)))
            if converts(rho, epsilon, delta, order):
                return rho
            shrink *= 10
    except (OverflowError, ValueError, ZeroDivisionError):
        pass
    raise ParameterError("epsilon, delta: out of the range in which zCDP can be converted")


def _propose(epsilon: float, log_delta: float) -> float:
    def excess(log_rho: float) -> float:
        rho = math.exp(log_rho)
        return _log_delta(rho, epsilon, _best_order(rho, epsilon)) - log_delta

    # The textbook's rho + 2 sqrt(rho ln(1 / delta)) = epsilon is always within the claim.
    low = 2 * math.log(epsilon / (math.sqrt(epsilon - log_delta) + math.sqrt(-log_delta)))
    high = low
    while excess(high) <= 0:
        high += 1.0
    while excess(low) > 0:
        low -= 1.0
    return math.exp(float(brentq(excess, low, high, xtol=1e-12)))


def _best_order(rho: float, epsilon: float) -> float:
    """The order less 1 at which the claim is best: a zero of an increasing function."""

    def slope(log_above: float) -> float:
        above = math.exp(log_above)
        return rho * (1 + 2 * above) - epsilon + log_above - math.log1p(above)

    low, high = -100.0, 100.0
    if slope(low) >= 0:
        return math.exp(low)
    return math.exp(float(brentq(slope, low, high, xtol=1e-12)))


def _log_delta(rho: float, epsilon: float, above: float) -> float:
    shape = above * math.log(above) - (1 + above) * math.log1p(above)
    return above * ((1 + above) * rho - epsilon) + shape


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


def _real(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))
