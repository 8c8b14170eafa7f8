"""What a run spends, measured: its own noise against changes on neighbouring data."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from oracle_dp import Ledger, Neighbors, ParameterError
from oracle_dp.accounting.gaussian import gaussian_delta, gaussian_mu
from oracle_dp.errors import DomainError, OverspendError
from oracle_dp.first_order.batches import poisson_batch
from oracle_dp.first_order.gd import gradient_descent
from oracle_dp.first_order.sgd import stochastic_gradient_descent
from oracle_dp.ledger import Budget
from oracle_dp.noise import SeededBits
from oracle_dp.noise.floating import gaussian
from oracle_dp.privacy import ContingencyKind
from oracle_dp.record_losses import LinearModelLoss
from oracle_dp.second_order.cubic import SubSolver, cubic_newton
from oracle_dp.second_order.damped import damped_newton, noisy_symmetric
from oracle_dp.second_order.double_noise import DoubleNoise, double_noise_newton
from oracle_dp.second_order.minibatch import minibatch_newton
from oracle_dp.second_order.preconditioned import preconditioned_descent
from oracles.convex import HuberHinge, MeanLoss, Newton, Squared

TARGET = {"epsilon": 1.0, "delta": 1e-6}


def sample(n: int = 400, d: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(seed)
    x = draws.normal(size=(n, d))
    x /= np.maximum(1, np.linalg.norm(x, axis=1))[:, None]
    return x, np.where(draws.random(n) < 1 / (1 + np.exp(-3 * x[:, 0])), 1.0, -1.0)


def data(**changes: Any) -> LinearModelLoss:
    x, y = sample(**changes)
    return LinearModelLoss.from_data(x, y)


FULL: dict[str, Callable[..., Any]] = {
    "add": double_noise_newton,
    "clip": lambda losses, **k: double_noise_newton(
        losses, settings=DoubleNoise(modification="clip", curvature="hessian", steps=7), **k
    ),
    "stale": partial(double_noise_newton, settings=DoubleNoise(steps=9, refresh=4)),
    "damped": damped_newton,
    "preconditioned": partial(preconditioned_descent, steps=7, matrices=3),
    "cubic": lambda losses, **k: cubic_newton(losses, radius=3.0, most_inner_steps=50, **k),
    "gd": gradient_descent,
}
BATCHED: dict[str, Callable[..., Any]] = {
    "sgd": partial(stochastic_gradient_descent, steps=5),
    "minibatch": partial(minibatch_newton, steps=3),
}
ALL = {**FULL, **BATCHED}

Release = tuple[np.ndarray, float]


def parts_of_mu(
    name: str, first: Any, second: Any, relation: str, start: Any, monkeypatch: Any
) -> np.ndarray:
    """Of a pair of data sets: noise of the second run makes every release that of the first.

    With the past held equal, a release's change over its noise is its part of mu.
    """
    made: list[Release] = []
    draws = SeededBits(3)

    def keep(exact: np.ndarray, scale: float, _: Any) -> np.ndarray:
        noise = gaussian(draws, scale, exact.shape)
        if exact.ndim == 2:
            noise = (noise + noise.T) / 2
        made.append((exact, scale))
        released.append(exact + noise)
        return released[-1]

    changes: list[float] = []
    released: list[np.ndarray] = []

    def repeat(exact: np.ndarray, scale: float, _: Any) -> np.ndarray:
        before, before_scale = made[len(changes)]
        # A scale may depend on the past alone.
        assert scale == before_scale
        changes.append(float(np.linalg.norm(exact - before)) / scale)
        return released[len(changes) - 1]

    for noise, data in ((keep, first), (repeat, second)):
        with monkeypatch.context() as patch:
            for home in NOISY:
                patch.setattr(home, noise)
            FULL[name](data, neighbors=relation, random_state=1, start=start, **TARGET)
    assert len(changes) == len(made)
    return np.array(changes)


NOISY = (
    "oracle_dp.mechanisms.spending.noisy",
    "oracle_dp.second_order.double_noise.noisy",
    "oracle_dp.second_order.damped.noisy_symmetric",
    "oracle_dp.second_order.preconditioned.noisy_symmetric",
)


def pairs(relation: str) -> Any:
    """Records, what stands in their place, and where to start: bad cases for one release each."""
    gone = np.zeros(2)
    right, up, left = np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([-1.0, 0.0])
    # Far up both of these are wrong, and nearly opposite.
    one, other = np.array([0.96, -0.28]), np.array([-0.96, -0.28])
    for start in (gone, 400 * up):
        yield right, left if relation == "replace" else gone, start
        yield right, up if relation == "replace" else gone, start
        yield one, other if relation == "replace" else gone, start
        yield -up, right if relation == "replace" else gone, start


@pytest.mark.parametrize("relation", ["zero_out", "replace"])
@pytest.mark.parametrize("name", FULL)
def test_a_run_spends_no_more_than_its_mu_whatever_the_pair(name, relation, monkeypatch) -> None:
    """The worst change of every release over all pairs: their squares add up to mu^2 at most.

    That is what the theorem bounds: each ratio by itself, fixed beforehand.
    """
    x, y = sample(n=40, d=2)
    worst: Any = 0.0
    for rows in (x, np.zeros_like(x)):
        for own, other, start in pairs(relation):
            both = []
            for record in (own, other):
                rows[0] = record
                both.append(LinearModelLoss.from_data(rows, np.where(np.arange(40) == 0, 1, y)))
            worst = np.maximum(worst, parts_of_mu(name, *both, relation, start, monkeypatch))
    allowed = gaussian_mu(1.0, delta=1e-6)
    assert math.sqrt((worst**2).sum()) <= allowed
    # These pairs use most of it: noise that is short by a third would be found out. (The cubic
    # model's bound is for the far ends of its ball; its own test goes there.)
    assert math.sqrt((worst**2).sum()) > (0.3 if name == "cubic" else 0.67) * allowed


def test_the_symmetric_noise_is_isotropic_in_frobenius_norm() -> None:
    source, zero = SeededBits(5), np.zeros((2, 2))
    drawn = np.array([noisy_symmetric(zero, 1.0, source) for _ in range(20_000)])
    assert (drawn == drawn.transpose(0, 2, 1)).all()
    assert drawn[:, 0, 0].var() == pytest.approx(1, rel=0.05)
    assert drawn[:, 1, 1].var() == pytest.approx(1, rel=0.05)
    assert drawn[:, 0, 1].var() == pytest.approx(0.5, rel=0.05)


@pytest.mark.parametrize("name", ["add", "clip", "gd", "cubic", "damped", "preconditioned"])
def test_without_noise_to_speak_of_the_optimum_is_found(name) -> None:
    losses = data(n=600)
    best = Newton(tolerance=1e-12).minimize(losses.problem)
    more: dict[str, Any] = {
        "add": {"settings": DoubleNoise(steps=300)},
        "clip": {"settings": DoubleNoise(steps=40, curvature="hessian", modification="clip")},
        "gd": {"steps": 3000},
        "damped": {"steps": 40},
        "preconditioned": {"steps": 60},
        "cubic": {"radius": 5.0, "convexity": 1e-2, "steps": 8},
    }[name]
    run = {"add": double_noise_newton, "clip": double_noise_newton}.get(name) or FULL[name]
    run = {"cubic": cubic_newton, "preconditioned": preconditioned_descent}.get(name, run)
    found = run(losses, epsilon=1e6, delta=1e-6, random_state=1, **more).value
    excess = losses.value(found) - best.objective
    if name == "cubic":  # It minimises the loss with a ridge.
        ridge = 1e-2 / 2
        with_ridge = Newton(tolerance=1e-12).minimize(
            MeanLoss(rows=losses.problem.rows, divisor=600, ridge=1e-2)
        )
        excess = losses.value(found) + ridge * found @ found - with_ridge.objective
    assert -1e-12 <= excess < 1e-6


@pytest.mark.parametrize("modification", ["add", "clip"])
@pytest.mark.parametrize("epsilon", [10.0, 1e3, 1e6])
def test_newton_does_not_diverge_at_large_epsilon(epsilon, modification) -> None:
    """Directions' noise is in proportion to the gradient: below a certain floor it would grow."""
    draws = np.random.default_rng(0)
    levels = draws.integers(0, 6, (5000, 4))
    x = np.concatenate([np.eye(6)[column] for column in levels.T], axis=1) / 2
    y = np.where(draws.random(5000) < 1 / (1 + np.exp(2.0 - levels[:, 0])), 1.0, -1.0)
    losses = LinearModelLoss.from_data(x, y)
    best = Newton(radius=1e3).minimize(losses.problem).objective
    settings = DoubleNoise(steps=40, modification=modification)
    excesses = [
        losses.value(
            double_noise_newton(
                losses, epsilon=epsilon, delta=1e-8, settings=settings, random_state=seed
            ).value
        )
        - best
        for seed in range(3)
    ]
    assert max(excesses) < 0.01


