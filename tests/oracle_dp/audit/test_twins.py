"""Every audit that is read off can fail: twins of the mechanisms with faults of their noise."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from oracle_dp.audit.standing import Method, first_order, run, standing_set
from oracle_dp.first_order import gd, sgd
from oracle_dp.mechanisms import (
    approximate_objective,
    classical_objective,
    gaussian_objective,
    opsamp,
    spending,
)
from oracle_dp.record_losses import LinearModelLoss
from oracle_dp.second_order import damped, sensitivity
from oracle_dp.variational import calibration, gap, recursive, sampling

# The package's attributes of these names are functions.
nispp, nseg = (import_module(f"oracle_dp.variational.{name}") for name in ("nispp", "nseg"))

READ_OFF = [
    audit
    for module in ("convex", "first_order", "second_order", "variational")
    for audit in import_module(f"oracle_dp.audit.standing.{module}").audits()
]

SAMPLERS = {
    "gaussian_objective_perturbation (one record)": (gaussian_objective, "gaussian"),
    "approximate_minima_perturbation (one record)": (approximate_objective, "gaussian"),
    "objective_perturbation (one record)": (classical_objective, "gamma_norm"),
    "opsamp (one record)": (opsamp, "laplace"),
    "damped_newton (matrix)": (damped, "gaussian"),
    "preconditioned_gradient_descent (matrix)": (damped, "gaussian"),
    "nseg (full batches)": (sampling, "gaussian"),
    "nispp (full batches)": (sampling, "gaussian"),
    "recursive_nseg (full batches)": (sampling, "gaussian"),
    "variational_gap (certificate)": (gap, "laplace"),
}
"""Where a mechanism draws from; all others from ``spending``."""


def less(function: Callable[..., Any], share: float) -> Callable[..., Any]:
    return lambda *args, **named: share * function(*args, **named)


@pytest.mark.parametrize("audit", READ_OFF, ids=lambda audit: audit.name)
def test_halved_noise_is_found_out(audit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (sound,) = run([audit], seed=0)
    assert not sound.violates
    module, name = SAMPLERS.get(audit.name, (spending, "gaussian"))
    monkeypatch.setattr(module, name, less(getattr(module, name), 0.5))
    (finding,) = run([audit], seed=0)
    assert finding.violates, finding.measured


DRAWN = [
    audit
    for audit in standing_set()
    if audit.method is not Method.EXACT and not audit.expected_violation
]


@pytest.mark.parametrize("audit", DRAWN, ids=lambda audit: audit.name)
def test_a_doubled_epsilon_is_found_out_from_draws(
    audit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("zero_one", "estimators", "finite", "perturbation", "programs"):
        module = import_module(f"oracle_dp.audit.standing.{name}")
        monkeypatch.setattr(module, "EPSILON", 2.0)
    assert audit.claimed == 1
    (finding,) = run([audit], seed=0)
    assert finding.violates, finding.measured


def test_all_that_are_read_off_are_here() -> None:
    exact = {audit.name for audit in standing_set() if audit.method is Method.EXACT}
    elsewhere = ("opdisc", "top_r", "released_sigma")
    assert {audit.name for audit in READ_OFF} == {
        name for name in exact if not name.startswith(elsewhere)
    }


def find(name: str) -> Any:
    """What the audit of that name measures."""
    (finding,) = run([audit for audit in READ_OFF if audit.name == name], seed=0)
    return finding


SHARES = [
    # A sensitivity that is too small, and the audits that notice it.
    (sensitivity, "gradient", 0.7, "double_noise_newton (gradient)"),
    (sensitivity, "gradient", 0.7, "damped_newton (gradient)"),
    (sensitivity, "gradient", 0.7, "preconditioned_gradient_descent (gradient)"),
    (sensitivity, "curvature", 0.7, "damped_newton (matrix)"),
    (sensitivity, "curvature", 0.7, "preconditioned_gradient_descent (matrix)"),
    (sensitivity, "direction_add", 0.7, "double_noise_newton (direction)"),
    (sensitivity, "direction_add", 0.5, "minibatch_newton (direction)"),
    (nseg, "noise_multiplier", 0.7, "nseg (full batches)"),
    (nispp, "noise_multiplier", 0.7, "nispp (full batches)"),
    (nispp, "proximal_contribution", 0.7, "nispp (full batches)"),
    (recursive, "noise_multiplier", 0.7, "recursive_nseg (full batches)"),
]


@pytest.mark.parametrize(("module", "name", "share", "audit"), SHARES)
def test_a_smaller_sensitivity_is_found_out(
    module: Any, name: str, share: float, audit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, less(getattr(module, name), share))
    assert find(audit).violates


@pytest.mark.parametrize(
    "audit",
    ["gradient_descent (3 full batches)", "stochastic_gradient_descent (one Poisson batch)"],
)
def test_a_smaller_bound_on_gradients_is_found_out(
    audit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LinearModelLoss, "lipschitz", property(lambda self: 0.95))
    assert find(audit).violates


def test_noise_for_one_record_where_one_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spending.Target, "reach", 1)
    for name in (
        "gradient_descent (3 full batches)",
        "double_noise_newton (gradient)",
        "cubic_newton (gradient)",
    ):
        assert find(name).violates
    monkeypatch.setattr(calibration.PrivacyTarget, "reach", 1)
    calibration.noise_multiplier.cache_clear()
    try:
        assert find("nseg (full batches)").violates
    finally:
        calibration.noise_multiplier.cache_clear()


def test_noise_that_is_not_split_over_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unsplit:
        """``math`` whose square root of the number of steps is 1."""

        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

        @staticmethod
        def sqrt(number: float) -> float:
            return 1.0 if number == first_order.STEPS else float(np.sqrt(number))

    monkeypatch.setattr(gd, "math", Unsplit())
    assert find("gradient_descent (3 full batches)").violates


def test_a_batch_that_is_drawn_too_often_is_no_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    def often(losses: Any, probability: float, *more: Any) -> Any:
        return drawn(losses, min(0.75, 1.5 * probability), *more)

    drawn = sgd.poisson_batch
    monkeypatch.setattr(sgd, "poisson_batch", often)
    with pytest.raises(ValueError, match=r"^run: its"):
        find("stochastic_gradient_descent (one Poisson batch)")
