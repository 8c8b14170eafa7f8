"""What operators promise, sampled; the problems that ship keep their promises for every record."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from oracles import ProblemError
from oracles.errors import NonMonotoneWarning
from oracles.monotone import (
    Ball,
    BilinearGame,
    Clipped,
    GroupRobustLogistic,
    MatrixGame,
    MaxLogistic,
    Operator,
    QuadraticGame,
    RecordFunction,
    RecordOperator,
    Simplex,
    check_operator,
    extragradient,
    sample_points,
    sampled_properties,
)

N = 40


def problems(scale: float = 1.0) -> dict[str, RecordOperator]:
    """Each problem with features far larger than its bounds, so that clipping has work to do."""
    rng = np.random.default_rng(0)
    balls = Ball(1.0, np.zeros(3)), Ball(1.0, np.zeros(4))
    features, labels = scale * rng.normal(size=(N, 5)), rng.choice([-1, 1], (N, 3))
    groups = np.arange(N) % 3
    shares = [0.35, 0.325, 0.325]
    return {
        "bilinear": BilinearGame(
            scale * rng.normal(size=(N, 3, 4)), scale * rng.normal(size=(N, 7)), *balls,
            coupling_norm=1.0,
        ),
        "matrix": MatrixGame(rng.uniform(-1, 1, (N, 3, 4))),
        "quadratic": QuadraticGame(
            scale * rng.normal(size=(N, 7)), rng.normal(size=(3, 4)), 0.5, Ball(1.0, np.zeros(7))
        ),
        "groups": GroupRobustLogistic(features, labels[:, 0], groups, shares, radius=3.0),
        "capped": GroupRobustLogistic(
            features, labels[:, 0], groups, shares, radius=3.0, loss_cap=1.0
        ),
        "limited": GroupRobustLogistic(
            features, labels[:, 0], groups, [0.8, 0.15, 0.05], radius=3.0, weight_cap=4.0
        ),
        "tasks": MaxLogistic(features, labels, radius=3.0),
    }  # fmt: skip


@pytest.mark.parametrize("scale", [0.1, 1.0, 1e6])
@pytest.mark.parametrize("name", problems())
def test_every_record_keeps_the_promises(name: str, scale: float) -> None:
    operator = problems(scale)[name]
    assert operator.enforced
    for i in range(N):
        one = np.array([i])
        function = lambda w, one=one: operator.per_record(w, one)[0]  # noqa: E731  # short
        with warnings.catch_warnings():
            if not operator.monotone:
                warnings.simplefilter("ignore", NonMonotoneWarning)
            check_operator(
                function, operator.domain, lipschitz=operator.lipschitz, bound=operator.bound,
                samples=20, seed=i,
            )  # fmt: skip


@pytest.mark.parametrize("name", problems())
def test_totals_are_sums_and_scales_bound_every_record(name: str) -> None:
    operator = problems(1e3)[name]
    rng = np.random.default_rng(1)
    for point in sample_points(operator.domain, 30, rng):
        values = operator.per_record(point)
        some = rng.choice(N, 7, replace=False)
        np.testing.assert_allclose(operator.total(point), values.sum(axis=0), atol=1e-11)
        np.testing.assert_allclose(
            operator.total(point, some), values[some].sum(axis=0), atol=1e-11
        )
        np.testing.assert_array_equal(operator.total(point, some[:0]), 0)
        if isinstance(operator, GroupRobustLogistic):
            assert operator.mixture(point).sum() == pytest.approx(1)
        norms = np.linalg.norm(values / operator.scale(point), axis=1)
        assert norms.max() <= 1 + 1e-12


def test_scales_and_bounds_are_attained_up_to_a_factor() -> None:
    """Bounds that no record comes near would only add noise."""
    for name, operator in problems(1e3).items():
        points = sample_points(operator.domain, 300, np.random.default_rng(2))
        norms = [np.linalg.norm(operator.per_record(w), axis=1).max() for w in points]
        assert max(norms) >= 0.5 * operator.bound, name


@pytest.mark.parametrize("name", ["groups", "limited", "tasks", "bilinear", "quadratic"])
def test_operators_are_gradients_of_their_functions(name: str) -> None:
    """Central differences of the function that the docstring states."""
    operator = problems()[name]

    def value(point: np.ndarray) -> float:
        if isinstance(operator, GroupRobustLogistic):
            w, p = point[:5], operator.mixture(point)
            losses = np.log1p(np.exp(-operator.labels * (operator.features @ w)))
            weights = (p / operator.shares)[operator.groups]
            return float((weights * (losses - operator.half_range)).mean())
        if isinstance(operator, MaxLogistic):
            w, p = point[:5], point[5:]
            margins = operator.labels * (operator.features @ w)[:, None]
            return float(((np.log1p(np.exp(-margins)) - operator.half_range) @ p).mean())
        x, y = point[:3], point[3:]
        mean = operator.linear.mean(axis=0)
        if isinstance(operator, BilinearGame):
            payoff = operator.couplings.mean(axis=0)
            return float(x @ payoff @ y + mean[:3] @ x - mean[3:] @ y)
        assert isinstance(operator, QuadraticGame)
        coupling = operator.matrix[:3, 3:]
        curved = 0.25 * (x @ x - y @ y)
        return float(curved + x @ coupling @ y - mean[:3] @ x + mean[3:] @ y)

    n_x = 5 if name in ("groups", "limited", "tasks") else 3
    for point in sample_points(operator.domain, 5, np.random.default_rng(3)):
        steps = 1e-5 * np.eye(len(point))
        slopes = np.array([(value(point + s) - value(point - s)) / 2e-5 for s in steps])
        slopes[n_x:] *= -1
        np.testing.assert_allclose(operator.mean()(point), slopes, atol=1e-8)


def test_the_quadratic_game_has_the_solution_that_it_knows() -> None:
    game = problems()["quadratic"]
    assert isinstance(game, QuadraticGame)
    operator = Operator(
        game.mean().function, game.domain, game.lipschitz, game.bound, game.strong_monotonicity
    )
    found = extragradient(operator, iterations=400)
    assert np.linalg.norm(game.unconstrained_solution()) < 1
    np.testing.assert_allclose(found.point, game.unconstrained_solution(), atol=1e-12)


def test_the_worst_group_is_what_the_saddle_point_makes_best() -> None:
    """Against a grid over one weight: min over w of the largest group loss."""
    rng = np.random.default_rng(4)
    features, labels = np.ones((30, 1)), np.where(rng.random(30) < 0.7, 1, -1)
    groups = np.arange(30) % 2
    operator = GroupRobustLogistic(features, labels, groups, [0.5, 0.5], radius=2.0)
    found = extragradient(operator.mean(), iterations=20_000)
    grid = np.linspace(-2, 2, 4001)
    best = min(operator.group_losses(np.array([w])).max() for w in grid)
    worst = operator.group_losses(found.point[:1]).max()
    assert worst <= best + found.gap + 1e-9
    assert found.gap < 1e-3


# -- checks and clipping -----------------------------------------------------------------------


def rotation(count: int) -> RecordFunction:
    """Rotations of the plane by a right angle, ten times as long as the bound."""
    turn = np.array([[0.0, -10.0], [10.0, 0.0]])
    return RecordFunction(
        lambda w, records: np.tile(turn @ w, (len(np.arange(count)[records]), 1)),
        Ball(1.0, [0.0, 0.0]), n_records=count, lipschitz=10.0, bound=10.0,
    )  # fmt: skip


def test_a_clipped_rotation_is_not_monotone() -> None:
    clipped = Clipped(rotation(1), 1.0)
    assert not clipped.monotone
    seen = sampled_properties(lambda w: clipped.per_record(w)[0], clipped.domain, samples=2000)
    assert seen.monotonicity < -2
    assert seen.lipschitz <= 10 + 1e-9
    assert seen.bound <= 1 + 1e-12
    with pytest.warns(NonMonotoneWarning, match="monotone=False"):
        check_operator(clipped.mean(), clipped.domain, lipschitz=10.0, bound=1.0)


def test_clipping_survives_infinities_and_huge_numbers() -> None:
    rows = np.array([[3.0, 4.0], [np.nan, 1.0], [np.inf, 0.0], [1e300, -1e300], [0.1, 0.0]])
    raw = RecordFunction(
        lambda w, records: rows[records], Simplex(2), n_records=5, lipschitz=1.0, bound=1.0
    )
    clipped = Clipped(raw).per_record(np.zeros(2))
    half = math.sqrt(0.5)
    np.testing.assert_allclose(clipped, [[0.6, 0.8], [0, 0], [0, 0], [half, -half], [0.1, 0]])


def test_claims_that_a_sample_refutes_are_refused() -> None:
    operator = rotation(1).mean()
    with pytest.raises(ProblemError, match=r"lipschitz: 9 is exceeded.*clip the features"):
        check_operator(operator, operator.domain, lipschitz=9.0, bound=10.0)
    with pytest.raises(ProblemError, match=r"bound: 5 is exceeded.*clip the features"):
        check_operator(operator, operator.domain, lipschitz=10.0, bound=5.0)
    found = check_operator(operator, operator.domain, lipschitz=10.0, bound=10.0)
    assert found.monotonicity == pytest.approx(0, abs=1e-9)


X = np.ones((4, 2))
Y = [1, -1, 1, -1]


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: MatrixGame(np.full((2, 2, 2), 1.5)), r"payoffs: an entry exceeds payoff_bound=1"),
        (lambda: MatrixGame(np.full((2, 2, 2), np.nan)), "payoffs: has NaN"),
        (lambda: MatrixGame(np.ones((2, 2))), "payoffs: 3 dimensions"),
        (
            lambda: GroupRobustLogistic(X, Y, [0, 0, 0, 0], [0.5, 0.5], radius=1.0),
            "groups: group 1 has fewer than two records",
        ),
        (
            lambda: GroupRobustLogistic(X, Y, [0, 0, 0, 1], [0.5, 0.5], radius=1.0),
            "groups: group 1 has fewer than two records",
        ),
        (
            lambda: GroupRobustLogistic(X, Y, [0, 0, 0, 7], [0.5, 0.5], radius=1.0),
            "groups: numbers",
        ),
        (lambda: GroupRobustLogistic(X, Y, [0.5] * 4, [1.0], radius=1.0), "groups: one integer"),
        (lambda: GroupRobustLogistic(X, Y, [0] * 4, [1.5], radius=1.0), "shares: positive frac"),
        (lambda: GroupRobustLogistic(X, [0] * 4, [0] * 4, [1.0], radius=1.0), "labels: -1 or 1"),
        (lambda: GroupRobustLogistic(X, Y, [0] * 4, [1.0], radius=0.0), "radius: a positive"),
        (lambda: GroupRobustLogistic(np.inf * X, Y, [0] * 4, [1.0], radius=1.0), "features: has N"),
        (lambda: MaxLogistic(X, Y, radius=1.0), "labels: two dimensions"),
        (lambda: Operator(abs, Simplex(2), 1.0, math.inf), "bound: a positive"),
        (lambda: Operator(abs, Simplex(2), 1.0, 1.0, 2.0), "strong_monotonicity: between"),
        (
            lambda: RecordFunction(
                lambda w, r: w, Simplex(2), n_records=0, lipschitz=1.0, bound=1.0
            ),
            "n_records: a positive",
        ),
    ],
)
def test_bad_problems_are_named(make, match) -> None:
    with pytest.raises(ProblemError, match=match):
        make()


def test_an_operator_that_is_not_finite_is_no_monotone_one() -> None:
    ball = Ball(1.0, [0.0, 0.0])
    with pytest.raises(ProblemError, match="function: NaN or infinite at a sampled point"):
        check_operator(lambda w: np.nan * w, ball, lipschitz=1.0, bound=1.0)
    with pytest.raises(ProblemError, match="samples: at least 1"):
        check_operator(lambda w: w, ball, lipschitz=1.0, bound=1.0, samples=0)


def test_labels_that_are_no_numbers_are_named() -> None:
    with pytest.raises(ProblemError, match="labels: not an array of real numbers"):
        GroupRobustLogistic(np.ones((4, 1)), ["x"] * 4, [0, 0, 1, 1], [0.5, 0.5], radius=1.0)


def test_a_function_that_returns_other_records_than_asked_for_is_refused() -> None:
    everything = RecordFunction(
        lambda w, records: np.zeros((9, 2)), Ball(1.0, [0.0, 0.0]),
        n_records=9, lipschitz=1.0, bound=1.0,
    )  # fmt: skip
    assert everything.total(np.zeros(2)).tolist() == [0.0, 0.0]
    with pytest.raises(ProblemError, match=r"shape \(1, 2\), one row for each"):
        everything.total(np.zeros(2), np.array([4]))