@pytest.mark.parametrize("name", BATCHED)
def test_batches_converge_to_their_sampling_error(name) -> None:
    losses = data(n=2000)
    best = Newton().minimize(losses.problem)
    more = {"steps": 60, "batch": 2000}
    run = {"sgd": stochastic_gradient_descent, "minibatch": minibatch_newton}[name]
    if name == "sgd":
        more["steps"] = 600
    found = run(losses, epsilon=1e4, delta=1e-6, random_state=1, **more).value
    assert losses.value(found) - best.objective < 1e-3


# -- the cubic sub-solver ----------------------------------------------------------------------


def solver(n_inner: int = 50, reach: int = 1) -> tuple[SubSolver, LinearModelLoss, float]:
    losses = data(n=200)
    rho = 0.01
    made = SubSolver.calibrated(
        losses, rho=rho, reach=reach, radius=2.0, bend=0.1, convexity=0.05, most=n_inner
    )
    return made, losses, rho


@pytest.mark.parametrize("reach", [1, 2])
def test_the_sub_solvers_noise_is_the_corrected_one(reach) -> None:
    made, losses, rho = solver(reach=reach)
    n, across = losses.size, 4.0
    sensitivity = (reach + across / 4) / n
    assert made.steps * sensitivity**2 / (2 * made.scale**2) == pytest.approx(rho)
    printed = math.sqrt(made.steps * (1 + across / 4) ** 2 / (2 * rho))
    # As printed the noise would be n times as large: private, and useless.
    assert printed / made.scale == pytest.approx(2 * n / (reach + 1))
    assert made.steps == 50
    few, *_ = solver(10**6)
    wanted = 2 * rho * ((1 + 1 + 0.1 * 16 + 0.05 * 2) * n / 2) ** 2 / 3
    assert few.steps == math.ceil(wanted)


