"""A scoring card per class: the largest total wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from oracle_dp.domain import Domain
from oracle_dp.errors import DomainError, ParameterError, ReleaseFormatError
from oracle_dp.estimators.labels import Label, check_labels, label_array
from oracle_dp.estimators.scoring_card import THRESHOLD, ScoringCard


@dataclass(frozen=True)
class OneVsRest:
    """One card per class, for three classes or more; the largest total predicts.

    A tie goes to the earliest class, so that the order of the classes matters and must be public.

    Args:
        cards: In the order of the classes. The positive class of each is its own; the negative
            one, "not" and the class, stands for all others.

    Raises:
        ParameterError: There are fewer than three cards, they differ in their domain, or two have
            the same class.
    """

    cards: tuple[ScoringCard, ...]

    kind: ClassVar[str] = "one_vs_rest"

    def __post_init__(self) -> None:
        object.__setattr__(self, "cards", tuple(self.cards))
        if not all(isinstance(card, ScoringCard) for card in self.cards):
            raise ParameterError("cards: scoring cards expected")
        if len(self.cards) < 3:
            raise ParameterError("cards: three or more expected; for two classes one is enough")
        if any(card.domain != self.domain for card in self.cards):
            raise ParameterError("cards: all of the same domain expected")
        check_labels(self.classes)

    @classmethod
    def from_points(
        cls,
        domain: Domain,
        points: Sequence[Sequence[Sequence[int]]],
        classes: Sequence[Label],
    ) -> OneVsRest:
        """The cards of these classes, with the points of each.

        Args:
            domain: The public schema.
            points: For each class, as :class:`ScoringCard` has them.
            classes: Three labels or more, in the order of ties.

        Raises:
            ParameterError: A part is malformed, or the numbers of points and classes differ.
        """
        labels = check_labels(classes)
        if len(points) != len(labels):
            raise ParameterError("points: those of one card per class expected")
        pairs = zip(points, labels, strict=True)
        return cls(
            tuple(
                ScoringCard(domain, tuple(map(tuple, card)), (f"not {label}", label))
                for card, label in pairs
            )
        )

    @property
    def domain(self) -> Domain:
        """The public schema, the same for every card."""
        return self.cards[0].domain

    @property
    def classes(self) -> tuple[Label, ...]:
        """The labels, in order."""
        return tuple(card.classes[1] for card in self.cards)

    def margins(self, data: pd.DataFrame | ArrayLike) -> NDArray[np.int64]:
        """Total points of every row on every card, shape ``(n_rows, n_classes)``.

        Raises:
            DomainError: The rows do not fit the domain.
        """
        codes = self.domain.encode(data)
        return np.stack([card.totals(codes) for card in self.cards], axis=1)

    def predict(self, data: pd.DataFrame | ArrayLike) -> NDArray[Any]:
        """The predicted class of every row, shape ``(n_rows,)``."""
        winners: NDArray[np.intp] = self.margins(data).argmax(axis=1)  # The first of the largest.
        return np.take(label_array(self.classes), winners)

    def __str__(self) -> str:
        lines = []
        for card in self.cards:
            lines.append(f"points for {card.classes[1]!r}")
            lines += [f"  {line}" for line in card.lines() or ["none: every level has 0"]]
        lines.append("other levels 0; predict the class with the largest total, on a tie the first")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {
            "domain": self.domain.to_dict(),
            "points": [[list(block) for block in card.points] for card in self.cards],
            "classes": list(self.classes),
            "threshold": THRESHOLD,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> OneVsRest:
        """Inverse of :meth:`to_dict`.

        Raises:
            ReleaseFormatError: A field is missing or malformed.
        """
        try:
            if data["threshold"] != THRESHOLD:
                raise ReleaseFormatError(f"one-vs-rest: threshold {THRESHOLD} expected")
            domain = Domain.from_dict(data["domain"])
            return cls.from_points(domain, data["points"], data["classes"])
        except (KeyError, TypeError, ValueError, DomainError, ParameterError) as error:
            raise ReleaseFormatError(f"one-vs-rest: missing or malformed ({error})") from error
