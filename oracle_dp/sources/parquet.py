"""Parquet files as a source: a part is a row group."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pandas as pd

from oracle_dp._workers import workers
from oracle_dp.errors import DomainError
from oracle_dp.sources.base import (
    Guarded,
    PartFunction,
    Refusal,
    check_columns,
    rows_per_piece,
)
from oracles.errors import ProblemError
from oracles.zero_one.sources.engines import needed
from oracles.zero_one.sources.parquet_files import File, files_of, kind

ResultT = TypeVar("ResultT")


class ParquetSource:
    """Rows of Parquet files of one schema, a row group at a time.

    The order of rows is that of the files as they are given; those of a folder or a pattern are by
    name. Memory beside the compressed pages is a few megabytes per thread.

    Args:
        rows: A file, a folder, a pattern such as ``"data/*.parquet"``, a sequence of those, or a
            ``pyarrow.dataset`` without a filter.
        n_jobs: Threads, as joblib counts them. Results do not depend on it.

    Raises:
        DomainError: There is no file, one is no whole Parquet file, or their schemas differ.
        ParameterError: ``n_jobs`` is no number of workers.
        SolverError: pyarrow is not installed.
    """

    def __init__(self, rows: Any, *, n_jobs: int | None = 1) -> None:
        self.n_jobs = workers(n_jobs)
        try:
            self._files = [_Stamped.of(file) for file in files_of(rows)]
        except ProblemError as error:
            raise DomainError(str(error)) from None
        first = self._files[0]
        for other in self._files[1:]:
            _check_same(first, other)
        self._columns = tuple(first.kinds)

    @property
    def columns(self) -> tuple[str, ...]:
        """See :class:`Source`."""
        return self._columns

    def select(self, columns: Sequence[str]) -> ParquetSource:
        """See :class:`Source`."""
        chosen = object.__new__(ParquetSource)
        chosen.__dict__.update(self.__dict__, _columns=check_columns(self.columns, columns))
        return chosen

    def __len__(self) -> int:
        return len(self._groups)

    @property
    def _groups(self) -> list[tuple[_Stamped, int]]:
        return [(one, k) for one in self._files for k in range(one.file.metadata.num_row_groups)]

    def map(self, function: PartFunction[ResultT], each: Sequence[Any]) -> Iterator[ResultT]:
        """See :class:`Source`.

        Raises:
            DomainError: Also if a file has changed since this was made.
        """
        from joblib import Parallel, delayed

        guarded = delayed(Guarded(function))
        refusals: list[Refusal] = []

        def calls() -> Iterator[Any]:
            for (one, k), given in zip(self._groups, each, strict=True):
                if refusals:
                    return
                place = f"{one.file.path}, row group {k}"
                yield guarded(place, one.pieces(k, self.columns), given)

        # Threads: what takes long is pyarrow's and BLAS's work, which lets others run.
        run = Parallel(n_jobs=self.n_jobs, backend="threading", return_as="generator")
        for found in run(calls()):
            if isinstance(found, Refusal):
                refusals.append(found)
            elif not refusals:
                yield found
        if refusals:
            raise DomainError(refusals[0].text)


@dataclass(frozen=True, eq=False)
class _Stamped:
    """A file, with what tells that it was changed.

    Attributes:
        file: Its path and footer.
        stamp: Size and time of its last change; a file system may not know the time.
        kinds: What every column holds, by name.
    """

    file: File
    stamp: tuple[int, int | None]
    kinds: dict[str, str]

    @classmethod
    def of(cls, file: File) -> _Stamped:
        schema = file.schema
        kinds = {name: kind(of) for name, of in zip(schema.names, schema.types, strict=True)}
        if len(kinds) < len(schema.names):
            raise DomainError(f"{file.path}: two columns of one name")
        return cls(file, _stamp(file), kinds)

    def pieces(self, group: int, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        """Frames of some rows each, text as categories.

        Raises:
            DomainError: The file has changed, or cannot be read.
        """
        arrow = needed("pyarrow", "parquet")
        text = [column for column in columns if self.kinds[column] == "text"]
        size = rows_per_piece(len(columns))
        # Raised below: the original message may quote an entry.
        problem = "is damaged; write or copy the file anew"
        try:
            changed = self.stamp != _stamp(self.file)
            if not changed:
                with self.file.opened(text) as opened:
                    for batch in opened.iter_batches(
                        size, row_groups=[group], columns=list(columns), use_threads=False
                    ):
                        yield batch.select(list(columns)).to_pandas()
                return
            problem = "the file has changed since it was first read"
        except FileNotFoundError:
            problem = "the file is no longer there"
        except (arrow.ArrowException, OSError):
            pass
        except (ValueError, OverflowError):
            problem = "holds an entry that Python cannot hold, as a date beyond the year 9999"
        raise DomainError(problem)


def _check_same(first: _Stamped, other: _Stamped) -> None:
    """See that two files have the same columns."""
    path = other.file.path
    for name, held in first.kinds.items():
        found = other.kinds.get(name, "")
        if found != held:
            told = f"holds {found}, and {held} in {first.file.path}" if found else "is missing"
            raise DomainError(
                f"{path}, from row group 0 on: column {name!r} {told}; write all files with one "
                "schema"
            )
    if len(other.kinds) > len(first.kinds):
        raise DomainError(f"{path}: it has columns that {first.file.path} does not have")


def _stamp(file: File) -> tuple[int, int | None]:
    """Size and time of the last change.

    Raises:
        OSError: They cannot be had; FileNotFoundError if there is no such file.
    """
    if file.filesystem is None:
        stat = os.stat(file.path)
        return stat.st_size, stat.st_mtime_ns
    info = file.filesystem.get_file_info(file.path)
    if not info.is_file:
        raise FileNotFoundError(file.path)
    return info.size, info.mtime_ns
