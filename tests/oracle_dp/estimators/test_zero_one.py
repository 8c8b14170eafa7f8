"""The classifier: what it accepts, refuses, releases, spends, and never shows."""

from __future__ import annotations

import copy
import itertools
import json
import math
import pickle
import traceback
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from oracle_dp import (
    Binned,
    Budget,
    Categorical,
    ColumnTypeError,
    Domain,
    DomainError,
    Ledger,
    LedgerError,
    Neighbors,
    OverspendError,
    ParameterError,
    PrivacyLeakWarning,
    Release,
    RepeatedFitWarning,
    ScoringCard,
    UncertifiedError,
    ZeroOneClassifier,
)
from oracle_dp.noise import SeededBits
from oracle_dp.privacy import Contingency, ContingencyKind
from oracles import Limits, ProblemError

DOMAIN = Domain([Categorical("sex", ("Female", "Male")), Binned("age", (30, 40))])
CLASSES = ("no", "yes")
X = pd.DataFrame({"sex": ["Female", "Male"] * 6, "age": [20, 30, 50] * 4})
Y = np.array(["no", "yes", "yes", "no"] * 3)

SURELY = 1e6
"""An epsilon at which no noise is drawn that could change an optimum, short of once in e^6000."""


def classifier(**changes: Any) -> ZeroOneClassifier:
    return ZeroOneClassifier(**{"domain": DOMAIN, "classes": CLASSES, **changes})


def kinds(fitted: ZeroOneClassifier) -> set[ContingencyKind]:
    return {c.kind for c in fitted.release_.guarantee.contingencies}


# -- what is learned ---------------------------------------------------------------------------


def fewest_errors(codes: np.ndarray, positive: np.ndarray, weights: tuple[int, ...]) -> int:
    """The smallest number of errors of any card, by trying all."""
    fewest = len(codes)
    for points in itertools.product(weights, repeat=sum(DOMAIN.levels)):
        totals = np.array(points)[codes[:, 0]] + np.array(points)[2 + codes[:, 1]]
        fewest = min(fewest, int(((totals >= 1) != positive).sum()))
    return fewest


@pytest.mark.parametrize("neighbors", ["replace", "add_remove", "zero_out"])
@pytest.mark.parametrize("weights", [(-1, 0, 1), (2, 0, -1), (0, 1)], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_without_noise_the_card_has_the_fewest_errors(
    neighbors: str, weights: tuple[int, ...], seed: int
) -> None:
    generator = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "age": generator.choice([20, 30, 50], 40),
            "sex": generator.choice(["Female", "Male"], 40),
        }
    )
    y = generator.choice(CLASSES, 40)
    fitted = classifier(epsilon=SURELY, neighbors=neighbors, weights=weights).fit(rows, y)
    wrong = int((fitted.predict(rows) != y).sum())
    assert wrong == fewest_errors(DOMAIN.encode(rows), y == "yes", weights)
    assert {p for block in fitted.release_.value.points for p in block} <= set(weights)
    assert fitted.score(rows, y) == 1 - wrong / 40


def test_what_fit_leaves_behind() -> None:
    estimator = classifier(epsilon=0.5)
    assert estimator.fit(X, Y) is estimator
    assert isinstance(estimator.release_.value, ScoringCard)
    assert estimator.classes_.tolist() == list(CLASSES)
    assert estimator.n_features_in_ == 2
    assert estimator.feature_names_in_.tolist() == ["sex", "age"]
    guarantee = estimator.release_.guarantee
    assert (guarantee.epsilon, guarantee.delta, guarantee.rho) == (0.5, 0, 0.5**2 / 8)
    assert guarantee.is_private
    assert guarantee.sensitivity_source == "proved for the 0-1 loss"
    assert ContingencyKind.LEAKED_PARAMETER not in kinds(estimator)
    assert Release.from_json(estimator.release_.to_json()) == estimator.release_
    fitted = {name for name in vars(estimator) if name.endswith("_")}
    assert fitted == {"release_", "classes_", "n_features_in_", "feature_names_in_"}


