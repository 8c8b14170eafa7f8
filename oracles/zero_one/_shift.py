"""Weights of the rest up to shifts: many classifiers, one node.

Raising all levels of one attribute and lowering those of another changes no margin. Where weights
are evenly spaced and cost nothing, classifiers that differ by such shifts are equal, and one of
them is enough. In a group of m rest attributes, one attribute, the carrier, is given the group's
sum at the most important levels of the others, and every other level its difference to the most
important level of its attribute, which is 0. Such numbers come from weights in ``low .. high`` if
and only if, over the group's attributes j with least and greatest number ``min_j`` and ``max_j``,

    max_j - min_j <= high - low,    sum_j min_j >= m low,    sum_j max_j <= m high,

for then shifts ``s_j`` between ``low - min_j`` and ``high - max_j`` can be chosen to sum to 0.
The search branches on these numbers. They have a wider range than weights, so the bounds of cells
far from the most important levels get weaker: only attributes with one dominant level are grouped.
(docs/theory/search.md.)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from oracles.zero_one._layout import Arrays, Layout
from oracles.zero_one.cells import IntArray

_DOMINANT = 0.5
"""Share of an attribute's gains at its most important level from which it is grouped."""


@dataclass(frozen=True, eq=False)
class Shifts:
    """A layout whose rest is counted up to shifts.

    Attributes:
        layout: The layout with the numbers, in steps of the weights, as the rest's values.
        allowed: Which of them each level may have, shape ``(d, W)``.
        original: The layout that it comes from.
    """

    layout: Layout
    allowed: NDArray[np.bool_]
    original: Layout

    def point(self, shifted: IntArray) -> IntArray:
        """Positions of weights in the original layout that give the numbers of a point."""
        arrays = self.layout.arrays
        low, high, zero = _range(self.original.arrays)
        point = shifted.copy()
        # Levels without cells, and those outside the group, are weights already.
        point[: arrays.n_rest] += zero - arrays.zero
        gain = self.original.level_gain
        parts = [
            first + np.flatnonzero(gain[first:end] > 0)
            for j, (first, end) in enumerate(_spans(arrays))
            if arrays.grouped[j]
        ]
        numbers = [shifted[part] - arrays.zero for part in parts]
        least = [low - int(number.min()) for number in numbers]
        left = -sum(least)
        for part, number, shift in zip(parts, numbers, least, strict=True):
            more = min(left, high - int(number.max()) - shift)
            point[part] = number + shift + more + zero
            left -= more
        return point


def up_to_shifts(layout: Layout, useful: NDArray[np.bool_]) -> Shifts | None:
    """Count the rest up to shifts, or None where that is not possible or gains nothing.

    Args:
        layout: The layout.
        useful: Values that levels outside the group are restricted to, shape ``(d, V)``.
    """
    arrays = layout.arrays
    gaps = np.diff(arrays.values)
    even = arrays.one_hot and len(gaps) > 0 and bool((gaps == gaps[0]).all())
    free = not arrays.cost[: arrays.n_rest].any()
    grouped, carrier = _group(layout)
    if not (even and free) or grouped.sum() < 2:
        return None
    step, (low, high, _) = int(gaps[0]), _range(arrays)
    size, spread = int(grouped.sum()), high - low
    numbers = np.arange(min(size * low, -spread), max(size * high, spread) + 1)
    at_zero = -int(numbers[0])
    weights = slice(at_zero + low, at_zero + high + 1)
    cost = np.zeros((len(arrays.cost), len(numbers)), dtype=np.int64)
    cost[:, : len(arrays.values)] = arrays.cost
    allowed = np.zeros(cost.shape, dtype=bool)
    allowed[: arrays.n_rest, weights] = useful[: arrays.n_rest]
    allowed[arrays.n_rest :, : len(arrays.values)] = useful[arrays.n_rest :]
    for j, (first, end) in enumerate(_spans(arrays)):
        if grouped[j]:
            gain = layout.level_gain[first:end]
            if j == carrier:
                allowed[first:end] = (numbers >= size * low) & (numbers <= size * high)
            else:
                allowed[first:end] = np.abs(numbers) <= spread
                allowed[first + int(gain.argmax())] = numbers == 0
            allowed[first:end][gain == 0] = numbers == 0
    n_attributes = len(grouped)
    shifted = arrays._replace(
        cost=cost,
        rest_values=numbers * step,
        reach_low=n_attributes * low * step,
        reach_high=n_attributes * high * step,
        grouped=grouped,
        spread=spread,
        zero=at_zero,
        sum_low=size * low,
        sum_high=size * high,
    )
    return Shifts(replace(layout, arrays=shifted), allowed, layout)


def _group(layout: Layout) -> tuple[NDArray[np.bool_], int]:
    """The rest attributes to group, and the carrier.

    It is the one with most levels in use among those that no level dominates, if there are any.
    """
    gains = [layout.level_gain[first:end] for first, end in _spans(layout.arrays)]
    if not gains or not len(layout.arrays.bundles):
        return np.zeros(len(gains), dtype=bool), -1
    grouped = np.array([gain.max() >= _DOMINANT * float(gain.sum()) for gain in gains])
    used = np.array([(gain > 0).sum() for gain in gains])
    carrier = int(np.argmax(used if grouped.all() else used * ~grouped))
    grouped[carrier] = True
    return grouped, carrier


def _spans(arrays: Arrays) -> Iterator[tuple[int, int]]:
    """First level and end of each rest attribute."""
    starts = [int(start) for start in arrays.rest_starts]
    return itertools.pairwise(starts)


def _range(arrays: Arrays) -> tuple[int, int, int]:
    """Least and greatest weight in steps, and the position of weight 0."""
    zero = int(np.flatnonzero(arrays.values == 0)[0])
    return -zero, len(arrays.values) - 1 - zero, zero
