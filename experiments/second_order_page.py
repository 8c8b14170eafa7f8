"""What the page shows of :mod:`experiments.second_order_time`: Table 1 and Figures 1 to 4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments import second_order_captions as captions
from experiments.framework import Cell, Record, Section, Table, label, quoted
from experiments.framework.styles import KNOWN_BAD, REFERENCE, axes, curve, epsilon_axis, legend
from experiments.logistic_methods import VARIANTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAPER = "Ganesh, Haghifam, Steinke, Thakurta (2023), Table 1"
PUBLISHED = {
    "a1a_standardised": (4.87, 2.95, 5.09, 30.59),
    "synthetic": (2.90, 2.90, 5.19, 11.61),
    "adult": (12.08, 11.84, 22.17, 38.16),
}
"""Run time of DP-GD over that of theirs (Hess-clip), at epsilon 0.01, 0.1, 1, 10."""
EPSILONS = (0.01, 0.1, 1.0, 10.0)
NAMES = {
    "synthetic": "synthetic",
    "adult": "Adult",
    "a1a_standardised": "a1a, standardised",
    "a1a": "a1a, as it is",
    "covertype_sample": "Covertype, 20,000 rows",
    "protein": "protein, standardised",
    "fashion_mnist": "Fashion-MNIST, 0 and 3",
}
ORACLE = "DP-GD-Oracle (not private)"
EXACT_STEP = "damped Newton, exact step (not private)"
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
TRADED = (
    "DP-GD", "Hess-clip", "QU-add", "preconditioned", "damped Newton", EXACT_STEP,
    "approximate minima", "Gaussian objective", "classical objective, delta 0",
)  # fmt: skip


def page(records: Sequence[Record]) -> Sequence[Section]:
    """Tables and figures of the paper, from our records."""
    sets = [name for name in NAMES if any(r["config"]["data"] == name for r in records)]
    shown = [name for name in sets if name in ("synthetic", "adult")]
    main = _where(records, epsilon=1.0)
    return [
        Section("Table 1: time of DP-GD over time of ours", captions.TABLE_1,
                table=_races(records, sets)),
        Section("Figure 1: excess loss against time, epsilon = 1", captions.FIGURE_1,
                lambda: _against(main, sets[:4], ("DP-GD", *VARIANTS, "QU-add, curvature kept",
                                                  "preconditioned"), "processor_seconds"),
                _bests(main, sets, ("DP-GD", *VARIANTS, "QU-add, curvature kept",
                                    "preconditioned"))),
        Section("Figure 2: excess loss against epsilon", captions.FIGURE_2,
                lambda: _privacy_utility(records, sets), _utilities(records, sets)),
        Section("Figure 3: DP-GD with the best step size, which is not private",
                captions.FIGURE_3, lambda: _oracle(records, shown),
                _oracle_table(records, shown)),
        Section("Figure 4: batches, epsilon = 1", captions.FIGURE_4,
                lambda: _against(main, shown, ("DP-GD", "QU-add", "DP-SGD", "QU-add, batches"),
                                 "processor_seconds"),
                _bests(main, shown, ("DP-GD", "QU-add", "DP-SGD", "QU-add, batches"))),
    ]  # fmt: skip


# -- numbers -----------------------------------------------------------------------------------


def ratio(records: Sequence[Record], field: str) -> float:
    """The least value of the first record over the least of the second."""
    first, second = records
    return float(min(first[field]) / min(second[field]))


def best(records: Sequence[Record], method: str) -> Record | None:
    """The record with the least mean excess over all T; None if the method was not run."""
    own = _where(records, method=method)
    return min(own, key=_mean, default=None)


def equals(records: Sequence[Record], ours: str) -> tuple[Record, Record]:
    """The fastest run of DP-GD and of ours whose excess is at most one that both reach.

    That is the larger of the two least mean excesses.
    """
    names = ("DP-GD", ours)
    target = max(min(_mean(r) for r in _where(records, method=name)) for name in names)
    first, second = (
        min(
            (r for r in _where(records, method=name) if _mean(r) <= target),
            key=lambda r: float(min(r["processor_seconds"])),
        )
        for name in names
    )
    return first, second


def _mean(record: Record) -> float:
    return float(np.mean(record["excess"]))


def _where(records: Sequence[Record], **wanted: Any) -> list[Record]:
    """Records with these fields; ``data`` is the config's."""
    data = wanted.pop("data", None)
    return [
        r for r in records
        if wanted.items() <= r.items() and data in (None, r["config"]["data"])
    ]  # fmt: skip


