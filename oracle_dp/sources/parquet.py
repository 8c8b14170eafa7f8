"""Parquet files as a source: a part is a row group."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from oracle_dp.errors import DomainError
from oracle_dp.sources.base import (
    Guarded,
    PartFunction,
    Refusal,
    check_columns,
    needed,
    rows_per_piece,
)

ResultT = TypeVar("ResultT")

PathLike = str | os.PathLike[str]


class ParquetSource:
    """Rows of Parquet files of one schema, a row group at a time.

    The order of rows is that of the files as they are given; those of a folder or a pattern are by
    name. Memory beside the compressed pages is a few megabytes per thread.

    Args:
        paths: A file, a folder (its ``*.parquet``), a pattern such as ``"data/*.parquet"``, or a
            sequence of those.
        n_jobs: Threads, as joblib counts them. Results do not depend on it.

    Raises:
        DomainError: There is no file, one is no whole Parquet file, or their schemas differ.
        ParameterError: pyarrow is not installed.
    """

    def __init__(self, paths: PathLike | Sequence[PathLike], *, n_jobs: int = 1) -> None:
        self.n_jobs = n_jobs
        self._files = [_opened(path) for path in _paths(paths)]
        first = self._files[0]
        for file in self._files[1:]:
            _check_same(first, file)
        self._columns = check_columns(list(first.types), list(first.types))

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
        return sum(file.footer.num_row_groups for file in self._files)

    def map(self, function: PartFunction[ResultT], each: Sequence[Any]) -> Iterator[ResultT]:
        """See :class:`Source`.

        Raises:
            DomainError: Also if a file has changed since this was made.
        """
        from joblib import Parallel, delayed

        groups = [(file, k) for file in self._files for k in range(file.footer.num_row_groups)]
        guarded = delayed(Guarded(function))
        refusals: list[Refusal] = []

        def calls() -> Iterator[Any]:
            for (file, k), given in zip(groups, each, strict=True):
                if refusals:
                    return
                place = f"{file.path}: row group {k}"
                yield guarded(place, file.pieces(k, self.columns), given)

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
class File:
    """One file.

    Attributes:
        path: Where it is.
        footer: Its metadata.
        stamp: Size and time of its last change.
        types: Type of every column, by name.
    """

    path: str
    footer: Any
    stamp: tuple[int, int]
    types: dict[str, str]

    def pieces(self, group: int, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        """Frames of some rows each, text as categories.

        Raises:
            DomainError: The file has changed, or cannot be read.
        """
        lib, parquet = needed("pyarrow.lib", "parquet"), needed("pyarrow.parquet", "parquet")
        try:
            if _stamp(self.path) != self.stamp:
                raise DomainError("the file has changed since it was first read")
            text = [column for column in columns if self.types[column] == "string"]
            file = parquet.ParquetFile(self.path, metadata=self.footer, read_dictionary=text)
            for batch in file.iter_batches(
                rows_per_piece(len(columns)),
                row_groups=[group],
                columns=list(columns),
                use_threads=False,
            ):
                yield batch.select(list(columns)).to_pandas()
        except (OSError, lib.ArrowException) as error:
            kind = type(error).__name__
        else:
            return
        # Raised outside: the original message may quote an entry.
        raise DomainError(f"cannot be read ({kind}); is the file whole?")


def _paths(given: PathLike | Sequence[PathLike]) -> list[str]:
    """The files that are meant, in order."""
    listed = [given] if isinstance(given, str | os.PathLike) else list(given)
    found: list[str] = []
    for path in listed:
        entry = os.fspath(path)
        if Path(entry).is_dir():
            files = sorted(glob.glob(str(Path(glob.escape(entry)) / "*.parquet")))
        else:
            files = [entry] if Path(entry).exists() else sorted(glob.glob(entry))
        if not files:
            raise DomainError(f"{entry}: no such file, or no Parquet file there")
        found += files
    if not found:
        raise DomainError("paths: no file is named")
    return found


def _opened(path: str) -> File:
    lib, parquet = needed("pyarrow.lib", "parquet"), needed("pyarrow.parquet", "parquet")
    try:
        stamp = _stamp(path)
        footer = parquet.read_metadata(path)
        schema = footer.schema.to_arrow_schema()
        types = [(name, _kind(kind)) for name, kind in zip(schema.names, schema.types, strict=True)]
        if len(dict(types)) == len(types):
            return File(path, footer, stamp, dict(types))
        problem = "two columns of one name"
    except (OSError, lib.ArrowException) as error:
        problem = f"no whole Parquet file ({type(error).__name__})"
    raise DomainError(f"{path}: {problem}")


def _kind(given: Any) -> str:
    """A column's type; text is text, however it is stored."""
    name = str(getattr(given, "value_type", given))
    return "string" if name in ("string", "large_string", "string_view") else str(given)


def _check_same(first: File, file: File) -> None:
    if list(first.types.items()) == list(file.types.items()):
        return
    for name, kind in first.types.items():
        other = file.types.get(name)
        if other != kind:
            told = "is missing" if other is None else f"is {other}"
            raise DomainError(
                f"{file.path}: column {name!r} {told}; in {first.path} it is {kind}. All files "
                "must have one schema"
            )
    raise DomainError(
        f"{file.path}: other columns, or in another order, than in {first.path}; all files must "
        "have one schema"
    )


def _stamp(path: str) -> tuple[int, int]:
    stat = os.stat(path)
    return stat.st_size, stat.st_mtime_ns
