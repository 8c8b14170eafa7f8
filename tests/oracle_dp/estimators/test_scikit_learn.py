"""The classifier as a scikit-learn user expects it: contract, tables of every kind, searches."""

from __future__ import annotations

import pickle
import traceback
import warnings
from decimal import Decimal
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import DataConversionWarning, FitFailedWarning, SkipTestWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from oracle_dp import (
    Binned,
    Categorical,
    ColumnTypeError,
    Domain,
    DomainError,
    Ledger,
    LedgerError,
    OverspendError,
    PrivacyLeakWarning,
    RepeatedFitWarning,
    ZeroOneClassifier,
)
from oracle_dp.estimators.default_domain import EDGES, MAX_COLUMNS, SCHEMA
from oracle_dp.privacy import ContingencyKind

SURELY = 1e6
"""An epsilon at which no noise is drawn that could change an optimum, short of once in e^6000."""

GENERATOR = np.random.default_rng(0)
X = np.round(GENERATOR.normal(size=(60, 3)), 2)
Y = (X[:, 1] >= 0).astype(int)
NAMES = ["age", "income", "height"]
FRAME = pd.DataFrame(X, columns=NAMES)
HOLED = np.where(X > 1, np.nan, X)
CANARY = "c4n4ry"

ARROW = pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")


def classifier(**changes: Any) -> ZeroOneClassifier:
    return ZeroOneClassifier(**{"classes": (0, 1), "epsilon": SURELY, **changes})


def refused(rows: Any, error: type[Exception], message: str, **changes: Any) -> None:
    """``fit`` refuses with this error, charges nothing, and shows no value."""
    ledger = Ledger({"survey": 10})
    estimator = classifier(epsilon=1, ledger=ledger, dataset="survey", **changes)
    with pytest.raises(error, match=message) as caught:
        estimator.fit(rows, Y[: len(X)])
    assert ledger.charges == ()
    assert not hasattr(estimator, "release_")
    assert not hasattr(estimator, "n_features_in_")
    assert CANARY not in "".join(traceback.format_exception(caught.value))


# -- the contract ------------------------------------------------------------------------------


@pytest.mark.filterwarnings(
    # Raised here as by any user who gives no classes and copies estimators.
    f"ignore::{PrivacyLeakWarning.__module__}.{PrivacyLeakWarning.__name__}",
    f"ignore::{RepeatedFitWarning.__module__}.{RepeatedFitWarning.__name__}",
    f"ignore::{SkipTestWarning.__module__}.{SkipTestWarning.__name__}",
)
def test_scikit_learn_s_own_checks_pass() -> None:
    results = check_estimator(ZeroOneClassifier())  # Raises the first failure.
    unpassed = {result["check_name"] for result in results if result["status"] != "passed"}
    # Skipped by scikit-learn itself unless SCIPY_ARRAY_API is set.
    assert unpassed <= {"check_array_api_input"}
    assert len(results) > 50


def test_tags() -> None:
    tags = get_tags(ZeroOneClassifier())
    assert tags.estimator_type == "classifier"
    assert tags.classifier_tags.multi_class
    assert not tags.classifier_tags.poor_score
    assert tags.input_tags.sparse
    assert tags.input_tags.two_d_array
    refuses = tags.input_tags
    assert [refuses.string, refuses.categorical, refuses.allow_nan] == [False] * 3
    assert get_tags(classifier(domain=Domain([Binned("a", EDGES)]))).input_tags.string


def test_sample_weights_are_refused_and_never_ignored() -> None:
    weights = np.ones(len(Y))
    with pytest.raises(TypeError, match="sample_weight"):
        classifier().fit(X, Y, sample_weight=weights)  # What is tested.
    with sklearn.config_context(enable_metadata_routing=True):
        assert not hasattr(classifier(), "set_fit_request")
        with pytest.raises(TypeError, match="sample_weight"):
            make_pipeline(classifier()).fit(X, Y, sample_weight=weights)


def test_a_column_of_labels_is_read_with_a_warning() -> None:
    with pytest.warns(DataConversionWarning, match="column-vector") as caught:
        fitted = classifier(random_state=1).fit(X, Y.reshape(-1, 1))
    assert caught[0].filename == __file__
    assert fitted.release_ == classifier(random_state=1).fit(X, Y).release_


