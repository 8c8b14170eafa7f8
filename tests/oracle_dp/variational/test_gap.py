"""Gap estimators: sensitivity by enumeration, coverage by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from oracle_dp import Ledger, ParameterError
from oracle_dp.variational import (
    Constants,
    PrivacyTarget,
    empirical_gap,
    nseg,
    nseg_multi_pass,
    release_gap,
    strong_gap_bound,
    weak_gap,
)
from oracle_dp.variational.bounds import extragradient_stability
from oracles import ProblemError
from oracles.monotone import Ball, QuadraticGame, RecordFunction


def game(n: int, seed: int) -> QuadraticGame:
    rng = np.random.default_rng(seed)
    linear = np.array([0.3, -0.2, 0.1, 0.0]) + rng.normal(size=(n, 4)) / 4
    return QuadraticGame(linear, np.eye(2) / 2, 0.5, Ball(1.0, np.zeros(4)))


def gap_of(rows: np.ndarray, point: np.ndarray) -> float:
    """The certificate of constant records on the unit ball."""
    operator = RecordFunction(
        lambda w, records: rows[records],
        Ball(1.0, np.zeros(rows.shape[1])), n_records=len(rows), lipschitz=1.0, bound=1.0,
    )  # fmt: skip
    return empirical_gap(operator, point).certificate


def test_the_certificate_moves_by_no_more_than_its_sensitivity() -> None:
    """10,000 random neighbours, with records at the corners of what is allowed."""
    rng = np.random.default_rng(0)
    n, ball = 5, Ball(1.0, np.zeros(3))
    worst = 0.0
    for _ in range(10_000):
        rows = rng.normal(size=(n + 1, 3))
        rows[:2] = np.linalg.norm(rows[0]) * np.array([rows[0], -rows[0]])
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        point = ball.project(2 * rng.normal(size=3))

        moved = abs(gap_of(rows[np.r_[0, 2 : n + 1]], point) - gap_of(rows[1:], point))
        worst = max(worst, moved / (2 * 1.0 * ball.diameter / n))
    print(f"attained ratio of 10000 certificates: {worst:.3f}")
    assert 0.5 <= worst <= 1


def test_a_released_gap_has_laplace_noise_of_its_sensitivity() -> None:
    operator = game(500, 0)
    point = operator.domain.centre
    exact = empirical_gap(operator, point).certificate
    noise = np.array(
        [
            release_gap(operator, point, epsilon=0.5, random_state=i).value - exact
            for i in range(2000)
        ]
    )
    scale = 2 * operator.bound * operator.domain.diameter / (500 * 0.5)
    assert np.abs(noise).mean() == pytest.approx(scale, rel=0.1)
    release = release_gap(operator, point, epsilon=0.5)
    assert release.guarantee.delta == 0
    assert release.guarantee.is_private
    zeroed = release_gap(operator, point, epsilon=0.5, neighbors="zero_out")
    assert release.guarantee.sensitivity == pytest.approx(2 * zeroed.guarantee.sensitivity)


def test_a_gap_costs_budget() -> None:
    ledger = Ledger({"games": 0.5})
    operator = game(50, 0)
    release_gap(operator, operator.domain.centre, epsilon=0.5, ledger=ledger, dataset="games")
    assert ledger.remaining("games")[0] == 0


def test_fresh_records_bound_the_gap_of_the_law_as_often_as_promised() -> None:
    law = game(200_000, 1)
    point = np.array([0.1, 0.0, 0.2, -0.3])
    true = empirical_gap(law, point).certificate
    bounds = [
        strong_gap_bound(game(100, seed), point, failure_probability=0.2).bound
        for seed in range(2, 102)
    ]
    assert np.mean([bound >= true for bound in bounds]) >= 0.8


def test_the_weak_gap_adds_what_stability_costs() -> None:
    operator = game(400, 3)
    constants = Constants.of(operator)
    target = PrivacyTarget.checked(1.0, 1e-5, "replace")
    plan = nseg_multi_pass(constants, 400, target)
    assert isinstance(plan.step, float)
    stability = extragradient_stability(
        constants, plan.sampling, n_records=400, batch_size=plan.batch_size, steps=plan.steps,
        step=plan.step, noise=0.1,
    )  # fmt: skip
    point = nseg(operator, epsilon=1.0, delta=1e-5, plan=plan, random_state=0).value
    found = weak_gap(operator, point, stability=stability)
    assert found.kind == "weak"
    assert found.bound == pytest.approx(found.certificate + operator.bound * stability)
    assert 0 < stability < constants.diameter


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda op, w: weak_gap(op, w, stability=-1.0), ParameterError, "stability: a number"),
        (
            lambda op, w: strong_gap_bound(op, w, failure_probability=1.0),
            ParameterError,
            "failure_probability: lies in",
        ),
        (lambda op, w: release_gap(op, 9 + w, epsilon=1.0), ProblemError, "point: lies outside"),
        (lambda op, w: release_gap(op, w, epsilon=0.0), ParameterError, "epsilon"),
        (
            lambda op, w: release_gap(op, w, epsilon=1.0, neighbors="add_remove"),
            ParameterError,
            "neighbors: the number of records is public",
        ),
    ],
)
def test_bad_parameters_are_named(call, error, match) -> None:
    operator = game(20, 0)
    with pytest.raises(error, match=match):
        call(operator, operator.domain.centre)


def test_a_released_gap_is_of_a_point_inside_the_set() -> None:
    """The membership tolerance may be far longer than a tiny set's diameter."""
    tiny = RecordFunction(
        lambda w, records: np.ones((10, 1))[records], Ball(1e-12, [0.0]),
        n_records=10, lipschitz=1.0, bound=1.0,
    )  # fmt: skip
    release = release_gap(tiny, [9e-10], epsilon=1e6, random_state=0)
    assert release.value <= 2.1e-12
