"""The classifier with three classes or more: one card each, one guarantee, one charge."""

from __future__ import annotations

import itertools
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from oracle_dp import (
    Binned,
    Budget,
    Categorical,
    Domain,
    DomainError,
    Ledger,
    OneVsRest,
    OverspendError,
    ParameterError,
    PrivacyLeakWarning,
    Release,
    RepeatedFitWarning,
    UncertifiedError,
    ZeroOneClassifier,
)
from oracle_dp.estimators import mechanisms
from oracle_dp.privacy import ContingencyKind
from oracles import Limits, ProblemError
from oracles.zero_one import CellTable

DOMAIN = Domain([Categorical("sex", ("Female", "Male")), Binned("age", (30, 50))])
CLASSES = ("low", "middle", "high")
X = pd.DataFrame({"sex": ["Female", "Male"] * 15, "age": [20, 40, 60] * 10})
Y = np.array(["low", "middle", "high"] * 10)

SURELY = 3e6
"""An epsilon at which no noise is drawn that could change a choice."""

OPTIONS: dict[str, dict[str, Any]] = {"blockwise": {"delta": Fraction(1, 1000)}}


def classifier(**changes: Any) -> ZeroOneClassifier:
    return ZeroOneClassifier(**{"domain": DOMAIN, "classes": CLASSES, **changes})


# -- what is learned ---------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", mechanisms.MECHANISMS)
def test_every_mechanism_learns_three_classes(mechanism: str) -> None:
    ledger = Ledger({"survey": Budget(epsilon=SURELY, delta=0.5)})
    fitted = classifier(
        epsilon=SURELY,
        mechanism=mechanism,
        ledger=ledger,
        dataset="survey",
        **OPTIONS.get(mechanism, {}),
    ).fit(X, Y)
    assert (fitted.predict(X) == Y).all()
    assert fitted.score(X, Y) == 1
    cards = fitted.release_.value
    assert isinstance(cards, OneVsRest)
    assert cards.classes == CLASSES
    guarantee = fitted.release_.guarantee
    assert guarantee.epsilon == SURELY
    assert guarantee.mechanism == f"one_vs_rest({mechanism})"
    assert "1/3 of the budget each" in guarantee.theorem
    (charge,) = ledger.charges
    assert (charge.epsilon, float(charge.delta)) == (SURELY, guarantee.delta)
    assert Release.from_json(fitted.release_.to_json()) == fitted.release_


def test_without_noise_every_card_has_the_fewest_errors() -> None:
    generator = np.random.default_rng(0)
    rows = X.assign(sex=generator.choice(["Female", "Male"], len(X)))
    y = generator.choice(CLASSES, len(X))
    fitted = classifier(epsilon=SURELY).fit(rows, y)
    codes, offsets = DOMAIN.encode(rows), np.array([0, 2])
    for card, label in zip(fitted.release_.value.cards, CLASSES, strict=True):
        fewest = min(
            int(((np.array(points)[codes + offsets].sum(axis=1) >= 1) != (y == label)).sum())
            for points in itertools.product((-1, 0, 1), repeat=5)
        )
        assert int(((card.margins(rows) >= 1) != (y == label)).sum()) == fewest


def test_what_fit_leaves_behind() -> None:
    estimator = classifier(epsilon=0.6)
    assert estimator.fit(X, Y) is estimator
    assert estimator.classes_.tolist() == sorted(CLASSES)
    assert estimator.n_features_in_ == 2
    assert estimator.feature_names_in_.tolist() == ["sex", "age"]
    decisions = estimator.decision_function(X)
    assert decisions.shape == (len(X), 3)
    order = [CLASSES.index(label) for label in sorted(CLASSES)]
    margins = estimator.release_.value.margins(X)
    assert (decisions == margins[:, order] - 0.5).all()
    # The card breaks ties, in the order of the classes as they were given.
    assert (np.array(CLASSES)[margins.argmax(axis=1)] == estimator.predict(X)).all()
    guarantee = estimator.release_.guarantee
    assert (guarantee.epsilon, guarantee.delta, guarantee.sensitivity) == (0.6, 0, 2)
    # Each of three cards has rho (epsilon / 3)^2 / 8.
    assert guarantee.rho == pytest.approx(0.6**2 / 24)
    assert guarantee.is_private
    assert {c.kind for c in guarantee.contingencies} == {ContingencyKind.RUNNING_TIME}
    back = pickle.loads(pickle.dumps(estimator))
    assert back.release_ == estimator.release_
    with pytest.warns(RepeatedFitWarning):
        assert clone(estimator).fit(X, Y).classes_.tolist() == sorted(CLASSES)


