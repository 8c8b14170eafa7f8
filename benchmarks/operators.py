"""A million per-record operator evaluations in 50 dimensions, one by one in an array, and summed.

    python -m benchmarks.operators [--records 1000000] [--features 46]

Group-robust logistic regression with 46 features and 4 groups (d = 50). ``per_record`` writes one
vector for every record; ``total`` gives their sum, which is what both methods use.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

from oracles.monotone import GroupRobustLogistic

GROUPS = 4


def main() -> None:
    """Time and print."""
    parser = argparse.ArgumentParser(description="time batched operator evaluations")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=46)
    options = parser.parse_args()
    generator = np.random.default_rng(0)
    n = options.records
    operator = GroupRobustLogistic(
        generator.standard_normal((n, options.features)),
        generator.choice([-1, 1], n),
        np.arange(n) % GROUPS,
        [1 / GROUPS] * GROUPS,
        radius=3.0,
    )
    point = operator.domain.project(generator.standard_normal(operator.domain.dimension))
    found: dict[str, object] = {"records": n, "dimension": operator.domain.dimension}
    for name in ("per_record", "total"):
        seconds = []
        for _ in range(5):
            begun = time.perf_counter()
            getattr(operator, name)(point)
            seconds.append(time.perf_counter() - begun)
        found[name] = {
            "median_seconds": round(float(np.median(seconds)), 3),
            "slowest_seconds": round(max(seconds), 3),
        }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
