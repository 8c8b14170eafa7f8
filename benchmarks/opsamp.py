"""OPSamp on logistic loss: error against the number of records and epsilon, beside the majority's.

    python -m benchmarks.opsamp [--calls 2000] [--seeds 5]

Two columns and a constant, rows of norm 1 at most on a grid of 25 points, so that a million
records are 50 weighted cells; the positive class has a third of them. Errors are expectations under
the true law, in percent. "bound" is the accuracy theorem's, per record, where w = 0 costs 0.69.
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np
from scipy.special import expit

from oracle_dp.mechanisms.opsamp import opsamp
from oracle_dp.noise import SeededBits
from oracles.convex import Rows
from oracles.convex.perturbed import BallProblem

RADIUS = 8.0
TRUTH = np.array([6.0, -4.0, -3.0])
SIZES = tuple(10**k for k in range(3, 8))
EPSILONS = (0.1, 1.0, 10.0)


def grid() -> tuple[np.ndarray, np.ndarray]:
    """The 25 points with their constant, norm at most 1, and the chance of a positive label."""
    axis = np.linspace(-1, 1, 5) / np.sqrt(3)
    points = np.array([(a, b, 1 / np.sqrt(3)) for a, b in itertools.product(axis, axis)])
    return points, expit(points @ TRUTH)


def records(points: np.ndarray, chance: np.ndarray, n: int, seed: int) -> Rows:
    """N records as weighted cells."""
    draws = np.random.default_rng(seed)
    counts = draws.multinomial(n, np.full(len(points), 1 / len(points)))
    ones = draws.binomial(counts, chance)
    rows = np.vstack([points, points])
    labels = np.repeat([1.0, -1.0], len(points))
    weights = np.concatenate([ones, counts - ones]).astype(float)
    return Rows(rows[weights > 0], labels[weights > 0], weights[weights > 0])


def error(w: np.ndarray, points: np.ndarray, chance: np.ndarray) -> float:
    """Expected error of the classifier w."""
    return float(np.where(points @ w > 0, 1 - chance, chance).mean())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="OPSamp's error")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    points, chance = grid()
    majority = min(chance.mean(), 1 - chance.mean())
    best = float(np.minimum(chance, 1 - chance).mean())
    print(f"majority {100 * majority:.2f}, best possible {100 * best:.2f}; m = {options.calls}")
    beats: dict[tuple[str, float], int] = {}
    for law, epsilon in itertools.product(("exponential", "gaussian"), EPSILONS):
        for n in SIZES:
            errors, begun = [], time.perf_counter()
            for seed in range(options.seeds):
                # What rounding allows the solver to prove grows with n squared.
                gap = max(1e-6, 300 * RADIUS * n * 53 * 2.0**-53)
                release = opsamp(
                    BallProblem(rows=records(points, chance, n, seed), radius=RADIUS, gap=gap),
                    epsilon=epsilon, delta=float(n) ** -2, oscillation=2 * RADIUS, size=n,
                    calls=options.calls, perturbation=law, gap=gap,
                    random_state=SeededBits(seed),
                )  # fmt: skip
                errors.append(error(release.value.point, points, chance))
            mean = float(np.mean(errors))
            if mean < majority:
                beats.setdefault((law, epsilon), n)
            print(
                f"{law:12} epsilon {epsilon:5g}  n {n:13,}  error {100 * mean:6.2f} +- "
                f"{100 * np.std(errors) / np.sqrt(len(errors)):4.2f}  bound "
                f"{release.value.excess:9.3g}  needs n {release.value.records_needed:13,} m "
                f"{release.value.calls_needed:13,}  {time.perf_counter() - begun:5.1f} s",
                flush=True,
            )
    for law, epsilon in itertools.product(("exponential", "gaussian"), EPSILONS):
        first = beats.get((law, epsilon))
        print(f"{law}, epsilon {epsilon:g}: beats the majority from n = {first or 'more'}")


if __name__ == "__main__":
    main()
