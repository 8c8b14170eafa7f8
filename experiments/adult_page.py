"""What the page shows of the comparison on Adult: figures, tables and captions from records."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from experiments import adult_captions as captions
from experiments.adult_captions import TOP
from experiments.adult_curves import FIGURES, shown_in
from experiments.adult_data import FEATURES
from experiments.adult_found import Found
from experiments.framework import Cell, Record, Section, Table, label, styles
from experiments.framework.cells import half_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TICKS = (15, 16, 17, 18, 19, 20, 22, 25, 30, 35)
ORDER = (
    ("five", "drop"), ("two", "drop"), ("three", "drop"), ("seven", "drop"),
    ("five", "category"), ("three", "category"),
)  # fmt: skip
"""The five attributes, which the README shows, are first."""
OPTIMUM, SMOOTH, MAJORITY = "fewest errors", "likeliest logistic", "majority class"
ROWS = {"drop": "complete rows", "category": "all rows, ? as a category"}


def page(records: Sequence[Record]) -> list[Section]:
    """How to read them, then two sections for every set of attributes, as in ``ORDER``."""
    sets: dict[tuple[str, str], list[Record]] = {key: [] for key in ORDER}
    for record in records:
        config = record["config"]
        sets[config["features"], config["missing"]].append(record)
    sections = [
        _section(features, missing, found, figure)
        for (features, missing), found in sets.items()
        if found
        for figure in FIGURES
    ]
    return [
        Section("How to read these figures", captions.how_to_read(records)),
        Section("What to know of single curves", captions.single_curves(records)),
        *sections,
    ]


def _section(features: str, missing: str, records: Sequence[Record], figure: str) -> Section:
    found = Found.of(records)
    names = ", ".join(FEATURES[features])
    return Section(
        title=f"{names} ({ROWS[missing]}): {FIGURES[figure]}",
        caption=captions.caption(found, figure),
        figure=partial(_draw, found, figure),
        table=_table(found, figure),
    )


def _draw(found: Found, figure: str) -> Figure:
    drawn, (axis,) = styles.axes()
    lowest = _lines(axis, found)
    for index, (name, curve) in enumerate(shown_in(figure).items()):
        if name not in found.runs:
            continue
        records = found.tried(name)
        mean = [100 * float(np.mean(r.get("error", np.nan))) for r in records]
        spread = [100 * half_width([r], "error") if r["reached"] else 0.0 for r in records]
        look = styles.KNOWN_BAD if curve.known_bad else styles.curve(index)
        inside = [m - s for m, s in zip(mean, spread, strict=True) if m <= TOP]
        lowest += inside
        missing = "" if found.reached(name) else " †"
        above = " ↑" if found.reached(name) and not inside else ""
        axis.errorbar(
            [r["epsilon"] for r in records], mean, yerr=spread if inside else None,
            label=curve.label + missing + above, capsize=2, elinewidth=0.8, **look,
        )  # fmt: skip
    styles.epsilon_axis(axis, found.epsilons)
    _error_axis(axis, min(lowest, default=TOP / 2))
    styles.legend(drawn, columns=2)
    return drawn


def _error_axis(axis: Axes, lowest: float) -> None:
    """Logarithmic, from what is lowest to where curves may leave it."""
    axis.set_yscale("log")
    low = lowest / 1.03
    axis.set_ylim(low, TOP)
    ticks = [t for t in TICKS if low <= t <= TOP]
    axis.set_yticks(ticks, [str(t) for t in ticks])
    axis.minorticks_off()
    axis.set_ylabel("error on test rows (%)")


def _lines(axis: Axes, found: Found) -> list[float]:
    """What can be had without privacy, and without data; in percent."""
    best, smooth = found.references.get("errors"), found.references.get("logistic")
    lines = []
    if best is not None:
        lines.append((best["error"], OPTIMUM, (0, (1, 1))))
        lines.append((best["majority_error"], MAJORITY, (0, (1, 4))))
    if smooth is not None:
        lines.append((smooth["error"], SMOOTH, (0, (4, 2, 1, 2))))
    for share, name, dashes in lines:
        axis.axhline(100 * share, label=name, **{**styles.REFERENCE, "linestyle": dashes})
    return [100 * share for share, _, _ in lines]


def _table(found: Found, figure: str) -> Table:
    epsilons = found.epsilons
    rows: list[list[Cell | list[Cell]]] = []
    for name, curve in found.curves(figure).items():
        points = found.runs[name]
        entries = [_entry(points.get(epsilon)) for epsilon in epsilons]
        rows.append([label(curve.detail), label("0" if curve.pure else "n^-2"), *entries])
    for kind, field, name in (
        ("errors", "error", f"{OPTIMUM} (not private)"),
        ("logistic", "error", f"{SMOOTH} (not private)"),
        ("errors", "majority_error", MAJORITY),
    ):
        record = found.references.get(kind)
        if record is not None:
            cell = Cell.of([record], field, how="value", scale=100)
            rows.append([label(name), label("-"), *[cell for _ in epsilons]])
    return Table(["error (%)", "delta", *(f"epsilon {e:g}" for e in epsilons)], rows)


def _entry(record: Record | None) -> Cell | list[Cell]:
    if record is None:
        return label("not run")
    if not record["reached"]:
        return Cell.of([record], "reason", how="value", form="{}")
    return [
        Cell.of([record], "error", how="mean", scale=100),
        Cell.of([record], "error", how="half_width", scale=100, form="± {:.2f}"),
    ]
