"""A first draft of a domain file, made from the rows. It is as private as they are.

A domain must be public knowledge (:mod:`oracle_dp.domain`), and nothing read from the rows is. So a
draft is raw material for a person: it says that it is not confirmed, and nothing trains on it
until that person has checked it and said so (:mod:`oracle_dp.domain_file`). The draft errs on the
side of saying little:

- numbers get a few round edges (multiples of 1, 2 or 5 times a power of ten) between their 5th
  and 95th percentile, neither quantiles nor extremes;
- text gets its distinct values in the order of the alphabet, which tells nothing of order or
  frequency in the rows;
- what looks like an identifier or free text is left out, and none of its values is listed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from oracle_dp._columns import parse_number
from oracle_dp.domain import Binned, Categorical
from oracle_dp.errors import DomainError

MAX_LISTED = 50
"""Distinct values of a column of text that is listed."""

MAX_CLASSES = 20
"""Distinct values of a target."""

MAX_LENGTH = 60
"""Of a listed value: longer ones are free text."""

MAX_MARKS = 2
"""Distinct marks for missing values in a column that is one of numbers otherwise."""

MAX_EDGES = 5
"""Of a column of numbers."""

FEW_ROWS = 5
"""With fewer, no column of text looks like an identifier."""

FEW_NUMBERS = 20
"""With fewer, none of whole numbers does: their edges list none of them."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What the rows suggest. NOT PUBLIC before a person has checked it.

    Attributes:
        attributes: One per column that can be one.
        left_out: Name of each other column, and why.
        target: The column of the labels, if one was named.
        classes: Its distinct values.
    """

    attributes: tuple[Categorical | Binned, ...]
    left_out: tuple[tuple[str, str], ...]
    target: str | None = None
    classes: tuple[str, ...] | None = None

    @classmethod
    def from_rows(cls, frame: pd.DataFrame, *, target: str | None = None) -> Draft:
        """Draft a domain from rows of text.

        Args:
            frame: Every cell as text, without blanks around it.
            target: The column of the labels.

        Raises:
            DomainError: There are no rows, the header has no names or looks like a row, or the
                target is missing, has an empty cell, or not between two and twenty distinct
                values. No value is shown.
        """
        _check_rows(frame)
        if target is not None and target not in frame.columns:
            raise DomainError(f"target: no column {target!r} in the header")
        attributes: list[Categorical | Binned] = []
        left_out: list[tuple[str, str]] = []
        for name in frame.columns:
            if name == target:
                continue
            found = _attribute(str(name), frame[name])
            if isinstance(found, str):
                left_out.append((str(name), found))
            else:
                attributes.append(found)
        classes = None if target is None else _classes(target, frame[target])
        return cls(tuple(attributes), tuple(left_out), target, classes)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able data."""
        target = {"column": self.target, "classes": list(self.classes or ())}
        return {
            "confirmed_public": False,
            "target": None if self.target is None else target,
            "attributes": [_entry(attribute) for attribute in self.attributes],
            "left_out": [{"column": name, "reason": reason} for name, reason in self.left_out],
        }

    def to_toml(self) -> str:
        """As a domain file that is not confirmed yet."""
        import tomlkit

        document = tomlkit.document()
        for line in _HEAD:
            document.add(tomlkit.comment(line))
        document.add("confirmed_public", tomlkit.item(False))
        document.add(tomlkit.nl())
        if self.target is None:
            for line in _NO_TARGET:
                document.add(tomlkit.comment(line))
            document.add(tomlkit.nl())
        else:
            document.add("target", _target(self.target, self.classes or ()))
        entries = tomlkit.aot()
        for attribute in self.attributes:
            entries.append(_toml(_entry(attribute)))
        if self.attributes:
            document.add("attributes", entries)
        lines = [f"# Left out: {_named(name)}: {reason}." for name, reason in self.left_out]
        return "\n".join([tomlkit.dumps(document).rstrip(), "", *lines]).rstrip() + "\n"


_CODE = re.compile(r"[+-]?0\d")
"""A postcode or the like: nobody writes a number so."""

_TOO_MANY = f"more than {MAX_LISTED} distinct values; group them, or name the public ones"
_HEAD = (
    "DRAFTED FROM PRIVATE ROWS: as private as they are, and not to be used as it is.",
    "A domain must be public. Go through every level, edge and class below, and keep it only if",
    "you would have written it without the rows: from a code book, a form, a law. Add levels",
    "that are possible and do not occur; replace edges by ones that mean something; order classes",
    "(of two, the second is the positive one). Then say so:",
)
_NO_TARGET = (
    "The column of the labels, and the public classes. Remove it from the attributes.",
    "[target]",
    'column = "..."',
    'classes = ["...", "..."]',
)


def _target(column: str, classes: Sequence[str]) -> Any:
    return _toml({"column": column, "classes": list(classes)})


def _toml(entry: dict[str, Any]) -> Any:
    """A table with its list over several lines, if it is a long one."""
    import tomlkit

    table = tomlkit.table()
    for key, value in entry.items():
        item = tomlkit.item(value)
        if isinstance(value, list):
            item.multiline(len(item.as_string()) > 80)
        table.add(key, item)
    return table


