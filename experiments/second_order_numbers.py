"""Which records :mod:`experiments.second_order_page` compares, and their ratios."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.framework import Record

NAMES = {
    "synthetic": "synthetic",
    "adult": "Adult",
    "a1a_standardised": "a1a, standardised",
    "covertype_sample": "Covertype, 20,000 rows",
    "protein": "protein, standardised",
    "fashion_mnist": "Fashion-MNIST, 0 and 3",
}
PAPER = "Ganesh, Haghifam, Steinke, Thakurta (2023), Table 1"
COVERTYPE = ("24.19", "19.85", "35.70", "36.20")
"""The paper's ratios on the whole Covertype, at epsilon 0.01, 0.1, 1, 10."""
ORACLE = "DP-GD-Oracle (not private)"
EXACT_STEP = "damped Newton, exact step (not private)"
TRADED = (
    "DP-GD", "Hess-clip", "QU-add", "preconditioned", "damped Newton", EXACT_STEP,
    "approximate minima", "Gaussian objective", "classical objective, delta 0",
)  # fmt: skip


def ladder(bounds: Sequence[int] | None, factor: int) -> list[int | None]:
    """T from the least to the largest, each a multiple of the one before; None for no T."""
    if bounds is None:
        return [None]
    least, largest = bounds
    found: list[int | None] = []
    while least <= largest:
        found.append(least)
        least *= factor
    return found


def ratio(records: Sequence[Record], field: str) -> float:
    """The least value of the first record over the least of the second."""
    first, second = records
    return float(min(first[field]) / min(second[field]))


def short_ratio(records: Sequence[Record], field: str) -> float:
    """The same to two digits: it is of the least of two or three times each."""
    return float(f"{ratio(records, field):.2g}")


def best(records: Sequence[Record], method: str) -> Record | None:
    """The record with the least mean excess over all T; None if the method was not run."""
    own = where(records, method=method)
    return min(own, key=mean, default=None)


def equals(records: Sequence[Record], ours: str) -> tuple[Record, Record]:
    """The fastest run of DP-GD and of ours whose excess is at most one that both reach.

    That is the larger of the two least mean excesses.
    """
    names = ("DP-GD", ours)
    target = max(min(mean(r) for r in where(records, method=name)) for name in names)
    first, second = (
        min(
            (r for r in where(records, method=name) if mean(r) <= target),
            key=lambda r: float(min(r["processor_seconds"])),
        )
        for name in names
    )
    return first, second


def slower(records: Sequence[Record], ours: str) -> Record:
    """The best of DP-GD or of ours, whichever has the larger excess: what both reach."""
    return max((r for name in ("DP-GD", ours) if (r := best(records, name))), key=mean)


def at_end(record: Record) -> bool:
    """Whether its T is the first or the last of its grid."""
    steps = ladder(record["config"]["grid"][record["method"]], record["config"]["factor"])
    return record["steps"] is not None and record["steps"] in (steps[0], steps[-1])


def mean(record: Record) -> float:
    """Mean excess of its seeds."""
    return float(np.mean(record["excess"]))


def sets_of(records: Sequence[Record]) -> list[str]:
    """The data sets that have records, in the page's order."""
    found = {r["config"]["data"] for r in records}
    return [name for name in NAMES if name in found]


def where(records: Sequence[Record], method: str | None = None, **config: Any) -> list[Record]:
    """Records of a method whose config has these entries."""
    return [
        r for r in records
        if method in (None, r["method"]) and config.items() <= r["config"].items()
    ]  # fmt: skip
