"""A released linear model with probabilities of the logistic law."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit

from oracle_dp.domain import Domain
from oracle_dp.errors import DomainError, ParameterError, ReleaseFormatError
from oracle_dp.estimators.labels import Label, check_classes, label_array
from oracles.arrays import FloatArray
from oracles.convex import Rows


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Coefficients for rows clipped to a Euclidean norm, as they were in training.

    With a domain, rows are frames that fit it, and a column is one level of one attribute.

    Args:
        coefficients: One per column, finite.
        intercept: Finite.
        feature_bound: A row above this norm is scaled down to it first.
        classes: The negative and the positive class.
        columns: Names of the columns, or None.
        note: What the public parameters alone say of the model's accuracy, if anything.
        domain: The public schema of the rows, or None for rows of numbers.

    Raises:
        ParameterError: A number is not finite, or there are not two classes.
    """

    coefficients: FloatArray
    intercept: float
    feature_bound: float
    classes: tuple[Label, Label]
    columns: tuple[str, ...] | None = None
    note: str | None = None
    domain: Domain | None = None

    kind: ClassVar[str] = "linear_model"

    def __post_init__(self) -> None:
        values = np.array(self.coefficients, dtype=np.float64)
        if values.ndim != 1 or not np.isfinite([*values, self.intercept]).all():
            raise ParameterError("coefficients: finite numbers expected")
        if not 0 < self.feature_bound < math.inf:
            raise ParameterError("feature_bound: a positive number expected")
        if self.columns is not None and len(self.columns) != len(values):
            raise ParameterError("columns: one name per coefficient expected")
        object.__setattr__(self, "coefficients", values)
        object.__setattr__(self, "intercept", float(self.intercept))
        object.__setattr__(self, "classes", check_classes(self.classes))

    def margins(self, features: Any) -> FloatArray:
        """Log odds of the positive class, shape ``(n_rows,)``; above 0 it is predicted.

        Raises:
            DomainError: The rows do not fit the domain.
            ProblemError: A row is not finite.
        """
        numbers = features if self.domain is None else one_hot(self.domain, features)
        rows = Rows(numbers).scaled_to(self.feature_bound)
        return np.asarray(rows.matrix @ self.coefficients) + self.intercept

    def predict(self, features: Any) -> NDArray[Any]:
        """The predicted class of every row, shape ``(n_rows,)``."""
        return label_array(self.classes)[(self.margins(features) > 0).astype(np.intp)]

    def probabilities(self, features: Any) -> FloatArray:
        """Of both classes in order, shape ``(n_rows, 2)``."""
        positive = np.asarray(expit(self.margins(features)))
        return np.stack([1 - positive, positive], axis=1)

    def __str__(self) -> str:
        names = self.columns or tuple(f"column {j}" for j in range(len(self.coefficients)))
        width = max(map(len, (*names, "intercept")))
        lines = [
            f"{name:<{width}}  {value:+.4g}"
            for name, value in zip(names, self.coefficients, strict=True)
        ]
        lines.append(f"{'intercept':<{width}}  {self.intercept:+.4g}")
        lines.append(f"rows scaled down to norm {self.feature_bound:g}")
        lines.append(f"predict {self.classes[1]!r} if the total is above 0")
        if self.note is not None:
            lines.append(self.note)
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {
            "coefficients": self.coefficients.tolist(),
            "intercept": self.intercept,
            "feature_bound": self.feature_bound,
            "classes": list(self.classes),
            "columns": None if self.columns is None else list(self.columns),
            "note": self.note,
            "domain": None if self.domain is None else self.domain.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> LinearModel:
        """Inverse of :meth:`to_dict`.

        Raises:
            ReleaseFormatError: A field is missing or malformed.
        """
        try:
            names, note, schema = data["columns"], data["note"], data["domain"]
            return cls(
                np.array(data["coefficients"], dtype=np.float64),
                float(data["intercept"]),
                float(data["feature_bound"]),
                data["classes"],
                None if names is None else tuple(str(name) for name in names),
                None if note is None else str(note),
                None if schema is None else Domain.from_dict(schema),
            )
        except (KeyError, TypeError, ValueError, DomainError) as error:
            raise ReleaseFormatError(f"linear model: missing or malformed ({error})") from error


def one_hot(domain: Domain, data: Any) -> sp.csr_array:
    """One column per level of every attribute: as many ones in each row as there are attributes.

    Raises:
        DomainError: The rows do not fit the domain.
    """
    codes = domain.encode(data)
    starts = np.concatenate([[0], np.cumsum(domain.levels)])
    n, k = codes.shape
    places = (codes + starts[:-1]).ravel()
    ends = np.arange(0, n * k + 1, k)
    return sp.csr_array((np.ones(n * k), places, ends), shape=(n, int(starts[-1])))


def level_names(domain: Domain) -> tuple[str, ...]:
    """Names of :func:`one_hot`'s columns."""
    return tuple(f"{a.name}={label}" for a in domain for label in a.labels)


def unscaled(
    w: NDArray[np.float64], *, feature_bound: float, intercept: bool
) -> tuple[FloatArray, float]:
    """Coefficients of the rows as they came, from those of rows of norm at most 1.

    Training divides a row by :func:`joint_bound`, its constant column included.
    """
    norm = joint_bound(feature_bound, intercept)
    if not intercept:
        return w / norm, 0.0
    return w[:-1] / norm, float(w[-1]) * feature_bound / norm


def joint_bound(feature_bound: float, intercept: bool) -> float:
    """Norm bound of a row together with a constant column of the same bound."""
    return feature_bound * math.sqrt(2) * (1 + 1e-14) if intercept else feature_bound
