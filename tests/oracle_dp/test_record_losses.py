"""Bounds on one record hold at every public parameter, and say who vouches for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from oracle_dp.errors import ParameterError
from oracle_dp.first_order.gd import gradient_descent
from oracle_dp.first_order.sgd import stochastic_gradient_descent
from oracle_dp.mechanisms.gaussian_objective import gaussian_objective
from oracle_dp.privacy import ContingencyKind, Release
from oracle_dp.record_losses import LinearModelLoss
from oracle_dp.second_order.cubic import cubic_newton
from oracle_dp.second_order.damped import damped_newton
from oracle_dp.second_order.double_noise import DoubleNoise, double_noise_newton
from oracle_dp.second_order.minibatch import minibatch_newton
from oracle_dp.second_order.preconditioned import preconditioned_descent
from oracles.arrays import FloatArray
from oracles.convex import HuberHinge, Logistic

ROWS = 6
TARGET = {"epsilon": 1.0, "delta": 1e-4, "random_state": 3}


def _one_step(losses: LinearModelLoss, name: str, **given: Any) -> Release[FloatArray]:
    runs: dict[str, tuple[Any, dict[str, Any]]] = {
        "gd": (gradient_descent, {"steps": 1}),
        "sgd": (stochastic_gradient_descent, {"steps": 1, "batch": ROWS}),
        "newton": (double_noise_newton, {"settings": DoubleNoise(steps=1)}),
        "minibatch": (minibatch_newton, {"steps": 1, "batch": ROWS}),
        "damped": (damped_newton, {"steps": 1}),
        "preconditioned": (preconditioned_descent, {"steps": 1}),
        "cubic": (cubic_newton, {"steps": 1}),
    }
    run, own = runs[name]
    released: Release[FloatArray] = run(losses, **TARGET, **own, **given)
    return released


METHODS = ("gd", "sgd", "newton", "minibatch", "damped", "preconditioned", "cubic")


def _far_start() -> tuple[FloatArray, FloatArray]:
    """A start, and data with a record whose margin there is a difference of infinities."""
    features = np.zeros((ROWS, 16))
    features[:, 0] = 1.0
    features[0] = 0.25
    return np.tile([1.7e308, -1.7e308], 8), features


@pytest.mark.parametrize("name", METHODS)
def test_a_start_at_the_largest_floats_is_refused(name: str) -> None:
    start, features = _far_start()
    losses = LinearModelLoss.from_data(features, np.ones(ROWS))
    with pytest.raises(ParameterError, match="start"):
        _one_step(losses, name, start=start)


def test_gradients_are_bounded_at_every_point() -> None:
    far, features = _far_start()
    losses = LinearModelLoss.from_data(features, np.ones(ROWS))
    for w in (far, np.full(16, np.inf), np.full(16, -np.inf), np.full(16, np.nan)):
        gradient, matrix = losses.second_order(w, "upper")
        assert np.linalg.norm(gradient) <= losses.lipschitz + 1e-12
        assert np.linalg.norm(losses.gradient(w)) <= losses.lipschitz + 1e-12
        assert np.trace(matrix) <= losses.curvature_trace + 1e-12


def test_near_points_are_evaluated_where_they_are() -> None:
    features = np.array([[0.6, 0.8], [1.0, 0.0]])
    losses = LinearModelLoss.from_data(features, np.array([1.0, -1.0]))
    w = np.array([-3.0, 2.0])
    assert np.array_equal(losses.gradient(w), losses.problem.gradient(w))


@pytest.mark.parametrize("bound", [1e-170, 1e170, 0.0, np.nan])
def test_bounds_at_which_norms_under_or_overflow_are_refused(bound: float) -> None:
    with pytest.raises(ParameterError, match="norm_bound"):
        LinearModelLoss.from_data(np.full((3, 2), 1e-165), np.ones(3), norm_bound=bound)


@pytest.mark.parametrize("bound", [1e-100, 1e100])
def test_extreme_bounds_that_are_allowed_clip(bound: float) -> None:
    features = np.array([[1e-165, 1e-165], [bound, bound], [1e150, 0.0]])
    losses = LinearModelLoss.from_data(features, np.ones(3), norm_bound=bound)
    assert losses.problem.rows.largest_norm <= 1 + 1e-15


def test_a_size_beyond_integers_of_floats_is_refused() -> None:
    with pytest.raises(ParameterError, match="2\\^53"):
        LinearModelLoss.from_data(np.ones((1, 1)), np.ones(1), size=10**160)


def test_constants_of_a_loss_cannot_be_overridden() -> None:
    with pytest.raises(TypeError):
        Logistic(lipschitz=1e-6)  # That is what is refused.


@dataclass(frozen=True)
class _Understated(Logistic):
    """A loss whose constants nobody has proved."""

    lipschitz = 1e-6
    smoothness = 1e-6


@pytest.mark.parametrize("name", METHODS)
def test_a_guarantee_names_who_vouches_for_a_loss(name: str) -> None:
    features = np.ones((ROWS, 1))
    for loss, vouched in ((Logistic(), False), (HuberHinge(), False), (_Understated(), True)):
        losses = LinearModelLoss.from_data(features, np.ones(ROWS), loss=loss)
        given = {"hessian_lipschitz": 1.0} if name == "cubic" else {}
        guarantee = _one_step(losses, name, **given).guarantee
        kinds = [condition.kind for condition in guarantee.contingencies]
        assert (ContingencyKind.CALLER in kinds) == vouched
        assert ("asserted" in guarantee.sensitivity_source) == vouched


def test_objective_perturbation_refuses_losses_that_only_look_logistic() -> None:
    losses = LinearModelLoss.from_data(np.ones((3, 1)), np.ones(3), loss=_Understated())
    with pytest.raises(ParameterError, match="logistic"):
        gaussian_objective(losses, **TARGET)
