"""Which rows of a program a base set can hold: those are counted, the others bounded."""

from __future__ import annotations

from collections.abc import Sequence

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

    Of rows that share variables, equations come first, then those with more variables. The choice
    is made from the constraints, which are public.

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
    for j in position:
        if not program.integer[j] or not np.isfinite([program.lower[j], program.upper[j]]).all():
            raise ProblemError(
                f"released: {program.names[j]!r} must be integer, with finite bounds"
            )
    chosen = list(position)
    lower = np.ceil(program.lower[chosen]).astype(np.int64)
    upper = np.floor(program.upper[chosen]).astype(np.int64)
    if (lower > upper).any():
        raise InfeasibleError("program: a released variable has no integer within its bounds")
    candidates = []
    for r in np.flatnonzero(program.integer_rows).tolist():
        begin, end = program.matrix.indptr[r], program.matrix.indptr[r + 1]
        held = program.matrix.data[begin:end] != 0
        columns = program.matrix.indices[begin:end][held].tolist()
        if columns and all(j in position for j in columns):
            block = _block(program, r, columns, program.matrix.data[begin:end][held], position)
            equation = block.low is not None and block.low == block.high
            candidates.append((not equation, -len(columns), r, block))
    taken: set[int] = set()
    blocks, held_rows = [], []
    for _, _, r, block in sorted(candidates, key=lambda found: found[:3]):
        if taken.isdisjoint(block.variables) and _states(block, lower, upper) <= most_states:
            taken |= set(block.variables)
            blocks.append(block)
            held_rows.append(r)
    base = BaseSet(lower, upper, blocks)
    return base, np.setdiff1d(np.arange(program.n_rows), held_rows)


def _block(
    program: IntegerProgram,
    r: int,
    columns: list[int],
    entries: np.ndarray,
    position: dict[int, int],
) -> Block:
    low, high = float(program.row_lower[r]), float(program.row_upper[r])
    row = [int(a) for a in entries]
    return Block(
        tuple(position[j] for j in columns),
        tuple(row),
        None if np.isinf(low) else int(np.ceil(low)),
        None if np.isinf(high) else int(np.floor(high)),
    )


def _states(block: Block, lower: IntArray, upper: IntArray) -> int:
    row = block.coefficients or ()
    ends = [
        (a * int(lower[j]), a * int(upper[j])) for a, j in zip(row, block.variables, strict=True)
    ]
    first, last = sum(map(min, ends)), sum(map(max, ends))
    top = last if block.high is None else min(last, block.high)
    return max(0, top - first + 1) * (len(row) + 1)
