"""Recursive regularisation on the bilinear game: exact gaps, for which no theorem is claimed.

    python -m benchmarks.recursive [--records 1000,3000,10000] [--seeds 5] [--output FILE.json]

Three rounds, weight 0.01, epsilon 1, delta = 1 / n^2, ``replace``. Records and the law are those of
:mod:`experiments.variational_rates`.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from experiments.result import commit, result, write
from experiments.variational_problems import bilinear, law, saddle_gap
from oracle_dp.variational import RecursivePlan, recursive_nseg
from oracles.monotone import RecordOperator

PLAN = RecursivePlan(weight=0.01, rounds=3)


def measure(n: int, seeds: int, population: RecordOperator) -> dict[str, object]:
    """Gaps for the law, of as many runs on fresh records."""
    gaps, begun = [], time.process_time()
    for seed in range(seeds):
        records = bilinear(n, np.random.default_rng([seed, n]))
        release = recursive_nseg(records, epsilon=1.0, delta=n**-2, plan=PLAN, random_state=seed)
        gaps.append(saddle_gap(population, release.value))
    return {
        "n": n,
        "mean_gap": float(np.mean(gaps)),
        "gaps": gaps,
        "processor_seconds": time.process_time() - begun,
    }


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description="gaps of recursive regularisation")
    parser.add_argument("--records", default="1000,3000,10000")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    code, population = commit(), law("bilinear")
    lines = []
    for n in options.records.split(","):
        lines.append(measure(int(n), options.seeds, population))
        print(json.dumps(lines[-1]), flush=True)
    fields = {"weight": PLAN.weight, "rounds": PLAN.rounds, "lines": lines}
    write(options.output, result("recursive regularisation, bilinear game", fields, code=code))


if __name__ == "__main__":
    main()
