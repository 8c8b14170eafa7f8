"""What the page shows of :mod:`experiments.private_programs`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from experiments import private_programs_captions as captions
from experiments.framework import Cell, Record, Section, Table, label
from experiments.framework.styles import axes, curve, epsilon_axis, legend
from experiments.private_programs_numbers import (
    EXCESS,
    MECHANISMS,
    cases,
    epsilons,
    excess,
    half_width_of_excess,
    of,
    with_losses,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def page(records: Sequence[Record]) -> list[Section]:
    """How to read it, then one section for every family."""
    found = [Section("How to read these tables", captions.how_to_read(records))]
    for family in captions.FAMILIES:
        own = [record for record in records if record["config"]["family"] == family]
        if own:
            title = f"{family.capitalize()}: excess loss against epsilon"
            words = captions.family(family, own)
            found.append(Section(title, words, partial(_figure, own), _table(own)))
    return found


def _cell(own: Sequence[Record], mechanism: str, epsilon: float | None) -> Cell | list[Cell]:
    one = of(own, mechanism, epsilon)
    if one is None:
        return label("-")
    if one.get("outcome") == "refused":
        return Cell.of([one], "outcome", how="value", form="{}")
    shown = captions.spread(one, own)
    if mechanism != "uniform":
        shown.append(Cell.of([one], "cpu_seconds", how="median", form="({:.2g} s)"))
    return shown


def _optimum(own: Sequence[Record]) -> Cell | list[Cell]:
    """Excess of HiGHS's answer, its seconds, and what is proven of it."""
    one = of(own, "optimum", None)
    if one is None:
        return label("-")
    found = []
    if one["losses"]:
        chosen = with_losses(one, own)
        found.append(Cell.of(chosen, "losses", how=EXCESS, scale=100, form="{:.3g} %"))
    return [
        *found,
        Cell.of([one], "cpu_seconds", how="median", form="({:.2g} s)"),
        Cell.of([one], "certificate", how="value", form="{}"),
    ]


def _table(records: Sequence[Record]) -> Table:
    rows: list[list[Cell | list[Cell]]] = []
    applying = [m for m in MECHANISMS if any(r["config"]["mechanism"] == m for r in records)]
    for (instance, size), own in cases(records).items():
        for epsilon in epsilons(own):
            chosen = of(own, "auto", epsilon)
            rows.append(
                [
                    label(instance),
                    label(f"{size:,}"),
                    label(f"{epsilon:g}"),
                    *(_cell(own, mechanism, epsilon) for mechanism in applying),
                    _cell(own, "uniform", None),
                    Cell.of([chosen], "chosen", how="value", form="{}") if chosen else label("-"),
                    _optimum(own),
                ]
            )
    columns = ["instance", "records", "epsilon", *applying, "uniform", "auto", "HiGHS, not private"]
    return Table(columns, rows)


def _height(one: Record, own: Sequence[Record]) -> tuple[float, float]:
    """Excess in percent with its half-width; NaN where runs were refused."""
    if one["outcome"] == "refused":
        return math.nan, 0.0
    chosen = with_losses(one, own)
    return 100 * excess(chosen, "losses"), 100 * half_width_of_excess(chosen, "losses")


def _figure(records: Sequence[Record]) -> Figure:
    every = cases(records)
    figure, panels = axes(len(every))
    for axis, ((instance, size), own) in zip(panels, every.items(), strict=True):
        for i, mechanism in enumerate(MECHANISMS[:3]):
            _curve(axis, i, mechanism, own)
        uniform = of(own, "uniform", None)
        if uniform is not None:
            height = 100 * excess(with_losses(uniform, own), "losses")
            axis.axhline(height, color="#444444", linestyle=(0, (1, 1)), label="uniform choice")
        axis.set_yscale("symlog", linthresh=0.1)
        axis.set(title=f"{instance}, {size:,} records", ylabel="excess (%)")
        axis.set_ylim(bottom=-0.02)
        epsilon_axis(axis, epsilons(own))
    legend(figure, columns=4)
    return figure


def _curve(axis: Axes, index: int, mechanism: str, own: Sequence[Record]) -> None:
    """With its intervals; a refusal leaves a gap in the line."""
    found = [(e, one) for e in epsilons(own) if (one := of(own, mechanism, e)) is not None]
    if found:
        heights = [_height(one, own) for _, one in found]
        axis.errorbar(
            [epsilon for epsilon, _ in found], [mean for mean, _ in heights],
            yerr=[half for _, half in heights], label=mechanism, capsize=2, elinewidth=0.8,
            **curve(index),
        )  # fmt: skip
