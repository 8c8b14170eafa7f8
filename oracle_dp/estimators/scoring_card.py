"""A linear classifier that a person can apply with a pencil."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from oracle_dp.domain import Domain
from oracle_dp.errors import DomainError, ParameterError, ReleaseFormatError

Label = str | int | float | bool

THRESHOLD = 1

MAX_TOTAL = 2**62
"""Largest total of points: sums then fit into 64 bits."""


@dataclass(frozen=True)
class ScoringCard:
    """Integer points per level; a total of at least 1 predicts the positive class.

    Args:
        domain: The public schema, one attribute per block of points.
        points: For each attribute one integer per level.
        classes: The negative and the positive class: text, numbers or booleans, also NumPy's.

    Raises:
        ParameterError: The points are not integers, do not match the domain, or add up to more
            than 64 bits; or there are not two classes.
    """

    domain: Domain
    points: tuple[tuple[int, ...], ...]
    classes: tuple[Label, Label]

    kind: ClassVar[str] = "scoring_card"

    def __post_init__(self) -> None:
        try:
            points = tuple(tuple(_point(point) for point in block) for block in self.points)
        except TypeError:
            raise ParameterError("points: a sequence of integers per attribute expected") from None
        if tuple(map(len, points)) != self.domain.levels:
            raise ParameterError("points: one integer per level of every attribute expected")
        if sum(max(map(abs, block)) for block in points) > MAX_TOTAL:
            raise ParameterError(f"points: a total could exceed {MAX_TOTAL}")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "classes", check_classes(self.classes))

    def margins(self, data: pd.DataFrame | ArrayLike) -> NDArray[np.int64]:
        """Total points of every row, shape ``(n_rows,)``.

        Raises:
            DomainError: The rows do not fit the domain.
        """
        codes = self.domain.encode(data)
        total = np.zeros(len(codes), dtype=np.int64)
        for j, block in enumerate(self.points):
            total += np.asarray(block, dtype=np.int64)[codes[:, j]]
        return total

    def predict(self, data: pd.DataFrame | ArrayLike) -> NDArray[Any]:
        """The predicted class of every row, shape ``(n_rows,)``."""
        positive = self.margins(data) >= THRESHOLD
        return label_array(self.classes)[positive.astype(np.int64)]

    def __str__(self) -> str:
        rows = [
            (attribute.name, label, points)
            for attribute, block in zip(self.domain, self.points, strict=True)
            for label, points in zip(attribute.labels, block, strict=True)
            if points != 0
        ]
        if not rows:
            return f"predict {self.classes[0]!r} always (every level has 0 points)"
        left = max(len(name) for name, _, _ in rows)
        middle = max(len(label) for _, label, _ in rows)
        lines, previous = [], None
        for name, label, points in rows:
            shown = name if name != previous else ""
            lines.append(f"{shown:<{left}}  {label:<{middle}}  {points:+d}")
            previous = name
        lines.append(f"other levels 0; predict {self.classes[1]!r} if the total is at least 1")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {
            "domain": self.domain.to_dict(),
            "points": [list(block) for block in self.points],
            "classes": list(self.classes),
            "threshold": THRESHOLD,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ScoringCard:
        """Inverse of :meth:`to_dict`.

        Raises:
            ReleaseFormatError: A field is missing or malformed.
        """
        try:
            if data["threshold"] != THRESHOLD:
                raise ReleaseFormatError(f"scoring card: threshold {THRESHOLD} expected")
            return cls(Domain.from_dict(data["domain"]), data["points"], data["classes"])
        except (KeyError, TypeError, ValueError, DomainError, ParameterError) as error:
            raise ReleaseFormatError(f"scoring card: missing or malformed ({error})") from error


def check_classes(classes: Sequence[Label]) -> tuple[Label, Label]:
    """The two labels as Python's own text, numbers or booleans.

    Raises:
        ParameterError: There are not exactly two distinct ones, or they are something else, NaN
            or infinite. No label is shown: they may have been read from the data.
    """
    try:
        given = () if isinstance(classes, str) else tuple(classes)
    except TypeError:
        given = ()
    if len(given) != 2:
        raise ParameterError("classes: a sequence of two labels expected, negative first")
    labels = [label.item() if isinstance(label, np.generic) else label for label in given]
    if not all(isinstance(label, str | int | float) for label in labels):
        raise ParameterError("classes: a label must be text, a number or a boolean")
    if any(isinstance(label, float) and not math.isfinite(label) for label in labels):
        raise ParameterError("classes: a label must not be NaN or infinite")
    negative, positive = cast("list[Label]", labels)
    if negative == positive:
        raise ParameterError("classes: two distinct labels expected, negative first")
    return negative, positive


def label_array(labels: Sequence[Label]) -> NDArray[Any]:
    """Labels as an array that keeps every one as it is."""
    array = np.asarray(labels)
    # A common type of text and numbers is text.
    return array if array.tolist() == list(labels) else np.asarray(labels, dtype=object)


def _point(value: object) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise ParameterError("points: integers expected")
    return int(value)
