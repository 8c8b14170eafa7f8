"""What the page shows of :mod:`experiments.variational_rates`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from experiments.framework import Cell, Record, Section, Table, label, quoted
from experiments.framework.cells import half_width, values
from experiments.framework.styles import axes, curve, legend, powers_of_ten
from experiments.variational_slopes import by_size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SLOPES = "experiments.variational_slopes"
PAPER = "Boob and Guzmán 2021"
PROBLEMS = {"bilinear": "bilinear game, d = 10", "group_robust": "group-robust regression, d = 7"}
METHODS = {
    # Name; the paper's exponents of the gap's slowest term in n and of the evaluations; where.
    "nseg_single": ("NSEG, one pass", "-1/2", "1", "Corollary 3.1"),
    "nispp_single": ("NISPP, one pass", "-1/3", "1", "Corollary 5.1"),
    "nseg_multi": ("NSEG, several", "-1/2", "2", "Theorem 4.4"),
    "nispp_multi": ("NISPP, several, extrapolation", "-1/2", "3/2", "Theorem 6.4"),
    "nispp_multi_fixed_point": ("NISPP, several, fixed point", "-1/2", "3/2", "Theorem 6.4"),
}
RATES = """Slope of the log of the exact gap against the log of the number of records n, by least
squares over all runs, with its 95% interval; beside it the slowest term in n of the paper's rate,
which is an upper bound: a steeper slope agrees with it. Sizes at which the mean gap is above 80%
of the starting point's are left out. The last column is the largest gap of any run as a share of
the explicit bound that its plan was made from; above 1 would refute that bound or the code.
Evaluations are counted, one per record and call. Epsilon = 1, delta = 1/n^2 for all; neighbours:
replace. Plans are made from public constants alone: nothing is tuned. The data are made up, and
the law that they come from is known."""
GAPS = """Mean exact gap with its 95% interval over seeds, against the number of records. Thin
dotted lines are the explicit bounds that the plans were made from. Epsilon = 1, delta = 1/n^2 for
all; neighbours: replace. The two subsolvers of NISPP in several passes reach nearly the same
point, so their curves may lie on one another."""
WORK = """The same runs against what they cost: operator evaluations, counted one per record and
call. Processor seconds are of a shared machine, and include nothing but the private run."""


def page(records: Sequence[Record]) -> list[Section]:
    """Rates, gaps against records, gaps against evaluations."""
    return [
        Section("Rates, measured as slopes", RATES, table=_rates(records)),
        Section(
            "Gap against the number of records",
            GAPS,
            lambda: _figure(records, "config.n", "records n", bounds=True),
            _gaps(records),
        ),
        Section(
            "Gap against operator evaluations",
            WORK,
            lambda: _figure(records, "evaluations", "operator evaluations", bounds=False),
            _work(records),
        ),
    ]


def _groups(records: Sequence[Record]) -> list[tuple[str, str, list[Record]]]:
    """Problem, method and records of every pair that has some."""
    found = []
    for problem in PROBLEMS:
        for method in METHODS:
            wanted = {"problem": problem, "method": method}
            own = [r for r in records if wanted.items() <= r["config"].items()]
            if own:
                found.append((problem, method, own))
    return found


def _rates(records: Sequence[Record]) -> Table:
    rows = []
    for problem, method, own in _groups(records):
        name, rate, work, where = METHODS[method]
        sizes = by_size(own)
        several = len(sizes) > 1
        missing = label("one size only")
        rows.append(
            [
                label(PROBLEMS[problem]),
                label(name),
                label(f"{min(sizes):,} to {max(sizes):,}"),
                [
                    Cell.of(own, "gap", how=f"{SLOPES}:slope"),
                    Cell.of(own, "gap", how=f"{SLOPES}:slope_half_width", form="± {:.2f}"),
                ]
                if several
                else missing,
                quoted(rate, f"{PAPER}, {where}"),
                Cell.of(own, "evaluations", how=f"{SLOPES}:exponent") if several else missing,
                quoted(work, f"{PAPER}, {where}"),
                Cell.of(own, "gap", how=f"{SLOPES}:share_of_bound"),
            ]
        )
    columns = ["problem", "method", "n", "slope of gap", "paper's", "slope of evaluations",
               "paper's", "largest gap / bound"]  # fmt: skip
    return Table(columns, rows)


def _gaps(records: Sequence[Record]) -> Table:
    rows = []
    for problem, method, own in _groups(records):
        for n, some in by_size(own).items():
            rows.append(
                [
                    label(PROBLEMS[problem]),
                    label(METHODS[method][0]),
                    label(f"{n:,}"),
                    _interval(some),
                    Cell.of(some, "gap_bound", form="{:.3g}"),
                    Cell.of(some, "gap", how="count", form="{:.0f}"),
                ]
            )
    return Table(["problem", "method", "n", "mean gap", "bound", "runs"], rows)


def _work(records: Sequence[Record]) -> Table:
    rows = []
    for problem, method, own in _groups(records):
        for n, some in by_size(own).items():
            rows.append(
                [
                    label(PROBLEMS[problem]),
                    label(METHODS[method][0]),
                    label(f"{n:,}"),
                    Cell.of(some, "evaluations", form="{:,.0f}"),
                    Cell.of(some, "cpu_seconds", how="median", form="{:.3g}"),
                    _interval(some),
                ]
            )
    columns = ["problem", "method", "n", "evaluations", "processor seconds", "mean gap"]
    return Table(columns, rows)


def _interval(some: Sequence[Record]) -> list[Cell]:
    return [
        Cell.of(some, "gap", form="{:.4f}"),
        Cell.of(some, "gap", how="half_width", form="± {:.4f}"),
    ]


def _figure(records: Sequence[Record], against: str, words: str, *, bounds: bool) -> Figure:
    names = list(dict.fromkeys(problem for problem, _, _ in _groups(records)))
    figure, panels = axes(len(names))
    for problem, method, own in _groups(records):
        axis, look = panels[names.index(problem)], curve(list(METHODS).index(method))
        if method == "nispp_multi":  # To be seen beneath the other subsolver's curve.
            look |= {"markersize": 10, "linewidth": 4, "alpha": 0.6}
        groups = list(by_size(own).values())
        x = [float(values(some, against).mean()) for some in groups]
        gaps = [float(values(some, "gap").mean()) for some in groups]
        errors = [half_width(some, "gap") for some in groups]
        axis.errorbar(x, gaps, np.nan_to_num(errors), label=METHODS[method][0], capsize=2, **look)
        if bounds:
            limits = [some[0]["gap_bound"] for some in groups]
            axis.plot(x, limits, ":", color=look["color"], linewidth=0.9)
        axis.set(yscale="log", xlabel=words, ylabel="mean gap", title=PROBLEMS[problem])
    for axis in panels:
        powers_of_ten(axis)
    legend(figure, columns=2)
    return figure
