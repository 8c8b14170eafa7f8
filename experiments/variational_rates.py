"""Measured gaps against n, for both private methods in one and in several passes.

    python -m experiments.variational_rates [--quick | --full] [--output FILE] [--plot FILE]

``--plot`` needs the extra ``experiments``. ``--full`` alone makes the committed result and, with
that extra, its picture: ``experiments/results/variational_rates.json`` and ``.png``. Every run is
written to the output as soon as it is finished, and what is found there is not run again: an
interrupted experiment goes on where it stopped. Start afresh by deleting the file.

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

from experiments.result import commit, result, write
from experiments.variational_plot import plot
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

NAME = "variational_rates"
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
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Config:
    """One cell of the experiment: pure input of :func:`run`."""

    problem: str
    method: str
    n: int
    seed: int
    epsilon: float = 1.0


def run(config: Config, population: RecordOperator) -> dict[str, Any]:
    """One private run and its gap for the law."""
    rng = np.random.default_rng([config.seed, config.n])
    operator = Counting(MAKERS[config.problem](config.n, rng))
    delta = config.n**-2
    solve, make_plan = METHODS[config.method]
    target = PrivacyTarget.checked(config.epsilon, delta, "replace")
    plan = make_plan(Constants.of(operator), config.n, target)
    began = time.process_time()
    release = solve(
        operator, epsilon=config.epsilon, delta=delta, plan=plan, random_state=config.seed
    )
    seconds = time.process_time() - began
    return {
        **asdict(config),
        "gap": saddle_gap(population, release.value),
        "gap_bound": plan.gap_bound,
        "evaluations": operator.count,
        "batch_size": plan.batch_size,
        "steps": plan.steps,
        "cpu_seconds": seconds,
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
                "cpu_seconds": float(np.mean([r["cpu_seconds"] for r in records if r["n"] == n])),
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
        single, longest, multi_nseg, seeds = [1000, 3000], [300, 600], [100, 200], 3
    else:
        single, seeds = [1000, 3000, 10_000, 30_000], 20
        longest, multi_nseg = [300, 1000, 3000, 10_000], [300, 1000, 3000]
    by_method = {
        "nseg_single": single,
        "nispp_single": single,
        "nispp_multi_fixed_point": longest,
        "nispp_multi": longest,
        "nseg_multi": multi_nseg,
    }
    return [(p, m, by_method[m], seeds) for p in MAKERS for m in METHODS]


class Progress:
    """All finished runs, on disk after each."""

    def __init__(self, path: Path | None, size: str) -> None:
        # Read once: the files may change while this code runs.
        self.path, self.size, self.code = path, size, commit()
        self.records: list[dict[str, Any]] = []
        self.summaries: dict[str, Any] = {}
        if path is not None and path.exists():
            before = json.loads(path.read_text(encoding="utf-8"))
            if (before["experiment"], before["size"]) != (NAME, size):
                raise SystemExit(f"{path}: of another experiment or size; delete or rename it")
            self.records, self.summaries = before["records"], before["summaries"]

    def of(self, problem: str, method: str) -> list[dict[str, Any]]:
        """The finished runs of one method on one problem."""
        return [r for r in self.records if (r["problem"], r["method"]) == (problem, method)]

    def finished(self, config: Config) -> bool:
        """Whether this run is among them."""
        wanted = asdict(config)
        return any(wanted.items() <= record.items() for record in self.records)

    def add(self, record: dict[str, Any]) -> None:
        """Keep one more run, with the code that it was made by."""
        self.records.append({**record, "code": self.code})
        self.save()

    def save(self) -> None:
        """Write everything, by way of a second file: an interruption leaves the first one whole."""
        if self.path is None:
            return
        fields = {"size": self.size, "summaries": self.summaries, "records": self.records}
        found = result(NAME, fields, libraries=("dp-accounting",), code=self.code)
        beside = self.path.with_suffix(".part")
        write(beside, found)
        beside.replace(self.path)


def measure(progress: Progress, problem: str, method: str, configs: list[Config]) -> None:
    """The runs of one method on one problem that are not finished, and their summary."""
    population = law(problem)
    for config in configs:
        if not progress.finished(config):
            progress.add(run(config, population))
    start = saddle_gap(population, population.domain.centre)
    found = summary(progress.of(problem, method), start, method)
    progress.summaries[f"{problem}/{method}"] = found
    progress.save()
    print(problem, method, json.dumps(found), flush=True)


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
    output, picture = given.output, given.plot
    if given.size == "full" and output is None:
        output = RESULTS / f"{NAME}.json"
        picture = picture or output.with_suffix(".png")
    progress = Progress(output, given.size or "quick")
    for problem, method, sizes, seeds in cells(progress.size):
        if given.problem not in (None, problem) or given.method not in (None, method):
            continue
        kept = [n for n in sizes if given.largest is None or n <= given.largest]
        chosen = [
            Config(problem, method, n, seed) for n in kept for seed in range(given.seeds or seeds)
        ]
        measure(progress, problem, method, chosen)
    if picture is not None:
        plot(progress.summaries, list(METHODS), picture)


if __name__ == "__main__":
    main()
