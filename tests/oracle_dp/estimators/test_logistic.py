"""The logistic estimator: every method, scikit-learn's contract, bad input before any charge."""

from __future__ import annotations

import math
import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as Plain
from sklearn.utils.estimator_checks import check_estimator

from oracle_dp import (
    Binned,
    Categorical,
    Domain,
    Ledger,
    LogisticRegression,
    ParameterError,
    PrivacyLeakWarning,
    Release,
    RepeatedFitWarning,
    opdisc,
)
from oracle_dp.errors import DomainError, OverspendError, ReleaseFormatError
from oracle_dp.estimators.linear_model import LinearModel, one_hot
from oracle_dp.estimators.logistic_methods import METHODS
from oracle_dp.ledger import Budget
from oracle_dp.privacy import ContingencyKind
from oracles.finite import FiniteTable

FAST: dict[str, dict[str, Any]] = {
    "sgd": {"steps": 5}, "minibatch": {"steps": 3}, "gd": {"steps": 20},
    "cubic": {"most_inner_steps": 20}, "opsamp": {"calls": 5},
}  # fmt: skip


def sample(n: int = 300, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(0)
    x = draws.normal(size=(n, d)) / 3
    return x, np.where(draws.random(n) < expit(6 * x[:, 0] - 1), "yes", "no")


def classifier(**changes: Any) -> LogisticRegression:
    settings = {"classes": ("no", "yes"), "random_state": 1, **changes}
    method = settings.get("method", "objective_gaussian")
    return LogisticRegression(**{"options": FAST.get(method), **settings})


@pytest.mark.filterwarnings("ignore::oracle_dp.PrivacyLeakWarning")
@pytest.mark.filterwarnings("ignore::oracle_dp.RepeatedFitWarning")
def test_scikit_learns_own_checks_pass_with_defaults() -> None:
    results = check_estimator(LogisticRegression(), on_skip=None)  # Raises the first failure.
    unpassed = {result["check_name"] for result in results if result["status"] != "passed"}
    # Skipped by scikit-learn itself unless SCIPY_ARRAY_API is set.
    assert unpassed <= {"check_array_api_input"}
    assert len(results) > 50


@pytest.mark.parametrize("method", METHODS)
def test_a_private_number_of_rows_is_never_counted(method) -> None:
    x, y = sample(150)  # Above 100, where the default delta would tell it.
    ledger = Ledger({"d": Budget(epsilon=1, delta=1e-3, neighbors="add_remove")})
    with pytest.raises(ParameterError, match="size"):
        classifier(method=method, neighbors="add_remove", ledger=ledger, dataset="d").fit(x, y)
    assert ledger.charges == ()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("relation", ["replace", "zero_out", "add_remove"])
def test_every_method_trains_and_charges_once(method, relation) -> None:
    x, y = sample()
    ledger = Ledger({"d": Budget(epsilon=1, delta=1e-3, neighbors=relation)})
    fitted = classifier(
        method=method, neighbors=relation, size=300, ledger=ledger, dataset="d"
    ).fit(x, y)
    guarantee = fitted.release_.guarantee
    assert guarantee.neighbors.value == relation
    assert guarantee.epsilon == 1
    assert guarantee.delta == (0 if method == "objective" else pytest.approx(300**-2))
    assert len(ledger.charges) == 1
    proba = fitted.predict_proba(x)
    assert np.allclose(proba.sum(axis=1), 1)
    assert (fitted.predict(x) == fitted.classes_[np.argmax(proba, axis=1)]).all()
    assert np.allclose(proba[:, 1], expit(fitted.decision_function(x)))
    again = Release.from_json(fitted.release_.to_json())
    assert np.allclose(again.value.margins(x), fitted.decision_function(x))
    with pytest.warns(RepeatedFitWarning, match="ledger counts"), pytest.raises(OverspendError):
        clone(fitted).fit(x, y)


@pytest.mark.parametrize("method", ["objective_gaussian", "newton", "gd", "damped", "objective"])
def test_without_noise_to_speak_of_it_is_plain_logistic_regression(method) -> None:
    x, y = sample(2000)
    x /= np.maximum(1, np.linalg.norm(x, axis=1))[:, None]
    steps = {"newton": {"steps": 400}, "gd": {"steps": 5000}, "damped": {"steps": 40}}
    fitted = classifier(method=method, epsilon=1e6, options=steps.get(method)).fit(x, y)
    plain = Plain(C=1e9, tol=1e-10, max_iter=1000).fit(x, y)
    assert fitted.coef_ == pytest.approx(plain.coef_, abs=0.02)
    assert fitted.intercept_ == pytest.approx(plain.intercept_, abs=0.02)


@pytest.mark.parametrize("bound", [0.2, 1.0, 100.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_units_are_those_of_the_columns(bound, intercept) -> None:
    x, y = sample(2000)
    x *= bound / np.linalg.norm(x, axis=1).max()
    fitted = classifier(
        epsilon=1e6, feature_bound=bound, fit_intercept=intercept, keep_diagnostics=True
    ).fit(x, y)
    plain = Plain(C=1e12, fit_intercept=intercept, tol=1e-10, max_iter=5000).fit(x, y)
    assert fitted.coef_ * bound == pytest.approx(plain.coef_ * bound, rel=0.01, abs=0.05)
    assert fitted.diagnostics_["clipped_rows"] <= 1
    assert (fitted.intercept_ == 0) != intercept


def test_rows_above_the_bound_are_clipped_in_both_places() -> None:
    x, y = sample()
    far = np.vstack([x, [[1e6, 0, 0]]])
    fitted = classifier(keep_diagnostics=True).fit(far, [*y, "yes"])
    assert fitted.diagnostics_["clipped_rows"] == 1 + (np.linalg.norm(x, axis=1) > 1).sum()
    assert fitted.decision_function([[1e6, 0, 0]]) == pytest.approx(
        fitted.decision_function([[1.0, 0, 0]])
    )
    assert "clipped_rows" not in fitted.release_.to_json()
    assert not hasattr(classifier().fit(x, y), "diagnostics_")


def test_sparse_rows_give_the_same_model() -> None:
    x, y = sample()
    x[np.abs(x) < 0.2] = 0
    dense, sparse = classifier().fit(x, y), classifier().fit(sp.csr_array(x), y)
    assert sparse.coef_ == pytest.approx(dense.coef_, rel=1e-6)
    assert sparse.predict_proba(sp.csr_array(x)) == pytest.approx(dense.predict_proba(x))


def test_names_of_columns_are_kept_and_checked() -> None:
    x, y = sample()
    frame = pd.DataFrame(x, columns=["a", "b", "c"])
    fitted = classifier().fit(frame, y)
    assert fitted.release_.value.columns == ("a", "b", "c")
    assert str(fitted.release_.value).startswith("a ")
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame[["b", "a", "c"]])


def test_classes_read_from_the_labels_warn_and_are_recorded() -> None:
    x, y = sample()
    with pytest.warns(PrivacyLeakWarning):
        fitted = classifier(classes=None).fit(x, y)
    kinds = {c.kind for c in fitted.release_.guarantee.contingencies}
    assert ContingencyKind.LEAKED_PARAMETER in kinds
    assert list(fitted.classes_) == ["no", "yes"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier().fit(x, y)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([[0.1, 0.2]], ["yes"]), (np.ones((20, 2)), ["yes", "no"] * 10),
        (np.eye(8)[:4], ["no"] * 4), (np.zeros((5, 1)), ["yes"] * 5),
    ],
    ids=["n=1", "constant columns", "one class and d > n", "zeros"],
)  # fmt: skip
@pytest.mark.parametrize("method", METHODS)
def test_odd_data_train(method, x, y) -> None:
    fitted = classifier(method=method).fit(np.asarray(x), y)
    assert np.isfinite(fitted.predict_proba(np.asarray(x))).all()


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([[math.nan, 1], [0, 1]], ["yes", "no"]), ([[math.inf, 1], [0, 1]], ["yes", "no"]),
        ([[1.0], [2.0]], ["yes"]), ([[1.0], [2.0]], ["yes", "maybe"]),
        ([["12.5x"], ["2"]], ["yes", "no"]), ([[1e200], [2.0]], ["yes", "no"]),
        ([0.73915, 1.0], ["yes", "no"]), (0.73915, ["yes"]), (np.array([[0.73915 + 1j]]), ["yes"]),
        (np.empty((0, 2)), []),
    ],
)  # fmt: skip
def test_data_that_do_not_fit_are_refused_before_any_charge(x, y) -> None:
    ledger = Ledger({"d": Budget(epsilon=1, delta=1e-3)})
    with pytest.raises(DomainError) as caught:
        classifier(ledger=ledger, dataset="d").fit(x, y)
    told = repr(caught.value) + repr(caught.value.__cause__) + repr(caught.value.__context__)
    assert "maybe" not in told
    assert "12.5x" not in told
    assert "0.73915" not in told
    assert ledger.charges == ()


