"""Fits without a domain: time by number of columns and of rows.

    python -m benchmarks.default_domain [--columns 10,30,45] [--rows 200,2000,20000,200000]

Columns are independent standard normals; the labels are fair coins, or the sign of a random linear
function of all columns with noise. Epsilon 1, ``replace``, one seed each; kernels compiled before.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

from oracle_dp import ZeroOneClassifier


def seconds(columns: int, rows: int, labels: str) -> float:
    """Time of one fit."""
    generator = np.random.default_rng(0)
    table = generator.normal(size=(rows, columns))
    y = generator.integers(0, 2, rows)
    if labels == "linear":
        noise = generator.normal(size=rows) / 2
        y = (table @ generator.normal(size=columns) + noise > 0).astype(int)
    classifier = ZeroOneClassifier(epsilon=1, classes=(0, 1), random_state=0)
    begun = time.perf_counter()
    classifier.fit(table, y)
    return time.perf_counter() - begun


def main() -> None:
    """Time and print."""
    parser = argparse.ArgumentParser(description="time fits without a domain")
    parser.add_argument("--columns", default="10,30,45")
    parser.add_argument("--rows", default="200,2000,20000,200000")
    options = parser.parse_args()
    seconds(2, 50, "coins")  # Compiled and warm.
    for columns in map(int, options.columns.split(",")):
        for rows in map(int, options.rows.split(",")):
            found = {kind: round(seconds(columns, rows, kind), 2) for kind in ("coins", "linear")}
            print(json.dumps({"columns": columns, "rows": rows, "seconds": found}), flush=True)


if __name__ == "__main__":
    main()
