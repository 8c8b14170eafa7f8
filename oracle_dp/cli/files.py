"""Files that commands read and write."""

from __future__ import annotations

import csv
import io
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from oracle_dp.domain import Domain


def read_table(path: Path) -> pd.DataFrame:
    """A CSV file as text, cell by cell.

    Raises:
        DomainError: It is not a table. The line is named, and no value shown.
    """
    import pandas as pd

    from oracle_dp.errors import DomainError

    # Not pandas.read_csv: it renames columns that occur twice, shifts rows that are longer than
    # the header, fills those that are shorter, and shows what it cannot read.
    raw = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    try:
        text = io.StringIO(raw.decode("utf-8-sig"), newline="")
        lines = csv.reader(text, skipinitialspace=True, strict=True)
        cells = [(lines.line_num, line) for line in lines]
    except UnicodeDecodeError:
        raise DomainError("rows: not text in UTF-8; save the file as CSV in UTF-8") from None
    except csv.Error:
        raise DomainError(f"rows: line {lines.line_num} is not CSV; check its quotes") from None
    while cells and not cells[-1][1]:  # An empty line elsewhere would shift the answers.
        cells.pop()
    if not cells:
        raise DomainError("rows: the file is empty; a header with the columns' names is needed")
    _, header = cells[0]
    for number, line in cells[1:]:
        if len(line) != len(header):
            raise DomainError(
                f"rows: line {number} has {len(line)} cells, the header {len(header)}"
            )
    return pd.DataFrame([line for _, line in cells[1:]], columns=header, dtype=str)


def with_numbers(frame: pd.DataFrame, domain: Domain) -> pd.DataFrame:
    """The text of a CSV file with the columns of numbers as numbers."""
    import pandas as pd

    from oracle_dp.errors import DomainError

    frame = frame.copy()
    for column in domain.numeric_columns:
        # A column that occurs twice is the domain's to refuse.
        if list(frame.columns).count(column) == 1:
            try:
                frame[column] = pd.to_numeric(frame[column])
            except ValueError:
                raise DomainError(f"column {column!r} must hold numbers") from None
    return frame


def check_writable(path: Path) -> None:
    """Find out whether a file can be written, before anything is spent.

    Raises:
        ParameterError: It cannot.
    """
    from oracle_dp.errors import ParameterError

    whole = path.is_file() or not path.exists()
    folder = path.resolve().parent
    writable = folder.is_dir() and os.access(folder if whole else path, os.W_OK)
    if path.is_dir() or not writable:
        raise ParameterError(f"save: cannot write {path}; name a file in a folder that you own")


def write_whole(path: Path, text: str) -> None:
    """Write a file entirely or not at all; a device or a pipe is written to as it is."""
    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    with tempfile.NamedTemporaryFile(
        "w", dir=path.parent, prefix=f".{path.name}.", delete=False, encoding="utf-8"
    ) as file:
        try:
            file.write(text)
            file.flush()
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