@pytest.mark.parametrize(
    ("relation", "sensitivity"),
    [("replace", 2), ("add_remove", 1), ("zero_out", 1), (Neighbors.ADD_REMOVE, 1)],
    ids=str,
)
def test_the_relation_decides_the_sensitivity(relation: Any, sensitivity: int) -> None:
    guarantee = classifier(neighbors=relation).fit(X, Y).release_.guarantee
    assert guarantee.sensitivity == sensitivity
    assert guarantee.neighbors is Neighbors.parse(relation)


def test_decision_function_has_the_sign_of_the_prediction() -> None:
    fitted = classifier(epsilon=SURELY).fit(X, Y)
    margins = fitted.release_.value.margins(X)
    assert fitted.decision_function(X).tolist() == (margins - 0.5).tolist()
    assert ((fitted.decision_function(X) > 0) == (fitted.predict(X) == "yes")).all()
    assert fitted.predict(X.iloc[:0]).shape == fitted.decision_function(X.iloc[:0]).shape == (0,)
    with pytest.raises(NotFittedError):
        classifier().predict(X)
    with pytest.raises(NotFittedError):
        classifier().decision_function(X)


def test_frames_in_another_order_and_arrays_are_the_same_data() -> None:
    first = classifier(random_state=1).fit(X, Y)
    swapped = X[["age", "sex"]].assign(name="ignored")
    array = X.to_numpy(dtype=object)
    for rows in (swapped, array, array.tolist()):
        assert classifier(random_state=1).fit(rows, Y).release_ == first.release_
        assert (first.predict(rows) == first.predict(X)).all()


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 3), "1/3", "0.1", np.float64(0.1), np.float32(0.1), 10**30], ids=repr
)
def test_every_way_to_write_epsilon(epsilon: Any) -> None:
    ledger = Ledger({"survey": 10**31})
    estimator = classifier(epsilon=epsilon, ledger=ledger, dataset="survey").fit(X, Y)
    # Stated and charged: never less than what was spent, and as close as a float can be.
    spent = ledger.spent("survey")[0]
    stated = Fraction(estimator.release_.guarantee.epsilon)
    assert spent <= stated <= spent * (1 + Fraction(1, 2**51))


# -- labels ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("classes", "y"),
    [
        ((0, 1), [0, 1]),
        ((1, 0), [1, 0]),
        ((0, 1), [0.0, 1.0]),
        ((0, 1), [False, True]),
        ((-1, 1), np.array([-1, 1], dtype=np.int8)),
        ((0, 1), np.array([0, 1], dtype=np.uint64)),
        ((False, True), [False, True]),
        ((False, True), np.array([False, True])),
        (("no", "yes"), ["no", "yes"]),
        (("no", "yes"), np.array(["no", "yes"], dtype=object)),
        (("no", "yes"), pd.Series(["no", "yes"], dtype="category")),
        (("no", "yes"), pd.Series(["no", "yes"], dtype="string", index=[7, 7])),
        ((0, 1), pd.Series([0, 1], dtype="Int64")),
        ((np.int64(0), np.int64(1)), [0, 1]),
        ((np.str_("no"), np.str_("yes")), ["no", "yes"]),
        ((np.False_, np.True_), [np.False_, np.True_]),
        ((0, 1), [np.int8(0), np.float32(1)]),
        (np.array(["no", "yes"]), ["no", "yes"]),
        ([0.5, 1.5], [0.5, 1.5]),
        (("no", 1), ["no", 1]),
    ],
    ids=repr,
)
def test_classes_of_every_type(classes: Any, y: Any) -> None:
    rows = pd.DataFrame({"sex": ["Female", "Male"], "age": [20, 50]})
    fitted = classifier(epsilon=SURELY, classes=classes).fit(rows, y)
    assert fitted.predict(rows).tolist() == list(classes)
    assert set(fitted.classes_.tolist()) == set(classes)
    assert Release.from_json(fitted.release_.to_json()) == fitted.release_


def test_no_label_changes_how_another_is_read() -> None:
    # In an array of one type a text beside the number 1 would turn it into the text "1".
    for y in ([1, 1], [1, "yes"]):
        with pytest.raises(DomainError, match="not one of classes"):
            classifier(classes=("1", "yes")).fit(X.iloc[:2], y)


