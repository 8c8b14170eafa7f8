"""Lower bounds on epsilon from what two neighbouring data sets lead to.

A mechanism is (epsilon, delta)-private on a pair of data sets, in one direction, iff for every set
S of outcomes ``P[S] <= e^epsilon P'[S] + delta``. So any one S with ``P[S] > delta`` shows that
epsilon is at least ``log((P[S] - delta) / P'[S])``: this is the hockey-stick divergence, solved
for epsilon. The best S holds the outcomes with the greatest ratios of probabilities.

Every figure here is rounded down by :data:`ROUNDING`, so that floats alone show no violation.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import TypeVar

from oracle_dp.errors import ParameterError

OutcomeT = TypeVar("OutcomeT", bound=Hashable)

ROUNDING = 1e-9
"""Taken off every bound: probabilities are floats."""


def event_epsilon(first: float, second: float, *, delta: float) -> float:
    """What an event shows that has these probabilities on two data sets.

    Args:
        first: P[S], or a lower bound.
        second: P'[S], or an upper bound.
        delta: Of the claim.

    Returns:
        A lower bound on epsilon; ``-inf`` where nothing is shown, ``inf`` where no epsilon will do.

    Raises:
        ParameterError: One of them is NaN, which would look like nothing shown.
    """
    if math.isnan(first) or math.isnan(second):
        raise ParameterError("first, second: probabilities expected, not NaN")
    if first - delta <= ROUNDING * first:
        return -math.inf
    if second <= 0:
        return math.inf
    return math.log((first - delta) / second) - ROUNDING


def exact_epsilon(
    first: Mapping[OutcomeT, float], second: Mapping[OutcomeT, float], *, delta: float = 0.0
) -> float:
    """The least epsilon for which two finite laws are (epsilon, delta)-close, both ways.

    Args:
        first: Probability of each outcome on one data set; an outcome that is missing has none.
        second: On the other.
        delta: In [0, 1).

    Returns:
        That epsilon less :data:`ROUNDING`; at least 0.

    Raises:
        ParameterError: One of them is no law: a negative entry, or a sum that is not 1.
    """
    check_delta(delta)
    for name, law in (("first", first), ("second", second)):
        # NaN makes both comparisons false, and is no law.
        if not (min(law.values(), default=0.0) >= 0 and abs(math.fsum(law.values()) - 1) <= 1e-6):
            raise ParameterError(f"{name}: probabilities that add up to 1 expected")
    return max(0.0, _one_way(first, second, delta), _one_way(second, first, delta))


def _one_way(
    first: Mapping[OutcomeT, float], second: Mapping[OutcomeT, float], delta: float
) -> float:
    def ratio(outcome: OutcomeT) -> float:
        own, other = first[outcome], second.get(outcome, 0.0)
        return own / other if other > 0 else math.inf

    best, own, other = -math.inf, 0.0, 0.0
    for outcome in sorted((o for o in first if first[o] > 0), key=ratio, reverse=True):
        own, other = own + first[outcome], other + second.get(outcome, 0.0)
        best = max(best, event_epsilon(own, other, delta=delta))
    return best


def counted_epsilon(
    first: int, second: int, *, draws: int, delta: float = 0.0, error: float
) -> float:
    """What an event shows that was counted in independent draws (Clopper and Pearson, 1934).

    Args:
        first: How often it occurred on one data set.
        second: How often on the other.
        draws: On either.
        delta: In [0, 1).
        error: Probability with which the bound may be wrong, half of it on either side.

    Returns:
        A lower bound on epsilon with confidence ``1 - error``; ``-inf`` if nothing is shown.

    Raises:
        ParameterError: A figure is out of range.
    """
    from scipy.stats import beta

    check_delta(delta)
    if not 0 < error < 1:
        raise ParameterError(f"error: a probability between 0 and 1 expected, not {error!r}")
    if not 0 <= min(first, second) <= max(first, second) <= draws or draws < 1:
        raise ParameterError("draws: at least 1 expected, and no more occurrences than draws")
    low = float(beta.ppf(error / 2, first, draws - first + 1)) if first else 0.0
    high = float(beta.isf(error / 2, second + 1, draws - second)) if second < draws else 1.0
    return event_epsilon(low * (1 - ROUNDING), high * (1 + ROUNDING), delta=delta)


def check_delta(delta: float) -> None:
    """Refuse what is no delta.

    Raises:
        ParameterError: It is not in [0, 1).
    """
    if not 0 <= delta < 1:
        raise ParameterError(f"delta: a number in [0, 1) expected, not {delta!r}")
