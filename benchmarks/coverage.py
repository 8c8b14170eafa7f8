"""Maximum coverage 60/8: the exact draw, the iterated greedy mechanism and one proof, side by side.

    python -m benchmarks.coverage [--people 1000,10000] [--seconds 240] [--output FILE.json]

Two seeded generators: "independent", where each of 60 sites reaches a person by a chance of its
own, uniform on (0, 0.16); and "nearby", where people and sites are uniform in the unit square and a
site at distance d reaches a person with chance exp(-(d / 0.13)^2). 8 sites are to be chosen;
epsilon 1, neighbours ``add_remove``. Excess is the mean number of people missed beyond the fewest
known. "Greedy" chooses 8 times one site by the exponential mechanism on how many more people it
reaches, with epsilon / 8 each (Gupta, Ligett, McSherry, Roth, Talwar, SODA 2010, without its
further constants). HiGHS gets the same problem without privacy, from nothing. Ratios are of
processor time, which other work on the machine disturbs least; the wall clock stands beside it.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from experiments.result import commit, result, write
from oracle_dp.mechanisms.selection import SelectionExponential
from oracle_dp.problems import MaximumCoverage
from oracles import Certificate, Highs, Limits
from oracles.selection.local import good_sites

SITES, CHOSEN, EPSILON = 60, 8, 1.0


def independent(people: int) -> MaximumCoverage:
    """Sites that reach people independently of each other."""
    empty = MaximumCoverage(np.zeros((0, SITES), np.int64), CHOSEN)
    return empty.synthetic(people, seed=people)


def nearby(people: int) -> MaximumCoverage:
    """Sites that reach people who are near."""
    generator = np.random.default_rng(people)
    sites, homes = generator.random((SITES, 2)), generator.random((people, 2))
    squares = ((homes[:, None] - sites) ** 2).sum(axis=2)
    reached = generator.random((people, SITES)) < np.exp(-squares / 0.13**2)
    return MaximumCoverage(reached.astype(np.int64), CHOSEN)


GENERATORS = {"independent": independent, "nearby": nearby}


def greedy(problem: MaximumCoverage, generator: np.random.Generator) -> np.ndarray:
    """Eight choices of one site each."""
    reached = problem.reached.astype(bool)
    left = np.ones(len(reached), bool)
    choice = np.zeros(SITES, np.int64)
    for _ in range(CHOSEN):
        gains = reached[left].sum(axis=0) * (EPSILON / CHOSEN)
        gains[choice == 1] = -np.inf
        weights = np.exp(gains - gains.max())
        site = generator.choice(SITES, p=weights / weights.sum())
        choice[site] = 1
        left &= ~reached[:, site]
    return choice


def prove(problem: MaximumCoverage, seconds: float) -> dict[str, Any]:
    """One HiGHS solve."""
    begun, used = time.perf_counter(), time.process_time()
    found = Highs().minimize(problem.program(), limits=Limits(seconds=seconds))
    return {
        "solver": found.oracle,
        "seconds": time.perf_counter() - begun,
        "processor_seconds": time.process_time() - used,
        "proven": found.certificate is Certificate.SOLVER,
        "objective": found.objective,
        "bound": found.bound,
    }


def compare(generated: str, people: int, seconds: float, draws: int) -> dict[str, Any]:
    """All three on one instance."""
    problem = GENERATORS[generated](people)
    proof = prove(problem, seconds)
    times, walls, exact = [], [], []
    for seed in range(draws):
        begun, used = time.perf_counter(), time.process_time()
        mechanism = SelectionExponential(
            problem.loss(), epsilon=EPSILON, sensitivity=1, neighbors="add_remove"
        )
        choice = mechanism.release(random_state=seed).value
        times.append(time.process_time() - used)
        walls.append(time.perf_counter() - begun)
        exact.append(problem.value(choice))
    generator = np.random.default_rng(0)
    rival = [problem.value(greedy(problem, generator)) for _ in range(200)]
    known = problem.value(good_sites(problem.loss(), CHOSEN))
    best = min(int(proof["objective"]), known, *exact, *rival)
    excess, greedy_excess = float(np.mean(exact)) - best, float(np.mean(rival)) - best
    ratio = float(np.median(times)) / proof["processor_seconds"]
    return {
        "generator": generated,
        "people": people,
        "fewest_missed": best,
        "highs": proof,
        "draws": draws,
        "exact_excess": excess,
        "greedy_runs": len(rival),
        "greedy_excess": greedy_excess,
        "excess_ratio": excess / greedy_excess if greedy_excess else None,
        "exact_processor_seconds_median": float(np.median(times)),
        "exact_processor_seconds_slowest": max(times),
        "exact_seconds_median": float(np.median(walls)),
        "time_ratio" if proof["proven"] else "time_ratio_at_most": ratio,
    }


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description="exact draws for maximum coverage against rivals")
    parser.add_argument("--people", default="1000,10000")
    parser.add_argument("--seconds", type=float, default=240.0)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    code = commit()
    warm = independent(50)
    SelectionExponential(warm.loss(), epsilon=1, sensitivity=1).release(random_state=0)
    lines = []
    for generated in GENERATORS:
        for people in options.people.split(","):
            lines.append(compare(generated, int(people), options.seconds, options.draws))
            print(json.dumps(lines[-1]), flush=True)
    fields = {
        "lines": lines,
    }
    found = result(
        "maximum coverage 60/8, epsilon 1, add_remove",
        fields,
        libraries=(
            "highspy",
            "numba",
        ),
        code=code,
    )
    write(options.output, found)


if __name__ == "__main__":
    main()