@pytest.mark.parametrize(
    ("rows", "y"),
    [
        (X, ["yes"] * 12),
        (X, ["no"] * 12),
        (X.iloc[:1], ["yes"]),
        (X.iloc[:0], []),
        (X.iloc[:0], np.array([], dtype=str)),
        (pd.DataFrame({"sex": [], "age": []}), pd.Series([], dtype=object)),
        (np.empty((0, 2)), []),
        (X.iloc[[0] * 12], Y),
    ],
    ids=["only yes", "only no", "one row", "no row", "no text", "empty", "no array", "one cell"],
)
@pytest.mark.parametrize("neighbors", ["replace", "add_remove"])
def test_poor_data_are_ordinary_data(rows: Any, y: Any, neighbors: str) -> None:
    for epsilon in (0.5, SURELY):
        fitted = classifier(epsilon=epsilon, neighbors=neighbors).fit(rows, y)
        assert fitted.classes_.tolist() == list(CLASSES)
        assert fitted.predict(X).shape == (12,)
        assert kinds(fitted) <= {ContingencyKind.RUNNING_TIME, ContingencyKind.ORACLE_BOUND}
    if set(y) == {"yes"}:
        assert (fitted.predict(rows) == "yes").all()


def test_rows_of_zeros_are_ordinary_data() -> None:
    domain = Domain([Binned("a", (0.5,)), Binned("b", (-1, 1))])
    fitted = classifier(epsilon=SURELY, domain=domain).fit(np.zeros((5, 2)), ["yes"] * 5)
    assert (fitted.predict(np.zeros((2, 2))) == "yes").all()


def test_classes_read_from_the_labels_warn_and_are_recorded() -> None:
    for y, read in ((Y, ["no", "yes"]), ([1, 0] * 6, [0, 1]), ([True, False] * 6, [False, True])):
        with pytest.warns(PrivacyLeakWarning, match="pass classes=") as caught:
            fitted = classifier(classes=None).fit(X, y)
        assert caught[0].filename == __file__
        assert fitted.classes_.tolist() == read
        leak = Contingency(
            ContingencyKind.LEAKED_PARAMETER, "the classes were read from the labels"
        )
        assert leak in fitted.release_.guarantee.contingencies
        assert "leaked_parameter" in str(fitted.release_)


# -- what is refused ---------------------------------------------------------------------------

CANARY = "c4n4ry"
NUMBER = 918273645


def column(name: str, value: Any) -> pd.DataFrame:
    """The rows with one value that does not belong."""
    return X.assign(**{name: [*X[name].astype(object)[:-1], value]})


