"""Products of boxes with at most one row each: counted, enumerated by rank, and summed over."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oracles.errors import InfeasibleError, ProblemError, SpaceTooLargeError

IntArray = NDArray[np.int64]

MAX_STATES = 4_000_000
"""Entries of one block's table: variables times distinct sums of its row."""

MAX_VARIABLES = 5_000
"""Longest vectors: beyond, rounding in logarithms could exceed the margins that are made for it."""

LARGEST = 2**40
"""Largest bound or coefficient, so that sums fit into 64 bits."""


@dataclass(frozen=True, eq=False)
class Block:
    """Variables with ``low <= coefficients @ w <= high``, or without a row.

    Args:
        variables: Distinct indices.
        coefficients: One integer each; None for no row.
        low: None for no lower side.
        high: None for no upper side.
    """

    variables: tuple[int, ...]
    coefficients: tuple[int, ...] | None = None
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, eq=False)
class BaseSet:
    """Integer vectors within bounds that satisfy the row of every block.

    Args:
        lower: Least value of every variable, integers, shape ``(n,)``.
        upper: Greatest value, shape ``(n,)``.
        blocks: Disjoint blocks; variables in none of them are free within their bounds.

    Raises:
        ProblemError: Bounds cross or are not integers, blocks overlap, or a number is too large.
        SpaceTooLargeError: A row has too many distinct sums to be counted by, or there are too many
            variables.
        InfeasibleError: The set is empty.
    """

    lower: IntArray
    upper: IntArray
    blocks: tuple[Block, ...]
    layout: Layout = field(repr=False)

    def __init__(self, lower: ArrayLike, upper: ArrayLike, blocks: Sequence[Block] = ()) -> None:
        low, high = _whole("lower", lower), _whole("upper", upper)
        if low.ndim != 1 or low.shape != high.shape or (low > high).any():
            raise ProblemError("lower and upper: vectors of one length expected, lower <= upper")
        if len(low) > MAX_VARIABLES:
            raise SpaceTooLargeError(f"lower: at most {MAX_VARIABLES} variables can be counted")
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)
        object.__setattr__(self, "blocks", _with_free(tuple(blocks), len(low)))
        object.__setattr__(self, "layout", Layout.of(low, high, self.blocks))
        if (self.layout.most < 0).any() or self.n_points == 0:
            raise InfeasibleError("blocks: no vector satisfies their rows")

    # -- the usual sets ------------------------------------------------------------------------

    @classmethod
    def subsets(cls, n: int, *, exactly: int | None = None, at_most: int | None = None) -> BaseSet:
        """Subsets of ``n`` things: all, those of one size, or those up to a size."""
        if exactly is not None and at_most is not None:
            raise ProblemError("exactly and at_most: give one of them")
        size = exactly if exactly is not None else at_most
        if size is not None and not 0 <= size <= n:
            raise ProblemError(f"size: between 0 and {n} expected, not {size!r}")
        row = Block(tuple(range(n)), (1,) * n, exactly, size)
        return cls(np.zeros(n, int), np.ones(n, int), () if size is None else (row,))

    @classmethod
    def knapsack(cls, weights: Sequence[int], capacity: int) -> BaseSet:
        """Subsets of things whose integer weights add up to at most the capacity."""
        n = len(weights)
        row = Block(tuple(range(n)), tuple(int(weight) for weight in weights), None, capacity)
        return cls(np.zeros(n, int), np.ones(n, int), (row,))

    @cached_property
    def sides(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sides of every block's row in the variables' own units; infinite for none."""
        none = math.inf
        return (
            np.array([-none if b.low is None else float(b.low) for b in self.blocks]),
            np.array([none if b.high is None else float(b.high) for b in self.blocks]),
        )

    # -- counting ------------------------------------------------------------------------------

    @property
    def n_variables(self) -> int:
        """Length of the vectors."""
        return len(self.lower)

    @cached_property
    def n_points(self) -> int:
        """Number of vectors, exactly."""
        return math.prod(table[0][0] for table in self._counts)

    @cached_property
    def _counts(self) -> list[list[list[int]]]:
        """For every block, place and sum so far: in how many ways the rest can be chosen."""
        return [self._count(b) for b in range(len(self.blocks))]

    def _count(self, block: int) -> list[list[int]]:
        layout = self.layout
        least, most = int(layout.least[block]), int(layout.most[block])
        table = [[int(least <= total) for total in range(most + 1)]]
        for place in range(layout.starts[block + 1] - 1, layout.starts[block] - 1, -1):
            after, moves = table[-1], layout.moves(place)
            table.append(
                [
                    sum(after[total + move] for move in moves if total + move <= most)
                    for total in range(most + 1)
                ]
            )
        return table[::-1]

    def point_at(self, rank: int) -> IntArray:
        """The vector of a rank between 0 and ``n_points - 1``; all ranks give all vectors.

        Raises:
            ProblemError: There is no such rank.
        """
        if not 0 <= rank < self.n_points:
            raise ProblemError(f"rank: between 0 and {self.n_points - 1} expected, not {rank}")
        point = np.zeros(self.n_variables, dtype=np.int64)
        for block, table in enumerate(self._counts):
            rank, inside = divmod(rank, table[0][0])
            total = 0
            for i, place in enumerate(range(*self.layout.starts[block : block + 2])):
                j = int(self.layout.order[place])
                for value, move in enumerate(self.layout.moves(place)):
                    ways = table[i + 1][total + move] if total + move < len(table[0]) else 0
                    if inside < ways:
                        point[j] = self.lower[j] + value
                        total += move
                        break
                    inside -= ways
        return point

    def tightened(self, lower: IntArray, upper: IntArray) -> tuple[IntArray, IntArray] | None:
        """The least box that rows imply within a box, or None if they certainly leave nothing."""
        layout = self.layout
        low, high = lower[layout.order], upper[layout.order]
        down = layout.downward
        begin = np.where(down, layout.upper - high, low - layout.lower)
        end = np.where(down, layout.upper - low, high - layout.lower)
        block = np.repeat(np.arange(len(self.blocks)), np.diff(layout.starts))
        step = layout.steps
        unit = np.maximum(step, 1)
        for _ in range(2):
            fewest = np.bincount(block, step * begin, len(self.blocks)).astype(np.int64)
            room = (layout.most - fewest)[block]
            end = np.where(step > 0, np.minimum(end, begin + room // unit), end)
            largest = np.bincount(block, step * end, len(self.blocks)).astype(np.int64)
            room = (largest - layout.least)[block]
            begin = np.where(step > 0, np.maximum(begin, end - room // unit), begin)
            if (
                (begin > end).any()
                or (fewest > layout.most).any()
                or (largest < layout.least).any()
            ):
                return None
        tight_low, tight_high = np.empty_like(lower), np.empty_like(upper)
        tight_low[layout.order] = np.where(down, layout.upper - end, layout.lower + begin)
        tight_high[layout.order] = np.where(down, layout.upper - begin, layout.lower + end)
        return tight_low, tight_high

    def contains(self, point: ArrayLike) -> bool:
        """Whether a vector of integers belongs to the set."""
        w = np.asarray(point, dtype=np.int64)
        if w.shape != self.lower.shape or (w < self.lower).any() or (w > self.upper).any():
            return False
        for block in self.blocks:
            if block.coefficients is None:
                continue
            chosen = (int(w[j]) for j in block.variables)
            total = sum(a * x for a, x in zip(block.coefficients, chosen, strict=True))
            if (block.low is not None and total < block.low) or (
                block.high is not None and total > block.high
            ):
                return False
        return True


@dataclass(frozen=True, eq=False)
class Layout:
    """A base set as flat arrays: variables block by block, sums counted from 0.

    A variable with a negative coefficient is counted from its upper bound, so that every step of a
    sum is 0 or more.

    Attributes:
        order: Variable at every place.
        starts: First place of every block, and the number of places.
        steps: Absolute coefficient at every place.
        downward: Whether the place's sum falls when its variable grows.
        lower: Bounds at every place.
        upper: Likewise.
        least: Least allowed sum of every block.
        most: Greatest allowed and reachable one, -1 if there is none.
    """

    order: IntArray
    starts: IntArray
    steps: IntArray
    downward: NDArray[np.bool_]
    lower: IntArray
    upper: IntArray
    least: IntArray
    most: IntArray

    @cached_property
    def signed(self) -> NDArray[np.float64]:
        """Coefficient at every place."""
        return np.where(self.downward, -self.steps, self.steps).astype(np.float64)

    @classmethod
    def of(cls, lower: IntArray, upper: IntArray, blocks: tuple[Block, ...]) -> Layout:
        """Lay a base set out.

        Raises:
            SpaceTooLargeError: A row has too many distinct sums.
        """
        order = np.array([j for block in blocks for j in block.variables], dtype=np.int64)
        sizes = [len(block.variables) for block in blocks]
        rows = [block.coefficients or (0,) * len(block.variables) for block in blocks]
        signed = np.array(list(itertools.chain(*rows)), dtype=np.int64)
        least, most = [], []
        for block, row in zip(blocks, rows, strict=True):
            ends = [
                (a * int(lower[j]), a * int(upper[j]))
                for a, j in zip(row, block.variables, strict=True)
            ]
            first, last = sum(map(min, ends)), sum(map(max, ends))
            low = 0 if block.low is None else max(0, block.low - first)
            high = last - first if block.high is None else min(last, block.high) - first
            most.append(high if low <= high else -1)
            least.append(low)
            if (high + 1) * (len(row) + 1) > MAX_STATES:
                raise SpaceTooLargeError(
                    f"blocks: a row has {high + 1} sums, too many to count by; divide its "
                    "coefficients by a common factor"
                )
        return cls(
            order, np.cumsum([0, *sizes]), np.abs(signed), signed < 0, lower[order], upper[order],
            np.array(least, dtype=np.int64), np.array(most, dtype=np.int64),
        )  # fmt: skip

    def moves(self, place: int) -> list[int]:
        """What each value of the variable at a place adds to its block's sum, ascending values."""
        span = int(self.upper[place] - self.lower[place])
        step = int(self.steps[place])
        return [step * (span - i if self.downward[place] else i) for i in range(span + 1)]


def _with_free(blocks: tuple[Block, ...], n: int) -> tuple[Block, ...]:
    """The blocks, checked, and one more for the variables in none of them."""
    seen: set[int] = set()
    for block in blocks:
        row = block.coefficients
        if row is not None and len(row) != len(block.variables):
            raise ProblemError("blocks: one coefficient per variable expected")
        if any(abs(a) > LARGEST for a in row or ()):
            raise ProblemError(f"blocks: coefficients up to {LARGEST} in size expected")
        named = set(block.variables)
        if len(named) != len(block.variables) or named & seen or not named <= set(range(n)):
            raise ProblemError("blocks: every variable may be in one block, once")
        seen |= named
    rest = tuple(j for j in range(n) if j not in seen)
    return (*blocks, Block(rest)) if rest else blocks


def _whole(name: str, given: ArrayLike) -> IntArray:
    raw = np.asarray(given)
    if raw.dtype.kind not in "iub" or (np.abs(raw.astype(np.float64)) > LARGEST).any():
        raise ProblemError(f"{name}: integers up to {LARGEST} in size expected")
    return raw.astype(np.int64)
