"""Counting: rows of codes, block by block, into distinct rows with counts per class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from oracles.errors import ProblemError
from oracles.zero_one.cells import MAX_TOTAL, IntArray

DENSE = 2**20
"""Largest number of counts that are kept for all combinations of levels, 8 MB of them."""

SLACK = 2**20
"""Distinct rows that may wait to be merged."""


class Counted(NamedTuple):
    """Distinct rows of codes, in lexicographic order, and their counts per class."""

    codes: IntArray
    counts: IntArray


class Tally:
    """Counts of the distinct rows that were added.

    Where all combinations of levels are few they are counted in place; else the distinct rows of
    each block are merged, so that memory grows with distinct rows and not with rows.

    Args:
        levels: Number of levels of each attribute.
        n_classes: Number of classes.
    """

    def __init__(self, levels: Sequence[int], n_classes: int) -> None:
        self.levels = tuple(levels)
        self.n_classes = n_classes
        self._groups = _groups(self.levels)
        cells = math.prod(self.levels)
        self._dense = np.zeros((cells, n_classes), np.int64) if cells * n_classes <= DENSE else None
        self._blocks: list[tuple[IntArray, IntArray]] = []
        self._merged = 0
        self._total = 0.0

    def add(self, codes: Sequence[IntArray], classes: IntArray, counts: IntArray | None) -> None:
        """Add a block of rows.

        Args:
            codes: For each attribute its level in each row.
            classes: The class of each row.
            counts: How many rows each stands for; None for one.

        Raises:
            ProblemError: There are more than ``MAX_TOTAL`` rows in all.
        """
        self._check_total(len(classes) if counts is None else float(counts.sum(dtype=np.float64)))
        keys = _keys(codes, self.levels, self._groups)
        if self._dense is not None:
            self._dense += _count(keys[0], len(self._dense), classes, self.n_classes, counts)
            return
        positions, distinct = _distinct(keys)
        self._blocks.append(
            (distinct, _count(positions, len(distinct), classes, self.n_classes, counts))
        )
        self._merge(SLACK)

    def update(self, other: Tally) -> None:
        """Add all that another tally of the same levels and classes holds.

        Raises:
            ProblemError: As :meth:`add`.
        """
        self._check_total(other._total)
        if self._dense is not None and other._dense is not None:
            self._dense += other._dense
        else:
            self._blocks += other._blocks
            self._merge(SLACK)

    def result(self) -> Counted:
        """What was counted; rows that stand for none are left out."""
        if self._dense is not None:
            keys, counts = np.arange(len(self._dense))[:, None], self._dense
        else:
            self._merge(0)
            keys, counts = self._blocks[0] if self._blocks else _nothing(self)
        held = counts.any(axis=1)
        return Counted(_codes(keys[held], self.levels, self._groups), counts[held])

    def _check_total(self, more: float) -> None:
        self._total += more
        if self._total > MAX_TOTAL:
            raise ProblemError(f"counts: more than {MAX_TOTAL} rows in all")

    def _merge(self, slack: int) -> None:
        """One block of all, sorted, once those that wait are more than the merged ones."""
        if sum(len(keys) for keys, _ in self._blocks) <= 2 * self._merged + slack and slack:
            return
        if not self._blocks:
            return
        keys = np.concatenate([keys for keys, _ in self._blocks])
        counts = np.concatenate([counts for _, counts in self._blocks])
        distinct, inverse = np.unique(keys, axis=0, return_inverse=True)
        merged = np.zeros((len(distinct), self.n_classes), np.int64)
        np.add.at(merged, inverse.ravel(), counts)
        self._blocks, self._merged = [(distinct, merged)], len(distinct)


def _nothing(tally: Tally) -> tuple[IntArray, IntArray]:
    empty = np.zeros((0, len(tally._groups)), np.int64)
    return empty, np.zeros((0, tally.n_classes), np.int64)


def _groups(levels: Sequence[int]) -> list[range]:
    """Runs of attributes whose combinations of levels each fit into a key of 64 bits."""
    groups, begin, size = [], 0, 1
    for j, level in enumerate(levels):
        if size * level >= MAX_TOTAL:
            groups.append(range(begin, j))
            begin, size = j, 1
        size *= level
    return [*groups, range(begin, len(levels))]


def _keys(
    codes: Sequence[IntArray], levels: Sequence[int], groups: Sequence[range]
) -> list[IntArray]:
    """One mixed-radix key per row and group: their order is the lexicographic one of the codes."""
    keys = []
    for group in groups:
        key = codes[group[0]]
        for j in group[1:]:
            key = key * levels[j] + codes[j]
        keys.append(key)
    return keys


def _codes(keys: IntArray, levels: Sequence[int], groups: Sequence[range]) -> IntArray:
    """Inverse of :func:`_keys`, shape ``(n, n_attributes)``."""
    codes = np.empty((len(keys), len(levels)), np.int64)
    for number, group in enumerate(groups):
        key = keys[:, number]
        for j in reversed(group):
            key, codes[:, j] = np.divmod(key, levels[j])
    return codes


def _distinct(keys: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Which of the distinct keys each row has, and these, shape ``(n_distinct, n_groups)``."""
    if len(keys) > 1:
        distinct, positions = np.unique(np.column_stack(keys), axis=0, return_inverse=True)
        return positions.ravel(), distinct
    positions, values = pd.factorize(keys[0])
    return positions, np.asarray(values)[:, None]


def _count(
    positions: IntArray, size: int, classes: IntArray, n_classes: int, counts: IntArray | None
) -> IntArray:
    """Counts per position and class, shape ``(size, n_classes)``."""
    places = positions * n_classes + classes
    if counts is None:
        found = np.bincount(places, minlength=size * n_classes)
    else:
        found = np.zeros(size * n_classes, np.int64)  # Not by weights: those are floats.
        np.add.at(found, places, counts)
    return found.reshape(size, n_classes).astype(np.int64, copy=False)
