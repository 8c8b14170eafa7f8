"""Parquet files: which ones are meant, and whether they are whole and of one schema."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oracles.errors import ProblemError
from oracles.zero_one.sources.engines import needed
from oracles.zero_one.sources.schema import Schema

BUFFER = 2**20
"""Bytes of a column that are read at once; without it, all of a row group's are."""


@dataclass(frozen=True, slots=True)
class File:
    """One Parquet file.

    Attributes:
        path: As it was given, for messages.
        filesystem: Of pyarrow, where the path is looked up; None for the machine's own.
        metadata: Its footer.
        stamp: What tells it from one written later in its place; None where nothing does.
    """

    path: str
    filesystem: Any
    metadata: Any
    stamp: tuple[int, ...] | None

    @property
    def schema(self) -> Any:
        """The columns' names and types, of pyarrow."""
        return self.metadata.schema.to_arrow_schema()

    @property
    def changed(self) -> bool:
        """Whether it is another one than that whose footer was read."""
        return self.stamp != _stamp(self.path, self.filesystem)

    def opened(self, text: Sequence[str]) -> Any:
        """The file, to read row groups from; the columns of text as codes of a dictionary.

        Raises:
            OSError: It cannot be read.
        """
        return needed("pyarrow.parquet", "parquet").ParquetFile(
            self.path,
            metadata=self.metadata,
            read_dictionary=list(text),
            filesystem=self.filesystem,
            pre_buffer=False,
            buffer_size=BUFFER,
        )


def files_of(rows: Any) -> list[File]:
    """The files that are meant, in order, each with its footer read.

    Raises:
        ProblemError: There is none, or one is no whole Parquet file.
    """
    paths, filesystem = _paths(rows)
    # By what the paths lead to: a link leads to a file that may be there under its own name.
    if len({_identity(path, filesystem) for path in paths}) < len(paths):
        raise ProblemError(
            "rows: a file is named twice, by a link perhaps, and its rows would count twice"
        )
    files = [_read(path, filesystem) for path in paths]
    if hasattr(rows, "get_fragments"):
        _check_whole(rows, files)
    return files


def check_schemas(files: Sequence[File], schema: Schema) -> None:
    """See that all files have the schema's columns, of the types that the first file has.

    Texts are of one type, however they are stored; so are integers, and floats, of all widths.

    Raises:
        ProblemError: They do not. File and column are named.
    """
    first: dict[str, str] = {}
    for file in files:
        arrow = file.schema
        problem = ""
        try:
            schema.check_columns(arrow.names)
        except ProblemError as error:
            problem = str(error)
        if problem:
            raise ProblemError(f"{file.path}, from row group 0 on: {problem}")
        for column in schema.columns:
            found = kind(arrow.field(column).type)
            if found == "null":
                continue  # Every entry is missing, which is told when one is read.
            if first.setdefault(column, found) != found:
                raise ProblemError(
                    f"{file.path}, from row group 0 on: column {column!r} holds {found}, and "
                    f"{first[column]} in {files[0].path}; write all files with one schema"
                )


def kind(arrow_type: Any) -> str:
    """What decides how an entry of a type of pyarrow is spelt."""
    types = needed("pyarrow.types", "parquet")
    if types.is_dictionary(arrow_type):
        return kind(arrow_type.value_type)
    if types.is_string(arrow_type) or types.is_large_string(arrow_type):
        return "text"
    if types.is_integer(arrow_type):
        return "integers"
    return "floats" if types.is_floating(arrow_type) else str(arrow_type)


def _paths(rows: Any) -> tuple[list[str], Any]:
    """Paths, and where they are looked up."""
    if isinstance(rows, str | os.PathLike):
        return list(_expanded(os.fspath(rows))), None
    if hasattr(rows, "get_fragments"):
        return _paths_of_dataset(rows)
    if not isinstance(rows, Sequence) or not all(isinstance(r, str | os.PathLike) for r in rows):
        raise ProblemError(
            "rows: a path, a glob, a folder, several of these, or a pyarrow.dataset expected"
        )
    paths = [path for given in rows for path in _expanded(os.fspath(given))]
    if not paths:
        raise ProblemError("rows: no file is named")
    return paths, None


def _identity(path: str, filesystem: Any) -> object:
    """What is the same for two paths of one file."""
    stamp = _stamp(path, filesystem)
    return path if stamp is None else stamp[:2]


def _stamp(path: str, filesystem: Any) -> tuple[int, ...] | None:
    """Which file is there on the machine's own disk, and when it was written."""
    arrow = needed("pyarrow.fs", "parquet")
    if filesystem is not None and not isinstance(filesystem, arrow.LocalFileSystem):
        return None
    try:
        found = os.stat(path)
    except (OSError, ValueError):  # Which is told when it is read.
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _paths_of_dataset(dataset: Any) -> tuple[list[str], Any]:
    arrow = needed("pyarrow.dataset", "parquet")
    whole = isinstance(dataset, arrow.FileSystemDataset) and not dataset._scan_options
    if not whole or not isinstance(dataset.format, arrow.ParquetFileFormat):
        raise ProblemError(
            "rows: a pyarrow.dataset must be of Parquet files, without a filter; DuckDB can "
            "filter and join them (from_duckdb)"
        )
    if not dataset.files:
        raise ProblemError("rows: the dataset has no files")
    return list(dataset.files), dataset.filesystem


def _check_whole(dataset: Any, files: Sequence[File]) -> None:
    """See that a dataset's fragments leave out none of their files' row groups."""
    for fragment, file in zip(dataset.get_fragments(), files, strict=True):
        if fragment.num_row_groups != file.metadata.num_row_groups:
            raise ProblemError(
                f"rows: the dataset leaves out row groups of {file.path}; whole files are counted"
            )


def _expanded(given: str) -> Iterator[str]:
    """The files that a path, a glob or a folder stands for, sorted."""
    if os.path.isdir(given):
        # As pyarrow does: what others write beside the rows, or have not finished, is hidden so.
        found = [
            str(path)
            for path in sorted(Path(given).rglob("*.parquet"))
            if not path.is_dir()
            and not any(part.startswith((".", "_")) for part in path.relative_to(given).parts)
        ]
    elif not os.path.exists(given) and glob.has_magic(given):
        found = sorted(glob.glob(given, recursive=True))
    else:
        found = [given]
    if not found:
        raise ProblemError(f"rows: no file matches {given}")
    yield from found


def _read(path: str, filesystem: Any) -> File:
    """The footer. pyarrow's own errors are not shown: they may quote what they read."""
    arrow, parquet = needed("pyarrow", "parquet"), needed("pyarrow.parquet", "parquet")
    problem = "is no whole Parquet file: its end is missing or damaged; write or copy it anew"
    stamp = _stamp(path, filesystem)
    try:
        return File(path, filesystem, parquet.read_metadata(path, filesystem=filesystem), stamp)
    except FileNotFoundError:
        problem = "there is no such file"
    except (IsADirectoryError, PermissionError):
        problem = "cannot be read; it must be a file that you may read"
    except (arrow.ArrowException, OSError, ValueError):
        pass
    raise ProblemError(f"rows: {path}: {problem}")
