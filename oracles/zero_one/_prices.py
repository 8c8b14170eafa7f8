"""Costs of totals as prices: how steep they can be, and what no price can express."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from oracles.errors import ProblemError
from oracles.total import TotalReward
from oracles.zero_one._layout import MAX_UNITS
from oracles.zero_one.cells import IntArray

MAX_ROOM = 2**26
"""Most pairs of a level and a total: half a gigabyte at a leaf."""

TOO_LARGE = (
    "rows and the reward for a total are together too large for 64 bits: use fewer rows, smaller "
    "rewards, or fewer totals"
)


def check_total(n_rows: int, total: TotalReward) -> None:
    """Refuse what would leave little room in 64 bits for costs, or take too much memory.

    Args:
        n_rows: Number of rows, times what an error costs.
        total: Parts, and number of levels.

    Raises:
        ProblemError: There would be little, or it would.
    """
    if n_rows > _most_rows(total):
        raise ProblemError(TOO_LARGE)
    if len(total.parts) * len(total.levels) > MAX_ROOM:
        raise ProblemError(
            f"total: {len(total.parts)} levels with {len(total.levels)} totals take too much "
            "memory: use fewer levels, smaller weights, or a bound on their norm"
        )


def check_noise(largest: int, total: TotalReward) -> None:
    """Refuse rewards that could leave 64 bits once they are drawn.

    Args:
        largest: No reward of an allowed point, for its weights or for its total, is beyond it.
        total: Parts, and number of levels.

    Raises:
        ProblemError: They could.
    """
    if (4 * largest + 1) * _breadth(total) + largest > MAX_UNITS // 16:
        raise ProblemError(TOO_LARGE)


def _most_rows(total: TotalReward) -> int:
    return MAX_UNITS // (16 * _breadth(total))


def _breadth(total: TotalReward) -> int:
    """How often a price can be paid, by one point or beside another."""
    last = len(total.levels)
    return max(sum(min(int(part.max()), last) for part in total.parts), last, len(total.parts))


def steepest(costs: Sequence[IntArray], total: TotalReward, h: Sequence[int]) -> int | None:
    """A price that outweighs whatever one level can change; None if it could leave 64 bits.

    Neither depends on the rows: an error counts as much as the most that :func:`check_total` lets
    through.
    """
    spread = max(int(np.ptp(table, axis=1).max(initial=0)) for table in costs)
    slopes = [abs(b - a) for a, b in itertools.pairwise(h)]
    found = 1 + _most_rows(total) + spread + max(slopes, default=0)
    fits = found * _breadth(total) + max(map(abs, h)) <= MAX_UNITS // 8
    return found if fits else None


def defect(h: Sequence[int]) -> int:
    """How far numbers exceed their convex envelope, rounded up."""
    hull: list[int] = []
    for t in range(len(h)):
        while len(hull) > 1 and _on_or_above(h, hull[-2], hull[-1], t):
            hull.pop()
        hull.append(t)
    return max(
        (
            h[t] - h[a] - (h[b] - h[a]) * (t - a) // (b - a)
            for a, b in itertools.pairwise(hull)
            for t in range(a, b)
        ),
        default=0,
    )


def _on_or_above(h: Sequence[int], a: int, b: int, c: int) -> bool:
    """Whether the number at b is on or above the line from a to c."""
    return (h[b] - h[a]) * (c - a) >= (h[c] - h[a]) * (b - a)
