"""MinimaxClassifier: contract, guarantee, groups, and that it serves the worst group better."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

from oracle_dp import (
    Categorical,
    Domain,
    Ledger,
    MinimaxClassifier,
    ParameterError,
    PrivacyLeakWarning,
    Release,
    ReleaseFormatError,
    RepeatedFitWarning,
)
from oracle_dp.estimators.minimax_model import MinimaxModel
from oracle_dp.ledger import Budget
from oracle_dp.privacy import ContingencyKind

DOMAIN = Domain([Categorical("region", ["north", "south"]), Categorical("trait", ["a", "b", "c"])])


def table(n: int = 2000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A large group with one rule and a smaller one with almost the opposite."""
    rng = np.random.default_rng(seed)
    region = np.where(rng.random(n) < 0.7, "north", "south")
    trait = rng.choice(["a", "b", "c"], n)
    chance = np.where(trait == "a", 0.9, 0.3)
    chance = np.where(region == "south", np.where(trait == "a", 0.35, 0.75), chance)
    return pd.DataFrame({"region": region, "trait": trait}), (rng.random(n) < chance).astype(int)


def classifier(**changes: Any) -> MinimaxClassifier:
    common = {"domain": DOMAIN, "classes": (0, 1), "groups": ("region",), "random_state": 0}
    return MinimaxClassifier(**{"epsilon": 1.0, **common, **changes})


@pytest.mark.filterwarnings(
    f"ignore::{PrivacyLeakWarning.__module__}.{PrivacyLeakWarning.__name__}",
    f"ignore::{RepeatedFitWarning.__module__}.{RepeatedFitWarning.__name__}",
    f"ignore::{SkipTestWarning.__module__}.{SkipTestWarning.__name__}",
)
def test_scikit_learn_s_own_checks_pass() -> None:
    """At an epsilon at which a few dozen rows are enough to learn from."""
    results = check_estimator(MinimaxClassifier(epsilon=1e4))
    unpassed = {result["check_name"] for result in results if result["status"] != "passed"}
    # The second cannot be asked of noise from the operating system.
    assert unpassed <= {"check_array_api_input", "check_pipeline_consistency"}
    assert len(results) > 50


def worst_loss(model: MinimaxClassifier, X: pd.DataFrame, y: np.ndarray) -> float:
    losses = -np.log(model.predict_proba(X)[np.arange(len(y)), y])
    return max(losses[X["region"] == region].mean() for region in ("north", "south"))


def test_the_worst_group_fares_better_than_under_the_mean_loss() -> None:
    X, y = table(20_000)
    fresh = table(20_000, seed=1)
    # A cap of 1 fixes the mixture at the shares: that is the mean loss.
    plain = classifier(weight_cap=1.0).fit(X, y)
    robust = classifier(weight_cap=3.0).fit(X, y)
    assert worst_loss(robust, *fresh) < worst_loss(plain, *fresh) - 0.02
    mixture = robust.release_.value.mixture
    assert mixture["south"] > 0.35
    assert plain.release_.value.mixture["north"] == pytest.approx(0.7, abs=0.02)


def test_the_release_says_what_holds_and_survives_json_and_pickle() -> None:
    X, y = table()
    fitted = classifier(random_state=None).fit(X, y)
    guarantee = fitted.release_.guarantee
    assert guarantee.is_private
    assert (guarantee.epsilon, guarantee.delta) == (1.0, pytest.approx(2000**-2))
    details = [c.detail for c in guarantee.contingencies if c.kind is ContingencyKind.CALLER]
    assert any("group of every record is public" in detail for detail in details)
    read = Release.from_json(fitted.release_.to_json())
    assert isinstance(read.value, MinimaxModel)
    assert read.value == fitted.release_.value
    np.testing.assert_array_equal(read.value.log_odds(X), fitted.decision_function(X))
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1)
    assert read.value.shares is None
    assert "weight in the mixture (large groups weigh more" in str(fitted.release_)


