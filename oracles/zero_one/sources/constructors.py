"""The constructors that tables of cells share, one for each engine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

from oracles.zero_one.sources.schema import Encoding, Encodings, IntArray, Schema

if TYPE_CHECKING:
    import pandas as pd

    from oracles.zero_one.sources.tally import Tally


class FromSources:
    """Tables made where the rows are.

    Every constructor takes the attributes (such as an ``oracle_dp.Domain``), the target, whose
    levels are the classes, and the name of a column that says how many rows each row stands for
    (default: one). They encode and count in the engine, and give the same table of the same rows:
    distinct rows of codes in lexicographic order. A :class:`CellTable` has two classes, negative
    first. Errors name the column and where it is, and show no entry.
    """

    @classmethod
    def _of_classes(cls, codes: IntArray, counts: IntArray, levels: tuple[int, ...]) -> Self:
        """From distinct rows, and counts of shape ``(n_cells, n_classes)``."""
        raise NotImplementedError

    @classmethod
    def _of_tally(cls, tally: Tally) -> Self:
        codes, counts = tally.result()
        return cls._of_classes(codes, counts, tally.levels)

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        attributes: Iterable[Encodings],
        target: Encoding,
        *,
        counts: str | None = None,
    ) -> Self:
        """Cells of a pandas frame; other columns are ignored.

        Raises:
            ProblemError: A column is missing or there twice, an entry has no level, or a count is
                no integer, missing or negative.
        """
        from oracles.zero_one.sources.frame import count_frame

        return cls._of_tally(count_frame(frame, Schema.of(attributes, target, counts)))

    @classmethod
    def from_counts(
        cls,
        frame: pd.DataFrame,
        attributes: Iterable[Encodings],
        target: Encoding,
        *,
        counts: str = "count",
    ) -> Self:
        """Cells of rows that were already counted, as by SQL's ``GROUP BY``.

        Rows may occur more than once. Otherwise as :meth:`from_frame`.
        """
        return cls.from_frame(frame, attributes, target, counts=counts)

    @classmethod
    def from_parquet(
        cls,
        rows: Any,
        attributes: Iterable[Encodings],
        target: Encoding,
        *,
        counts: str | None = None,
    ) -> Self:
        """Cells of Parquet files, read in blocks by pyarrow on all its threads.

        Args:
            rows: A path, a glob, a folder (all ``*.parquet`` below it, without what a name in
                ``.`` or ``_`` hides), several of these, or a ``pyarrow.dataset`` of whole Parquet
                files without a filter.
            attributes: The attributes.
            target: The labels' column and classes.
            counts: A column of counts.

        Raises:
            ProblemError: As :meth:`from_frame`, naming file and row group; a path or glob matches
                no file, a file is not whole, or its columns have other types than in the first.
            SolverError: pyarrow is not installed.
        """
        from oracles.zero_one.sources.parquet import count_parquet

        return cls._of_tally(count_parquet(rows, Schema.of(attributes, target, counts)))

    @classmethod
    def from_duckdb(
        cls,
        rows: Any,
        attributes: Iterable[Encodings],
        target: Encoding,
        *,
        counts: str | None = None,
        connection: Any = None,
    ) -> Self:
        """Cells of a DuckDB relation: encoded and counted by SQL, out of core.

        Args:
            rows: A ``duckdb.DuckDBPyRelation``, or a table's name or a query.
            attributes: The attributes.
            target: The labels' column and classes.
            counts: A column of counts.
            connection: Where a name or query is looked up, and of a relation what Ctrl-C stops;
                without it, Ctrl-C waits for the relation's query. Default for a name or query: a
                database in memory, of this call's own, that never spills to disk. Your own may,
                as it is configured.

        Raises:
            ProblemError: As :meth:`from_frame`; a column's type has no text of its own, so that it
                has to be cast first; or DuckDB refuses the query.
            SolverError: duckdb is not installed.
        """
        from oracles.zero_one.sources.duckdb import count_duckdb

        schema = Schema.of(attributes, target, counts)
        return cls._of_tally(count_duckdb(rows, schema, connection))

    @classmethod
    def from_dask(
        cls,
        frame: Any,
        attributes: Iterable[Encodings],
        target: Encoding,
        *,
        counts: str | None = None,
    ) -> Self:
        """Cells of a Dask DataFrame: each partition is encoded and counted where it is.

        The counts are merged in a tree, by the scheduler or cluster that Dask is set to.

        Raises:
            ProblemError: As :meth:`from_frame`, naming the partition; or a partition's columns have
                other types than the frame promises.
            SolverError: dask is not installed.
        """
        from oracles.zero_one.sources.dask import count_dask

        return cls._of_tally(count_dask(frame, Schema.of(attributes, target, counts)))
