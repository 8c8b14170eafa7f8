"""Tables whose every number says which records it was computed from, and how."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t

from experiments.framework.experiment import Record

Reducer = Callable[[Sequence[Record], str], float]


def read(record: Record, field: str) -> Any:
    """A field of a record; dots go deeper, as in ``config.epsilon``."""
    found: Any = record
    for part in field.split("."):
        found = found[part]
    return found


def values(records: Sequence[Record], field: str) -> np.ndarray:
    """The field of all records in a row; where it is a list, its members."""
    return np.concatenate([np.ravel(read(record, field)) for record in records]).astype(float)


def half_width(records: Sequence[Record], field: str) -> float:
    """Half the 95% interval of the mean, by Student's t; NaN for a single value."""
    found = values(records, field)
    if len(found) < 2:
        return math.nan
    return float(t.ppf(0.975, len(found) - 1) * found.std(ddof=1) / np.sqrt(len(found)))


def _one(records: Sequence[Record], field: str) -> Any:
    (record,) = records
    return read(record, field)


HOW: Mapping[str, Reducer] = {
    "value": _one,
    "mean": lambda records, field: float(values(records, field).mean()),
    "median": lambda records, field: float(np.median(values(records, field))),
    "least": lambda records, field: float(values(records, field).min()),
    "most": lambda records, field: float(values(records, field).max()),
    "sum": lambda records, field: float(values(records, field).sum()),
    "count": lambda records, field: float(len(values(records, field))),
    "half_width": half_width,
}


def reducer(how: str) -> Reducer:
    """The function of that name: one of ``HOW``, or ``experiments.module:function``."""
    if how in HOW:
        return HOW[how]
    module, _, function = how.partition(":")
    if not module.startswith("experiments.") or not function:
        raise ValueError(f"how: one of {sorted(HOW)} or 'experiments.module:function', not {how!r}")
    found: Reducer = getattr(importlib.import_module(module), function)
    return found


@dataclass(frozen=True)
class Cell:
    """A number: a function of some records' field, scaled and formatted; or a text.

    Attributes:
        records: Ids of the records, in the order that ``how`` reads them.
        field: Of the records; dots go deeper.
        how: A name in ``HOW``, or ``experiments.module:function`` of records and field.
        scale: Factor before formatting.
        form: A format string.
        value: The number after scaling, or a text.
        text: As shown.
        source: For what is no result of ours: where it was published.
    """

    records: tuple[str, ...]
    field: str
    how: str
    scale: float
    form: str
    value: Any
    text: str
    source: str = ""

    @classmethod
    def of(
        cls,
        records: Sequence[Record],
        field: str,
        *,
        how: str = "mean",
        scale: float = 1.0,
        form: str = "{:.2f}",
    ) -> Cell:
        """The cell for some records; at least one.

        Raises:
            ValueError: No record.
        """
        if not records:
            raise ValueError(f"no records for a cell of {field!r}")
        value, text = computed(records, field, how=how, scale=scale, form=form)
        return cls(tuple(r["id"] for r in records), field, how, scale, form, value, text)


def computed(
    records: Sequence[Record], field: str, *, how: str, scale: float, form: str
) -> tuple[Any, str]:
    """Value and text of a cell, from its records alone."""
    value = reducer(how)(records, field)
    if not isinstance(value, str | bool):
        value = value * scale if scale != 1 else value
    return value, form.format(value)


def label(text: object) -> Cell:
    """A text that no record is behind: a name, a setting."""
    return Cell((), "", "", 1.0, "", str(text), str(text))


def quoted(text: object, source: str) -> Cell:
    """A number that somebody else published."""
    return Cell((), "", "", 1.0, "", str(text), str(text), source)


Row = Sequence[Cell | Sequence[Cell]]


@dataclass(frozen=True)
class Table:
    """Columns and rows; an entry of several cells shows them beside one another."""

    columns: Sequence[str]
    rows: Sequence[Row]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{len(self.columns)} columns, but a row of {len(row)}")

    def cells(self) -> Iterable[Cell]:
        """All cells, row by row."""
        for row in self.rows:
            for entry in row:
                yield from (entry,) if isinstance(entry, Cell) else entry