@pytest.mark.parametrize(
    "change",
    [
        {"method": "lbfgs"}, {"method": None}, {"options": {"no": 1}}, {"options": 3},
        {"feature_bound": 0.0}, {"feature_bound": math.inf}, {"epsilon": 0}, {"delta": 2.0},
        {"neighbors": "add_remove"}, {"size": 0}, {"classes": ("a",)}, {"random_state": -1},
        {"method": "newton", "options": {"gradient_share": 1.0}},
        {"method": "newton", "options": {"steps": 0}},
        {"method": "opsamp", "options": {"radius": math.inf}},
        {"method": "objective", "delta": 1e-6},
    ],
)  # fmt: skip
def test_bad_parameters_are_refused_before_any_charge(change) -> None:
    x, y = sample(40)
    ledger = Ledger({"d": Budget(epsilon=9, delta=1e-3)})
    with pytest.raises(ParameterError):
        LogisticRegression(
            **{"classes": ("no", "yes"), "ledger": ledger, "dataset": "d", **change}
        ).fit(x, y)
    assert ledger.charges == ()


def test_no_rows_are_ordinary_data_where_their_number_is_private() -> None:
    fitted = classifier(neighbors="add_remove", size=50).fit(np.empty((0, 2)), [])
    assert np.isfinite(fitted.predict_proba([[0.1, 0.2]])).all()


