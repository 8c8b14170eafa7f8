"""The steps of laying out a problem; see :mod:`oracles.zero_one._layout`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oracles.errors import ProblemError
from oracles.zero_one.cells import CellTable, IntArray

LANES = 16
"""Levels of A are stored in blocks of this size, padded: one vector operation per block."""

MAX_TABLE = 2**22
"""Most entries the table may have (32 MB); beyond, B is dropped and only A is collapsed."""

MAX_SCAN = 2**22
"""Most (row, slot) pairs that may be scanned one by one when factors are not all 1."""


def open_cells(cells: CellTable, values: IntArray) -> tuple[IntArray, int]:
    """Cells whose prediction can change and matters, and what all classifiers pay anyway."""
    least, greatest = cells.margin_bounds([int(v) for v in values])
    either = (least <= 0) & (greatest >= 1)
    decided = np.where(greatest >= 1, cells.negative, cells.positive)
    certain = np.where(either, np.minimum(cells.positive, cells.negative), decided)
    return np.flatnonzero(either & (cells.positive != cells.negative)), sum(map(int, certain))


def choose_pair(
    codes: IntArray, factors: IntArray, difference: IntArray, levels: Sequence[int], n_values: int
) -> tuple[int, int]:
    """The two attributes with most levels in use; the second is -1 if there is none or no room.

    Ties go to the attribute that moves more: sum of gain times size of the factor.
    """
    used = [len(np.unique(codes[:, j])) for j in range(len(levels))]
    moved = np.abs(factors).astype(float).T @ np.abs(difference).astype(float)
    ranked = sorted(range(len(levels)), key=lambda j: (-used[j], -moved[j], j))
    if len(levels) == 1:
        return ranked[0], -1
    a, b = ranked[:2]
    one_hot = bool((factors == 1).all())
    n_slots = n_values * (n_values + 1) // 2 if one_hot else n_values**2
    padded = -(-levels[a] // LANES) * LANES
    # Next to the table: the minima per value and the shares of B's costs.
    entries = padded * levels[b] * (n_slots + 2 * n_values)
    if entries > MAX_TABLE or (not one_hot and len(codes) * n_slots > MAX_SCAN):
        return a, -1
    return a, b


def slots_of(values: IntArray, values_b: IntArray, one_hot: bool) -> tuple[IntArray, IntArray]:
    """Slots as pairs of weights of A and B, and the slot of each pair of values."""
    pairs = np.stack(np.meshgrid(values, values_b, indexing="ij"), axis=-1).reshape(-1, 2)
    pair_slot = np.arange(len(pairs))
    if one_hot:
        sums = pairs.sum(axis=1)
        _, where, pair_slot = np.unique(sums, return_index=True, return_inverse=True)
        pairs = pairs[where]
    shape = (len(values), len(values_b))
    return np.ascontiguousarray(pairs), pair_slot.reshape(shape).astype(np.int64)


def normalise(costs: Sequence[IntArray], level_gain: IntArray | None) -> tuple[IntArray, int]:
    """Costs with minimum 0 in every row, and the sum of the minima.

    Changing one level changes the errors by at most the gain of its cells: a value that costs
    more than that above the cheapest is beaten by it, and still is after the cut.
    """
    stacked = np.concatenate([np.asarray(table, dtype=np.int64) for table in costs])
    if int(stacked.max()) - int(stacked.min()) > 2**62:
        raise ProblemError(f"costs: they must not differ by more than {2**62}")
    least = stacked.min(axis=1, keepdims=True)
    cost = stacked - least
    if level_gain is not None:
        cost = np.minimum(cost, level_gain[:, None] + 1)
    return np.ascontiguousarray(cost), sum(map(int, least[:, 0]))


def rows_of(
    level: IntArray, difference: IntArray, first_a: int, one_hot: bool
) -> tuple[IntArray, IntArray, IntArray]:
    """A cell of each row, the row of each cell, and the first row of each bundle.

    With factors every cell is a row and a bundle of its own.
    """
    if not one_hot or len(level) == 0:
        every = np.arange(len(level))
        return every, every, every
    block = (level[:, -1] - first_a) // LANES
    key = np.column_stack([level[:, :-2], np.sign(difference), level[:, -2], block])
    rows, cell, row = np.unique(key, axis=0, return_index=True, return_inverse=True)
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (rows[1:, :-2] != rows[:-1, :-2]).any(axis=1)
    return cell, row.ravel(), np.flatnonzero(new)


def entries_of(
    level: IntArray, factor: IntArray, sign: IntArray, n_rest: int
) -> tuple[IntArray, IntArray]:
    """Bundles of each rest level, those that want the positive class first."""
    parts, flat = [np.zeros((0, 2), dtype=np.int64)], level.ravel()
    for column, factors in zip(level.T, factor.T, strict=True):
        # Attributes follow each other in the numbering of levels, so their entries do too.
        order = np.lexsort((sign < 0, column))
        parts.append(np.stack([order, factors[order]], axis=1))
    end = np.cumsum(np.bincount(flat, minlength=n_rest)[:n_rest])
    start = np.concatenate([[0], end])[:n_rest]
    wanted = level[sign > 0].ravel()
    split = start + np.bincount(wanted, minlength=n_rest)[:n_rest]
    return np.concatenate(parts), np.stack([start, split, end], axis=1).astype(np.int64)
