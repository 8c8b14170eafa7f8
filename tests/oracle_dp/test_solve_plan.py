"""The planner: public facts only, and the better mechanism where it is clear."""

from __future__ import annotations

import math

import numpy as np
import pytest

from oracle_dp import ParameterError, UncertifiedError, solve_plan
from oracle_dp.problems import Assortment, MaximumCoverage, PMedian
from oracle_dp.solve_plan import best_mechanism, plan_problem
from oracles import Limits


def assortment(seed: int) -> Assortment:
    g = np.random.default_rng(seed)
    weights = np.random.default_rng(0).integers(1, 9, 20)
    return Assortment(g.integers(0, 6, (30, 20)), weights, 50, most=5)


def p_median(seed: int) -> PMedian:
    g = np.random.default_rng(seed)
    points = np.random.default_rng(0).integers(0, 100, (30, 2))
    costs = np.abs(points[:, None] - points[None]).sum(axis=2)
    return PMedian(costs, g.integers(0, 20, 30), 4)


def test_ratings_are_sampled_and_customers_are_counted() -> None:
    wide = np.random.default_rng(0).integers(1, 20, 50)
    ratings = Assortment(np.zeros((0, 50), int), wide, int(wide.sum()) // 2, most=5)
    assert best_mechanism(ratings, epsilon=1, n_records=1_000) == "exponential"
    assert best_mechanism(p_median(1), epsilon=1, n_records=500) == "counts"
    coverage = MaximumCoverage(np.zeros((0, 12), int), 3)
    assert best_mechanism(coverage, epsilon=1, n_records=100) == "exponential"


def test_plans_do_not_depend_on_the_private_records() -> None:
    for make in (assortment, p_median):
        one, other = (
            [(line.mechanism, line.excess) for line in plan_problem(make(seed), epsilon=1, runs=3)]
            for seed in (1, 2)
        )
        assert one == other
        assert all(math.isfinite(excess) and excess >= 0 for _, excess in one)


def test_what_does_not_finish_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise UncertifiedError("too slow")

    monkeypatch.setattr(solve_plan.SelectionExponential, "release", never)
    lines = {line.mechanism: line for line in plan_problem(assortment(1), epsilon=1, runs=3)}
    assert lines["exponential"].excess == math.inf
    assert lines["exponential"].why == solve_plan.TOO_SLOW
    assert best_mechanism(assortment(1), epsilon=1) == "counts"
    coverage = MaximumCoverage(np.zeros((0, 9), int), 3)
    assert best_mechanism(coverage, epsilon=1) == "opdisc"
    # Neither finishes: that of the smaller excess.
    monkeypatch.setattr(solve_plan, "opdisc", never)
    assert best_mechanism(coverage, epsilon=1) == "exponential"


def test_many_variables_get_fewer_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def noted(self: object, *, limits: Limits, random_state: int) -> None:
        seen.append(limits.rounds)
        raise UncertifiedError("too slow")

    monkeypatch.setattr(solve_plan.SelectionExponential, "release", noted)
    monkeypatch.setattr(solve_plan, "WORK", 5_000)
    list(plan_problem(assortment(1), epsilon=1, runs=2))
    assert seen == [250, 250]


def test_where_one_mechanism_applies_no_best_loss_is_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    coverage = MaximumCoverage(np.zeros((0, 12), int), 3)
    assert [x.mechanism for x in plan_problem(coverage, epsilon=1, runs=2)] == ["exponential"]
    monkeypatch.setattr(solve_plan, "_best_known", None)
    assert best_mechanism(coverage, epsilon=1, n_records=100) == "exponential"
    for wrong in ({"epsilon": 0}, {"n_records": 0}, {"neighbors": "next"}):
        with pytest.raises(ParameterError):
            best_mechanism(coverage, **{"epsilon": 1, **wrong})


def test_opdisc_is_tried_when_asked() -> None:
    found = [
        line.mechanism for line in plan_problem(assortment(1), epsilon=1, runs=1, with_opdisc=True)
    ]
    assert found == ["counts", "exponential", "opdisc"]


@pytest.mark.parametrize("wrong", [{"epsilon": 0}, {"runs": 0}, {"n_records": 0}])
def test_parameters_out_of_range(wrong: dict[str, int]) -> None:
    with pytest.raises(ParameterError):
        list(plan_problem(assortment(1), **{"epsilon": 1, **wrong}))
