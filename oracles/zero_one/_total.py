"""What classifiers pay for the total of their weights' parts, beyond a price per part.

A cost h[t] for the total t couples all weights. Within a window of totals it is split into a line,
which is a price of every (level, value) like any other cost, and what exceeds it, the *slack*: at
least 0, and without limit outside the window. Bounds take the least slack of the totals that a
node still has; a leaf takes the best values of A by dynamic programming over their total.
(docs/theory/search.md.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from oracles.zero_one._compile import inner
from oracles.zero_one._layout import LANES, MAX_UNITS, Arrays
from oracles.zero_one._state import REST, WORK, State
from oracles.zero_one.cells import IntArray

NEVER = MAX_UNITS
"""The slack of totals outside the window; costs that reach it are of no classifier."""


class Total(NamedTuple):
    """Parts and slack, and room to work.

    Attributes:
        part: What each value adds to the total, at least 0, shape ``(d, V)``.
        slack: Of totals 0, 1, ..., shape ``(T + 1,)``; empty where totals cost nothing.
        least: Least costs of the first levels of A by total, shape ``(n_a + 1, T + 1)``.
        chosen: Positions of the values of A at the leaf last looked at, shape ``(n_a,)``.
    """

    part: IntArray
    slack: IntArray
    least: IntArray
    chosen: IntArray


def no_total() -> Total:
    """Totals cost nothing."""
    table, none = np.zeros((0, 0), dtype=np.int64), np.zeros(0, dtype=np.int64)
    return Total(table, none, table, none)


def new_total(arrays: Arrays, part: IntArray, slack: IntArray) -> Total:
    """Of parts by level as the layout numbers them."""
    room = np.zeros((arrays.n_a + 1, len(slack)), dtype=np.int64)
    return Total(part, slack, room, np.zeros(arrays.n_a, dtype=np.int64))


def slack_of(total: Total, point: IntArray) -> int:
    """The slack of the point at these positions; kernels, which Python cannot call, have theirs."""
    if not len(total.slack):
        return 0
    sum_of_parts = int(total.part[np.arange(len(point)), point].sum())
    return int(total.slack[sum_of_parts]) if sum_of_parts < len(total.slack) else NEVER


@inner
def matters(total: Total) -> bool:
    """Whether totals cost anything."""
    return len(total.slack) > 0


@inner
def slack_at(total: Total, point: IntArray) -> int:
    """The same, for kernels."""
    if not matters(total):
        return 0
    t = 0
    for level in range(len(point)):
        t += total.part[level, point[level]]
    return int(total.slack[t]) if t < len(total.slack) else NEVER


@inner
def least_slack(arrays: Arrays, state: State, total: Total) -> int:
    """The least slack of the totals that values left can sum to; 0 where totals cost nothing."""
    if not matters(total):
        return 0
    low = high = 0
    for level in range(len(total.part)):
        least, most = -1, -1
        in_table = level < arrays.n_rest + arrays.n_b
        for v in range(total.part.shape[1]):
            if not in_table or state.alive[level, v]:
                part = total.part[level, v]
                if least < 0 or part < least:
                    least = part
                most = max(most, part)
        low += least
        high += most
    slack = NEVER
    for t in range(low, min(high, len(total.slack) - 1) + 1):
        slack = min(slack, total.slack[t])
    return int(slack)


@inner
def leaf_cost(arrays: Arrays, state: State, total: Total) -> int:
    """The cost of a leaf with the best values of A, total included; which they are in ``chosen``.

    :func:`star` left the costs of every value of A. Sums that reach ``NEVER`` are all the same.
    """
    state.totals[WORK] += arrays.n_a * len(total.slack) * len(arrays.values)
    _accumulate(arrays, state, total)
    least, t = NEVER, 0
    for end in range(len(total.slack)):
        cost = total.least[arrays.n_a, end] + total.slack[end]
        if cost < least:
            least, t = cost, end
    if least < NEVER:
        _trace_back(arrays, state, total, t)
    return int(least)


@inner
def _accumulate(arrays: Arrays, state: State, total: Total) -> None:
    """Least costs of rest, B and the first levels of A, by total, into ``total.least``."""
    first_a, n_totals = arrays.n_rest + arrays.n_b, len(total.slack)
    begun = 0
    for level in range(first_a):
        for v in range(state.alive.shape[1]):
            if state.alive[level, v]:
                begun += total.part[level, v]
    for t in range(n_totals):
        total.least[0, t] = state.totals[REST] if t == begun else NEVER
    for a in range(arrays.n_a):
        for t in range(n_totals):
            best = NEVER
            for v in range(len(arrays.values)):
                best = min(best, _step(arrays, state, total, a, v, t))
            total.least[a + 1, t] = best


@inner
def _trace_back(arrays: Arrays, state: State, total: Total, t: int) -> None:
    """Values of A that reach total t at its least cost."""
    for a in range(arrays.n_a - 1, -1, -1):
        best = -1
        for v in range(len(arrays.values)):
            # Of equal values the one next to 0, as elsewhere.
            nearer = best < 0 or abs(arrays.values[v]) < abs(arrays.values[best])
            if nearer and _step(arrays, state, total, a, v, t) == total.least[a + 1, t]:
                best = v
        total.chosen[a] = best
        t -= total.part[arrays.n_rest + arrays.n_b + a, best]


@inner
def _step(arrays: Arrays, state: State, total: Total, a: int, v: int, t: int) -> int:
    """The least cost that reaches total t when level a of A takes value v."""
    before = t - total.part[arrays.n_rest + arrays.n_b + a, v]
    if before < 0:
        return int(NEVER)
    at = state.at_sums + ((a // LANES) * len(arrays.values) + v) * LANES + a % LANES
    return int(min(NEVER, total.least[a, before] + state.scratch[at]))
