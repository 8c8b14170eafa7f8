"""A pre-registered test that the exponential mechanism is drawn exactly.

    python -m experiments.exactness [--draws 60000] [--jobs 2] [--output FILE.json]

Rule, fixed before any run:

1. 36 instances: all combinations of 9 shapes of table and weights, two neighbour relations and two
   values of epsilon, from a fixed seed each. Every instance has at least 6,561 classifiers.
2. For each instance ``--draws`` draws are made from one tree, from a seed fixed by its number.
3. Enumeration gives every classifier's probability. Classifiers are sorted by it and pooled into
   cells of expected count at least 20, at most 200 cells; Pearson's chi-square gives a p-value.
4. The sampler passes if the least of the p-values is above 1e-5 and a two-sided Kolmogorov-Smirnov
   test of all p-values against the uniform law has a p-value above 0.001. An exact sampler fails
   with a probability of about 0.0014.

The result is one JSON object with date, commit, versions and every p-value; no instance is rerun or
left out. A result speaks of the code that it names: a change of the sampler asks for another run.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
from scipy.stats import chisquare, kstest

from experiments.result import result, write
from oracle_dp import ZeroOneExponential
from oracles.parallel import in_order
from oracles.zero_one import CellTable

SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((4, 4), (-1, 0, 1)),
    ((3, 3, 2), (-1, 0, 1)),
    ((2, 2, 2, 2), (-1, 0, 1)),
    ((5, 2, 1), (-1, 0, 1)),
    ((8,), (-1, 0, 1)),
    ((3, 3), (-2, -1, 0, 1, 2)),
    ((2, 2, 2), (-2, -1, 0, 1, 2)),
    ((4, 2), (-2, -1, 0, 1, 2)),
    ((5, 3), (-3, 0, 1)),
)
RELATIONS = ("replace", "add_remove")
EPSILONS = ((Fraction(1, 20), Fraction(1, 2)), (Fraction(1, 5), Fraction(2)))
ROWS = 40
LEAST_EXPECTED = 20
MOST_CELLS = 200
LEAST_P = 1e-5
KOLMOGOROV_SMIRNOV_P = 1e-3


def instances() -> list[tuple[tuple[int, ...], tuple[int, ...], str, Fraction]]:
    """Shapes, weights, relation and epsilon of every instance."""
    combinations = itertools.product(range(len(SHAPES)), RELATIONS, (0, 1))
    return [(*SHAPES[i], relation, EPSILONS[i % 2][j]) for i, relation, j in combinations]


def table(number: int, levels: tuple[int, ...]) -> CellTable:
    """The data of an instance."""
    generator = np.random.default_rng(1000 + number)
    codes = np.column_stack([generator.integers(0, m, ROWS) for m in levels])
    return CellTable.from_codes(codes, generator.random(ROWS) < 0.45, levels)


def exact_law(
    cells: CellTable, weights: tuple[int, ...], relation: str, epsilon: Fraction
) -> np.ndarray:
    """Probability of every classifier, in the order of ``itertools.product``."""
    losses = np.array(
        [
            cells.errors(cells.split(flat))
            for flat in itertools.product(weights, repeat=sum(cells.levels))
        ]
    )
    rate = float(epsilon) / (2 if relation == "replace" else 1)
    masses = np.exp(-rate * (losses - losses.min()))
    law: np.ndarray = masses / masses.sum()
    return law


def p_value(counts: np.ndarray, law: np.ndarray) -> float:
    """Pearson's chi-square over pooled cells."""
    n = counts.sum()
    least = max(LEAST_EXPECTED / n, 1 / MOST_CELLS)
    order = np.argsort(law, kind="stable")
    cell = np.minimum(np.floor(np.cumsum(law[order]) / least), np.floor(1 / least) - 1)
    _, cell = np.unique(cell, return_inverse=True)
    observed = np.bincount(cell, weights=counts[order])
    expected = np.bincount(cell, weights=law[order]) * n
    return float(chisquare(observed, expected).pvalue)


def run_instance(number: int, draws: int) -> dict[str, object]:
    """Draw, count and test one instance."""
    levels, weights, relation, epsilon = instances()[number]
    cells = table(number, levels)
    law = exact_law(cells, weights, relation, epsilon)
    mechanism = ZeroOneExponential(cells, epsilon=epsilon, neighbors=relation, weights=weights)
    begun = time.perf_counter()
    position = {w: i for i, w in enumerate(weights)}
    counts = np.zeros(len(law), dtype=np.int64)
    releases = mechanism.releases(draws, random_state=number)
    for release in releases:
        index = 0
        for w in np.concatenate(release.value):
            index = index * len(weights) + position[int(w)]
        counts[index] += 1
    return {
        "levels": levels,
        "weights": weights,
        "neighbors": relation,
        "epsilon": str(epsilon),
        "classifiers": len(law),
        "draws": draws,
        "seconds": round(time.perf_counter() - begun, 2),
        "p": p_value(counts, law),
    }


def verdict(records: list[dict[str, object]]) -> dict[str, object]:
    """Apply the rule."""
    values = np.array([record["p"] for record in records], dtype=float)
    uniform = float(kstest(values, "uniform").pvalue)
    return {
        "least_p": float(values.min()),
        "kolmogorov_smirnov_p": uniform,
        "passes": bool(values.min() > LEAST_P and uniform > KOLMOGOROV_SMIRNOV_P),
    }


def _record(draws: int, number: int) -> dict[str, object]:
    return run_instance(number, draws)


def main() -> None:
    """Run all instances and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--draws", type=int, default=60_000)
    parser.add_argument("--jobs", type=int, default=1, help="processes; -1 for all cores")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    records = []
    numbers = range(len(instances()))
    for record in in_order(_record, options.draws, numbers, n_jobs=options.jobs):
        records.append(record)
        print(json.dumps(records[-1]), flush=True)
    found = result(
        "exactness of the exponential mechanism",
        {**verdict(records), "instances": records},
        libraries=("numba",),
    )
    write(options.output, found)
    print(json.dumps({key: found[key] for key in ("least_p", "kolmogorov_smirnov_p", "passes")}))


if __name__ == "__main__":
    main()
