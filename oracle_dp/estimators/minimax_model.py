"""What :class:`~oracle_dp.estimators.minimax.MinimaxClassifier` releases."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from oracle_dp.domain import Domain
from oracle_dp.errors import ParameterError, ReleaseFormatError
from oracle_dp.estimators.labels import Label, check_classes, label_array
from oracles.monotone.games import clip_rows

FloatArray = NDArray[np.float64]


def checked_norm(feature_norm: float) -> float:
    """The public norm of rows of numbers.

    Raises:
        ParameterError: It is not positive and finite.
    """
    if not isinstance(feature_norm, Real) or not 0 < feature_norm < math.inf:
        raise ParameterError(f"feature_norm: a positive number expected, not {feature_norm!r}")
    return float(feature_norm)


@dataclass(frozen=True)
class MinimaxModel:
    """Weights of features of norm 1, and the groups' released weights.

    Attributes:
        weights: One for each feature; the last is the intercept's.
        mixture: Weight of each group at the end. It grows with the group's share, and with how
            hard the group is.
        classes: Negative and positive label.
        domain: The public schema, or None where the columns are numbers.
        feature_norm: To which rows of numbers are scaled down.
        shares: Public fraction of the records in each group, or None where it was counted.
    """

    weights: tuple[float, ...]
    mixture: Mapping[str, float]
    classes: tuple[Label, Label]
    domain: Domain | None
    feature_norm: float
    shares: Mapping[str, float] | None = None

    kind: ClassVar[str] = "minimax"

    @property
    def n_columns(self) -> int:
        """How many columns are read."""
        return len(self.weights) - 1 if self.domain is None else len(self.domain.columns)

    def log_odds(self, X: pd.DataFrame | ArrayLike) -> FloatArray:
        """Log-odds of the positive class, shape ``(n_rows,)``.

        Raises:
            DomainError: The rows do not fit the domain.
        """
        if self.domain is None:
            features = self.numeric_features(np.asarray(X, dtype=np.float64), self.feature_norm)
        else:
            features = self.one_hot_features(self.domain, X)
        return np.asarray(features @ np.array(self.weights))

    def predict(self, X: pd.DataFrame | ArrayLike) -> NDArray[Any]:
        """The likelier class of every row, shape ``(n_rows,)``.

        Raises:
            DomainError: The rows do not fit the domain.
        """
        labels: NDArray[Any] = label_array(self.classes)[(self.log_odds(X) > 0).astype(np.intp)]
        return labels

    @staticmethod
    def one_hot_features(domain: Domain, X: pd.DataFrame | ArrayLike) -> FloatArray:
        """One feature per level and a constant, scaled so that every row has norm 1."""
        codes = domain.encode(X)
        starts = np.cumsum([0, *domain.levels])
        features = np.zeros((len(codes), int(starts[-1]) + 1))
        features[np.arange(len(codes))[:, None], codes + starts[:-1]] = 1.0
        features[:, -1] = 1.0
        return np.asarray(features / np.sqrt(len(domain) + 1))

    @staticmethod
    def numeric_features(numbers: FloatArray, feature_norm: float) -> FloatArray:
        """Rows scaled down to the norm, and a constant of the same size; norm at most 1."""
        clipped = clip_rows(numbers, feature_norm) / feature_norm
        return np.asarray(np.hstack([clipped, np.ones((len(numbers), 1))]) / np.sqrt(2))

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {
            "weights": list(self.weights),
            "mixture": dict(self.mixture),
            "classes": list(self.classes),
            "domain": None if self.domain is None else self.domain.to_dict(),
            "feature_norm": self.feature_norm,
            "shares": None if self.shares is None else dict(self.shares),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MinimaxModel:
        """Inverse of :meth:`to_dict`.

        Raises:
            ReleaseFormatError: A field is missing or malformed.
        """
        try:
            described = data["domain"]
            domain = None if described is None else Domain.from_dict(described)
            weights = tuple(float(weight) for weight in data["weights"])
            mixture = _by_group(data["mixture"])
            # Absent in releases of a time when shares were not kept.
            shares = None if data.get("shares") is None else _by_group(data["shares"])
            if not weights or (domain and len(weights) != sum(domain.levels) + 1):
                raise ValueError("weights: one per level and one more expected")
            if shares is not None and (set(shares) != set(mixture) or min(shares.values()) <= 0):
                raise ValueError("shares: a positive one for each group of the mixture expected")
            return cls(
                weights=weights,
                mixture=mixture,
                classes=check_classes(data["classes"]),
                domain=domain,
                feature_norm=checked_norm(data["feature_norm"]),
                shares=shares,
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ReleaseFormatError(f"minimax model: a field is malformed ({error})") from error

    def __str__(self) -> str:
        shares = self.shares
        if shares is None:
            what = "weight in the mixture (large groups weigh more, and harder ones)"
            found = dict(self.mixture)
        else:
            what = "weight over share, hardest groups first"
            found = {name: p / shares[name] for name, p in self.mixture.items()}
        first = sorted(found.items(), key=lambda item: -item[1])[:5]
        shown = ", ".join(f"{name} {number:.2f}" for name, number in first if number > 0)
        return (
            f"linear classifier for {self.classes[1]!r} with {len(self.weights)} weights\n"
            f"{what}: {shown}"
        )


def _by_group(data: Mapping[str, Any]) -> dict[str, float]:
    return {str(name): float(number) for name, number in data.items()}
