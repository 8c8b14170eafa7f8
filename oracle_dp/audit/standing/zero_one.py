"""Audits of the mechanisms over classifiers: neighbours are tables of a few rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import Any

import numpy as np

from oracle_dp.audit.search import audit_by_draws
from oracle_dp.audit.standing import Audit, Method
from oracle_dp.mechanisms import blockwise as blocks
from oracle_dp.mechanisms import counts, exponential
from oracle_dp.noise import BitSource, positive_rational
from oracle_dp.privacy import Neighbors
from oracles.zero_one import CellTable

EPSILON = 1.0
DRAWS = 12_000
WEIGHTS = (0, 1)

Pair = tuple[CellTable, CellTable]


def replaced(negative: int) -> Pair:
    """One attribute of one level; one row's label is replaced."""
    return rows(*[False] * negative, True), rows(*[False] * negative, False)


def added(negative: int) -> Pair:
    """One attribute of one level; one positive row is added."""
    return rows(*[False] * negative, True), rows(*[False] * negative)


def rows(*labels: bool) -> CellTable:
    """Rows of the one level."""
    return CellTable.from_codes(np.zeros((len(labels), 1), dtype=int), np.array(labels), (1,))


MOVED = (
    CellTable.from_codes(np.array([[0]]), np.array([True]), (2,)),
    CellTable.from_codes(np.array([[1]]), np.array([False]), (2,)),
)
"""One row is replaced: it leaves one cell as a positive and enters the other as a negative."""


def audits() -> list[Audit]:
    """Exponential, counts and blockwise, from draws."""
    found = [
        by_draws("exponential", relation, partial(classifiers, relation), pairs)
        for relation, pairs in (
            ("replace", [replaced(3)]),
            ("add_remove", [added(2)]),
        )
    ]
    found += [
        by_draws("counts", "replace", partial(noisy, "replace"), [MOVED]),
        by_draws("counts", "add_remove", partial(noisy, "add_remove"), [added(1)]),
        by_draws("blockwise", "replace", partial(redrawn, "replace"), [replaced(3)]),
        by_draws("blockwise", "add_remove", partial(redrawn, "add_remove"), [added(2)]),
    ]
    return found


def by_draws(mechanism: str, variant: str, draws: Callable[..., Any], pairs: list[Any]) -> Audit:
    """An audit of pure epsilon by draws."""

    def measure(seed: int) -> float:
        return audit_by_draws(draws, pairs, draws=DRAWS, random_state=seed)

    return Audit(
        mechanism=mechanism,
        variant=variant,
        claimed=EPSILON,
        method=Method.DRAWS,
        measure=measure,
    )


def classifiers(
    relation: str, cells: CellTable, draws: int, source: BitSource
) -> Iterable[Hashable]:
    """What the exponential mechanism releases."""
    mechanism = exponential.ZeroOneExponential(
        cells, epsilon=EPSILON, neighbors=relation, weights=WEIGHTS
    )
    for release in mechanism.releases(draws, random_state=source):
        yield release.value[0].tobytes()


def noisy(relation: str, cells: CellTable, draws: int, source: BitSource) -> Iterable[Hashable]:
    """Noisy counts, clipped: what the mechanism makes the classifier from."""
    for _ in range(draws):
        seen = counts.noisy_differences(
            cells,
            epsilon=positive_rational("epsilon", EPSILON),
            neighbors=Neighbors.parse(relation),
            source=source,
        )
        yield tuple(np.clip(seen, -2, 2).tolist())


def redrawn(relation: str, cells: CellTable, draws: int, source: BitSource) -> Iterable[Hashable]:
    """What blockwise redrawing releases after one sweep."""
    for _ in range(draws):
        release = blocks.blockwise(
            cells,
            epsilon=EPSILON,
            neighbors=relation,
            weights=WEIGHTS,
            sweeps=1,
            random_state=source,
        )
        yield release.value[0].tobytes()
