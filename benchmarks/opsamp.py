"""OPSamp on logistic loss: error against the number of records and epsilon, beside the majority's.

    python -m benchmarks.opsamp [--calls 3000] [--draws 500]

Two columns and a constant, rows of norm 1 at most on a grid of 25 points, so that a million
records are 50 weighted cells; the positive class has a third of them. Errors are expectations under
the true law, in percent, over many draws of the output noise; "average alone" is without that noise
and NOT PRIVATE. "bound" is the accuracy theorem's, per record, where w = 0 costs 0.69.
"""

from __future__ import annotations

import argparse
import itertools
import math
from typing import Any

import numpy as np
from scipy.special import expit

from oracle_dp.mechanisms.opsamp import _average, _geometry, _noisy
from oracle_dp.mechanisms.sampled_noise import Perturbation, calibrate, needed
from oracle_dp.noise import SeededBits
from oracles.convex import Rows
from oracles.convex.perturbed import BallProblem

RADIUS = 8.0
TRUTH = np.array([6.0, -4.0, -3.0])
SIZES = tuple(10**k for k in range(3, 7))
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
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("--draws", type=int, default=500, help="of the output noise, per average")
    options = parser.parse_args()
    points, chance = grid()
    majority = min(chance.mean(), 1 - chance.mean())
    best = float(np.minimum(chance, 1 - chance).mean())
    print(f"majority {100 * majority:.2f}, best possible {100 * best:.2f}; m = {options.calls}")
    beats: dict[tuple[str, float], int] = {}
    for law, epsilon in itertools.product(("exponential", "gaussian"), EPSILONS):
        for n in SIZES:
            # What rounding allows the solver to prove grows with n squared.
            gap = max(1e-6, 300 * RADIUS * n * 53 * 2.0**-53)
            problem = BallProblem(rows=records(points, chance, n, 0), radius=RADIUS, gap=gap)
            geometry = _geometry(problem, 2 * RADIUS, gap)
            asked: dict[str, Any] = {
                "epsilon": epsilon, "delta": float(n) ** -2, "perturbation": Perturbation(law),
                "size": n, "lipschitz": 1.0,
            }  # fmt: skip
            calibration = calibrate(geometry, **asked, calls=options.calls, scale=None)
            source = SeededBits(1)
            average = _average(problem, calibration.noise.draw(3, source), gap, 1)
            errors = [
                error(
                    np.clip(_noisy(average, calibration, source), -RADIUS, RADIUS), points, chance
                )
                for _ in range(options.draws)
            ]
            mean = float(np.mean(errors))
            if mean < majority:
                beats.setdefault((law, epsilon), n)
            records_, calls = needed(geometry, **asked, baseline=math.log(2))
            print(
                f"{law:12} epsilon {epsilon:5g}  n {n:9,}  error {100 * mean:6.2f} +- "
                f"{100 * np.std(errors) / np.sqrt(len(errors)):4.2f}  average alone "
                f"{100 * error(average, points, chance):6.2f}  bound "
                f"{calibration.excess(geometry, n, 1.0) / n:8.3g}  needs n {records_:9,} and m "
                f"{calls:13,}",
                flush=True,
            )
    for law, epsilon in itertools.product(("exponential", "gaussian"), EPSILONS):
        first = beats.get((law, epsilon))
        print(f"{law}, epsilon {epsilon:g}: beats the majority from n = {first or 'more'}")


if __name__ == "__main__":
    main()
