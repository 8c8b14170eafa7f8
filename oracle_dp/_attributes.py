"""The two kinds of attribute, and how a column of data is read as codes of one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from itertools import pairwise
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oracle_dp.errors import DomainError

IntArray: TypeAlias = NDArray[np.int64]


class Problem(IntEnum):
    """Why an entry has no level. Negative, so that it can stand where a level would."""

    MISSING = -1
    NOT_A_CATEGORY = -2
    NOT_A_NUMBER = -3
    INFINITE = -4


@dataclass(frozen=True)
class Categorical:
    """An attribute with a public list of categories; category ``i`` has code ``i``.

    A value belongs to the category equal to its text, ``str(value)``: the integer 1 is ``"1"``,
    the float 1.0 is ``"1.0"``. A marker of missing values such as ``"?"`` is a category like
    any other: list it to keep it, or drop its rows before encoding.

    Args:
        name: The column's name.
        categories: Distinct strings, at least one, in the order of their codes.

    Raises:
        DomainError: The name is empty, or the categories are none, repeated or not strings.
    """

    name: str
    categories: tuple[str, ...]

    def __init__(self, name: str, categories: Sequence[str]) -> None:
        _check_name(name)
        if isinstance(categories, str) or not all(isinstance(c, str) for c in categories):
            raise DomainError(
                f"categories of {name!r}: need a sequence of strings (write '1' for 1)"
            )
        if not len(categories):
            raise DomainError(f"categories of {name!r}: need at least one")
        repeated = [c for c, count in Counter(categories).items() if count > 1]
        if repeated:
            raise DomainError(f"categories of {name!r}: {repeated[0]!r} is listed more than once")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "categories", tuple(str(c) for c in categories))

    @property
    def labels(self) -> tuple[str, ...]:
        """What each code stands for: the categories themselves."""
        return self.categories

    @property
    def n_levels(self) -> int:
        """Number of codes."""
        return len(self.categories)

    def codes(self, column: pd.Series[Any]) -> IntArray:
        """The level of each entry of a column, shape ``(n_rows,)``; a ``Problem`` where none."""
        positions, values = _distinct(column)
        code = {category: i for i, category in enumerate(self.categories)}
        found = [code.get(str(value), Problem.NOT_A_CATEGORY) for value in values]
        # A missing value has position -1: the last entry.
        return np.array([*found, Problem.MISSING], dtype=np.int64)[positions]


@dataclass(frozen=True)
class Binned:
    """A number cut at public edges: ``k`` edges give ``k + 1`` levels.

    The levels are ``(-inf, e[0])``, ``[e[0], e[1])``, ..., ``[e[k-1], inf)``, so that every
    finite number has one.

    Args:
        name: The column's name.
        edges: Finite and strictly increasing, at least one.

    Raises:
        DomainError: The name is empty, or the edges are none, not finite or not increasing.
    """

    name: str
    edges: tuple[float, ...]

    def __init__(self, name: str, edges: Sequence[float]) -> None:
        _check_name(name)
        if isinstance(edges, str) or not all(_is_number(edge) for edge in edges):
            raise DomainError(f"edges of {name!r}: need a sequence of numbers")
        cuts = tuple(_float(edge) for edge in edges)
        if not cuts:
            raise DomainError(f"edges of {name!r}: need at least one")
        if not all(math.isfinite(cut) for cut in cuts):
            raise DomainError(f"edges of {name!r}: must be finite; the outer levels are open")
        if any(low >= high for low, high in pairwise(cuts)):
            raise DomainError(f"edges of {name!r}: must be strictly increasing")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "edges", cuts)

    @property
    def labels(self) -> tuple[str, ...]:
        """What each code stands for: ``"< 30"``, ``"30 to < 40"``, ``">= 40"``."""
        cuts = [str(int(e)) if e.is_integer() and abs(e) < 1e15 else repr(e) for e in self.edges]
        inner = (f"{low} to < {high}" for low, high in pairwise(cuts))
        return (f"< {cuts[0]}", *inner, f">= {cuts[-1]}")

    @property
    def n_levels(self) -> int:
        """Number of codes."""
        return len(self.edges) + 1

    def codes(self, column: pd.Series[Any]) -> IntArray:
        """The level of each entry of a column, shape ``(n_rows,)``; a ``Problem`` where none."""
        values, is_number = _numbers(column)
        codes = np.searchsorted(self.edges, values, side="right").astype(np.int64)
        codes[np.isinf(values)] = Problem.INFINITE
        codes[np.isnan(values)] = Problem.MISSING
        codes[~is_number] = Problem.NOT_A_NUMBER
        return codes


Attribute: TypeAlias = Categorical | Binned


def _check_name(name: str) -> None:
    if not isinstance(name, str) or not name:
        raise DomainError(f"name: an attribute's name must be a non-empty string, not {name!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)


def _float(value: Any) -> float:
    """The number as a float; one too large for a float is as good as infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _distinct(column: pd.Series[Any]) -> tuple[NDArray[np.intp], pd.Index[Any]]:
    """The column as positions in an index of its values; position -1 is a missing value."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy().astype(np.intp), column.cat.categories
    types = pd.api.types
    exact = isinstance(dtype, pd.StringDtype)
    if not (exact or types.is_integer_dtype(dtype) or types.is_bool_dtype(dtype)):
        # Elsewhere equal values can differ as text (1, 1.0 and True), and factorize keeps the
        # first it meets: one record would decide how others are read. So compare texts.
        values = column.to_numpy(dtype=object)
        texts = np.array([str(value) for value in values], dtype=object)
        texts[pd.isna(values)] = None
        column = pd.Series(texts, dtype=object)
    positions, distinct = pd.factorize(column)
    return positions.astype(np.intp), distinct


def _numbers(column: pd.Series[Any]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The column as floats (NaN where missing), and which entries are numbers or missing."""
    types = pd.api.types
    if types.is_integer_dtype(column.dtype) or types.is_float_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan), np.ones(len(column), dtype=bool)
    values = column.to_numpy(dtype=object)
    missing = pd.isna(values)
    is_number = np.array([_is_number(value) for value in values], dtype=bool) & ~missing
    floats = np.full(len(values), np.nan)
    floats[is_number] = [_float(value) for value in values[is_number]]
    return floats, is_number | missing
