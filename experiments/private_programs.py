"""Excess and time of every mechanism on private location, covering and knapsack programs.

    python -m experiments.private_programs [--quick | --full]

``--full`` needs ``ORACLE_DP_TEST_DATA``, the folder of the test data: two p-median networks of the
OR-Library, whose costs are public, are read from there.

Neighbours are ``add_remove``. The private records are made up by each class's own generator, from a
seed that no plan uses. Every mechanism that applies runs ``draws`` times; a run may take
``seconds``, beyond which it counts as refused, and nothing further of that configuration is run.
``auto`` is asked with the number of records and never sees them. ``top_r`` has R = 10. Excess is
the mean loss beyond the least loss that any run on the same records found.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.framework import Config, Experiment, NotAvailableError, Record, main, promised
from experiments.private_programs_numbers import SECONDS
from experiments.private_programs_page import page
from oracle_dp.errors import UncertifiedError
from oracle_dp.problems import Assortment, MaximumCoverage, PMedian, PrivateProblem
from oracle_dp.problems.orlib import read_p_median
from oracle_dp.solve import solve_private
from oracle_dp.solve_plan import best_mechanism
from oracles import Highs, Limits
from oracles.selection.base import IntArray

RELATION = "add_remove"
ITEMS, STARS = 50, 5
NOISED = ("counts", "exponential", "opdisc")
WITHOUT_PRIVACY = ("uniform", "optimum")


def p_median(name: str) -> PMedian:
    """A network of the OR-Library, without customers."""
    folder = os.environ.get("ORACLE_DP_TEST_DATA")
    if folder is None:
        raise NotAvailableError("ORACLE_DP_TEST_DATA is not set: no networks of the OR-Library")
    read = read_p_median(Path(folder) / "mip" / "orlib_pmed" / f"{name}.txt")
    return PMedian(read.distances, np.zeros(len(read.distances), np.int64), read.p)


def made_up_network() -> PMedian:
    """Thirty places on a map, three to be chosen."""
    places = np.random.default_rng(30).integers(0, 100, (30, 2))
    costs = np.abs(places[:, None] - places[None]).sum(axis=2)
    return PMedian(costs, np.zeros(len(places), np.int64), 3)


def coverage(sites: int, chosen: int) -> MaximumCoverage:
    """Some of many sites are chosen; whom each reaches is private."""
    return MaximumCoverage(np.zeros((0, sites), np.int64), chosen)


def ratings() -> Assortment:
    """Items with public weights under one knapsack row; everybody's stars are private."""
    weights = np.random.default_rng(50).integers(1, 20, ITEMS)
    none = np.zeros((0, ITEMS), np.int64)
    return Assortment(none, weights, int(weights.sum()) // 2, most=STARS)


FAMILIES: dict[str, dict[str, Callable[[], PrivateProblem]]] = {
    "location": {
        "pmed1": partial(p_median, "pmed1"),
        "pmed5": partial(p_median, "pmed5"),
        "3 of 30 places": made_up_network,
    },
    "covering": {
        "8 of 60 sites": partial(coverage, 60, 8),
        "5 of 30 sites": partial(coverage, 30, 5),
    },
    "knapsack": {"50 items": ratings},
}
SIZES = {
    "location": (1_000, 10_000, 100_000),
    "covering": (1_000, 10_000),
    "knapsack": (1_000, 10_000),
}
QUICK = ("3 of 30 places", "5 of 30 sites", "50 items")
FULL = ("pmed1", "pmed5", "8 of 60 sites", "50 items")


def configs(quick: bool) -> list[Config]:
    """One for every instance, number of records, epsilon and mechanism."""
    epsilons = (1.0, 0.1) if quick else (10.0, 1.0, 0.1)
    shared = {"draws": 3, "seconds": 5.0} if quick else {"draws": 10, "seconds": 20.0}
    found: list[Config] = []
    for family, instances in FAMILIES.items():
        sizes = SIZES[family][: 1 if quick else None]
        for name in instances:
            if name in (QUICK if quick else FULL):
                for records in sizes:
                    one = {"family": family, "instance": name, "records": records, **shared}
                    if family == "covering" and not quick:
                        one["draws"] = 5  # Some seconds each.
                    found += [one | pair for pair in _pairs(family, records, epsilons, quick)]
    return found


def _pairs(
    family: str, records: int, epsilons: Sequence[float], quick: bool
) -> list[dict[str, Any]]:
    """Mechanisms with their epsilons."""
    pairs: list[tuple[str, float | None]] = [(mechanism, None) for mechanism in WITHOUT_PRIVACY]
    applying = NOISED[1:] if family == "covering" else NOISED
    pairs += [(mechanism, e) for e in epsilons for mechanism in (*applying, "auto")]
    if not quick and records == 1_000 and family != "knapsack":
        pairs.append(("top_r", 1.0))
    found: list[dict[str, Any]] = [{"mechanism": name, "epsilon": e} for name, e in pairs]
    for pair in found:
        # The clock's seconds, some of them the processor's even on a quiet machine.
        if not quick and family == "covering" and pair["mechanism"] in ("exponential", "top_r"):
            pair["seconds"] = 120.0
    return found


def run(config: Config) -> list[Record]:
    """One mechanism on one data set."""
    public = FAMILIES[config["family"]][config["instance"]]()
    if config["mechanism"] == "auto":
        return [_planned(public, config)]
    problem = public.synthetic(config["records"], 10_000 + config["records"])
    if config["mechanism"] == "optimum":
        return [_optimum(problem)]
    if config["mechanism"] == "uniform":
        return [_uniform(problem)]
    return [_private(problem, config)]


def _planned(public: PrivateProblem, config: Config) -> Record:
    """What ``auto`` chooses, from public facts."""
    begun = time.process_time()
    chosen = best_mechanism(
        public, epsilon=config["epsilon"], neighbors=RELATION, n_records=config["records"]
    )
    return {"chosen": chosen, "cpu_seconds": [time.process_time() - begun]}


def _optimum(problem: PrivateProblem) -> Record:
    """Without privacy: what HiGHS finds in half a minute."""
    begun = time.process_time()
    found = Highs().minimize(problem.program(), limits=Limits(seconds=SECONDS))
    seconds = time.process_time() - begun
    # The incumbent's own loss, by the problem's definition.
    best = [] if found.value is None else [problem.value(found.value[: problem.n_choices])]
    return {
        "losses": [int(loss) for loss in best],
        "cpu_seconds": [seconds],
        "certificate": found.certificate.value,
    }


def _uniform(problem: PrivateProblem) -> Record:
    """Two hundred uniformly random members of the public set."""
    loss = problem.loss()
    assert loss is not None, "these classes have one"
    generator, base = np.random.default_rng(0), loss.base
    # Off from uniform by less than 2^-200.
    digits = [int.from_bytes(generator.bytes(40), "big") for _ in range(200)]
    points: list[IntArray] = [base.point_at(number % base.n_points) for number in digits]
    return {"losses": [int(problem.value(point)) for point in points]}


def _private(problem: PrivateProblem, config: Config) -> Record:
    """Releases of one mechanism; stops at one that is refused."""
    losses: list[int] = []
    seconds: list[float] = []
    promise: dict[str, Any] = {"neighbors": RELATION, "epsilon": config["epsilon"], "delta": 0}
    outcome = "released"
    # Counting takes a fixed number of steps, but for the question that is asked afterwards.
    limits = None if config["mechanism"] == "counts" else Limits(seconds=config["seconds"])
    for seed in range(config["draws"]):
        begun = time.process_time()
        try:
            release = solve_private(
                problem,
                epsilon=config["epsilon"],
                neighbors=RELATION,
                mechanism=config["mechanism"],
                limits=limits,
                random_state=seed,
            )
        except UncertifiedError:
            outcome = "refused"
        seconds.append(time.process_time() - begun)
        if outcome == "refused":
            break
        losses.append(int(problem.value(np.array(list(release.value.values())))))
        promise = promised(release.guarantee)
    return {**promise, "outcome": outcome, "losses": losses, "cpu_seconds": seconds}


EXPERIMENT = Experiment(
    "private_programs", "Private integer programs: utility and time", configs, run, page
)

if __name__ == "__main__":
    main(EXPERIMENT)
