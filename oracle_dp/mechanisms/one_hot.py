"""What mechanisms that rest on the public domain of one-hot attributes ask of a table of cells."""

from __future__ import annotations

from collections.abc import Sequence

from oracle_dp.errors import ParameterError
from oracles.zero_one import CellTable, check_weights
from oracles.zero_one.cells import IntArray

MAX_MARGIN = 2**53
"""No classifier's margin may reach it, whichever cells have rows."""


def public_values(cells: CellTable, weights: Sequence[int]) -> IntArray:
    """The values of every weight, increasing, if the table is one of one-hot attributes.

    Which constructor made the table is public; which cells have rows is not, so nothing here
    looks at the cells.

    Raises:
        ParameterError: The table is a feature matrix, or the weights are too large.
        ProblemError: ``weights`` are not distinct integers with 0 among them.
    """
    if not isinstance(cells, CellTable) or cells.is_matrix:
        raise ParameterError(
            "cells: one-hot attributes expected (CellTable.from_codes); a feature matrix has no "
            "finite public domain of cells"
        )
    _, values = check_weights(weights)
    if len(cells.levels) * max(abs(int(values[0])), abs(int(values[-1]))) >= MAX_MARGIN:
        raise ParameterError("weights: a margin could reach 2^53; use smaller weights")
    return values