# -- the domain that stands in -----------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1, SURELY])
def test_without_a_domain_numbers_are_cut_at_public_constants(epsilon: float) -> None:
    stated = Domain([Binned(name, (-1, 0, 1)) for name in NAMES])
    for seed in range(5):
        short = classifier(epsilon=epsilon, random_state=seed).fit(FRAME, Y)
        long = classifier(epsilon=epsilon, random_state=seed, domain=stated, max_attributes=2).fit(
            FRAME, Y
        )
        assert short.release_.value == long.release_.value
        # Two columns at most, and more if one asks.
        assert sum(map(any, short.release_.value.points)) <= 2
    wider = classifier(epsilon=0.01, max_attributes=3, random_state=2).fit(FRAME, Y)
    assert all(map(any, wider.release_.value.points))


def test_the_domain_that_stands_in_does_not_depend_on_the_rows() -> None:
    domains = {
        repr(
            classifier(epsilon=1).fit(rows, np.resize(Y, len(rows))).release_.value.domain.to_dict()
        )
        for rows in (FRAME, FRAME * 1e6 - 3, FRAME.iloc[:1], FRAME.iloc[:0], FRAME * 0)
    }
    assert len(domains) == 1


def test_what_is_taken_to_be_public_is_a_condition_and_no_leak() -> None:
    fitted = classifier(epsilon=1).fit(FRAME, Y)
    conditions = fitted.release_.guarantee.contingencies
    assert SCHEMA in conditions
    assert ContingencyKind.LEAKED_PARAMETER not in {c.kind for c in conditions}
    assert "public constants -1, 0, 1" in " ".join(str(fitted.release_).split())
    stated = classifier(domain=Domain([Binned("age", (0,))])).fit(FRAME, Y)
    assert SCHEMA not in stated.release_.guarantee.contingencies


def test_as_many_columns_as_are_allowed_are_searched_and_no_more() -> None:
    wide = np.tile(X, MAX_COLUMNS)[:, :MAX_COLUMNS]
    fitted = classifier(epsilon=1).fit(wide, Y)
    assert fitted.n_features_in_ == MAX_COLUMNS == 45
    assert sum(map(any, fitted.release_.value.points)) <= 2
    refused(np.hstack([wide, X[:, :1]]), DomainError, "46 columns; without a domain at most 45")


NUMBERS: dict[str, Any] = {
    "float32": FRAME.astype("float32"),
    "nullable": FRAME.astype("Float64"),
    "object": FRAME.astype(object),
    "decimals": FRAME.map(lambda value: Decimal(str(value))),
    "sparse columns": FRAME.astype(pd.SparseDtype("float64", 0.0)),
    "numbered columns": FRAME.set_axis(range(3), axis=1),
    "odd index": FRAME.set_axis([7] * len(FRAME)),
    "array": X,
    "Fortran": np.asfortranarray(X),
    "object array": X.astype(object),
    "lists": X.tolist(),
}


@pytest.mark.parametrize("kind", [*NUMBERS, pytest.param("Arrow", marks=ARROW)])
def test_numbers_of_every_type_are_the_same_data(kind: str) -> None:
    rows = FRAME.astype("double[pyarrow]") if kind == "Arrow" else NUMBERS[kind]
    fitted = classifier(random_state=3, epsilon=1).fit(rows, Y)
    expected = classifier(random_state=3, epsilon=1).fit(X, Y)
    assert fitted.release_.value.points == expected.release_.value.points
    assert (fitted.predict(rows) == expected.predict(X)).all()
    assert fitted.score(rows, Y) == expected.score(X, Y)
    assert (fitted.decision_function(rows) == expected.decision_function(X)).all()


@pytest.mark.parametrize("dtype", ["bool", "boolean", pd.SparseDtype(bool)], ids=str)
def test_booleans_have_their_two_levels(dtype: Any) -> None:
    rows = pd.DataFrame({"member": (Y == 1), "other": Y * 0}).astype({"member": dtype})
    fitted = classifier().fit(rows, Y)
    assert fitted.release_.value.domain["member"].labels == ("False", "True")
    assert fitted.score(rows, Y) == 1
    plain = classifier().fit(rows[["member"]].to_numpy(dtype=bool), Y)
    assert plain.release_.value.domain.names == ("x0",)
    assert (plain.predict(np.array([[False], [True]])) == [0, 1]).all()


