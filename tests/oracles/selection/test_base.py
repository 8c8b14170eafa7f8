"""Base sets: counted, ranked, tightened and summed as enumeration says."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from oracles import InfeasibleError, ProblemError, SpaceTooLargeError
from oracles.selection.base import MAX_VARIABLES, BaseSet, Block


def members(
    lower: np.ndarray, upper: np.ndarray, blocks: tuple[Block, ...]
) -> set[tuple[int, ...]]:
    """By the definition, in Python integers."""
    found = set()
    ranges = [range(int(a), int(b) + 1) for a, b in zip(lower, upper, strict=True)]
    for w in itertools.product(*ranges):
        for block in blocks:
            if block.coefficients is None:
                continue
            total = sum(a * w[j] for a, j in zip(block.coefficients, block.variables, strict=True))
            if block.low is not None and total < block.low:
                break
            if block.high is not None and total > block.high:
                break
        else:
            found.add(w)
    return found


def random_set(seed: int) -> tuple[np.ndarray, np.ndarray, tuple[Block, ...]]:
    g = np.random.default_rng(seed)
    lower = g.integers(-2, 2, 6)
    upper = lower + g.integers(0, 3, 6)
    order = g.permutation(6)
    blocks = []
    for part in (order[:2], order[2:5]):
        row = tuple(int(a) for a in g.integers(-3, 4, len(part)))
        ends = [
            sorted((a * int(lower[j]), a * int(upper[j]))) for a, j in zip(row, part, strict=True)
        ]
        first, last = sum(e[0] for e in ends), sum(e[1] for e in ends)
        low, high = sorted(int(x) for x in g.integers(first, last + 1, 2))
        kind = int(g.integers(0, 3))
        blocks.append(
            Block(tuple(int(j) for j in part), row, None if kind == 1 else low,
                  None if kind == 2 else high)
        )  # fmt: skip
    return lower, upper, tuple(blocks)


@pytest.mark.parametrize("seed", range(40))
def test_counts_ranks_and_membership_are_those_of_enumeration(seed: int) -> None:
    lower, upper, blocks = random_set(seed)
    truth = members(lower, upper, blocks)
    if not truth:
        with pytest.raises(InfeasibleError):
            BaseSet(lower, upper, blocks)
        return
    base = BaseSet(lower, upper, blocks)
    assert base.n_points == len(truth)
    assert {tuple(base.point_at(rank).tolist()) for rank in range(base.n_points)} == truth
    box = itertools.product(
        *(range(int(a) - 1, int(b) + 2) for a, b in zip(lower, upper, strict=True))
    )
    assert all(base.contains(w) == (w in truth) for w in box)
    for rank in (-1, base.n_points):
        with pytest.raises(ProblemError, match="rank"):
            base.point_at(rank)


@pytest.mark.parametrize("seed", range(30))
def test_a_tightened_box_keeps_every_member(seed: int) -> None:
    lower, upper, blocks = random_set(seed)
    truth = np.array(sorted(members(lower, upper, blocks)))
    if not len(truth):
        return
    base = BaseSet(lower, upper, blocks)
    g = np.random.default_rng(seed)
    for _ in range(20):
        low = np.array([int(g.integers(a, b + 1)) for a, b in zip(lower, upper, strict=True)])
        high = np.array([int(g.integers(a, b + 1)) for a, b in zip(low, upper, strict=True)])
        inside = truth[((truth >= low) & (truth <= high)).all(axis=1)]
        box = base.tightened(low, high)
        if box is None:
            assert not len(inside)
        else:
            assert (box[0] >= low).all()
            assert (box[1] <= high).all()
            assert ((inside >= box[0]) & (inside <= box[1])).all()


def test_the_usual_sets() -> None:
    assert BaseSet.subsets(5).n_points == 32
    assert BaseSet.subsets(100, exactly=33).n_points == 294692427022540894366527900
    assert BaseSet.subsets(5, at_most=2).n_points == 16
    assert BaseSet.knapsack([1, 2, 3], 3).n_points == 5
    with pytest.raises(ProblemError, match="one of them"):
        BaseSet.subsets(3, exactly=1, at_most=2)
    with pytest.raises(ProblemError, match="size"):
        BaseSet.subsets(3, exactly=4)


@pytest.mark.parametrize(
    ("lower", "upper", "blocks", "error"),
    [
        ([0.5], [1], (), ProblemError),
        ([1], [0], (), ProblemError),
        ([0, 0], [1, 1], (Block((0, 0), (1, 1), 0, 1),), ProblemError),
        ([0, 0], [1, 1], (Block((0, 2), (1, 1), 0, 1),), ProblemError),
        ([0, 0], [1, 1], (Block((0, 1), (1,), 0, 1),), ProblemError),
        ([0, 0], [1, 1], (Block((0, 1), (2**50, 1), 0, 1),), ProblemError),
        ([0, 0], [1, 1], (Block((0, 1), (10**7, 1), 0, None),), SpaceTooLargeError),
        ([0] * (MAX_VARIABLES + 1), [1] * (MAX_VARIABLES + 1), (), SpaceTooLargeError),
        ([0, 0], [1, 1], (Block((0, 1), (1, 1), 3, None),), InfeasibleError),
        ([0, 0], [1, 1], (Block((0, 1), (2, 2), 1, 1),), InfeasibleError),
    ],
)
def test_what_is_refused(
    lower: list[int], upper: list[int], blocks: tuple[Block, ...], error: type[Exception]
) -> None:
    with pytest.raises(error):
        BaseSet(lower, upper, blocks)
