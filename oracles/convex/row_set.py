"""What a loss is summed over: rows in memory, or parts of them that are read anew for every sum.

A sum over a row set is the sum of its parts' sums in the parts' order, whoever computed them and
when. So it depends on how rows are split into parts, by rounding, and on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from oracles._threads import one_thread
from oracles.convex.rows import Rows
from oracles.errors import ProblemError

ResultT = TypeVar("ResultT")
PieceT = TypeVar("PieceT", covariant=True)
PieceOfStream = TypeVar("PieceOfStream")

Records = NDArray[np.int64]
"""Ascending positions of records."""


@runtime_checkable
class RowSet(Protocol):
    """Signed, weighted rows: :class:`Rows`, :class:`StreamedRows` or a sample of those."""

    @property
    def dimension(self) -> int:
        """Number of columns d."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of stored rows."""
        ...

    @property
    def total_weight(self) -> float:
        """Sum of the weights: the number of records, when weights count them."""
        ...

    @property
    def largest_norm(self) -> float:
        """At least that of every row; 0 without rows."""
        ...

    @property
    def sum_of_squares(self) -> float:
        """At least the weighted sum of the rows' squared norms."""
        ...

    def map(self, function: Callable[[Iterable[Rows]], ResultT]) -> Iterator[ResultT]:
        """The function's value for every part, in order; it is given a part piece by piece.

        The function may run in another process: it and its value are pickled then.
        """
        ...

    def sampled(self, records: Records) -> RowSet:
        """The rows of these records, each of weight 1; positions are below ``total_weight``."""
        ...


class Parts(Protocol[PieceT]):
    """Data in parts of a fixed order that can be read again: what is streamed."""

    def __len__(self) -> int:
        """How many parts."""
        ...

    def map(
        self, function: Callable[[Iterable[PieceT], Any], ResultT], each: Sequence[Any]
    ) -> Iterator[ResultT]:
        """The function's value for every part, in order.

        Args:
            function: Takes a part in pieces that fit memory, in order, and what ``each`` holds for
                that part. It may be pickled and run elsewhere.
            each: One entry per part.
        """
        ...


@dataclass(frozen=True, eq=False)
class StreamedRows(Generic[PieceOfStream]):
    """Rows that are read anew for every sum: memory is that of a piece and of the sum.

    When this is made all of them are read once, which checks every row and counts them.

    Args:
        parts: The data.
        read: From a piece to signed rows, each of weight 1; it may be pickled.
        dimension: Columns of the rows.

    Attributes:
        counts: Rows of every part.
        largest_norm: Of a row.
        sum_of_squares: Of their norms.

    Raises:
        ProblemError: What ``read`` finds, a row of another dimension, or a weight that is not 1.
    """

    parts: Parts[PieceOfStream]
    read: Callable[[PieceOfStream], Rows]
    dimension: int
    counts: tuple[int, ...] = field(init=False)
    largest_norm: float = field(init=False)
    sum_of_squares: float = field(init=False)

    def __post_init__(self) -> None:
        unknown = [(None, None)] * len(self.parts)
        looked = list(self.parts.map(_Pass(self.read, _Look(self.dimension)), unknown))
        object.__setattr__(self, "counts", tuple(n for n, _, _ in looked))
        object.__setattr__(self, "largest_norm", max((norm for _, norm, _ in looked), default=0.0))
        object.__setattr__(self, "sum_of_squares", float(sum(squares for *_, squares in looked)))

    @property
    def n_rows(self) -> int:
        """See :class:`RowSet`."""
        return sum(self.counts)

    @property
    def total_weight(self) -> float:
        """See :class:`RowSet`."""
        return float(self.n_rows)

    def map(self, function: Callable[[Iterable[Rows]], ResultT]) -> Iterator[ResultT]:
        """See :class:`RowSet`.

        Raises:
            ProblemError: The rows have changed since they were counted.
        """
        each = [(count, None) for count in self.counts]
        return self.parts.map(_Pass(self.read, function), each)

    def sampled(self, records: Records) -> RowSet:
        """See :class:`RowSet`; they are read where they are, so a sum still reads all rows."""
        return SampledStream(self, records)


@dataclass(frozen=True, eq=False)
class SampledStream:
    """Some of the records of a stream.

    Args:
        whole: All rows.
        records: Positions among them, ascending.
    """

    whole: StreamedRows[Any]
    records: Records

    @property
    def dimension(self) -> int:
        """See :class:`RowSet`."""
        return self.whole.dimension

    @property
    def n_rows(self) -> int:
        """See :class:`RowSet`."""
        return len(self.records)

    @property
    def total_weight(self) -> float:
        """See :class:`RowSet`."""
        return float(self.n_rows)

    @property
    def largest_norm(self) -> float:
        """See :class:`RowSet`."""
        return self.whole.largest_norm

    @property
    def sum_of_squares(self) -> float:
        """See :class:`RowSet`."""
        return self.whole.sum_of_squares

    def map(self, function: Callable[[Iterable[Rows]], ResultT]) -> Iterator[ResultT]:
        """See :class:`RowSet`."""
        counts = self.whole.counts
        starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        cuts = np.searchsorted(self.records, starts)
        each = [
            (count, self.records[cuts[k] : cuts[k + 1]] - starts[k])
            for k, count in enumerate(counts)
        ]
        return self.whole.parts.map(_Pass(self.whole.read, function), each)

    def sampled(self, records: Records) -> RowSet:
        """See :class:`RowSet`."""
        return SampledStream(self.whole, self.records[records])


@dataclass(frozen=True)
class _Pass(Generic[PieceOfStream, ResultT]):
    """One reading of a part: its pieces as rows, all or the chosen ones, and what is made of them.

    On one thread, since BLAS adds in another order on more.
    """

    read: Callable[[PieceOfStream], Rows]
    function: Callable[[Iterable[Rows]], ResultT]

    def __call__(
        self, pieces: Iterable[PieceOfStream], given: tuple[int | None, Records | None]
    ) -> ResultT:
        with one_thread():
            return self.function(self._rows(pieces, *given))

    def _rows(
        self, pieces: Iterable[PieceOfStream], expected: int | None, chosen: Records | None
    ) -> Iterator[Rows]:
        seen = 0
        for piece in pieces:
            rows = self.read(piece)
            # Records are counted by rows: a sensitivity is for rows that count once.
            if (rows.weights != 1).any():
                raise ProblemError("rows: weights other than 1 cannot be streamed; repeat the rows")
            begin, seen = seen, seen + rows.n_rows
            if chosen is not None:
                low, high = np.searchsorted(chosen, [begin, seen])
                rows = rows.taken(chosen[low:high] - begin)
            yield rows
        if expected is not None and seen != expected:
            raise ProblemError("rows: their number has changed since they were first read")


@dataclass(frozen=True)
class _Look:
    """Number of rows, largest norm and sum of squares."""

    dimension: int

    def __call__(self, parts: Iterable[Rows]) -> tuple[int, float, float]:
        n_rows, largest, squares = 0, 0.0, 0.0
        for rows in parts:
            if rows.dimension != self.dimension:
                raise ProblemError(f"rows: {self.dimension} columns expected")
            n_rows += rows.n_rows
            largest, squares = max(largest, rows.largest_norm), squares + rows.sum_of_squares
        return n_rows, largest, squares
