"""Excess and time of every mechanism on p-median, coverage and ratings, and what ``auto`` chooses.

    python -m experiments.private_programs --table p_median --public FOLDER [--output FILE.json]
    python -m experiments.private_programs --table coverage_and_ratings [--output FILE.json]

Rule, fixed before any run. Neighbours are ``add_remove``. The private records are made up by each
class's own generator from seed 10,000 + records, which no plan uses. For every configuration each
mechanism that applies runs ``--draws`` times; a run may take ``--seconds``, beyond which it counts
as unfinished, and nothing further of that mechanism is run. Excess is the mean loss beyond the
least known. ``auto`` is asked with the number of records and never sees them. It is right where the
mean excess of its choice is no larger than that of any other mechanism, up to 0.1 % of the least
known loss, below which a difference of means is noise of the few runs.

``top_r`` has R = 10, and runs where the choices can be counted.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments.result import commit, result, write
from oracle_dp.errors import UncertifiedError
from oracle_dp.problems import Assortment, MaximumCoverage, PMedian, PrivateProblem
from oracle_dp.problems.orlib import read_p_median
from oracle_dp.solve import solve_private
from oracle_dp.solve_plan import best_mechanism
from oracles import Limits
from oracles.selection.base import IntArray
from oracles.selection.facility import FacilityLoss

RELATION = "add_remove"
ITEMS, STARS = 50, 5
TIE = 1e-3


def p_median(folder: Path) -> Iterator[tuple[str, PrivateProblem, int, float]]:
    """Name, public problem, records and epsilon of every configuration."""
    for name in ("pmed1", "pmed5"):
        read = read_p_median(folder / f"{name}.txt")
        public = PMedian(read.distances, np.zeros(len(read.distances), np.int64), read.p)
        for records in (1_000, 10_000, 100_000):
            for epsilon in (10, 1, 0.1):
                yield name, public, records, epsilon


def coverage_and_ratings() -> Iterator[tuple[str, PrivateProblem, int, float]]:
    """Coverage 60/8, and ratings of 50 items under one knapsack row."""
    coverage = MaximumCoverage(np.zeros((0, 60), np.int64), 8)
    generator = np.random.default_rng(50)
    weights = generator.integers(1, 20, ITEMS)
    ratings = Assortment(
        np.zeros((0, ITEMS), np.int64), weights, int(weights.sum()) // 2, most=STARS
    )
    for epsilon in (1, 0.1):
        yield "coverage", coverage, 1_000, epsilon
    yield "coverage", coverage, 10_000, 1
    yield "ratings", ratings, 1_000, 1
    for epsilon in (1, 0.1):
        yield "ratings", ratings, 10_000, epsilon


def uniform_choice(problem: PrivateProblem, generator: np.random.Generator) -> IntArray:
    """A uniformly random member of the public set."""
    loss = problem.loss()
    assert loss is not None, "these classes have one"
    n = loss.base.n_points
    digits = int.from_bytes(generator.bytes(40), "big")
    return loss.base.point_at(digits % n)  # Off from uniform by less than 2^-200.


def measure(run: Callable[[int], IntArray], problem: PrivateProblem, draws: int) -> dict[str, Any]:
    """Losses and seconds of some runs; stops at one that does not finish."""
    losses, seconds = [], []
    for seed in range(draws):
        begun = time.perf_counter()
        try:
            losses.append(problem.value(run(seed)))
        except UncertifiedError:
            losses.append(math.inf)
        seconds.append(time.perf_counter() - begun)
        if not math.isfinite(losses[-1]):
            break
    return {"losses": losses, "seconds": float(np.median(seconds)), "slowest": max(seconds)}


def configuration(
    public: PrivateProblem, records: int, epsilon: float, draws: int, seconds: float
) -> dict[str, Any]:
    """Every mechanism on one configuration."""
    problem = public.synthetic(records, 10_000 + records)
    begun = time.perf_counter()
    chosen = best_mechanism(public, epsilon=epsilon, neighbors=RELATION, n_records=records)
    planned = time.perf_counter() - begun
    within = Limits(seconds=seconds)
    generator = np.random.default_rng(0)

    def private(mechanism: str) -> Callable[[int], IntArray]:
        def run(seed: int) -> IntArray:
            limits = None if mechanism == "counts" else within
            release = solve_private(
                problem, epsilon=epsilon, neighbors=RELATION, mechanism=mechanism, limits=limits,
                random_state=seed,
            )  # fmt: skip
            return np.array(list(release.value.values()))

        return run

    found = {"exponential": measure(private("exponential"), problem, draws)}
    if problem.histogram() is not None:
        found["counts"] = measure(private("counts"), problem, draws)
    found["opdisc"] = measure(private("opdisc"), problem, draws)
    if isinstance(problem.loss(), FacilityLoss):
        found["top_r"] = measure(private("top_r"), problem, draws)
    found["uniform"] = measure(lambda _: uniform_choice(problem, generator), problem, 200)
    histogram = problem.histogram()
    known = [min(line["losses"]) for line in found.values()]
    if histogram is not None:
        known.append(problem.value(histogram.answer(histogram.counts, Limits(seconds=60))))
    least = min(known)
    scale = max(1.0, abs(least))
    for line in found.values():
        mean = float(np.mean(line.pop("losses")))
        line["excess"] = (mean - least) / scale if math.isfinite(mean) else None
    excesses = {name: line["excess"] for name, line in found.items() if name != "uniform"}
    finished = [x for x in excesses.values() if x is not None]
    own = excesses.get(chosen)
    right = own is not None and own <= min(finished) + TIE
    return {"least": least, "auto": chosen, "plan_seconds": planned, "right": right, **found}


def main() -> None:
    """Run a table and write it."""
    parser = argparse.ArgumentParser(description="excess and time of private integer programs")
    parser.add_argument("--table", choices=("p_median", "coverage_and_ratings"), required=True)
    parser.add_argument("--public", type=Path, help="folder with pmed1.txt and pmed5.txt")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    code, lines = commit(), []
    listed = p_median(options.public) if options.table == "p_median" else coverage_and_ratings()
    for name, public, records, epsilon in listed:
        line = {"instance": name, "records": records, "epsilon": epsilon}
        line |= configuration(public, records, epsilon, options.draws, options.seconds)
        lines.append(line)
        print(json.dumps(line), flush=True)
    fields = {
        "neighbors": RELATION,
        "auto_right": sum(line["right"] for line in lines),
        "configurations": len(lines),
        "lines": lines,
    }
    found = result(
        options.table,
        fields,
        libraries=(
            "highspy",
            "numba",
        ),
        code=code,
    )
    write(options.output, found)
    print(json.dumps({"auto_right": found["auto_right"], "of": len(lines)}))


if __name__ == "__main__":
    main()
