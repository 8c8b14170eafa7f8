"""The arrays on which search over additive classifiers runs: a pair of attributes and the rest.

Two attributes, A and B, are singled out. Once every other attribute, the *rest*, is known, a cell's
prediction depends on its pair of weights alone, with one-hot attributes on their sum: the *slot*.
So a table over (level of B, slot, level of A) says everything about the data. While the rest is
only known to lie in intervals, the same table holds what cells pay for certain: a bound.

Only the excess matters: a cell pays ``gain = |positive - negative|`` if it is predicted against its
majority and nothing otherwise. What it pays in any case is a constant, and so are cells that cannot
change their prediction. A cell that wants the positive class is then described by the *greatest*
margin the rest can give it, a cell that wants the negative class by the *least*: its reach. Cells
that agree in the rest and in what they want share their reach: a *bundle*. Within it, those that
agree in B form a *row* over A, which is added to the table in one go.

Levels are numbered through: the rest first, then B, then A. (docs/theory/search.md.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oracles.errors import ProblemError
from oracles.zero_one._parts import LANES as LANES
from oracles.zero_one._parts import (
    choose_pair,
    entries_of,
    normalise,
    open_cells,
    rows_of,
    slots_of,
)
from oracles.zero_one.cells import CellTable, IntArray

MAX_UNITS = 2**61
"""Largest sum of gains and costs: no sum of bounds can then leave 64 bits."""

INFINITE = 2**62
"""Beyond every margin."""

# Columns of ``Arrays.bundles``, ``Arrays.rows``, ``Arrays.spans`` and ``Arrays.entries``.
SIGN, FIRST, LAST = 0, 1, 2
GROUP, FACTOR_A, FACTOR_B = 0, 1, 2
START, SPLIT, END = 0, 1, 2
BUNDLE, FACTOR = 0, 1


class Arrays(NamedTuple):
    """What kernels read and never write. ``d`` levels, ``V`` weights, ``S`` slots, ``R`` rows.

    Attributes:
        n_rest: Number of rest levels; they are numbered ``0 .. n_rest - 1``.
        n_b: Number of levels of B, numbered from ``n_rest``. Without a second attribute B is a
            single level whose only weight is 0: ``n_values_b`` is 1.
        n_a: Number of levels of A, numbered from ``n_rest + n_b``.
        n_values_b: Number of weights that B's levels take: ``V``, or 1 without a B.
        n_blocks: Number of blocks of ``LANES`` levels of A.
        one_hot: Whether all factors are 1. Slots are then the distinct sums, increasing;
            otherwise every pair of values has a slot of its own.
        values: The weights, increasing, shape ``(V,)``.
        cost: Price of each value at each level, at least 0 with a 0 in every row, shape ``(d, V)``.
        slots: Weights of A and B that represent each slot, shape ``(S, 2)``.
        steps: The sum of each slot's weights between two infinities, shape ``(S + 2,)``.
        pair_slot: Slot of each pair of values of A and B, shape ``(V, n_values_b)``.
        bundles: Per bundle its sign (1: its cells want the positive class, -1: the negative), its
            first row and the first row behind it.
        rows: Per row where in the flat table ``(n_blocks, n_b, S, LANES)`` its slot 0 is, and its
            factors of A and B.
        gains: Gains of each row's cells by lane, flat ``(R, LANES)``.
        entries: Bundles of each rest level and the level's factor in them.
        spans: Entries of each rest level: the first, the first that wants the negative class,
            the end. Shape ``(n_rest, 3)``.
        rest_starts: Where the levels of each rest attribute begin, and the end.
        rest_values: Weights of the rest levels; ``values``, except in :mod:`_shift`.
        reach_low, reach_high: The rest's least and greatest contribution to any margin.
        grouped, spread, zero, sum_low, sum_high: For :mod:`_shift`: the grouped attributes, and
            in steps of the weights ``high - low``, the position of 0, ``m low`` and ``m high``.
            The spread is -1 if there is no group.
    """

    n_rest: int
    n_b: int
    n_a: int
    n_values_b: int
    n_blocks: int
    one_hot: bool
    values: IntArray
    cost: IntArray
    slots: IntArray
    steps: IntArray
    pair_slot: IntArray
    bundles: IntArray
    rows: IntArray
    gains: IntArray
    entries: IntArray
    spans: IntArray
    rest_starts: IntArray
    rest_values: IntArray
    reach_low: int
    reach_high: int
    grouped: NDArray[np.bool_]
    spread: int
    zero: int
    sum_low: int
    sum_high: int


@dataclass(frozen=True, eq=False)
class Layout:
    """The arrays, and the way back from them.

    Attributes:
        arrays: What kernels read.
        constant: What every classifier pays in errors and costs beyond the arrays.
        starts: Where the levels of the table's attributes begin in the numbering of levels.
        sizes: Number of levels of the table's attributes.
        cell_level: Level of each open cell in each attribute, shape ``(n, k)``; columns are the
            rest, then B, then A.
        cell_factor: Its factors, like ``cell_level``.
        cell_difference: Positive minus negative count of each open cell, shape ``(n,)``.
        level_gain: Sum of gains of each level's cells, shape ``(d,)``.
    """

    arrays: Arrays
    constant: int
    starts: tuple[int, ...]
    sizes: tuple[int, ...]
    cell_level: IntArray
    cell_factor: IntArray
    cell_difference: IntArray
    level_gain: IntArray

    def weights(self, point: IntArray) -> tuple[IntArray, ...]:
        """Weights per attribute of the table from the position of each level's value."""
        chosen = self.arrays.values[point]
        pairs = zip(self.starts, self.sizes, strict=True)
        # Copies: where the blocks stand in one buffer would tell how the layout was chosen.
        return tuple(chosen[start : start + size].copy() for start, size in pairs)

    def cost(self, point: IntArray) -> int:
        """What a point pays beyond the constant."""
        margin = (self.arrays.values[point][self.cell_level] * self.cell_factor).sum(axis=1)
        wrong = (margin >= 1) != (self.cell_difference > 0)
        priced = self.arrays.cost[np.arange(len(point)), point].sum()
        return int(np.abs(self.cell_difference[wrong]).sum() + priced)

    def point(self, weights: Sequence[IntArray]) -> IntArray:
        """Position of each level's value from weights per attribute of the table."""
        positions = np.zeros(len(self.arrays.cost), dtype=np.int64)
        for start, size, chosen in zip(self.starts, self.sizes, weights, strict=True):
            positions[start : start + size] = np.searchsorted(self.arrays.values, chosen)
        return positions


