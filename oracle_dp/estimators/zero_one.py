"""A private linear classifier that minimises classification error itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from oracle_dp.domain import Domain
from oracle_dp.errors import ParameterError, PrivacyLeakWarning
from oracle_dp.estimators import card_training as cards
from oracle_dp.estimators.copies import WarnsOfRepeatedFits
from oracle_dp.estimators.default_domain import (
    MAX_ATTRIBUTES,
    SCHEMA,
    Rows,
    read_schema,
    rows_as_at_fit,
)
from oracle_dp.estimators.labels import (
    Label,
    check_labels,
    class_codes,
    classes_in,
    label_array,
    read_labels,
    sorted_order,
)
from oracle_dp.estimators.mechanisms import DEFAULTS, Weights, select
from oracle_dp.estimators.scoring_card import THRESHOLD
from oracle_dp.estimators.split_budget import Settings
from oracle_dp.ledger import Ledger
from oracle_dp.privacy import Contingency, ContingencyKind, Neighbors, Release
from oracles import Limits
from oracles.zero_one import CellTable, ClassCounts


class ZeroOneClassifier(ClassifierMixin, WarnsOfRepeatedFits):  # type: ignore[misc]  # sklearn is untyped
    """A differentially private scoring card, trained on the number of errors.

    Each level of each attribute of the public domain gets an integer weight; the positive class
    is predicted iff the weights of a row's levels add up to at least 1. There is no intercept:
    a constant on every level of one attribute is one.

    With k classes, three or more, one card per class tells it from all others, and the largest
    total predicts, on a tie the earliest class. A record is a row of all k problems, and its change
    moves each by at most the sensitivity of one (2 under ``"replace"``), so that each card is
    differentially private; on an equal share epsilon / k, exactly, the k of them are by sequential
    composition with epsilon in all. The guarantee and the ledger's one charge are of the whole;
    limits are for each card.

    The guarantee is for one ``fit``: cross-validation and grid search spend epsilon once per fit,
    and a second fit among an estimator and its clones warns
    (:class:`oracle_dp.RepeatedFitWarning`). A ledger counts them all, in one process: sent to
    another, as by ``n_jobs=2``, it refuses (threads will do: ``joblib.parallel_config``).
    There is no ``sample_weight``: the sensitivity is proved for rows that count once.

    Without a domain, numbers are cut at the public constants -1, 0 and 1 (standardise with public
    means and scales), booleans at False and True, and a card reads at most two columns of at most
    45. The number of columns, their order, names and types are then taken to be public, and the
    guarantee says so. Text and categories, pandas's too, need a domain: which occur is data.
    Sparse input is read as what it stands for: an entry that is not stored is a 0.

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
            None for the constants above.
        classes: The two labels, negative first, or three and more in the order of ties; public.
            None reads them from ``y``, sorted, which warns
            (:class:`oracle_dp.PrivacyLeakWarning`) and is recorded in the guarantee.
        ledger: Charged before noise is drawn. Copies of the estimator share it.
        dataset: The ledger's name for the data.
        limits: When the oracle may stop; see :class:`oracles.Limits`. Default: never.
        random_state: None for the operating system's randomness. An integer reproduces a run and
            makes it not private.
        sparsity: For ``"exponential"``: public prior exp(-sparsity) per non-zero weight.
        max_attributes: For ``"exponential"``: public limit on attributes with non-zero weights;
            None for none with a domain, and for 2 without.
        n_best: For ``"top_r"``: how many of the best classifiers are told apart.
        sweeps: For ``"blockwise"``: how often every attribute is redrawn.
        delta: For ``"blockwise"``: 0 composes epsilons, a positive one composes by zCDP. For
            ``"opdisc"``: of Gaussian noise.
        lift: For ``"opdisc"``: see :func:`oracle_dp.opdisc`.
        noise: For ``"opdisc"``: see there.

    Attributes:
        release_: The :class:`oracle_dp.Release` of a :class:`ScoringCard`, or of one
            :class:`OneVsRest` for three classes or more. Its guarantee says what holds and on what
            conditions.
        classes_: The labels, sorted, as scikit-learn's scores take them to be.
        n_features_in_: Number of columns that the domain reads; of ``X`` without one.
        feature_names_in_: Their names; without a domain only if those of ``X`` are text.
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
        lift: str = "one_hot",
        noise: str | None = None,
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
        self.lift = lift
        self.noise = noise

    def fit(self, X: Rows, y: ArrayLike) -> ZeroOneClassifier:
        """Train and spend epsilon.

        Args:
            X: Rows that fit the domain, shape ``(n_rows, n_columns)``, sparse or not, or a frame
                with its columns. Zero rows are ordinary data.
            y: Labels, shape ``(n_rows,)``.

        Returns:
            The estimator.

        Raises:
            DomainError: The data do not fit ``domain`` or ``classes``. Nothing is charged.
            ColumnTypeError: A column needs a domain. Nothing is charged.
            ParameterError: A parameter is out of range. Nothing is charged.
            ProblemError: ``weights`` repeat a value or lack 0. Nothing is charged.
            LedgerError: The budget does not allow this fit. Nothing is charged.
            UncertifiedError: The minimum was not proven. The charge stays.
        """
        mechanism, options = select(
            self.mechanism, {name: getattr(self, name) for name in DEFAULTS}
        )
        rows, domain, features = self._schema(X)
        if self.domain is None and options.get("max_attributes", 0) is None:
            options["max_attributes"] = MAX_ATTRIBUTES
        weights = cards.checked_weights(self.weights, len(domain))
        codes = domain.encode(rows)
        given = read_labels(y)
        classes, leaks = self._public_classes(given)
        conditions = leaks if self.domain is not None else (*leaks, SCHEMA)
        labels = class_codes(given, classes, len(codes))
        # One problem tells two classes apart; of more, each has one.
        positives = (1,) if len(classes) == 2 else range(len(classes))
        tables = [CellTable.from_codes(codes, labels == i, domain.levels) for i in positives]
        trainers = [partial(mechanism.train, table, weights) for table in tables]
        self._warn_of_repeated_fits(counted=self.ledger is not None)
        return self._release(trainers, conditions, options, domain, classes, features)

    def fit_cells(self, cells: CellTable | ClassCounts) -> ZeroOneClassifier:
        """Train on rows that were counted elsewhere, and spend epsilon.

        The release is that of :meth:`fit` on the same rows, bit by bit under the same seed:
        mechanisms read nothing else of them.

        Args:
            cells: Private cells of ``domain``, which with ``classes`` must be given, such as
                ``CellTable.from_parquet(files, domain, Categorical(target, classes))``; for three
                classes or more by ``ClassCounts``.

        Returns:
            The estimator.

        Raises:
            DomainError: The cells are not of ``domain`` and ``classes``. Nothing is charged.
            ParameterError: A parameter is missing or out of range. Nothing is charged.
            PrivacyError: As :meth:`fit`.
        """
        mechanism, options = select(
            self.mechanism, {name: getattr(self, name) for name in DEFAULTS}
        )
        domain, features = self._stated_schema()
        weights = cards.checked_weights(self.weights, len(domain))
        if self.classes is None:
            raise ParameterError("classes: cells hold no labels; pass classes=(negative, positive)")
        classes = check_labels(self.classes)
        tables = cards.tables_of(cells, domain, classes)
        trainers = [partial(mechanism.train, table, weights) for table in tables]
        self._warn_of_repeated_fits(counted=self.ledger is not None)
        return self._release(trainers, (), options, domain, classes, features)

    def _release(
        self,
        trainers: Sequence[Callable[[Settings, Settings], Release[Weights]]],
        conditions: tuple[Contingency, ...],
        options: Settings,
        domain: Domain,
        classes: tuple[Label, ...],
        features: dict[str, Any],
    ) -> ZeroOneClassifier:
        """Run the mechanism, and keep what it releases."""
        self.release_ = cards.release(trainers, self._common(conditions), options, domain, classes)
        self._order = sorted_order(classes)
        self.classes_ = label_array([classes[i] for i in self._order])
        self.__dict__.pop("feature_names_in_", None)  # Of an earlier fit to columns with names.
        self.__dict__.update(features)
        self._columns_as_at_fit = self.domain is None
        return self

    def decision_function(self, X: Rows) -> NDArray[np.float64]:
        """Total points minus 1/2.

        Shape ``(n_rows,)`` for two classes, positive iff ``classes_[1]`` is predicted; else
        ``(n_rows, n_classes)`` in the order of ``classes_``, of which the largest predicts.
        """
        check_is_fitted(self)
        margins = self.release_.value.margins(self._rows(X)).astype(np.float64) - (THRESHOLD - 0.5)
        if margins.ndim == 2:
            return np.asarray(margins[:, list(self._order)])
        return np.asarray(margins if self._order[0] == 0 else -margins)

    def predict(self, X: Rows) -> NDArray[Any]:
        """The predicted class of every row, shape ``(n_rows,)``."""
        check_is_fitted(self)
        return self.release_.value.predict(self._rows(X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = tags.input_tags.categorical = self.domain is not None
        return tags

    def _schema(self, X: Rows) -> tuple[Rows, Domain, dict[str, Any]]:
        """The rows, their domain, and what scikit-learn wants known of the columns."""
        return read_schema(X) if self.domain is None else (X, *self._stated_schema())

    def _stated_schema(self) -> tuple[Domain, dict[str, Any]]:
        """The domain that was given, and what scikit-learn wants known of its columns."""
        domain = cards.checked_domain(self.domain)
        names = np.asarray(domain.columns, dtype=object)
        return domain, {"n_features_in_": len(names), "feature_names_in_": names}

    def _rows(self, X: Rows) -> Rows:
        """Rows that the released value's domain can encode."""
        if not self._columns_as_at_fit:
            return X
        return rows_as_at_fit(self, X, self.release_.value.domain)

    def _common(self, leaks: tuple[Contingency, ...]) -> dict[str, Any]:
        """What all mechanisms are given."""
        return {
            "epsilon": self.epsilon,
            "neighbors": Neighbors.parse(self.neighbors),
            "limits": self.limits,
            "ledger": self.ledger,
            "dataset": self.dataset,
            "random_state": self.random_state,
            "contingencies": leaks,
        }

    def _public_classes(self, y: ArrayLike) -> tuple[tuple[Label, ...], tuple[Contingency, ...]]:
        if self.classes is not None:
            return check_labels(self.classes), ()
        warnings.warn(
            "classes were read from y, which reveals which labels occur: pass classes=(negative, "
            "positive)",
            PrivacyLeakWarning,
            stacklevel=3,
        )
        detail = "the classes were read from the labels"
        return classes_in(y), (Contingency(ContingencyKind.LEAKED_PARAMETER, detail),)
