"""Private logistic regression: one estimator over all convex mechanisms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from oracle_dp.domain import Domain
from oracle_dp.errors import DomainError, ParameterError
from oracle_dp.estimators.copies import WarnsOfRepeatedFits
from oracle_dp.estimators.labels import Label, check_classes, class_codes, label_array
from oracle_dp.estimators.linear_model import LinearModel, level_names, one_hot, unscaled
from oracle_dp.estimators.logistic_methods import Train, default_delta, select
from oracle_dp.estimators.logistic_rows import (
    RowReading,
    RowsAbove,
    losses_of,
    public_classes,
    without_entries,
)
from oracle_dp.ledger import Ledger
from oracle_dp.mechanisms.sampled_minimum import SampledMinimum
from oracle_dp.mechanisms.spending import positive
from oracle_dp.privacy import Contingency, Neighbors, Release
from oracle_dp.record_losses import LinearModelLoss
from oracle_dp.sources import Source
from oracle_dp.sources.base import check_source
from oracles.arrays import FloatArray


class LogisticRegression(ClassifierMixin, WarnsOfRepeatedFits):  # type: ignore[misc]  # sklearn is untyped
    """Differentially private logistic regression for two classes.

    Rows are scaled down to the public norm ``feature_bound``, in training and in prediction, and
    the intercept's column counts towards the sensitivity. The default method was the best of all at
    epsilon >= 1 on public data (docs/logistic.md). Scale columns by public constants first, so that
    rows fill the bound: noise is for a row of that norm whatever the rows are.

    The guarantee is for one ``fit``: cross-validation and grid search spend epsilon once per fit,
    and a second fit among an estimator and its clones warns
    (:class:`oracle_dp.RepeatedFitWarning`).
    There is no ``sample_weight``: sensitivities are proved for rows that count once.

    Args:
        epsilon: Privacy parameter of one fit, positive.
        delta: In (0, 1). None: n^-2, at most 1e-4; 0 for the pure method ``"objective"``.
        method: ``"objective_gaussian"``, ``"preconditioned"``, ``"newton"``, ``"damped"``,
            ``"cubic"``, ``"minibatch"``, ``"gd"``, ``"sgd"``, ``"amp"``, ``"objective"`` (pure
            epsilon) or ``"opsamp"``.
        options: Public settings of the method by name, such as ``{"steps": 30}``.
        neighbors: ``"replace"``, ``"zero_out"``, or ``"add_remove"``, which needs ``size``.
        domain: The public schema (:class:`oracle_dp.Domain`) of a frame: its attributes become one
            column per level. None: ``X`` is an array of numbers.
        feature_bound: Norm of a row, public and positive. With a domain all rows have one norm,
            so that it is only a unit.
        fit_intercept: Whether to add a constant column of the same bound.
        size: A public constant in place of the number of rows.
        classes: The two labels, negative first; public. None reads them from ``y``, which warns
            (:class:`oracle_dp.PrivacyLeakWarning`) and is recorded in the guarantee.
        ledger: Charged before noise is drawn. Copies of the estimator share it.
        dataset: The ledger's name for the data.
        random_state: None for the operating system's randomness. An integer reproduces a run and
            makes it not private.
        keep_diagnostics: Whether to keep ``diagnostics_``, which is private.

    Attributes:
        release_: The :class:`oracle_dp.Release` of a :class:`LinearModel`.
        coef_: Shape ``(1, n_features)``, for rows within the bound.
        intercept_: Shape ``(1,)``.
        classes_: The labels, in order.
        n_features_in_: Number of columns.
        feature_names_in_: Their names, if ``X`` had some.
        diagnostics_: Only if asked for. NOT PRIVATE: number of clipped rows, mean training loss.
    """

    def __init__(
        self,
        epsilon: float | Fraction = 1.0,
        *,
        delta: float | Fraction | None = None,
        method: str = "objective_gaussian",
        options: Mapping[str, Any] | None = None,
        neighbors: Neighbors | str = "replace",
        domain: Domain | None = None,
        feature_bound: float = 1.0,
        fit_intercept: bool = True,
        size: int | None = None,
        classes: Sequence[Label] | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
        random_state: int | None = None,
        keep_diagnostics: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.method = method
        self.options = options
        self.neighbors = neighbors
        self.domain = domain
        self.feature_bound = feature_bound
        self.fit_intercept = fit_intercept
        self.size = size
        self.classes = classes
        self.ledger = ledger
        self.dataset = dataset
        self.random_state = random_state
        self.keep_diagnostics = keep_diagnostics

    def fit(self, X: Any, y: ArrayLike) -> LogisticRegression:
        """Train and spend epsilon.

        Args:
            X: Finite numbers, shape ``(n_rows, n_columns)``, dense or sparse; with a domain a
                frame with its columns.
            y: Labels, shape ``(n_rows,)``.

        Returns:
            The estimator.

        Raises:
            DomainError: The data are not of this form. Nothing is charged.
            ParameterError: A parameter is out of range. Nothing is charged.
            LedgerError: The budget does not allow this fit. Nothing is charged.
            UncertifiedError: A minimum was not proven. The charge stays.
        """
        train, options = select(self.method, self.options)
        bound = positive("feature_bound", self.feature_bound)
        if y is None:
            raise DomainError("y: training requires y to be passed, but the target y is None")
        features = self._features(X)
        labels = column_or_1d(y, warn=True)
        classes, leaks = public_classes(self.classes, labels)
        codes = class_codes(labels, classes, features.shape[0])
        signs = np.where(codes == 1, 1.0, -1.0)
        losses, clipped = losses_of(
            features, signs, bound=bound, intercept=bool(self.fit_intercept), size=self.size
        )
        return self._train(train, options, losses, classes, leaks, lambda: clipped)

    def fit_blocks(self, source: Source, target: str) -> LogisticRegression:
        """Train on rows that are read anew for every pass over them, and spend epsilon.

        The law is that of :meth:`fit`, with the same noise under a seed; memory does not grow with
        the number of rows. All are read once before anything is charged, and then about once per
        step; ``"opsamp"`` is refused (docs/scale_convex.md).

        Args:
            source: Such as :class:`oracle_dp.sources.ParquetSource`.
            target: The column of the labels. With a domain its columns are the features; without
                one all others are, as numbers, in their order.

        Returns:
            The estimator.

        Raises:
            DomainError: The data are not of this form. Names the part. Nothing is charged if it is
                found in the first pass; if data change later, the charge stays.
            ParameterError: A parameter is out of range, ``classes`` is None, or the method cannot
                stream. Nothing is charged.
            LedgerError: The budget does not allow this fit. Nothing is charged.
            UncertifiedError: A minimum was not proven. The charge stays.
        """
        train, options = select(self.method, self.options, streamed=True)
        check_source(source)
        if self.classes is None:
            raise ParameterError("classes: streamed rows need them; pass (negative, positive)")
        self._check_domain()
        reading = RowReading.of(
            source.columns,
            target=target,
            classes=check_classes(self.classes),
            domain=self.domain,
            bound=positive("feature_bound", self.feature_bound),
            intercept=bool(self.fit_intercept),
        )
        read = source.select([*reading.columns, target])
        losses = LinearModelLoss.from_parts(
            read, reading, reading.dimension, norm_bound=reading.norm_bound, size=self.size
        )
        self.n_features_in_ = len(reading.columns)
        self.feature_names_in_ = np.asarray(reading.columns, dtype=object)
        return self._train(
            train,
            options,
            losses,
            reading.classes,
            (),
            lambda: sum(read.map(RowsAbove(reading), [None] * len(read))),
        )

    def _train(
        self,
        train: Train,
        options: dict[str, Any],
        losses: LinearModelLoss,
        classes: tuple[Label, Label],
        leaks: tuple[Contingency, ...],
        clipped: Callable[[], int],
    ) -> LogisticRegression:
        """Spend epsilon on the losses."""
        common = {
            "epsilon": self.epsilon,
            "delta": default_delta(self.method, losses.size) if self.delta is None else self.delta,
            "neighbors": self.neighbors,
            "ledger": self.ledger,
            "dataset": self.dataset,
            "random_state": self.random_state,
            "contingencies": leaks,
        }
        self._warn_of_repeated_fits(counted=self.ledger is not None)
        found = train(losses, common, options)
        w, note = found.value, None
        if isinstance(found.value, SampledMinimum):
            w, note = found.value.point, found.value.statement
        bound = float(self.feature_bound)
        coefficients, intercept = unscaled(
            w, feature_bound=bound, intercept=bool(self.fit_intercept)
        )
        model = LinearModel(
            coefficients, intercept, bound, classes, self._names(), note, self.domain
        )
        self.release_ = Release(model, found.guarantee)
        self.coef_, self.intercept_ = coefficients[None, :], np.array([intercept])
        self.classes_ = label_array(classes)
        self.__dict__.pop("diagnostics_", None)
        if self.keep_diagnostics:
            self.diagnostics_ = {"clipped_rows": clipped(), "mean_loss": losses.value(w)}
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Log odds of the second class, shape ``(n_rows,)``; above 0 it is predicted."""
        check_is_fitted(self)
        return self.release_.value.margins(self._checked(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the two classes in order, shape ``(n_rows, 2)``."""
        check_is_fitted(self)
        return self.release_.value.probabilities(self._checked(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted class of every row, shape ``(n_rows,)``."""
        positive = self.decision_function(X) > 0
        return np.asarray(self.classes_[positive.astype(np.intp)])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        # At the default epsilon the noise on a few hundred rows is as large as the signal.
        tags.classifier_tags.poor_score = True
        return tags

    def _check_domain(self) -> None:
        if self.domain is not None and not isinstance(self.domain, Domain):
            raise DomainError(f"domain: a Domain or None expected, not {self.domain!r}")

    def _features(self, X: Any) -> Any:
        """The rows as numbers, for training."""
        if self.domain is None:
            return self._numbers(X, reset=True)
        self._check_domain()
        self.n_features_in_ = len(self.domain.columns)
        self.feature_names_in_ = np.asarray(self.domain.columns, dtype=object)
        return one_hot(self.domain, X)

    def _checked(self, X: Any) -> Any:
        """The rows as the released model reads them."""
        if self.release_.value.domain is not None:
            return X
        return self._numbers(X, reset=False)

    def _numbers(self, X: Any, *, reset: bool) -> Any:
        """The rows as scikit-learn reads them."""
        # With a public size, no rows are ordinary data.
        least = 0 if reset and self.size is not None else 1
        try:
            return validate_data(
                self,
                X,
                reset=reset,
                accept_sparse="csr",
                dtype=np.float64,
                ensure_min_samples=least,
            )
        except ValueError as error:
            told = str(error)
        # Raised outside, or the message that quotes entries would come along.
        raise DomainError(f"X: {without_entries(told)}")

    def _names(self) -> tuple[str, ...] | None:
        if self.domain is not None:
            return level_names(self.domain)
        return tuple(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None
