"""Noise on counts: the claim for every outcome, what is caught, and what is released."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from oracle_dp import Ledger, LedgerError, Neighbors, OverspendError, ParameterError
from oracle_dp.mechanisms import counts
from oracle_dp.mechanisms.counts import (
    L1_SENSITIVITY,
    best_found,
    cell_differences,
    counts_zero_one,
    noisy_counts,
)
from oracle_dp.noise import SeededBits
from oracle_dp.privacy import ContingencyKind
from oracles import Certificate, Limits, ProblemError
from oracles.zero_one import CellTable

from .goodness import p_value

RELATIONS = ("replace", "add_remove", "zero_out")
Records = tuple[tuple[int, ...], ...]
"""Records of a data set: the levels, then the label."""


def table(records: Records, levels: tuple[int, ...]) -> CellTable:
    rows = np.array(records, dtype=np.int64).reshape(-1, len(levels) + 1)
    return CellTable.from_codes(rows[:, :-1], rows[:, -1] == 1, levels)


def neighbours(records: Records, relation: str, levels: tuple[int, ...]) -> Iterator[Records]:
    every = itertools.product(*(range(m) for m in levels), range(2))
    if relation == "replace":
        yield from ((*records[:-1], other) for other in every)
    else:
        yield records[:-1]


class Spy:
    """Stands for the noise: records what is asked for, and gives scripted draws."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.exponent = Fraction(0)
        self.size = 0
        self.noise: np.ndarray | None = None
        monkeypatch.setattr(counts, "two_sided_geometric_array", self)

    def __call__(self, exponent: Fraction, shape: tuple[int, ...], source: object) -> np.ndarray:
        self.exponent, self.size = exponent, math.prod(shape)
        return np.zeros(shape, dtype=np.int64) if self.noise is None else self.noise


def log_law(x: np.ndarray, exponent: Fraction, outcomes: np.ndarray) -> np.ndarray:
    """Log probability of each outcome of x plus two-sided geometric noise."""
    e = float(exponent)
    each = math.log((1 - math.exp(-e)) / (1 + math.exp(-e))) - e * np.abs(outcomes - x)
    return each.sum(axis=1)


def worst_log_ratio(spy: Spy, relation: str, epsilon: float) -> float:
    """Over all outcomes and neighbours of up to three records in two attributes."""
    levels, worst = (2, 1), 0.0
    outcomes = np.array(list(itertools.product(range(-7, 8), repeat=2)))
    every = list(itertools.product(range(2), range(1), range(2)))
    for n in (1, 2, 3):
        for records in itertools.combinations_with_replacement(every, n):
            for other in neighbours(records, relation, levels):
                laws = []
                for data in (records, other):
                    cells = table(data, levels)
                    counts_zero_one(
                        cells, epsilon=epsilon, neighbors=relation, limits=Limits(nodes=1)
                    )
                    laws.append(log_law(cell_differences(cells), spy.exponent, outcomes))
                worst = max(worst, float(np.abs(laws[0] - laws[1]).max()))
    return worst


@pytest.mark.parametrize("relation", RELATIONS)
def test_every_outcome_satisfies_the_claim_and_attains_it(
    relation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "best_found", lambda *_: ())
    worst = worst_log_ratio(Spy(monkeypatch), relation, 0.75)
    assert worst == pytest.approx(0.75, abs=1e-12)


def test_the_sensitivity_of_removal_is_caught_under_replacement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counts, "best_found", lambda *_: ())
    monkeypatch.setitem(L1_SENSITIVITY, Neighbors.REPLACE, 1)
    assert worst_log_ratio(Spy(monkeypatch), "replace", 0.75) > 1.4


