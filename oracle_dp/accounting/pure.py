"""Pure epsilons under adaptive composition, with a delta.

Theorem (docs/accounting.md, Theorem 6; Kairouz, Oh, Viswanath 2015; Murtagh, Vadhan 2016). An
epsilon-differentially private mechanism is a post-processing of randomised response with that
epsilon, whose privacy loss is +-epsilon. So the composition of randomised responses dominates every
adaptive composition of mechanisms with these epsilons, and is attained.

Where its hypotheses are enforced: dp-accounting convolves the losses on a grid to which each
epsilon is rounded up; basic composition and zCDP bound the result.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from oracle_dp.accounting._numbers import above, figure
from oracle_dp.accounting.zcdp import converted_epsilon

_FFT = 1e-12
_RELATIVE = 1e-9
_GRID = 100_000
"""The most grid points between no loss and the largest."""


def compose_pure(epsilons: Sequence[float | Fraction], *, delta: float | Fraction) -> float:
    """Epsilon of adaptive releases that are pure, given a delta for the whole, rounded up.

    Args:
        epsilons: Of each release, in [0, 1e3).
        delta: Of the whole, in [0, 1). With 0, or below 1e-11 with many releases, the figure is the
            better of basic composition and zCDP.

    Raises:
        ParameterError: A parameter is out of its range.
    """
    exact = [figure("epsilons", epsilon, high=1e3, closed=True) for epsilon in epsilons]
    allowed = figure("delta", delta, high=1, closed=True)
    basic = above(sum(exact, Fraction(0)))
    if allowed == 0 or len(exact) < 2 or basic == 0:
        return basic
    concentrated = sum((epsilon * epsilon for epsilon in exact), Fraction(0)) / 2
    found = [basic]
    if concentrated <= 10**6:
        found.append(converted_epsilon(concentrated, allowed))
    if allowed > 10 * _FFT and 1e-9 < basic < 1e5:
        found.append(_randomized_responses([e for e in exact if e > 0], float(allowed)))
    return min(found)


def _randomized_responses(epsilons: Sequence[Fraction], delta: float) -> float:
    from dp_accounting.pld import common, privacy_loss_distribution

    least, total = min(epsilons), sum(epsilons, Fraction(0))
    # A grid on which the least epsilon lies, unless it is too small for that.
    points = math.floor(least * _GRID / total)
    interval = above(least / points if points else total / _GRID)
    whole = privacy_loss_distribution.identity(interval)
    for epsilon, times in Counter(epsilons).items():
        one = privacy_loss_distribution.from_privacy_parameters(
            common.DifferentialPrivacyParameters(above(epsilon), 0.0),
            value_discretization_interval=interval,
        )
        whole = whole.compose(one.self_compose(times))
    found = float(whole.get_epsilon_for_delta(delta - _FFT))
    return max(0.0, found) * (1 + _RELATIVE)
