"""Which rows of a program a base set can hold: those are counted, the others bounded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from oracles.errors import InfeasibleError, ProblemError
from oracles.problem import IntegerProgram
from oracles.selection.base import BaseSet, Block, IntArray

MOST_STATES = 400_000
"""Entries of one row's table, for it to be summed over at every node of a partition."""


def base_set(
    program: IntegerProgram, released: Sequence[int], *, most_states: int = MOST_STATES
) -> tuple[BaseSet, IntArray]:
    """A base set of the released variables, and the rows that it does not hold.

    Rows of one variable are bounds, and rows that are multiples of each other count as one. Of
    others that share variables, equations come first, then those with more variables. The choice is
    made from the constraints, which are public.

    Args:
        program: Integer rows.
        released: Indices of integer variables with finite bounds.
        most_states: Largest table of a row.

    Raises:
        ProblemError: A released variable is continuous or has no finite bounds.
        InfeasibleError: The rows or bounds allow nothing.
    """
    position = {int(j): i for i, j in enumerate(released)}
    if len(position) != len(released):
        raise ProblemError("released: a variable is listed twice")
    lower, upper = _bounds(program, list(position))
    parallel: dict[tuple[tuple[int, ...], tuple[int, ...]], list[tuple[int, Block]]] = {}
    bounding = []
    for r in np.flatnonzero(program.integer_rows).tolist():
        begin, end = program.matrix.indptr[r], program.matrix.indptr[r + 1]
        held = program.matrix.data[begin:end] != 0
        columns = program.matrix.indices[begin:end][held].tolist()
        if columns and all(j in position for j in columns):
            block = _block(program, r, columns, program.matrix.data[begin:end][held], position)
            if len(columns) == 1:
                _tighten(block, lower, upper)
                bounding.append(r)
            else:
                parallel.setdefault((block.variables, block.coefficients or ()), []).append(
                    (r, block)
                )
    if (lower > upper).any():
        raise InfeasibleError("program: rows leave a variable no integer within its bounds")
    blocks, held_rows = _disjoint(list(parallel.values()), lower, upper, most_states)
    base = BaseSet(lower, upper, blocks)
    return base, np.setdiff1d(np.arange(program.n_rows), [*bounding, *held_rows])


def _bounds(program: IntegerProgram, chosen: list[int]) -> tuple[IntArray, IntArray]:
    for j in chosen:
        if not program.integer[j] or not np.isfinite([program.lower[j], program.upper[j]]).all():
            raise ProblemError(
                f"released: {program.names[j]!r} must be integer, with finite bounds"
            )
    lower = np.ceil(program.lower[chosen]).astype(np.int64)
    upper = np.floor(program.upper[chosen]).astype(np.int64)
    if (lower > upper).any():
        raise InfeasibleError("program: a released variable has no integer within its bounds")
    return lower, upper


def _disjoint(
    groups: list[list[tuple[int, Block]]], lower: IntArray, upper: IntArray, most_states: int
) -> tuple[list[Block], list[int]]:
    """Rows that share no variables, parallel ones as one, with the numbers of what they hold."""
    candidates = []
    for group in groups:
        block = _intersected([block for _, block in group])
        equation = block.low is not None and block.low == block.high
        rows = [r for r, _ in group]
        candidates.append((not equation, -len(block.variables), rows, block))
    taken: set[int] = set()
    blocks, held_rows = [], []
    for _, _, rows, block in sorted(candidates, key=lambda found: found[:3]):
        if taken.isdisjoint(block.variables) and _states(block, lower, upper) <= most_states:
            taken |= set(block.variables)
            blocks.append(block)
            held_rows += rows
    return blocks, held_rows


def _intersected(blocks: list[Block]) -> Block:
    """One block for rows with the same coefficients: the greatest lower and least upper side."""
    lows = [block.low for block in blocks if block.low is not None]
    highs = [block.high for block in blocks if block.high is not None]
    return replace(blocks[0], low=max(lows, default=None), high=min(highs, default=None))


def _tighten(block: Block, lower: IntArray, upper: IntArray) -> None:
    """Move the bounds of the only variable of a row: its coefficient is 1 in standard form."""
    (j,) = block.variables
    if block.low is not None:
        lower[j] = max(lower[j], block.low)
    if block.high is not None:
        upper[j] = min(upper[j], block.high)


def _block(
    program: IntegerProgram,
    r: int,
    columns: list[int],
    entries: np.ndarray,
    position: dict[int, int],
) -> Block:
    """A row in standard form: variables ascending, no common divisor, first coefficient positive.

    So rows that are multiples of each other have the same variables and coefficients.
    """
    terms = sorted((position[j], int(a)) for j, a in zip(columns, entries, strict=True))
    divisor = math.gcd(*(a for _, a in terms))
    if terms[0][1] < 0:
        divisor = -divisor
    sides = [
        None if math.isinf(side) else Fraction(float(side)) / divisor
        for side in (program.row_lower[r], program.row_upper[r])
    ]
    low, high = sides if divisor > 0 else reversed(sides)
    return Block(
        tuple(j for j, _ in terms),
        tuple(a // divisor for _, a in terms),
        None if low is None else math.ceil(low),
        None if high is None else math.floor(high),
    )


def _states(block: Block, lower: IntArray, upper: IntArray) -> int:
    row = block.coefficients or ()
    ends = [
        (a * int(lower[j]), a * int(upper[j])) for a, j in zip(row, block.variables, strict=True)
    ]
    first, last = sum(map(min, ends)), sum(map(max, ends))
    top = last if block.high is None else min(last, block.high)
    return max(0, top - first + 1) * (len(row) + 1)
