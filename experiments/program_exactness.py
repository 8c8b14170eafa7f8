"""A pre-registered test that exact draws over integer programs have the law they should.

    python -m experiments.program_exactness [--draws 60000] [--jobs 2] [--output FILE.json]

Rule, fixed before any run:

1. Every problem class and every kind of base set at least once, tiny, from a fixed seed.
2. For each instance ``--draws`` draws are made, from one stream with a seed fixed by its number. A
   new partition is begun after every 100 draws, so that coarse ones are tested and fine ones too.
3. All vectors of the box are enumerated, and their losses and feasibility computed record by record
   in Python, apart from the library's own arithmetic. Vectors are pooled into cells of expected
   count at least 20, at most 200 cells; Pearson's chi-square gives a p-value.
4. The sampler passes if no draw is infeasible, the least p-value is above 1e-4, and a two-sided
   Kolmogorov-Smirnov test of the p-values against the uniform law has a p-value above 0.001.

The result is one JSON object with date, commit, versions and every p-value; no instance is rerun or
left out.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import time
from pathlib import Path

import numpy as np
from scipy.stats import kstest

from experiments.exactness import p_value
from experiments.program_instances import Choice, Instance, instances
from experiments.result import result, write
from oracle_dp.mechanisms.selection import SelectionExponential
from oracle_dp.noise import SeededBits
from oracles.parallel import in_order

DRAWS_PER_PARTITION = 100
LEAST_P = 1e-4
KOLMOGOROV_SMIRNOV_P = 1e-3


def exact_law(instance: Instance) -> dict[Choice, float]:
    """Enumerated probabilities of the vectors that are allowed."""
    base = instance.loss.base
    ranges = [range(int(a), int(b) + 1) for a, b in zip(base.lower, base.upper, strict=True)]
    losses = {w: instance.naive(w) for w in itertools.product(*ranges)}
    allowed = {w: loss for w, loss in losses.items() if loss is not None}
    least = min(allowed.values())
    masses = {w: math.exp(-float(instance.rate) * (x - least)) for w, x in allowed.items()}
    total = sum(masses.values())
    return {w: mass / total for w, mass in masses.items()}


def run_instance(number: int, draws: int) -> dict[str, object]:
    """Draw, count and test one instance."""
    instance = instances()[number]
    law = exact_law(instance)
    place = {w: i for i, w in enumerate(law)}
    counts = np.zeros(len(law), dtype=np.int64)
    bits, trials, nodes, outside = SeededBits(number), 0, 0, 0
    begun = time.perf_counter()
    for first in range(0, draws, DRAWS_PER_PARTITION):
        mechanism = SelectionExponential(
            instance.loss, epsilon=instance.rate, sensitivity=1, neighbors="add_remove"
        )
        some = min(DRAWS_PER_PARTITION, draws - first)
        for release in mechanism.releases(some, random_state=bits):
            found = place.get(tuple(int(x) for x in release.value))
            if found is None:
                outside += 1
            else:
                counts[found] += 1
        trials += mechanism.sampler.trials
        nodes = max(nodes, mechanism.sampler.n_nodes)
    return {
        "instance": instance.name,
        "points": len(law),
        "draws": draws,
        "trials": trials,
        "most_nodes": nodes,
        "seconds": round(time.perf_counter() - begun, 2),
        "infeasible": outside,
        "p": p_value(counts, np.array(list(law.values()))),
    }


def verdict(records: list[dict[str, object]]) -> dict[str, object]:
    """Apply the rule."""
    values = np.array([record["p"] for record in records], dtype=float)
    uniform = float(kstest(values, "uniform").pvalue)
    inside = all(record["infeasible"] == 0 for record in records)
    passes = inside and values.min() > LEAST_P and uniform > KOLMOGOROV_SMIRNOV_P
    return {
        "least_p": float(values.min()),
        "kolmogorov_smirnov_p": uniform,
        "passes": bool(passes),
    }


def _record(draws: int, number: int) -> dict[str, object]:
    return run_instance(number, draws)


def main() -> None:
    """Run all instances and write the result."""
    parser = argparse.ArgumentParser(description="exactness of draws over integer programs")
    parser.add_argument("--draws", type=int, default=60_000)
    parser.add_argument("--jobs", type=int, default=1, help="processes; -1 for all cores")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    records = []
    numbers = range(len(instances()))
    for record in in_order(_record, options.draws, numbers, n_jobs=options.jobs):
        records.append(record)
        print(json.dumps(records[-1]), flush=True)
    fields = {
        **verdict(records),
        "instances": records,
    }
    found = result("exactness of exact draws over integer programs", fields, libraries=("numba",))
    write(options.output, found)
    print(json.dumps({key: found[key] for key in ("least_p", "kolmogorov_smirnov_p", "passes")}))


if __name__ == "__main__":
    main()
