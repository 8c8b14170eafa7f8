"""Blockwise redrawing: the law of all that is drawn, on neighbouring data, and what is caught."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from oracle_dp import Budget, Ledger, LedgerError, Neighbors, OverspendError, ParameterError
from oracle_dp.accounting.zcdp import largest_rho
from oracle_dp.mechanisms import blockwise as module
from oracle_dp.mechanisms.blockwise import blockwise, calibrate, level_costs
from oracle_dp.noise import SeededBits, rational
from oracle_dp.privacy import ContingencyKind
from oracle_dp.sensitivity import ZERO_ONE
from oracles import Certificate, Limits, ProblemError
from oracles.zero_one import CellTable

from .blockwise_law import TERNARY, end_law, rate, table, transcripts, update_law
from .goodness import p_value

RELATIONS = ("replace", "add_remove", "zero_out")


def worst_log_ratio(
    first: CellTable, second: CellTable, relation: str, epsilon: float, updates: int
) -> float:
    schedule = tuple(range(len(first.levels))) * (updates // len(first.levels))
    b = rate(relation, epsilon, updates)
    return float(
        np.abs(transcripts(first, schedule, b)[0] - transcripts(second, schedule, b)[0]).max()
    )


def pairs(relation: str) -> list[tuple[CellTable, CellTable]]:
    """Random neighbours on two attributes."""
    generator = np.random.default_rng(3)
    found = []
    for _ in range(25):
        n = int(generator.integers(1, 6))
        records = [tuple(generator.integers(0, 2, 3).tolist()) for _ in range(n + 1)]
        other = [records[0], *records[2:]] if relation == "replace" else records
        found.append((table(records[1:], (2, 2)), table(other, (2, 2))))
    return found


def lopsided(change: str) -> tuple[CellTable, CellTable]:
    """Data that all but decide every draw, and one record that speaks for the rare outcomes."""
    base = [(0, 0, 1)] * 60 + [(1, 0, 1)] * 60
    return {
        "flip": (table([*base, (0, 0, 1)], (2, 1)), table([*base, (0, 0, 0)], (2, 1))),
        "move": (table([*base, (0, 0, 1)], (2, 1)), table([*base, (1, 0, 1)], (2, 1))),
        "vanish": (table([*base, (0, 0, 1)], (2, 1)), table(base, (2, 1))),
    }[change]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 6.0])
def test_everything_drawn_satisfies_the_claim(relation: str, epsilon: float) -> None:
    for first, second in pairs(relation):
        assert worst_log_ratio(first, second, relation, epsilon, 2) <= epsilon + 1e-12
    first, second = pairs(relation)[0]
    assert worst_log_ratio(first, second, relation, epsilon, 4) <= epsilon + 1e-12


@pytest.mark.parametrize(
    ("relation", "change"), [("replace", "flip"), ("add_remove", "vanish"), ("zero_out", "vanish")]
)
def test_the_claim_is_attained_over_all_updates(relation: str, change: str) -> None:
    worst = worst_log_ratio(*lopsided(change), relation, 4.0, 4)
    assert 3.98 <= worst <= 4.0 + 1e-12


def test_a_move_between_levels_costs_as_much_as_a_flip_in_one_update() -> None:
    start = [np.zeros(2, dtype=np.int64), np.zeros(1, dtype=np.int64)]
    for change in ("flip", "move"):
        # From level 0 to level 1: rare values at both, in opposite directions.
        first, second = lopsided(change)
        if change == "move":
            base = [(0, 0, 1)] * 60 + [(1, 0, 0)] * 60
            first = table([*base, (0, 0, 1)], (2, 1))
            second = table([*base, (1, 0, 1)], (2, 1))
        laws = [update_law(cells, start, 0, 1.0) for cells in (first, second)]
        worst = float(np.abs(laws[0] - laws[1]).max())
        assert worst <= 2.0 + 1e-12
        assert worst >= 1.98


def test_renyi_divergence_of_an_update() -> None:
    start = [np.zeros(2, dtype=np.int64), np.zeros(1, dtype=np.int64)]
    seen = dict.fromkeys(("flip", "move", "vanish"), 0.0)
    for n, m in itertools.product(range(0, 8), repeat=2):
        base = [(0, 0, 1)] * n + [(0, 0, 0)] * 3 + [(1, 0, 1)] * m + [(1, 0, 0)] * 3
        first = table([*base, (0, 0, 1)], (2, 1))
        others = {"flip": [*base, (0, 0, 0)], "move": [*base, (1, 0, 1)], "vanish": base}
        for change, records in others.items():
            second = table(records, (2, 1))
            for b, a in itertools.product((0.1, 1.0), (1.5, 2.0, 16.0)):
                p = update_law(first, start, 0, b)
                q = update_law(second, start, 0, b)
                divergence = float(np.logaddexp.reduce(a * p + (1 - a) * q)) / (a - 1)
                seen[change] = max(seen[change], divergence / (a * b**2 / 8))
    assert seen["vanish"] <= 1 + 1e-9
    assert seen["move"] <= 2 + 1e-9
    assert 2 < seen["flip"] <= 4 + 1e-9  # A flip does need more than a move.


def test_a_rate_that_is_not_halved_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ZERO_ONE, Neighbors.REPLACE, 1)
    assert worst_log_ratio(*lopsided("flip"), "replace", 4.0, 4) > 7.5


def test_a_forgotten_update_is_caught() -> None:
    b = rate("replace", 4.0, 2)  # Calibrated for half of the updates.
    laws = [transcripts(cells, (0, 1, 0, 1), b)[0] for cells in lopsided("flip")]
    assert np.abs(laws[0] - laws[1]).max() > 7.5


def test_costs_are_the_errors_of_each_level() -> None:
    generator = np.random.default_rng(2)
    levels = (3, 2, 4)
    codes = np.column_stack([generator.integers(0, m, 80) for m in levels])
    positive = generator.random(80) < 0.5
    cells = CellTable.from_codes(codes, positive, levels)
    current = [generator.integers(-1, 2, m) for m in levels]
    for j, m in enumerate(levels):
        costs = level_costs(cells, TERNARY, current, j)
        assert costs.shape == (m, 3)
        for level, i in itertools.product(range(m), range(3)):
            trial = [block.copy() for block in current]
            trial[j][level] = TERNARY[i]
            wrong = [
                (sum(int(trial[k][row[k]]) for k in range(3)) >= 1) != y
                for row, y in zip(codes.tolist(), positive, strict=True)
                if row[j] == level
            ]
            assert costs[level, i] == sum(wrong)


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_draws_have_the_law_of_the_theorem(relation: str) -> None:
    generator = np.random.default_rng(8)
    records = [tuple(generator.integers(0, 2, 3).tolist()) for _ in range(12)]
    cells, source, n = table(records, (2, 2)), SeededBits(4), 3_000
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(n):
        release = blockwise(
            cells, epsilon=6, neighbors=relation, sweeps=1, order=[1, 0], random_state=source
        )
        seen[tuple(np.concatenate(release.value).tolist())] += 1
    b = rate(relation, 6.0, 2)
    assert p_value(seen, end_law(cells, (1, 0), b)) > 1e-5
    assert p_value(seen, end_law(cells, (0, 1), b)) < 1e-5
    assert p_value(seen, end_law(cells, (1, 0), 2 * b)) < 1e-5


def test_levels_without_rows_are_drawn_uniformly() -> None:
    cells, source = table([(0, 0, 1)] * 50, (3, 1)), SeededBits(1)
    drawn = [
        blockwise(cells, epsilon=50, sweeps=1, random_state=source).value[0] for _ in range(600)
    ]
    for level in (1, 2):
        counted = Counter(int(block[level]) for block in drawn)
        assert chisquare([counted[v] for v in (-1, 0, 1)]).pvalue > 1e-5


def test_the_schedule_is_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    updated: list[int] = []

    def noted(
        cells: object, values: object, current: list[np.ndarray], j: int, *_: object
    ) -> np.ndarray:
        updated.append(j)
        return current[j]

    monkeypatch.setattr(module, "redraw", noted)
    for records in ([], [(0, 0, 0, 1)] * 30):
        updated.clear()
        blockwise(table(records, (2, 5, 2)), epsilon=1, sweeps=3)
        assert updated == [1, 0, 2] * 3
    blockwise(table([], (2, 5, 2)), epsilon=1, order=(2, 1, 0), sweeps=1)
    assert updated[-3:] == [2, 1, 0]


@pytest.mark.parametrize("relation", RELATIONS)
def test_calibration(relation: str) -> None:
    neighbors, delta = Neighbors(relation), Fraction(1, 10**6)
    reach = 2 if relation == "replace" else 1
    for epsilon, updates in itertools.product((Fraction(1, 10), Fraction(1), Fraction(8)), (1, 40)):
        pure = calibrate(epsilon=epsilon, delta=Fraction(0), updates=updates, neighbors=neighbors)
        assert pure.rate * updates * reach == epsilon
        assert pure.rho == epsilon**2 / (8 * updates)
        mixed = calibrate(epsilon=epsilon, delta=delta, updates=updates, neighbors=neighbors)
        assert mixed.rate >= pure.rate
        if mixed.delta == 0:
            assert mixed == pure
        else:
            assert mixed.rate > pure.rate
            assert updates * (reach * mixed.rate) ** 2 / 8 <= largest_rho(epsilon, delta)
    assert mixed.delta == delta


def test_release_states_its_guarantee() -> None:
    cells = table([(0, 0, 1)], (2, 2))
    guarantee = blockwise(cells, epsilon=0.5).guarantee
    assert (guarantee.epsilon, guarantee.delta, guarantee.rho) == (0.5, 0.0, 0.25 / 32)
    assert guarantee.certificate is Certificate.NONE
    assert "not a draw from the joint law" in guarantee.theorem
    assert {c.kind for c in guarantee.contingencies} == {ContingencyKind.RUNNING_TIME}
    composed = blockwise(cells, epsilon=0.5, delta=1e-6, sweeps=20).guarantee
    assert (composed.epsilon, composed.delta) == (0.5, 1e-6)
    assert composed.rho is not None
    assert Fraction(composed.rho) <= largest_rho(Fraction(1, 2), Fraction(1, 10**6))
    seeded = blockwise(cells, epsilon=0.5, random_state=1)
    assert not seeded.guarantee.is_private


def test_what_is_charged() -> None:
    cells = table([(0, 0, 1)], (2, 2))
    ledger = Ledger({"people": Budget(epsilon=2, delta=1e-6)})
    blockwise(cells, epsilon=1, delta=1e-6, ledger=ledger, dataset="people")  # Delta does not help.
    blockwise(cells, epsilon=1, delta=1e-6, sweeps=20, ledger=ledger, dataset="people")
    assert [(c.epsilon, c.delta) for c in ledger.charges] == [(1, 0), (1, rational("delta", 1e-6))]
    with pytest.raises(OverspendError):
        blockwise(cells, epsilon=0.1, ledger=ledger, dataset="people")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"epsilon": 0}, ParameterError),
        ({"epsilon": math.inf}, ParameterError),
        ({"delta": -0.1}, ParameterError),
        ({"delta": 1}, ParameterError),
        ({"neighbors": "friends"}, ParameterError),
        ({"sweeps": 0}, ParameterError),
        ({"sweeps": 1.5}, ParameterError),
        ({"order": [0, 0]}, ParameterError),
        ({"order": [0]}, ParameterError),
        ({"weights": (1, 2)}, ProblemError),
        ({"limits": Limits(seconds=1)}, ParameterError),
        ({"random_state": -1}, ParameterError),
        ({"cells": CellTable.from_matrix([[2, 1]], [True])}, ParameterError),
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
        "cells": table([(0, 0, 1)], (2, 2)),
        "epsilon": 1,
        "ledger": ledger,
        "dataset": "people",
        **changes,
    }
    with pytest.raises(error):
        blockwise(settings.pop("cells"), **settings)
    assert ledger.charges == ()
