"""Weights of the rest up to shifts: many classifiers, one node.

Raising all levels of one attribute and lowering those of another changes no margin. If the weights
are evenly spaced and the rest costs nothing, a classifier is therefore given by the sums that its
cells see: one attribute, the carrier, holds the sum over the rest's attributes, and every other
attribute the difference to its most important level, which is fixed at 0. Such numbers come from
weights in ``low .. high`` if and only if, over the attributes j with least and greatest number
``min_j`` and ``max_j``,

    max_j - min_j <= high - low,    sum_j min_j >= m low,    sum_j max_j <= m high,

for then shifts ``s_j`` between ``low - min_j`` and ``high - max_j`` can be chosen to sum to 0.
The search branches on these numbers, and so visits one representative of all shifts of a
classifier instead of each of them. (docs/theory/search.md.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from oracles.zero_one._layout import Layout
from oracles.zero_one.cells import IntArray


@dataclass(frozen=True, eq=False)
class Shifts:
    """A layout whose rest is counted up to shifts.

    Attributes:
        layout: The layout with the numbers, in steps of the weights, as the rest's values.
        allowed: Which of them each level may have, shape ``(d, W)``; A's and B's are unrestricted.
        original: The layout that it comes from.
    """

    layout: Layout
    allowed: NDArray[np.bool_]
    original: Layout

    def point(self, shifted: IntArray) -> IntArray:
        """Positions of weights in the original layout that give the numbers of a point."""
        arrays = self.layout.arrays
        values = self.original.arrays.values
        point = shifted.copy()
        zero = int(np.flatnonzero(values == 0)[0])
        point[: arrays.n_rest] = zero
        low, high = -zero, len(values) - 1 - zero
        used = np.flatnonzero(self.original.level_gain[: arrays.n_rest] > 0)
        parts = [
            used[(first <= used) & (used < end)]
            for first, end in zip(arrays.rest_starts[:-1], arrays.rest_starts[1:], strict=True)
        ]
        numbers = [shifted[part] - arrays.zero for part in parts]
        least = [low - int(number.min()) for number in numbers]
        left = -sum(least)
        for part, number, shift in zip(parts, numbers, least, strict=True):
            more = min(left, high - int(number.max()) - shift)
            point[part] = number + shift + more + zero
            left -= more
        return point


def up_to_shifts(layout: Layout) -> Shifts | None:
    """Count the rest up to shifts, or None where that is not possible or gains nothing."""
    arrays = layout.arrays
    n_attributes = len(arrays.rest_starts) - 1
    import os
    G = [int(x) for x in os.environ.get("SG", ",".join(map(str, range(n_attributes)))).split(",") if x]
    gaps = np.diff(arrays.values)
    even = arrays.one_hot and len(gaps) > 0 and bool((gaps == gaps[0]).all())
    if (
        not even
        or n_attributes < 2
        or len(arrays.bundles) == 0
        or arrays.cost[: arrays.n_rest].any()
    ):
        return None
    step, zero = int(gaps[0]), int(np.flatnonzero(arrays.values == 0)[0])
    low, high = -zero, len(arrays.values) - 1 - zero
    spread = high - low
    least, most = min(len(G) * low, -spread), max(len(G) * high, spread)
    numbers = np.arange(least, most + 1)
    cost = np.zeros((len(arrays.cost), len(numbers)), dtype=np.int64)
    cost[:, : len(arrays.values)] = arrays.cost
    allowed = np.zeros(cost.shape, dtype=bool)
    allowed[arrays.n_rest :, : len(arrays.values)] = True
    gain = layout.level_gain
    used = [
        int((gain[first:end] > 0).sum())
        for first, end in zip(arrays.rest_starts[:-1], arrays.rest_starts[1:], strict=True)
    ]
    carrier = int(os.environ.get("SC", np.argmax(used)))
    n_rest_attributes, n_attributes = n_attributes, len(G)
    if len(G) < 2:
        return None
    for j in range(n_rest_attributes):
        first, end = arrays.rest_starts[j], arrays.rest_starts[j + 1]
        if j not in G:
            allowed[first:end] = (numbers >= low) & (numbers <= high)
        elif j == carrier:
            allowed[first:end] = (numbers >= n_attributes * low) & (numbers <= n_attributes * high)
        else:
            allowed[first:end] = np.abs(numbers) <= spread
            allowed[first + int(gain[first:end].argmax())] = numbers == 0
        # Levels without cells have no say; they get some weight in the end.
        allowed[first:end][gain[first:end] == 0] = numbers == 0
    shifted = arrays._replace(
        cost=cost,
        rest_values=numbers * step,
        spread=spread,
        grouped=np.array([j in G for j in range(n_rest_attributes)]),
        zero=-least,
        sum_low=n_attributes * low,
        sum_high=n_attributes * high,
        reach_low=n_rest_attributes * low * step,
        reach_high=n_rest_attributes * high * step,
    )
    return Shifts(replace(layout, arrays=shifted), allowed, layout)
