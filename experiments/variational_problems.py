"""The problems of :mod:`experiments.variational_rates`: records of a known law, and exact gaps."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from oracles.monotone import Ball, BilinearGame, GroupRobustLogistic, RecordOperator

HALF = 5
GROUPS = 2
POPULATION = 20_000


class Counting(RecordOperator):
    """An operator that counts for how many records it was evaluated."""

    enforced = True

    def __init__(self, inner: RecordOperator) -> None:
        self.inner, self.count = inner, 0
        self.domain, self.n_records = inner.domain, inner.n_records
        self.lipschitz, self.bound, self.monotone = inner.lipschitz, inner.bound, inner.monotone

    def per_record(self, point, records=slice(None)):
        """Not needed: both methods use sums."""
        raise NotImplementedError

    def total(self, point, records=slice(None)):
        """The inner operator's sum."""
        self.count += self.n_records if isinstance(records, slice) else len(records)
        return self.inner.total(point, records)

    def summed(self, records):
        """The inner operator's sum, counted at every call."""
        function, size = self.inner.summed(records), len(records)

        def counted(point):
            self.count += size
            return function(point)

        return counted

    def scale(self, point):
        """The inner operator's."""
        return self.inner.scale(point)

    @property
    def scale_norm(self) -> float:
        """The inner operator's."""
        return self.inner.scale_norm


def bilinear(n: int, rng: np.random.Generator) -> BilinearGame:
    """Random payoffs, and linear terms that put the solution far from the start, on two balls."""
    couplings = np.eye(HALF) / 5 + rng.standard_normal((n, HALF, HALF)) / (4 * HALF)
    linear = 0.7 / np.sqrt(HALF) + rng.standard_normal((n, 2 * HALF)) / (8 * np.sqrt(HALF))
    balls = Ball(1.0, np.zeros(HALF)), Ball(1.0, np.zeros(HALF))
    return BilinearGame(couplings, linear, *balls, coupling_norm=1.0, linear_norm=1.2)


def robust(n: int, rng: np.random.Generator) -> GroupRobustLogistic:
    """Two groups of equal size that share a direction, each with one of its own and label noise."""
    groups = np.arange(n) % GROUPS
    labels = rng.choice([-1.0, 1.0], n)
    centres = np.zeros((GROUPS, HALF))
    centres[:, 0] = 0.9
    centres[np.arange(GROUPS), np.arange(GROUPS) + 1] = (0.2, -0.4)
    features = labels[:, None] * centres[groups] + rng.standard_normal((n, HALF)) / 20
    flipped = rng.random(n) < np.array([0.0, 0.05])[groups]
    observed = np.where(flipped, -labels, labels)
    return GroupRobustLogistic(features, observed, groups, [1 / GROUPS] * GROUPS, radius=1.0)


MAKERS = {"bilinear": bilinear, "group_robust": robust}


def law(problem: str) -> RecordOperator:
    """A large sample that stands for the law: 2e5 games, whose mean is what counts."""
    size = 200_000 if problem == "bilinear" else POPULATION
    return MAKERS[problem](size, np.random.default_rng(12345))


def saddle_gap(operator: RecordOperator, point: np.ndarray) -> float:
    """Max over y of f(x, y) - min over x of f(x, y), for the mean over the operator's records."""
    if isinstance(operator, BilinearGame):
        return operator.saddle_gap(point)
    assert isinstance(operator, GroupRobustLogistic)
    d, mixture = operator.n_features, operator.mixture(point)

    def mixed(w: np.ndarray) -> tuple[float, np.ndarray]:
        gradient = operator.mean()(np.concatenate([w, point[d:]]))[:d]
        return float(mixture @ operator.group_losses(w)), gradient

    inside = {"type": "ineq", "fun": lambda w: 1 - w @ w, "jac": lambda w: -2 * w}
    found = minimize(
        mixed, point[:d], jac=True, method="SLSQP", constraints=[inside], options={"ftol": 1e-9}
    )
    if not found.success:
        raise RuntimeError(f"the best response was not found: {found.message}")
    return float(operator.group_losses(point[:d]).max()) - float(found.fun)
