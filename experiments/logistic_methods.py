"""Every way to logistic regression that is compared, under one signature.

``METHODS[name](losses, asked)`` trains once. The two names with "not private" are baselines of the
literature that look at the rows without paying for it (:mod:`experiments.not_private`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from experiments import not_private
from oracle_dp import Guarantee
from oracle_dp.first_order.gd import gradient_descent
from oracle_dp.first_order.sgd import stochastic_gradient_descent
from oracle_dp.mechanisms.approximate_objective import approximate_objective
from oracle_dp.mechanisms.classical_objective import classical_objective
from oracle_dp.mechanisms.gaussian_objective import gaussian_objective
from oracle_dp.noise import SeededBits
from oracle_dp.record_losses import LinearModelLoss
from oracle_dp.second_order.cubic import cubic_newton
from oracle_dp.second_order.damped import damped_newton
from oracle_dp.second_order.double_noise import DoubleNoise, double_noise_newton
from oracle_dp.second_order.minibatch import minibatch_newton
from oracle_dp.second_order.preconditioned import preconditioned_descent


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a run is asked for.

    Attributes:
        epsilon: Positive.
        delta: In (0, 1); unused by the pure method.
        neighbors: The relation; the baselines that are not private scale their noise to
            ``"zero_out"``.
        steps: T; None for the method's default, or where there is none to choose.
        seed: Reproduces the run.
    """

    epsilon: float
    delta: float
    neighbors: str
    steps: int | None
    seed: int


@dataclass(frozen=True)
class Trained:
    """A point and its guarantee; None where there is none."""

    w: np.ndarray
    guarantee: Guarantee | None


Method = Callable[[LinearModelLoss, Asked], Trained]


def _released(function: Callable[..., Any], **more: Any) -> Method:
    def train(losses: LinearModelLoss, asked: Asked) -> Trained:
        chosen = {} if asked.steps is None else {"steps": asked.steps}
        release = function(
            losses, epsilon=asked.epsilon, delta=asked.delta, neighbors=asked.neighbors,
            random_state=asked.seed, **chosen, **more,
        )  # fmt: skip
        return Trained(np.asarray(release.value), release.guarantee)

    return train


def _pure(losses: LinearModelLoss, asked: Asked) -> Trained:
    release = classical_objective(
        losses, epsilon=asked.epsilon, neighbors=asked.neighbors, random_state=asked.seed
    )
    return Trained(np.asarray(release.value), release.guarantee)


def _double_noise(
    curvature: Literal["hessian", "upper"], modification: str, refresh: int = 1
) -> Method:
    def train(losses: LinearModelLoss, asked: Asked) -> Trained:
        chosen = {} if asked.steps is None else {"steps": asked.steps}
        settings = DoubleNoise(
            curvature=curvature, modification=modification, refresh=refresh, **chosen
        )
        release = double_noise_newton(
            losses, epsilon=asked.epsilon, delta=asked.delta, neighbors=asked.neighbors,
            random_state=asked.seed, settings=settings,
        )  # fmt: skip
        return Trained(release.value, release.guarantee)

    return train


def _unpaid(function: Callable[..., np.ndarray]) -> Method:
    def train(losses: LinearModelLoss, asked: Asked) -> Trained:
        if asked.neighbors != "zero_out":
            raise ValueError("the baselines that are not private are scaled to 'zero_out'")
        w = function(
            losses, epsilon=asked.epsilon, delta=asked.delta, steps=asked.steps,
            source=SeededBits(asked.seed),
        )  # fmt: skip
        return Trained(w, None)

    return train


METHODS: dict[str, Method] = {
    "DP-GD": _released(gradient_descent),
    "Hess-clip": _double_noise("hessian", "clip"),
    "Hess-add": _double_noise("hessian", "add"),
    "QU-clip": _double_noise("upper", "clip"),
    "QU-add": _double_noise("upper", "add"),
    "QU-add, curvature kept": _double_noise("upper", "add", refresh=20),
    "preconditioned": _released(preconditioned_descent),
    "damped Newton": _released(damped_newton),
    "damped Newton, exact step (not private)": _unpaid(not_private.damped_with_exact_step),
    "DP-GD-Oracle (not private)": _unpaid(not_private.descent_with_exact_line_search),
    "approximate minima": _released(approximate_objective),
    "Gaussian objective": _released(gaussian_objective),
    "classical objective, delta 0": _pure,
    "cubic Newton": _released(cubic_newton),
    "DP-SGD": _released(stochastic_gradient_descent),
    "QU-add, batches": _released(minibatch_newton),
}
VARIANTS = ("Hess-clip", "Hess-add", "QU-clip", "QU-add")
"""Double-noise Newton's, a fresh curvature in every step."""
