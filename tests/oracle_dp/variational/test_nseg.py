"""NSEG: where its noise goes, what it charges and refuses, what it reaches without noise."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kstest

from oracle_dp import Ledger, OverspendError, ParameterError
from oracle_dp.accounting import gaussian_delta
from oracle_dp.ledger import Budget
from oracle_dp.noise import SeededBits
from oracle_dp.privacy import ContingencyKind
from oracle_dp.variational import (
    Constants,
    NsegPlan,
    PrivacyTarget,
    RecursivePlan,
    Sampling,
    nseg,
    nseg_multi_pass,
    nseg_single_pass,
    recursive_nseg,
)
from oracle_dp.variational.nseg import extragradient_run
from oracles.monotone import (
    Ball,
    BilinearGame,
    Box,
    GroupRobustLogistic,
    QuadraticGame,
    RecordFunction,
    sample_points,
    strong_gap,
)


def game(n: int = 200, seed: int = 0) -> BilinearGame:
    rng = np.random.default_rng(seed)
    balls = Ball(1.0, np.zeros(3)), Ball(1.0, np.zeros(3))
    couplings = np.eye(3) / 3 + rng.normal(size=(n, 3, 3)) / 10
    return BilinearGame(couplings, 0.3 + rng.normal(size=(n, 6)) / 10, *balls, coupling_norm=1.0)


def zeros(n: int, d: int) -> RecordFunction:
    """Records that say nothing, in a set so large that no projection touches the noise."""
    return RecordFunction(
        lambda w, records: np.zeros((len(np.arange(n)[records]), d)),
        Box(np.full(d, -1e6), np.full(d, 1e6)), n_records=n, lipschitz=1.0, bound=2.0,
    )  # fmt: skip


def test_the_noise_of_a_run_gives_exactly_the_claimed_delta() -> None:
    """Measured noise, sensitivity by brute force, and the exact Gaussian profile: no formula of
    the calibration in between."""
    n, d, steps, step = 50, 4000, 1, 0.25
    plan = NsegPlan(sampling=Sampling.FULL, batch_size=n, steps=steps, step=step)
    release = nseg(zeros(n, d), epsilon=1.0, delta=1e-5, plan=plan, random_state=1)
    # w_1 = centre - step * noise of the first half-step.
    noise = release.value / -step
    values = np.array([[2.0], [-2.0]])  # Two records as far apart as the bound allows.
    moved = abs(values[0, 0] - values[1, 0]) / n
    mu = math.sqrt(2 * steps) * moved / float(np.std(noise))
    assert gaussian_delta(1.0, mu=mu) == pytest.approx(1e-5, rel=0.5)
    assert kstest(noise / noise.std(), "norm").pvalue > 1e-3


def test_both_half_steps_have_noise_of_their_own() -> None:
    """With zero operators w_1 and w_2 - u_1 are independent; one noise for both would show."""
    n, d, step = 50, 4000, 0.5
    one = NsegPlan(sampling=Sampling.FULL, batch_size=n, steps=1, step=step)
    two = NsegPlan(sampling=Sampling.FULL, batch_size=n, steps=2, step=step)
    first = extragradient_run(zeros(n, d), one, step, 1.0, SeededBits(3))
    both = 2 * extragradient_run(zeros(n, d), two, step, 1.0, SeededBits(3))
    second = both - first  # w_2 = u_1 - step * noise, u_1 = -step * noise.
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.09
    assert np.std(second) / np.std(first) == pytest.approx(math.sqrt(2), rel=0.07)


def test_noise_follows_the_scale_of_the_released_point() -> None:
    """Coordinates of a group-robust operator get the noise that their own bound asks for."""
    n = 60
    rng = np.random.default_rng(0)
    operator = GroupRobustLogistic(
        np.zeros((n, 2)), rng.choice([-1, 1], n), np.arange(n) % 3, [0.9, 0.09, 0.01], radius=1e9
    )
    start = np.concatenate([[0.0, 0.0], [1 / (3 * 0.9), 0.0, 0.0]])
    assert operator.mixture(start).tolist() == pytest.approx([1, 0, 0])
    plan = NsegPlan(sampling=Sampling.FULL, batch_size=n, steps=1, step=1e-3)
    drawn = np.array(
        [
            extragradient_run(operator, plan, 1e-3, 1.0, SeededBits(i), start=start)[:2]
            for i in range(400)
        ]
    )
    # All weight on the first group: sqrt(2) * R / 0.9 over n, not over the smallest share.
    assert drawn.std() * n / 1e-3 == pytest.approx(math.sqrt(2) / 0.9, rel=0.1)


@pytest.mark.parametrize("sampling", list(Sampling))
def test_without_noise_and_with_all_records_the_gap_closes(sampling: Sampling) -> None:
    """Noise off: full batches solve the mean problem, others come as near as their batches let."""
    operator = game(4000)
    full = sampling is Sampling.FULL
    size = operator.n_records if full else 200
    steps = 10 if sampling is Sampling.SINGLE_PASS else 3000
    plan = NsegPlan(sampling=sampling, batch_size=size, steps=steps, step=0.5, burn_in=steps // 2)
    point = extragradient_run(operator, plan, 0.5, 0.0, SeededBits(0))
    gap = strong_gap(operator.mean(), point, operator.domain)
    assert gap < (1e-3 if full else 0.3 if sampling is Sampling.SINGLE_PASS else 0.02)


@pytest.mark.parametrize("reuse", [False, True])
def test_full_batches_without_noise_reach_1e_8(reuse: bool) -> None:
    rng = np.random.default_rng(1)
    game = QuadraticGame(
        rng.normal(size=(50, 20)), rng.normal(size=(10, 10)) / 5, 0.5, Ball(1.0, np.zeros(20))
    )
    step = 0.25 / game.lipschitz
    plan = NsegPlan(
        sampling=Sampling.FULL, batch_size=50, steps=1000, step=step, burn_in=999, reuse=reuse
    )
    point = extragradient_run(game, plan, step, 0.0, SeededBits(0))
    assert strong_gap(game.mean(), point, game.domain) < 1e-8


def test_a_reused_release_is_accounted_for_once() -> None:
    plan = NsegPlan(sampling=Sampling.FULL, batch_size=10, steps=7, step=1.0)
    assert plan.schedule(10).releases == 14
    assert replace(plan, reuse=True).schedule(10).releases == 8


def test_the_release_says_what_holds() -> None:
    operator = game()
    plan = NsegPlan(sampling=Sampling.POISSON, batch_size=20, steps=5, step=0.1)
    release = nseg(operator, epsilon=1.0, delta=1e-5, plan=plan)
    guarantee = release.guarantee
    assert guarantee.is_private
    assert (guarantee.epsilon, guarantee.delta) == (1.0, 1e-5)
    assert guarantee.sensitivity == pytest.approx(2 * operator.bound / 20)
    assert "by construction" in guarantee.sensitivity_source
    kinds = {c.kind for c in guarantee.contingencies}
    assert kinds == {ContingencyKind.FLOATING_POINT_NOISE, ContingencyKind.RUNNING_TIME}
    assert operator.domain.distance(release.value) < 1e-9
    seeded = nseg(operator, epsilon=1.0, delta=1e-5, plan=plan, random_state=7)
    again = nseg(operator, epsilon=1.0, delta=1e-5, plan=plan, random_state=7)
    assert not seeded.guarantee.is_private
    np.testing.assert_array_equal(seeded.value, again.value)
    assert type(release).from_json(release.to_json()).guarantee == guarantee


def test_a_callers_own_operator_is_clipped_and_needs_no_promise() -> None:
    """Records a million times longer than they claim move nothing beyond the bound."""

    def wild(w: np.ndarray, records: np.ndarray | slice) -> np.ndarray:
        return np.full((len(np.arange(20)[records]), 2), 1e6)

    operator = RecordFunction(
        wild, Box([-1e9] * 2, [1e9] * 2), n_records=20, lipschitz=1.0, bound=1.0
    )
    plan = NsegPlan(sampling=Sampling.FULL, batch_size=20, steps=1, step=1.0)
    release = nseg(operator, epsilon=1e5, delta=0.5, plan=plan, random_state=0)
    assert np.linalg.norm(release.value) == pytest.approx(1.0, abs=0.2)
    assert "clipped" in release.guarantee.sensitivity_source
    kinds = {c.kind for c in release.guarantee.contingencies}
    assert ContingencyKind.CALLER not in kinds


def test_the_ledger_is_charged_before_and_only_when_all_is_well() -> None:
    ledger = Ledger({"games": Budget(epsilon=1.5, delta=1e-4)})
    plan = NsegPlan(sampling=Sampling.POISSON, batch_size=20, steps=5, step=0.1)
    common = {"epsilon": 1.0, "delta": 1e-5, "ledger": ledger, "dataset": "games"}
    with pytest.raises(ParameterError, match="step: positive"):
        nseg(game(), plan=replace(plan, step=0.0), **common)
    with pytest.raises(ParameterError, match="sampling: an oracle_dp"):
        nseg(game(), plan=replace(plan, sampling="full", batch_size=200), **common)
    with pytest.raises(ParameterError, match="plan: an NsegPlan or None expected, not a Recurs"):
        nseg(game(), plan=RecursivePlan(weight=1.0), **common)
    with pytest.raises(ParameterError, match="burn_in"):
        nseg(game(), plan=replace(plan, burn_in=5), **common)
    with pytest.raises(ParameterError, match="step: one number"):
        nseg(game(), plan=replace(plan, step=(1.0, 1.0, 1.0)), **common)
    with pytest.raises(ParameterError, match="batch_size: 300 exceeds"):
        nseg(game(), plan=replace(plan, batch_size=300), **common)
    with pytest.raises(ParameterError, match=r"operator: an oracles\.monotone\.RecordOperator"):
        nseg(game().mean(), plan=plan, **common)
    with pytest.raises(ParameterError, match="operator: 1 record"):
        nseg(game(1), plan=plan, **common)
    assert ledger.charges == ()
    nseg(game(), plan=plan, **common)
    assert len(ledger.charges) == 1
    with pytest.raises(OverspendError):
        nseg(game(), plan=plan, **common)


def test_plans_are_made_of_constants_and_their_bounds_hold_on_average() -> None:
    operator = game(3000)
    constants = Constants.of(operator)
    target = PrivacyTarget.checked(1.0, 1e-6, "replace")
    plan = nseg_single_pass(constants, 3000, target)
    assert 2 * plan.steps * plan.batch_size <= 3000
    assert plan.step <= 1 / (math.sqrt(3) * constants.lipschitz) * (1 + 1e-12)
    gaps = [
        operator.saddle_gap(
            nseg(operator, epsilon=1.0, delta=1e-6, plan=plan, random_state=i).value
        )
        for i in range(10)
    ]
    assert np.mean(gaps) < plan.gap_bound < constants.trivial_gap
    several = nseg_multi_pass(constants, 400, target)
    assert 2 * several.steps * several.batch_size == pytest.approx(400**2, rel=0.05)


def test_no_step_fits_where_epsilon_is_too_small() -> None:
    constants = Constants.of(game())
    target = PrivacyTarget.checked(1e-4, 1e-6, "replace")
    with pytest.raises(ParameterError, match=r"epsilon: too small for n = 200.*raise epsilon or n"):
        nseg_single_pass(constants, 200, target)


def test_recursive_regularisation_uses_each_record_once_and_stays_inside() -> None:
    operator = game(300)
    seen: list[np.ndarray] = []
    inner = operator.total

    def total(point: np.ndarray, records: np.ndarray) -> np.ndarray:
        seen.append(records)
        return inner(point, records)

    operator.total = total  # a spy
    plan = RecursivePlan(weight=0.1, rounds=3, steps=20, batch_size=10)
    release = recursive_nseg(operator, epsilon=1.0, delta=1e-5, plan=plan, random_state=0)
    rounds = [set(np.concatenate(seen[40 * t : 40 * (t + 1)]).tolist()) for t in range(3)]
    assert len(seen) == 120
    assert not rounds[0] & rounds[1]
    assert not (rounds[0] | rounds[1]) & rounds[2]
    assert operator.domain.distance(release.value) < 1e-9
    assert "no utility is claimed" in release.guarantee.theorem


def test_recursive_regularisation_pulls_towards_its_anchors() -> None:
    """Noise aside, a heavier weight stays nearer to where it began."""
    operator = game(3000)
    points = [
        recursive_nseg(
            operator, epsilon=20.0, delta=1e-3, random_state=0,
            plan=RecursivePlan(weight=weight, rounds=2, steps=60, batch_size=100),
        ).value
        for weight in (1e-3, 100.0)
    ]  # fmt: skip
    assert np.linalg.norm(points[1]) < 0.1 * np.linalg.norm(points[0])


@pytest.mark.parametrize(
    ("plan", "match"),
    [
        (RecursivePlan(weight=0.0), "weight: a positive"),
        (RecursivePlan(weight=1.0, rounds=101), "rounds: between 1 and n / 2"),
        (RecursivePlan(weight=1.0, rounds=2, batch_size=101), "batch_size: 101 exceeds"),
    ],
)
def test_bad_recursive_plans_are_named(plan: RecursivePlan, match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        recursive_nseg(game(), epsilon=1.0, delta=1e-5, plan=plan)


def test_sampled_points_lie_inside() -> None:
    points = sample_points(game().domain, 5, np.random.default_rng(0))
    assert all(game().domain.distance(point) < 1e-12 for point in points)
