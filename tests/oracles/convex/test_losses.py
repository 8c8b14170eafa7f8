"""The constants of every loss, against its own values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import exp, log1p, mp, mpf

from oracles.convex import Hinge, HuberHinge, Logistic, MarginLoss, Ramp, Squared
from oracles.errors import ProblemError

LOSSES = [Logistic(), HuberHinge(), HuberHinge(0.1), Squared(), Hinge(), Ramp()]
SMOOTH = [loss for loss in LOSSES if math.isfinite(loss.smoothness)]
GRID = np.linspace(-12, 12, 4001) + 1e-5  # Away from the kinks.
STEP = 1e-6


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_slopes_are_derivatives_and_lipschitz_bounds_them(loss: MarginLoss) -> None:
    assert isinstance(loss, MarginLoss)
    difference = (loss.value(GRID + STEP) - loss.value(GRID - STEP)) / (2 * STEP)
    assert np.allclose(loss.slope(GRID), difference, atol=1e-6)
    largest = np.abs(difference).max()
    assert largest <= loss.lipschitz + 1e-8
    assert math.isinf(loss.lipschitz) or largest > 0.9999 * loss.lipschitz


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_convexity_is_as_stated(loss: MarginLoss) -> None:
    middle = loss.value(GRID[1:-1])
    chords = (loss.value(GRID[:-2]) + loss.value(GRID[2:])) / 2
    assert loss.is_convex == bool((middle <= chords + 1e-12).all())


@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: loss.name)
def test_curvature_is_the_second_derivative_and_smoothness_bounds_it(loss: MarginLoss) -> None:
    difference = (loss.slope(GRID + STEP) - loss.slope(GRID - STEP)) / (2 * STEP)
    assert np.allclose(loss.curvature(GRID), difference, atol=1e-6)
    assert 0.9999 * loss.smoothness < difference.max() <= loss.smoothness + 1e-7


def test_the_third_derivative_of_the_logistic_loss_attains_its_bound() -> None:
    loss = Logistic()
    step = 1e-4
    third = (loss.curvature(GRID + step) - loss.curvature(GRID - step)) / (2 * step)
    assert 0.99999 * loss.hessian_lipschitz < np.abs(third).max() <= loss.hessian_lipschitz + 1e-9


@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: loss.name)
def test_the_quadratic_upper_bound_holds_everywhere(loss: MarginLoss) -> None:
    at = np.array([-50.0, -7.3, -1.0, -1e-3, -1e-5, 0.0, 1e-6, 1e-4, 0.5, 1.2, 6.0, 40.0])[:, None]
    to = np.linspace(-60, 60, 2401)[None, :]
    bound = (
        loss.value(at) + loss.slope(at) * (to - at) + loss.upper_curvature(at) / 2 * (to - at) ** 2
    )
    assert (bound >= loss.value(to) - 1e-12).all()
    assert (loss.upper_curvature(at) >= loss.curvature(at) - 1e-12).all()
    assert (loss.upper_curvature(at) <= loss.smoothness).all()


def test_no_smaller_curvature_would_do_for_the_logistic_loss() -> None:
    # The bound touches the loss again at the opposite margin.
    loss, at = Logistic(), np.array([0.3, 2.0, 9.0])
    less = 0.999 * loss.upper_curvature(at)
    touched = loss.value(at) - 2 * at * loss.slope(at) + less / 2 * (2 * at) ** 2
    assert (touched < loss.value(-at)).all()


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_no_margin_overflows(loss: MarginLoss) -> None:
    extreme = np.array([-1e4, 1e4, -750.0, 750.0])
    with np.errstate(all="raise", under="ignore"):
        for values in (loss.value(extreme), loss.slope(extreme), loss.curvature(extreme)):
            assert np.isfinite(values).all()
        if math.isfinite(loss.smoothness):
            assert np.isfinite(loss.upper_curvature(extreme)).all()


def test_the_logistic_loss_is_exact_to_rounding() -> None:
    mp.dps = 60
    margins = np.array([-745.0, -30.0, -1e-3, 0.0, 1e-9, 1.0, 40.0, 700.0])
    loss = Logistic()
    for at, value, slope, bend in zip(
        margins, loss.value(margins), loss.slope(margins), loss.curvature(margins), strict=True
    ):
        m = mpf(float(at))
        assert value == pytest.approx(float(log1p(exp(-m))), rel=4e-16)
        assert slope == pytest.approx(float(-1 / (1 + exp(m))), rel=4e-16, abs=1e-320)
        assert bend == pytest.approx(float(exp(m) / (1 + exp(m)) ** 2), rel=1e-15, abs=1e-320)


@pytest.mark.parametrize("width", [0.0, -1.0, math.nan, math.inf])
def test_a_width_must_be_positive(width: float) -> None:
    with pytest.raises(ProblemError, match="width"):
        HuberHinge(width)
