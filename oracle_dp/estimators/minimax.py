"""A private linear classifier for the group that it serves worst."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from oracle_dp.domain import Domain
from oracle_dp.errors import DomainError, ParameterError, PrivacyLeakWarning
from oracle_dp.estimators.copies import WarnsOfRepeatedFits
from oracle_dp.estimators.labels import (
    Label,
    check_classes,
    class_codes,
    classes_in,
    label_array,
    read_labels,
)
from oracle_dp.estimators.logistic_methods import small_delta
from oracle_dp.estimators.minimax_groups import (
    PUBLIC_GROUPS,
    counted_shares,
    groups_of,
    mixture_step,
    public_shares,
    with_names,
)
from oracle_dp.estimators.minimax_model import MinimaxModel, checked_norm
from oracle_dp.ledger import Ledger
from oracle_dp.privacy import Contingency, ContingencyKind, Neighbors, Release
from oracle_dp.variational import Constants, NsegPlan, PrivacyTarget, Sampling, nseg
from oracle_dp.variational._fit import refuse_drowned
from oracle_dp.variational.calibration import noise_multiplier
from oracles.errors import ProblemError
from oracles.monotone import GroupRobustLogistic

READ_CLASSES = Contingency(
    ContingencyKind.LEAKED_PARAMETER, "the two classes were read from the labels"
)


class MinimaxClassifier(ClassifierMixin, WarnsOfRepeatedFits):  # type: ignore[misc]  # sklearn is untyped
    """A differentially private logistic classifier that minimises the worst group's loss.

    min over weights w, max over groups g of the mean logistic loss of group g, solved as a saddle
    point by NSEG (:mod:`oracle_dp.variational.nseg`): noisy extragradient steps on w and on the
    mixture of groups, every evaluation a release of the accounted schedule. Noise is calibrated to
    what one record can do at the released mixture, so that a small group costs noise only where the
    mixture weighs it.

    Groups' losses are capped at ``loss_cap``, which privacy allows and which voids the theorem on
    the gap: how good the result is, is measured.

    The guarantee is for one ``fit``: cross-validation and grid search spend epsilon once per fit.

    Args:
        epsilon: Privacy parameter of one fit, positive.
        groups: Names of attributes of ``domain``; a group is a combination of their levels. None:
            one group, hence private logistic regression.
        delta: In (0, 1). None: n^-2, at most 1e-4.
        domain: The public schema (:class:`oracle_dp.domain.Domain`), entered one-hot. None: X holds
            numbers, and its rows are scaled down to the public norm ``feature_norm``.
        feature_norm: Public; used without ``domain``.
        classes: The two labels, negative first; public. None reads them from ``y``, which warns
            (:class:`oracle_dp.PrivacyLeakWarning`) and is recorded in the guarantee.
        group_shares: Public fraction of the records in each group, from groups' labels joined by
            ``" x "`` to numbers. A neighbour's record may then change its group too. None: groups
            are taken as public and counted, which is recorded in the guarantee.
        neighbors: ``"replace"`` or ``"zero_out"``.
        weight_cap: No group weighs more than this times its share; at least 1. Noise follows the
            weight that is used. None: no cap.
        radius: Of the ball of weights, features having norm 1.
        loss_cap: Losses above it count as it in the groups' losses.
        loss_share: In (0, 1): how the bound on a record is divided between losses and gradient.
        steps: Of NSEG in Popov's form, with one release each.
        step: Step length for the weights, or two: for the weights and for the mixture, whose own
            default is so short that noise alone moves a group's weight by a quarter of its share.
        batch_size: None: all records in each step; otherwise the mean of a Poisson sample's size.
        ledger: Charged before noise is drawn. Copies of the estimator share it.
        dataset: The ledger's name for the data.
        random_state: None for the operating system's randomness. An integer reproduces a run and
            makes it not private.

    Attributes:
        release_: The :class:`oracle_dp.Release` of a :class:`MinimaxModel`.
        classes_: The labels, in order.
        n_features_in_: Number of columns that are read.
    """

    def __init__(
        self,
        epsilon: float | Fraction = 1.0,
        *,
        groups: Sequence[str] | None = None,
        delta: float | Fraction | None = None,
        domain: Domain | None = None,
        feature_norm: float = 1.0,
        classes: Sequence[Label] | None = None,
        group_shares: Mapping[str, float] | None = None,
        neighbors: Neighbors | str = "replace",
        weight_cap: float | None = 1.25,
        radius: float = 30.0,
        loss_cap: float = 2.0,
        loss_share: float = 0.1,
        steps: int = 800,
        step: float | Sequence[float] = 4.0,
        batch_size: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.groups = groups
        self.delta = delta
        self.domain = domain
        self.feature_norm = feature_norm
        self.classes = classes
        self.group_shares = group_shares
        self.neighbors = neighbors
        self.weight_cap = weight_cap
        self.radius = radius
        self.loss_cap = loss_cap
        self.loss_share = loss_share
        self.steps = steps
        self.step = step
        self.batch_size = batch_size
        self.ledger = ledger
        self.dataset = dataset
        self.random_state = random_state

    def fit(self, X: pd.DataFrame | ArrayLike, y: ArrayLike) -> MinimaxClassifier:
        """Train and spend epsilon.

        Args:
            X: Rows that fit the domain, or numbers of shape ``(n_rows, n_columns)`` without one.
            y: Labels, shape ``(n_rows,)``.

        Returns:
            The estimator.

        Raises:
            DomainError: The data do not fit ``domain`` or ``classes``. Nothing is charged.
            ParameterError: A parameter is out of range, epsilon is so small that noise drowns
                every step, or a group that is taken as public has fewer than two records.
                Nothing is charged.
            LedgerError: The budget does not allow this fit. Nothing is charged.
        """
        features = self._features(X)
        given = read_labels(y)
        classes, leaks = self._public_classes(given)
        labels = 2 * class_codes(given, classes, len(features)) - 1
        names, codes = groups_of(self.groups, self.domain, X, len(features))
        shares = public_shares(self.group_shares, names)
        counted = () if shares is not None or self.groups is None else (PUBLIC_GROUPS,)
        try:
            operator = GroupRobustLogistic(
                features,
                labels,
                codes,
                counted_shares(names, codes) if shares is None else shares,
                radius=self.radius,
                loss_cap=self.loss_cap,
                weight_cap=self.weight_cap,
                loss_share=self.loss_share,
                # Groups are private beside public shares: a refusal would tell a group's size.
                smallest_group=2 if self.group_shares is None else 0,
            )
        except ProblemError as error:
            raise ParameterError(with_names(str(error), names)) from error
        target = self._target(len(features))
        plan = self._plan(operator, target)
        self._warn_of_repeated_fits(counted=self.ledger is not None)
        release = nseg(
            operator,
            epsilon=self.epsilon,
            delta=target.delta,
            plan=plan,
            neighbors=self.neighbors,
            ledger=self.ledger,
            dataset=self.dataset,
            random_state=self.random_state,
            contingencies=(*leaks, *counted),
        )
        weights = release.value[: operator.n_features]
        mixture = operator.mixture(release.value)
        model = MinimaxModel(
            weights=tuple(float(w) for w in weights),
            mixture=dict(zip(names, map(float, mixture), strict=True)),
            shares=None if shares is None else dict(zip(names, map(float, shares), strict=True)),
            classes=classes,
            domain=self.domain,
            feature_norm=float(self.feature_norm),
        )
        self.release_: Release[MinimaxModel] = Release(model, release.guarantee)
        self.classes_ = label_array(classes)
        if self.domain is not None:
            self.n_features_in_ = model.n_columns
            self.feature_names_in_ = np.asarray(self.domain.columns, dtype=object)
        return self

    def decision_function(self, X: pd.DataFrame | ArrayLike) -> NDArray[np.float64]:
        """Log-odds of the positive class, shape ``(n_rows,)``."""
        check_is_fitted(self, "release_")
        return self.release_.value.log_odds(X if self.domain else self._numbers(X, reset=False))

    def predict(self, X: pd.DataFrame | ArrayLike) -> NDArray[Any]:
        """The likelier class of every row, shape ``(n_rows,)``."""
        positive = self.decision_function(X) > 0
        labels: NDArray[Any] = self.classes_[positive.astype(np.intp)]
        return labels

    def predict_proba(self, X: pd.DataFrame | ArrayLike) -> NDArray[np.float64]:
        """Probabilities of both classes, shape ``(n_rows, 2)``."""
        odds = self.decision_function(X)
        return np.exp(-np.logaddexp(0.0, np.column_stack([odds, -odds])))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.non_deterministic = self.random_state is None
        return tags

    def _features(self, X: pd.DataFrame | ArrayLike) -> NDArray[np.float64]:
        norm = checked_norm(self.feature_norm)
        if self.domain is None:
            return MinimaxModel.numeric_features(self._numbers(X, reset=True), norm)
        if not isinstance(self.domain, Domain):
            raise DomainError(
                f"domain: an oracle_dp.domain.Domain or None expected, not {self.domain!r}"
            )
        return MinimaxModel.one_hot_features(self.domain, X)

    def _numbers(self, X: Any, *, reset: bool) -> NDArray[np.float64]:
        return np.asarray(validate_data(self, X, reset=reset, dtype=np.float64))

    def _target(self, n_rows: int) -> PrivacyTarget:
        delta = small_delta(n_rows) if self.delta is None else self.delta
        return PrivacyTarget.checked(self.epsilon, delta, self.neighbors)

    def _plan(self, operator: GroupRobustLogistic, target: PrivacyTarget) -> NsegPlan:
        steps, n_rows = self.steps, operator.n_records
        if isinstance(steps, bool) or not isinstance(steps, Integral) or steps < 1:
            raise ParameterError(f"steps: a positive integer expected, not {self.steps!r}")
        full = self.batch_size is None
        plan = NsegPlan(
            sampling=Sampling.FULL if full else Sampling.POISSON,
            batch_size=n_rows if self.batch_size is None else self.batch_size,
            steps=int(steps),
            step=1.0,
            burn_in=int(steps) // 2,
            reuse=True,
        )
        schedule = plan.schedule(n_rows)
        multiplier = noise_multiplier(schedule, target)
        constants = Constants.of(operator)
        refuse_drowned(constants, schedule, multiplier * constants.noise_length)
        pair = isinstance(self.step, Sequence)
        lengths = (
            tuple(self.step) if pair else (self.step, mixture_step(operator, schedule, multiplier))
        )
        return replace(plan, step=lengths)

    def _public_classes(self, y: ArrayLike) -> tuple[tuple[Label, Label], tuple[Contingency, ...]]:
        if self.classes is not None:
            return check_classes(self.classes), ()
        seen = classes_in(y)
        if len(seen) > 2:
            raise ParameterError(
                "classes: None, and y holds more than two labels. Only binary classification is "
                "supported; pass classes=(negative, positive)"
            )
        warnings.warn(
            "classes were read from y, which reveals which labels occur: pass classes=(negative, "
            "positive)",
            PrivacyLeakWarning,
            stacklevel=3,
        )
        return check_classes(seen), (READ_CLASSES,)
