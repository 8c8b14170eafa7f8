"""Every mechanism of the comparison on Adult: rows, epsilon and seeds to errors and guarantees.

Each runs with the package's defaults, under ``replace``. Delta is 0 where the mechanism is pure and
n^-2 otherwise. Released models are judged on the public test rows, which is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments import diffprivlib_env
from experiments.adult_data import Task
from oracle_dp import (
    Guarantee,
    LogisticRegression,
    Release,
    ZeroOneExponential,
    blockwise,
    counts_zero_one,
    opdisc,
    top_r,
)
from oracle_dp.audit.known_bad import released_sigma
from oracle_dp.errors import UncertifiedError
from oracle_dp.sensitivity import PROVED
from oracles import Certificate, Limits
from oracles.total import TotalReward
from oracles.zero_one import ZeroOneProblem

WEIGHTS = (-1, 0, 1)
NEIGHBORS = "replace"
SENSITIVITY = 2
"""Of the number of errors, in range, when one record is replaced."""

N_BEST = 10
"""R of Top-R: the estimator's default."""

FINEST = 16
"""Lattice steps per error of the released code's noise, which it draws without a lattice."""


@dataclass(frozen=True)
class Answer:
    """One trained model.

    Attributes:
        error: Share of the test rows that it gets wrong.
        guarantee: Short form of what its release guarantees, or of what its author claims.
    """

    error: float
    guarantee: dict[str, Any]


Mechanism = Callable[[Task, float, Sequence[int], Limits], Iterator[Answer]]
"""Takes rows, epsilon, seeds and limits of one run; makes one model per seed.

Raises ``UncertifiedError`` where a run is refused, and ``MissingError`` where a peer is not there.
"""


def short(guarantee: Guarantee) -> dict[str, Any]:
    """Theorem, certificate and kinds of contingencies of a guarantee."""
    return {
        "theorem": guarantee.theorem,
        "certificate": guarantee.certificate.value,
        "contingencies": sorted(c.kind.value for c in guarantee.contingencies),
        "epsilon": guarantee.epsilon,
        "delta": guarantee.delta,
        "neighbors": guarantee.neighbors.value,
    }


def _card(task: Task, release: Release[Any]) -> Answer:
    return Answer(task.error_of_weights(release.value), short(release.guarantee))


def exponential(
    task: Task, epsilon: float, seeds: Sequence[int], limits: Limits
) -> Iterator[Answer]:
    """Exact draws; one tree serves all of them."""
    mechanism = ZeroOneExponential(
        task.train, epsilon=epsilon, neighbors=NEIGHBORS, weights=WEIGHTS
    )
    for seed in seeds:
        yield _card(task, mechanism.release(limits=limits, random_state=seed))


def objective_perturbation(lift: str, noise: str) -> Mechanism:
    """OPDisc with a lift and a noise."""

    def run(task: Task, epsilon: float, seeds: Sequence[int], limits: Limits) -> Iterator[Answer]:
        problem = ZeroOneProblem(task.train, WEIGHTS)
        for seed in seeds:
            release = opdisc(
                problem,
                epsilon=epsilon,
                delta=task.delta if noise == "gaussian" else 0,
                sensitivity=SENSITIVITY,
                sensitivity_source=PROVED,
                neighbors=NEIGHBORS,
                lift=lift,
                noise=noise,
                limits=limits,
                random_state=seed,
            )
            yield _card(task, release)

    return run


def capped(task: Task, epsilon: float, seeds: Sequence[int], limits: Limits) -> Iterator[Answer]:
    """Top-R."""
    problem = ZeroOneProblem(task.train, WEIGHTS)
    for seed in seeds:
        release = top_r(
            problem,
            epsilon=epsilon,
            n_best=N_BEST,
            sensitivity=SENSITIVITY,
            sensitivity_source=PROVED,
            neighbors=NEIGHBORS,
            limits=limits,
            random_state=seed,
        )
        yield _card(task, release)


