"""More integer columns and rows for a program that stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from oracles.arrays import FloatArray
from oracles.problem import IntegerProgram


@dataclass(frozen=True, slots=True)
class Column:
    """An integer variable to be appended.

    Attributes:
        name: Its name; a prime is added while it is taken.
        lower: Its lower bound.
        upper: Its upper bound.
        cost: Its coefficient in the objective.
    """

    name: str
    lower: int
    upper: int
    cost: int = 0


def extend(
    program: IntegerProgram,
    columns: Sequence[Column],
    rows: sp.csr_array,
    row_lower: FloatArray,
    row_upper: FloatArray,
    *,
    bounds: tuple[FloatArray, FloatArray] | None = None,
) -> IntegerProgram:
    """A program with columns and rows appended after its own.

    Args:
        program: The program.
        columns: Integer variables.
        rows: Over the old columns and then the new, shape ``(m, n_variables + len(columns))``.
        row_lower: Shape ``(m,)``.
        row_upper: Shape ``(m,)``.
        bounds: Other bounds for the program's own columns, lower and upper.
    """
    lower, upper = bounds or (program.lower, program.upper)
    kept = sp.csr_array(
        (program.matrix.data, program.matrix.indices, program.matrix.indptr),
        shape=(program.n_rows, program.n_variables + len(columns)),
    )
    names = list(program.names)
    taken = set(names)
    for column in columns:
        name = column.name
        while name in taken:
            name += "'"
        taken.add(name)
        names.append(name)
    return IntegerProgram(
        np.concatenate([program.objective, [float(column.cost) for column in columns]]),
        sp.vstack([kept, rows], format="csr"),
        np.concatenate([program.row_lower, row_lower]),
        np.concatenate([program.row_upper, row_upper]),
        lower=np.concatenate([lower, [float(column.lower) for column in columns]]),
        upper=np.concatenate([upper, [float(column.upper) for column in columns]]),
        integer=np.concatenate([program.integer, np.ones(len(columns), dtype=bool)]),
        constant=program.constant,
        names=names,
        negated=program.negated,
    )
