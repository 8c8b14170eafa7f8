"""Projections and linear oracles, against what defines them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from oracles import InfeasibleError, ProblemError, UnboundedError
from oracles.monotone import (
    Ball,
    Box,
    CappedSimplex,
    ConvexSet,
    Polytope,
    Product,
    Simplex,
    sample_points,
)

RNG = np.random.default_rng(0)
ROWS = np.vstack([RNG.normal(size=(8, 4)), np.eye(4), -np.eye(4)])
SETS = {
    "ball": Ball(1.5, [1.0, 0.0, -2.0, 0.5]),
    "box": Box([-1, 0, 2, 3], [1, 0, 4, 3.5]),
    "simplex": Simplex(4),
    "capped": CappedSimplex([0.1, 0.5, 0.45, 0.3]),
    "capped_tight": CappedSimplex([0.25, 0.25, 0.25, 0.25]),
    "capped_weighted": CappedSimplex([1.0, 0.3, 9.0, 0.7], [0.5, 2.0, 0.3, 0.25]),
    "product": Product(Ball(1.0, [0.0, 0.0]), Simplex(3), Box([0], [2])),
    "polytope": Polytope(ROWS, np.ones(16)),
}


@pytest.fixture(params=SETS)
def domain(request: pytest.FixtureRequest) -> ConvexSet:
    return SETS[request.param]


def test_a_projection_makes_an_obtuse_angle_with_every_point(domain: ConvexSet) -> None:
    rng = np.random.default_rng(1)
    inside = sample_points(domain, 200, rng)
    slack = 1e-10 + 10 * domain.projection_error
    for _ in range(50):
        point = 5 * rng.normal(size=domain.dimension)
        nearest = domain.project(point)
        assert ((inside - nearest) @ (point - nearest)).max() <= slack
        assert domain.distance(nearest) <= slack


def test_the_linear_oracle_is_below_every_point_and_inside(domain: ConvexSet) -> None:
    rng = np.random.default_rng(2)
    inside = sample_points(domain, 200, rng)
    for _ in range(50):
        costs = rng.normal(size=domain.dimension)
        least = domain.minimize_linear(costs)
        assert domain.distance(least) <= 1e-9 + domain.projection_error
        assert costs @ least <= (inside @ costs).min() + 1e-7


def test_diameter_and_magnitude_bound_what_they_say(domain: ConvexSet) -> None:
    inside = sample_points(domain, 100, np.random.default_rng(3))
    distances = np.linalg.norm(inside[:, None] - inside[None], axis=2)
    assert distances.max() <= domain.diameter * (1 + 1e-12)
    assert np.linalg.norm(inside, axis=1).max() <= domain.magnitude * (1 + 1e-12)
    assert domain.distance(domain.centre) <= 1e-9


@pytest.mark.parametrize("name", ["ball", "box", "simplex"])
def test_diameters_are_attained(name: str) -> None:
    domain = SETS[name]
    rng = np.random.default_rng(4)
    ends = [
        np.linalg.norm(domain.minimize_linear(c) - domain.minimize_linear(-c))
        for c in rng.normal(size=(400, domain.dimension))
    ]
    assert max(ends) == pytest.approx(domain.diameter)


def test_the_polytope_projects_as_the_box_that_it_is() -> None:
    box, rows = Box([-1, -2], [1, 3]), np.vstack([np.eye(2), -np.eye(2)])
    polytope = Polytope(rows, [1, 3, 1, 2])
    for point in 4 * np.random.default_rng(5).normal(size=(50, 2)):
        np.testing.assert_allclose(polytope.project(point), box.project(point), atol=1e-6)
    assert polytope.diameter == pytest.approx(math.sqrt(4 + 25), rel=1e-5)


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1.0, 1e6])
@pytest.mark.parametrize("length", [1e-10, 1.0, 1e6])
@pytest.mark.parametrize("far", [4.0, 1e9])
def test_a_polytope_projects_at_every_scale(size: float, length: float, far: float) -> None:
    """Of the set, of its rows and of the point: HiGHS's tolerances are absolute."""
    rows = length * np.vstack([np.eye(2), -np.eye(2)])
    limits = np.array([1.0, 3.0, 1.0, 2.0])
    box = Box([-size, -2 * size], [size, 3 * size])
    polytope = Polytope(rows, length * size * limits)
    assert polytope.diameter == pytest.approx(box.diameter, rel=1e-5)
    assert polytope.projection_error <= 1e-4 * size or size == 1e6
    for point in far * size * np.random.default_rng(5).normal(size=(10, 2)):
        error = np.linalg.norm(polytope.project(point) - box.project(point))
        assert error <= polytope.projection_error


def test_a_zero_cost_is_no_accident(domain: ConvexSet) -> None:
    still = domain.minimize_linear(np.zeros(domain.dimension))
    assert domain.distance(still) <= 1e-9


