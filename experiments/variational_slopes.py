"""Slopes of :mod:`experiments.variational_rates`: functions that the page's cells name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import linregress, t

from experiments.framework import Record
from experiments.framework.cells import values

SATURATED = 0.8
"""A mean gap above that share of the starting point's is left out of the slope."""


def by_size(records: Sequence[Record]) -> dict[int, list[Record]]:
    """The records of every n, which ascends."""
    sizes = sorted({r["config"]["n"] for r in records})
    return {n: [r for r in records if r["config"]["n"] == n] for n in sizes}


def unsaturated(records: Sequence[Record]) -> list[Record]:
    """Without the sizes at which the method has hardly moved."""
    return [
        record
        for own in by_size(records).values()
        if values(own, "gap").mean() <= SATURATED * own[0]["start_gap"]
        for record in own
    ]


def slope(records: Sequence[Record], field: str) -> float:
    """Of log field against log n, by least squares over all runs that are not saturated."""
    return _fit(records, field)[0]


def slope_half_width(records: Sequence[Record], field: str) -> float:
    """Half the slope's 95% interval."""
    return _fit(records, field)[1]


def _fit(records: Sequence[Record], field: str) -> tuple[float, float]:
    used = unsaturated(records)
    n = np.array([record["config"]["n"] for record in used], dtype=float)
    fit = linregress(np.log(n), np.log(np.maximum(values(used, field), 1e-12)))
    return float(fit.slope), float(t.ppf(0.975, len(used) - 2) * fit.stderr)


def exponent(records: Sequence[Record], field: str) -> float:
    """Slope of the log of the field's mean against log n, over all sizes."""
    means = {n: values(own, field).mean() for n, own in by_size(records).items()}
    return float(linregress(np.log(list(means)), np.log(list(means.values()))).slope)


def share_of_bound(records: Sequence[Record], field: str) -> float:
    """The largest gap, as a share of the bound that its plan was made from."""
    return float((values(records, field) / values(records, "gap_bound")).max())
