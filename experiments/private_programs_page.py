"""What the page shows of :mod:`experiments.private_programs`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from experiments.framework import Cell, Record, Section, Table, label
from experiments.framework.styles import axes, curve, epsilon_axis, legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXCESS = f"{__name__}:excess"
MECHANISMS = ("counts", "exponential", "opdisc", "top_r")
FAMILIES = {
    "location": """Which places to open when the customers' homes are private (p-median). Costs
    are public.""",
    "covering": """Which sites to choose when it is private whom they reach (maximum coverage).
    There is no public table of counts to add noise to, so counts does not apply.""",
    "knapsack": """Which items to stock under one public knapsack row when everybody's ratings are
    private. Here counts adds noise to the totals of all items.""",
}
CAPTION = """Mean loss beyond the least loss that any run on the same records found, in percent of
it, against epsilon; delta = 0 for all, neighbours: add_remove. The scale is linear below 0.1 %.
"Refused" in the table: a run reached the limit of wall-clock seconds (see the settings; on a busy
machine), and no release was made (a gap in the line); whether that happens depends on the data and
no epsilon covers it. top_r (R = 10) is tried at epsilon 1 with 1,000 records only, and not on
knapsacks. "auto" chooses from public facts and made-up records, and costs no privacy. Uniform is
the mean of 200 random choices. HiGHS without privacy had half a minute; where its certificate is
not "solver" its answer may not be optimal, and excess is from the least known. Processor seconds
(median of the runs) are of a shared machine."""


def excess(records: Sequence[Record], field: str) -> float:
    """Mean of the first record's losses beyond the least of all records', as a share of it."""
    least = min(loss for record in records for loss in record[field])
    return (float(np.mean(records[0][field])) - least) / max(1.0, abs(least))


def page(records: Sequence[Record]) -> list[Section]:
    """How to read it, then one section for every family."""
    found = [Section("How to read these tables", CAPTION)]
    for family, words in FAMILIES.items():
        own = [record for record in records if record["config"]["family"] == family]
        if own:
            title = f"{family.capitalize()}: excess loss against epsilon"
            found.append(Section(title, words, partial(_figure, own), _table(own)))
    return found


Case = tuple[str, int]


def _cases(records: Sequence[Record]) -> dict[Case, list[Record]]:
    """The records of every instance and size."""
    found: dict[Case, list[Record]] = {}
    for record in records:
        config = record["config"]
        found.setdefault((config["instance"], config["records"]), []).append(record)
    return found


def _with_losses(one: Record, own: Sequence[Record]) -> list[Record]:
    """A record first, then the others that the least known loss is taken from."""
    return [one, *(r for r in own if r is not one and r.get("losses"))]


def _of(own: Sequence[Record], mechanism: str, epsilon: float | None) -> Record | None:
    wanted = {"mechanism": mechanism, "epsilon": epsilon}
    return next((r for r in own if wanted.items() <= r["config"].items()), None)


def _epsilons(own: Sequence[Record]) -> list[float]:
    found = {r["config"]["epsilon"] for r in own} - {None}
    return sorted(found, reverse=True)


def _cell(own: Sequence[Record], mechanism: str, epsilon: float | None) -> Cell | list[Cell]:
    one = _of(own, mechanism, epsilon)
    if one is None:
        return label("-")
    if one.get("outcome") == "refused":
        return Cell.of([one], "outcome", how="value", form="{}")
    shown = [Cell.of(_with_losses(one, own), "losses", how=EXCESS, scale=100, form="{:.3g} %")]
    if mechanism != "uniform":
        shown.append(Cell.of([one], "cpu_seconds", how="median", form="({:.2g} s)"))
    return shown


def _table(records: Sequence[Record]) -> Table:
    rows = []
    applying = [m for m in MECHANISMS if any(r["config"]["mechanism"] == m for r in records)]
    for (instance, size), own in _cases(records).items():
        optimum = _of(own, "optimum", None)
        for epsilon in _epsilons(own):
            chosen = _of(own, "auto", epsilon)
            rows.append(
                [
                    label(instance),
                    label(f"{size:,}"),
                    label(f"{epsilon:g}"),
                    *(_cell(own, mechanism, epsilon) for mechanism in applying),
                    _cell(own, "uniform", None),
                    Cell.of([chosen], "chosen", how="value", form="{}") if chosen else label("-"),
                    [
                        *(
                            [found]
                            if isinstance(found := _cell(own, "optimum", None), Cell)
                            else found
                        ),
                        Cell.of([optimum], "certificate", how="value", form="{}"),
                    ]
                    if optimum
                    else label("-"),
                ]
            )
    columns = ["instance", "records", "epsilon", *applying, "uniform", "auto", "HiGHS, not private"]
    return Table(columns, rows)


def _height(one: Record, own: Sequence[Record]) -> float:
    """Excess in percent; NaN where runs were refused."""
    if one["outcome"] == "refused":
        return math.nan
    return 100 * excess(_with_losses(one, own), "losses")


def _figure(records: Sequence[Record]) -> Figure:
    cases = {case: own for case, own in _cases(records).items() if case[1] < 100_000}
    figure, panels = axes(len(cases))
    for axis, ((instance, size), own) in zip(panels, cases.items(), strict=True):
        for i, mechanism in enumerate(MECHANISMS[:3]):
            found = [(e, _of(own, mechanism, e)) for e in _epsilons(own)]
            points = [
                (epsilon, _height(one, own))  # A refusal leaves a gap in the line.
                for epsilon, one in found
                if one is not None
            ]
            if points:
                axis.plot(*zip(*points, strict=True), label=mechanism, **curve(i))
        uniform = _of(own, "uniform", None)
        if uniform is not None:
            height = 100 * excess(_with_losses(uniform, own), "losses")
            axis.axhline(height, color="#444444", linestyle=(0, (1, 1)), label="uniform choice")
        axis.set_yscale("symlog", linthresh=0.1)
        axis.set(title=f"{instance}, {size:,} records", ylabel="excess (%)")
        axis.set_ylim(bottom=-0.02)
        epsilon_axis(axis, _epsilons(own))
    legend(figure, columns=4)
    return figure