# -- tables ------------------------------------------------------------------------------------


def _races(records: Sequence[Record], sets: Sequence[str]) -> Table:
    rows = []
    for data in sets:
        for epsilon in EPSILONS:
            own = _where(records, data=data, epsilon=epsilon)
            if own:
                rows.append(_race(own, data, epsilon))
    columns = (
        "data", "epsilon", "paper: Hess-clip", "Hess-clip, each at its best T",
        "Hess-clip, equal excess", "curvature kept, equal excess",
        "preconditioned, equal excess", "DP-GD: excess (T)", "Hess-clip: excess (T)",
        "Hess-clip, s", "w = 0",
    )  # fmt: skip
    return Table(columns, rows)


def _race(own: Sequence[Record], data: str, epsilon: float) -> list[Any]:
    descent, ours = best(own, "DP-GD"), best(own, "Hess-clip")
    assert descent is not None
    assert ours is not None
    theirs: Cell = label("-")
    if data in PUBLISHED:
        theirs = quoted(f"{PUBLISHED[data][EPSILONS.index(epsilon)]:.2f}", PAPER)
    return [
        label(NAMES[data]),
        label(f"{epsilon:g}"),
        theirs,
        _ratio((descent, ours)),
        *(
            _ratio(equals(own, name)) if _where(own, method=name) else label("-")
            for name in ("Hess-clip", "QU-add, curvature kept", "preconditioned")
        ),
        _excess(descent),
        _excess(ours),
        Cell.of([ours], "processor_seconds", how="least", form="{:.2f}"),
        Cell.of([ours], "excess_at_zero", how="value", form="{:.3f}"),
    ]


def _ratio(pair: Sequence[Record]) -> Cell:
    useless = " (worse than w = 0)" if _mean(pair[0]) > pair[0]["excess_at_zero"] else ""
    how = "experiments.second_order_page:ratio"
    return Cell.of(pair, "processor_seconds", how=how, form="{:.2f}" + useless)


def _excess(record: Record) -> tuple[Cell, ...]:
    """Mean excess, and T; a mark where T is an end of the grid."""
    mean = Cell.of([record], "excess", form="{:.2g}" if _mean(record) >= 1 else "{:.4f}")
    if record["steps"] is None:
        return (mean,)
    least, largest = record["config"]["grid"][record["method"]]
    mark = "*" if record["steps"] in (least, largest) else ""
    return mean, Cell.of([record], "steps", how="value", form=f"({{}}{mark})")


def _bests(records: Sequence[Record], sets: Sequence[str], methods: Sequence[str]) -> Table:
    rows: list[list[Any]] = []
    for data in sets:
        for name in methods:
            top = best(_where(records, data=data), name)
            if top is not None:
                rows.append(
                    [
                        label(NAMES[data]),
                        label(name),
                        _excess(top),
                        Cell.of([top], "excess", how="half_width", form="{:.4f}"),
                        Cell.of([top], "processor_seconds", how="least", form="{:.3f}"),
                        Cell.of([top], "wall_seconds", how="least", form="{:.3f}"),
                    ]
                )
    columns = ("data", "method", "least excess (T)", "+-", "processor s", "wall-clock s")
    return Table(columns, rows)


def _utilities(records: Sequence[Record], sets: Sequence[str]) -> Table:
    epsilons = sorted({r["epsilon"] for r in records})
    rows: list[list[Any]] = []
    for data in sets:
        for name in (*TRADED, "cubic Newton"):
            tops = [best(_where(records, data=data, epsilon=e), name) for e in epsilons]
            if any(top is not None for top in tops):
                rows.append(
                    [label(NAMES[data]), label(name)]
                    + [label("-") if top is None else _excess(top) for top in tops]
                )
    return Table(("data", "method", *(f"epsilon {e:g}" for e in epsilons)), rows)