PARAMETERS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"epsilon": 0}, ParameterError, "epsilon must be positive"),
    ({"epsilon": -1.0}, ParameterError, "epsilon must be positive"),
    ({"epsilon": math.nan}, ParameterError, "epsilon must be finite"),
    ({"epsilon": math.inf}, ParameterError, "epsilon must be finite"),
    ({"epsilon": None}, ParameterError, "epsilon must be"),
    ({"epsilon": True}, ParameterError, "epsilon must be"),
    ({"epsilon": "much"}, ParameterError, "epsilon must be"),
    ({"epsilon": 1e-30, "mechanism": "opdisc"}, ParameterError, "epsilon: 1e-30 is too small"),
    ({"epsilon": 10**400}, ParameterError, "epsilon: too large"),
    ({"epsilon": 1e200}, ParameterError, "epsilon: too large"),
    ({"mechanism": "laplace"}, ParameterError, "mechanism: one of 'exponential', 'opdisc'"),
    ({"mechanism": None}, ParameterError, "mechanism: one of 'exponential', 'opdisc'"),
    ({"mechanism": ["opdisc"]}, ParameterError, "mechanism: one of 'exponential', 'opdisc'"),
    ({"neighbors": "friends"}, ParameterError, "neighbors: one of"),
    ({"weights": (1, 2)}, ProblemError, "weights: distinct integers with 0"),
    ({"weights": ()}, ProblemError, "weights: distinct integers with 0"),
    ({"weights": (0, 1, 1)}, ProblemError, "weights: distinct integers with 0"),
    ({"weights": (0, 0.5)}, ParameterError, "weights: a sequence of integers"),
    ({"weights": (0, 1.0)}, ParameterError, "weights: a sequence of integers"),
    ({"weights": (False, True)}, ParameterError, "weights: a sequence of integers"),
    ({"weights": "-1,0,1"}, ParameterError, "weights: a sequence of integers"),
    ({"weights": 1}, ParameterError, "weights: a sequence of integers"),
    ({"weights": None}, ParameterError, "weights: a sequence of integers"),
    ({"weights": ((0, 1), (0,))}, ParameterError, "weights: a sequence of integers"),
    ({"weights": (0, 2**70)}, ParameterError, "weights: a total"),
    ({"domain": None}, ColumnTypeError, "column 'sex': without a domain the argument must be"),
    ({"domain": "sex"}, DomainError, "domain: a str; state the public schema"),
    ({"domain": [DOMAIN["sex"]]}, DomainError, "domain: a list; state the public schema"),
    ({"classes": ("no",)}, ParameterError, "classes: a sequence of two labels"),
    ({"classes": ("no", "yes", "no")}, ParameterError, "classes: distinct labels"),
    ({"classes": "ny"}, ParameterError, "classes: a sequence of two labels"),
    ({"classes": 2}, ParameterError, "classes: a sequence of two labels"),
    ({"classes": ("no", "no")}, ParameterError, "classes: two distinct labels"),
    ({"classes": ("no", math.nan)}, ParameterError, "classes: a label must not be NaN"),
    ({"classes": ("no", None)}, ParameterError, "classes: a label must be text"),
    ({"classes": ("no", pd.NA)}, ParameterError, "classes: a label must be text"),
    ({"limits": 5}, ParameterError, "limits: an oracles.Limits"),
    ({"limits": 0}, ParameterError, "limits: an oracles.Limits"),
    ({"random_state": -1}, ParameterError, "random_state must be"),
    ({"random_state": "seed"}, ParameterError, "random_state must be"),
    ({"random_state": np.random.default_rng(0)}, ParameterError, "NumPy Generator"),
    ({"ledger": None}, ParameterError, "ledger: needed together with dataset"),
    ({"dataset": None}, ParameterError, "dataset: needed together with ledger"),
    ({"dataset": ["survey"]}, ParameterError, "dataset: a name must be"),
    ({"dataset": "census"}, LedgerError, "no budget for 'census'"),
    ({"neighbors": "add_remove"}, LedgerError, "do not add up"),
    ({"epsilon": 11}, OverspendError, "exceeds what remains"),
]

DATA: list[tuple[Any, Any, str]] = [
    (column("sex", CANARY), Y, "column 'sex' has values outside its 2 public levels"),
    (column("sex", NUMBER), Y, "column 'sex' has values outside its 2 public levels"),
    (column("sex", math.nan), Y, "column 'sex' has missing values"),
    (column("sex", None), Y, "column 'sex' has missing values"),
    (column("age", math.nan), Y, "column 'age' has missing values"),
    (column("age", math.inf), Y, "column 'age' has infinite values"),
    (column("age", -math.inf), Y, "column 'age' has infinite values"),
    (column("age", CANARY), Y, "column 'age' must hold numbers"),
    (column("age", 10**400), Y, "column 'age' has infinite values"),
    (column("age", [CANARY]), Y, "column 'age' must hold numbers"),
    (column("sex", {CANARY: NUMBER}), Y, "column 'sex' has values outside"),
    (X.astype({"sex": "category"}).assign(age=[CANARY] * 12), Y, "column 'age' must hold"),
    (X.drop(columns="age"), Y, "column 'age' is missing"),
    (pd.concat([X, X], axis=1), Y, "column 'sex' occurs more than once"),
    (X.to_numpy(dtype=object)[:, :1], Y, "need 2 columns, in the order sex, age"),
    (X["sex"], Y, "need 2 columns"),
    ([[CANARY], [CANARY, NUMBER]], Y[:2], "need 2 columns"),
    (None, Y, "need 2 columns"),
    (X, [*Y[:-1], CANARY], "y: a label that is not one of classes"),
    (X, [*Y[:-1], NUMBER], "y: a label that is not one of classes"),
    (X, [*Y[:-1], None], "y: missing labels"),
    (X, [*Y[:-1], math.nan], "y: missing labels"),
    (X, [*Y[:-1], pd.NA], "y: missing labels"),
    (X, [*Y[:-1], [CANARY]], "y: labels must be text"),
    (X, [*Y[:-1], {CANARY: NUMBER}], "y: labels must be text"),
    (X, [*Y[:-1], CANARY.encode()], "y: labels must be text"),
    (X, [np.full((2, 2), NUMBER), np.full((2, 3), NUMBER)], "y: "),
    (X, np.full(12, 1j), "y: labels must be text"),
    (X, pd.Series(pd.to_datetime([NUMBER] * 12)), "y: labels must be text"),
    (X, Y[:-1], "X and y: different numbers of rows"),
    (X.iloc[:-1], Y, "X and y: different numbers of rows"),
    (X.iloc[:0], Y, "X and y: different numbers of rows"),
    (X, Y.reshape(-1, 2), "y: one label per row expected, got 2 dimensions"),
    (X, pd.DataFrame({"y": Y, "z": Y}), "y: one label per row expected, got 2 dimensions"),
    (X, CANARY, "y: one label per row expected, got 0 dimensions"),
    (X, None, "requires y to be passed, but the target y is None"),
]

