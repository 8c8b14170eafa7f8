"""Small integer programs of every class and base set, from fixed seeds, that enumeration can do."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from oracle_dp.problems import (
    Assortment,
    BestSubset,
    FacilityLocation,
    MaximumCoverage,
    MultiKnapsack,
    PMedian,
    SetCover,
    ShortestPath,
)
from oracles import Exhaustive, IntegerProgram
from oracles.selection.base import BaseSet, Block
from oracles.selection.envelope import SelectionLoss
from oracles.selection.facility import FacilityLoss
from oracles.selection.linear import ProgramLoss

Choice = tuple[int, ...]
Naive = Callable[[Choice], int | None]


@dataclass(frozen=True)
class Instance:
    """A tiny problem.

    Attributes:
        name: Class and base set.
        loss: What the library draws by.
        naive: The loss of a vector of the box, None where it is not allowed: the ground truth.
        rate: Nats per unit of loss.
    """

    name: str
    loss: SelectionLoss
    naive: Naive
    rate: Fraction


def instances() -> list[Instance]:
    """All instances, from fixed seeds."""
    return [make(np.random.default_rng(100 + i)) for i, make in enumerate(_MAKERS)]


def _size(w: Choice, low: int, high: int) -> bool:
    return low <= sum(w) <= high


def _served(w: Choice, costs: np.ndarray, counts: np.ndarray) -> int:
    return sum(
        int(n) * min(int(c) for c, x in zip(row, w, strict=True) if x)
        for row, n in zip(costs, counts, strict=True)
    )


def _p_median(g: np.random.Generator) -> Instance:
    costs, counts = g.integers(0, 20, (10, 8)), g.integers(0, 6, 10)
    problem = PMedian(costs, counts, 3)
    naive: Naive = lambda w: _served(w, costs, counts) if _size(w, 3, 3) else None  # noqa: E731 -- one line each
    return Instance("p-median, exactly 3 of 8", problem.loss(), naive, Fraction(1, 8))


def _facility(g: np.random.Generator) -> Instance:
    costs, counts, price = g.integers(0, 20, (10, 7)), g.integers(0, 6, 10), g.integers(5, 60, 7)
    problem = FacilityLocation(costs, counts, price)

    def naive(w: Choice) -> int | None:
        if not any(w):
            return None
        return _served(w, costs, counts) + sum(int(p) * x for p, x in zip(price, w, strict=True))

    return Instance("facility location, at least 1 of 7", problem.loss(), naive, Fraction(1, 10))


def _coverage(g: np.random.Generator) -> Instance:
    reached = (g.random((40, 9)) < 0.2).astype(int)
    problem = MaximumCoverage(reached, 4)

    def naive(w: Choice) -> int | None:
        missed = sum(not any(a and x for a, x in zip(row, w, strict=True)) for row in reached)
        return missed if _size(w, 4, 4) else None

    return Instance("coverage, exactly 4 of 9", problem.loss(), naive, Fraction(1, 2))


def _coverage_at_most(g: np.random.Generator) -> Instance:
    missed, price = 1 - (g.random((40, 8)) < 0.2).astype(int), g.integers(0, 4, 8)
    base = BaseSet.subsets(8, at_most=4)
    loss = FacilityLoss(base, missed, fallback=np.ones(40, int), opening=price)

    def naive(w: Choice) -> int | None:
        out = sum(all(m or not x for m, x in zip(row, w, strict=True)) for row in missed)
        return out + sum(int(p) * x for p, x in zip(price, w, strict=True)) if sum(w) <= 4 else None

    return Instance("coverage with prices, at most 4 of 8", loss, naive, Fraction(1, 2))


def _coverage_knapsack(g: np.random.Generator) -> Instance:
    missed, weights = 1 - (g.random((40, 9)) < 0.2).astype(int), g.integers(2, 9, 9)
    base = BaseSet.knapsack(weights.tolist(), 20)
    loss = FacilityLoss(base, missed, fallback=np.ones(40, int))

    def naive(w: Choice) -> int | None:
        if sum(int(a) * x for a, x in zip(weights, w, strict=True)) > 20:
            return None
        return sum(all(m or not x for m, x in zip(row, w, strict=True)) for row in missed)

    return Instance("coverage under a knapsack row", loss, naive, Fraction(1, 2))


def _coverage_product(g: np.random.Generator) -> Instance:
    missed = 1 - (g.random((40, 9)) < 0.2).astype(int)
    blocks = (Block((0, 3, 5), (1, 1, 1), 1, 1), Block((1, 2, 6, 7), (2, 3, 1, 2), 2, 4))
    loss = FacilityLoss(BaseSet(np.zeros(9, int), np.ones(9, int), blocks), missed,
                        fallback=np.ones(40, int))  # fmt: skip

    def naive(w: Choice) -> int | None:
        if w[0] + w[3] + w[5] != 1 or not 2 <= 2 * w[1] + 3 * w[2] + w[6] + 2 * w[7] <= 4:
            return None
        return sum(all(m or not x for m, x in zip(row, w, strict=True)) for row in missed)

    return Instance("coverage, product of three blocks", loss, naive, Fraction(1, 2))


def _coverage_box(g: np.random.Generator) -> Instance:
    missed, price = 1 - (g.random((40, 7)) < 0.2).astype(int), g.integers(1, 9, 7)
    loss = FacilityLoss(BaseSet.subsets(7), missed, fallback=np.ones(40, int), opening=price)

    def naive(w: Choice) -> int | None:
        out = sum(all(m or not x for m, x in zip(row, w, strict=True)) for row in missed)
        return out + sum(int(p) * x for p, x in zip(price, w, strict=True))

    return Instance("coverage with prices, box", loss, naive, Fraction(1, 3))


def _rule(threshold: int) -> Callable[[np.random.Generator], Instance]:
    def make(g: np.random.Generator) -> Instance:
        tests, labels = (g.random((50, 9)) < 0.4).astype(int), g.integers(0, 2, 50)
        problem = BestSubset(tests, labels, 4, threshold=threshold)

        def naive(w: Choice) -> int | None:
            if not _size(w, 4, 4):
                return None
            scores = [sum(a * x for a, x in zip(row, w, strict=True)) for row in tests.tolist()]
            return sum((s >= threshold) != bool(y) for s, y in zip(scores, labels, strict=True))

        return Instance(
            f"best subset, threshold {threshold}", problem.loss(), naive, Fraction(1, 2)
        )

    return make


def _linear(w: Choice, totals: np.ndarray) -> int:
    return sum(int(t) * x for t, x in zip(totals, w, strict=True))


def _fits(w: Choice, weights: np.ndarray, capacities: np.ndarray) -> bool:
    return all(_linear(w, row) <= c for row, c in zip(weights, capacities, strict=True))


def _assortment(g: np.random.Generator) -> Instance:
    ratings, weights = g.integers(0, 4, (15, 9)), g.integers(1, 8, 9)
    problem = Assortment(ratings, weights, 16, most=3)
    totals = np.array([sum(int(r) for r in column) for column in ratings.T])

    def naive(w: Choice) -> int | None:
        return -_linear(w, totals) if _linear(w, weights) <= 16 else None

    return Instance("ratings under a knapsack row", problem.loss(), naive, Fraction(1, 20))


def _knapsack(g: np.random.Generator) -> Instance:
    values, weights = g.integers(0, 4, (15, 9)), g.integers(1, 8, (3, 9))
    capacities = weights.sum(axis=1) // 2
    problem = MultiKnapsack(values, weights, capacities, most=3)
    totals = np.array([sum(int(v) for v in column) for column in values.T])

    def naive(w: Choice) -> int | None:
        return -_linear(w, totals) if _fits(w, weights, capacities) else None

    return Instance("knapsack with 3 rows", problem.loss(), naive, Fraction(1, 20))


def _cover(g: np.random.Generator) -> Instance:
    covers = (g.random((6, 8)) < 0.4).astype(int)
    covers[:, 0] = 1
    objections = np.array([g.permutation([1, 1] + [0] * 6) for _ in range(30)])
    costs = g.integers(0, 5, 8)
    problem = SetCover(objections, covers, costs, most_objections=2)
    totals = costs + np.array([sum(int(o) for o in column) for column in objections.T])

    def naive(w: Choice) -> int | None:
        covered = all(any(a and x for a, x in zip(row, w, strict=True)) for row in covers)
        return _linear(w, totals) if covered else None

    return Instance("set cover, rows in no base set", problem.loss(), naive, Fraction(1, 8))


def _path(g: np.random.Generator) -> Instance:
    arcs = [(0, 1), (0, 2), (0, 3), (1, 3), (1, 4), (2, 3), (2, 5), (3, 4), (3, 5), (4, 5)]
    uses = np.array([g.permutation([1, 1] + [0] * 8) for _ in range(20)])
    lengths = g.integers(0, 9, 10)
    problem = ShortestPath(uses, *np.array(arcs).T, lengths, source=0, target=5, most_arcs=2)
    totals = lengths + np.array([sum(int(u) for u in column) for column in uses.T])

    def naive(w: Choice) -> int | None:
        chosen = [arc for arc, x in zip(arcs, w, strict=True) if x]
        node, left = 0, dict(chosen)
        if len(left) < len(chosen):
            return None
        while node in left:
            node = left.pop(node)
        return _linear(w, totals) if node == 5 and not left else None

    return Instance("shortest path, flow rows", problem.loss(), naive, Fraction(1, 5))


def _integers(g: np.random.Generator) -> Instance:
    costs = g.integers(-9, 10, 5)
    low, high = np.array([-2, 0, 1, 0, -1]), np.array([1, 3, 3, 2, 2])
    rows = np.array([[2, -1, 1, 0, 0], [0, 1, 1, 1, -2]])
    program = IntegerProgram(costs, rows, [-3, 0], [4, 6], lower=low, upper=high, constant=7)
    loss = ProgramLoss(program, range(5), Exhaustive())

    def naive(w: Choice) -> int | None:
        first, second = _linear(w, rows[0]), _linear(w, rows[1])
        return _linear(w, costs) + 7 if -3 <= first <= 4 and 0 <= second <= 6 else None

    return Instance("general integers, one row in a base set", loss, naive, Fraction(1, 6))


def _recourse(g: np.random.Generator) -> Instance:
    costs = g.integers(-6, 7, 7)
    rows = g.integers(-1, 3, (3, 7))
    program = IntegerProgram(costs, rows, row_upper=[4, 3, 4], upper=[1, 1, 1, 1, 1, 2, 2])
    loss = ProgramLoss(program, range(5), Exhaustive())

    def naive(w: Choice) -> int | None:
        found = [
            _linear((*w, *z), costs)
            for z in itertools.product(range(3), repeat=2)
            if _fits((*w, *z), rows, np.array([4, 3, 4]))
        ]
        return min(found, default=None)

    return Instance("integer recourse", loss, naive, Fraction(1, 4))


_MAKERS: tuple[Callable[[np.random.Generator], Instance], ...] = (
    _p_median, _facility, _coverage, _coverage_at_most, _coverage_knapsack, _coverage_product,
    _coverage_box, _rule(1), _rule(2), _assortment, _knapsack, _cover, _path, _integers, _recourse,
)  # fmt: skip
