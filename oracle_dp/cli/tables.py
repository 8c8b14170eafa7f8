"""CSV files as tables. No message, and no exception behind one, holds anything of a cell."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

from oracle_dp.cli.files import read_bytes

if TYPE_CHECKING:
    from _csv import Reader

    import pandas as pd

    from oracle_dp.domain import Domain

BATCH = 10_000
"""Lines that are held as such: lists of all would take the time and memory of a second table."""

_BROKEN = "is not CSV; check its quotes"

DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars"}


def read_table(path: Path, *, what: str = "rows") -> pd.DataFrame:
    """A CSV file as text, cell by cell, without the blanks around a cell.

    Args:
        path: Of the file; ``-`` is standard input.
        what: The parameter that messages name.

    Returns:
        One column per name in the first line. The index holds the line on which a row begins.

    Raises:
        ParameterError: The file cannot be read.
        DomainError: It is not a table. The line is named, and no value shown.
    """
    from oracle_dp.errors import DomainError

    # Not pandas.read_csv: it renames columns that occur twice, shifts rows that are longer than
    # the header, fills those that are shorter, and shows what it cannot read.
    text = io.StringIO(_text(read_bytes(path, what), what), newline="")
    reader = csv.reader(text, skipinitialspace=True, strict=True)
    header = _header(reader, what)
    columns = _Columns(len(header))
    problem = columns.read(reader)
    if problem:
        raise DomainError(f"{what}: {problem}")
    return columns.frame().set_axis(header, axis=1)


def with_numbers(frame: pd.DataFrame, domain: Domain, *, name_line: bool = False) -> pd.DataFrame:
    """The text of a CSV file with the columns of numbers as floats.

    Each cell is read by itself: how the others are written has no part in it.

    Args:
        frame: From :func:`read_table`.
        domain: Says which columns hold numbers.
        name_line: Whether a message may name the line: not for rows that are private to others
            than the one who runs the command.

    Raises:
        DomainError: A cell is not a number.
    """
    import numpy as np
    import pandas as pd

    from oracle_dp._columns import parse_number
    from oracle_dp.errors import DomainError

    frame = frame.copy(deep=False)
    for column in domain.numeric_columns:
        if column not in frame.columns:
            continue  # The domain's to refuse.
        cells, distinct = pd.factorize(frame[column])
        found = [parse_number(text) for text in distinct.tolist()]
        bad = np.array([number is None for number in found], dtype=bool)[cells]
        if bad.any():
            place = f" (first on line {frame.index[int(bad.argmax())]})" if name_line else ""
            raise DomainError(
                f"column {column!r} must hold numbers, plain ones such as 1234.5 without "
                f"separators of thousands, and holds something else{place}"
            )
        frame[column] = np.array(found, dtype=np.float64)[cells]
    return frame


def first_line_outside(frame: pd.DataFrame, domain: Domain) -> int | None:
    """The first line with a value that has no level, of the first attribute that has one."""
    for attribute in domain:
        for part in attribute.parts:
            outside = part.codes(frame[part.column]) < 0
            if outside.any():
                return int(frame.index[int(outside.argmax())])
    return None


def _text(raw: bytes, what: str) -> str:
    from oracle_dp.errors import DomainError

    text = _decoded(raw)
    if text is None or "\0" in text:
        raise DomainError(f"{what}: not text in UTF-8; save the file as CSV in UTF-8")
    return text


def _decoded(raw: bytes) -> str | None:
    # None and not an error: the codec's own holds all the bytes, even as a suppressed context.
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _header(reader: Reader, what: str) -> list[str]:
    """The names in the first line that is not empty."""
    from oracle_dp.errors import DomainError

    line: list[str] = []
    broken = False
    try:
        line = next(filter(None, reader), [])
    except csv.Error:
        broken = True
    if broken:
        raise DomainError(f"{what}: line {reader.line_num} {_BROKEN}")
    if not line:
        raise DomainError(f"{what}: the file is empty; a header with the columns' names is needed")
    header = [name.strip() for name in line]
    _check_header(header, what)
    return header


class _Columns:
    """The cells below the header, column by column.

    Args:
        width: Number of columns.
    """

    def __init__(self, width: int) -> None:
        self._cells: list[list[str]] = [[] for _ in range(width)]
        self._lines: list[int] = []
        self._batch: list[list[str]] = []

    def read(self, reader: Reader) -> str:
        """All that is left. What is wrong with it is returned, empty if nothing is."""
        width, blank, begun = len(self._cells), 0, reader.line_num + 1
        # Not raised here: an error would have the reader's behind it.
        try:
            for line in reader:
                if len(line) != width or blank:
                    if line:  # An empty one is refused, too, unless it ends the file.
                        return _ragged(blank or begun, 0 if blank else len(line), width)
                    blank = blank or begun
                else:
                    self._batch.append(line)
                    self._lines.append(begun)
                    if len(self._batch) == BATCH:
                        self._turn()
                begun = reader.line_num + 1
        except csv.Error:
            return f"line {reader.line_num} {_BROKEN}"
        self._turn()
        return ""

    def _turn(self) -> None:
        for column, cells in zip(self._cells, zip(*self._batch, strict=True), strict=False):
            column.extend(map(str.strip, cells))
        self._batch.clear()

    def frame(self) -> pd.DataFrame:
        """The columns, numbered, with the line on which each row begins as the index."""
        import pandas as pd

        index = pd.Index(self._lines, dtype="int64", name="line")
        return pd.concat([pd.Series(c, dtype=str, index=index) for c in self._cells], axis=1)


def _ragged(line: int, cells: int, width: int) -> str:
    return f"line {line} has {cells} cells, the header {width}"


def _check_header(header: list[str], what: str) -> None:
    # By position: where a file has no header, these names are the first person's values.
    from oracle_dp.errors import DomainError

    if len(header) == 1:
        for mark, name in DELIMITERS.items():
            if mark in header[0]:
                raise DomainError(
                    f"{what}: one column only, with {name} in its name; save the file with its "
                    "cells separated by commas"
                )
    first: dict[str, int] = {}
    for position, name in enumerate(header, start=1):
        if name and first.setdefault(name, position) < position:
            raise DomainError(
                f"{what}: columns {first[name]} and {position} have the same name in the header"
            )
