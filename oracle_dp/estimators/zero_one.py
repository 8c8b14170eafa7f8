"""A private linear classifier that minimises classification error itself."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from numbers import Integral
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from oracle_dp.domain import Domain
from oracle_dp.errors import DomainError, ParameterError, PrivacyLeakWarning
from oracle_dp.estimators.mechanisms import DEFAULTS, select
from oracle_dp.estimators.scoring_card import (
    MAX_TOTAL,
    THRESHOLD,
    Label,
    ScoringCard,
    check_classes,
    label_array,
)
from oracle_dp.ledger import Ledger
from oracle_dp.privacy import Contingency, ContingencyKind, Neighbors, Release
from oracles import Limits
from oracles.zero_one import CellTable


class ZeroOneClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # sklearn is untyped
    """A differentially private scoring card, trained on the number of errors.

    Each level of each attribute of the public domain gets an integer weight; the positive class
    is predicted iff the weights of a row's levels add up to at least 1. There is no intercept:
    a constant on every level of one attribute is one.

    The guarantee is for one ``fit``: cross-validation and grid search spend epsilon once per fit.

    Args:
        epsilon: Privacy parameter of one fit, positive.
        mechanism: ``"exponential"``: an exact draw from the exponential mechanism, pure epsilon
            (:mod:`oracle_dp.mechanisms.exponential`). Its rivals: ``"opdisc"`` (objective
            perturbation), ``"counts"`` (noise on every cell), ``"top_r"`` (the exponential
            mechanism on a capped loss), and, where the search cannot close, ``"blockwise"``
            (another law: attribute by attribute).
        neighbors: ``"replace"`` (one record changed, n public) or ``"add_remove"`` (n private);
            ``"zero_out"`` has the noise of ``"add_remove"``, with n public.
        weights: The values that every weight may take: distinct integers, 0 among them, public.
        domain: The public schema (:class:`oracle_dp.domain.Domain`). Never read from the data.
        classes: The two labels, negative first, public. None reads them from ``y``, which warns
            (:class:`oracle_dp.PrivacyLeakWarning`) and is recorded in the guarantee.
        ledger: Charged before noise is drawn. Copies of the estimator share it.
        dataset: The ledger's name for the data.
        limits: When the oracle may stop; see :class:`oracles.Limits`. Default: never.
        random_state: None for the operating system's randomness. An integer reproduces a run and
            makes it not private.
        sparsity: For ``"exponential"``: public prior exp(-sparsity) per non-zero weight.
        max_attributes: For ``"exponential"``: public limit on attributes with non-zero weights.
        n_best: For ``"top_r"``: how many of the best classifiers are told apart.
        sweeps: For ``"blockwise"``: how often every attribute is redrawn.
        delta: For ``"blockwise"``: 0 composes epsilons, a positive one composes by zCDP.

    Attributes:
        release_: The :class:`oracle_dp.Release` of a :class:`ScoringCard`. Its guarantee says what
            holds and on what conditions.
        classes_: The two labels, negative first.
        n_features_in_: Number of attributes.
        feature_names_in_: Their names.
    """

    def __init__(
        self,
        epsilon: float | Fraction = 1.0,
        *,
        mechanism: str = "exponential",
        neighbors: Neighbors | str = "replace",
        weights: Sequence[int] = (-1, 0, 1),
        domain: Domain | None = None,
        classes: Sequence[Label] | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
        limits: Limits | None = None,
        random_state: int | None = None,
        sparsity: float | Fraction = 0,
        max_attributes: int | None = None,
        n_best: int = 10,
        sweeps: int = 2,
        delta: float | Fraction = 0,
    ) -> None:
        self.epsilon = epsilon
        self.mechanism = mechanism
        self.neighbors = neighbors
        self.weights = weights
        self.domain = domain
        self.classes = classes
        self.ledger = ledger
        self.dataset = dataset
        self.limits = limits
        self.random_state = random_state
        self.sparsity = sparsity
        self.max_attributes = max_attributes
        self.n_best = n_best
        self.sweeps = sweeps
        self.delta = delta

    def fit(self, X: pd.DataFrame | ArrayLike, y: ArrayLike) -> ZeroOneClassifier:
        """Train and spend epsilon.

        Args:
            X: Rows that fit the domain, shape ``(n_rows, n_attributes)`` or a frame with its
                columns. Zero rows are ordinary data.
            y: Labels, shape ``(n_rows,)``.

        Returns:
            The estimator.

        Raises:
            DomainError: The data do not fit ``domain`` or ``classes``. Nothing is charged.
            ParameterError: A parameter is out of range. Nothing is charged.
            ProblemError: ``weights`` repeat a value or lack 0. Nothing is charged.
            LedgerError: The budget does not allow this fit. Nothing is charged.
            UncertifiedError: The minimum was not proven. The charge stays.
        """
        mechanism, options = select(
            self.mechanism, {name: getattr(self, name) for name in DEFAULTS}
        )
        if not isinstance(self.domain, Domain):
            given = "None" if self.domain is None else f"a {type(self.domain).__name__}"
            raise DomainError(
                f"domain: {given}; state the public schema of the attributes "
                "(oracle_dp.domain.Domain)"
            )
        weights = _weights(self.weights, len(self.domain))
        codes = self.domain.encode(X)
        classes, leaks = self._public_classes(y)
        cells = CellTable.from_codes(codes, _positive(y, classes, len(codes)), self.domain.levels)
        common = {
            "epsilon": self.epsilon,
            "neighbors": Neighbors.parse(self.neighbors),
            "limits": self.limits,
            "ledger": self.ledger,
            "dataset": self.dataset,
            "random_state": self.random_state,
            "contingencies": leaks,
        }
        release = mechanism.train(cells, weights, common, options)
        points = tuple(tuple(int(w) for w in block) for block in release.value)
        card = ScoringCard(self.domain, points, classes)
        self.release_: Release[ScoringCard] = cast(
            "Release[ScoringCard]", replace(release, value=cast(Any, card))
        )
        self.classes_ = label_array(classes)
        self.n_features_in_ = len(self.domain)
        self.feature_names_in_ = np.asarray(self.domain.names, dtype=object)
        return self

    def decision_function(self, X: pd.DataFrame | ArrayLike) -> NDArray[np.float64]:
        """Total points minus 1/2: positive iff the positive class is predicted."""
        check_is_fitted(self)
        return self.release_.value.margins(X).astype(np.float64) - (THRESHOLD - 0.5)

    def predict(self, X: pd.DataFrame | ArrayLike) -> NDArray[Any]:
        """The predicted class of every row, shape ``(n_rows,)``."""
        check_is_fitted(self)
        return self.release_.value.predict(X)

    def _public_classes(self, y: ArrayLike) -> tuple[tuple[Label, Label], tuple[Contingency, ...]]:
        if self.classes is not None:
            return check_classes(self.classes), ()
        warnings.warn(
            "classes were read from y, which reveals which labels occur: pass classes=(negative, "
            "positive)",
            PrivacyLeakWarning,
            stacklevel=3,
        )
        seen = list(dict.fromkeys(_labels(y)))
        if len(seen) != 2:
            raise ParameterError(
                "classes: None, and y does not hold exactly two labels; pass classes=(negative, "
                "positive), then one label or none is ordinary data"
            )
        try:
            seen.sort()
        except TypeError:
            raise ParameterError(
                "classes: None, and the two labels in y have no order; pass classes=(negative, "
                "positive)"
            ) from None
        detail = "the two classes were read from the labels"
        return check_classes(seen), (Contingency(ContingencyKind.LEAKED_PARAMETER, detail),)


def _weights(given: Sequence[int], n_attributes: int) -> tuple[int, ...]:
    listed = list(given) if np.iterable(given) else [None]
    if any(isinstance(w, bool) or not isinstance(w, Integral) for w in listed):
        raise ParameterError(
            f"weights: a sequence of integers expected, such as (-1, 0, 1), not {given!r}"
        )
    weights = tuple(int(w) for w in given)
    # Asked here, whatever the rows: the card could not hold such points once they are paid for.
    if n_attributes * max(map(abs, weights), default=0) > MAX_TOTAL:
        raise ParameterError("weights: a total could exceed 64 bits; use smaller weights")
    return weights


def _labels(y: ArrayLike) -> NDArray[Any]:
    """The labels as they are, shape ``(n_rows,)``, dtype object."""
    try:
        # Objects, because a common type of all labels would turn numbers into text.
        labels = np.asarray(y) if hasattr(y, "dtype") else np.asarray(y, dtype=object)
    except ValueError:
        raise DomainError("y: one label per row expected") from None
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


def _positive(y: ArrayLike, classes: tuple[Label, Label], n_rows: int) -> NDArray[np.bool_]:
    labels = _labels(y)
    if len(labels) != n_rows:
        raise DomainError("X and y: different numbers of rows; they must describe the same rows")
    code = pd.Index(np.asarray(classes, dtype=object)).get_indexer(labels)
    if (code < 0).any():
        raise DomainError(
            f"y: a label that is not one of classes={classes!r}; correct the label, or the "
            "classes from public knowledge"
        )
    positive: NDArray[np.bool_] = code == 1
    return positive