LABELS: list[tuple[Any, type[Exception], str]] = [
    ([CANARY] * 12, ParameterError, "holds no label, or one class only"),
    ([], ParameterError, "holds no label, or one class only"),
    ([NUMBER + 0.5, 1] * 6, ParameterError, "Unknown label type: continuous"),
    ([CANARY, "b", NUMBER] * 4, ParameterError, "have no order"),
    ([CANARY, NUMBER] * 6, ParameterError, "have no order"),
    ([NUMBER, math.inf] * 6, ParameterError, "must not be NaN or infinite"),
    ([CANARY, None] * 6, DomainError, "missing labels"),
]


def refused(
    rows: Any, y: Any, error: type[Exception], message: str, settings: dict[str, Any]
) -> None:
    """``fit`` refuses with this error, charges nothing, keeps its model, and shows no value."""
    ledger = Ledger({"survey": 10})
    estimator = classifier().fit(X, Y)
    before = estimator.release_
    estimator.set_params(**{"ledger": ledger, "dataset": "survey", **settings})
    with pytest.raises(error, match=message) as caught:
        estimator.fit(rows, y)
    assert ledger.charges == ()
    assert estimator.release_ is before
    printed = "".join(traceback.format_exception(caught.value))
    for secret in (CANARY, str(NUMBER), "20", "50"):
        assert secret not in str(caught.value)
    for secret in (CANARY, str(NUMBER)):
        assert secret not in printed