def with_column(values: Any, dtype: Any) -> pd.DataFrame:
    return FRAME.assign(group=pd.Series(values, dtype=dtype))


TEXTS = ["a", CANARY] * 30
KINDS = [
    with_column(TEXTS, object),
    with_column(TEXTS, "string"),
    with_column(TEXTS, "category"),
    with_column(TEXTS, pd.CategoricalDtype(["a", CANARY, "never"])),
    with_column([1, 2] * 30, "category"),
    with_column([True, False] * 30, "category"),
    with_column([1.5, CANARY] * 30, object),
    with_column([1, {CANARY: 1}] * 30, object),
    with_column([1, True] * 30, object),
    with_column(pd.to_datetime([1, 2] * 30), None),
    with_column(pd.to_timedelta([1, 2] * 30), None),
]


NEEDS_DOMAIN = r"'group': without a domain .*Categorical\('group'"


@pytest.mark.parametrize("number", range(len(KINDS)))
def test_other_types_need_a_domain(number: int) -> None:
    refused(KINDS[number], ColumnTypeError, NEEDS_DOMAIN)


@ARROW
@pytest.mark.parametrize("dtype", ["string[pyarrow]", "large_string[pyarrow]"])
def test_text_of_arrow_needs_a_domain(dtype: str) -> None:
    refused(with_column(TEXTS, dtype), ColumnTypeError, NEEDS_DOMAIN)


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (np.array([TEXTS]).T, ColumnTypeError, "'x0': without a domain"),
        (np.array([TEXTS], dtype=object).T, ColumnTypeError, "'x0': without a domain"),
        ([[text] for text in TEXTS], ColumnTypeError, "'x0': without a domain"),
        (X + 1j, DomainError, "Complex data not supported"),
        (X[:, 0], DomainError, "Reshape your data"),
        (pd.Series(TEXTS), DomainError, "Reshape your data"),
        (CANARY, DomainError, "Reshape your data"),
        (X[:, :, np.newaxis], DomainError, "Reshape your data"),
        ([[1.0], [1.0, 2.0]], DomainError, "two dimensions expected"),
        (X[:, :0], DomainError, r"0 feature\(s\)"),
        (HOLED, DomainError, r"missing values \(NaN"),
        (np.where(X > 1, np.inf, X), DomainError, "infinite"),
        (FRAME.where(FRAME < 1), DomainError, r"missing values \(NaN"),
        (FRAME.set_axis(["a", "a", "b"], axis=1), DomainError, "'a' occurs more than once"),
        (FRAME.set_axis(["a", "", "b"], axis=1), DomainError, "non-empty string"),
        (FRAME.set_axis(["a", 1, "b"], axis=1), TypeError, "string"),
    ],
    ids=lambda x: str(x)[:20],
)
def test_tables_that_are_none(rows: Any, error: type[Exception], message: str) -> None:
    refused(rows, error, message)


def test_columns_at_prediction_are_those_at_fit() -> None:
    fitted = classifier().fit(FRAME, Y)
    assert fitted.feature_names_in_.tolist() == NAMES
    for rows in (FRAME[NAMES[::-1]], FRAME[NAMES[:2]], FRAME.rename(columns={"age": "Age"})):
        for ask in (fitted.predict, fitted.decision_function, lambda r: fitted.score(r, Y)):
            with pytest.raises(ValueError, match="feature names should match"):
                ask(rows)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert (fitted.predict(X) == fitted.predict(FRAME)).all()
    # A refused fit leaves the columns of the model that is kept.
    with pytest.raises(ColumnTypeError):
        fitted.fit(KINDS[0], Y)
    assert fitted.score(FRAME, Y) == 1
    fitted.fit(X[:, :2], Y)
    assert fitted.n_features_in_ == 2
    assert not hasattr(fitted, "feature_names_in_")
    with pytest.raises(ValueError, match="X has 3 features"):
        fitted.predict(X)
    # What was fitted counts, not what a parameter says since.
    fitted.set_params(domain=Domain([Binned("age", (0,))]))
    assert fitted.predict(X[:, :2]).shape == Y.shape


