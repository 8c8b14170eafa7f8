"""Minima over base sets, proven in integers, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.program_instances import Instance, instances
from oracles import Certificate, Limits, Status
from oracles.ranking import best_points
from oracles.selection.base import BaseSet
from oracles.selection.envelope import Minorant
from oracles.selection.facility import FacilityLoss
from oracles.selection.problem import FacilityProblem
from oracles.selection.search import least_member, minimize_loss

DEFINED = [
    i for i in instances() if not i.name.startswith(("knapsack", "set", "short", "gen", "int"))
]


@pytest.mark.parametrize("instance", DEFINED, ids=[i.name for i in DEFINED])
def test_minima_are_those_of_enumeration(instance: Instance) -> None:
    base = instance.loss.base
    losses = [instance.naive(tuple(base.point_at(r).tolist())) for r in range(base.n_points)]
    found = minimize_loss(instance.loss)
    assert found.certificate is Certificate.EXACT
    assert found.objective == found.bound == min(x for x in losses if x is not None)
    assert instance.naive(tuple(found.require_point().tolist())) == found.objective


@pytest.mark.parametrize("seed", range(20))
def test_the_least_member_of_a_box(seed: int) -> None:
    g = np.random.default_rng(seed)
    base = BaseSet.knapsack(g.integers(1, 9, 6).tolist(), 14)
    minorant = Minorant(
        int(g.integers(-99, 99)), g.integers(-50, 50, 6), 2, np.empty(0), np.zeros(6)
    )
    low = (g.random(6) < 0.2).astype(np.int64)
    high = np.maximum(low, (g.random(6) < 0.7).astype(np.int64))
    members = [base.point_at(r) for r in range(base.n_points)]
    inside = [w for w in members if (w >= low).all() and (w <= high).all()]
    found = least_member(base, minorant, low, high)
    if not inside:
        assert found is None
        return
    assert found is not None
    least = min(minorant.at(w) for w in inside)
    assert minorant.at(found.point) == least
    assert least <= found.bound < least + 1


def facility(seed: int) -> FacilityProblem:
    g = np.random.default_rng(seed)
    base = BaseSet.subsets(7, exactly=3)
    return FacilityProblem(FacilityLoss(base, g.integers(0, 30, (9, 7)), g.integers(0, 5, 9)))


@pytest.mark.parametrize("seed", range(10))
def test_rewards_and_ranking(seed: int) -> None:
    problem, g = facility(seed), np.random.default_rng(seed)
    rewards = [g.integers(0, 60, 2) for _ in range(7)]
    points = [problem.point_at(r) for r in range(problem.n_points)]
    found = problem.minimize(rewards, scale=16)
    truth = [
        16 * problem.loss.value(w) - sum(int(r[x]) for r, x in zip(rewards, w, strict=True))
        for w in points
    ]
    assert (found.objective, found.certificate) == (min(truth), Certificate.EXACT)
    losses = sorted(problem.loss.value(w) for w in points)
    assert losses[-1] - losses[0] <= problem.loss_spread
    best = best_points(problem, 5)
    assert best.certificate is Certificate.EXACT
    assert [point.loss for point in best.require_point()] == losses[:5]
    assert problem.point(problem.positions(points[3])) is not None
    assert problem.point((1,) * 7) is None


def test_a_limit_has_no_certificate() -> None:
    g = np.random.default_rng(0)
    loss = FacilityLoss(BaseSet.subsets(40, exactly=12), g.integers(0, 100, (60, 40)))
    found = minimize_loss(loss, limits=Limits(nodes=3))
    assert (found.status, found.certificate) == (Status.STOPPED, Certificate.NONE)
    assert found.bound < (found.objective or 0)
