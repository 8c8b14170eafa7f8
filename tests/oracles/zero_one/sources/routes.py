"""The same rows through every engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from oracle_dp import Categorical, Domain
from oracles.zero_one import CellTable, ClassCounts

Route = Callable[[pa.Table, Path, Domain, Categorical, str | None], ClassCounts]


def frame(
    table: pa.Table, folder: Path, domain: Domain, target: Categorical, counts: str | None
) -> ClassCounts:
    return ClassCounts.from_frame(table.to_pandas(), domain, target, counts=counts)


def parquet(
    table: pa.Table, folder: Path, domain: Domain, target: Categorical, counts: str | None
) -> ClassCounts:
    pq.write_table(table, folder / "rows.parquet", row_group_size=max(1, table.num_rows // 3))
    return ClassCounts.from_parquet(folder / "rows.parquet", domain, target, counts=counts)


def sql(
    table: pa.Table, folder: Path, domain: Domain, target: Categorical, counts: str | None
) -> ClassCounts:
    with duckdb.connect(":memory:") as connection:
        connection.register("people", table)
        return ClassCounts.from_duckdb(
            "people", domain, target, counts=counts, connection=connection
        )


def cluster(
    table: pa.Table, folder: Path, domain: Domain, target: Categorical, counts: str | None
) -> ClassCounts:
    whole = table.to_pandas()
    with dask.config.set({"scheduler": "synchronous", "dataframe.convert-string": False}):
        parts = dd.from_pandas(whole, npartitions=3, sort=False)
        return ClassCounts.from_dask(parts, domain, target, counts=counts)


ROUTES: dict[str, Route] = {
    "frame": frame, "parquet": parquet, "duckdb": sql, "dask": cluster,
}  # fmt: skip


def same(one: Any, other: Any) -> bool:
    """Whether two tables are the same, entry by entry and in order."""
    return entries(one) == entries(other)


def entries(table: CellTable | ClassCounts) -> tuple[Any, ...]:
    """All that a table holds."""
    if isinstance(table, CellTable):
        counts = [table.negative.tolist(), table.positive.tolist()]
    else:
        counts = table.counts.tolist()
    return type(table), table.levels, table.codes.tolist(), counts
