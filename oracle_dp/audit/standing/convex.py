"""Audits of private logistic regression: one feature, no intercept, one label is replaced."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from oracle_dp.audit.search import audit_by_draws
from oracle_dp.audit.standing import Audit, Method
from oracle_dp.noise import BitSource

EPSILON = 8.0
DELTA = 1e-3
DRAWS = 500
ROWS = 4

METHODS = {
    "objective_gaussian": "gaussian_objective_perturbation",
    "objective": "objective_perturbation",
    "amp": "approximate_minima_perturbation",
    "opsamp": "opsamp",
}
"""Methods of the estimator, and their mechanisms' names."""

OPTIONS = {"opsamp": {"calls": 4}}


def audits() -> list[Audit]:
    """One per method; the released weight is read off by its sign and rough size."""
    return [
        Audit(
            mechanism=mechanism,
            variant=f"logistic, {method}",
            claimed=EPSILON,
            delta=_delta(method),
            method=Method.DRAWS,
            measure=partial(_measure, method),
        )
        for method, mechanism in METHODS.items()
    ]


def _delta(method: str) -> float:
    return 0.0 if method == "objective" else DELTA


def _measure(method: str, seed: int) -> float:
    last = {True: 1, False: 0}
    pairs = [tuple((0,) * (ROWS - 1) + (last[one],) for one in (True, False))]
    return audit_by_draws(
        partial(_weights, method),
        [(pair[0], pair[1]) for pair in pairs],
        draws=DRAWS,
        delta=_delta(method),
        random_state=seed,
    )


def _weights(method: str, labels: tuple[int, ...], draws: int, source: BitSource) -> Iterator[int]:
    from oracle_dp.estimators.logistic import LogisticRegression

    rows = np.ones((len(labels), 1))
    for _ in range(draws):
        fitted = LogisticRegression(
            EPSILON,
            delta=_delta(method),
            method=method,
            options=OPTIONS.get(method),
            classes=(0, 1),
            fit_intercept=False,
            random_state=source.bits(62),
        ).fit(rows, np.array(labels))
        yield int(np.clip(np.round(fitted.coef_[0, 0]), -5, 0))
