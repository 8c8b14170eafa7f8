"""An audit of a mechanism that can only be run: which event tells two data sets apart best?

The draws are split. The first half chooses an event: outcomes are sorted by how much more frequent
they are on one data set than on the other, and the first so many of them are taken. The second
half, which had no part in the choice, counts how often it occurs
(:func:`oracle_dp.audit.bounds.counted_epsilon`). Without the split the choice would find an event
that looks bad by chance. Directions and pairs of data sets share the error.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from oracle_dp.audit.bounds import check_delta, counted_epsilon
from oracle_dp.errors import ParameterError
from oracle_dp.noise import BitSource, bit_source

DataT = TypeVar("DataT")

Draws = Callable[[DataT, int, BitSource], Iterable[Hashable]]
"""Outcomes of so many independent runs on a data set; the bits come from the source alone."""

ERROR = 1e-5
"""Probability with which a measured bound may exceed the true epsilon."""


def audit_by_draws(
    mechanism: Draws[DataT],
    pairs: Sequence[tuple[DataT, DataT]],
    *,
    draws: int,
    delta: float = 0.0,
    error: float = ERROR,
    random_state: int | BitSource | None = None,
) -> float:
    """A lower bound on a mechanism's epsilon, from runs on neighbouring data sets.

    Args:
        mechanism: Runs the mechanism. Its outcomes are compared by equality: make them few, by
            rounding or clipping, which is post-processing.
        pairs: Neighbouring data sets, under the relation of the claim. That they are neighbours is
            not checked.
        draws: Runs on each data set, at least 4.
        delta: Of the claim, in [0, 1).
        error: Probability with which the bound may be wrong, over all pairs together.
        random_state: As everywhere; an integer repeats an audit.

    Returns:
        The bound, at confidence ``1 - error``; at least 0. That it is below a claim proves nothing.

    Raises:
        ParameterError: A figure is out of range, or there is no pair.
    """
    check_delta(delta)
    if draws < 4 or not pairs:
        raise ParameterError("draws: at least 4, and at least one pair of data sets, expected")
    source = bit_source(random_state)
    best = 0.0
    for pair in pairs:
        first, second = (list(mechanism(data, draws, source)) for data in pair)
        best = max(best, separation(first, second, delta=delta, error=error / len(pairs)))
    return best


def separation(
    first: Sequence[Hashable], second: Sequence[Hashable], *, delta: float, error: float
) -> float:
    """A lower bound on epsilon from equally many outcomes on two data sets; at least 0.

    Raises:
        ParameterError: They are not equally many, or too few, or ``error`` is no probability.
    """
    if len(first) != len(second) or len(first) < 4:
        raise ParameterError("draws: equally many on both data sets expected, at least 4")
    half = len(first) // 2
    best = 0.0
    for own, other in ((first, second), (second, first)):
        chosen = _event(own[:half], other[:half], delta=delta, error=error)
        occurred = [sum(outcome in chosen for outcome in side[half:]) for side in (own, other)]
        bound = counted_epsilon(*occurred, draws=len(own) - half, delta=delta, error=error / 2)
        best = max(best, bound)
    return best


def _event(
    own: Sequence[Hashable], other: Sequence[Hashable], *, delta: float, error: float
) -> frozenset[Hashable]:
    """The outcomes with the best bound on the draws that choose."""
    here, there = Counter(own), Counter(other)
    # Half an occurrence more on either side: what was seen once is no evidence of a large ratio.
    ranked = sorted(here, key=lambda o: (here[o] + 0.5) / (there[o] + 0.5), reverse=True)
    seen = itertools.accumulate(here[outcome] for outcome in ranked)
    elsewhere = itertools.accumulate(there[outcome] for outcome in ranked)
    bounds = [
        counted_epsilon(k, m, draws=len(own), delta=delta, error=error)
        for k, m in zip(seen, elsewhere, strict=True)
    ]
    return frozenset(ranked[: 1 + max(range(len(bounds)), key=bounds.__getitem__)])
