"""Cells of a pandas frame."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from oracles.errors import ProblemError
from oracles.zero_one.cells import IntArray
from oracles.zero_one.sources.schema import Schema, checked, checked_counts
from oracles.zero_one.sources.tally import Tally


def count_frame(frame: pd.DataFrame, schema: Schema) -> Tally:
    """Count the rows of a frame.

    Raises:
        ProblemError: ``frame`` is none, a column is missing or there twice, an entry has no level,
            or a count is no count. The column is named and no entry shown.
    """
    if not isinstance(frame, pd.DataFrame):
        raise ProblemError(f"frame: a pandas.DataFrame expected, not a {type(frame).__name__}")
    schema.check_columns(frame.columns)
    codes = [checked(part, part.codes(frame[part.column])) for part in schema.parts]
    counts = None
    if schema.counts is not None:
        column = frame[schema.counts]
        missing = bool(column.isna().any())
        counts = checked_counts(schema.counts, column.to_numpy(), missing=missing)
    return tally(schema, codes, counts)


def tally(schema: Schema, codes: Sequence[IntArray], counts: IntArray | None) -> Tally:
    """Count rows of codes.

    Args:
        schema: Says what the codes are of.
        codes: One array for each of the schema's parts.
        counts: How many rows each stands for; None for one.
    """
    of_parts = iter(codes)
    of_attributes = []
    for parts in schema.attributes:
        code = next(of_parts)
        for part in parts[1:]:
            code = code * part.n_levels + next(of_parts)
        of_attributes.append(code)
    found = Tally(schema.levels, schema.target.n_levels)
    found.add(of_attributes, next(of_parts), counts)
    return found
