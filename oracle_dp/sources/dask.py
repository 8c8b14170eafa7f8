"""A Dask data frame as a source: a part is a partition, and is read where it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pandas as pd

from oracle_dp.errors import DomainError, ParameterError
from oracle_dp.sources.base import (
    Guarded,
    PartFunction,
    Refusal,
    check_columns,
    rows_per_piece,
)
from oracles.errors import WorkerError
from oracles.parallel import retried
from oracles.zero_one.sources.engines import needed

ResultT = TypeVar("ResultT")


class DaskSource:
    """Rows of a Dask data frame, on its cluster: what comes back is every partition's sum.

    Every pass computes the partitions anew; ``frame.persist()`` first keeps them in the workers'
    memory. Workers that run short of memory write to Dask's spill folder: where that is, and who
    can read it, is the cluster's configuration.

    Args:
        frame: A ``dask.dataframe``.

    Raises:
        DomainError: Two columns have one name.
        ParameterError: ``frame`` is something else.
        SolverError: Dask is not installed.
    """

    def __init__(self, frame: Any) -> None:
        if not isinstance(frame, needed("dask.dataframe", "dask").DataFrame):
            raise ParameterError(f"frame: a dask.dataframe expected, not a {type(frame).__name__}")
        self.frame = frame
        self._columns = check_columns(list(frame.columns), list(frame.columns))

    @property
    def columns(self) -> tuple[str, ...]:
        """See :class:`Source`."""
        return self._columns

    def select(self, columns: Sequence[str]) -> DaskSource:
        """See :class:`Source`."""
        return DaskSource(self.frame[list(check_columns(self.columns, columns))])

    def __len__(self) -> int:
        return int(self.frame.npartitions)

    def map(self, function: PartFunction[ResultT], each: Sequence[Any]) -> Iterator[ResultT]:
        """See :class:`Source`.

        Raises:
            WorkerError: Workers died again and again.
        """
        dask = needed("dask", "dask")
        promised = {column: str(dtype) for column, dtype in self.frame.dtypes.items()}
        call = dask.delayed(_Partition(Guarded(function), promised), pure=False, traverse=False)
        parts = self.frame.to_delayed()
        calls = [
            call(f"partition {k}", part, given)
            for k, (part, given) in enumerate(zip(parts, each, strict=True))
        ]
        try:
            results = retried(lambda: dask.compute(*calls))
        except WorkerError:
            raise
        except Exception as error:  # Whatever it is, its message may quote an entry.
            kind = type(error).__name__
        else:
            for found in results:
                if isinstance(found, Refusal):
                    raise DomainError(found.text)
                yield found
            return
        raise DomainError(f"{_unreadable(parts)} cannot be read ({kind})")


@dataclass(frozen=True, repr=False)
class _Partition(Generic[ResultT]):
    """A guarded function of a whole partition."""

    function: Guarded[ResultT]
    promised: dict[str, str]

    def __call__(self, place: str, part: pd.DataFrame, given: Any) -> ResultT | Refusal:
        for column, dtype in part.dtypes.items():
            if str(dtype) != self.promised[str(column)]:
                return Refusal(
                    f"{place}: column {column!r} has another type than the frame promises; read "
                    "all partitions with one schema"
                )
        return self.function(place, _pieces(part), given)


def _pieces(part: pd.DataFrame) -> Iterable[pd.DataFrame]:
    step = rows_per_piece(part.shape[1])
    return (part.iloc[begin : begin + step] for begin in range(0, len(part), step))


def _unreadable(parts: Sequence[Any]) -> str:
    """The first partition that cannot be computed."""
    dask = needed("dask", "dask")
    for k, part in enumerate(parts):
        try:
            dask.compute(dask.delayed(len)(part))
        except Exception:  # Which one it is tells an entry; only the place is told.
            return f"partition {k}"
    return "a partition"
