"""Measured gaps against n, for both private methods in one and in several passes.

    python -m experiments.variational_rates [--quick | --full] [--output FILE] [--plot FILE]

``--plot`` needs the extra ``experiments``.

For every problem, method, number of records and seed: fresh records from a known law, a private run
at epsilon = 1, delta = 1 / n^2, ``replace``, and the exact saddle gap of the released point for the
law (for the bilinear game in closed form; for group-robust regression against a large sample that
stands for it). Then the slope of log gap against log n by least squares over all seeds, with its
95% interval, beside the theorem's; points whose mean gap is above 80% of the starting point's are
marked saturated and left out of the slope.

Runs are seeded, so that they can be repeated: the releases are not private, nor are the data.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import linregress, t

from experiments.result import result, write
from experiments.variational_plot import plot
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
from oracles.monotone import Ball, BilinearGame, GroupRobustLogistic, RecordOperator

METHODS = {
    "nseg_single": (nseg, nseg_single_pass),
    "nispp_single": (nispp, nispp_single_pass),
    "nseg_multi": (nseg, nseg_multi_pass),
    "nispp_multi": (nispp, nispp_multi_pass),
    "nispp_multi_fixed_point": (partial(nispp, subsolver="fixed_point"), nispp_multi_pass),
}
THEOREM_SLOPE = {
    "nseg_single": -1 / 2,
    "nispp_single": -1 / 3,
    "nseg_multi": -1 / 2,
    "nispp_multi": -1 / 2,
    "nispp_multi_fixed_point": -1 / 2,
}
"""Of the slowest term in n of the paper's rates (Corollaries 3.1 and 5.1, Theorems 4.4 and 6.4).
The explicit bounds that the plans minimise, ``gap_bound``, fall like 1 / sqrt(n) for all."""
EVALUATIONS_SLOPE = {
    "nseg_single": 1.0,
    "nispp_single": 1.0,
    "nseg_multi": 2.0,
    "nispp_multi": 1.5,
    "nispp_multi_fixed_point": 1.5,
}
SATURATED = 0.8
HALF = 5
GROUPS = 2
POPULATION = 20_000


@dataclass(frozen=True)
class Config:
    """One cell of the experiment: pure input of :func:`run`."""

    problem: str
    method: str
    n: int
    seed: int
    epsilon: float = 1.0


class Counting(RecordOperator):
    """An operator that counts for how many records it was evaluated."""

    enforced = True

    def __init__(self, inner: RecordOperator) -> None:
        self.inner, self.count = inner, 0
        self.domain, self.n_records = inner.domain, inner.n_records
        self.lipschitz, self.bound, self.monotone = inner.lipschitz, inner.bound, inner.monotone

    def per_record(self, point, records=slice(None)):
        """Not needed: both methods use sums."""
        raise NotImplementedError

    def total(self, point, records=slice(None)):
        """The inner operator's sum."""
        self.count += self.n_records if isinstance(records, slice) else len(records)
        return self.inner.total(point, records)

    def summed(self, records):
        """The inner operator's sum, counted at every call."""
        function, size = self.inner.summed(records), len(records)

        def counted(point):
            self.count += size
            return function(point)

        return counted

    def scale(self, point):
        """The inner operator's."""
        return self.inner.scale(point)

    @property
    def scale_norm(self) -> float:
        """The inner operator's."""
        return self.inner.scale_norm


def bilinear(n: int, rng: np.random.Generator) -> BilinearGame:
    """Random payoffs, and linear terms that put the solution far from the start, on two balls."""
    couplings = np.eye(HALF) / 5 + rng.standard_normal((n, HALF, HALF)) / (4 * HALF)
    linear = 0.7 / np.sqrt(HALF) + rng.standard_normal((n, 2 * HALF)) / (8 * np.sqrt(HALF))
    balls = Ball(1.0, np.zeros(HALF)), Ball(1.0, np.zeros(HALF))
    return BilinearGame(couplings, linear, *balls, coupling_norm=1.0, linear_norm=1.2)


def robust(n: int, rng: np.random.Generator) -> GroupRobustLogistic:
    """Two groups of equal size that share a direction, each with one of its own and label noise."""
    groups = np.arange(n) % GROUPS
    labels = rng.choice([-1.0, 1.0], n)
    centres = np.zeros((GROUPS, HALF))
    centres[:, 0] = 0.9
    centres[np.arange(GROUPS), np.arange(GROUPS) + 1] = (0.2, -0.4)
    features = labels[:, None] * centres[groups] + rng.standard_normal((n, HALF)) / 20
    flipped = rng.random(n) < np.array([0.0, 0.05])[groups]
    observed = np.where(flipped, -labels, labels)
    return GroupRobustLogistic(features, observed, groups, [1 / GROUPS] * GROUPS, radius=1.0)


MAKERS = {"bilinear": bilinear, "group_robust": robust}


def law(problem: str) -> RecordOperator:
    """A large sample that stands for the law: 2e5 games, whose mean is what counts."""
    size = 200_000 if problem == "bilinear" else POPULATION
    return MAKERS[problem](size, np.random.default_rng(12345))


