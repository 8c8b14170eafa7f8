"""The law of blockwise redrawing, enumerated from the costs of single updates."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from oracle_dp import Neighbors
from oracle_dp.mechanisms.blockwise import calibrate, level_costs
from oracles.zero_one import CellTable

TERNARY = np.array([-1, 0, 1])


def table(records: Sequence[tuple[int, ...]], levels: tuple[int, ...]) -> CellTable:
    """Records: the levels, then the label."""
    rows = np.array(records, dtype=np.int64).reshape(-1, len(levels) + 1)
    return CellTable.from_codes(rows[:, :-1], rows[:, -1] == 1, levels)


def rate(relation: str, epsilon: float, updates: int) -> float:
    calibrated = calibrate(
        epsilon=Fraction(epsilon),
        delta=Fraction(0),
        updates=updates,
        neighbors=Neighbors.parse(relation),
    )
    return float(calibrated.rate)


def update_law(cells: CellTable, current: list[np.ndarray], j: int, b: float) -> np.ndarray:
    """Log law of one update, one entry per outcome, levels' values in lexicographic order."""
    log = -b * level_costs(cells, TERNARY, current, j)
    log = log - np.logaddexp.reduce(log, axis=1, keepdims=True)
    total = np.zeros(1)
    for row in log:
        total = (total[:, None] + row[None, :]).ravel()
    return total


def transcripts(
    cells: CellTable, schedule: Sequence[int], b: float
) -> tuple[np.ndarray, list[tuple[int, ...]]]:
    """Log law of everything that is drawn, and the last weights of each transcript."""
    logs, ends = [], []

    def follow(step: int, log: float, current: list[np.ndarray]) -> None:
        if step == len(schedule):
            logs.append(log)
            ends.append(tuple(np.concatenate(current).tolist()))
            return
        j = schedule[step]
        law = update_law(cells, current, j, b)
        outcomes = itertools.product(TERNARY, repeat=cells.levels[j])
        for more, outcome in zip(law, outcomes, strict=True):
            follow(step + 1, log + more, [*current[:j], np.array(outcome), *current[j + 1 :]])

    follow(0, 0.0, [np.zeros(m, dtype=np.int64) for m in cells.levels])
    return np.array(logs), ends


def end_law(cells: CellTable, schedule: Sequence[int], b: float) -> dict[tuple[int, ...], float]:
    logs, ends = transcripts(cells, schedule, b)
    law: dict[tuple[int, ...], float] = {}
    for log, end in zip(logs, ends, strict=True):
        law[end] = law.get(end, 0.0) + math.exp(log)
    return law
