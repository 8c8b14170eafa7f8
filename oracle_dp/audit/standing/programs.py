"""Audits of mechanisms over integer programs, from draws: one of two places is chosen."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oracle_dp.audit.standing import Audit
from oracle_dp.audit.standing.zero_one import EPSILON, by_draws
from oracle_dp.mechanisms import histogram, selection
from oracle_dp.noise import BitSource
from oracle_dp.privacy import Neighbors
from oracles import Limits
from oracles.selection.base import BaseSet
from oracles.selection.facility import FacilityLoss

SENSITIVITY = 2
"""One person's costs of two places, which differ by 3 or by 1."""

PEOPLE = ((3, 0), (2, 1))


def audits() -> list[Audit]:
    """The exponential mechanism over programs, and noise on counts per place."""
    return [
        by_draws(selection.MECHANISM, "integer program", places, [PEOPLE]),
        by_draws(histogram.MECHANISM, "histogram", noisy, [((1, 0), (0, 1))]),
    ]


def places(costs: tuple[int, int], draws: int, source: BitSource) -> Iterable[Hashable]:
    """Which place the exponential mechanism opens."""
    loss = FacilityLoss(BaseSet.subsets(2, exactly=1), np.array([costs]))
    mechanism = selection.SelectionExponential(loss, epsilon=EPSILON, sensitivity=SENSITIVITY)
    for release in mechanism.releases(draws, random_state=source):
        yield release.value.tobytes()


@dataclass(frozen=True)
class Shown:
    """Counts of which nothing is made: what every answer is computed from."""

    counts: NDArray[np.int64]

    def l1_sensitivity(self, neighbors: Neighbors) -> int:
        """A person who moves leaves one place and enters another."""
        return 2 if neighbors is Neighbors.REPLACE else 1

    def answer(self, counts: NDArray[np.int64], limits: Limits) -> NDArray[np.int64]:
        """The noisy counts, clipped: there are few outcomes then."""
        return np.clip(counts, -2, 2)


def noisy(people: tuple[int, int], draws: int, source: BitSource) -> Iterable[Hashable]:
    """What is released of two places' counts."""
    counts = Shown(np.array(people))
    for _ in range(draws):
        release = histogram.counts_histogram(counts, epsilon=EPSILON, random_state=source)
        yield tuple(release.value.tolist())