def test_a_pickle_holds_no_data() -> None:
    secret = 123456.789012
    rows = FRAME.assign(age=[secret, *X[1:, 0]]).set_axis([CANARY, *range(1, len(X))])
    fitted = classifier(epsilon=1).fit(rows, Y)
    raw = pickle.dumps(fitted)
    assert CANARY.encode() not in raw
    assert str(secret).encode() not in raw
    for dtype in ("<f8", ">f8", "<f4"):
        assert np.array(secret, dtype=dtype).tobytes() not in raw
    back = pickle.loads(raw)
    assert (back.predict(FRAME) == fitted.predict(FRAME)).all()
    assert back.release_ == fitted.release_
    more = classifier(epsilon=1).fit(pd.concat([rows] * 50), np.tile(Y, 50))
    assert abs(len(pickle.dumps(more)) - len(raw)) < 200


# -- sparse tables -----------------------------------------------------------------------------

ZEROS = np.where(np.abs(X) < 1, 0, X)
FORMATS = ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "domain", [None, Domain([Binned(f"x{j}", (-1.5, 0, 0.5)) for j in range(3)])]
)
def test_a_sparse_table_is_the_dense_one(form: str, domain: Domain | None) -> None:
    dense = classifier(domain=domain, random_state=5, epsilon=1).fit(ZEROS, Y)
    for rows in (sparse.coo_array(ZEROS).asformat(form), sparse.coo_matrix(ZEROS).asformat(form)):
        fitted = classifier(domain=domain, random_state=5, epsilon=1).fit(rows, Y)
        assert fitted.release_ == dense.release_
        assert (fitted.predict(rows) == dense.predict(ZEROS)).all()


def test_sparse_tables_that_do_not_fit() -> None:
    refused(sparse.csr_array(HOLED), DomainError, r"\(NaN")
    refused(sparse.csr_array(X + 1j), DomainError, "Complex data not supported")
    refused(sparse.csr_array(np.zeros((60, 46))), DomainError, "46 columns")
    two = Domain([Binned("a", (0,)), Binned("b", (0,))])
    refused(sparse.csr_array(X), DomainError, "need 2 columns", domain=two)
    fitted = classifier().fit(sparse.csr_array(X), Y)
    with pytest.raises(ValueError, match="X has 2 features"):
        fitted.predict(sparse.csr_array(X[:, :2]))


# -- pipelines ---------------------------------------------------------------------------------

PEOPLE = pd.DataFrame(
    {"sex": ["Female", "Male"] * 30, "income": X[:, 1] * 900 + 3000, "id": X[:, 0]}
)
SEX = Categorical("sex", ("Female", "Male"))


@pytest.mark.parametrize(
    "dtype",
    [object, "str", "string", "category", pytest.param("string[pyarrow]", marks=ARROW)],
    ids=str,
)
def test_categories_of_every_type_with_a_domain(dtype: Any) -> None:
    domain = Domain([SEX, Binned("income", (3000,))])
    rows = PEOPLE.astype({"sex": dtype})
    fitted = classifier(domain=domain, random_state=1).fit(rows, Y)
    assert fitted.release_ == classifier(domain=domain, random_state=1).fit(PEOPLE, Y).release_
    assert fitted.score(rows, Y) == 1
    assert (fitted.n_features_in_, list(fitted.feature_names_in_)) == (2, ["sex", "income"])


@pytest.mark.parametrize("output", ["pandas", "default"])
def test_the_last_step_behind_a_column_transformer(output: Any) -> None:
    scale = FunctionTransformer(lambda column: (column - 3000) / 900)  # Public constants.
    columns = make_column_transformer(
        ("passthrough", ["sex"]), (scale, ["income"]), verbose_feature_names_out=False
    )
    domain = Domain([SEX, Binned("income", (-1, 0, 1))])
    pipeline = make_pipeline(columns, classifier(domain=domain)).set_output(transform=output)
    pipeline.fit(PEOPLE, Y)
    assert pipeline.score(PEOPLE, Y) == 1
    assert pipeline.predict(PEOPLE.iloc[:3]).tolist() == Y[:3].tolist()
    assert pickle.loads(pickle.dumps(pipeline[-1])).release_ == pipeline[-1].release_


