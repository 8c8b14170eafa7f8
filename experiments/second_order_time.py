"""Private logistic regression: excess loss and time of second-order methods against DP-GD.

    python -m experiments.second_order_time --quick | --full

The tables and figures of Ganesh, Haghifam, Steinke, Thakurta, "Faster Differentially Private Convex
Optimization via Second-Order Methods" (NeurIPS 2023). A unit of work is a data set at one epsilon:
every method, for each T of its grid and each seed, in one process and on one thread. Methods and T
take turns within a seed, so that what else the machine does hits all of them alike. What is shown
is in :mod:`experiments.second_order_page`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import cache
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # after the number of threads is set

from experiments import logistic_data, second_order_page
from experiments.framework import Config, Experiment, Record, main, promised
from experiments.logistic_methods import METHODS, VARIANTS, Asked, Trained
from experiments.second_order_numbers import ladder
from oracle_dp.record_losses import LinearModelLoss
from oracles.convex import ConvexMinimum, Newton

DATA: dict[str, Any] = {
    "synthetic": logistic_data.synthetic,
    "adult": logistic_data.adult,
    "a1a_standardised": logistic_data.a1a_standardised,
    "covertype_sample": logistic_data.covertype_sample,
    "protein": logistic_data.protein,
    "fashion_mnist": logistic_data.fashion_mnist,
}
TABLE = (0.01, 0.1, 1.0, 10.0)
BETWEEN = (0.03, 0.3, 3.0)
DESCENT = {
    0.01: (1, 256), 0.03: (2, 512), 0.1: (4, 1024), 0.3: (8, 2048), 1.0: (16, 4096),
    3.0: (64, 8192), 10.0: (128, 8192),
}  # fmt: skip
"""Least and largest T of DP-GD: powers of 2 between them, fixed before the recorded runs."""
LONGEST = {
    "synthetic": 4096, "a1a_standardised": 2048, "covertype_sample": 2048, "protein": 2048,
    "fashion_mnist": 1024,
}  # fmt: skip
"""The largest T of DP-GD that our computing time allowed."""
AT_ONCE = ("approximate minima", "Gaussian objective", "classical objective, delta 0")
NOT_PRIVATE = ("damped Newton, exact step (not private)", "DP-GD-Oracle (not private)")

Grid = dict[str, tuple[int, int] | None]
"""Least and largest T of every method; None where there is none to choose."""


def grid(data: str, epsilon: float) -> Grid:
    """Which methods run, and with which T."""
    longest = 256 if data == "adult" else 128
    newton = (1, 64) if epsilon < 1 else (4, longest)
    least, largest = DESCENT[epsilon]
    descent = (least, min(largest, LONGEST.get(data, largest)))
    if data == "fashion_mnist":  # A Newton step takes a quarter of a second.
        return {
            "DP-GD": descent,
            "Hess-clip": (1, 16),
            "preconditioned": (8, 64),
            "Gaussian objective": None,
        }
    found: Grid = {
        "DP-GD": descent,
        "Hess-clip": newton,
        "QU-add, curvature kept": newton,
        "preconditioned": (2, 128),
        "damped Newton": (1, 64),
        **dict.fromkeys(AT_ONCE),
    }
    if data in ("adult", "synthetic"):
        found["QU-add"] = newton
    if data in ("adult", "synthetic") and epsilon in TABLE:
        found |= {NOT_PRIVATE[0]: (1, 32), NOT_PRIVATE[1]: (1, 32), "cubic Newton": None}
        if epsilon == 1:
            found |= dict.fromkeys(VARIANTS, newton)
            found |= {"DP-SGD": (32, 512), "QU-add, batches": (4, 64)}
    return found


def configs(quick: bool) -> Sequence[Config]:
    """One for each data set and epsilon."""
    if quick:
        return [_config("synthetic", e, seeds=2, factor=4, longest=512) for e in (0.1, 1.0)]
    return [
        *(_config("synthetic", e) for e in TABLE),
        *(_config("adult", e, seeds=2) for e in TABLE),
        *(_config("a1a_standardised", e, seeds=2) for e in TABLE),
        *(_config(data, e, seeds=2) for data in ("synthetic", "adult") for e in BETWEEN),
        *(_config("covertype_sample", e, seeds=2) for e in TABLE),
        *(_config("protein", e, seeds=2) for e in (1.0, 10.0)),
        *(_config("fashion_mnist", e, seeds=2, tolerance=1e-7) for e in (1.0, 10.0)),
    ]


def _config(
    data: str,
    epsilon: float,
    *,
    seeds: int = 3,
    factor: int = 2,
    tolerance: float = 1e-9,
    longest: int = 2**20,
) -> Config:
    """A unit of work; ``longest`` cuts every grid to T up to that, Newton's to an eighth of it."""
    chosen: dict[str, list[int] | None] = {}
    for name, bounds in grid(data, epsilon).items():
        cut = longest if "GD" in name else longest // 8
        chosen[name] = bounds and [bounds[0], min(bounds[1], cut)]
    return {
        "data": data,
        "epsilon": epsilon,
        "neighbors": "zero_out",
        "seeds": list(range(seeds)),
        "tolerance": tolerance,
        "factor": factor,
        "grid": chosen,
    }


