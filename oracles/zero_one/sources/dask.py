"""Cells of a Dask DataFrame: counted where its partitions are, merged in a tree.

Workers hand back what is wrong as a value and do not raise: a worker's log shows the arguments of
a task that raises, which are rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import pandas as pd

from oracles.errors import ProblemError
from oracles.zero_one.sources.engines import needed
from oracles.zero_one.sources.frame import count_frame
from oracles.zero_one.sources.schema import Schema
from oracles.zero_one.sources.tally import Tally

FAN_IN = 8
"""How many tallies are merged by one task."""

Found: TypeAlias = Tally | str
"""A tally, or what is wrong."""


def count_dask(frame: Any, schema: Schema) -> Tally:
    """Count the rows of a Dask DataFrame; see :meth:`FromSources.from_dask`."""
    dask, frames = needed("dask", "dask"), needed("dask.dataframe", "dask")
    if not isinstance(frame, frames.DataFrame):
        raise ProblemError(f"frame: a dask.dataframe expected, not a {type(frame).__name__}")
    schema.check_columns(frame.columns)
    columns = frame[schema.columns]
    promised = {column: str(dtype) for column, dtype in columns.dtypes.items()}
    count, merge = dask.delayed(_count, pure=False), dask.delayed(_merge, pure=False)
    level = [
        count(partition, schema, promised, number)
        for number, partition in enumerate(columns.to_delayed())
    ]
    while len(level) > 1:
        level = [merge(level[i : i + FAN_IN]) for i in range(0, len(level), FAN_IN)]
    found: Found = dask.compute(level[0])[0]
    if isinstance(found, str):
        raise ProblemError(found)
    return found


def _count(partition: pd.DataFrame, schema: Schema, promised: dict[str, str], number: int) -> Found:
    """One partition; what is wrong with it is returned."""
    place = f"partition {number}"
    for column, dtype in partition.dtypes.items():
        if str(dtype) != promised[str(column)]:
            return (
                f"{place}: column {column!r} has another type than the frame promises; read all "
                "partitions with one schema"
            )
    try:
        return count_frame(partition, schema)
    except ProblemError as error:
        return f"{place}: {error}"
    except Exception as error:  # Whatever it is, its message may quote an entry.
        return f"{place}: cannot be read ({type(error).__name__})"


def _merge(parts: Sequence[Found]) -> Found:
    """The sum, or the first thing that is wrong."""
    total: Tally | None = None
    for part in parts:
        if isinstance(part, str):
            return part
        total = Tally(part.levels, part.n_classes) if total is None else total
        total.update(part)
    return total or "there are no partitions"