def test_two_classes_are_as_ever_one_card() -> None:
    two = Y[Y != "high"]
    fitted = classifier(classes=CLASSES[:2], epsilon=SURELY).fit(X[Y != "high"], two)
    assert fitted.decision_function(X).shape == (len(X),)
    assert fitted.release_.guarantee.mechanism == "exponential"


def test_thresholds_and_pairs_are_learned_too() -> None:
    domain = DOMAIN.thermometer("age")
    fitted = classifier(epsilon=SURELY, domain=domain).fit(X, Y)
    assert (fitted.predict(X) == Y).all()
    assert fitted.feature_names_in_.tolist() == ["sex", "age"]
    y = np.where(X["sex"] == "Male", np.where(X["age"] > 30, "low", "high"), "middle")
    fitted = classifier(epsilon=SURELY, domain=domain.crossed("sex", "age >= 30")).fit(X, y)
    assert (fitted.predict(X[["age", "sex"]]) == y).all()


# -- the budget --------------------------------------------------------------------------------


def test_each_card_is_trained_on_an_exact_share(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Any, int]] = []
    ordinary = mechanisms.MECHANISMS["exponential"]

    def spying(cells: CellTable, weights: Any, common: Any, options: Any) -> Any:
        seen.append((common["epsilon"], int(cells.positive.sum())))
        return ordinary.train(cells, weights, common, options)

    spy = mechanisms.Mechanism(spying, ordinary.options)
    monkeypatch.setitem(mechanisms.MECHANISMS, "exponential", spy)
    y = np.where(Y == "low", "high", Y)
    classifier(epsilon=0.1).fit(X, y)
    # The share of 0.1, never more than a third of either of the float's readings.
    assert seen == [(Fraction(1, 30), 0), (Fraction(1, 30), 10), (Fraction(1, 30), 20)]


def test_the_whole_is_charged_once_or_not_at_all() -> None:
    ledger = Ledger({"survey": 1.0})
    estimator = classifier(epsilon=Fraction(7, 10), ledger=ledger, dataset="survey").fit(X, Y)
    (charge,) = ledger.charges
    assert charge.mechanism == "one_vs_rest(exponential)"
    assert ledger.remaining("survey") == (Fraction(3, 10), 0)
    first = estimator.release_
    # A third of it would fit.
    with pytest.raises(OverspendError):
        estimator.fit(X, Y)
    assert ledger.charges == (charge,)
    assert estimator.release_ is first


def test_a_refused_card_refuses_the_whole_and_the_charge_stays() -> None:
    ledger = Ledger({"survey": 1.0})
    estimator = classifier(limits=Limits(seconds=1e-9), ledger=ledger, dataset="survey")
    with pytest.raises(UncertifiedError, match="budget stays charged"):
        estimator.fit(X, Y)
    assert ledger.spent("survey") == (1, 0)
    assert not hasattr(estimator, "release_")


def test_a_seed_reproduces_and_its_cards_do_not_share_noise() -> None:
    # Three problems that are the same: only the noise tells their cards apart.
    rows = X.iloc[:0]
    fitted = [classifier(epsilon=0.01, random_state=seed).fit(rows, []) for seed in (1, 1, 2)]
    assert fitted[0].release_ == fitted[1].release_ != fitted[2].release_
    assert not fitted[0].release_.guarantee.is_private
    points = {card.points for one in fitted for card in one.release_.value.cards}
    assert len(points) == 6


