"""Test errors of private logistic regression on Adult, beside those of `adult_error`.

    python -m benchmarks.logistic_error [--seeds 20]

The same five attributes, rows, relation (``replace``) and epsilons; delta = n^-2 where it is not 0.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from oracle_dp import LogisticRegression
from oracle_dp.datasets import load_adult

ATTRIBUTES = ["education", "occupation", "relationship", "race", "sex"]
METHODS = (
    "objective_gaussian", "preconditioned", "newton", "damped", "gd", "sgd", "amp", "objective",
)  # fmt: skip
EPSILONS = (1e6, 1.0, 0.1, 0.01)


def main() -> None:
    """Print mean errors in percent, with their standard errors."""
    parser = argparse.ArgumentParser(description="test errors on Adult")
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    adult = load_adult(missing="drop")
    rows, labels = adult.X.iloc[adult.train], adult.y.iloc[adult.train]
    test, truth = adult.X.iloc[adult.test], adult.y.iloc[adult.test].to_numpy()
    for method in METHODS:
        line = []
        for epsilon in EPSILONS:
            if epsilon > 100 and method in ("amp", "sgd"):
                line.append(f"{'-':>14}")
                continue
            errors = [
                (
                    LogisticRegression(
                        epsilon,
                        method=method,
                        domain=adult.domain[ATTRIBUTES],
                        classes=adult.classes,
                        random_state=seed,
                    )
                    .fit(rows, labels)
                    .predict(test)
                    != truth
                ).mean()
                for seed in range(1 if epsilon > 100 else options.seeds)
            ]
            spread = np.std(errors) / np.sqrt(len(errors))
            line.append(f"{100 * np.mean(errors):6.2f} +- {100 * spread:4.2f}")
        print(f"{method:20} {'  '.join(line)}", flush=True)


if __name__ == "__main__":
    main()
