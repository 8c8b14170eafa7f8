"""Measured gaps against n, for both private methods in one and in several passes.

    python -m experiments.variational_rates [--quick | --full]

For every problem, method, number of records and seed: fresh records from a known law, a private run
at epsilon = 1, delta = 1 / n^2, ``replace``, and the exact saddle gap of the released point for the
law (for the bilinear game in closed form; for group-robust regression against a large sample that
stands for it). Then the slope of log gap against log n by least squares over all seeds, with its
95% interval, beside the theorem's; points whose mean gap is above 80% of the starting point's are
left out of the slope.

Runs are seeded, so that they can be repeated: the releases are not private, nor are the data.
"""

from __future__ import annotations

import time
from functools import cache, partial

import numpy as np

from experiments.framework import Config, Experiment, Record, main, promised
from experiments.variational_page import page
from experiments.variational_problems import MAKERS, Counting, law, saddle_gap
from oracle_dp.variational import (
    Constants,
    PrivacyTarget,
    nispp,
    nispp_multi_pass,
    nispp_single_pass,
    nseg,
    nseg_multi_pass,
    nseg_single_pass,
)
from oracles.monotone import RecordOperator

METHODS = {
    "nseg_single": (nseg, nseg_single_pass),
    "nispp_single": (nispp, nispp_single_pass),
    "nseg_multi": (nseg, nseg_multi_pass),
    "nispp_multi": (nispp, nispp_multi_pass),
    "nispp_multi_fixed_point": (partial(nispp, subsolver="fixed_point"), nispp_multi_pass),
}


def configs(quick: bool) -> list[Config]:
    """One for every problem, method, number of records and seed."""
    if quick:
        single, longest, multi_nseg, seeds = [1000, 3000], [300, 600], [200, 400], 3
    else:
        single, seeds = [1000, 3000, 10_000, 30_000], 20
        longest, multi_nseg = [300, 1000, 3000, 10_000], [300, 1000, 3000]
    sizes = {
        "nseg_single": single,
        "nispp_single": single,
        "nispp_multi_fixed_point": longest,
        "nispp_multi": longest,
        "nseg_multi": multi_nseg,
    }
    return [
        {"problem": problem, "method": method, "n": n, "seed": seed, "epsilon": 1.0}
        for problem in MAKERS
        for method in METHODS
        for n in sizes[method]
        for seed in range(seeds)
    ]


@cache
def _law(problem: str) -> tuple[RecordOperator, float]:
    """The law, and the gap of the point where all methods start."""
    population = law(problem)
    return population, saddle_gap(population, population.domain.centre)


def run(config: Config) -> list[Record]:
    """One private run and its gap for the law."""
    n, seed = config["n"], config["seed"]
    operator = Counting(MAKERS[config["problem"]](n, np.random.default_rng([seed, n])))
    delta = n**-2
    solve, make_plan = METHODS[config["method"]]
    target = PrivacyTarget.checked(config["epsilon"], delta, "replace")
    plan = make_plan(Constants.of(operator), n, target)
    began = time.process_time()
    release = solve(operator, epsilon=config["epsilon"], delta=delta, plan=plan, random_state=seed)
    seconds = time.process_time() - began
    population, start = _law(config["problem"])
    return [
        {
            **promised(release.guarantee),
            "gap": saddle_gap(population, release.value),
            "gap_bound": plan.gap_bound,
            "start_gap": start,
            "evaluations": operator.count,
            "batch_size": plan.batch_size,
            "steps": plan.steps,
            "cpu_seconds": seconds,
        }
    ]


EXPERIMENT = Experiment(
    "variational_rates",
    "Private variational inequalities: rates and operator evaluations",
    configs,
    run,
    page,
)

if __name__ == "__main__":
    main(EXPERIMENT)