def test_public_shares_protect_the_group_too() -> None:
    X, y = table()
    fitted = classifier(group_shares={"north": 0.7, "south": 0.3}).fit(X, y)
    assert ContingencyKind.CALLER not in {c.kind for c in fitted.release_.guarantee.contingencies}
    model = fitted.release_.value
    assert MinimaxModel.from_dict(model.to_dict()) == model
    shown = MinimaxModel.from_dict({**model.to_dict(), "mixture": {"north": 0.35, "south": 0.65}})
    # The mixture over the shares: 0.65 / 0.3 and 0.35 / 0.7.
    assert "weight over share, hardest groups first: south 2.17, north 0.50" in str(shown)


def test_models_saved_without_shares_are_read() -> None:
    X, y = table(300)
    data = classifier(steps=2).fit(X, y).release_.value.to_dict()
    del data["shares"]
    assert MinimaxModel.from_dict(data).shares is None


def test_steps_may_be_a_numpy_integer() -> None:
    X, y = table(300)
    fitted = [
        classifier(steps=steps, batch_size=size).fit(X, y).release_.value
        for steps, size in ((5, 50), (np.int64(5), np.int64(50)))
    ]
    assert fitted[0] == fitted[1]


def test_delta_is_small_beside_one_record() -> None:
    """As for logistic regression: n^-2, at most 1e-4, unless another one is given."""
    X, y = table(300)
    few = classifier(steps=2, epsilon=100.0).fit(X[:60], y[:60]).release_.guarantee
    assert few.delta == pytest.approx(1e-4)
    assert classifier(steps=2).fit(X, y).release_.guarantee.delta == pytest.approx(300**-2)
    given = classifier(steps=2, delta=1e-7).fit(X, y).release_.guarantee
    assert given.delta == pytest.approx(1e-7)


def test_small_groups_are_not_left_to_noise() -> None:
    """The mixture's own step length: a group of 1% keeps its weight unless its losses tell."""
    rng = np.random.default_rng(0)
    X, y = table(20_000)
    X["region"] = np.where(rng.random(len(X)) < 0.99, "north", "south")
    y = (rng.random(len(X)) < 0.5).astype(int)
    weights = [
        classifier(random_state=seed, weight_cap=3.0).fit(X, y).release_.value.mixture["south"]
        for seed in range(5)
    ]
    share = float((X["region"] == "south").mean())
    assert np.mean(weights) == pytest.approx(share, rel=0.35)


def test_one_step_length_is_the_weights_and_two_are_followed() -> None:
    X, y = table(300)
    fits = [classifier(steps=3, step=step).fit(X, y) for step in (4.0, (4.0, 1e-9))]
    first, still = (fit.release_.value.mixture["south"] for fit in fits)
    assert still == pytest.approx((X["region"] == "south").mean(), abs=1e-6)
    assert first != pytest.approx(still, abs=1e-6)


def test_groups_are_combinations_of_levels() -> None:
    X, y = table()
    fitted = classifier(groups=("region", "trait")).fit(X, y)
    assert list(fitted.release_.value.mixture)[:2] == ["north x a", "north x b"]
    assert len(fitted.release_.value.mixture) == 6


def test_the_ledger_is_charged_once_per_fit() -> None:
    X, y = table(300)
    ledger = Ledger({"survey": Budget(epsilon=1.0, delta=1e-4)})
    classifier(ledger=ledger, dataset="survey").fit(X, y)
    assert len(ledger.charges) == 1
    assert float(ledger.charges[0].epsilon) == 1.0


def test_batches_may_be_poisson_samples() -> None:
    X, y = table(300)
    fitted = classifier(batch_size=50, steps=10).fit(X, y)
    assert "poisson" in fitted.release_.guarantee.theorem


