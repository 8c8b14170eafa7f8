"""How a table's columns are found, and how their entries are read as text or numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from oracle_dp.errors import DomainError


def read_columns(data: pd.DataFrame | ArrayLike, names: Sequence[str]) -> dict[str, pd.Series[Any]]:
    """The columns of these names: by name from a frame, all in order from an array."""
    if isinstance(data, pd.DataFrame):
        return {name: _column(data, name) for name in names}
    table = as_table(data)
    if isinstance(data, list | tuple) and table.shape == (0,):
        table = table.reshape(0, len(names))  # An empty list is a table without rows.
    if table.ndim != 2 or table.shape[1] != len(names):
        raise DomainError(
            f"data: need {len(names)} columns, in the order {', '.join(names)}; got an array "
            f"with {table.ndim} dimensions"
            + (f" and {table.shape[1]} columns" if table.ndim == 2 else "")
        )
    if sparse.issparse(table):
        return _dense_columns(table, names)
    return {name: pd.Series(table[:, j]) for j, name in enumerate(names)}


def as_table(data: Any) -> Any:
    """A frame or a sparse container as it is, all else as an array that keeps every entry."""
    if isinstance(data, pd.DataFrame | np.ndarray) or sparse.issparse(data):
        return data
    if hasattr(data, "columns"):
        raise DomainError("data: a table with named columns must be a pandas.DataFrame; convert it")
    try:
        # Objects, because a common type of all columns would turn numbers into text, or 1 to 1.0.
        return np.asarray(data, dtype=object)
    except ValueError:
        raise DomainError("data: rows of different lengths") from None


def _dense_columns(table: Any, names: Sequence[str]) -> dict[str, pd.Series[Any]]:
    by_column = table.tocsc()
    return {name: pd.Series(by_column[:, [j]].toarray()[:, 0]) for j, name in enumerate(names)}


def _column(frame: pd.DataFrame, name: str) -> pd.Series[Any]:
    places = [
        i for i, label in enumerate(frame.columns) if isinstance(label, str) and label == name
    ]
    if len(places) != 1:
        found = "is missing" if not places else "occurs more than once"
        raise DomainError(f"column {name!r} {found} in the data; the domain needs it once")
    return frame.iloc[:, places[0]]


_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_NOT_FINITE = {"": math.nan, "nan": math.nan, "inf": math.inf, "+inf": math.inf, "-inf": -math.inf}


def parse_number(text: str) -> float | None:
    """The number that a cell of text holds: NaN for an empty one, None for what is none."""
    return float(text) if _NUMBER.fullmatch(text) else _NOT_FINITE.get(text.lower())


def is_number(value: object) -> bool:
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)


def as_float(value: Any) -> float:
    """The number as a float; one too large for a float is as good as infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def distinct_values(column: pd.Series[Any]) -> tuple[NDArray[np.intp], pd.Index[Any]]:
    """The column as positions in an index of its values; position -1 is a missing value."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy().astype(np.intp), column.cat.categories
    types = pd.api.types
    exact = isinstance(dtype, pd.StringDtype) or _is_arrow_text(dtype)
    if not (exact or types.is_integer_dtype(dtype) or types.is_bool_dtype(dtype)):
        # Elsewhere equal values can differ as text (1, 1.0 and True), and factorize keeps the
        # first it meets: one record would decide how others are read. So compare texts.
        values = column.to_numpy(dtype=object)
        texts = np.array([str(value) for value in values], dtype=object)
        texts[pd.isna(values)] = None
        column = pd.Series(texts, dtype=object)
    positions, distinct = pd.factorize(column)
    return positions.astype(np.intp), distinct


def _is_arrow_text(dtype: object) -> bool:
    return isinstance(dtype, pd.ArrowDtype) and dtype.type is str


def texts(values: pd.Index[Any] | NDArray[Any]) -> list[str | None]:
    """The values as text; None for what is stored as text and is none, as bytes without UTF-8."""
    try:
        return [str(value) for value in values]
    except UnicodeDecodeError:  # Which holds the bytes, so that it must not be seen.
        return [_text(values, i) for i in range(len(values))]


def _text(values: pd.Index[Any] | NDArray[Any], place: int) -> str | None:
    try:
        return str(values[place])
    except UnicodeDecodeError:
        return None


def read_numbers(column: pd.Series[Any]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The column as floats (NaN where missing), and which entries are numbers or missing."""
    types = pd.api.types
    if types.is_integer_dtype(column.dtype) or types.is_float_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan), np.ones(len(column), dtype=bool)
    values = column.to_numpy(dtype=object)
    missing = pd.isna(values)
    numeric = np.array([is_number(value) for value in values], dtype=bool) & ~missing
    floats = np.full(len(values), np.nan)
    floats[numeric] = [as_float(value) for value in values[numeric]]
    return floats, numeric | missing
