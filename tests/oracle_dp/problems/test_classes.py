"""Problem classes: sensitivities against brute force, formulations, made-up data, refusals."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from oracle_dp import DomainError, Ledger, ParameterError, solve_private
from oracle_dp.problems import (
    Assortment,
    BestSubset,
    FacilityLocation,
    MaximumCoverage,
    MultiKnapsack,
    PMedian,
    PrivateProblem,
    SetCover,
    ShortestPath,
)
from oracles import Certificate, Highs, Limits, ProblemError

G = np.random.default_rng(4)
COSTS = G.integers(0, 15, (4, 5))
OPENING = G.integers(0, 9, 5)
WEIGHTS = G.integers(1, 5, 4)
ROWS = G.integers(1, 5, (2, 4))
COVERS = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]])
ARCS = np.array([(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]).T
PRICES = np.array([2, 0, 1, 5, 3])


def words(length: int, largest: int, most: int | None = None) -> list[np.ndarray]:
    """Every possible record."""
    found = itertools.product(range(largest + 1), repeat=length)
    return [np.array(w) for w in found if most is None or sum(w) <= most]


def stack(records: list[np.ndarray], width: int) -> np.ndarray:
    return np.array(records, dtype=np.int64).reshape(len(records), width)


Make = Callable[[list[np.ndarray]], PrivateProblem]

CASES: dict[str, tuple[Make, list[np.ndarray]]] = {
    "p_median": (
        lambda records: PMedian(COSTS, sum(records, np.zeros(4, np.int64)), 2),
        list(np.eye(4, dtype=np.int64)),
    ),
    "facility": (
        lambda records: FacilityLocation(COSTS, sum(records, np.zeros(4, np.int64)), OPENING),
        list(np.eye(4, dtype=np.int64)),
    ),
    "coverage": (lambda records: MaximumCoverage(stack(records, 5), 2), words(5, 1)),
    "best_subset": (
        lambda records: BestSubset(stack(records, 5)[:, :4], stack(records, 5)[:, 4], 2),
        words(5, 1),
    ),
    "assortment": (
        lambda records: Assortment(stack(records, 4), WEIGHTS, 6, most=2), words(4, 2)
    ),
    "knapsack": (
        lambda records: MultiKnapsack(stack(records, 4), ROWS, [6, 7], most=2), words(4, 2)
    ),
    "set_cover": (
        lambda records: SetCover(stack(records, 4), COVERS, most_objections=2), words(4, 1, 2)
    ),
    "path": (
        lambda records: ShortestPath(
            stack(records, 5), *ARCS, PRICES, source=0, target=3, most_arcs=2
        ),
        words(5, 1, 2),
    ),
}  # fmt: skip

TIGHT = {"p_median", "facility", "coverage", "best_subset", "assortment", "set_cover", "path"}
"""Where the bound is attained on this small domain under ``add_remove``."""


def losses(problem: PrivateProblem) -> np.ndarray:
    """Of every feasible choice, in a fixed order."""
    loss = problem.loss()
    assert loss is not None
    found = [loss.value(loss.base.point_at(r)) for r in range(loss.base.n_points)]
    return np.array([x for x in found if x is not None])


@pytest.mark.parametrize("name", CASES)
def test_sensitivities_hold_against_every_record_and_pair(name: str) -> None:
    make, records = CASES[name]
    nothing = losses(make([]))
    single = {tuple(r): losses(make([r])) - nothing for r in records}
    ranges = [np.ptp(x) for x in single.values()]
    stated = make([]).sensitivity("add_remove")
    assert max(ranges) <= stated
    assert make([]).sensitivity("zero_out") == stated
    if name in TIGHT:
        assert max(ranges) == stated
    pairs = [np.ptp(a - b) for a, b in itertools.product(single.values(), repeat=2)]
    assert max(pairs) <= make([]).sensitivity("replace")


@pytest.mark.parametrize("name", CASES)
def test_losses_are_sums_over_records(name: str) -> None:
    make, records = CASES[name]
    g = np.random.default_rng(1)
    some = [records[i] for i in g.integers(0, len(records), 7)]
    parts = [losses(make([r])) - losses(make([])) for r in some]
    assert (losses(make(some)) == losses(make([])) + sum(parts)).all()


@pytest.mark.parametrize("name", CASES)
def test_the_program_and_the_sampled_loss_have_the_same_minimum(name: str) -> None:
    make, records = CASES[name]
    g = np.random.default_rng(2)
    problem = make([records[i] for i in g.integers(0, len(records), 9)])
    found = Highs().minimize(problem.program())
    assert found.certificate is Certificate.SOLVER
    assert found.objective == losses(problem).min()
    choice = found.require_point()[: problem.n_choices].astype(np.int64)
    assert problem.value(choice) == found.objective


@pytest.mark.parametrize("name", CASES)
def test_counts_move_by_no_more_than_stated_and_answer_exactly_without_noise(name: str) -> None:
    make, records = CASES[name]
    problem = make(records[:6])
    histogram = problem.histogram()
    if histogram is None:
        assert name in ("coverage", "best_subset")
        return
    empty, one = make([]).histogram(), [make([r]).histogram() for r in records]
    assert empty is not None
    from oracle_dp import Neighbors

    moved = [np.abs(h.counts - empty.counts).sum() for h in one if h is not None]
    assert max(moved) <= histogram.l1_sensitivity(Neighbors.ADD_REMOVE)
    pairs = [
        np.abs(a.counts - b.counts).sum()
        for a, b in itertools.product(one[:40], repeat=2)
        if a is not None and b is not None
    ]
    assert max(pairs) <= histogram.l1_sensitivity(Neighbors.REPLACE)
    answer = histogram.answer(histogram.counts, Limits())
    assert problem.value(answer) == losses(problem).min()


def test_a_row_that_allows_everything_costs_no_more_than_all_ratings() -> None:
    free = Assortment(np.zeros((0, 4), int), [1, 1, 1, 1], 4, most=5)
    assert (free.sensitivity("add_remove"), free.sensitivity("replace")) == (20, 20)


@pytest.mark.parametrize("name", CASES)
def test_made_up_data_do_not_depend_on_the_records(name: str) -> None:
    make, records = CASES[name]
    one, other = make(records[:1]).synthetic(20, 3), make(records[-3:]).synthetic(20, 3)
    assert (losses(one) == losses(other)).all()
    assert one.sensitivity("replace") == make([]).sensitivity("replace")
    assert one.sensitivity_source.startswith("proved")


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: PMedian(COSTS, [1, 2], 2), ParameterError, "one row of costs"),
        (lambda: PMedian(COSTS, [1, 2, 0, -1], 2), DomainError, "counts"),
        (lambda: PMedian(COSTS, [1, 2, 0, 1], 6), ParameterError, "p:"),
        (lambda: PMedian(COSTS * 0.5, [1, 2, 0, 1], 2), DomainError, "costs"),
        (lambda: PMedian(COSTS * 0, [1, 2, 0, 1], 2).sensitivity("replace"), ParameterError, "no"),
        (lambda: FacilityLocation(COSTS, [1] * 4, [1]), ParameterError, "opening"),
        (lambda: MaximumCoverage([[2, 0]], 1), DomainError, "reached"),
        (lambda: MaximumCoverage([[1, 0]], 3), ParameterError, "k:"),
        (lambda: MaximumCoverage([[1, 0]], 1, typical_reach=2), ParameterError, "typical_reach"),
        (lambda: BestSubset([[1, 0]], [2], 1), DomainError, "labels"),
        (lambda: BestSubset([[1, 0]], [1], 1, threshold=2), ParameterError, "threshold"),
        (lambda: Assortment([[3, 0]], [1, 1], 1, most=2), DomainError, "ratings"),
        (lambda: Assortment([[1, 0]], [1], 1, most=2), ParameterError, "weights"),
        (lambda: Assortment([[1, 0]], [1, 1], 1, most=0), ParameterError, "most"),
        (lambda: MultiKnapsack([[1, 0]], [[1, 1]], [1, 1], most=2), ParameterError, "weights"),
        (lambda: SetCover([[1, 1]], [[1, 1]], most_objections=1), DomainError, "objections"),
        (lambda: SetCover([[1, 0]], [[0, 0]], most_objections=1), ParameterError, "in no set"),
        (lambda: ShortestPath([[1]], [1], [0], [1], source=0, target=1, most_arcs=1),
         ParameterError, "heads"),
        (lambda: ShortestPath([[1]], [0], [1], [1], source=1, target=0, most_arcs=1),
         ParameterError, "no path"),
        (lambda: MaximumCoverage([[1, 0]], 1).sensitivity("next"), ParameterError, "neighbors"),
    ],
)  # fmt: skip
def test_what_is_refused(make: Callable[[], object], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        make()


def test_costs_beyond_64_bits_are_refused_before_the_charge() -> None:
    """2^32 customers at a cost of 2^32 are 2^64, which wraps around to 0."""
    far = np.full((2, 2), 2**32) - np.eye(2, dtype=int)
    assert FacilityLocation(far, [2**32, 0], [0, 0]).program().objective.max() == 2.0**64
    ledger = Ledger({"places": 10.0})
    with pytest.raises(ProblemError, match="coarser units"):
        solve_private(
            FacilityLocation(far, [2**27, 0], [0, 0]),
            epsilon=5, mechanism="opdisc", ledger=ledger, dataset="places", random_state=0,
        )  # fmt: skip
    assert not ledger.charges


def test_large_rewards_of_sites_are_not_refused() -> None:
    """At sensitivity 2^32 and epsilon 1 some of the noise exceeds 2^40, after the charge."""
    costs = np.array([[0, 2**31, 5], [2**31, 0, 7], [9, 3, 2**31]])
    for seed in range(20):
        problem = FacilityLocation(costs, [5, 3, 2], [0, 0, 0])
        found = solve_private(problem, epsilon=1, mechanism="opdisc", random_state=seed)
        assert sum(found.value.values()) >= 1
