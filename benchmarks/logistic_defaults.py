"""Every method with its defaults on four public sets: what the default method was chosen on.

    ORACLE_DP_TEST_DATA=... python -m benchmarks.logistic_defaults [--seeds 3] [--relation replace]

Excess of the mean training loss over its minimum, delta = n^-2. Adult and the synthetic set need no
folder; a1a and Covertype are left out without one.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from experiments import logistic_data
from oracle_dp.first_order.gd import gradient_descent
from oracle_dp.mechanisms.approximate_objective import approximate_objective
from oracle_dp.mechanisms.gaussian_objective import gaussian_objective
from oracle_dp.second_order.damped import damped_newton
from oracle_dp.second_order.double_noise import double_noise_newton
from oracle_dp.second_order.preconditioned import preconditioned_descent
from oracles.convex import Newton

METHODS: dict[str, Callable[..., Any]] = {
    "objective_gaussian": gaussian_objective,
    "preconditioned": preconditioned_descent,
    "newton": double_noise_newton,
    "damped": damped_newton,
    "gd": gradient_descent,
    "amp": approximate_objective,
}
EPSILONS = (0.1, 1.0, 5.0)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="defaults on public data")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--relation", default="replace")
    options = parser.parse_args()
    named = ["adult", "synthetic"]
    if os.environ.get("ORACLE_DP_TEST_DATA"):
        named += ["a1a", "covertype_sample"]
    for name in named:
        losses = logistic_data.losses(*getattr(logistic_data, name)())
        best = Newton(tolerance=1e-8).minimize(losses.problem).objective
        n, d = losses.size, losses.dimension
        start = losses.value(np.zeros(d)) - best
        print(f"{name}: n = {n:,}, d = {d}, {options.relation}; excess of w = 0: {start:.4f}")
        for method, train in METHODS.items():
            line = []
            for epsilon in EPSILONS:
                asked = {"epsilon": epsilon, "delta": float(n) ** -2}
                excesses = [
                    losses.value(
                        train(losses, neighbors=options.relation, random_state=s, **asked).value
                    )
                    - best
                    for s in range(options.seeds)
                ]
                line.append(f"{np.mean(excesses):.4f}")
            print(f"  {method:20} {'  '.join(line)}", flush=True)


if __name__ == "__main__":
    main()
