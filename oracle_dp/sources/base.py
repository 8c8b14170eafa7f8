"""What a source of rows is, and how what is wrong with a part of it comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar, runtime_checkable

import pandas as pd

from oracle_dp.errors import DomainError, ParameterError
from oracles.errors import ProblemError

ResultT = TypeVar("ResultT")

PartFunction = Callable[[Iterable[pd.DataFrame], Any], ResultT]
"""From a part, piece by piece, and what is given for it."""


@runtime_checkable
class Source(Protocol):
    """Frames in parts of a fixed order that can be read again, as :class:`oracles.convex` sums."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, distinct."""
        ...

    def select(self, columns: Sequence[str]) -> Self:
        """The same rows with these columns only, in this order.

        Raises:
            DomainError: There is no such column.
        """
        ...

    def __len__(self) -> int:
        """How many parts."""
        ...

    def map(self, function: PartFunction[ResultT], each: Sequence[Any]) -> Iterator[ResultT]:
        """The function's value for every part, in order.

        Args:
            function: Takes a part in frames of some rows each, in order, and the part's entry of
                ``each``; may be pickled, and run elsewhere.
            each: One entry per part.

        Raises:
            DomainError: Rows cannot be read, or the function refuses them. Names the part and no
                value.
        """
        ...


@dataclass(frozen=True)
class Refusal:
    """What is wrong with the data, as a value: workers log the arguments of calls that raise."""

    text: str


@dataclass(frozen=True, repr=False)
class Guarded(Generic[ResultT]):
    """A function of a part that hands back what is wrong with it, with the part's place."""

    function: PartFunction[ResultT]

    def __call__(self, place: str, pieces: Iterable[pd.DataFrame], given: Any) -> ResultT | Refusal:
        """The function's value, or what is wrong with the part."""
        try:
            return self.function(pieces, given)
        except (DomainError, ProblemError) as error:
            return Refusal(f"{place}: {error}")


def check_source(given: object) -> None:
    """Refuse what is no source.

    Raises:
        ParameterError: As said.
    """
    if not isinstance(given, Source) or isinstance(given, pd.DataFrame):
        raise ParameterError(
            f"source: one of oracle_dp.sources expected, not a {type(given).__name__}; for rows in "
            "memory there is fit(X, y)"
        )


def rows_per_piece(n_columns: int) -> int:
    """So that a piece of numbers is some megabytes."""
    return min(1 << 16, max(1 << 10, (1 << 20) // max(1, n_columns)))


def check_columns(known: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
    """The columns that are wanted.

    Raises:
        DomainError: One is not there, or is asked for twice.
    """
    for column in wanted:
        if list(known).count(column) != 1 or list(wanted).count(column) != 1:
            raise DomainError(f"column {column!r} is missing in the data, or there twice")
    return tuple(wanted)