@pytest.mark.parametrize(("settings", "error", "message"), PARAMETERS, ids=lambda x: str(x)[:40])
def test_a_parameter_out_of_range_is_named(
    settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    refused(X, Y, error, message, settings)


@pytest.mark.parametrize(("rows", "y", "message"), DATA, ids=[str(i) for i in range(len(DATA))])
def test_data_that_do_not_fit_are_refused_without_a_value(rows: Any, y: Any, message: str) -> None:
    refused(rows, y, DomainError, message, {})


@pytest.mark.parametrize(("y", "error", "message"), LABELS, ids=lambda x: str(x)[:40])
def test_labels_that_are_no_classes(y: Any, error: type[Exception], message: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        refused(X.iloc[: len(y)], y, error, message, {"classes": None})


def test_the_leak_warning_shows_no_label() -> None:
    with pytest.warns(PrivacyLeakWarning) as caught:
        classifier(classes=None).fit(X, [CANARY, "other"] * 6)
    assert CANARY not in str(caught[0].message)


@pytest.mark.parametrize("where", ["sex", "age"])
def test_prediction_shows_no_value(where: str) -> None:
    fitted = classifier().fit(X, Y)
    rows = column(where, CANARY)
    for ask in (fitted.predict, fitted.decision_function, lambda r: fitted.score(r, Y)):
        with pytest.raises(DomainError, match=f"column '{where}'") as caught:
            ask(rows)
        assert CANARY not in "".join(traceback.format_exception(caught.value))


def test_sample_weight_is_refused() -> None:
    with pytest.raises(TypeError, match="sample_weight"):
        classifier().fit(X, Y, sample_weight=np.ones(12))
    with pytest.raises(TypeError, match="sample_weight"):
        make_pipeline(classifier()).fit(X, Y, zerooneclassifier__sample_weight=np.ones(12))


# -- seeds -------------------------------------------------------------------------------------


def test_a_seed_reproduces_and_is_not_private() -> None:
    first, second, again = (
        classifier(epsilon=0.2, random_state=seed).fit(X, Y) for seed in (3, 3, SeededBits(3))
    )
    assert first.release_ == second.release_ == again.release_
    assert ContingencyKind.SEEDED in kinds(first)
    assert not first.release_.guarantee.is_private
    assert "NOT PRIVATE" in str(first.release_)
    cards = {
        classifier(epsilon=0.2, random_state=seed).fit(X, Y).release_.value for seed in range(8)
    }
    assert len(cards) > 1


def test_without_a_seed_runs_differ() -> None:
    # 3^5 cards at little epsilon: twelve alike would be one in 10^20.
    cards = {classifier(epsilon=0.01).fit(X, Y).release_.value for _ in range(12)}
    assert len(cards) > 1


# -- scikit-learn ------------------------------------------------------------------------------


def test_parameters_are_kept_as_given() -> None:
    given: dict[str, Any] = {
        "epsilon": 0.3,
        "mechanism": "opdisc",
        "neighbors": "add_remove",
        "weights": [0, 1],
        "domain": DOMAIN,
        "classes": ["no", "yes"],
        "ledger": Ledger({"survey": Budget(epsilon=1, neighbors="add_remove")}),
        "dataset": "survey",
        "limits": Limits(seconds=60),
        "random_state": 5,
        "sparsity": 0,
        "max_attributes": None,
        "n_best": 10,
        "sweeps": 2,
        "delta": 0,
        "lift": "one_hot",
        "noise": None,
    }
    estimator = ZeroOneClassifier(**given)
    snapshot = copy.deepcopy(given)
    estimator.fit(X, Y)
    twin = clone(estimator)
    for params in (estimator.get_params(), twin.get_params()):
        assert params == given == snapshot
    assert not hasattr(twin, "release_")
    assert twin.ledger is estimator.ledger
    with pytest.warns(RepeatedFitWarning, match="the ledger counts them"):
        twin.fit(X, Y)
    assert twin.release_ == estimator.release_
    assert twin.set_params(epsilon=0.4, weights=(-1, 0)).get_params() == {
        **given, "epsilon": 0.4, "weights": (-1, 0),
    }  # fmt: skip
    assert "epsilon=0.3" in repr(estimator)


def test_a_fit_leaves_its_data_unchanged() -> None:
    rows, y = X.copy(deep=True), Y.copy()
    classifier().fit(rows, y).predict(rows)
    pd.testing.assert_frame_equal(rows, X)
    assert (y == Y).all()


def test_last_step_of_a_pipeline() -> None:
    dirty = X.rename(columns={"sex": "SEX"})
    tidy = FunctionTransformer(lambda rows: rows.rename(columns={"SEX": "sex"}))
    pipeline = make_pipeline(tidy, classifier(epsilon=SURELY)).fit(dirty, Y)
    alone = classifier(epsilon=SURELY).fit(X, Y)
    assert (pipeline.predict(dirty) == pipeline[-1].predict(X)).all()
    assert pipeline.score(dirty, Y) == alone.score(X, Y)
    assert (pipeline.decision_function(dirty) == pipeline[-1].decision_function(X)).all()


def test_a_pickle_holds_no_data() -> None:
    rows = pd.DataFrame(
        {"sex": ["Male", "Female"], "age": [NUMBER, 31], "name": [CANARY, "x"]},
        index=[CANARY, "y"],
    )
    y = pd.Series(["yes", "no"], index=rows.index, name="l4bel")
    fitted = classifier().fit(rows, y)
    raw = pickle.dumps(fitted)
    saved = json.dumps([raw.hex(), fitted.release_.to_json()])
    for secret in (CANARY.encode(), b"l4bel", str(NUMBER).encode()):
        assert secret not in raw
        assert secret.decode() not in saved
    for size in ("<i4", "<i8", "<f8"):
        assert np.array(NUMBER, dtype=size).tobytes() not in raw
    back = pickle.loads(raw)
    assert back.release_ == fitted.release_
    assert (back.predict(X) == fitted.predict(X)).all()
    # As long whatever the number of rows, short of the words of the guarantee.
    many = classifier().fit(pd.concat([rows] * 500), pd.concat([y] * 500))
    assert abs(len(pickle.dumps(many)) - len(raw)) < 200


# -- the ledger --------------------------------------------------------------------------------


def test_a_fit_is_charged() -> None:
    ledger = Ledger({"survey": 1.0})
    estimator = classifier(epsilon=0.6, ledger=ledger, dataset="survey").fit(X, Y)
    (charge,) = ledger.charges
    assert (charge.dataset, charge.mechanism) == ("survey", "exponential")
    assert (charge.delta, charge.neighbors) == (0, Neighbors.REPLACE)
    first = estimator.release_
    with pytest.raises(OverspendError):
        estimator.fit(X, Y)
    assert ledger.charges == (charge,)
    assert estimator.release_ is first


def test_a_refused_release_is_charged_all_the_same() -> None:
    generator = np.random.default_rng(0)
    names = [f"a{i}" for i in range(8)]
    domain = Domain([Categorical(name, tuple("abcdef")) for name in names])
    rows = pd.DataFrame(generator.choice(list("abcdef"), (2000, 8)), columns=names)
    ledger = Ledger({"survey": 1.0})
    estimator = classifier(
        domain=domain,
        weights=range(-3, 4),
        limits=Limits(seconds=0.001),
        epsilon=0.6,
        ledger=ledger,
        dataset="survey",
    )
    with pytest.raises(UncertifiedError, match="budget stays charged"):
        estimator.fit(rows, generator.choice(CLASSES, 2000))
    assert len(ledger.charges) == 1
    assert not hasattr(estimator, "release_")


def test_a_limit_that_was_not_reached_is_a_condition() -> None:
    fitted = classifier(limits=Limits(seconds=600)).fit(X, Y)
    assert ContingencyKind.COMPLETION in kinds(fitted)
    assert ContingencyKind.COMPLETION not in kinds(classifier(limits=Limits(threads=1)).fit(X, Y))


@pytest.mark.parametrize(
    ("lift", "noise", "delta"),
    [("centred_binary", None, 0), ("pi", "gamma_norm", 0), ("pi", "gaussian", 1e-6)],
)
def test_opdisc_takes_a_lift_and_a_noise(lift: str, noise: str | None, delta: float) -> None:
    fitted = classifier(
        epsilon=SURELY,
        mechanism="opdisc",
        weights=(0, 1),
        lift=lift,
        noise=noise,
        delta=delta,
        random_state=0,
    ).fit(X, Y)
    guarantee = fitted.release_.guarantee
    assert lift in guarantee.theorem
    assert guarantee.delta == delta
    codes = DOMAIN.encode(X)
    errors = (fitted.predict(X) != Y).sum()
    assert errors == fewest_errors(codes, Y == "yes", (0, 1))


@pytest.mark.parametrize("option", [{"lift": "pi"}, {"noise": "gaussian"}])
def test_lifts_are_those_of_opdisc(option: dict[str, str]) -> None:
    with pytest.raises(ParameterError, match="only 'opdisc' has it"):
        classifier(**option).fit(X, Y)


@pytest.mark.parametrize("classes", [("no", "yes"), ("yes", "no")])
def test_scores_by_rank_are_right_in_any_order_of_classes(classes: tuple[str, str]) -> None:
    labels = np.where(X["sex"] == "Male", "yes", "no")
    fitted = classifier(epsilon=SURELY, classes=classes, random_state=0).fit(X, labels)
    assert fitted.classes_.tolist() == ["no", "yes"]
    decided = fitted.classes_[(fitted.decision_function(X) > 0).astype(int)]
    assert decided.tolist() == fitted.predict(X).tolist()
    assert roc_auc_score(labels, fitted.decision_function(X)) == 1


def test_margins_of_several_classes_are_in_the_order_of_the_sorted_labels() -> None:
    labels = np.array(["b", "c", "a"] * 4)
    fitted = classifier(epsilon=SURELY, classes=("c", "a", "b"), random_state=0).fit(X, labels)
    margins = fitted.decision_function(X)
    assert fitted.classes_.tolist() == ["a", "b", "c"]
    alone = (margins == margins.max(axis=1, keepdims=True)).sum(axis=1) == 1
    assert alone.any()
    assert (fitted.classes_[margins.argmax(axis=1)] == fitted.predict(X))[alone].all()