def saddle_gap(operator: RecordOperator, point: np.ndarray) -> float:
    """Max over y of f(x, y) - min over x of f(x, y), for the mean over the operator's records."""
    if isinstance(operator, BilinearGame):
        return operator.saddle_gap(point)
    assert isinstance(operator, GroupRobustLogistic)
    d = operator.n_features
    mixture = point[d:]
    worst = float(operator.group_losses(point[:d]).max())
    ball = operator.domain.factors[0]
    fixed = np.array(mixture)
    w = previous = point[:d]
    # Accelerated projected gradient; the loss is 1/4-smooth for features of norm 1.
    for k in range(150):
        ahead = w + k / (k + 3) * (w - previous)
        gradient = operator.mean()(np.concatenate([ahead, fixed]))[:d]
        previous, w = w, ball.project(ahead - 4.0 * gradient)
    return worst - float(mixture @ operator.group_losses(w))


def run(config: Config, population: RecordOperator) -> dict[str, Any]:
    """One private run and its gap for the law."""
    rng = np.random.default_rng([config.seed, config.n])
    operator = Counting(MAKERS[config.problem](config.n, rng))
    delta = config.n**-2
    solve, make_plan = METHODS[config.method]
    target = PrivacyTarget.checked(config.epsilon, delta, "replace")
    plan = make_plan(Constants.of(operator), config.n, target)
    began = time.perf_counter()
    release = solve(
        operator, epsilon=config.epsilon, delta=delta, plan=plan, random_state=config.seed
    )
    return {
        **asdict(config),
        "gap": saddle_gap(population, release.value),
        "gap_bound": plan.gap_bound,
        "evaluations": operator.count,
        "batch_size": plan.batch_size,
        "steps": plan.steps,
        "seconds": time.perf_counter() - began,
    }


def summary(records: list[dict[str, Any]], start: float, method: str) -> dict[str, Any]:
    """Slopes of one method on one problem."""
    sizes = sorted({r["n"] for r in records})
    rows = []
    for n in sizes:
        gaps = np.array([r["gap"] for r in records if r["n"] == n])
        mine = next(r for r in records if r["n"] == n)
        rows.append(
            {
                "n": n,
                "mean_gap": float(gaps.mean()),
                "standard_error": float(gaps.std(ddof=1) / np.sqrt(len(gaps))),
                "gap_bound": mine["gap_bound"],
                "below_bound": bool(gaps.max() <= mine["gap_bound"]),
                "saturated": bool(gaps.mean() > SATURATED * start),
                "evaluations": float(np.mean([r["evaluations"] for r in records if r["n"] == n])),
                "seconds": float(np.mean([r["seconds"] for r in records if r["n"] == n])),
            }
        )
    kept = {row["n"] for row in rows if not row["saturated"]}
    theorem = THEOREM_SLOPE[method]
    found = {"rows": rows, "theorem_slope": theorem, "start_gap": start}
    used = [(np.log(r["n"]), np.log(max(r["gap"], 1e-12))) for r in records if r["n"] in kept]
    if len(kept) >= 2:
        fit = linregress(*np.array(used).T)
        half = float(t.ppf(0.975, len(used) - 2) * fit.stderr)
        found |= {
            "slope": float(fit.slope),
            "slope_interval": [float(fit.slope) - half, float(fit.slope) + half],
            "contains_or_below": bool(fit.slope - half <= theorem),
        }
    if len(rows) >= 2:
        counts = linregress(np.log(sizes), np.log([row["evaluations"] for row in rows]))
        found |= {
            "evaluations_slope": float(counts.slope),
            "evaluations_theorem": EVALUATIONS_SLOPE[method],
        }
    return found


def cells(size: str) -> list[tuple[str, str, list[int], int]]:
    """Problem, method, numbers of records and seeds."""
    if size == "quick":
        single, several, longest, multi_nseg, seeds = [1000, 3000], [300], [300, 600], [100, 200], 3
    else:
        single, several = [1000, 3000, 10_000, 30_000], [300, 1000, 3000]
        longest, multi_nseg, seeds = [300, 1000, 3000, 10_000], [300, 1000, 3000], 20
    by_method = {
        "nseg_single": single,
        "nispp_single": single,
        "nispp_multi_fixed_point": longest,
        "nispp_multi": several,
        "nseg_multi": multi_nseg,
    }
    return [(p, m, by_method[m], seeds) for p in MAKERS for m in METHODS]


def main() -> None:
    """Run all cells and write JSON and picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_const", const="quick", dest="size")
    size.add_argument("--full", action="store_const", const="full", dest="size")
    parser.add_argument("--problem", choices=sorted(MAKERS))
    parser.add_argument("--method", choices=sorted(METHODS))
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--largest", type=int, help="leave out larger numbers of records")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    chosen = given.size or "quick"
    summaries: dict[str, Any] = {}
    every: list[dict[str, Any]] = []
    for problem, method, sizes, seeds in cells(chosen):
        if given.problem not in (None, problem) or given.method not in (None, method):
            continue
        population = law(problem)
        start = saddle_gap(population, population.domain.centre)
        records = [
            run(Config(problem, method, n, seed), population)
            for n in sizes
            if given.largest is None or n <= given.largest
            for seed in range(given.seeds or seeds)
        ]
        found = summary(records, start, method)
        every += records
        summaries[f"{problem}/{method}"] = found
        print(problem, method, json.dumps(found), flush=True)
        fields = {"size": chosen, "summaries": summaries, "records": every}
        write(given.output, result("variational_rates", fields, libraries=("dp-accounting",)))
    if given.plot is not None:
        plot(summaries, list(METHODS), given.plot)


if __name__ == "__main__":
    main()