def test_columns_of_numbers_are_clipped_to_a_public_norm() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] > 0).astype(int)
    fitted = MinimaxClassifier(50.0, classes=(0, 1), random_state=0).fit(1e6 * X, y)
    assert fitted.n_features_in_ == 3
    assert (fitted.predict(1e6 * X) == y).mean() > 0.9


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"groups": ("region", "trait")}, "groups: fewer than two records in south x c"),
        ({"groups": (), "domain": DOMAIN}, "groups: names of attributes"),
        ({"groups": 5}, "groups: names of attributes of a domain expected, not 5"),
        ({"groups": (5,)}, r"groups: names of attributes of a domain expected, not \(5,\)"),
        ({"epsilon": 1e-9}, "epsilon: too small for n = .*no step fits.*raise epsilon or n"),
        ({"epsilon": 1e-9, "batch_size": 20, "steps": 5}, "epsilon: too small for n = "),
        ({"steps": 2.0}, "steps: a positive integer"),
        ({"steps": 0}, "steps: a positive integer"),
        ({"steps": 1, "step": (0.0, 1.0)}, "step: positive finite"),
        ({"weight_cap": 0.5}, "weight_cap: at least 1"),
        ({"radius": -1.0}, "radius: a positive"),
        ({"batch_size": 10_000}, "batch_size: 10000 exceeds"),
        ({"neighbors": "add_remove"}, "neighbors: the number of records is public"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"delta": 1.0}, "delta: lies in"),
        ({"group_shares": {"north": 1.0}}, "group_shares: no share for south"),
        ({"group_shares": {"north": 0.9, "south": 0.9}}, "shares: positive fractions"),
        ({"group_shares": 0.5}, "group_shares: a mapping"),
        ({"group_shares": {"north": "many", "south": 0.3}}, "group_shares: not an array of real"),
        ({"step": "long"}, "step: positive finite"),
        ({"loss_share": "half"}, "loss_share: not an array of real"),
        ({"feature_norm": "large"}, "feature_norm: a positive number"),
    ],
)
def test_bad_parameters_are_named_and_nothing_is_charged(
    changes: dict[str, Any], match: str
) -> None:
    X, y = table(200)
    keep = ~((X["region"] == "south") & (X["trait"] == "c")).to_numpy()
    ledger = Ledger({"survey": Budget(epsilon=9.0, delta=0.1)})
    estimator = classifier(ledger=ledger, dataset="survey", **changes)
    with pytest.raises(ParameterError, match=match):
        estimator.fit(X[keep], y[keep])
    assert ledger.charges == ()


def test_groups_need_a_domain() -> None:
    with pytest.raises(ParameterError, match="groups: names of attributes of a domain"):
        MinimaxClassifier(groups=("sex",), classes=(0, 1)).fit(np.ones((4, 1)), [0, 1, 0, 1])


@pytest.mark.parametrize("norm", [0.0, -1.0, np.inf, np.nan])
def test_a_norm_that_cannot_be_is_named_and_nothing_is_charged(norm: float) -> None:
    ledger = Ledger({"survey": Budget(epsilon=9.0, delta=0.1)})
    estimator = MinimaxClassifier(
        classes=(0, 1), feature_norm=norm, ledger=ledger, dataset="survey"
    )
    with pytest.raises(ParameterError, match="feature_norm: a positive number"):
        estimator.fit(np.eye(4), [0, 1, 0, 1])
    assert ledger.charges == ()


@pytest.mark.parametrize(
    "change",
    [
        {"weights": [1.0]},
        {"weights": []},
        {"feature_norm": 0.0},
        {"shares": {"north": 1.0}},
        {"shares": {"north": 1.0, "south": 0.0}},
    ],
)
def test_a_model_that_was_tampered_with_is_refused(change: dict[str, Any]) -> None:
    X, y = table(300)
    fitted = classifier(steps=2).fit(X, y)
    data = fitted.release_.value.to_dict()
    assert MinimaxModel.from_dict(data) == fitted.release_.value
    with pytest.raises(ReleaseFormatError, match="minimax model: a field is malformed"):
        MinimaxModel.from_dict({**data, **change})


@pytest.mark.parametrize("size", [0, 1, 2])
def test_beside_public_shares_no_refusal_tells_a_group_s_size(size: int) -> None:
    """Neighbours may move a record between groups: all of them are served."""
    X, y = table(40)
    X["region"] = ["south"] * size + ["north"] * (40 - size)
    shares = {"north": 0.7, "south": 0.3}
    release = classifier(group_shares=shares, steps=4).fit(X, y).release_
    assert np.isfinite(release.value.weights).all()
