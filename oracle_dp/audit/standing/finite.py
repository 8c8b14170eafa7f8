"""Audits of Top-R: its law is finite, and is read off the mechanism's own weights."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from oracle_dp.audit.bounds import exact_epsilon
from oracle_dp.audit.standing import Audit, Method
from oracle_dp.audit.standing.zero_one import EPSILON, by_draws
from oracle_dp.mechanisms.top_r import CappedLaw, top_r
from oracle_dp.noise import BitSource, positive_rational
from oracles.finite import FiniteTable
from oracles.ranking import best_points

N_BEST = 2
SENSITIVITY = 2
PAIR = (FiniteTable([0, 4, 9]), FiniteTable([1, 3, 8]))
"""Losses move by 1, one of them in the other direction: differences of two move by at most 2."""


def audits() -> list[Audit]:
    """From the law, and from draws."""
    exact = Audit(
        mechanism="top_r",
        variant="law",
        claimed=EPSILON,
        method=Method.EXACT,
        measure=lambda _: exact_epsilon(law(PAIR[0]), law(PAIR[1])),
    )
    return [exact, by_draws("top_r", "draws", drawn, [PAIR])]


def law(table: FiniteTable) -> dict[tuple[int, ...], float]:
    """Probability of each point, from the weights that the mechanism draws by."""
    best = best_points(table, N_BEST).require_point()
    rate = positive_rational("epsilon", EPSILON) / SENSITIVITY
    capped = CappedLaw(best, table.n_points - N_BEST, rate)
    weights = [float(weight) for weight in capped.weights()]
    listed = dict(zip((point.positions for point in best), weights, strict=False))
    each = weights[-1] / capped.others
    points = [tuple(map(int, point)) for point in np.argwhere(table.allowed)]
    return {point: listed.get(point, each) / sum(weights) for point in points}


def drawn(table: FiniteTable, draws: int, source: BitSource) -> Iterable[Hashable]:
    """What Top-R releases."""
    for _ in range(draws):
        yield top_r(
            table,
            n_best=N_BEST,
            epsilon=EPSILON,
            sensitivity=SENSITIVITY,
            random_state=source,
        ).value
