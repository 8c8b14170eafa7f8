"""Audits that must find a violation: an audit that never has may be blind."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from functools import partial

import numpy as np

from oracle_dp.audit.counterexamples import (
    Counterexample,
    RealGaussianAdvantages,
    halfspace,
    parity,
)
from oracle_dp.audit.known_bad import one_sided_counts, released_sigma
from oracle_dp.audit.search import Draws, audit_by_draws
from oracle_dp.audit.standing import Audit, Method
from oracle_dp.audit.standing.perturbation import shown
from oracle_dp.audit.standing.zero_one import DRAWS, EPSILON, MOVED, Pair, added, noisy
from oracle_dp.mechanisms.counts import cell_differences
from oracle_dp.noise import BitSource
from oracles.zero_one import CellTable

DELTA = 1e-3


def audits() -> list[Audit]:
    """The released scale of the source's code, and two planted faults."""
    found = [
        Audit(
            mechanism="released_sigma",
            variant=variant,
            claimed=EPSILON,
            delta=DELTA,
            method=Method.EXACT,
            expected_violation=True,
            measure=partial(_released, example),
        )
        for variant, example in (("halfspace", halfspace(11)), ("parity", parity(8)))
    ]
    planted = (
        # Calibrated for one row more or less, and a row is replaced.
        ("wrong neighbours", partial(noisy, "add_remove"), MOVED),
        ("one-sided noise", _one_sided, added(1)),
    )
    found += [
        Audit(
            mechanism="planted_counts",
            variant=variant,
            claimed=EPSILON,
            method=Method.DRAWS,
            expected_violation=True,
            measure=partial(_by_draws, draws, pair),
        )
        for variant, draws, pair in planted
    ]
    return found


def _released(example: Counterexample, _seed: int) -> float:
    d = example.dimension
    sigma = released_sigma(epsilon=EPSILON, delta=DELTA, max_norm=math.sqrt(d), separation=2)
    # L - <eta, pi(w)> with pi(w) = (w / sqrt d, 0): an advantage is 2 eta_i / sqrt d.
    return shown(example, RealGaussianAdvantages(2 * sigma / math.sqrt(d)), DELTA)


def _one_sided(cells: CellTable, draws: int, source: BitSource) -> Iterable[Hashable]:
    differences = cell_differences(cells)
    for _ in range(draws):
        seen = one_sided_counts(differences, epsilon=EPSILON, source=source)
        yield tuple(np.clip(seen, -2, 2).tolist())


def _by_draws(draws: Draws[CellTable], pair: Pair, seed: int) -> float:
    return audit_by_draws(draws, [pair], draws=DRAWS, random_state=seed)
