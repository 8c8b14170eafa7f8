"""Compiled minimisation of a linear function over a block, in 64-bit integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oracles.zero_one._compile import kernel

IntArray = NDArray[np.int64]

NONE = 2**62
"""Stands for "no vector"; every cost is below it."""


@kernel
def least_of_block(
    costs: IntArray,
    offsets: IntArray,
    moves: IntArray,
    least: int,
    table: IntArray,
    chosen: IntArray,
) -> int:
    """The least sum of costs over the values of a block whose row holds.

    Args:
        costs: Of every value of every place, places one after another.
        offsets: Where each place's values begin, and the number of values.
        moves: What each value adds to the row's sum.
        least: Least allowed sum; the greatest is the table's last.
        table: Working space, shape ``(places + 1, sums)``.
        chosen: Overwritten with the position of the value of every place.

    Returns:
        The sum, or ``NONE``.
    """
    n, sums = table.shape[0] - 1, table.shape[1]
    for s in range(sums):
        table[n, s] = 0 if s >= least else NONE
    for i in range(n - 1, -1, -1):
        for s in range(sums):
            best = NONE
            for k in range(offsets[i], offsets[i + 1]):
                after = s + moves[k]
                if after < sums and table[i + 1, after] < NONE:
                    best = min(best, costs[k] + table[i + 1, after])
            table[i, s] = best
    if table[0, 0] == NONE:
        return NONE
    total = 0
    for i in range(n):
        for k in range(offsets[i], offsets[i + 1]):
            after = total + moves[k]
            if (
                after < sums
                and table[i + 1, after] < NONE
                and costs[k] + table[i + 1, after] == table[i, total]
            ):
                chosen[i] = k - offsets[i]
                total = after
                break
    return int(table[0, 0])
