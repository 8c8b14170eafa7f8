"""Extragradient, operator extrapolation and proximal point reach what their theorems promise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from oracles import ProblemError
from oracles.monotone import (
    Ball,
    Box,
    ConvexSet,
    MatrixGame,
    Operator,
    Product,
    Simplex,
    bilinear_gap,
    extragradient,
    extragradient_iterations,
    extrapolate,
    extrapolation_iterations,
    extrapolation_run,
    iterations_for_gap,
    proximal_point,
    saddle_operator,
    strong_gap,
)

GAP = 1e-8


def domain_of(kind: str, d: int) -> ConvexSet:
    if kind == "ball":
        return Ball(1.0, np.zeros(d))
    return Box(-np.ones(d), np.ones(d)) if kind == "box" else Simplex(d)


def random_problem(kind: str, d: int, mu: float, seed: int) -> tuple[Operator, np.ndarray]:
    """A strongly monotone affine operator, not symmetric, with a solution on the boundary."""
    rng = np.random.default_rng(seed)
    skew, square = rng.normal(size=(2, d, d))
    skew = (skew - skew.T) / np.linalg.norm(skew - skew.T, 2)
    square = square @ square.T / np.linalg.norm(square @ square.T, 2)
    matrix = skew + square / 2 + mu * np.eye(d)
    domain = domain_of(kind, d)
    outside = 2 * rng.normal(size=d)
    solution = domain.project(outside)
    # F(solution) is minus a normal vector of the set: that is what solves the inequality.
    normal = 0.3 * (outside - solution)
    lipschitz = float(np.linalg.norm(matrix, 2))
    bound = lipschitz * domain.diameter + float(np.linalg.norm(normal))
    operator = Operator(lambda w: matrix @ (w - solution) - normal, domain, lipschitz, bound, mu)
    return operator, solution


@pytest.mark.parametrize("kind", ["ball", "box", "simplex"])
@pytest.mark.parametrize("d", [2, 20, 200])
@pytest.mark.parametrize("mu", [0.02, 0.5])
def test_strongly_monotone_problems_to_1e_8_within_the_bound(kind: str, d: int, mu: float) -> None:
    operator, solution = random_problem(kind, d, mu, seed=d)
    count = extragradient_iterations(operator, GAP)
    assert extragradient(operator, iterations=count).gap <= GAP
    count = iterations_for_gap(operator, GAP)
    found = extrapolate(operator, iterations=count)
    assert found.gap <= GAP
    assert found.evaluations == count + 1
    assert np.linalg.norm(found.point - solution) <= GAP / operator.bound


@pytest.mark.parametrize("method", ["extragradient", "extrapolation"])
def test_every_iterate_obeys_the_linear_rate(method: str) -> None:
    for seed in range(5):
        operator, solution = random_problem("box", 10, 0.1, seed)
        kappa = operator.strong_monotonicity / operator.lipschitz
        first = np.linalg.norm(operator.domain.centre - solution) ** 2
        for n in (1, 2, 5, 10, 40, 80):
            if method == "extragradient":
                point = extragradient(operator, iterations=n).point
                bound = (1 - (math.sqrt(1 + kappa**2) - kappa) * kappa) ** n
            else:
                point = extrapolate(operator, iterations=n).point
                bound = 2 / (1 + 2 * kappa) * (1 + kappa) ** -(n - 1)
            assert np.linalg.norm(point - solution) ** 2 <= bound * first + 1e-28


@pytest.mark.parametrize("weight", [0.01, 1.0, 300.0])
def test_a_proximal_term_does_not_slow_extrapolation_down(weight: float) -> None:
    """Theorem 2 with lambda: the rate is that of F's own L, for anchors inside and outside."""
    for seed in range(5):
        operator, _ = random_problem("simplex", 8, 0.0, seed)
        rng = np.random.default_rng(seed)
        anchor = operator.domain.project(rng.normal(size=8)) + rng.normal(size=8) * (seed % 2)
        start = operator.domain.project(anchor)
        inner = operator.regularized(weight, anchor)
        solution = extrapolate(inner, iterations=iterations_for_gap(inner, 1e-13)).point
        kappa = weight / operator.lipschitz
        first = np.linalg.norm(start - solution) ** 2
        for n in (1, 2, 5, 10, 40):
            point = extrapolation_run(
                operator.function, operator.domain, lipschitz=operator.lipschitz,
                strong_monotonicity=weight, iterations=n, start=start, weight=weight, anchor=anchor,
            )  # fmt: skip
            bound = 2 / (1 + 2 * kappa) * (1 + kappa) ** -(n - 1)
            assert np.linalg.norm(point - solution) ** 2 <= bound * first + 1e-24