def lay_out(
    cells: CellTable, values: IntArray, costs: Sequence[IntArray], *, cut: bool = False
) -> Layout:
    """Choose the pair and build the arrays.

    Args:
        cells: The data.
        values: The weights, increasing.
        costs: One array per attribute, shape ``(levels, len(values))``.
        cut: Whether to lower the price of values that cannot be optimal to one more than the gain
            of their level's cells. For minimisers: it keeps the optima and their cost only.

    Raises:
        ProblemError: Margins, or counts and costs together, could overflow.
    """
    kept, constant = open_cells(cells, values)
    codes, factors = cells.codes[kept], cells.factors[kept]
    difference = cells.positive[kept] - cells.negative[kept]
    one_hot = bool((factors == 1).all())
    a, b = choose_pair(codes, factors, difference, cells.levels, len(values))
    order = [j for j in range(len(cells.levels)) if j not in (a, b)] + [b, a]
    sizes, tables, values_b = list(cells.levels), list(costs), values
    if b < 0:
        # B is then the last column: one level that every cell has, without effect.
        codes, factors = (np.pad(array, ((0, 0), (0, 1))) for array in (codes, factors))
        sizes, values_b = [*sizes, 1], np.zeros(1, dtype=np.int64)
        tables = [*tables, np.zeros((1, len(values)), dtype=np.int64)]
    starts = np.concatenate([[0], np.cumsum([sizes[j] for j in order])]).astype(np.int64)
    level = np.ascontiguousarray(codes[:, order] + starts[:-1])
    factor = np.ascontiguousarray(factors[:, order])
    level_gain = np.zeros(starts[-1], dtype=np.int64)
    np.add.at(level_gain, level, np.abs(difference)[:, None])
    cost, least = normalise([tables[j] for j in order], level_gain if cut else None)
    if sum(map(int, cost.max(axis=1))) + sum(map(int, np.abs(difference))) > MAX_UNITS:
        raise ProblemError(f"counts and costs: their sum must not exceed {MAX_UNITS}")

    slots, pair_slot = slots_of(values, values_b, one_hot)
    n_rest, n_b, n_a = int(starts[-3]), sizes[b], sizes[a]
    row_cells, row, first_rows = rows_of(level, difference, n_rest + n_b, one_hot)
    lane = (level[:, -1] - n_rest - n_b) % LANES
    block = (level[row_cells, -1] - n_rest - n_b) // LANES
    group = (block * n_b + level[row_cells, -2] - n_rest) * len(slots) * LANES
    bundle_cells = row_cells[first_rows]
    sign = np.sign(difference[bundle_cells])
    bundles = np.stack(
        [sign, first_rows, np.append(first_rows[1:], len(row_cells))[: len(sign)]], 1
    )
    gains = np.zeros((len(row_cells), LANES), dtype=np.int64)
    # Added up: a table may list a cell twice.
    np.add.at(gains, (row, lane), np.abs(difference))
    entries, spans = entries_of(level[bundle_cells, :-2], factor[bundle_cells, :-2], sign, n_rest)
    arrays = Arrays(
        n_rest,
        n_b,
        n_a,
        len(values_b),
        -(-n_a // LANES),
        one_hot,
        values.copy(),
        cost,
        slots,
        np.concatenate([[-INFINITE], slots.sum(axis=1), [INFINITE]]),
        pair_slot,
        bundles,
        np.stack([group, factor[row_cells, -1], factor[row_cells, -2]], axis=1),
        aligned(gains),
        entries,
        spans,
        starts[:-2].copy(),
        values.copy(),
        -INFINITE,
        INFINITE,
        np.zeros(len(starts) - 3, dtype=bool),
        -1,
        0,
        0,
        0,
    )
    first = tuple(int(starts[order.index(j)]) for j in range(len(cells.levels)))
    return Layout(
        arrays, constant + least, first, cells.levels, level, factor, difference, level_gain
    )


def trivial_bound(cells: CellTable, values: IntArray, costs: Sequence[IntArray]) -> int:
    """What every classifier pays, in errors and costs."""
    _, constant = open_cells(cells, values)
    return constant + sum(int(cost) for table in costs for cost in table.min(axis=1))


def aligned(content: IntArray) -> IntArray:
    """A flat copy that begins at a cache line: a block of lanes then straddles as few as it can."""
    buffer = np.zeros(content.size + 8, dtype=np.int64)
    offset = (-buffer.ctypes.data % 64) // 8
    flat = buffer[offset : offset + content.size]
    flat[:] = content.ravel()
    return flat
