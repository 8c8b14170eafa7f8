"""Audits of the estimator in one run: every level of one attribute is a canary.

A level has :data:`NEGATIVE` rows with the label 0 and one more, the canary, whose label is the
coin. Its weight is rarely positive, and more often so if the canary's label is 1: where it is, 1 is
guessed, and nothing elsewhere.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oracle_dp.audit.one_run import audit_in_one_run
from oracle_dp.audit.standing import Audit, Method
from oracle_dp.domain import Categorical, Domain
from oracle_dp.estimators.zero_one import ZeroOneClassifier
from oracle_dp.mechanisms.blockwise import SWEEPS
from oracle_dp.noise import BitSource

EPSILON = 1.0
CANARIES = 20_000
NEGATIVE = 3

LEVELS = tuple(f"level {i}" for i in range(CANARIES))


def audits() -> list[Audit]:
    """One for each mechanism that can be run on so many levels."""
    return [
        Audit(
            mechanism=mechanism,
            variant="replace, ZeroOneClassifier",
            claimed=EPSILON,
            method=Method.ONE_RUN,
            measure=partial(measure, mechanism),
        )
        for mechanism in ("exponential", "counts", "blockwise")
    ]


def measure(mechanism: str, seed: int) -> float:
    """A lower bound on epsilon from one fit."""
    return audit_in_one_run(partial(attack, mechanism), canaries=CANARIES, random_state=seed)


def attack(mechanism: str, states: NDArray[np.bool_], source: BitSource) -> NDArray[np.int64]:
    """Fit once; guess from the released card alone."""
    frame = pd.DataFrame({"level": np.repeat(LEVELS, NEGATIVE + 1)})
    labels = np.zeros((CANARIES, NEGATIVE + 1), dtype=np.int64)
    labels[:, -1] = states
    classifier = ZeroOneClassifier(
        EPSILON,
        mechanism=mechanism,
        weights=(0, 1),
        domain=Domain([Categorical("level", LEVELS)]),
        classes=(0, 1),
        random_state=source.bits(63),
        sweeps=1 if mechanism == "blockwise" else SWEEPS,
    )
    classifier.fit(frame, labels.ravel())
    predicted: NDArray[np.int64] = classifier.predict(pd.DataFrame({"level": LEVELS}))
    return predicted
