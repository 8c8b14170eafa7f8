"""Which estimator ``oracle-dp train`` builds, and which options each has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from oracle_dp.cli.choices import Lift, Mechanism, Model, integers, split

if TYPE_CHECKING:
    from oracle_dp.estimators.logistic import LogisticRegression
    from oracle_dp.estimators.minimax import MinimaxClassifier
    from oracle_dp.estimators.zero_one import ZeroOneClassifier

    Classifier = ZeroOneClassifier | LogisticRegression | MinimaxClassifier

DEFAULTS: dict[str, object] = {
    "delta": None,
    "groups": None,
    "lift": Lift.ONE_HOT,
    "max_attributes": None,
    "mechanism": Mechanism.EXPONENTIAL,
    "method": None,
    "n_best": 10,
    "noise": None,
    "seconds": None,
    "size": None,
    "sparsity": 0.0,
    "sweeps": 2,
    "weights": "-1,0,1",
}
"""What an option is when nothing was asked for."""

OPTIONS = {
    Model.ZERO_ONE: tuple(name for name in DEFAULTS if name not in ("groups", "method", "size")),
    Model.LOGISTIC: ("delta", "method", "size"),
    Model.MINIMAX: ("delta", "groups"),
}


def classifier_of(model: Model, common: Mapping[str, Any], asked: Mapping[str, Any]) -> Classifier:
    """The estimator of a model.

    Args:
        model: Which.
        common: What all estimators are given.
        asked: A value for each of ``DEFAULTS``.

    Raises:
        ParameterError: An option was asked for that the model does not have.
    """
    from oracle_dp.errors import ParameterError

    for name, value in asked.items():
        if value != DEFAULTS[name] and name not in OPTIONS[model]:
            having = " or ".join(m.value for m, names in OPTIONS.items() if name in names)
            raise ParameterError(f"{name}: only --model {having} has it, not {model.value}")
    return _BUILDERS[model](common, asked)


def _zero_one(common: Mapping[str, Any], asked: Mapping[str, Any]) -> Classifier:
    from oracle_dp.estimators.zero_one import ZeroOneClassifier
    from oracles import Limits

    seconds, noise = asked["seconds"], asked["noise"]
    same = ("max_attributes", "n_best", "sparsity", "sweeps")
    return ZeroOneClassifier(
        **common,
        **{name: asked[name] for name in same},
        **_delta(asked),
        limits=None if seconds is None else Limits(seconds=seconds),
        lift=asked["lift"].value,
        mechanism=asked["mechanism"].value,
        noise=None if noise is None else noise.value,
        weights=integers(asked["weights"]),
    )


def _logistic(common: Mapping[str, Any], asked: Mapping[str, Any]) -> Classifier:
    from oracle_dp.estimators.logistic import LogisticRegression

    method = {} if asked["method"] is None else {"method": asked["method"]}
    return LogisticRegression(**common, **method, **_delta(asked), size=asked["size"])


def _minimax(common: Mapping[str, Any], asked: Mapping[str, Any]) -> Classifier:
    from oracle_dp.estimators.minimax import MinimaxClassifier

    groups = None if asked["groups"] is None else split(asked["groups"])
    return MinimaxClassifier(**common, groups=groups, **_delta(asked))


def _delta(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The delta, or the estimator's own default."""
    return {} if asked["delta"] is None else {"delta": asked["delta"]}


_BUILDERS = {Model.ZERO_ONE: _zero_one, Model.LOGISTIC: _logistic, Model.MINIMAX: _minimax}
