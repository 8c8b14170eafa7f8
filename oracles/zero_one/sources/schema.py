"""What a source of rows has to know of its columns: how each entry becomes a level."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oracles.errors import ProblemError

IntArray = NDArray[np.int64]


class Encoding(Protocol):
    """How the entries of one column become codes of levels; local, entry by entry.

    One of ``categories`` and ``edges`` is empty. With ``categories`` an entry's level is that equal
    to its text, ``str(entry)``; with ``edges`` it is the number of edges up to the entry.
    """

    @property
    def column(self) -> str:
        """The column that is read."""
        ...

    @property
    def n_levels(self) -> int:
        """Number of levels; codes are ``0 <= code < n_levels``."""
        ...

    @property
    def categories(self) -> tuple[str, ...]:
        """The texts of the levels, distinct, in the order of their codes."""
        ...

    @property
    def edges(self) -> tuple[float, ...]:
        """Where the levels after the first begin, finite and increasing."""
        ...

    def codes(self, column: pd.Series[Any]) -> IntArray:
        """The code of each entry; negative where there is none, by its reason."""
        ...

    def refusal(self, code: int) -> str:
        """What to say of a column with a negative code, after its name; shows no entry."""
        ...


class Encodings(Protocol):
    """An attribute: its level is the combination of those of its parts, the last fastest."""

    @property
    def parts(self) -> tuple[Encoding, ...]:
        """At least one."""
        ...


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a source.

    Args:
        attributes: The attributes' parts.
        target: The column of the labels; its levels are the classes.
        counts: A column of integers that says how many rows each row stands for; None for one each.
    """

    attributes: tuple[tuple[Encoding, ...], ...]
    target: Encoding
    counts: str | None

    @classmethod
    def of(
        cls, attributes: Iterable[Encodings], target: Encoding, counts: str | None = None
    ) -> Schema:
        """The schema of these attributes.

        Raises:
            ProblemError: There is no attribute, or one column has two parts to play.
        """
        parts = tuple(tuple(attribute.parts) for attribute in attributes)
        schema = cls(parts, target, counts)
        if not parts:
            raise ProblemError("attributes: at least one expected")
        read = {part.column for part in schema.parts[:-1]}
        if target.column in read or counts in {*read, target.column}:
            raise ProblemError(
                "attributes, target and counts: a column is named twice; each needs its own"
            )
        return schema

    @property
    def parts(self) -> tuple[Encoding, ...]:
        """All parts of all attributes, and the target last."""
        return (*(part for parts in self.attributes for part in parts), self.target)

    @property
    def levels(self) -> tuple[int, ...]:
        """Number of levels of each attribute."""
        return tuple(math.prod(part.n_levels for part in parts) for parts in self.attributes)

    @property
    def columns(self) -> list[str]:
        """The columns that are read, each once."""
        counts = () if self.counts is None else (self.counts,)
        return list(dict.fromkeys((*(part.column for part in self.parts), *counts)))

    def check_columns(self, names: Iterable[object]) -> None:
        """See that each column is there once.

        Raises:
            ProblemError: It is not.
        """
        given = list(names)
        for column in self.columns:
            if (n := sum(isinstance(name, str) and name == column for name in given)) != 1:
                found = "is missing" if not n else "occurs more than once"
                raise ProblemError(f"column {column!r} {found}; the schema needs it once")


def checked(encoding: Encoding, codes: IntArray) -> IntArray:
    """The codes, if none is negative.

    Raises:
        ProblemError: One is. The column is named.
    """
    lowest = int(codes.min(initial=0))
    if lowest < 0:
        raise ProblemError(f"column {encoding.column!r} {encoding.refusal(lowest)}")
    return codes


def checked_counts(column: str, counts: Any, *, missing: bool) -> IntArray:
    """A column of counts as integers.

    Args:
        column: Its name.
        counts: Its entries as an array.
        missing: Whether some are missing.

    Raises:
        ProblemError: They are no integers of 64 bits, or one is missing or negative.
    """
    if missing:
        raise ProblemError(f"column {column!r}, the counts, has missing values")
    numbers = np.asarray(counts)
    if numbers.dtype.kind not in "iu" or (
        numbers.dtype == np.uint64 and (numbers > np.uint64(2**63 - 1)).any()
    ):
        raise ProblemError(f"column {column!r}, the counts, must hold integers of at most 64 bits")
    if (numbers < 0).any():
        raise ProblemError(f"column {column!r}, the counts, has a negative count")
    return numbers.astype(np.int64)