def test_the_sub_solvers_weights_sum_to_one_as_printed_ones_do_not() -> None:
    made, *_ = solver()
    n = made.steps
    assert made.weights().sum() == pytest.approx(1, abs=1e-12)
    assert sum(2 * i / (n * (n + 1)) for i in range(n)) == pytest.approx((n - 1) / (n + 1))


def test_the_sub_solvers_sensitivity_covers_every_point_of_the_ball() -> None:
    draws = np.random.default_rng(0)
    worst = 0.0
    for _ in range(3000):
        record = draws.normal(size=2)
        record /= np.linalg.norm(record)
        alone = LinearModelLoss.from_data(record[None], [1.0], size=1)
        w, theta = (2 * v / np.linalg.norm(v) for v in draws.normal(size=(2, 2)))
        gradient, matrix = alone.second_order(w, "hessian")
        worst = max(worst, float(np.linalg.norm(gradient + matrix @ (theta - w))))
    assert 0.5 < worst <= 1 + 4 / 4


# -- bad input ---------------------------------------------------------------------------------


def book() -> Ledger:
    return Ledger({"d": Budget(epsilon=10, delta=1e-3, neighbors="replace")})


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 0}, {"epsilon": -1.0}, {"epsilon": math.nan}, {"delta": 0}, {"delta": 1.0},
        {"neighbors": "add_remove"}, {"neighbors": "other"}, {"start": [1.0]},
        {"start": [math.nan] * 3}, {"random_state": -1},
    ],
)  # fmt: skip
def test_bad_parameters_are_found_before_anything_is_charged(name, change) -> None:
    ledger = book()
    with pytest.raises(ParameterError):
        ALL[name](data(n=30), **{**TARGET, "ledger": ledger, "dataset": "d", **change})
    assert ledger.charges == ()


