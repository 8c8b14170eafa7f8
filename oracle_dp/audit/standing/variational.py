"""Audits of variational methods, read off: constant operators, of which one record's is reversed.

Sets are so large and steps so short that no projection acts; then outputs are sums of all noises.
Of the last evaluation of an extragradient step no output depends, which is why NSEG shows a little
less than it claims.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from oracle_dp.audit.read_off import (
    Scripted,
    affine_law,
    laplace_tail,
    laplace_word,
    law_epsilon,
)
from oracle_dp.audit.standing import Audit, Method
from oracle_dp.audit.standing.first_order import DELTA, EPSILON, audit
from oracle_dp.variational import (
    NisppPlan,
    NsegPlan,
    RecursivePlan,
    Sampling,
    nispp,
    nseg,
    recursive_nseg,
    release_gap,
)
from oracles.arrays import FloatArray
from oracles.monotone import Ball, RecordFunction
from oracles.monotone.operators import Records

RECORDS = 8
STEPS = 2
FAR = 1e6


def audits() -> list[Audit]:
    """Of the methods on full batches, and of the certificate."""
    extragradient = NsegPlan(sampling=Sampling.FULL, batch_size=RECORDS, steps=STEPS, step=1.0)
    proximal = NisppPlan(
        sampling=Sampling.FULL, batch_size=RECORDS, steps=STEPS, weight=1e3, accuracy=1e-7
    )
    chain = RecursivePlan(weight=1e-3, rounds=1, steps=STEPS, batch_size=RECORDS)
    cases: dict[str, tuple[Callable[..., Any], float, list[int], int]] = {
        "nseg": (partial(nseg, plan=extragradient), FAR, [], 2 * STEPS),
        "nispp": (partial(nispp, plan=proximal), 1.0, [], STEPS),
        # A word for every record comes first: their order, which does not matter here.
        "recursive_nseg": (
            *(partial(recursive_nseg, plan=chain), FAR),
            *(list(range(RECORDS)), 2 * STEPS),
        ),
    }
    found = [
        audit(mechanism, "full batches", partial(_measure, *case))
        for mechanism, case in cases.items()
    ]
    certificate = Audit(
        mechanism="variational_gap",
        variant="certificate",
        claimed=EPSILON,
        method=Method.EXACT,
        measure=lambda _seed: _certificate(),
    )
    return [*found, certificate]


def operator(sign: float, radius: float) -> RecordFunction:
    """All records pull to the left but the first, which may pull to the right."""
    values = -np.ones((RECORDS, 1))
    values[0] = sign

    def constant(point: FloatArray, records: Records) -> FloatArray:
        return np.asarray(values[records])

    return RecordFunction(
        constant, Ball(radius, np.zeros(1)), n_records=RECORDS, lipschitz=1e-6, bound=1.0
    )


def _measure(method: Callable[..., Any], radius: float, before: list[int], noises: int) -> float:
    def released(sign: float, source: Scripted) -> float:
        release = method(operator(sign, radius), epsilon=EPSILON, delta=DELTA, random_state=source)
        return float(release.value[0])

    first, second = (
        affine_law(partial(released, sign), noises, before=before) for sign in (1.0, -1.0)
    )
    return law_epsilon(first, second, delta=DELTA)


def _certificate() -> float:
    """At an end of the set the certificate is ``D |mean|``, and moves by ``2 M D / n``."""

    def released(sign: float, source: Scripted) -> float:
        pulled = operator(sign, 1.0)
        return float(release_gap(pulled, [-1.0], epsilon=EPSILON, random_state=source).value)

    laws = [
        affine_law(partial(released, sign), 1, word=laplace_word, tail=laplace_tail)
        for sign in (1.0, -1.0)
    ]
    return law_epsilon(*laws, delta=0.0)
