"""OPDisc on Adult over the set of its source: integer weights of norm at most sqrt(d), 1 apart.

    python -m experiments.adult_author [--quick | --full]

d is the number of levels: 43 for five attributes, 57 for seven (those levels that occur in complete
rows), and a few smaller ones on the way, to see up to where the search proves a minimum. Lift pi
and the bound on the norm couple all weights.

Source: Neel, Roth, Vietri, Wu (ICML 2020).
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from experiments.adult_data import FEATURES
from experiments.adult_mechanisms import FINEST, NEIGHBORS, SENSITIVITY, released_noise, short
from experiments.framework import (
    Cell,
    Config,
    Experiment,
    Record,
    Section,
    Table,
    label,
    main,
    styles,
)
from oracle_dp import opdisc
from oracle_dp.datasets import load_adult
from oracle_dp.errors import UncertifiedError
from oracle_dp.sensitivity import PROVED
from oracles import Limits
from oracles.total import TotalReward
from oracles.zero_one import CellTable, ZeroOneProblem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ATTRIBUTES = {
    6: ("relationship",),
    13: ("relationship", "race", "sex"),
    22: ("relationship", "education"),
    36: FEATURES["three"],
    43: FEATURES["five"],
    57: FEATURES["seven"],
}
NEVER = "Never-worked"
"""A work class without complete rows: who never worked has no occupation."""

PROGRAMS = {
    "loss": "the loss alone (not private)",
    "released": "released code's scale (NOT PRIVATE as claimed)",
    "gaussian": "OPDisc, pi Gaussian",
    "gamma_norm": "OPDisc, pi gamma-norm",
}
SHORT = {
    "loss": "loss", "released": "code: NOT PRIVATE", "gaussian": "Gaussian",
    "gamma_norm": "gamma-norm",
}  # fmt: skip
METHODS = {"search": "branch and bound over cells", "milp": "HiGHS"}
EPSILON = 1.0
SHORTEST = 0.01
"""Seconds that can be told from none; less is drawn there."""
SECONDS = 60.0


def configs(quick: bool) -> list[Config]:
    """Every program at every d, by either method."""
    sizes, seconds = ((6, 13), 5.0) if quick else (tuple(ATTRIBUTES), SECONDS)
    return [
        {
            "d": d,
            "program": name,
            "method": method,
            "epsilon": EPSILON,
            "seed": 0,
            "seconds": seconds,
        }
        for d in sizes
        for name in PROGRAMS
        for method in METHODS
    ]


def cells(d: int) -> CellTable:
    """Adult's complete training rows with attributes of d levels."""
    adult = load_adult(missing="drop")
    domain = adult.domain[list(ATTRIBUTES[d])]
    rows, names = adult.X.iloc[adult.train], domain.names
    table = CellTable.from_codes(
        domain.encode(rows),
        (adult.y.iloc[adult.train] == adult.classes[1]).to_numpy(),
        domain.levels,
    )
    if sum(domain.levels) == d:
        return table
    # Never-worked is the last level of workclass, so that the other codes stay.
    work = names.index("workclass")
    levels = [size - (j == work) for j, size in enumerate(domain.levels)]
    return CellTable(table.codes, table.factors, table.positive, table.negative, tuple(levels))


def run(config: Config) -> list[Record]:
    """One objective: its bounds, or whether its mechanism released."""
    table, d = cells(config["d"]), config["d"]
    reach = math.isqrt(d)
    problem = ZeroOneProblem(table, tuple(range(-reach, reach + 1)), method=config["method"])
    limits = Limits(seconds=config["seconds"])
    begun, processor = time.perf_counter(), time.process_time()
    solve = _bounds if config["program"] in ("loss", "released") else _released
    found = solve(problem, d, config, limits)
    return [
        {
            "rows": table.n_rows,
            "cells": table.n_cells,
            "largest_weight": reach,
            "spent": round(time.perf_counter() - begun, 2),
            "processor_seconds": round(time.process_time() - processor, 2),
            **found,
        }
    ]


def _bounds(problem: ZeroOneProblem, d: int, config: Config, limits: Limits) -> Record:
    """Value and bound, in errors, of an objective that is minimised outside any mechanism."""
    if config["program"] == "loss":
        scale = 1
        rewards = [np.zeros(size, dtype=np.int64) for size in problem.sizes]
        squares = problem.values[0] ** 2
        flat = np.zeros(d + 1, dtype=np.int64)
        total = TotalReward(parts=(squares,) * d, levels=flat, factor=0)
        private = {}
    else:
        scale, delta = FINEST, float(problem.cells.n_rows) ** -2
        rewards, total = released_noise(
            d, problem.weights, epsilon=config["epsilon"], delta=delta, top=d, seed=config["seed"]
        )
        private = {"neighbors": NEIGHBORS, "epsilon": config["epsilon"], "delta": delta}
        private["guarantee"] = {"theorem": "none: violations of this scale are known"}
    found = problem.minimize(rewards, scale=scale, total=total, limits=limits)
    proven = found.certificate.value in ("exact", "solver")
    record = {**private, "proven": proven, "certificate": found.certificate.value}
    if found.value is not None and found.objective is not None:
        record |= {
            "objective": found.objective / scale,
            "errors": problem.cells.errors(found.value),
        }
    if found.gap < math.inf:
        record |= {"bound": float(found.bound) / scale, "gap": found.gap / scale}
    return record


