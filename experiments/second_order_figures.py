"""Figures of :mod:`experiments.second_order_page`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.framework import Record
from experiments.framework.styles import KNOWN_BAD, REFERENCE, axes, curve, epsilon_axis, legend
from experiments.second_order_numbers import (
    EXACT_STEP,
    NAMES,
    ORACLE,
    TRADED,
    best,
    mean,
    where,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS: dict[str, dict[str, Any]] = {
    name: curve(i)
    for i, name in enumerate(
        (
            "DP-GD", "Hess-clip", "preconditioned", "QU-add", "Gaussian objective",
            "damped Newton", "Hess-add", "QU-clip", "QU-add, curvature kept",
            "approximate minima", "classical objective, delta 0", "DP-SGD", "QU-add, batches",
        )
    )
}  # fmt: skip
LOOKS |= {ORACLE: KNOWN_BAD, EXACT_STEP: KNOWN_BAD | {"marker": "+", "linestyle": (0, (2, 2))}}


def against(records: Sequence[Record], sets: Sequence[str], methods: Sequence[str]) -> Figure:
    """Excess against processor time, a curve for each method through its T."""
    figure, panels = axes(len(sets))
    for axis, data in zip(panels, sets, strict=True):
        own = where(records, data=data)
        for name in methods:
            _curve(axis, where(own, method=name), name, "processor_seconds")
        axis.set(title=NAMES[data], xscale="log", ylabel="excess loss, nats")
        axis.set_xlabel("processor time of a whole run, s")
        _frame(axis, own)
    legend(figure)
    return figure


def _curve(axis: Axes, own: Sequence[Record], name: str, field: str) -> None:
    if own:
        x = [float(np.min(r[field])) for r in own]
        y = np.array([mean(r) for r in own])
        below = y - [min(r["excess"]) for r in own]
        above = np.array([max(r["excess"]) for r in own]) - y
        # A mean of equal numbers may be off by a rounding error.
        error = np.maximum([below, above], 0)
        axis.errorbar(x, y, yerr=error, label=name, elinewidth=0.8, **LOOKS[name])


def _frame(axis: Axes, own: Sequence[Record]) -> None:
    """Logarithmic; what is far worse than w = 0 is left out, and w = 0 drawn."""
    from matplotlib.ticker import NullFormatter

    zero = own[0]["excess_at_zero"]
    axis.axhline(zero, label="w = 0, which costs nothing", **REFERENCE)
    least = min(mean(r) for r in own if r["method"] in LOOKS)
    axis.set_yscale("log")
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set_ylim(least / 1.5, 3 * zero)


def privacy_utility(records: Sequence[Record], sets: Sequence[str]) -> Figure:
    """Least excess over T against epsilon, a panel for each data set."""
    figure, panels = axes(len(sets))
    for axis, data in zip(panels, sets, strict=True):
        own = where(records, data=data)
        epsilons = sorted({r["epsilon"] for r in own})
        for name in TRADED:
            tops = [best(where(own, epsilon=e), name) for e in epsilons]
            seen = [top for top in tops if top is not None]
            if seen:
                y = [mean(top) for top in seen]
                axis.plot([top["epsilon"] for top in seen], y, label=name, **LOOKS[name])
        epsilon_axis(axis, epsilons)
        axis.set(title=NAMES[data], ylabel="excess loss, nats")
        _frame(axis, own)
    legend(figure, columns=2)
    return figure


def oracle(records: Sequence[Record], cases: Sequence[tuple[str, float]]) -> Figure:
    """Excess against T, a panel for each data set and epsilon."""
    figure, panels = axes(len(cases))
    for axis, (data, epsilon) in zip(panels, cases, strict=True):
        own = where(records, data=data, epsilon=epsilon)
        for name in ("Hess-clip", "QU-add", "DP-GD", ORACLE):
            _curve(axis, where(own, method=name), name, "steps")
        axis.set(title=f"{NAMES[data]}, epsilon = {epsilon:g}", xscale="log")
        axis.set(xlabel="T, steps of a run", ylabel="excess loss, nats")
        _frame(axis, own)
    legend(figure)
    return figure
