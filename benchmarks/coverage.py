"""Maximum coverage 60/8: the exact draw, the iterated greedy mechanism and one proof, side by side.

    python -m benchmarks.coverage [--people 1000,10000] [--seconds 120] [--output FILE.json]

Seeded generators. "few" and "alike": a person is reached by a random subset of the sites, of a size
uniform on 1 to 3, drawn one after another by weights uniform on (0.5, 1) ("alike": all equal).
"independent": each site reaches a person by a chance of its own, uniform on (0, 0.16). "nearby":
people and sites are uniform in the unit square, and a site at distance d reaches a person with
chance exp(-(d / 0.13)^2). 8 sites are to be chosen; epsilon 1, neighbours ``add_remove``.

Excess is the mean number of people missed beyond the fewest known. "Greedy" chooses 8 times one
site by the exponential mechanism on how many more people it reaches, with epsilon / 8 each (Gupta,
Ligett, McSherry, Roth, Talwar, SODA 2010, without its further constants). HiGHS gets the same
problem without privacy, from nothing, and is cut off after ``--seconds``: a ratio to a proof that
was not finished is an upper bound. An exact draw may take as long; after one that did not finish,
no more are tried. Ratios are of processor time, which other work on the machine disturbs least; the
wall clock stands beside it.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from experiments.result import commit, result, write
from oracle_dp.errors import UncertifiedError
from oracle_dp.mechanisms.selection import SelectionExponential
from oracle_dp.problems import MaximumCoverage
from oracles import Certificate, Highs, Limits
from oracles.selection.local import good_sites

SITES, CHOSEN, EPSILON = 60, 8, 1.0


def independent(people: int) -> MaximumCoverage:
    """Sites that reach people independently of each other."""
    empty = MaximumCoverage(np.zeros((0, SITES), np.int64), CHOSEN)
    return empty.synthetic(people, seed=people)


def subsets(people: int, least_weight: float) -> MaximumCoverage:
    """People reached by random sets of 1 to 3 sites."""
    generator = np.random.default_rng(people)
    weights = generator.uniform(least_weight, 1, SITES)
    sizes = generator.integers(1, 4, people)
    # The least of independent exponential times is a draw by their rates, and so are the next.
    times = generator.exponential(size=(people, SITES)) / weights
    ranks = times.argsort(axis=1).argsort(axis=1)
    return MaximumCoverage((ranks < sizes[:, None]).astype(np.int64), CHOSEN)


def few(people: int) -> MaximumCoverage:
    """Sets of 1 to 3 sites, some sites more often."""
    return subsets(people, 0.5)


def alike(people: int) -> MaximumCoverage:
    """Sets of 1 to 3 sites."""
    return subsets(people, 1.0)


def nearby(people: int) -> MaximumCoverage:
    """Sites that reach people who are near."""
    generator = np.random.default_rng(people)
    sites, homes = generator.random((SITES, 2)), generator.random((people, 2))
    squares = ((homes[:, None] - sites) ** 2).sum(axis=2)
    reached = generator.random((people, SITES)) < np.exp(-squares / 0.13**2)
    return MaximumCoverage(reached.astype(np.int64), CHOSEN)


GENERATORS = {"few": few, "independent": independent, "nearby": nearby, "alike": alike}


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


def draw(problem: MaximumCoverage, seconds: float, draws: int) -> list[dict[str, float]]:
    """Losses and times of exact draws, each with a partition of its own; until one is cut off."""
    found: list[dict[str, float]] = []
    for seed in range(draws):
        begun, used = time.perf_counter(), time.process_time()
        mechanism = SelectionExponential(
            problem.loss(), epsilon=EPSILON, sensitivity=1, neighbors="add_remove"
        )
        try:
            release = mechanism.release(random_state=seed, limits=Limits(seconds=seconds))
        except UncertifiedError:
            break
        processor, wall = time.process_time() - used, time.perf_counter() - begun
        found.append({"loss": problem.value(release.value), "processor": processor, "wall": wall})
    return found


def compare(generated: str, people: int, seconds: float, draws: int) -> dict[str, Any]:
    """All three on one instance."""
    problem = GENERATORS[generated](people)
    proof = prove(problem, seconds)
    drawn = draw(problem, seconds, draws)
    generator = np.random.default_rng(0)
    rival = [problem.value(greedy(problem, generator)) for _ in range(200)]
    known = [problem.value(good_sites(problem.loss(), CHOSEN)), *(x["loss"] for x in drawn)]
    best = min(int(proof["objective"]), *known, *rival)
    line = {
        "generator": generated,
        "people": people,
        "fewest_missed": best,
        "highs": proof,
        "draws": len(drawn),
        "greedy_runs": len(rival),
        "greedy_excess": float(np.mean(rival)) - best,
    }
    if len(drawn) < draws:
        return line | {"unfinished": f"an exact draw was cut off after {seconds:g} s"}
    excess = float(np.mean([x["loss"] for x in drawn])) - best
    times = [x["processor"] for x in drawn]
    ratio = float(np.median(times)) / proof["processor_seconds"]
    return line | {
        "exact_excess": excess,
        "excess_ratio": excess / line["greedy_excess"] if line["greedy_excess"] else None,
        "exact_processor_seconds_median": float(np.median(times)),
        "exact_processor_seconds_slowest": max(times),
        "exact_seconds_median": float(np.median([x["wall"] for x in drawn])),
        "time_ratio" if proof["proven"] else "time_ratio_at_most": ratio,
    }


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description="exact draws for maximum coverage against rivals")
    parser.add_argument("--people", default="1000,10000")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--draws", type=int, default=10)
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
        fields = {"seconds": options.seconds, "lines": lines}
        name = "maximum coverage 60/8, epsilon 1, add_remove"
        found = result(name, fields, libraries=("highspy", "numba"), code=code)
        write(options.output, found)  # After every generator: a run that is cut off keeps those.


if __name__ == "__main__":
    main()
