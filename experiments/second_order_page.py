"""What the page shows of :mod:`experiments.second_order_time`: Table 1 and Figures 1 to 4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments import second_order_captions as captions
from experiments import second_order_verdicts as verdicts
from experiments.framework import Cell, Record, Section, Table, label, quoted
from experiments.logistic_methods import VARIANTS
from experiments.second_order_figures import against, oracle, privacy_utility
from experiments.second_order_numbers import (
    NAMES,
    ORACLE,
    PAPER,
    TRADED,
    at_end,
    best,
    equals,
    mean,
    sets_of,
    slower,
    where,
)

PUBLISHED = {
    "a1a_standardised": (4.87, 2.95, 5.09, 30.59),
    "synthetic": (2.90, 2.90, 5.19, 11.61),
    "adult": (12.08, 11.84, 22.17, 38.16),
}
"""Run time of DP-GD over that of theirs (Hess-clip), at epsilon 0.01, 0.1, 1, 10."""
EPSILONS = (0.01, 0.1, 1.0, 10.0)
RACED = ("adult", "a1a_standardised", "synthetic", "covertype_sample")
"""Data sets of Figure 1."""
EXTREMES = (0.1, 10.0)
"""Epsilons of Figure 3: high and low privacy."""
FULL = ("DP-GD", *VARIANTS, "QU-add, curvature kept", "preconditioned")
BATCHES = ("DP-GD", "QU-add", "DP-SGD", "QU-add, batches")


def page(records: Sequence[Record]) -> Sequence[Section]:
    """How to read it, then tables and figures of the paper, from the records that there are."""
    sets, main = sets_of(records), where(records, epsilon=1.0)
    found = [
        Section("How to read these tables", captions.COMMON + captions.DATA),
        Section(
            "Table 1: time of DP-GD over time of ours",
            captions.table_1(),
            table=_races(records, sets),
        ),
        Section("Why ratios differ from the paper's", captions.different(records)),
    ]
    raced = [name for name in RACED if name in sets_of(main)]
    if raced:
        title = "Figure 1: excess loss against time, epsilon = 1"
        drawn = _bests(main, sets_of(main), FULL)
        found.append(
            Section(
                title,
                [*verdicts.race(records), captions.FIGURE_1],
                lambda: against(main, raced, FULL),
                drawn,
            )
        )
    found.append(
        Section(
            "Figure 2: excess loss against epsilon",
            [*verdicts.utility(records), captions.FIGURE_2, *captions.cubic(records)],
            lambda: privacy_utility(records, sets),
            _utilities(records, sets),
        )
    )
    return [*found, *_oracle(records), *_batches(main)]


def _oracle(records: Sequence[Record]) -> list[Section]:
    cases = [
        (data, epsilon)
        for data in sets_of(where(records, method=ORACLE))
        for epsilon in EXTREMES
        if where(records, data=data, epsilon=epsilon)
    ]
    if not cases:
        return []
    return [
        Section(
            "Figure 3: DP-GD with the best step size, which is not private",
            [*verdicts.oracles(records, cases), captions.FIGURE_3],
            lambda: oracle(records, cases),
            _oracle_table(records, cases),
        )
    ]


def _batches(main: Sequence[Record]) -> list[Section]:
    batched = sets_of(where(main, method="DP-SGD"))
    if not batched:
        return []
    return [
        Section(
            "Figure 4: batches, epsilon = 1",
            [*verdicts.batches(main, BATCHES), captions.FIGURE_4],
            lambda: against(main, batched, BATCHES),
            _bests(main, batched, BATCHES),
        )
    ]


def _races(records: Sequence[Record], sets: Sequence[str]) -> Table:
    rows = []
    for data in sets:
        for epsilon in EPSILONS:
            own = where(records, data=data, epsilon=epsilon)
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
        _ratio((descent, ours), at_end(descent) or at_end(ours)),
        *(
            _ratio(equals(own, name), at_end(slower(own, name)))
            if where(own, method=name)
            else label("-")
            for name in ("Hess-clip", "QU-add, curvature kept", "preconditioned")
        ),
        _excess(descent),
        _excess(ours),
        Cell.of([ours], "processor_seconds", how="least", form="{:.2f}"),
        Cell.of([ours], "excess_at_zero", how="value", form="{:.3f}"),
    ]


def _ratio(pair: Sequence[Record], marked: bool) -> Cell:
    """A ratio of times, with a mark where it rests on the end of a grid."""
    useless = " (worse than w = 0)" if mean(pair[0]) > pair[0]["excess_at_zero"] else ""
    how = "experiments.second_order_numbers:short_ratio"
    form = "{:g}" + "*" * marked + useless
    return Cell.of(pair, "processor_seconds", how=how, form=form)


def _excess(record: Record) -> tuple[Cell, ...]:
    """Mean excess, and T; a mark where T is an end of the grid."""
    excess = Cell.of([record], "excess", form="{:.3g}")
    if record["steps"] is None:
        return (excess,)
    mark = "*" if at_end(record) else ""
    return excess, Cell.of([record], "steps", how="value", form=f"({{}}{mark})")


def _bests(records: Sequence[Record], sets: Sequence[str], methods: Sequence[str]) -> Table:
    rows: list[list[Any]] = []
    for data in sets:
        for name in methods:
            top = best(where(records, data=data), name)
            if top is not None:
                rows.append(
                    [
                        label(NAMES[data]),
                        label(name),
                        _excess(top),
                        (
                            Cell.of([top], "excess", how="least", form="{:.3g}"),
                            Cell.of([top], "excess", how="most", form="to {:.3g}"),
                        ),
                        Cell.of([top], "processor_seconds", how="least", form="{:.3f}"),
                        Cell.of([top], "wall_seconds", how="least", form="{:.3f}"),
                    ]
                )
    columns = ("data", "method", "least excess (T)", "of its seeds", "processor s", "wall-clock s")
    return Table(columns, rows)


def _utilities(records: Sequence[Record], sets: Sequence[str]) -> Table:
    epsilons = sorted({r["epsilon"] for r in records})
    rows: list[list[Any]] = []
    for data in sets:
        for name in (*TRADED, "cubic Newton"):
            tops = [best(where(records, data=data, epsilon=e), name) for e in epsilons]
            if any(top is not None for top in tops):
                rows.append(
                    [label(NAMES[data]), label(name)]
                    + [label("-") if top is None else _excess(top) for top in tops]
                )
    return Table(("data", "method", *(f"epsilon {e:g}" for e in epsilons)), rows)


def _oracle_table(records: Sequence[Record], cases: Sequence[tuple[str, float]]) -> Table:
    rows: list[list[Any]] = []
    for data, epsilon in cases:
        for name in ("Hess-clip", "QU-add", "DP-GD", ORACLE):
            top = best(where(records, data=data, epsilon=epsilon), name)
            if top is not None:
                rows.append([label(NAMES[data]), label(f"{epsilon:g}"), label(name), _excess(top)])
    return Table(("data", "epsilon", "method", "least excess (T)"), rows)