def on_cells(mechanism: Callable[..., Release[Any]], *, limited: bool = True) -> Mechanism:
    """A mechanism that takes cells and weights."""

    def run(task: Task, epsilon: float, seeds: Sequence[int], limits: Limits) -> Iterator[Answer]:
        own = {"limits": limits} if limited else {}
        for seed in seeds:
            release = mechanism(
                task.train,
                epsilon=epsilon,
                neighbors=NEIGHBORS,
                weights=WEIGHTS,
                random_state=seed,
                **own,
            )
            yield _card(task, release)

    return run


noisy_counts = on_cells(counts_zero_one, limited=False)
attribute_by_attribute = on_cells(blockwise, limited=False)


def released_code(
    task: Task, epsilon: float, seeds: Sequence[int], limits: Limits
) -> Iterator[Answer]:
    """NOT PRIVATE AS CLAIMED: OPDisc with lift pi and the released code's standard deviation."""
    problem = ZeroOneProblem(task.train, WEIGHTS)
    d = task.dimension
    for seed in seeds:
        rewards, total = released_noise(
            d, WEIGHTS, epsilon=epsilon, delta=task.delta, top=d, seed=seed
        )
        found = problem.minimize(rewards, scale=FINEST, total=total, limits=limits)
        if found.value is None or found.certificate is Certificate.NONE:
            raise UncertifiedError(f"no proof of the minimum ({found.status.message})")
        claim = {
            "theorem": "none: the released code's scale, for which violations are known",
            "certificate": found.certificate.value,
            "contingencies": [],
            "epsilon": epsilon,
            "delta": task.delta,
            "neighbors": NEIGHBORS,
        }
        yield Answer(task.error_of_weights(found.value), claim)


def released_noise(
    d: int, weights: Sequence[int], *, epsilon: float, delta: float, top: int, seed: int
) -> tuple[list[np.ndarray], TotalReward]:
    """``<eta, pi(w)>`` in steps of 1 / ``FINEST`` errors, ``norm(w)^2 <= top``, eta Gaussian.

    ``pi(w) = (w / D, sqrt(1 - norm(w)^2 / D^2))`` with ``D^2 = top`` and points 1 apart.
    """
    sigma = released_sigma(epsilon=epsilon, delta=delta, max_norm=math.sqrt(top), separation=1)
    eta = FINEST * sigma * np.random.default_rng(seed).normal(size=d + 1)
    values = np.asarray(weights, dtype=np.int64)
    rewards = [np.rint(one * values / math.sqrt(top)).astype(np.int64) for one in eta[:-1]]
    # Rounded differences, so that levels stay concave, which makes a smaller program.
    rises = np.rint(abs(eta[-1]) * np.diff(np.sqrt(1 - np.arange(top + 1) / top)))
    levels = np.append(-np.cumsum(rises[::-1])[::-1], 0).astype(np.int64)
    parts = (values * values,) * d
    return rewards, TotalReward(parts=parts, levels=levels, factor=int(np.sign(eta[-1])))


def logistic(method: str) -> Mechanism:
    """Private logistic regression by one of the package's methods."""

    def run(task: Task, epsilon: float, seeds: Sequence[int], limits: Limits) -> Iterator[Answer]:
        for seed in seeds:
            model = LogisticRegression(
                epsilon,
                delta=0 if method == "objective" else task.delta,
                method=method,
                neighbors=NEIGHBORS,
                domain=task.domain,
                classes=task.classes,
                random_state=seed,
            ).fit(task.x_train, task.y_train)
            error = float((model.predict(task.x_test) != task.y_test).mean())
            yield Answer(error, short(model.release_.guarantee))

    return run


def diffprivlib(
    task: Task, epsilon: float, seeds: Sequence[int], limits: Limits
) -> Iterator[Answer]:
    """IBM's diffprivlib in an environment of its own; its guarantee is its own claim."""
    found = diffprivlib_env.fit(task.train, epsilon=epsilon, seeds=seeds)
    for coefficients, intercept in found.lines:
        claim = {
            "theorem": "claimed by diffprivlib 0.6.6 (Chaudhuri, Monteleoni, Sarwate 2011)",
            "certificate": "none",
            "contingencies": ["floating_point_noise", "seeded"],
            "epsilon": epsilon,
            "delta": 0.0,
            "neighbors": NEIGHBORS,
            "versions": found.versions,
        }
        yield Answer(task.error_of_line(coefficients, intercept), claim)
