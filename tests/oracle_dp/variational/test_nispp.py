"""NISPP: inner solutions keep their nu, noise is calibrated to a(nu), bad plans are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracle_dp import Ledger, ParameterError, UncertifiedError
from oracle_dp.accounting import gaussian_mu
from oracle_dp.ledger import Budget
from oracle_dp.privacy import ContingencyKind
from oracle_dp.variational import (
    Constants,
    NisppPlan,
    PrivacyTarget,
    Sampling,
    nispp,
    nispp_multi_pass,
    nispp_single_pass,
)
from oracle_dp.variational.nispp import Subsolver, _Proximal
from oracles.monotone import (
    Ball,
    BilinearGame,
    Box,
    ConvexSet,
    Polytope,
    QuadraticGame,
    RecordFunction,
    certificate,
)

PLAN = NisppPlan(sampling=Sampling.SINGLE_PASS, batch_size=20, steps=5, weight=10.0, accuracy=1e-6)


def game(n: int = 200, seed: int = 0) -> BilinearGame:
    rng = np.random.default_rng(seed)
    balls = Ball(1.0, np.zeros(3)), Ball(1.0, np.zeros(3))
    couplings = np.eye(3) / 3 + rng.normal(size=(n, 3, 3)) / 10
    return BilinearGame(couplings, 0.3 + rng.normal(size=(n, 6)) / 10, *balls, coupling_norm=1.0)


def zeros(n: int, domain: ConvexSet) -> RecordFunction:
    d = domain.dimension
    return RecordFunction(
        lambda w, records: np.zeros((len(np.arange(n)[records]), d)), domain,
        n_records=n, lipschitz=1e-3, bound=2.0,
    )  # fmt: skip


@pytest.mark.parametrize("subsolver", list(Subsolver))
@pytest.mark.parametrize("accuracy", [1e-2, 1e-6, 2e-9])
def test_inner_solutions_are_inside_and_within_nu(subsolver: Subsolver, accuracy: float) -> None:
    """By the certificate, computed here; also from anchors far outside the set."""
    rng = np.random.default_rng(0)
    operator = game()
    plan = replace(PLAN, accuracy=accuracy, weight=3.0)
    prox = _Proximal(operator, plan, subsolver)
    for _ in range(30):
        batch = rng.choice(200, 20, replace=False)
        anchor = rng.normal(size=6) * 10 ** rng.uniform(-1, 1)
        point = prox.solve(anchor, batch)
        value = operator.total(point, batch) / 20 + plan.weight * (point - anchor)
        assert certificate(value, point, operator.domain) <= accuracy
        assert operator.domain.distance(point) <= 1e-12


def test_an_empty_poisson_batch_gives_the_projection() -> None:
    prox = _Proximal(game(), replace(PLAN, sampling=Sampling.POISSON), Subsolver.EXTRAPOLATION)
    anchor = np.full(6, 3.0)
    none = np.empty(0, dtype=np.int64)
    np.testing.assert_array_equal(prox.solve(anchor, none), game().domain.project(anchor))


def test_noise_has_the_standard_deviation_that_a_of_nu_asks_for() -> None:
    """One step with zero operators: the release is noise alone, measured over many coordinates."""
    d, n, weight, nu = 4000, 50, 4.0, 1e-3
    operator = zeros(n, Box(np.full(d, -50.0), np.full(d, 50.0)))
    plan = NisppPlan(sampling=Sampling.FULL, batch_size=n, steps=1, weight=weight, accuracy=nu)
    release = nispp(operator, epsilon=1.0, delta=1e-5, plan=plan, random_state=0)
    measured = float(release.value.std())
    # Exact solutions are 2 M / (lambda n) apart; the slack of nu can only add.
    least = 2 * 2.0 / (weight * n) / gaussian_mu(1.0, delta=1e-5)
    a = (2 * 2.0 / n + np.sqrt((2 * 2.0 / n) ** 2 + 8 * weight * nu)) / (2 * weight)
    assert measured == pytest.approx(a / gaussian_mu(1.0, delta=1e-5), rel=0.05)
    assert measured > least
    assert release.guarantee.sensitivity == pytest.approx(a)


def test_without_noise_full_batches_solve_the_mean_problem() -> None:
    operator = game()
    plan = NisppPlan(sampling=Sampling.FULL, batch_size=200, steps=600, weight=0.5, accuracy=1e-10)
    prox = _Proximal(operator, plan, Subsolver.EXTRAPOLATION)
    anchor = operator.domain.centre
    for _ in range(plan.steps):
        anchor = prox.solve(anchor, slice(None))
    assert operator.saddle_gap(anchor) < 1e-8


def test_both_subsolvers_release_the_same_up_to_nu() -> None:
    operator = game()
    values = [
        nispp(
            operator, epsilon=1.0, delta=1e-5, plan=PLAN, subsolver=subsolver, random_state=3
        ).value
        for subsolver in ("extrapolation", "fixed_point")
    ]
    np.testing.assert_allclose(*values, atol=2 * np.sqrt(PLAN.accuracy / PLAN.weight))


def test_the_release_says_what_holds() -> None:
    ledger = Ledger({"games": Budget(epsilon=1, delta=1e-4)})
    release = nispp(game(), epsilon=1.0, delta=1e-5, plan=PLAN, ledger=ledger, dataset="games")
    assert release.guarantee.is_private
    assert len(ledger.charges) == 1
    kinds = {c.kind for c in release.guarantee.contingencies}
    assert ContingencyKind.CALLER not in kinds
    asserted = nispp(
        zeros(100, Ball(1.0, [0.0, 0.0])), epsilon=1.0, delta=1e-5, plan=PLAN, random_state=0
    )
    kinds = {c.kind for c in asserted.guarantee.contingencies}
    assert {ContingencyKind.CALLER, ContingencyKind.SEEDED} <= kinds


def test_plans_are_made_of_constants_and_their_bounds_hold_on_average() -> None:
    operator = game(2000)
    constants = Constants.of(operator)
    target = PrivacyTarget.checked(1.0, 1e-6, "replace")
    for make in (nispp_single_pass, nispp_multi_pass):
        n = 2000 if make is nispp_single_pass else 400
        operator = game(n)
        plan = make(constants, n, target)
        gaps = [
            operator.saddle_gap(
                nispp(operator, epsilon=1.0, delta=1e-6, plan=plan, random_state=i).value
            )
            for i in range(3)
        ]
        assert np.mean(gaps) < plan.gap_bound < constants.trivial_gap


def test_zero_out_needs_less_noise_than_replace() -> None:
    sizes = [
        nispp(
            game(), epsilon=1.0, delta=1e-5, plan=PLAN, neighbors=relation, random_state=0
        ).guarantee.sensitivity
        for relation in ("replace", "zero_out")
    ]
    assert sizes[1] < sizes[0]


HUGE = np.vstack([np.eye(2), -np.eye(2)])


@pytest.mark.parametrize(
    ("operator", "plan", "options", "match"),
    [
        (game(), replace(PLAN, weight=0.0), {}, "weight, accuracy: positive"),
        (game(), replace(PLAN, accuracy=1e-20), {}, "accuracy: nu = 1e-20 is beyond double"),
        (game(), replace(PLAN, weight=0.5), {"subsolver": "fixed_point"}, "needs weight above L"),
        (game(), PLAN, {"subsolver": "newton"}, "subsolver: 'extrapolation' or 'fixed_point'"),
        (game(), PLAN, {"neighbors": "add_remove"}, "neighbors: the number of records is public"),
        (game(), replace(PLAN, batch_size=300), {}, "batch_size: 300 exceeds"),
        (game(), "fast", {}, "plan: a NisppPlan or None expected, not a str"),
        (
            zeros(100, Polytope(HUGE, np.ones(4))),
            PLAN,
            {},
            "no exact projection.*use a ball, box, simplex",
        ),
    ],
)
def test_bad_plans_are_named_and_nothing_is_charged(operator, plan, options, match) -> None:
    ledger = Ledger({"games": Budget(epsilon=1, delta=1e-4)})
    with pytest.raises(ParameterError, match=match):
        nispp(
            operator, epsilon=1.0, delta=1e-5, plan=plan, ledger=ledger, dataset="games", **options
        )
    assert ledger.charges == ()


def test_an_iterate_thrown_out_of_reach_is_refused() -> None:
    operator = QuadraticGame(np.ones((100, 2)), [[1.0]], 1.0, Ball(1.0, [0.0, 0.0]))
    plan = NisppPlan(sampling=Sampling.FULL, batch_size=100, steps=50, weight=1e-3, accuracy=1e-8)
    with pytest.raises(UncertifiedError, match=r"raise accuracy or weight\. The charge stays"):
        nispp(operator, epsilon=1e-9, delta=1e-9, plan=plan, random_state=0)


def test_far_from_the_origin_nu_is_as_coarse_as_the_coordinates() -> None:
    """There neighbours' solutions are rounded apart by more than a(nu) would say."""
    far = zeros(100, Ball(1.0, [1e12]))
    plan = NisppPlan(sampling=Sampling.FULL, batch_size=100, steps=1, weight=8192.0, accuracy=1e-7)
    with pytest.raises(ParameterError, match="beyond double precision"):
        nispp(far, epsilon=1.0, delta=1e-6, plan=plan)
    ledger = Ledger({"d": Budget(epsilon=5, delta=1e-3)})
    for bad, match in ((replace(plan, sampling="full"), "sampling"), (plan, "single point")):
        point = zeros(100, Box([0.0], [0.0]) if bad is plan else Ball(1.0, [0.0]))
        with pytest.raises(ParameterError, match=match):
            nispp(point, epsilon=1.0, delta=1e-6, plan=bad, ledger=ledger, dataset="d")
    assert ledger.spent("d") == (0, 0)
