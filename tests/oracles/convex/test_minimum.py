"""The convex oracles: what they return is what their certificates say."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from oracles import Certificate, Status
from oracles.convex import (
    Gradient,
    Hinge,
    HuberHinge,
    Logistic,
    MeanLoss,
    Newton,
    Ramp,
    Rows,
    Squared,
)
from oracles.convex.minimum import certified
from oracles.errors import ProblemError


def problem(*, loss=None, ridge=1e-2, seed=0, d=4, sparse=False, tilt=0.0) -> MeanLoss:
    draws = np.random.default_rng(seed)
    features = draws.normal(size=(400, d))
    features /= np.linalg.norm(features, axis=1)[:, None]
    labels = np.where(draws.random(400) < 1 / (1 + np.exp(-5 * features[:, 0])), 1.0, -1.0)
    rows = Rows(sp.csr_array(features) if sparse else features, labels)
    return MeanLoss(rows=rows, loss=loss, ridge=ridge, linear=tilt * draws.normal(size=d))


@pytest.mark.parametrize("loss", [Logistic(), HuberHinge(), Squared()], ids=lambda x: x.name)
@pytest.mark.parametrize("radius", [math.inf, 0.5, 50.0])
@pytest.mark.parametrize("sparse", [False, True])
def test_both_oracles_reach_what_scipy_reaches(loss, radius, sparse) -> None:
    given = problem(loss=loss, sparse=sparse, tilt=0.05)
    reference = minimize(
        given.value,
        np.full(4, 0.01),
        jac=given.gradient,
        method="trust-constr" if radius < 1 else "BFGS",
        constraints=[{"type": "ineq", "fun": lambda w: radius**2 - w @ w, "jac": lambda w: -2 * w}]
        if radius < 1
        else (),
        options={"gtol": 1e-9},
    )
    for oracle in (Newton(radius=radius), Gradient(radius=radius)):
        found = oracle.minimize(given)
        assert found.status is Status.OPTIMAL
        assert found.gradient_norm <= oracle.tolerance
        assert np.linalg.norm(found.value) <= radius * (1 + 1e-15)
        assert found.objective <= reference.fun + 1e-9
        assert found.solution.bound <= reference.fun + 1e-12
        assert found.solution.certificate is Certificate.BOUNDED


@pytest.mark.parametrize("radius", [math.inf, 0.7])
def test_the_bounds_hold_at_any_point_and_are_nearly_attained(radius) -> None:
    given = problem(ridge=0.5)
    best = Newton(radius=radius, tolerance=1e-13).minimize(given)
    draws = np.random.default_rng(3)
    ratios = []
    for size in np.repeat([1e-6, 1e-3, 0.1, 1.0], 50):
        w = best.value + size * draws.normal(size=4)
        if np.linalg.norm(w) > radius:
            w *= radius / np.linalg.norm(w)
        bounds = certified(given, w, radius=radius, tolerance=1.0, iterations=0, oracle="")
        gap, distance = given.value(w) - best.objective, np.linalg.norm(w - best.value)
        assert gap <= bounds.suboptimality + 1e-15
        assert distance <= bounds.distance
        ratios.append(distance / bounds.distance)
    # The curvature is between 0.5 and 0.75, so a bound smaller by half would fail.
    assert max(ratios) > 0.6


def test_a_ball_gives_a_bound_without_strong_convexity() -> None:
    given = problem(ridge=0.0)
    found = Newton(radius=2.0).minimize(given)
    assert 0 < found.suboptimality <= 4.0 * found.gradient_norm
    assert math.isinf(found.distance)


def test_without_either_nothing_is_certified() -> None:
    # Separable rows: the infimum 0 is not attained.
    given = MeanLoss(rows=Rows([[1.0], [0.5]], [1, 1]))
    found = Newton().minimize(given)
    assert found.solution.certificate is Certificate.NONE
    assert found.objective > 0


def test_the_rounding_bound_covers_the_rounding() -> None:
    draws = np.random.default_rng(5)
    for _ in range(20):
        features = draws.normal(size=(700, 6))
        given = MeanLoss(rows=Rows(features), ridge=0.1)
        w = 3 * draws.normal(size=6)
        exact = features.astype(np.longdouble)
        slopes = -1 / (1 + np.exp(exact @ w.astype(np.longdouble)))
        reference = slopes @ exact / 700 + np.longdouble(0.1) * w
        error = float(np.linalg.norm(given.gradient(w) - reference))
        assert 0 < error <= given.rounding(w) < 1e-11


def test_a_limit_is_reported_with_the_bounds_that_hold() -> None:
    given = problem()
    found = Newton(max_iterations=1).minimize(given)
    assert found.status is Status.STOPPED
    best = Newton().minimize(given)
    assert found.objective - best.objective <= found.suboptimality < 1
    assert Gradient(max_iterations=3).minimize(given).status is Status.STOPPED


def test_margins_of_ten_thousand_do_not_stop_newton() -> None:
    rows = Rows([[1e4, 0.0], [0.0, 1e4], [-1e4, 1.0]], [1, -1, 1])
    found = Newton(tolerance=1e-8).minimize(MeanLoss(rows=rows, ridge=1.0), start=[1.0, 1.0])
    assert found.status is Status.OPTIMAL


def test_more_columns_than_rows_and_a_singular_curvature() -> None:
    rows = Rows([[1.0, 1.0, 0.0, 0.0]], [1])
    found = Newton(radius=1.0).minimize(MeanLoss(rows=rows))
    assert found.status is Status.OPTIMAL
    assert np.allclose(found.value, [math.sqrt(0.5), math.sqrt(0.5), 0, 0], atol=1e-8)


@pytest.mark.parametrize("loss", [Hinge(), Ramp()])
@pytest.mark.parametrize("oracle", [Newton(), Gradient()])
def test_losses_without_curvature_are_for_the_programs(loss, oracle) -> None:
    with pytest.raises(ProblemError, match="hinge_program"):
        oracle.minimize(problem(loss=loss))


@pytest.mark.parametrize("oracle", [Newton(radius=0.0), Newton(tolerance=0.0), Gradient(radius=-1)])
def test_radius_and_tolerance_are_positive(oracle) -> None:
    with pytest.raises(ProblemError, match="positive"):
        oracle.minimize(problem())


@pytest.mark.parametrize(
    "change", [{"ridge": -1.0}, {"ridge": math.nan}, {"divisor": 0.0}, {"linear": [1.0]}]
)
def test_a_problem_with_a_wrong_parameter_is_refused(change) -> None:
    with pytest.raises(ProblemError):
        MeanLoss(rows=Rows([[1.0, 2.0]]), **change)