def _released(problem: ZeroOneProblem, d: int, config: Config, limits: Limits) -> Record:
    """A release of OPDisc or its refusal; nothing between is told."""
    delta = float(problem.cells.n_rows) ** -2 if config["program"] == "gaussian" else 0.0
    private = {"neighbors": NEIGHBORS, "epsilon": config["epsilon"], "delta": delta}
    try:
        release = opdisc(
            problem,
            epsilon=config["epsilon"],
            delta=delta,
            sensitivity=SENSITIVITY,
            sensitivity_source=PROVED,
            neighbors=NEIGHBORS,
            lift="pi",
            noise=config["program"],
            max_norm=math.sqrt(d),
            limits=limits,
            random_state=config["seed"],
        )
    except UncertifiedError as error:
        return {**private, "proven": False, "certificate": "none", "detail": str(error)}
    guarantee = short(release.guarantee)
    return {
        **private,
        "proven": True,
        "certificate": guarantee["certificate"],
        "errors": problem.cells.errors(release.value),
        "guarantee": guarantee,
    }


def page(records: Sequence[Record]) -> list[Section]:
    """One table of what was proven, and how long it took."""
    sizes = sorted({r["config"]["d"] for r in records})
    limit = max(r["config"]["seconds"] for r in records)
    caption = (
        "Integer weights w with norm(w) <= sqrt(d), 1 apart; lift pi; complete training rows; "
        f"replace; epsilon {records[0]['config']['epsilon']:g}; delta 0 for gamma-norm noise and "
        "1 / n^2 for Gaussian noise and the released code's scale; one seed; branch and bound over "
        f"cells against HiGHS on the formulation over them, either for up to {limit:g} seconds by "
        "the clock; those shown are the processor's, to 0.01 s. 'No proof' is what a mechanism "
        "refuses to release on; beside it the gap between best point and bound, in errors, for "
        "programs solved outside a mechanism, which tells no bounds. Errors are on the training "
        f"rows: not private. {_unproven(records)}"
    )
    return [
        Section(
            title="The source's own set of weights: how far a proof goes",
            caption=caption,
            figure=partial(_draw, records),
            table=Table(
                ["program", "proven by", *(f"d = {d}" for d in sizes)],
                [
                    [
                        label(text),
                        label(solver),
                        *[_entry(_of(records, name, method), d) for d in sizes],
                    ]
                    for name, text in PROGRAMS.items()
                    for method, solver in METHODS.items()
                ],
            ),
        )
    ]


def _unproven(records: Sequence[Record]) -> str:
    """At which d either method has programs without a proof."""
    told = []
    for method, solver in METHODS.items():
        own = [r for r in records if r["config"]["method"] == method and not r["proven"]]
        sizes = sorted({r["config"]["d"] for r in own})
        if sizes:
            told.append(f"{solver} at d = {', '.join(map(str, sizes))}")
    return f"Without a proof of some program: {'; '.join(told)}." if told else "All were proven."


def _of(records: Sequence[Record], program: str, method: str) -> list[Record]:
    wanted = (program, method)
    return [r for r in records if (r["config"]["program"], r["config"]["method"]) == wanted]


def _entry(records: Sequence[Record], d: int) -> Cell | list[Cell]:
    chosen = [r for r in records if r["config"]["d"] == d]
    if not chosen:
        return label("not run")
    spent = Cell.of(chosen, "processor_seconds", how="value", form="{:.2g} s")
    if chosen[0]["proven"]:
        return [spent, Cell.of(chosen, "errors", how="value", form="{:,} errors")]
    if "gap" in chosen[0]:
        return [label("no proof"), spent, Cell.of(chosen, "gap", how="value", form="gap {:,.0f}")]
    return [label("no proof"), spent]


def _draw(records: Sequence[Record]) -> Figure:
    figure, (axis,) = styles.axes()
    pairs = itertools.product(METHODS, PROGRAMS)
    for index, (method, name) in enumerate(pairs):
        own = sorted(_of(records, name, method), key=lambda r: r["config"]["d"])
        look = styles.curve(index)
        axis.plot(
            [r["config"]["d"] for r in own],
            [max(r["processor_seconds"], SHORTEST) for r in own],
            label=f"{SHORT[name]}, {method}".replace("milp", "HiGHS"),
            **look,
        )
        open_ = [r for r in own if not r["proven"]]
        axis.scatter(
            [r["config"]["d"] for r in open_], [r["processor_seconds"] for r in open_],
            s=130, facecolors="none", edgecolors=look["color"], zorder=3,
        )  # fmt: skip
    axis.scatter([], [], s=130, facecolors="none", edgecolors="#444444", label="circle: no proof")
    axis.set_yscale("log")
    axis.set_xlabel("d, levels of the attributes")
    axis.set_ylabel("seconds of the processor")
    styles.legend(figure, columns=2)
    return figure


EXPERIMENT = Experiment(
    name="adult_author",
    title="Adult: objective perturbation in its source's configuration",
    configs=configs,
    run=run,
    page=page,
    alone=True,
)

if __name__ == "__main__":
    main(EXPERIMENT)