@pytest.mark.parametrize("output", ["pandas", "default"])
def test_the_last_step_behind_a_scaler_without_a_domain(output: Any) -> None:
    pipeline = make_pipeline(StandardScaler(with_mean=False), classifier())
    pipeline.set_output(transform=output).fit(FRAME, Y)
    assert pipeline.score(FRAME, Y) == 1
    assert hasattr(pipeline[-1], "feature_names_in_") == (output == "pandas")


# -- searches spend on every fit ---------------------------------------------------------------


def test_cross_validation_is_charged_for_every_fold_and_warns_once() -> None:
    ledger = Ledger({"survey": 1})
    estimator = classifier(epsilon=0.1, ledger=ledger, dataset="survey")
    with pytest.warns(RepeatedFitWarning, match="the ledger counts them") as caught:
        cross_val_score(estimator, X, Y, cv=5, error_score="raise")
    assert [w.category for w in caught].count(RepeatedFitWarning) == 1
    assert len(ledger.charges) == 5
    assert ledger.remaining("survey") == (Fraction(1, 2), 0)


def test_a_grid_search_is_charged_for_every_fit_until_the_budget_is_spent() -> None:
    ledger = Ledger({"survey": 1})
    search = GridSearchCV(
        make_pipeline(classifier(epsilon=0.1, ledger=ledger, dataset="survey")),
        {"zerooneclassifier__weights": [(0, 1), (-1, 0, 1)]},
        cv=2,
        error_score="raise",
    )
    with pytest.warns(RepeatedFitWarning):
        search.fit(X, Y)
    assert len(ledger.charges) == 2 * 2 + 1
    for _ in range(5):
        search.best_estimator_.fit(X, Y)
    with pytest.raises(OverspendError):
        search.best_estimator_.fit(X, Y)
    assert ledger.remaining("survey") == (0, 0)


def test_an_overspend_in_a_search_is_a_missing_score_by_default() -> None:
    ledger = Ledger({"survey": 0.2})
    estimator = classifier(epsilon=0.1, ledger=ledger, dataset="survey")
    with pytest.warns(FitFailedWarning, match="OverspendError"), pytest.warns(RepeatedFitWarning):
        scores = cross_val_score(estimator, X, Y, cv=5)
    assert np.isnan(scores).tolist() == [False, False, True, True, True]
    assert len(ledger.charges) == 2


def test_threads_are_counted_and_processes_refused() -> None:
    ledger = Ledger({"survey": 1})
    estimator = classifier(epsilon=0.1, ledger=ledger, dataset="survey")
    with joblib.parallel_config(backend="threading"), pytest.warns(RepeatedFitWarning):
        cross_val_score(estimator, X, Y, cv=5, n_jobs=2, error_score="raise")
    assert len(ledger.charges) == 5
    # loky's own error names the ledger's as its cause.
    with pytest.raises((pickle.PicklingError, LedgerError)) as caught:
        cross_val_score(estimator, X, Y, cv=5, n_jobs=2)
    assert "cannot be saved or sent to another process" in "".join(
        traceback.format_exception(caught.value)
    )
    assert len(ledger.charges) == 5


def test_a_fit_stopped_by_the_warning_is_not_charged() -> None:
    ledger = Ledger({"survey": 1})
    estimator = classifier(epsilon=0.1, ledger=ledger, dataset="survey").fit(X, Y)
    with pytest.raises(RepeatedFitWarning):  # Warnings are errors in these tests.
        clone(estimator).fit(X, Y)
    assert len(ledger.charges) == 1


def test_the_warning_is_about_copies_only_and_without_a_ledger_says_so() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = classifier().fit(X, Y).fit(X, Y)
        clone(first)
        classifier().fit(X, Y)
        pickle.loads(pickle.dumps(first)).fit(X, Y)
    with pytest.warns(RepeatedFitWarning, match="no ledger counts them; pass one") as caught:
        clone(first).fit(X, Y)
    assert caught[0].filename == __file__
    clone(first).fit(X, Y)  # Warned of already.


def test_an_ensemble_of_copies_spends_for_each() -> None:
    ledger = Ledger({"survey": 1})
    estimator = classifier(epsilon=0.1, ledger=ledger, dataset="survey")
    with pytest.warns(RepeatedFitWarning):
        # Rows drawn as they are: bootstrap by weights would need sample_weight.
        BaggingClassifier(estimator, n_estimators=3, random_state=0).fit(X, Y)
    assert len(ledger.charges) == 3
