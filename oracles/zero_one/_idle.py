"""Levels without cells that matter: what they cost is a matter of their total alone.

They are taken out of a search with totals: the least cost G[s] of theirs with total s turns the
cost h of totals into ``min_s G[s] + h[t + s]`` for the total t of the others, and their values are
looked up once t is known. (docs/theory/search.md, Totals.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oracles.zero_one._layout import MAX_UNITS
from oracles.zero_one.cells import IntArray

NEVER = MAX_UNITS


@dataclass(frozen=True, eq=False)
class Idle:
    """Idle levels, taken out.

    Attributes:
        levels: Which they are.
        part: What each value adds to the total, shape ``(d, V)``.
        chosen: Positions of the last of the first i levels' values, by the total of the i, shape
            ``(n, T + 1)``.
        spent: Total of the idle levels, by that of the others.
        h: Least cost of each total of the others; empty if none is allowed.
    """

    levels: IntArray
    part: IntArray
    chosen: NDArray[np.int16]
    spent: IntArray
    h: list[int]

    def complete(self, point: IntArray, total: int) -> IntArray:
        """A point with the idle levels' values, for the total of the others."""
        found, left = point.copy(), int(self.spent[total])
        for i in range(len(self.levels) - 1, -1, -1):
            found[self.levels[i]] = self.chosen[i, left]
            left -= int(self.part[self.levels[i], found[self.levels[i]]])
        return found


def take_out(
    levels: IntArray, own: IntArray, part: IntArray, order: IntArray, h: Sequence[int]
) -> Idle:
    """Take levels out.

    Args:
        levels: Which.
        own: Costs of values, shape ``(d, V)``.
        part: What they add to the total, likewise.
        order: Positions of values; of equally cheap ones the first in it is taken.
        h: Cost of each total; sums with costs stay below ``NEVER``.
    """
    size = len(h)
    least = np.full(size, NEVER, dtype=np.int64)
    least[0] = 0
    chosen = np.zeros((len(levels), size), dtype=np.int16)
    for i, level in enumerate(levels):
        before, least = least, np.full(size, NEVER, dtype=np.int64)
        for v in order:
            p = int(part[level, v])
            if p < size:
                reached = np.where(
                    before[: size - p] < NEVER, before[: size - p] + own[level, v], NEVER
                )
                better = reached < least[p:]
                least[p:][better] = reached[better]
                chosen[i, p:][better] = v
    costs = np.array(h, dtype=np.int64)
    combined = np.full(size, NEVER, dtype=np.int64)
    spent = np.zeros(size, dtype=np.int64)
    for s in np.flatnonzero(least < NEVER):
        candidate = least[s] + costs[s:]
        better = candidate < combined[: size - s]
        combined[: size - s][better] = candidate[better]
        spent[: size - s][better] = s
    # Totals too large for the least that idle levels add come last.
    allowed = [int(cost) for cost in combined if cost < NEVER]
    return Idle(levels, part, chosen, spent, allowed)
