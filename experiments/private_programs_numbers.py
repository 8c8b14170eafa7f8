"""Which records :mod:`experiments.private_programs_page` compares, and their excess."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.framework import Record
from experiments.framework.cells import half_width

EXCESS, HALF_WIDTH = f"{__name__}:excess", f"{__name__}:half_width_of_excess"
MECHANISMS = ("counts", "exponential", "opdisc", "top_r")
SECONDS = 30.0
"""For the optimum without privacy."""

Case = tuple[str, int]


def excess(records: Sequence[Record], field: str) -> float:
    """Mean of the first record's losses beyond the least of all records', as a share of it."""
    least = _least(records, field)
    return (float(np.mean(records[0][field])) - least) / max(1.0, abs(least))


def half_width_of_excess(records: Sequence[Record], field: str) -> float:
    """Half the 95% interval of the first record's mean, as a share of the least of all."""
    return half_width(records[:1], field) / max(1.0, abs(_least(records, field)))


def _least(records: Sequence[Record], field: str) -> float:
    return float(min(loss for record in records for loss in record[field]))


def cases(records: Sequence[Record]) -> dict[Case, list[Record]]:
    """The records of every instance and size."""
    found: dict[Case, list[Record]] = {}
    for record in records:
        config = record["config"]
        found.setdefault((config["instance"], config["records"]), []).append(record)
    return found


def with_losses(one: Record, own: Sequence[Record]) -> list[Record]:
    """A record first, then the others that the least known loss is taken from."""
    return [one, *(r for r in own if r is not one and r.get("losses"))]


def of(own: Sequence[Record], mechanism: str, epsilon: float | None) -> Record | None:
    """The record of a mechanism at an epsilon, if there is one."""
    wanted = {"mechanism": mechanism, "epsilon": epsilon}
    return next((r for r in own if wanted.items() <= r["config"].items()), None)


def epsilons(own: Sequence[Record]) -> list[float]:
    """All that occur, the largest first."""
    found = {r["config"]["epsilon"] for r in own} - {None}
    return sorted(found, reverse=True)
