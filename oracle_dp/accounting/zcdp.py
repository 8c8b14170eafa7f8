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

from flint import ctx
from scipy.optimize import brentq

from oracle_dp.accounting._numbers import figure, greatest_float, real, top
from oracle_dp.errors import ParameterError

PRECISION = 256
"""Bits; undecided comparisons count against the claim."""

_LOWEST = -100.0
"""Logarithm of the least order less 1, and less that of the greatest."""

_LEAST_RHO = Fraction(1, 2**600)
"""Below it a rho counts as this one when epsilon is sought."""


def converts(rho: Fraction, epsilon: Fraction, delta: Fraction, order: Fraction) -> bool:
    """Whether rho-zCDP is certain to imply (epsilon, delta) by this order."""
    with ctx.workprec(PRECISION):
        a, above = real(order), real(order - 1)
        exponent = real((order - 1) * (order * rho - epsilon))
        logarithm = exponent - above.log() + a * (above / a).log()
        return bool(logarithm <= real(delta).log())


def largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest float rho that implies (epsilon, delta).

    Args:
        epsilon: Positive.
        delta: In (0, 1).

    Raises:
        ParameterError: The figures are too large or small for floating point to propose an order.
    """
    try:
        size, log = float(epsilon), -_log(delta)

        def holds(rho: float) -> bool:
            order = 1 + Fraction(_best_order(rho, size))
            return converts(Fraction(rho), epsilon, delta, order)

        # The textbook's rho + 2 sqrt(rho ln(1 / delta)) = epsilon is always within the claim.
        low = (size / (math.sqrt(size + log) + math.sqrt(log))) ** 2 * (1 - 1e-9)
        if low > 0 and holds(low):
            high = 2 * low
            while holds(high):
                high *= 2
            return Fraction(greatest_float(holds, low, high))
    except (OverflowError, ValueError, ZeroDivisionError):
        pass
    raise ParameterError("epsilon, delta: out of the range in which zCDP can be converted")


def zcdp_rho(epsilon: float | Fraction, *, delta: float | Fraction) -> float:
    """The largest rho for which rho-zCDP implies (epsilon, delta), rounded down.

    Args:
        epsilon: In (0, 1e6].
        delta: In (0, 1).

    Raises:
        ParameterError: A parameter is out of its range.
    """
    loss = figure("epsilon", epsilon, high=math.nextafter(1e6, math.inf))
    return float(largest_rho(loss, figure("delta", delta, high=1)))


def zcdp_epsilon(delta: float | Fraction, *, rho: float | Fraction) -> float:
    """The least epsilon for which rho-zCDP is known to imply (epsilon, delta), rounded up.

    For any mechanism. Where every release has Gaussian noise, sqrt(2 rho)-GDP says more:
    :func:`~oracle_dp.accounting.gaussian_epsilon` with that mu is exact.

    Args:
        delta: In (0, 1).
        rho: In [0, 1e6].

    Raises:
        ParameterError: A parameter is out of its range.
    """
    allowed = figure("delta", delta, high=1)
    spent = figure("rho", rho, high=math.nextafter(1e6, math.inf), closed=True)
    return converted_epsilon(spent, allowed)


def converted_epsilon(rho: Fraction, delta: Fraction) -> float:
    """As :func:`zcdp_epsilon`, for rationals.

    Raises:
        ParameterError: The figures are beyond floating point.
    """
    if rho == 0:
        return 0.0
    rho = max(rho, _LEAST_RHO)
    try:
        order = 1 + Fraction(_order_for_delta(float(rho), -_log(delta)))
    except (OverflowError, ValueError, ZeroDivisionError):
        raise ParameterError(
            "rho, delta: out of the range in which zCDP can be converted"
        ) from None
    with ctx.workprec(PRECISION):
        a, over = real(order), real(order - 1)
        # The claim of the module, solved for epsilon.
        return top(real(order * rho) + (-real(delta).log() - a.log()) / over + (over / a).log())


def _order_for_delta(rho: float, log: float) -> float:
    """The order less 1 at which epsilon is least, where ``log`` is ln(1 / delta)."""

    def slope(log_above: float) -> float:
        over = math.exp(log_above)
        # rho (a - 1)^2 - (ln(1/delta) - ln a) is the derivative of epsilon times (a - 1)^2.
        return 2 * log_above + math.log(rho) - math.log(max(log - math.log1p(over), 5e-324))

    # Increasing where ln a < ln(1/delta), and the least epsilon lies there.
    low, high = _LOWEST, min(-_LOWEST, _log_expm1(log))
    if slope(high) <= 0:
        return math.exp(high)
    return math.exp(float(brentq(slope, low, high, xtol=1e-13)))


def _log_expm1(value: float) -> float:
    return value if value > 40 else math.log(math.expm1(value))


def _best_order(rho: float, epsilon: float) -> float:
    """The order less 1 at which the claim is best: a zero of an increasing function."""

    def slope(log_above: float) -> float:
        above = math.exp(log_above)
        return rho * (1 + 2 * above) - epsilon + log_above - math.log1p(above)

    low, high = _LOWEST, -_LOWEST
    if slope(low) >= 0:
        return math.exp(low)
    return math.exp(float(brentq(slope, low, high, xtol=1e-12)))


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)
