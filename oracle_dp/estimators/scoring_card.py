"""A linear classifier that a person can apply with a pencil."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from oracle_dp.domain import Domain
from oracle_dp.errors import DomainError, ParameterError, ReleaseFormatError

Label = str | int | float | bool

THRESHOLD = 1


@dataclass(frozen=True)
class ScoringCard:
    """Integer points per level; a total of at least 1 predicts the positive class.

    Args:
        domain: The public schema, one attribute per block of points.
        points: For each attribute one integer per level.
        classes: The negative and the positive class.

    Raises:
        ParameterError: The points do not match the domain, or there are not two classes.
    """

    domain: Domain
    points: tuple[tuple[int, ...], ...]
    classes: tuple[Label, Label]

    kind: ClassVar[str] = "scoring_card"

    def __post_init__(self) -> None:
        if tuple(len(block) for block in self.points) != self.domain.levels:
            raise ParameterError("points: one integer per level of every attribute expected")
        check_classes(self.classes)

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
        return np.asarray(self.classes)[positive.astype(np.int64)]

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
            points = tuple(tuple(_point(p) for p in block) for block in data["points"])
            if data["threshold"] != THRESHOLD:
                raise ReleaseFormatError(f"scoring card: threshold {THRESHOLD} expected")
            negative, positive = data["classes"]
            return cls(Domain.from_dict(data["domain"]), points, (negative, positive))
        except (KeyError, TypeError, ValueError, DomainError, ParameterError) as error:
            raise ReleaseFormatError(f"scoring card: missing or malformed ({error})") from error


def check_classes(classes: Sequence[Label]) -> None:
    """Refuse anything but two distinct labels.

    Raises:
        ParameterError: There are not exactly two, or they are equal or NaN.
    """
    if len(classes) != 2 or not classes[0] != classes[1]:
        raise ParameterError("classes: exactly two distinct labels expected, negative first")
    if any(label != label for label in classes):
        raise ParameterError("classes: a label must not be NaN")


def _point(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ReleaseFormatError("scoring card: points must be integers")
    return value