@pytest.mark.parametrize(
    ("run", "change"),
    [
        (damped_newton, {"gradient_share": 0.0}), (damped_newton, {"gradient_share": 1.0}),
        (damped_newton, {"steps": 0}), (preconditioned_descent, {"matrices": 0}),
        (preconditioned_descent, {"matrix_share": 1.0}),
        (preconditioned_descent, {"curvature": "full"}), (gradient_descent, {"steps": 0}),
        (gradient_descent, {"step_size": 0.0}), (cubic_newton, {"radius": math.inf}),
        (cubic_newton, {"convexity": 0.0}), (cubic_newton, {"steps": 0}),
        (cubic_newton, {"most_inner_steps": 0}), (stochastic_gradient_descent, {"batch": 0}),
        (stochastic_gradient_descent, {"batch": 31}), (minibatch_newton, {"floor": 1e-300}),
        (minibatch_newton, {"curvature": "both"}), (double_noise_newton, {"settings": 3}),
    ],
)  # fmt: skip
def test_bad_settings_too(run, change) -> None:
    ledger = book()
    with pytest.raises(ParameterError):
        run(data(n=30), **TARGET, ledger=ledger, dataset="d", **change)
    assert ledger.charges == ()


@pytest.mark.parametrize(
    "change",
    [
        {"gradient_share": 0.0}, {"gradient_share": 1.0}, {"trace_share": 0.0},
        {"trace_share": 1.5}, {"steps": 0}, {"steps": True}, {"refresh": 0}, {"curvature": "full"},
        {"modification": "cut"}, {"floor": 0.0}, {"floor": 1e-300}, {"floor_factor": -1.0},
    ],
)  # fmt: skip
def test_double_noise_refuses_settings_out_of_range(change) -> None:
    with pytest.raises(ParameterError):
        DoubleNoise(**change)


@pytest.mark.parametrize("name", ALL)
def test_a_loss_without_a_lipschitz_constant_is_refused(name) -> None:
    x, y = sample(n=30)
    with pytest.raises(ParameterError, match="Lipschitz"):
        ALL[name](LinearModelLoss.from_data(x, y, loss=Squared()), **TARGET)


def test_a_jumping_curvature_is_refused_where_its_constant_is_needed() -> None:
    x, y = sample(n=30)
    losses = LinearModelLoss.from_data(x, y, loss=HuberHinge())
    with pytest.raises(ParameterError, match="hessian_lipschitz"):
        cubic_newton(losses, **TARGET)
    assert double_noise_newton(losses, **TARGET, random_state=1).value.shape == (3,)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.array([[0.3, -2.0]]), [1.0]),
        (np.random.default_rng(0).normal(size=(3, 20)), [1.0, -1.0, 1.0]),
        (np.ones((50, 2)), np.ones(50)),
        (np.zeros((5, 2)), np.ones(5)),
    ],
    ids=["n=1", "d>n", "constant columns and one class", "all zero"],
)
def test_ordinary_if_odd_data_train(name, x, y) -> None:
    found = ALL[name](LinearModelLoss.from_data(x, y), **TARGET, random_state=1)
    assert np.isfinite(found.value).all()


@pytest.mark.parametrize("name", BATCHED)
def test_an_empty_batch_is_noise_alone(name, monkeypatch) -> None:
    sizes: list[int] = []

    def drawn(*given: Any) -> MeanLoss:
        batch = poisson_batch(*given)
        sizes.append(batch.rows.n_rows)
        return batch

    for home in ("first_order.sgd", "second_order.minibatch"):
        monkeypatch.setattr(f"oracle_dp.{home}.poisson_batch", drawn)
    run = {"sgd": stochastic_gradient_descent, "minibatch": minibatch_newton}[name]
    found = run(data(n=20), **TARGET, batch=1, steps=8, random_state=4)
    assert 0 in sizes
    assert np.isfinite(found.value).all()


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_rows_that_are_not_finite_are_refused_without_showing_them(bad) -> None:
    with pytest.raises(DomainError) as caught:
        LinearModelLoss.from_data([[1.0, bad], [12345.678, 0.0]], [1, -1])
    assert "12345" not in str(caught.value)


def test_rows_above_the_bound_are_clipped_and_counted_privately() -> None:
    losses = LinearModelLoss.from_data([[3.0, 4.0], [0.3, 0.4]], [1, 1], norm_bound=1.0)
    assert losses.clipped == 1
    assert "clipped" not in repr(losses)
    assert losses.problem.rows.norms().max() <= 1
    scaled = LinearModelLoss.from_data([[3.0, 4.0]], [1], norm_bound=5.0)
    assert scaled.clipped == 0
    assert scaled.problem.rows.norms() == pytest.approx([1.0])


