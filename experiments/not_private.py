"""NOT PRIVATE. Baselines that look at the data without paying for it; for comparison only.

Both are in the literature as baselines of private logistic regression. Nothing here makes a release
or a guarantee, and no package imports it.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg

from oracle_dp.accounting import gaussian_mu
from oracle_dp.noise import BitSource
from oracle_dp.noise.floating import gaussian
from oracle_dp.record_losses import LinearModelLoss
from oracle_dp.second_order.damped import noisy_symmetric
from oracles.arrays import FloatArray


def descent_with_exact_line_search(
    losses: LinearModelLoss, *, epsilon: float, delta: float, steps: int, source: BitSource
) -> FloatArray:
    """NOT PRIVATE: DP-GD whose step sizes are found on the exact loss ("DP-GD-Oracle").

    Ganesh et al. (2023), Section 6: ``eta_t = argmin l(w - eta g~)``, here by golden sections.
    """
    scale = math.sqrt(steps) / (losses.size * gaussian_mu(epsilon, delta=delta))
    w = np.zeros(losses.dimension)
    for _ in range(steps):
        noisy = losses.gradient(w) + gaussian(source, scale, losses.dimension)
        w = w - _best_step(losses, w, noisy) * noisy
    return w


def damped_with_exact_step(
    losses: LinearModelLoss, *, epsilon: float, delta: float, steps: int, source: BitSource
) -> FloatArray:
    """NOT PRIVATE: damped Newton whose step size is a function of the exact Hessian and gradient.

    Avella-Medina, Bradshaw, Loh (2023), as Ganesh et al. (2023) run it.
    """
    mu = gaussian_mu(epsilon, delta=delta)
    n, share = losses.size, 0.7
    w = np.zeros(losses.dimension)
    for _ in range(steps):
        gradient, hessian = losses.second_order(w, "hessian")
        noisy = gradient + gaussian(source, math.sqrt(steps / share) / (n * mu), losses.dimension)
        matrix = noisy_symmetric(hessian, math.sqrt(steps / (1 - share)) / (4 * n * mu), source)
        values, vectors = scipy.linalg.eigh(matrix)
        direction = vectors @ ((vectors.T @ noisy) / np.maximum(values, 1e-5))
        exact = float(np.linalg.norm(np.linalg.lstsq(hessian, gradient)[0]))
        w = w - min(1.0, math.log1p(exact) / exact) * direction
    return w


def _best_step(losses: LinearModelLoss, w: FloatArray, slope: FloatArray) -> float:
    """The minimum of a convex function of one step size, to a relative 1e-3."""
    ratio = (math.sqrt(5) - 1) / 2
    low, high = 0.0, 4.0
    while losses.value(w - high * slope) < losses.value(w - high / 2 * slope) and high < 1e6:
        high *= 2
    one, two = high - ratio * (high - low), low + ratio * (high - low)
    at_one, at_two = (losses.value(w - eta * slope) for eta in (one, two))
    while high - low > 1e-3 * high:
        if at_one < at_two:
            high, two, at_two = two, one, at_one
            one = high - ratio * (high - low)
            at_one = losses.value(w - one * slope)
        else:
            low, one, at_one = one, two, at_two
            two = low + ratio * (high - low)
            at_two = losses.value(w - two * slope)
    return (low + high) / 2