@pytest.mark.parametrize("kappa", [0.01, 0.1, 1.0])
def test_a_start_within_the_radius_does_not_end_outside(kappa: float) -> None:
    """The first step on a rotation with little strong monotonicity leads away."""
    count = extrapolation_iterations(
        lipschitz=1.0, strong_monotonicity=kappa, diameter=1.0, radius=1.0
    )
    end = extrapolation_run(
        lambda w: np.array([-w[1], w[0]]), Ball(9.0, np.zeros(2)), lipschitz=1.0,
        strong_monotonicity=kappa, iterations=count, start=np.array([1.0, 0.0]), weight=kappa,
        anchor=np.zeros(2),
    )  # fmt: skip
    assert np.linalg.norm(end) <= 1.0


def bilinear(d: int, seed: int) -> tuple[Operator, np.ndarray, float]:
    """A game that is monotone and no more: skew, least singular value known, solution inside."""
    rng = np.random.default_rng(seed)
    half = d // 2
    u, _, v = np.linalg.svd(rng.normal(size=(half, half)))
    sigma = np.linspace(0.3, 1.0, half)
    payoff = u @ np.diag(sigma) @ v
    x, y = rng.normal(size=(2, half)) / (4 * math.sqrt(half))
    function = saddle_operator(lambda a, b: payoff @ (b - y), lambda a, b: payoff.T @ (a - x), half)
    domain = Product(Ball(2.0, np.zeros(half)), Ball(2.0, np.zeros(half)))
    bound = domain.magnitude + np.linalg.norm([x, y])
    return Operator(function, domain, 1.0, float(bound)), np.concatenate([x, y]), 0.3


@pytest.mark.parametrize("d", [4, 40, 200])
def test_merely_monotone_games_to_1e_8_within_the_bound(d: int) -> None:
    """Skew operators with the solution inside contract too: Proposition 4."""
    operator, solution, sigma = bilinear(d, seed=d)
    radius = GAP / (operator.domain.diameter + operator.bound)
    step = 1 / math.sqrt(2)
    rate = 1 - (step * sigma) ** 2 * (1 - (step * sigma) ** 2)
    distance = np.linalg.norm(solution)
    count = math.ceil(2 * math.log(distance / radius) / -math.log(rate))
    found = extragradient(operator, iterations=count, step=step, average=False)
    assert found.gap <= GAP
    weight, steps = 0.3, math.ceil(2 * math.log(2 * distance / radius) / math.log(2))
    found = proximal_point(operator, weight=weight, steps=steps, accuracy=GAP**2, average=False)
    assert found.gap <= GAP


def test_averages_of_a_matrix_game_obey_the_ergodic_bound() -> None:
    rng = np.random.default_rng(0)
    game = MatrixGame(rng.uniform(-1, 1, (1, 6, 5)))
    operator = game.mean()
    for n in (10, 100, 1000):
        bound = operator.lipschitz * operator.domain.diameter**2 / (2 * n)
        found = extragradient(operator, iterations=n)
        # A skew operator's certificate is its gap, and for a game the exploitability.
        assert found.gap <= bound
        assert found.gap == pytest.approx(game.saddle_gap(found.point), abs=1e-12)
    assert extragradient_iterations(operator, bound) in (1000, 1001)
    # The heavier weight of the last takes fewer inner iterations.
    for n, weight in ((10, 1.0), (100, 1.0), (1000, 20.0)):
        # A thousandth of the bound: the inner problems' accuracy hardly adds to it.
        bound = weight * operator.domain.diameter**2 / (2 * n)
        found = proximal_point(operator, weight=weight, steps=n, accuracy=bound / 1000)
        assert found.gap <= bound * 1.001


