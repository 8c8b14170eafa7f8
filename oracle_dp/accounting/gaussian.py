"""The Gaussian mechanism, exactly: mu-Gaussian differential privacy.

Theorem (docs/accounting.md, Theorem 1; Balle, Wang 2018, Theorem 8; Dong, Roth, Su 2022, Corollary
2.13). Noise of standard deviation sigma on a function of sensitivity s is mu-GDP with mu = s/sigma,
and (epsilon, delta)-differentially private for exactly the delta of at least
Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2). Adaptive releases compose to
mu = sqrt(mu_1^2 + ... + mu_k^2).

Where its hypotheses are enforced: the formula is decided by Arb's enclosures, at a precision
that is raised until they suffice: every result is the float next to the truth, on its safe side.

Sources: https://arxiv.org/abs/1805.06530, https://arxiv.org/abs/1905.02383.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from oracle_dp.accounting._numbers import SMALLEST, figure, greatest_float, least_float, real, top

_PRECISIONS = (128, 256, 1024, 4096, 16384)
"""Bits, tried in turn: the two terms cancel where epsilon and mu are tiny."""

_LARGEST = 1e9
"""Of epsilon and of mu where delta is sought: far within what the enclosures can hold."""

_LARGEST_MU = 1e4
"""Where epsilon is sought: beyond any use, and its epsilon is in range."""

_LARGEST_EPSILON = math.nextafter(1e6, math.inf)
"""Where mu is sought."""

_ROOT_BITS = 1100
"""Absolute bits of a composed mu: beneath the smallest float's."""

_ACCURATE = 90
"""Bits that a value needs for its next float to be beyond doubt."""


def gaussian_delta(epsilon: float | Fraction, *, mu: float | Fraction) -> float:
    """The least delta for which mu-GDP implies (epsilon, delta), rounded up.

    Args:
        epsilon: In [0, 1e9).
        mu: Sensitivity over standard deviation, in [0, 1e9). Of k adaptive releases, the square
            root of the sum of their squares.

    Returns:
        The least float not below delta; never 0 for a positive mu.

    Raises:
        ParameterError: A parameter is out of its range.
    """
    loss = figure("epsilon", epsilon, high=_LARGEST, closed=True)
    shift = figure("mu", mu, high=_LARGEST, closed=True)
    if shift == 0:
        return 0.0
    for precision in _PRECISIONS:
        with ctx.workprec(precision):
            enclosure = _delta(loss, shift)
            delta = min(top(enclosure), 1.0)
        if enclosure.rel_accuracy_bits() >= _ACCURATE or delta == SMALLEST:
            break
    return delta


def gaussian_epsilon(delta: float | Fraction, *, mu: float | Fraction) -> float:
    """The least epsilon for which mu-GDP implies (epsilon, delta), rounded up.

    Args:
        delta: In (0, 1).
        mu: In [0, 1e4).

    Returns:
        The least float not below epsilon; 0 where delta allows it.

    Raises:
        ParameterError: A parameter is out of its range.
    """
    allowed = figure("delta", delta, high=1)
    shift = figure("mu", mu, high=_LARGEST_MU, closed=True)
    if shift == 0 or _suffices(Fraction(0), shift, allowed):
        return 0.0
    # delta <= P(loss > epsilon), and the loss is Gaussian: mean mu^2/2, standard deviation mu.
    size = float(shift)
    high = (size * size / 2 + size * math.sqrt(2 * _minus_log(allowed))) * 1.001 + 1e-300
    return least_float(lambda epsilon: _suffices(Fraction(epsilon), shift, allowed), 0.0, high)


def gaussian_mu(epsilon: float | Fraction, *, delta: float | Fraction) -> float:
    """The largest mu for which mu-GDP implies (epsilon, delta), rounded down.

    The standard deviation of the noise is the sensitivity over mu.

    Args:
        epsilon: In [0, 1e6].
        delta: In (0, 1).

    Returns:
        The greatest float not above mu.

    Raises:
        ParameterError: A parameter is out of its range.
    """
    loss = figure("epsilon", epsilon, high=_LARGEST_EPSILON, closed=True)
    return _largest_mu(loss, figure("delta", delta, high=1))


@lru_cache(maxsize=256)
def _largest_mu(loss: Fraction, allowed: Fraction) -> float:
    def holds(mu: float) -> bool:
        return mu == 0 or _suffices(loss, Fraction(mu), allowed)

    high = math.sqrt(2 * float(loss)) + 1.0
    while holds(high):
        high *= 2
    return greatest_float(holds, 0.0, high)


def _delta(epsilon: Fraction, mu: Fraction) -> arb:
    """At the working precision; Phi(-x) is erfc(x / sqrt 2) / 2."""
    root = arb(2).sqrt()
    far, near = real(epsilon / mu + mu / 2) / root, real(epsilon / mu - mu / 2) / root
    return (near.erfc() - real(epsilon).exp() * far.erfc()) / 2


def _suffices(epsilon: Fraction, mu: Fraction, delta: Fraction) -> bool:
    """Whether mu-GDP is certain to imply (epsilon, delta)."""
    for precision in _PRECISIONS:
        with ctx.workprec(precision):
            least, allowed = _delta(epsilon, mu), real(delta)
            if least <= allowed:
                return True
            if least > allowed:
                return False
    return False


def _minus_log(value: Fraction) -> float:
    return math.log(value.denominator) - math.log(value.numerator)


def composed_mu(mus: Sequence[Fraction], *, times: int = 1) -> Fraction:
    """A rational not below sqrt(times * sum mu_i^2), the root being irrational as a rule."""
    total = times * sum((mu * mu for mu in mus), Fraction(0))
    if total == 0:
        return total
    return Fraction(math.isqrt(int(total * 4**_ROOT_BITS)) + 1, 2**_ROOT_BITS)
