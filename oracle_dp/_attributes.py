"""The kinds of attribute, and how a column of data is read as codes of one.

A single attribute reads one column; a crossed one is several single ones taken together. Each has
a ``name`` of its own in the domain, ``labels`` and ``n_levels``, and the single attributes that it
is made of as ``parts``: itself, where it is single.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from oracle_dp._columns import as_float, distinct_values, is_number, texts
from oracle_dp._single import IntArray, Problem, ReadsOneColumn, bins
from oracle_dp.errors import DomainError

MAX_LEVELS = 1_000_000
"""Of a crossed attribute: each level is listed wherever the domain is."""


@dataclass(frozen=True)
class Categorical(ReadsOneColumn):
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
    def column(self) -> str:
        """The column that is read: the one of the attribute's name."""
        return self.name

    @property
    def edges(self) -> tuple[float, ...]:
        """None: the column is read as text."""
        return ()

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
        positions, values = distinct_values(column)
        code: dict[str | None, int] = {name: i for i, name in enumerate(self.categories)}
        found = [code.get(text, Problem.NOT_A_CATEGORY) for text in texts(values)]
        # A missing value has position -1: the last entry.
        return np.array([*found, Problem.MISSING], dtype=np.int64)[positions]


@dataclass(frozen=True)
class Binned(ReadsOneColumn):
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
        if isinstance(edges, str) or not all(is_number(edge) for edge in edges):
            raise DomainError(f"edges of {name!r}: need a sequence of numbers")
        cuts = tuple(as_float(edge) for edge in edges)
        if not cuts:
            raise DomainError(f"edges of {name!r}: need at least one")
        if not all(math.isfinite(cut) for cut in cuts):
            raise DomainError(f"edges of {name!r}: must be finite; the outer levels are open")
        if any(low >= high for low, high in pairwise(cuts)):
            raise DomainError(f"edges of {name!r}: must be strictly increasing")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "edges", cuts)

    @property
    def column(self) -> str:
        """The column that is read: the one of the attribute's name."""
        return self.name

    @property
    def categories(self) -> tuple[str, ...]:
        """None: the column is read as a number."""
        return ()

    @property
    def labels(self) -> tuple[str, ...]:
        """What each code stands for: ``"< 30"``, ``"30 to < 40"``, ``">= 40"``."""
        cuts = [_shown(edge) for edge in self.edges]
        inner = (f"{low} to < {high}" for low, high in pairwise(cuts))
        return (f"< {cuts[0]}", *inner, f">= {cuts[-1]}")

    @property
    def n_levels(self) -> int:
        """Number of codes."""
        return len(self.edges) + 1

    def codes(self, column: pd.Series[Any]) -> IntArray:
        """The level of each entry of a column, shape ``(n_rows,)``; a ``Problem`` where none."""
        return bins(column, self.edges)


@dataclass(frozen=True)
class Threshold(ReadsOneColumn):
    """Whether a number reaches a public edge: code 1 if it does, else 0.

    Several on one column add up: a number gets the points of every edge that it reaches. See
    :meth:`Domain.thermometer`.

    Args:
        column: The column's name.
        edge: Finite.

    Raises:
        DomainError: The name is empty, or the edge is not a finite number.
    """

    column: str
    edge: float

    def __init__(self, column: str, edge: float) -> None:
        _check_name(column)
        if not is_number(edge) or not math.isfinite(as_float(edge)):
            raise DomainError(f"edge of {column!r}: need a finite number")
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "edge", as_float(edge))

    @property
    def name(self) -> str:
        """What the attribute is called in the domain: ``"age >= 30"``."""
        return f"{self.column} {self.labels[1]}"

    @property
    def categories(self) -> tuple[str, ...]:
        """None: the column is read as a number."""
        return ()

    @property
    def edges(self) -> tuple[float]:
        """The one edge."""
        return (self.edge,)

    @property
    def labels(self) -> tuple[str, str]:
        """What each code stands for: ``"< 30"``, ``">= 30"``."""
        return f"< {_shown(self.edge)}", f">= {_shown(self.edge)}"

    @property
    def n_levels(self) -> int:
        """Number of codes."""
        return 2

    def codes(self, column: pd.Series[Any]) -> IntArray:
        """The level of each entry of a column, shape ``(n_rows,)``; a ``Problem`` where none."""
        return bins(column, self.edges)


Single: TypeAlias = Categorical | Binned | Threshold


@dataclass(frozen=True)
class Crossed:
    """Several attributes as one, whose levels are the combinations of theirs.

    The last part's level changes fastest. See :meth:`Domain.crossed`.

    Args:
        parts: At least two attributes, each of another column; a crossed one stands for its parts.

    Raises:
        DomainError: There are fewer, two read the same column, or there are more than a million
            combinations.
    """

    parts: tuple[Single, ...]

    def __init__(self, parts: Sequence[Attribute]) -> None:
        if not all(isinstance(part, Attribute) for part in parts):
            raise DomainError("parts: each must be an attribute")
        singles = tuple(single for part in parts for single in part.parts)
        columns = [single.column for single in singles]
        if len(singles) < 2:
            raise DomainError("parts: at least two attributes can be crossed")
        if len(set(columns)) < len(columns):
            raise DomainError(
                f"parts: two of {', '.join(s.name for s in singles)} read the same column"
            )
        object.__setattr__(self, "parts", singles)
        if self.n_levels > MAX_LEVELS:
            raise DomainError(
                f"{self.name!r} has {self.n_levels:,} levels, more than {MAX_LEVELS:,}; cross "
                "fewer attributes, or ones with fewer levels"
            )

    @property
    def name(self) -> str:
        """What the attribute is called in the domain: ``"race & sex"``."""
        return " & ".join(part.name for part in self.parts)

    @property
    def labels(self) -> tuple[str, ...]:
        """What each code stands for: ``"White & Female"``, ``"White & Male"``, ...

        In quotes where a category's own ``&`` would make two labels the same.
        """
        combinations = list(product(*(part.labels for part in self.parts)))
        plain = tuple(" & ".join(labels) for labels in combinations)
        if len(set(plain)) == len(plain):
            return plain
        return tuple(" & ".join(map(repr, labels)) for labels in combinations)

    @property
    def n_levels(self) -> int:
        """Number of codes."""
        return math.prod(part.n_levels for part in self.parts)


Attribute: TypeAlias = Categorical | Binned | Threshold | Crossed


def _check_name(name: str) -> None:
    if not isinstance(name, str) or not name:
        raise DomainError(f"name: an attribute's name must be a non-empty string, not {name!r}")


def _shown(edge: float) -> str:
    return str(int(edge)) if edge.is_integer() and abs(edge) < 1e15 else repr(edge)
