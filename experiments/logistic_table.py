"""Excess losses of every way to private logistic regression, in one table.

    python -m experiments.logistic_table [--seeds 3] [--epsilons 0.1 1 10] [--relation zero_out]

The paper's synthetic set (n = 10,000, d = 100, rows uniform on the sphere), delta = n^-2. Methods
run with their defaults, and those that iterate also with the best T of a grid, which is chosen
knowing the losses and so is NOT PRIVATE, like the two methods marked so.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks import logistic_data
from experiments import not_private
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
from oracles.convex import Newton

Run = Callable[[int | None, int], np.ndarray]


def methods(
    losses: LinearModelLoss, asked: dict[str, Any]
) -> dict[str, tuple[Run, tuple[int, ...]]]:
    """Name, run (with T or its default, and a seed) and grid of T."""

    def released(function: Callable[..., Any], **more: Any) -> Run:
        def run(steps: int | None, seed: int) -> np.ndarray:
            own = {} if steps is None else {"steps": steps}
            return np.asarray(function(losses, random_state=seed, **asked, **more, **own).value)

        return run

    def double_noise(curvature: Any, modification: str) -> Run:
        def run(steps: int | None, seed: int) -> np.ndarray:
            own = {} if steps is None else {"steps": steps}
            settings = DoubleNoise(curvature=curvature, modification=modification, **own)
            release = double_noise_newton(losses, settings=settings, random_state=seed, **asked)
            return release.value

        return run

    def unpaid(function: Callable[..., Any]) -> Run:
        given = {k: v for k, v in asked.items() if k != "neighbors"}
        return lambda steps, seed: np.asarray(
            function(losses, steps=steps or 10, source=SeededBits(seed), **given)
        )

    newton, descent = (3, 5, 10, 20, 40, 80), (30, 100, 300, 1000)
    pure = {k: v for k, v in asked.items() if k != "delta"}
    return {
        "newton hess-clip": (double_noise("hessian", "clip"), newton),
        "newton hess-add": (double_noise("hessian", "add"), newton),
        "newton qu-clip": (double_noise("upper", "clip"), newton),
        "newton qu-add": (double_noise("upper", "add"), newton),
        "newton, batches": (released(minibatch_newton), (10, 30)),
        "preconditioned": (released(preconditioned_descent), newton),
        "cubic": (released(cubic_newton), ()),
        "gd": (released(gradient_descent), descent),
        "sgd": (released(stochastic_gradient_descent), (50, 200)),
        "damped": (released(damped_newton), (5, 10, 20, 40)),
        "amp": (released(approximate_objective), ()),
        "objective_gaussian": (released(gaussian_objective), ()),
        "objective (pure epsilon)": (
            lambda _, seed: classical_objective(losses, random_state=seed, **pure).value,
            (),
        ),
        "gd, exact line search: NOT PRIVATE": (
            unpaid(not_private.descent_with_exact_line_search), (5, 10, 20, 40),
        ),
        "damped, exact step: NOT PRIVATE": (
            unpaid(not_private.damped_with_exact_step), (5, 10, 20),
        ),
    }  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="excess losses, synthetic set")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.1, 1.0, 10.0])
    parser.add_argument("--relation", default="zero_out")
    options = parser.parse_args()
    losses = logistic_data.losses(*logistic_data.synthetic())
    best = Newton(tolerance=1e-9).minimize(losses.problem).objective
    delta = logistic_data.delta_for(losses.size)
    print(f"n = {losses.size:,}, d = {losses.dimension}, {options.relation}, delta = {delta:g}")
    for epsilon in options.epsilons:
        asked = {"epsilon": epsilon, "delta": delta, "neighbors": options.relation}
        print(f"epsilon = {epsilon:g}{'':24}default{'':10}best T of a grid")
        for name, (run, grid) in methods(losses, asked).items():
            mean = partial(_mean, losses, best, run, options.seeds)
            tuned = {t: mean(t) for t in grid}
            top = min(tuned, key=lambda t: tuned[t][0], default=None)
            line = "" if top is None else f"{_shown(*tuned[top])}  T = {top}"
            print(f"  {name:36} {_shown(*mean(None))}  {line}", flush=True)


def _mean(
    losses: LinearModelLoss, best: float, run: Run, seeds: int, steps: int | None
) -> tuple[float, float]:
    excesses = [losses.value(run(steps, seed)) - best for seed in range(seeds)]
    return float(np.mean(excesses)), float(np.std(excesses) / np.sqrt(seeds))


def _shown(mean: float, error: float) -> str:
    return f"{mean:8.5f} +- {error:7.5f}"


if __name__ == "__main__":
    main()