def test_a_simplex_with_idle_caps_is_the_simplex() -> None:
    capped, simplex = CappedSimplex(np.ones(6)), Simplex(6)
    for point in np.random.default_rng(6).normal(size=(200, 6)):
        np.testing.assert_allclose(capped.project(point), simplex.project(point), atol=1e-14)


def test_a_weighted_simplex_is_a_simplex_in_other_units() -> None:
    """With the metric that goes with them: the multiplier by a general root finder."""
    domain = SETS["capped_weighted"]
    assert isinstance(domain, CappedSimplex)
    top = domain.upper
    rng = np.random.default_rng(7)
    for point in 3 * rng.normal(size=(20, 4)):
        excess = lambda t, v=point: domain.weights @ np.clip(v - t * domain.weights, 0, top) - 1  # noqa: E731  # short
        t = brentq(excess, -100, 100, xtol=1e-14)
        found = np.clip(point - t * domain.weights, 0, top)
        np.testing.assert_allclose(domain.project(point), found, atol=1e-10)
    # A sum that is 1 up to rounding leaves the bounds alone.
    only = CappedSimplex([0.1] * 3 + [0.7 - 1e-16])
    np.testing.assert_allclose(only.project(rng.normal(size=4)), [0.1, 0.1, 0.1, 0.7], atol=1e-15)


def test_product_splits_what_it_joins() -> None:
    product = SETS["product"]
    assert isinstance(product, Product)
    parts = product.split(np.arange(6.0))
    assert [part.tolist() for part in parts] == [[0, 1], [2, 3, 4], [5]]


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: Ball(math.inf, [0.0]), UnboundedError, "radius: infinite"),
        (lambda: Ball(0.0, [0.0]), ProblemError, "radius: a positive"),
        (lambda: Ball(1.0, []), ProblemError, "middle: at least one"),
        (lambda: Box([0.0], [math.inf]), UnboundedError, "upper: infinite"),
        (lambda: Box([1.0], [0.0]), ProblemError, "upper: below lower"),
        (lambda: Box([math.nan], [0.0]), ProblemError, "lower: at least one coordinate, and no"),
        (lambda: Simplex(0), ProblemError, "size: a positive"),
        (lambda: CappedSimplex([0.2, 0.2]), ProblemError, "upper: positive bounds"),
        (lambda: CappedSimplex([0.0, 1.0]), ProblemError, "upper: positive bounds"),
        (lambda: CappedSimplex([1.0, 1.0], [0.1, 0.1]), ProblemError, "upper: positive bounds"),
        (lambda: CappedSimplex([1.0, 1.0], [1.0, 0.0]), ProblemError, "weights: positive"),
        (lambda: CappedSimplex([1.0, 1.0], [1.0]), ProblemError, "weights: shape"),
        (lambda: Product(), ProblemError, "factors: at least one"),
        (lambda: Polytope([[1.0, 0.0]], [1.0]), UnboundedError, "add rows"),
        (lambda: Polytope([[1.0], [-1.0]], [-1.0, -1.0]), InfeasibleError, "no point"),
        (lambda: Polytope([[math.nan]], [1.0]), ProblemError, "finite numbers"),
        (lambda: Polytope([[1.0, 2.0], [3.0]], [1.0, 1.0]), ProblemError, "rows: not an array"),
        (lambda: Ball(1.0, [0.0]).require_point("start", [2.0]), ProblemError, "start: lies out"),
        (lambda: Ball(1.0, [0.0]).require_point("start", [1, 2]), ProblemError, "start: shape"),
        (lambda: Ball(1.0, [0.0]).require_point("start", [math.nan]), ProblemError, "start: a fin"),
    ],
)
def test_bad_sets_and_points_are_named(make, error, match) -> None:
    with pytest.raises(error, match=match):
        make()


@pytest.mark.parametrize(
    "domain",
    [
        Simplex(2),
        Simplex(5),
        CappedSimplex([0.3, 0.9, 0.4]),
        CappedSimplex([3.0, 0.9, 40.0], [0.2, 1.0, 0.05]),
    ],
)
def test_projections_of_huge_points_stay_inside(domain: ConvexSet) -> None:
    """An operator's bound holds on the set only, and steps may be of any length."""
    rng = np.random.default_rng(3)
    for scale in 10.0 ** np.arange(12, 20):
        for point in scale * rng.normal(size=(200, domain.dimension)):
            nearest = domain.project(point)
            assert np.linalg.norm(nearest) <= domain.magnitude * (1 + 1e-12)
            if isinstance(domain, CappedSimplex):
                assert domain.weights @ nearest == pytest.approx(1, abs=1e-12)
    assert Simplex(2).project(np.array([2.0**53 + 2, 0.0])).tolist() == [1.0, 0.0]
    assert Simplex(2).project(np.array([-1e18, -1e18])).tolist() == [0.5, 0.5]