@pytest.mark.parametrize("n", [0, 1, 40])
def test_every_cell_of_the_domain_has_noise(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy(monkeypatch)
    counts_zero_one(table(((2, 0, 1, 1),) * n, (5, 3, 2)), epsilon=1)
    assert spy.size == 30


def test_differences_are_counted_cell_by_cell() -> None:
    generator = np.random.default_rng(1)
    levels = (3, 2, 4)
    codes = np.column_stack([generator.integers(0, m, 60) for m in levels])
    positive = generator.random(60) < 0.5
    expected = [
        sum(1 if y else -1 for row, y in zip(codes.tolist(), positive, strict=True) if row == [*c])
        for c in itertools.product(*map(range, levels))
    ]
    assert cell_differences(CellTable.from_codes(codes, positive, levels)).tolist() == expected
    # Cells may be listed twice.
    twice = CellTable(codes, np.ones_like(codes), 1 * positive, 1 - positive, levels)
    assert cell_differences(twice).tolist() == expected


def test_released_classifiers_have_the_claimed_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mechanism on every noise vector up to a tail: a function of the noisy counts alone."""
    spy, epsilon, reach = Spy(monkeypatch), 4.0, 9
    by_outcome: dict[tuple[int, ...], tuple[int, ...]] = {}
    laws = []
    for records in (((0, 1), (1, 0)), ((0, 1), (1, 1))):
        cells, law = table(records, (2,)), Counter[tuple[int, ...]]()
        for vector in itertools.product(range(-reach, reach + 1), repeat=2):
            spy.noise = np.array(vector)
            released = tuple(counts_zero_one(cells, epsilon=epsilon).value[0].tolist())
            outcome = cell_differences(cells) + spy.noise
            assert by_outcome.setdefault(tuple(outcome.tolist()), released) == released
            law[released] += math.exp(log_law(np.zeros(2), spy.exponent, spy.noise[None])[0])
        assert sum(law.values()) == pytest.approx(1, abs=1e-7)
        laws.append(law)
    ratios = [math.log(laws[0][w] / laws[1][w]) for w in laws[0]]
    assert max(map(abs, ratios)) == pytest.approx(epsilon, abs=1e-5)  # Attained, up to the tail.


def test_noise_has_its_law() -> None:
    exponent = Fraction(3, 5)
    x = np.array([4, -2, 0] * 4_000)
    noise = noisy_counts(x, exponent=exponent, source=SeededBits(3)) - x
    law = {y: math.exp(log_law(np.zeros(1), exponent, np.array([[y]]))[0]) for y in range(-60, 61)}
    assert p_value(Counter(noise.tolist()), law) > 1e-6
    one_sided = {y: law[y] * (2 if y else 1) * (y >= 0) for y in law}
    assert p_value(Counter(np.abs(noise).tolist()), one_sided) > 1e-6
    wrong = {y: math.exp(log_law(np.zeros(1), exponent * 2, np.array([[y]]))[0]) for y in law}
    assert p_value(Counter(noise.tolist()), wrong) < 1e-6
    with pytest.raises(ParameterError, match="integers"):
        noisy_counts(np.array([0.5]), exponent=exponent, source=SeededBits(1))


def test_little_noise_finds_the_optimum() -> None:
    generator = np.random.default_rng(5)
    codes = np.column_stack([generator.integers(0, m, 200) for m in (3, 2)])
    cells = CellTable.from_codes(codes, generator.random(200) < 0.5, (3, 2))
    least = min(cells.errors(cells.split(w)) for w in itertools.product((-1, 0, 1), repeat=5))
    assert cells.errors(counts_zero_one(cells, epsilon=1e6).value) == least


def test_large_noise_and_odd_domains() -> None:
    cells = table(((0, 0, 1),) * 5, (2, 3))
    for epsilon in (1e-11, 1e9):
        value = counts_zero_one(cells, epsilon=epsilon, random_state=1).value
        assert [len(block) for block in value] == [2, 3]
    # More attributes than an array may have axes.
    code = np.zeros((1, 81), dtype=np.int64)
    many = CellTable(code, code + 1, np.array([3]), np.array([1]), (2,) + (1,) * 80)
    assert len(counts_zero_one(many, epsilon=1).value) == 81
    huge = np.array([2**63 - 1, -(2**63)])
    assert len(best_found(huge, (2,), np.array([-1, 0, 1]), Limits())[0]) == 2


def test_release_states_its_guarantee() -> None:
    cells = table(((0, 1),), (2,))
    release = counts_zero_one(cells, epsilon=0.5, limits=Limits(nodes=3, seconds=5))
    guarantee = release.guarantee
    assert (guarantee.epsilon, guarantee.delta, guarantee.rho) == (0.5, 0.0, 0.125)
    assert (guarantee.sensitivity, guarantee.neighbors) == (2.0, Neighbors.REPLACE)
    assert guarantee.certificate is Certificate.NONE
    assert "optimality plays no role" in guarantee.theorem
    # Limits never refuse here.
    assert {c.kind for c in guarantee.contingencies} == {ContingencyKind.RUNNING_TIME}


def test_seed_reproduces_and_is_marked() -> None:
    cells = table(((0, 1, 1), (1, 0, 0)), (4, 3))
    first, second = (counts_zero_one(cells, epsilon=0.3, random_state=7) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first.value, second.value, strict=True))
    assert not first.guarantee.is_private


def test_each_release_is_charged() -> None:
    cells, ledger = table(((0, 1),), (2,)), Ledger({"people": 1.0})
    counts_zero_one(cells, epsilon=0.75, ledger=ledger, dataset="people")
    with pytest.raises(OverspendError):
        counts_zero_one(cells, epsilon=0.75, ledger=ledger, dataset="people")
    assert [c.epsilon for c in ledger.charges] == [Fraction(3, 4)]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"epsilon": 0}, ParameterError),
        ({"epsilon": math.nan}, ParameterError),
        ({"epsilon": 1e-13}, ParameterError),
        ({"neighbors": "friends"}, ParameterError),
        ({"weights": (1, 2)}, ProblemError),
        ({"weights": (0, 2**53)}, ParameterError),
        ({"limits": 5}, ParameterError),
        ({"random_state": -1}, ParameterError),
        ({"cells": CellTable.from_matrix([[2, 1]], [True])}, ParameterError),
        ({"cells": table((), (200, 200, 51))}, ParameterError),
        ({"dataset": None}, ParameterError),
        ({"neighbors": "add_remove"}, LedgerError),
    ],
    ids=str,
)
def test_bad_input_is_named_and_charges_nothing(
    changes: dict[str, object], error: type[Exception]
) -> None:
    ledger = Ledger({"people": 10.0})
    settings: dict[str, object] = {
        "cells": table(((0, 1),), (2,)),
        "epsilon": 1,
        "ledger": ledger,
        "dataset": "people",
        **changes,
    }
    with pytest.raises(error):
        counts_zero_one(settings.pop("cells"), **settings)
    assert ledger.charges == ()
