"""What the page shows of :mod:`experiments.second_order_time`."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.framework import Record, Section


def page(records: Sequence[Record]) -> Sequence[Section]:
    """Tables and figures of the paper, from our records."""
    return []
