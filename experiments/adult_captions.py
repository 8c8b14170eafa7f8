"""What stands beside the figures and tables of the comparison on Adult."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.adult_curves import ERRORS, LOGISTIC
from experiments.adult_found import Found
from experiments.diffprivlib_env import HOW
from experiments.framework import Cell, Record
from oracle_dp.mechanisms.sampled_noise import (
    Calibration,
    Geometry,
    Perturbation,
    calibrate,
    needed,
)

Parts = list[str | Cell]
HERE = "experiments.adult_captions"
TOP = 35
"""Percent, at which the error axis ends."""
RADIUS, CALLS = 5.0, 1000
"""Defaults of ``method="opsamp"``: of the box, half, and of minimisations."""

COMMON = f""" with its 95% interval (Student's t; over the mechanisms' randomness, on one split), on
Adult's test rows. All guarantees are for replace: one record changed, n public. Delta is 0 or 1 /
n^2, as the tables say. Every mechanism runs with its defaults; nothing was tuned on these rows for
these figures, but the package's defaults were chosen on public data, Adult among them. Lines
without markers are not private: the scoring card with the fewest training errors, and the logistic
regression of greatest likelihood. The error axis is logarithmic and ends at {TOP} %: curves above
leave the figure, and the table has them (↑: a curve that is nowhere below). A dagger marks a curve
without a point. Scoring cards have the weights -1, 0 and 1 for every level. Limits are for one
draw, by the clock; where one was reached the draws done before are in brackets. What was not tried
was left out for want of computing time. """

WORDS = {
    "counts": "The search on noisy counts, which needs no proof, ends after its default of nodes. ",
    "released_code": (
        "The grey curve (code: NOT PRIVATE) has the noise of the released code of Neel et al. "
        "(2020). Its scale is known not to give the guarantee that it is named by: violations in "
        "closed form are in oracle_dp.audit.counterexamples. "
    ),
    "diffprivlib": (
        "diffprivlib's guarantee is its own claim; its rows have norm 1 with a constant column. "
        f"It needs an environment of its own, which '{HOW}' makes. "
    ),
    "top_r": (
        "Top-R (R = 10) tells the ten best scoring cards apart and gives each of all others the "
        "weight of the tenth. These others are 3 to the number of levels: unless the best leads "
        "the tenth by as many errors as each figure says, one of the others is drawn, "
        "uniformly, whatever epsilon is. Seeds are the same at every epsilon, so that its number "
        "is the same wherever that happens: the error of random cards. "
    ),
    "opsamp": (
        "OPSamp's theorem needs far more records and minimisations than there are here, as its "
        f"release says itself: its noise is as wide as the box ({RADIUS:g} either way) that "
        "coefficients are clipped to, or wider, so that what comes out is mostly clipped noise, "
        "for a seed nearly the same at every epsilon. "
    ),
}
"""What has to be known of single curves."""


def how_to_read(records: Sequence[Record]) -> Parts:
    """What holds for all figures."""
    seeds = sorted({len(r["error"]) for r in records if r.get("reached")})
    refused = any(r.get("reason") == "refused" for r in records)
    text = f"Errors are means of {' or '.join(map(str, seeds))} seeds, each{COMMON}"
    if refused:
        text += "'Refused': a search ended before its limit without a proof. "
    return [text]


def single_curves(records: Sequence[Record]) -> Parts:
    """What has to be known of those that there are."""
    names = {r["config"].get("mechanism") for r in records}
    return ["".join(words for name, words in WORDS.items() if name in names)]


def caption(found: Found, figure: str) -> Parts:
    """What one figure has of its own."""
    some = next(iter((*found.references.values(), *found.reached(next(iter(found.runs))))))
    parts: Parts = []
    for field, text in (
        ("rows", " training rows ("),
        ("levels", " levels of the attributes, "),
        ("cells", " distinct), "),
        ("test_rows", " test rows. "),
    ):
        parts += [Cell.of([some], field, how="value", form="{:,}"), text]
    return [*parts, *_fewest(found), *_own(found, figure), *_not_reached(found, figure)]


def _fewest(found: Found) -> Parts:
    """The fewest errors, and whether that is proven."""
    best = found.references.get("errors")
    if best is None:
        return []
    number = Cell.of([best], "training_errors", how="value", form="{:,}")
    if best["bound"] == best["training_errors"]:
        return ["Fewest training errors: ", number, ", proven. "]
    least = Cell.of([best], "bound", how="value", form="{:,.0f}")
    return ["Fewest training errors found: ", number, " (at least ", least, ", not proven). "]


def _own(found: Found, figure: str) -> Parts:
    """Why OPSamp and Top-R are where they are, in numbers of these rows."""
    if figure == ERRORS and found.reached("top_r"):
        last = found.reached("top_r")[-1]
        lead = Cell.of([last], "levels", how=f"{HERE}:lead", form="{:,.0f}")
        start = f"Top-R at epsilon {last['epsilon']:g}: the best would have to lead the tenth by "
        return [start, lead, " errors to be drawn about as often as all others. "]
    if figure == LOGISTIC and found.reached("opsamp"):
        last = found.reached("opsamp")[-1]
        scale = Cell.of([last], "levels", how=f"{HERE}:output_scale", form="{:.2g}")
        enough = Cell.of([last], "levels", how=f"{HERE}:records_needed", scale=1e-6, form="{:,.0f}")
        start = f"OPSamp at epsilon {last['epsilon']:g}: Laplace noise of scale "
        return [start, scale, "; for an accuracy bound below that of w = 0 it takes about ", enough,
                " million records. "]  # fmt: skip
    return []


def _not_reached(found: Found, figure: str) -> Parts:
    """A sentence for every mechanism with points that are missing; in brackets draws before."""
    told: Parts = []
    for name, curve in found.curves(figure).items():
        by_reason: dict[str, list[str]] = {}
        for record in found.lost(name):
            done = f" ({record['done']})" if "processor_seconds" in record else ""
            by_reason.setdefault(record["reason"], []).append(f"{record['epsilon']:g}{done}")
        if by_reason:
            reasons = "; ".join(f"{why} at {', '.join(at)}" for why, at in by_reason.items())
            told.append(f"Not reached, {curve.label}: {reasons}. ")
    return told


# -- numbers -----------------------------------------------------------------------------------


def lead(records: Sequence[Record], field: str) -> float:
    """Errors by which a card must lead to outweigh 3^levels others under replace."""
    (record,) = records
    return float(2 * record[field] * math.log(3) / record["epsilon"])


def output_scale(records: Sequence[Record], field: str) -> float:
    """Of OPSamp's Laplace noise."""
    (record,) = records
    geometry, common = _opsamp(record, field)
    found: Calibration = calibrate(geometry, **common, calls=CALLS, scale=None)
    return found.output_scale


def records_needed(records: Sequence[Record], field: str) -> float:
    """By OPSamp's accuracy bound, as its release states it."""
    (record,) = records
    geometry, common = _opsamp(record, field)
    return float(needed(geometry, **common, baseline=math.log(2))[0])


def _opsamp(record: Record, field: str) -> tuple[Geometry, dict[str, Any]]:
    """What ``method="opsamp"`` is calibrated with, all of it public: levels and an intercept."""
    d, n = record[field] + 1, record["rows"]
    geometry = Geometry(
        sides=np.full(d, 2 * RADIUS),
        diameter=2 * RADIUS,
        oscillation=2 * RADIUS,
        gap=max(1e-6, 100 * RADIUS * n * (n + d) * 2.0**-53),
    )
    common = {"epsilon": record["epsilon"], "delta": record["delta"], "size": n, "lipschitz": 1.0}
    return geometry, {**common, "perturbation": Perturbation.EXPONENTIAL}