def test_no_labels_are_refused() -> None:
    with pytest.raises(DomainError, match="target y is None"):
        classifier().fit([[1.0]], None)  # on purpose


def test_a_fitted_classifier_pickles_without_data() -> None:
    x, y = sample(5000)
    saved = pickle.dumps(classifier().fit(x, y))
    assert len(saved) < 5000
    assert (pickle.loads(saved).predict(x[:9]) == classifier().fit(x, y).predict(x[:9])).all()


def test_opsamp_says_when_it_is_useless() -> None:
    x, y = sample()
    fitted = classifier(method="opsamp").fit(x, y)
    assert "USELESS AT THIS SIZE" in str(fitted.release_)
    assert Release.from_json(fitted.release_.to_json()).value.note == fitted.release_.value.note


def test_a_damaged_model_is_refused() -> None:
    model = LinearModel(np.ones(2), 0.0, 1.0, ("a", "b"), ("x", "y"))
    description = model.to_dict()
    assert str(LinearModel.from_dict(description)) == str(model)
    for change in ({"coefficients": [math.nan, 1]}, {"feature_bound": 0}, {"columns": ["x"]}):
        with pytest.raises((ReleaseFormatError, ParameterError)):
            LinearModel.from_dict({**description, **change})
    with pytest.raises(ReleaseFormatError):
        LinearModel.from_dict({})


DOMAIN = Domain([Categorical("sex", ("f", "m")), Binned("age", (30, 50))])


def people(n: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    draws = np.random.default_rng(3)
    frame = pd.DataFrame({"age": draws.integers(18, 80, n), "sex": draws.choice(["f", "m"], n)})
    return frame, np.where((frame["age"] > 50) & (frame["sex"] == "m"), "yes", "no")


def test_a_domain_makes_columns_of_levels() -> None:
    frame, y = people()
    fitted = classifier(domain=DOMAIN, epsilon=50).fit(frame, y)
    model = fitted.release_.value
    assert model.columns == tuple(f"{a.name}={label}" for a in DOMAIN for label in a.labels)
    assert model.coefficients.shape == (5,)
    assert list(fitted.feature_names_in_) == ["sex", "age"]
    again = Release.from_json(fitted.release_.to_json()).value
    assert (again.predict(frame) == fitted.predict(frame)).all()
    assert (fitted.predict(frame) == y).mean() > 0.75
    # Rows are ones at their levels: all of the same norm, whatever the bound.
    hot = one_hot(DOMAIN, frame).toarray()
    assert (hot.sum(axis=1) == 2).all()
    assert (hot[:, :2].argmax(axis=1) == DOMAIN.encode(frame)[:, 0]).all()
    assert (hot[:, 2:].argmax(axis=1) == DOMAIN.encode(frame)[:, 1]).all()


def test_rows_outside_the_domain_are_refused_before_any_charge() -> None:
    frame, y = people()
    frame.loc[3, "sex"] = "c4n4ry"
    ledger = Ledger({"d": Budget(epsilon=1, delta=1e-3)})
    with pytest.raises(DomainError, match="sex") as caught:
        classifier(domain=DOMAIN, ledger=ledger, dataset="d").fit(frame, y)
    assert "c4n4ry" not in str(caught.value)
    assert ledger.charges == ()
    with pytest.raises(DomainError, match="domain"):
        classifier(domain=[1]).fit(frame, y)


def test_tuning_inside_the_budget() -> None:
    """As docs/logistic.md says: candidates on one part of the rows, the choice on the other."""
    x, y = sample(4000)
    train, held = np.arange(0, 3000), np.arange(3000, 4000)
    ledger = Ledger({"train": Budget(epsilon=1, delta=1e-3), "held": Budget(epsilon=1)})
    bounds = (0.1, 1.0)
    candidates = [
        classifier(epsilon=0.5, feature_bound=b, ledger=ledger, dataset="train").fit(
            x[train], y[train]
        )
        for b in bounds
    ]
    errors = [int((c.predict(x[held]) != y[held]).sum()) for c in candidates]
    chosen = opdisc(
        FiniteTable(errors), epsilon=1, sensitivity=2, ledger=ledger, dataset="held",
        random_state=1,
    )  # fmt: skip
    assert chosen.value[0] in (0, 1)
    assert ledger.remaining("train")[0] == ledger.remaining("held")[0] == 0
