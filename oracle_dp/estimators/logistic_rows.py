"""From what an estimator is given to the rows, labels and classes of a linear model."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_complex_dtype, is_numeric_dtype

from oracle_dp.domain import Domain
from oracle_dp.errors import DomainError, ParameterError, PrivacyLeakWarning
from oracle_dp.estimators.labels import Label, check_classes, class_codes, read_labels
from oracle_dp.estimators.linear_model import joint_bound, one_hot
from oracle_dp.privacy import Contingency, ContingencyKind
from oracle_dp.record_losses import LinearModelLoss
from oracles.arrays import FloatArray
from oracles.convex import Rows
from oracles.errors import ProblemError


@dataclass(frozen=True, kw_only=True)
class RowReading:
    """From frames of a few rows to signed rows within the bound; all of it is public.

    Attributes:
        columns: Of the features.
        target: The column of labels.
        classes: Negative and positive.
        domain: The schema of the columns; None for numbers.
        bound: Of a row's norm.
        intercept: Whether a constant column of the same bound is added.
    """

    columns: tuple[str, ...]
    target: str
    classes: tuple[Label, Label]
    domain: Domain | None
    bound: float
    intercept: bool

    @classmethod
    def of(
        cls, columns: Sequence[str], *, target: str, domain: Domain | None, **others: Any
    ) -> RowReading:
        """Of a table with these columns: the domain's, or all but the target."""
        features = [name for name in columns if name != target]
        chosen = tuple(features) if domain is None else domain.columns
        return cls(columns=chosen, target=target, domain=domain, **others)

    @property
    def dimension(self) -> int:
        """Of the rows."""
        own = len(self.columns) if self.domain is None else sum(self.domain.levels)
        return own + self.intercept

    @property
    def norm_bound(self) -> float:
        """Of the rows, the constant included."""
        return joint_bound(self.bound, self.intercept)

    def __call__(self, frame: pd.DataFrame) -> Rows:
        """The rows.

        Raises:
            DomainError: The frame does not fit. Names the column and no value.
            ProblemError: A number is missing or infinite.
        """
        rows = self.features(frame).scaled_to(self.bound)
        if self.intercept:
            rows = rows.with_constant(self.bound)
        return rows.signed(self._signs(frame[self.target]))

    def features(self, frame: pd.DataFrame) -> Rows:
        """The rows as they are: without labels, constant and bound."""
        if self.domain is not None:
            return Rows(one_hot(self.domain, frame))
        table = frame[list(self.columns)]
        kinds = set(table.dtypes)
        if not all(map(_is_real, kinds)):
            others = (c for c, kind in table.dtypes.items() if not _is_real(kind))
            raise DomainError(
                f"column {next(others)!r} holds no numbers; give the domain of its categories"
            )
        single = len(kinds) == 1 and isinstance(next(iter(kinds)), np.dtype)
        return Rows(
            table.to_numpy() if single else table.to_numpy(dtype=np.float64, na_value=np.nan)
        )

    def _signs(self, labels: pd.Series[Any]) -> FloatArray:
        try:
            positions, distinct = pd.factorize(labels)
        except TypeError:  # Of lists and the like.
            distinct = None
        if distinct is None:
            raise DomainError(
                f"column {self.target!r}: labels must be text, numbers or booleans; convert them"
            )
        if (positions < 0).any():
            raise DomainError(f"column {self.target!r} has missing labels; drop those rows")
        try:
            codes = class_codes(np.asarray(distinct), self.classes, len(distinct))
        except DomainError as error:
            told = str(error).removeprefix("y: ")
        else:
            return np.where(codes == 1, 1.0, -1.0)[positions]
        raise DomainError(f"column {self.target!r}: {told}")


def _is_real(kind: Any) -> bool:
    return is_numeric_dtype(kind) and not is_complex_dtype(kind)


@dataclass(frozen=True)
class RowsAbove:
    """How many rows of a part are above the bound, for diagnostics."""

    reading: RowReading

    def __call__(self, pieces: Iterable[pd.DataFrame], _: Any) -> int:
        """The number, private."""
        return sum(above(self.reading.features(piece), self.reading.bound) for piece in pieces)


def above(rows: Rows, bound: float) -> int:
    """How many rows have a larger norm."""
    return int((rows.norms() > bound).sum())


def losses_of(
    features: Any, signs: FloatArray, *, bound: float, intercept: bool, size: int | None
) -> tuple[LinearModelLoss, int]:
    """The losses of rows in memory within the bound, and how many were above it.

    Raises:
        DomainError: A row is not finite, or there are none and no size.
    """
    try:
        rows = Rows(features)
    except ProblemError as error:
        raise DomainError(f"X: {error}") from None
    held = rows.scaled_to(bound)
    losses = LinearModelLoss.from_data(
        (held.with_constant(bound) if intercept else held).matrix,
        signs,
        norm_bound=joint_bound(bound, intercept),
        size=size,
    )
    return losses, above(rows, bound)


def public_classes(
    classes: Sequence[Label] | None, labels: NDArray[Any]
) -> tuple[tuple[Label, Label], tuple[Contingency, ...]]:
    """The classes, and what the guarantee has to say of where they are from; called by ``fit``.

    Raises:
        ParameterError: They are not two.
    """
    if classes is not None:
        return check_classes(classes), ()
    warnings.warn(
        "classes were read from y, which reveals which labels occur: pass classes=(negative, "
        "positive)",
        PrivacyLeakWarning,
        stacklevel=3,
    )
    seen = list(dict.fromkeys(read_labels(labels)))
    if any(isinstance(x, float) and not float(x).is_integer() for x in seen):
        raise ParameterError(
            "classes: None, and y holds fractions. Unknown label type: continuous; if they "
            "are classes, pass classes=(negative, positive)"
        )
    if len(seen) > 2:
        raise ParameterError(
            "classes: Only binary classification is supported. The type of the target is multiclass"
        )
    if len(seen) < 2:
        raise ParameterError(
            "classes: None, and y holds one class only; pass classes=(negative, positive); "
            "then either may have no row"
        )
    detail = "the classes were read from the labels"
    return check_classes(sorted(seen)), (Contingency(ContingencyKind.LEAKED_PARAMETER, detail),)


def without_entries(told: str) -> str:
    """What scikit-learn says of the rows, without the entries that some of it quotes."""
    if "could not convert" in told:
        return "a column holds text; give the domain of its categories"
    if "Expected 2D" in told:
        return (
            "Expected 2D array. Reshape your data: X.reshape(-1, 1) is a single column, "
            "X.reshape(1, -1) a single row"
        )
    if "Complex data" in told:
        return "Complex data not supported"
    if told.startswith("Input X contains"):
        # The rest recommends classifiers that are not private.
        return f"{told.splitlines()[0]} Drop those rows, or put public constants in their place"
    return told