# -- odd data ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "y"),
    [
        (X, np.where(Y == "middle", "low", Y)),
        (X, ["high"] * 30),
        (X.iloc[:1], ["middle"]),
        (X.iloc[:0], []),
        (X.iloc[[0] * 30], Y),
    ],
    ids=["no middle", "only high", "one row", "no row", "one cell"],
)
@pytest.mark.parametrize("neighbors", ["replace", "add_remove", "zero_out"])
def test_poor_data_are_ordinary_data(rows: Any, y: Any, neighbors: str) -> None:
    for epsilon in (0.5, SURELY):
        fitted = classifier(epsilon=epsilon, neighbors=neighbors).fit(rows, y)
        assert fitted.classes_.tolist() == sorted(CLASSES)
        assert fitted.decision_function(X).shape == (30, 3)
        assert set(fitted.predict(X)) <= set(CLASSES)
    if len(set(y)) == 1:
        assert fitted.predict(rows).tolist() == list(y)


@pytest.mark.parametrize(
    ("classes", "y"),
    [
        ((0, 1, 2), [0, 1, 2]),
        ((2, 0, 1), np.array([0, 1, 2], dtype=np.int8)),
        (("a", 1, 2.5), ["a", 1, 2.5]),
        (("a", "b", "c", "d"), pd.Series(["a", "b", "c"], dtype="category")),
    ],
    ids=repr,
)
def test_classes_of_every_type(classes: Any, y: Any) -> None:
    fitted = classifier(epsilon=SURELY, classes=classes).fit(X.iloc[:3], y)
    assert set(fitted.classes_.tolist()) == set(classes)
    assert fitted.predict(X.iloc[:3]).tolist() == list(y)


CANARY = "c4n4ry"


@pytest.mark.parametrize(
    ("changes", "y", "error", "message"),
    [
        ({"epsilon": 0}, Y, ParameterError, "epsilon must be positive"),
        ({"epsilon": 11}, Y, OverspendError, "exceeds what remains"),
        ({"mechanism": "blockwise", "delta": 1}, Y, ParameterError, "delta: a number in"),
        ({"mechanism": "blockwise", "sweeps": 0}, Y, ParameterError, "sweeps: a positive"),
        ({"weights": (1, 2)}, Y, ProblemError, "weights: distinct integers with 0"),
        ({"random_state": "seed"}, Y, ParameterError, "random_state must be"),
        ({"limits": 5}, Y, ParameterError, "limits: an oracles.Limits"),
        ({"max_attributes": 0}, Y, ParameterError, "max_attributes: a positive"),
        ({"ledger": None}, Y, ParameterError, "ledger: needed together with dataset"),
        ({"dataset": None}, Y, ParameterError, "dataset: needed together with ledger"),
        ({"classes": ("low", "high", "low")}, Y, ParameterError, "classes: distinct labels"),
        ({"classes": ("low", "high", None)}, Y, ParameterError, "classes: a label must be text"),
        ({}, [*Y[:-1], CANARY], DomainError, "y: a label that is not one of classes"),
        ({}, Y[:-1], DomainError, "X and y: different numbers of rows"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused_and_not_charged(
    changes: dict[str, Any], y: Any, error: type[Exception], message: str
) -> None:
    ledger = Ledger({"survey": 10})
    with pytest.raises(error, match=message) as caught:
        classifier(**{"ledger": ledger, "dataset": "survey", **changes}).fit(X, y)
    assert ledger.charges == ()
    assert CANARY not in str(caught.value)


def test_more_than_two_classes_read_from_the_labels_warn_and_are_recorded() -> None:
    with pytest.warns(PrivacyLeakWarning, match="pass classes="):
        fitted = classifier(classes=None, epsilon=SURELY).fit(X, Y)
    assert fitted.classes_.tolist() == sorted(CLASSES)
    assert (fitted.predict(X) == Y).all()
    leaks = ContingencyKind.LEAKED_PARAMETER
    assert leaks in {c.kind for c in fitted.release_.guarantee.contingencies}