def _named(name: str) -> str:
    return repr(name) if name else "a column without a name"


def _entry(attribute: Categorical | Binned) -> dict[str, Any]:
    if isinstance(attribute, Categorical):
        return {"name": attribute.name, "categories": list(attribute.categories)}
    edges = [int(edge) if edge.is_integer() else edge for edge in attribute.edges]
    return {"name": attribute.name, "edges": edges}


def _check_rows(frame: pd.DataFrame) -> None:
    for position, name in enumerate(frame.columns, start=1):
        if name and parse_number(name) is not None:
            # Then the names below would be somebody's values.
            raise DomainError(
                f"rows: the name of column {position} is a number; the first line must be a "
                "header with the columns' names"
            )
    if not any(frame.columns):
        raise DomainError("rows: the header names no column")
    if frame.empty:
        raise DomainError("rows: none below the header, nothing to draft from; write the file")


def _attribute(name: str, column: pd.Series[Any]) -> Categorical | Binned | str:
    """The attribute that a column can be, or why it can be none."""
    if not name:
        return "give it one in the header"
    positions, distinct = pd.factorize(column)
    counts = np.bincount(positions, minlength=len(distinct))
    if len(distinct) == 1:
        return "the same in every row"
    sample = [parse_number(text) for text in distinct[: MAX_LISTED + 1].tolist()]
    if len(sample) > MAX_LISTED and sample.count(None) > MAX_MARKS:
        return _TOO_MANY  # Soon known of a million identifiers.
    numbers = [parse_number(text) for text in distinct.tolist()]
    finite = np.array([n is not None and math.isfinite(n) for n in numbers], dtype=bool)
    if any(map(_CODE.match, distinct.tolist())):
        return _text(name, distinct.tolist(), len(column))
    if finite.all():
        return _numeric(name, np.array(numbers, dtype=np.float64), counts)
    if _marked(finite, counts):
        return (
            "numbers, but some cells are empty or hold a mark for a missing one; give those rows "
            "a number that is public, or drop them"
        )
    return _text(name, distinct.tolist(), len(column))


def _marked(finite: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]) -> bool:
    """Whether a column is one of numbers but for one or two marks."""
    return int((~finite).sum()) <= MAX_MARKS < int(finite.sum()) and bool(
        counts[finite].sum() * 2 > counts.sum()
    )


def _numeric(name: str, values: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]) -> Binned | str:
    whole = bool((values == np.round(values)).all())
    if whole and len(values) >= FEW_NUMBERS and counts.max() == 1:
        return "another whole number in every row, so perhaps an identifier"
    order = np.argsort(values)
    below = np.cumsum(counts[order]) / counts.sum()
    low, high = (float(values[order][np.searchsorted(below, share)]) for share in (0.05, 0.95))
    if low == high:
        low, high = float(values.min()), float(values.max())
    edges = round_edges(low, high, whole=whole)
    return Binned(name, edges) if edges else "its numbers are too close to each other for edges"


def round_edges(low: float, high: float, *, whole: bool) -> list[float]:
    """At most five multiples of 1, 2 or 5 times a power of ten, above ``low`` and up to ``high``.

    Args:
        low: Finite.
        high: Finite, above ``low``.
        whole: Whether steps below 1 make no sense.
    """
    width = Fraction(high) - Fraction(low)
    power = Fraction(10) ** math.floor(math.log10(max(float(width / MAX_EDGES), 1e-300)))
    steps = [multiple * power for multiple in (1, 2, 5, 10)]
    if whole:
        steps = [max(step, Fraction(1)) for step in steps]
    step = next(step for step in (*steps, 100 * power) if width <= MAX_EDGES * step)
    first = math.floor(Fraction(low) / step) + 1
    edges = [float(step * k) for k in range(first, math.floor(Fraction(high) / step) + 1)]
    # Far from 0 the multiples may be too close for floats to tell apart.
    return edges if all(a < b for a, b in pairwise(edges)) else []


def _text(name: str, values: list[str], n_rows: int) -> Categorical | str:
    if len(values) > MAX_LISTED:
        return _TOO_MANY
    if n_rows >= FEW_ROWS and (len(values) == n_rows or len(values) > max(10, n_rows // 5)):
        return "hardly a value occurs twice, so perhaps an identifier"
    if any(len(value) > MAX_LENGTH or "\n" in value for value in values):
        return "free text"
    return Categorical(name, sorted(values))


def _classes(target: str, column: pd.Series[Any]) -> tuple[str, ...]:
    distinct = column.unique()
    if "" in distinct:
        raise DomainError(f"target: column {target!r} has empty cells; drop those rows first")
    if not 2 <= len(distinct) <= MAX_CLASSES:
        raise DomainError(
            f"target: column {target!r} has not between 2 and {MAX_CLASSES} distinct values; it "
            "must hold the classes"
        )
    numbers = [parse_number(text) for text in distinct]
    if all(number is not None for number in numbers):
        return tuple(sorted(distinct, key=float))
    return tuple(sorted(distinct))
