"""What the page shows of the comparison on Adult: figures, tables and captions from records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from experiments.adult_curves import ERRORS, FIGURES, Curve, shown_in
from experiments.adult_data import FEATURES
from experiments.framework import Cell, Record, Section, Table, label, styles
from experiments.framework.cells import half_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TICKS = (15, 16, 17, 18, 20, 22, 25, 30, 40, 50, 60, 75)
ORDER = (
    ("five", "drop"), ("two", "drop"), ("three", "drop"), ("seven", "drop"),
    ("five", "category"), ("three", "category"),
)  # fmt: skip
"""The five attributes, which the README shows, are first."""
OPTIMUM, SMOOTH, MAJORITY = "fewest errors", "likeliest logistic", "majority class"
ROWS = {"drop": "complete rows", "category": "all rows, ? as a category"}


def page(records: Sequence[Record]) -> list[Section]:
    """Two sections for every set of attributes, in the order of ``ORDER``."""
    sets: dict[tuple[str, str], list[Record]] = {key: [] for key in ORDER}
    for record in records:
        config = record["config"]
        sets[config["features"], config["missing"]].append(record)
    return [
        _section(features, missing, found, figure)
        for (features, missing), found in sets.items()
        if found
        for figure in FIGURES
    ]


def _section(features: str, missing: str, records: Sequence[Record], figure: str) -> Section:
    found = Found.of(records)
    names = ", ".join(FEATURES[features])
    return Section(
        title=f"{names} ({ROWS[missing]}): {FIGURES[figure]}",
        caption=_caption(found, figure),
        figure=partial(_draw, found, figure),
        table=_table(found, figure),
    )


class Found:
    """The records of one set of attributes, by what they are of.

    Args:
        references: The records without privacy, by kind.
        runs: The records of each mechanism, by epsilon.
    """

    def __init__(
        self, references: Mapping[str, Record], runs: Mapping[str, Mapping[float, Record]]
    ) -> None:
        self.references = references
        self.runs = runs

    @classmethod
    def of(cls, records: Iterable[Record]) -> Found:
        """Sort them. Of two for the same point, the later config counts."""
        references: dict[str, Record] = {}
        runs: dict[str, dict[float, Record]] = {}
        for record in records:
            config = record["config"]
            if "reference" in config:
                references[config["reference"]] = record
            else:
                runs.setdefault(config["mechanism"], {})[config["epsilon"]] = record
        return cls(references, runs)

    @property
    def epsilons(self) -> list[float]:
        """All that occur."""
        return sorted({epsilon for points in self.runs.values() for epsilon in points})

    def curves(self, figure: str) -> dict[str, Curve]:
        """Those of a figure that have records."""
        return {name: curve for name, curve in shown_in(figure).items() if name in self.runs}

    def reached(self, name: str) -> list[Record]:
        """The records of a curve that have errors, by epsilon."""
        return [r for _, r in sorted(self.runs[name].items()) if r["reached"]]

    def tried(self, name: str) -> list[Record]:
        """Those, and the ones that were tried in vain, which are gaps in a line."""
        ordered = [r for _, r in sorted(self.runs[name].items())]
        return [r for r in ordered if r["reached"] or r["reason"] != "not tried"]


def _draw(found: Found, figure: str) -> Figure:
    drawn, (axis,) = styles.axes()
    for index, (name, curve) in enumerate(shown_in(figure).items()):
        if name not in found.runs:
            continue
        records = found.tried(name)
        mean = [100 * float(np.mean(r.get("error", np.nan))) for r in records]
        spread = [100 * half_width([r], "error") if r["reached"] else 0.0 for r in records]
        look = styles.KNOWN_BAD if curve.known_bad else styles.curve(index)
        missing = "" if found.reached(name) else " †"
        axis.errorbar(
            [r["epsilon"] for r in records], mean, yerr=spread,
            label=curve.label + missing, capsize=2, elinewidth=0.8, **look,
        )  # fmt: skip
    _lines(axis, found)
    styles.epsilon_axis(axis, found.epsilons)
    axis.set_yscale("log")
    low, high = axis.get_ylim()
    axis.set_yticks([t for t in TICKS if low <= t <= high])
    axis.set_yticklabels([str(t) for t in TICKS if low <= t <= high])
    axis.minorticks_off()
    axis.set_ylabel("error on test rows (%)")
    styles.legend(drawn, columns=2)
    return drawn


def _lines(axis: Axes, found: Found) -> None:
    """What can be had without privacy, and without data."""
    best, smooth = found.references.get("errors"), found.references.get("logistic")
    lines = []
    if best is not None:
        lines.append((best["error"], OPTIMUM, (0, (1, 1))))
        lines.append((best["majority_error"], MAJORITY, (0, (1, 4))))
    if smooth is not None:
        lines.append((smooth["error"], SMOOTH, (0, (4, 2, 1, 2))))
    for share, name, dashes in lines:
        axis.axhline(100 * share, label=name, **{**styles.REFERENCE, "linestyle": dashes})


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


def _caption(found: Found, figure: str) -> str:
    some = next(iter(found.references.values()))
    seeds = {len(r["error"]) for points in found.runs.values() for r in _done(points)}
    curves = found.curves(figure)
    pure = [c.label for c in curves.values() if c.pure]
    other = [c.label for c in curves.values() if not c.pure]
    text = [
        f"Trained on {some['rows']:,} rows ({some['levels']} levels of the attributes, "
        f"{some['cells']:,} distinct rows), errors on {some['test_rows']:,} test rows: mean of "
        f"{' or '.join(map(str, sorted(seeds)))} seeds with its 95% interval (Student's t; over "
        "the mechanisms' randomness, on one split).",
        "All guarantees are for replace: one record changed, n public.",
        f"Delta is 0 for {_listed(pure)}"
        + (f". It is 1 / n^2 for {_listed(other)}." if other else "."),
        "Every mechanism runs with its defaults; nothing was tuned on these rows for this figure, "
        "but the package's defaults were chosen on public data, Adult among them.",
        "Lines without markers are not private: the scoring card with the fewest training errors"
        f"{_proof(found)}, and the logistic regression of greatest likelihood.",
    ]
    if figure == ERRORS:
        text.append("Weights are -1, 0 and 1 for every level.")
        if "released_code" in curves:
            text.append(
                "The grey curve (code: NOT PRIVATE) has the noise of the released code of Neel et "
                "al. (2020). Its scale is known not to give the guarantee that it is named by: "
                "violations in closed form are in oracle_dp.audit.counterexamples."
            )
    elif "diffprivlib" in curves:
        text.append(
            "diffprivlib's guarantee is its own claim; its rows have norm 1 with a constant column."
        )
    return " ".join([*text, *_not_reached(found, curves)])


def _proof(found: Found) -> str:
    """How many those are, and whether that is proven."""
    best = found.references.get("errors")
    if best is None:
        return ""
    if best["bound"] == best["training_errors"]:
        return f" ({best['training_errors']:,}, proven)"
    return f" found ({best['training_errors']:,}; at least {best['bound']:,.0f}, not proven)"


def _done(points: Mapping[float, Record]) -> list[Record]:
    return [r for r in points.values() if r["reached"]]


def _listed(names: Sequence[str]) -> str:
    return "; ".join(names) if names else "none"


def _not_reached(found: Found, curves: Mapping[str, Curve]) -> list[str]:
    """A sentence for every mechanism with points that are missing."""
    told = []
    for name, curve in curves.items():
        lost = [r for _, r in sorted(found.runs[name].items()) if not r["reached"]]
        by_reason: dict[str, list[str]] = {}
        for record in lost:
            by_reason.setdefault(_why(record), []).append(f"{record['epsilon']:g}")
        if lost:
            reasons = "; ".join(f"at {', '.join(at)}: {why}" for why, at in by_reason.items())
            told.append(f"Not reached, {curve.label}: {reasons}.")
    if any("processor_seconds" in r for name in curves for r in found.runs[name].values()):
        told.append(
            "Limits are for one draw, by the clock; the processor's seconds are of all draws "
            "together."
        )
    if "counts" in curves:
        told.append("The search on noisy counts, which needs no proof, is stopped after 2 s.")
    if any(r.get("reason") == "not tried" for name in curves for r in found.runs[name].values()):
        told.append("What was not tried was left out for want of computing time.")
    if any(not found.reached(name) for name in curves):
        told.append("A dagger marks a curve without a point.")
    return told


def _why(record: Record) -> str:
    """The reason, and what was spent on it."""
    if "processor_seconds" not in record:
        return str(record["reason"])
    return (
        f"{record['reason']} (draws done before: {record['done']}; "
        f"{record['processor_seconds']:.0f} s of the processor)"
    )