@cache
def prepared(data: str, tolerance: float) -> tuple[LinearModelLoss, ConvexMinimum]:
    """The losses, and their minimum to that norm of the gradient."""
    losses = logistic_data.losses(*DATA[data]())
    return losses, Newton(tolerance=tolerance).minimize(losses.problem)


def run(config: Config) -> list[Record]:
    """Train everything; a record for each method and T, with all seeds."""
    losses, optimum = prepared(config["data"], config["tolerance"])
    grids = {name: ladder(bounds, config["factor"]) for name, bounds in config["grid"].items()}
    rungs = [(name, steps) for name, every in grids.items() for steps in every]
    found: dict[tuple[str, int | None], list[tuple[Trained, float, float]]] = {}
    for name, every in grids.items():  # What is compiled at first use is no method's time.
        _timed(losses, name, _asked(config, losses, every[0], 0))
    for seed in config["seeds"]:
        for name, steps in rungs:
            trained = _timed(losses, name, _asked(config, losses, steps, seed))
            found.setdefault((name, steps), []).append(trained)
    return [
        _record(config, losses, optimum, name, steps, runs) for (name, steps), runs in found.items()
    ]


def _asked(config: Config, losses: LinearModelLoss, steps: int | None, seed: int) -> Asked:
    return Asked(
        epsilon=config["epsilon"],
        delta=logistic_data.delta_for(losses.size),
        neighbors=config["neighbors"],
        steps=steps,
        seed=seed,
    )


def _timed(losses: LinearModelLoss, name: str, asked: Asked) -> tuple[Trained, float, float]:
    """A run with its wall and processor seconds."""
    begun, worked = time.perf_counter(), time.process_time()
    trained = METHODS[name](losses, asked)
    processor = time.process_time() - worked
    return trained, time.perf_counter() - begun, processor


def _record(
    config: Config,
    losses: LinearModelLoss,
    optimum: ConvexMinimum,
    name: str,
    steps: int | None,
    runs: Sequence[tuple[Trained, float, float]],
) -> Record:
    reached = [losses.value(trained.w) for trained, _, _ in runs]
    guarantee = runs[0][0].guarantee
    without = {
        "neighbors": config["neighbors"],
        "epsilon": config["epsilon"],
        "delta": logistic_data.delta_for(losses.size),
        "guarantee": None,
    }
    return {
        "method": name,
        "steps": steps,
        **(promised(guarantee) if guarantee else without),
        "n": losses.size,
        "d": losses.dimension,
        "minimum": optimum.objective,
        "gradient_norm": optimum.gradient_norm,
        "excess_at_zero": losses.value(np.zeros(losses.dimension)) - optimum.objective,
        "loss": [round(value, 12) for value in reached],
        "excess": [round(value - optimum.objective, 12) for value in reached],
        "wall_seconds": [round(wall, 5) for _, wall, _ in runs],
        "processor_seconds": [round(processor, 5) for _, _, processor in runs],
    }  # fmt: skip


EXPERIMENT = Experiment(
    name="second_order_time",
    title="Second-order methods against DP-GD: private logistic regression",
    configs=configs,
    run=run,
    page=second_order_page.page,
    alone=True,
)

if __name__ == "__main__":
    main(EXPERIMENT)
