"""The comparison on Adult: its mechanisms, its records, and what it has to show."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments import adult_accuracy, adult_author, diffprivlib_env
from experiments.adult_curves import CURVES, LOGISTIC, shown_in
from experiments.adult_data import task
from experiments.adult_mechanisms import FINEST, attribute_by_attribute, released_noise
from experiments.diffprivlib_env.__main__ import forget_missing
from experiments.framework.page import current
from oracle_dp import ZeroOneClassifier
from oracle_dp.audit.known_bad import released_sigma
from oracles import Limits


def config(**changes: Any) -> dict[str, Any]:
    return {
        "features": "two",
        "missing": "drop",
        "mechanism": "blockwise",
        "epsilon": 1,
        "seeds": [0, 1],
        "seconds": 20.0,
        "tried": True,
        **changes,
    }


def without_clock(record: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value for name, value in record.items() if name not in ("spent", "processor_seconds")
    }


def test_every_mechanism_has_a_config_at_every_point() -> None:
    wanted = itertools.product(adult_accuracy.SETS, CURVES, adult_accuracy.EPSILONS)
    points = {
        ((c["features"], c["missing"]), c["mechanism"], c["epsilon"])
        for c in adult_accuracy.configs(quick=False)
        if "mechanism" in c
    }
    assert points == set(wanted)


@pytest.mark.parametrize(
    "mechanism", ["exponential", "blockwise", "opdisc_one_hot", "counts", "objective"]
)
def test_a_config_gives_the_same_records(mechanism: str) -> None:
    (one,), (two,) = (adult_accuracy.run(config(mechanism=mechanism)) for _ in range(2))
    assert without_clock(one) == without_clock(two)
    assert one["reached"]
    assert len(one["error"]) == 2
    assert one["delta"] == one["guarantee"]["delta"] == 0
    assert one["neighbors"] == one["guarantee"]["neighbors"] == "replace"


def test_errors_are_those_of_the_estimator() -> None:
    rows = task("two", "category")
    (answer,) = attribute_by_attribute(rows, 1.0, [3], Limits())
    model = ZeroOneClassifier(
        1.0, mechanism="blockwise", domain=rows.domain, classes=rows.classes, random_state=3
    ).fit(rows.x_train, rows.y_train)
    assert answer.error == (model.predict(rows.x_test) != rows.y_test).mean()
    assert (len(rows.y_train), len(rows.y_test)) == (32_561, 16_281)


def test_error_of_a_line_is_the_linear_models() -> None:
    rows = task("two", "drop")
    w = np.random.default_rng(0).normal(size=rows.dimension)
    codes = rows.domain.encode(rows.x_test) + np.array([0, rows.domain.levels[0]])
    wrong = (w[codes].sum(axis=1) - 0.1 > 0) != (rows.y_test == rows.classes[1])
    assert rows.error_of_line(w, -0.1) == pytest.approx(wrong.mean(), abs=1e-12)


def test_what_is_not_reached_says_why() -> None:
    (untried,) = adult_accuracy.run(config(tried=False))
    assert (untried["reached"], untried["reason"]) == (False, "not tried")
    (late,) = adult_accuracy.run(config(features="five", mechanism="opdisc_pi_gamma", seconds=0.01))
    assert (late["reached"], late["reason"]) == (False, "no proof in 0.01 s")
    assert "error" not in late


def test_a_missing_environment_is_told_and_later_forgotten(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(diffprivlib_env, "_PYTHON", tmp_path / "python")
    (record,) = adult_accuracy.run(config(mechanism="diffprivlib"))
    assert (record["reached"], record["reason"]) == (False, diffprivlib_env.MISSING)
    assert diffprivlib_env.HOW in record["detail"]
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps({"reason": "refused"}) + "\n" + json.dumps(record) + "\n")
    forget_missing(path)
    assert path.read_text() == '{"reason": "refused"}\n'


@pytest.mark.parametrize("w", [(1, 0, -1, 0), (0, 0, 0, 0), (-1, 1, 1, -1)])
def test_released_noise_is_the_lift_times_a_gaussian(w: tuple[int, ...]) -> None:
    asked = {"epsilon": 0.5, "delta": 1e-6}
    rewards, total = released_noise(4, (-1, 0, 1), top=4, seed=7, **asked)
    sigma = released_sigma(max_norm=2.0, separation=1.0, **asked)
    eta = sigma * np.random.default_rng(7).normal(size=5)
    lift = np.array([*w, math.sqrt(4 - sum(x * x for x in w))]) / 2
    positions = [x + 1 for x in w]
    linear = sum(int(reward[i]) for reward, i in zip(rewards, positions, strict=True))
    assert (linear + total.reward(positions)) / FINEST == pytest.approx(eta @ lift, abs=0.5)


@pytest.mark.parametrize("method", ["search", "milp"])
def test_the_sources_set_is_minimised_like_by_enumeration(method: str) -> None:
    (record,) = adult_author.run(
        {"d": 6, "program": "loss", "method": method, "epsilon": 1.0, "seed": 0, "seconds": 60.0}
    )
    table = adult_author.cells(6)
    ball = [w for w in itertools.product(range(-2, 3), repeat=6) if sum(x * x for x in w) <= 6]
    assert record["proven"]
    assert record["errors"] == min(table.errors([np.array(w)]) for w in ball)
    assert sum(adult_author.cells(57).levels) == 57


def full() -> list[dict[str, Any]]:
    return current(adult_accuracy.EXPERIMENT, quick=False)


def mean(record: dict[str, Any]) -> float:
    return float(np.mean(record["error"]))


def test_the_full_run_is_whole() -> None:
    assert len(full()) == len(adult_accuracy.configs(quick=False))
    assert all(len(r["error"]) >= 20 for r in full() if r.get("reached"))


def test_exact_draws_beat_every_private_logistic_regression_at_a_tenth() -> None:
    five = [
        r for r in full() if (r["config"]["features"], r["config"]["missing"]) == ("five", "drop")
    ]
    (best,) = (r["error"] for r in five if r["config"].get("reference") == "errors")
    at = {r["config"]["mechanism"]: r for r in five if r["config"].get("epsilon") == 0.1}
    exact = mean(at["exponential"])
    rivals = {name: mean(at[name]) for name in shown_in(LOGISTIC) if name != "exponential"}
    assert len(rivals) >= 8
    assert exact < min(rivals.values())
    assert abs(exact - best) < 0.01
