"""Test error of every mechanism on Adult, several seeds, as one table.

    python -m benchmarks.adult_error [--seeds 20]

Complete rows, ``replace``, attributes education, occupation, relationship, race, sex. Prints mean
and standard deviation of the error on the public test rows, and seconds per fit.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from oracle_dp import ZeroOneClassifier
from oracle_dp.datasets import load_adult
from oracles.zero_one import CellTable, minimize

ATTRIBUTES = ["education", "occupation", "relationship", "race", "sex"]
MECHANISMS = ("exponential", "opdisc", "counts", "top_r", "blockwise")


def main() -> None:
    """Print the table, line by line."""
    parser = argparse.ArgumentParser(description="test error of every mechanism on Adult")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--epsilons", default="1,0.1,0.01")
    parser.add_argument("--mechanisms", default=",".join(MECHANISMS))
    options = parser.parse_args()
    adult = load_adult(missing="drop")
    domain = adult.domain[ATTRIBUTES]
    x_train, y_train = adult.X.iloc[adult.train], adult.y.iloc[adult.train]
    x_test, y_test = adult.X.iloc[adult.test], adult.y.iloc[adult.test].to_numpy()
    cells = CellTable.from_codes(
        domain.encode(x_train), (y_train == adult.classes[1]).to_numpy(), domain.levels
    )
    optimum = minimize(cells)
    assert optimum.value is not None
    test = CellTable.from_codes(domain.encode(x_test), y_test == adult.classes[1], domain.levels)
    print(
        f"not private: {test.errors(optimum.value) / test.n_rows:.2%} ({optimum.objective} errors)"
    )
    print(f"majority:    {min((y_test == c).mean() for c in adult.classes):.2%}")
    print(f"{'mechanism':12} {'epsilon':>8} {'error':>8} {'sd':>7} {'seconds':>8}")
    for mechanism in options.mechanisms.split(","):
        for epsilon in options.epsilons.split(","):
            begun, errors = time.perf_counter(), []
            for seed in range(options.seeds):
                classifier = ZeroOneClassifier(
                    float(epsilon),
                    mechanism=mechanism,
                    domain=domain,
                    classes=adult.classes,
                    random_state=seed,
                ).fit(x_train, y_train)
                errors.append(float((classifier.predict(x_test) != y_test).mean()))
            seconds = (time.perf_counter() - begun) / options.seeds
            print(
                f"{mechanism:12} {epsilon:>8} {np.mean(errors):>8.2%} {np.std(errors):>7.2%} "
                f"{seconds:>8.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
