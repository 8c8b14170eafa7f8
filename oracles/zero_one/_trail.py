"""Deleting values, drawing the consequences, and taking it all back.

A deletion is written down in order and only marks its level; :func:`propagate` then lets the
boxes and the table follow, once per level however much happened to it in between.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from oracles.zero_one._bounds import refresh
from oracles.zero_one._compile import inner, merged
from oracles.zero_one._layout import END, START, Arrays
from oracles.zero_one._state import HIGH, LOW, State
from oracles.zero_one.cells import IntArray

TOP, N_MARKED = 0, 1
"""Places in ``Trail.numbers``."""


class Trail(NamedTuple):
    """Deletions in order.

    Attributes:
        numbers: Length of the trail, number of marked levels.
        deleted: Levels and values, shape ``(d * V, 2)``.
        marked: Rest levels whose boxes are out of date; whether each level is, ``(2, n_rest)``.
    """

    numbers: IntArray
    deleted: IntArray
    marked: IntArray


def new_trail(arrays: Arrays) -> Trail:
    """Nothing deleted yet."""
    return Trail(
        np.zeros(2, dtype=np.int64),
        np.zeros((arrays.cost.size, 2), dtype=np.int64),
        np.zeros((2, arrays.n_rest), dtype=np.int64),
    )


@inner
def delete(arrays: Arrays, state: State, trail: Trail, level: int, value: int) -> None:
    """Delete one value of a level."""
    state.alive[level, value] = False
    top = trail.numbers[TOP]
    trail.deleted[top, 0], trail.deleted[top, 1] = level, value
    trail.numbers[TOP] = top + 1
    _mark(arrays, trail, level)


@inner
def keep_only(arrays: Arrays, state: State, trail: Trail, level: int, value: int) -> None:
    """Delete the other values of a level."""
    for v in range(state.alive.shape[1]):
        if v != value and state.alive[level, v]:
            delete(arrays, state, trail, level, v)


@inner
def delete_from(
    arrays: Arrays, state: State, trail: Trail, level: int, probe: IntArray, incumbent: int
) -> tuple[int, int]:
    """Delete the level's values whose probe reaches the incumbent; how many went and stay."""
    deleted = left = 0
    for v in range(state.alive.shape[1]):
        if state.alive[level, v]:
            if probe[level, v] >= incumbent:
                delete(arrays, state, trail, level, v)
                deleted += 1
            else:
                left += 1
    return deleted, left


@inner
def undo(arrays: Arrays, state: State, trail: Trail, mark: int) -> None:
    """Take back all deletions after the first ``mark``."""
    for top in range(trail.numbers[TOP] - 1, mark - 1, -1):
        level = trail.deleted[top, 0]
        state.alive[level, trail.deleted[top, 1]] = True
        _mark(arrays, trail, level)
    trail.numbers[TOP] = min(trail.numbers[TOP], mark)


@inner
def _mark(arrays: Arrays, trail: Trail, level: int) -> None:
    if level < arrays.n_rest and trail.marked[1, level] == 0:
        trail.marked[1, level] = 1
        trail.marked[0, trail.numbers[N_MARKED]] = level
        trail.numbers[N_MARKED] += 1


@merged
def propagate(arrays: Arrays, state: State, trail: Trail) -> bool:
    """Let boxes and table follow the values left; false if a level has none.

    Up to shifts, numbers that break a condition of :mod:`_shift` are deleted on the way.
    """
    while True:
        for i in range(trail.numbers[N_MARKED]):
            level = trail.marked[0, i]
            trail.marked[1, level] = 0
            refresh(arrays, state, level)
        changed = trail.numbers[N_MARKED] > 0
        trail.numbers[N_MARKED] = 0
        if not changed or arrays.spread < 0:
            return True
        sum_of_least = sum_of_most = 0
        for j in range(len(arrays.grouped)):
            if arrays.grouped[j]:
                least, most = _extremes(arrays, state, j)
                sum_of_least += least
                sum_of_most += most
        for j in range(len(arrays.grouped)):
            if arrays.grouped[j]:
                least, most = _extremes(arrays, state, j)
                low = max(most - arrays.spread, arrays.sum_low - (sum_of_least - least))
                high = min(least + arrays.spread, arrays.sum_high - (sum_of_most - most))
                if not _clip(arrays, state, trail, j, low, high):
                    return False


@merged
def _extremes(arrays: Arrays, state: State, j: int) -> tuple[int, int]:
    """The most an attribute's least number can be, and the least its greatest can be."""
    least, most = len(arrays.rest_values), -len(arrays.rest_values)
    for level in range(arrays.rest_starts[j], arrays.rest_starts[j + 1]):
        if arrays.spans[level, START] < arrays.spans[level, END]:
            least = min(least, state.boxes[level, HIGH] - arrays.zero)
            most = max(most, state.boxes[level, LOW] - arrays.zero)
    return least, most


@merged
def _clip(arrays: Arrays, state: State, trail: Trail, j: int, low: int, high: int) -> bool:
    """Delete an attribute's numbers outside ``low .. high``; false if a level has none left."""
    for level in range(arrays.rest_starts[j], arrays.rest_starts[j + 1]):
        if arrays.spans[level, START] == arrays.spans[level, END]:
            continue
        left = 0
        for v in range(state.alive.shape[1]):
            if state.alive[level, v]:
                if v - arrays.zero < low or v - arrays.zero > high:
                    delete(arrays, state, trail, level, v)
                else:
                    left += 1
        if left == 0:
            return False
    return True
