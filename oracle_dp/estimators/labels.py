"""Labels: which may be classes, and how a column of them is read."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from oracle_dp.errors import DomainError, ParameterError

Label = str | int | float | bool


def check_labels(classes: Sequence[Label]) -> tuple[Label, ...]:
    """Two labels or more, as Python's own text, numbers or booleans.

    Raises:
        ParameterError: There are fewer, two are the same, or one is something else, NaN or
            infinite. No label is shown: they may have been read from the data.
    """
    given = _listed(classes)
    if len(given) < 2:
        raise ParameterError(
            "classes: a sequence of two labels, negative first, or of more expected"
        )
    labels = [label.item() if isinstance(label, np.generic) else label for label in given]
    if not all(isinstance(label, str | int | float) for label in labels):
        raise ParameterError("classes: a label must be text, a number or a boolean")
    if any(isinstance(label, float) and not math.isfinite(label) for label in labels):
        raise ParameterError("classes: a label must not be NaN or infinite")
    if len(set(labels)) < len(labels):
        expected = "two distinct labels" if len(labels) == 2 else "distinct labels"
        raise ParameterError(f"classes: {expected} expected, negative first")
    return tuple(cast("list[Label]", labels))


def check_classes(classes: Sequence[Label]) -> tuple[Label, Label]:
    """Exactly two labels; otherwise as :func:`check_labels`.

    Raises:
        ParameterError: As there, or there are more.
    """
    given = _listed(classes)
    if len(given) != 2:
        raise ParameterError("classes: a sequence of two labels expected, negative first")
    negative, positive = check_labels(given)
    return negative, positive


def sorted_order(labels: Sequence[Label]) -> tuple[int, ...]:
    """Positions that sort the labels, as scikit-learn's scores expect; as given if nothing can."""
    try:
        return tuple(sorted(range(len(labels)), key=lambda i: cast(Any, labels[i])))
    except TypeError:
        return tuple(range(len(labels)))


def label_array(labels: Sequence[Label]) -> NDArray[Any]:
    """Labels as an array that keeps every one as it is."""
    array = np.asarray(labels)
    # A common type of text and numbers is text.
    return array if array.tolist() == list(labels) else np.asarray(labels, dtype=object)


def read_labels(y: ArrayLike) -> NDArray[Any]:
    """The labels as they are, shape ``(n_rows,)``, dtype object.

    Raises:
        DomainError: There is not one label per row, or one is missing or of another type.
    """
    if y is None:
        raise DomainError("y: training requires y to be passed, but the target y is None")
    try:
        # Objects, because a common type of all labels would turn numbers into text.
        labels = np.asarray(y) if hasattr(y, "dtype") else np.asarray(y, dtype=object)
    except ValueError:
        raise DomainError("y: one label per row expected") from None
    if labels.ndim == 2 and labels.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning  # Heavy, and seldom needed.

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected: it is read as one label "
            "per row; pass y.ravel()",
            DataConversionWarning,
            stacklevel=3,
        )
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise DomainError(f"y: one label per row expected, got {labels.ndim} dimensions")
    if pd.isna(labels).any():
        raise DomainError("y: missing labels (NaN or None); drop those rows before training")
    # Not all types, since as objects times would become integers.
    objects = labels.astype(object) if labels.dtype.kind in "biufUTO" else labels
    allowed = (str, int, float, np.bool_, np.integer, np.floating)
    if not all(issubclass(kind, allowed) for kind in set(map(type, objects))):
        raise DomainError("y: labels must be text, numbers or booleans; convert them")
    return objects


def classes_in(y: ArrayLike) -> tuple[Label, ...]:
    """The labels that occur, sorted. They are private: whoever asks has to say so.

    Raises:
        DomainError: As :func:`read_labels`.
        ParameterError: There are fewer than two, they have no order, or they are no classes. No
            label is shown.
    """
    seen = list(dict.fromkeys(read_labels(y)))
    if len(seen) < 2:
        raise ParameterError(
            "classes: None, and y holds no label, or one class only; pass classes=(negative, "
            "positive), or all of more than two; then any of them may have no row"
        )
    try:
        seen.sort()
    except TypeError:
        raise ParameterError(
            "classes: None, and the labels in y have no order; pass classes=(negative, positive), "
            "or all of more than two"
        ) from None
    classes = check_labels(seen)
    if any(isinstance(label, float) and not label.is_integer() for label in classes):
        raise ParameterError(
            "classes: None, and y holds fractions. Unknown label type: continuous; if they are "
            "classes, pass classes=(negative, positive), or all of more than two"
        )
    return classes


def class_codes(y: ArrayLike, classes: Sequence[Label], n_rows: int) -> NDArray[np.intp]:
    """The position of each row's label among the classes, shape ``(n_rows,)``.

    Raises:
        DomainError: There is not one label per row, or one is no class. No label is shown.
    """
    labels = read_labels(y)
    if len(labels) != n_rows:
        raise DomainError("X and y: different numbers of rows; they must describe the same rows")
    index = pd.Index(np.asarray(classes, dtype=object))
    codes: NDArray[np.intp] = index.get_indexer(labels)
    if (codes < 0).any():
        raise DomainError(
            f"y: a label that is not one of classes={classes!r}; correct the label, or the "
            "classes from public knowledge"
        )
    return codes


def _listed(classes: Sequence[Label]) -> tuple[Any, ...]:
    try:
        return () if isinstance(classes, str) else tuple(classes)
    except TypeError:
        return ()