def _oracle_table(records: Sequence[Record], sets: Sequence[str]) -> Table:
    rows: list[list[Any]] = []
    for data in sets:
        for epsilon in _extremes(records):
            for name in ("Hess-clip", "QU-add", "DP-GD", ORACLE):
                top = best(_where(records, data=data, epsilon=epsilon), name)
                if top is not None:
                    rows.append(
                        [label(NAMES[data]), label(f"{epsilon:g}"), label(name), _excess(top)]
                    )
    return Table(("data", "epsilon", "method", "least excess (T)"), rows)


# -- figures -----------------------------------------------------------------------------------


def _against(
    records: Sequence[Record], sets: Sequence[str], methods: Sequence[str], field: str
) -> Figure:
    """Excess against a field, a curve for each method through its T."""
    figure, panels = axes(len(sets))
    for axis, data in zip(panels, sets, strict=True):
        own = _where(records, data=data)
        for name in methods:
            _curve(axis, _where(own, method=name), name, field)
        seconds = "processor time of a whole run, s"
        axis.set(title=NAMES[data], xscale="log", ylabel="excess loss, nats")
        axis.set_xlabel(seconds if field == "processor_seconds" else "T, steps of a run")
        _frame(axis, own)
    legend(figure)
    return figure


def _curve(axis: Axes, own: Sequence[Record], name: str, field: str) -> None:
    if own:
        x = [float(np.min(r[field])) for r in own]
        y, error = [_mean(r) for r in own], [float(np.std(r["excess"])) for r in own]
        axis.errorbar(x, y, yerr=error, label=name, elinewidth=0.8, **LOOKS[name])


def _frame(axis: Axes, own: Sequence[Record]) -> None:
    """Logarithmic; what is far worse than w = 0 is left out, and w = 0 drawn."""
    zero = own[0]["excess_at_zero"]
    axis.axhline(zero, label="w = 0, which costs nothing", **REFERENCE)
    least = min(_mean(r) for r in own if r["method"] in LOOKS)
    axis.set_yscale("log")
    axis.set_ylim(least / 1.5, 3 * zero)


def _privacy_utility(records: Sequence[Record], sets: Sequence[str]) -> Figure:
    figure, panels = axes(len(sets))
    for axis, data in zip(panels, sets, strict=True):
        own = _where(records, data=data)
        epsilons = sorted({r["epsilon"] for r in own})
        for name in TRADED:
            tops = [best(_where(own, epsilon=e), name) for e in epsilons]
            seen = [top for top in tops if top is not None]
            if seen:
                y = [_mean(top) for top in seen]
                axis.plot([top["epsilon"] for top in seen], y, label=name, **LOOKS[name])
        epsilon_axis(axis, epsilons)
        axis.set(title=NAMES[data], ylabel="excess loss, nats")
        _frame(axis, own)
    legend(figure)
    return figure


def _extremes(records: Sequence[Record]) -> list[float]:
    """High and low privacy."""
    found = sorted({r["epsilon"] for r in records})
    return [e for e in (0.1, 10.0) if e in found] or found[:1]


def _oracle(records: Sequence[Record], sets: Sequence[str]) -> Figure:
    cases = [(data, e) for data in sets for e in _extremes(records)]
    figure, panels = axes(len(cases))
    for axis, (data, epsilon) in zip(panels, cases, strict=True):
        own = _where(records, data=data, epsilon=epsilon)
        for name in ("Hess-clip", "QU-add", "DP-GD", ORACLE):
            _curve(axis, _where(own, method=name), name, "steps")
        axis.set(title=f"{NAMES[data]}, epsilon = {epsilon:g}", xscale="log")
        axis.set(xlabel="T, steps of a run", ylabel="excess loss, nats")
        _frame(axis, own)
    legend(figure)
    return figure
