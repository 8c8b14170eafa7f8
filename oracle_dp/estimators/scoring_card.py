"""A linear classifier that a person can apply with a pencil."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from oracle_dp.domain import Domain
from oracle_dp.errors import DomainError, ParameterError, ReleaseFormatError
from oracle_dp.estimators.labels import Label, check_classes, label_array

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
        return self.totals(self.domain.encode(data))

    def totals(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Total points of every row of the domain's codes, shape ``(n_rows,)``."""
        total = np.zeros(len(codes), dtype=np.int64)
        for j, block in enumerate(self.points):
            total += np.asarray(block, dtype=np.int64)[codes[:, j]]
        return total

    def predict(self, data: pd.DataFrame | ArrayLike) -> NDArray[Any]:
        """The predicted class of every row, shape ``(n_rows,)``."""
        positive = self.margins(data) >= THRESHOLD
        return label_array(self.classes)[positive.astype(np.int64)]

    def lines(self) -> list[str]:
        """The levels with points, as text: columns, label and points. Empty if there are none."""
        rows = [
            (" & ".join(part.column for part in attribute.parts), label, points)
            for attribute, block in zip(self.domain, self.points, strict=True)
            for label, points in zip(attribute.labels, block, strict=True)
            if points != 0
        ]
        left = max((len(columns) for columns, _, _ in rows), default=0)
        middle = max((len(label) for _, label, _ in rows), default=0)
        lines, previous = [], None
        for columns, label, points in rows:
            shown = columns if columns != previous else ""
            lines.append(f"{shown:<{left}}  {label:<{middle}}  {points:+d}")
            previous = columns
        return lines

    def __str__(self) -> str:
        lines = self.lines()
        if not lines:
            return f"predict {self.classes[0]!r} always (every level has 0 points)"
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


def _point(value: object) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise ParameterError("points: integers expected")
    return int(value)