def test_rock_paper_scissors_is_solved_by_the_uniform_distribution() -> None:
    payoff = np.array([[0.0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    uniform = np.full(3, 1 / 3)
    sets = Simplex(3), Simplex(3)
    assert bilinear_gap(payoff, uniform, uniform, *sets) == pytest.approx(0, abs=1e-15)
    assert bilinear_gap(payoff, np.array([1.0, 0, 0]), uniform, *sets) == pytest.approx(1)
    game = MatrixGame(payoff[None])
    start = np.concatenate([[1.0, 0, 0], [0, 1.0, 0]])
    found = extragradient(game.mean(), iterations=400, start=start, average=False)
    np.testing.assert_allclose(found.point, np.full(6, 1 / 3), atol=1e-6)


def test_bilinear_gap_by_brute_force() -> None:
    rng = np.random.default_rng(1)
    payoff, b, c = rng.normal(size=(3, 4)), rng.normal(size=3), rng.normal(size=4)
    x, y = np.array([0.2, 0.3, 0.5]), np.full(4, 0.25)

    def f(x: np.ndarray, y: np.ndarray) -> float:
        return float(x @ payoff @ y + b @ x - c @ y)

    gap = max(f(x, corner) for corner in np.eye(4)) - min(f(corner, y) for corner in np.eye(3))
    found = bilinear_gap(payoff, x, y, Simplex(3), Simplex(4), linear_x=b, linear_y=c)
    assert found == pytest.approx(gap)


def test_the_certificate_bounds_the_gap_of_a_monotone_operator() -> None:
    operator, _ = random_problem("box", 4, 0.3, seed=9)
    rng = np.random.default_rng(2)
    for _ in range(20):
        point = operator.domain.project(rng.normal(size=4))
        others = [operator.domain.project(2 * rng.normal(size=4)) for _ in range(200)]
        largest = max(operator(w) @ (point - w) for w in others)
        assert strong_gap(operator, point, operator.domain) >= largest


def test_iteration_counts_are_counts_also_when_nothing_is_to_do() -> None:
    operator, _ = random_problem("ball", 3, 0.5, seed=0)
    assert extragradient_iterations(operator, 1e3) == 1
    assert iterations_for_gap(operator, 1e3) == 1


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda op: extragradient(op, iterations=0), "iterations: a positive"),
        (
            lambda op: extragradient(
                Operator(lambda w: np.nan * w, op.domain, 1.0, 1.0), iterations=1
            ),
            "operator: the certificate is nan",
        ),
        (lambda op: extragradient(op, iterations=1, step=0.0), "step: a positive"),
        (lambda op: extragradient(op, iterations=1, start=[9.0] * 3), "start: lies outside"),
        (lambda op: extragradient_iterations(op, 0.0), "gap: a positive"),
        (lambda op: iterations_for_gap(op, -1.0), "gap: a positive"),
        (lambda op: proximal_point(op, weight=0.0, steps=1, accuracy=1.0), "weight, accuracy"),
        (
            lambda op: extrapolate(Operator(op, op.domain, 1.0, 1.0), iterations=1),
            "needs a strongly monotone operator",
        ),
        (
            lambda op: extrapolation_iterations(
                lipschitz=1.0, strong_monotonicity=0.0, diameter=1.0, radius=0.1
            ),
            "regularise",
        ),
    ],
)
def test_bad_parameters_are_named(call, match) -> None:
    operator, _ = random_problem("ball", 3, 0.5, seed=0)
    with pytest.raises(ProblemError, match=match):
        call(operator)
