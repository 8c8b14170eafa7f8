"""Exact draws from the exponential mechanism on Adult: time to the first, and to a thousand more.

    python -m benchmarks.draws [--seeds 20]

Education, occupation, relationship, race and sex of the complete training rows (d = 43), weights
{-1, 0, 1}, ``add_remove``. The time to the first draw is from the cell table to the release,
kernels compiled before; the thousand come from the tree of one more run at epsilon 1.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

from benchmarks.search import ATTRIBUTES, adult_cells
from oracle_dp import ZeroOneExponential, exponential


def main() -> None:
    """Time and print."""
    parser = argparse.ArgumentParser(description="time exact draws on Adult")
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    cells = adult_cells(ATTRIBUTES.split(","))
    exponential(cells, epsilon=10, neighbors="add_remove", random_state=0)  # Compiled and warm.
    found: dict[str, object] = {"attributes": ATTRIBUTES, "levels": sum(cells.levels)}
    for epsilon in ("1", "1/10", "1/100"):
        seconds = []
        for seed in range(options.seeds):
            begun = time.perf_counter()
            exponential(cells, epsilon=epsilon, neighbors="add_remove", random_state=seed)
            seconds.append(time.perf_counter() - begun)
        found[f"first draw, epsilon {epsilon}"] = {
            "median_seconds": round(float(np.median(seconds)), 2),
            "slowest_seconds": round(max(seconds), 2),
        }
    draws = ZeroOneExponential(cells, epsilon=1, neighbors="add_remove").releases(
        1_001, random_state=0
    )
    next(draws)
    begun = time.perf_counter()
    further = sum(1 for _ in draws)
    found[f"{further} further draws, epsilon 1"] = round(time.perf_counter() - begun, 2)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