# -- guarantees --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("relation", ["replace", "zero_out", "add_remove"])
def test_guarantees_say_what_was_spent(name, relation) -> None:
    x, y = sample(n=100)
    losses = LinearModelLoss.from_data(x, y, size=100)
    ledger = Ledger({"d": Budget(epsilon=1, delta=1e-6, neighbors=relation)})
    release = ALL[name](
        losses, **TARGET, neighbors=relation, ledger=ledger, dataset="d", random_state=3
    )
    guarantee = release.guarantee
    assert guarantee.neighbors is Neighbors(relation)
    assert guarantee.epsilon == 1
    assert guarantee.delta == pytest.approx(1e-6)
    kinds = {c.kind for c in guarantee.contingencies}
    assert {ContingencyKind.FLOATING_POINT_NOISE, ContingencyKind.SEEDED} <= kinds
    left = ledger.remaining("d")
    assert left[0] == 0
    assert left[1] < 1e-20
    with pytest.raises(OverspendError):
        ALL[name](losses, **TARGET, neighbors=relation, ledger=ledger, dataset="d")
    if name in FULL:
        assert gaussian_delta(1.0, mu=math.sqrt(2 * guarantee.rho)) == pytest.approx(1e-6, rel=1e-6)
    else:
        assert guarantee.rho is None
    again = ALL[name](losses, **TARGET, neighbors=relation, random_state=3)
    assert (again.value == release.value).all()
    assert type(release).from_json(release.to_json()).guarantee == guarantee


@pytest.mark.parametrize("name", FULL)
def test_budgets_composed_by_zcdp_take_the_rho_of_full_batches(name) -> None:
    budget = Budget(epsilon=1, delta=1e-5, neighbors="replace", composition="zcdp")
    ledger = Ledger({"d": budget})
    for _ in range(4):  # Four times 0.3, which would not add up to less than 1.
        release = FULL[name](data(n=30), epsilon=0.3, delta=1e-5, ledger=ledger, dataset="d")
    assert [float(charge.rho) for charge in ledger.charges] == [release.guarantee.rho] * 4
    assert ledger.spent("d")[0] < 1


class Softmax:
    """Three classes: records whose curvature has rank two, to go through ``add``."""

    def __init__(self, x: np.ndarray, classes: np.ndarray) -> None:
        self.x, self.hot = x, np.eye(3)[classes]
        self.size, self.size_is_public, self.dimension = len(x), False, 3 * x.shape[1]
        self.lipschitz, self.smoothness, self.curvature_trace = math.sqrt(2), 0.5, 2 / 3

    def _p(self, w):
        scores = self.x @ w.reshape(3, -1).T
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)

    def gradient(self, w):
        return ((self._p(w) - self.hot).T @ self.x).ravel() / self.size

    def second_order(self, w, curvature):
        p = self._p(w)
        parts = np.einsum("ni,ij->nij", p, np.eye(3)) - np.einsum("ni,nj->nij", p, p)
        matrix = np.einsum("nij,nk,nl->ikjl", parts, self.x, self.x)
        return self.gradient(w), matrix.reshape(self.dimension, self.dimension) / self.size


def test_losses_of_any_rank_go_through_add() -> None:
    x, _ = sample(n=3000)
    classes = np.argmax(x + 0.1, axis=1)
    losses = Softmax(x, classes)
    settings = DoubleNoise(steps=60, curvature="hessian")
    release = double_noise_newton(losses, epsilon=50, delta=1e-6, settings=settings, random_state=1)
    accuracy = (losses._p(release.value).argmax(axis=1) == classes).mean()
    assert accuracy > 0.9
    assert ContingencyKind.CALLER in {c.kind for c in release.guarantee.contingencies}


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_asked_for_that_a_mechanism_does_not_know(name) -> None:
    losses = data(n=20)
    # Not even what would make a delta of 0 acceptable.
    with pytest.raises(TypeError, match="'pure'"):
        ALL[name](losses, epsilon=1.0, pure=True)
    with pytest.raises(TypeError, match="epsilon"):
        ALL[name](losses, delta=1e-6)
    with pytest.raises(ParameterError, match="delta"):
        ALL[name](losses, epsilon=1.0)
