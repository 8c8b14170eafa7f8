"""Losses in which every client pays the least cost among the chosen sites.

    L(w) = sum_j opening_j w_j + sum_i count_i min(fallback_i, min over j with w_j = 1 of cost_ij)

Facility location, p-median, and maximum coverage (costs 0 and 1, fallback 1). For any duals with
``dual_i <= fallback_i``,

    g(w) = sum_i count_i dual_i + sum_j w_j (opening_j + sum_i count_i min(0, cost_ij - dual_i))

is nowhere above L: a client with no chosen site cheaper than its dual pays at least the dual, and
with one the cheapest alone brings the sum down to its cost (Lagrangian duality of the assignment
rows). It is evaluated in integers, so any duals will do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from oracles.errors import ProblemError
from oracles.selection._facility import (
    crossing_duals,
    facility_duals,
    facility_slopes,
    least_costs,
    open_clients,
)
from oracles.selection._kernels import soft_means
from oracles.selection.base import BaseSet, IntArray
from oracles.selection.envelope import FloatArray, Minorant

ROOT_STEPS, ROOT_RATE, ROOT_END = 400, 0.3, 0.003
NODE_STEPS, NODE_RATE, NODE_END = 12, 0.15, 0.01
"""Steps of the dual ascent, the first one's size and the last one's, as a part of what a client's
dual is above its nearest site when every site is equally likely."""

MEMORY = 0.7
"""Weight of the past in the running mean that steps follow."""

MAX_BITS = 61
"""Magnitudes stay below 2^61, so that 64-bit sums of a few of them do."""

FINE = 20
"""Binary digits of duals behind the point, where there is room."""


@dataclass(frozen=True, eq=False)
class FacilityLoss:
    """The loss over a base set of binary vectors.

    Args:
        base: Which sets of sites may be chosen; binary.
        costs: Integers, shape ``(clients, sites)``.
        counts: Clients of every row, integers, not negative. Default 1 each.
        fallback: Integers, what a client pays at most; default the greatest cost, which needs at
            least one site to be chosen always.
        opening: Integer cost of every site. Default 0.

    Raises:
        ProblemError: Something has another shape or type, or numbers are too large.
    """

    base: BaseSet
    costs: IntArray
    counts: IntArray
    fallback: IntArray
    opening: IntArray
    shift: int
    starts: IntArray
    sites: IntArray
    sorted: IntArray

    def __init__(
        self,
        base: BaseSet,
        costs: ArrayLike,
        counts: ArrayLike | None = None,
        *,
        fallback: ArrayLike | None = None,
        opening: ArrayLike | None = None,
    ) -> None:
        table = _integers("costs", costs, 2)
        clients, sites = table.shape
        number = np.ones(clients, np.int64) if counts is None else _integers("counts", counts, 1)
        cost = (
            np.zeros(sites, np.int64) if opening is None else _integers("opening", opening, 1, 60)
        )
        if sites != base.n_variables or len(cost) != sites or len(number) != clients:
            raise ProblemError("costs: one column per variable and one row per count expected")
        if (base.lower < 0).any() or (base.upper > 1).any():
            raise ProblemError("base: binary variables expected")
        if (number < 0).any():
            raise ProblemError("counts: must not be negative")
        highest = table.max(axis=1, initial=0)
        if fallback is not None:
            most = np.minimum(_integers("fallback", fallback, 1), highest)
        elif base.contains(np.zeros(sites, np.int64)):
            raise ProblemError("fallback: needed, since a choice of no site is allowed")
        else:
            most = highest
        total = float(
            number.astype(float) @ np.abs(table).max(axis=1, initial=0) + np.abs(cost).sum()
        )
        # Times the number of sites: sums of slopes over all of them fit too.
        room = MAX_BITS - max(1, int(total) * sites).bit_length()
        if room < 0:
            raise ProblemError(
                "costs: the total cost times the number of sites must stay below 2^60; use "
                "coarser units"
            )
        # Sites that cost no less than the fallback never matter.
        ordered = np.argsort(table, axis=1, kind="stable")
        by_cost = np.take_along_axis(table, ordered, axis=1)
        useful = by_cost < most[:, None]
        begins = np.concatenate([[0], np.cumsum(useful.sum(axis=1))])
        for name, value in (
            ("base", base), ("costs", table), ("counts", number), ("fallback", most),
            ("opening", cost), ("shift", min(FINE, room)), ("starts", begins),
            ("sites", ordered[useful]), ("sorted", by_cost[useful]),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    def value(self, point: IntArray) -> int:
        """The loss of a choice of sites."""
        paid = self._paid(point)
        return int(self.counts @ paid) + int(self.opening @ point)

    def _paid(self, point: IntArray) -> IntArray:
        paid = np.empty_like(self.fallback)
        least_costs(self.starts, self.sites, self.sorted, self.fallback, point, paid)
        return paid

    def minorant(
        self, lower: IntArray, upper: IntArray, beta: float, parent: Minorant | None
    ) -> Minorant:
        """A minorant on a box; see :class:`oracles.selection.envelope.SelectionLoss`."""
        base, layout = self.base, self.base.layout
        most = self._paid(lower)
        place_of = np.empty(base.n_variables, np.int64)
        place_of[layout.order] = np.arange(base.n_variables)
        place_of[lower == upper] = -1
        near, rows = np.empty_like(most), np.empty_like(most)
        clients = self.starts, self.sites, self.sorted
        n_rows = open_clients(*clients, self.counts, most, place_of, near, rows)
        low, high = lower[layout.order], upper[layout.order]
        thetas, (least, greatest) = np.zeros(len(base.blocks)), base.sides
        if parent is None:
            even = np.empty(base.n_variables)
            soft_means(
                np.zeros(base.n_variables), low, high, layout.signed, layout.starts, least,
                greatest, thetas, even,
            )  # fmt: skip
            duals = most.astype(np.float64)
            crossing_duals(*clients, most, place_of, rows, n_rows, even, duals)
            steps, rate, end = ROOT_STEPS, ROOT_RATE, ROOT_END
            span = np.maximum(duals - near, 1e-3)
        else:
            assert isinstance(parent, _Minorant)
            duals, span = np.clip(parent.duals.astype(np.float64), near, most), parent.span
            steps, rate, end = NODE_STEPS, NODE_RATE, NODE_END
        means = facility_duals(
            *clients, self.counts, most, near, rows, n_rows, place_of,
            self.opening[layout.order].astype(np.float64), beta, low, high, layout.signed,
            layout.starts, least, greatest, thetas, duals, span, steps, rate,
            (end / rate) ** (1 / steps), MEMORY,
        )  # fmt: skip
        exact = np.minimum(np.rint(duals * 2.0**self.shift).astype(np.int64), most << self.shift)
        slopes = self.opening << self.shift
        facility_slopes(*clients, self.counts, rows, n_rows, place_of, exact, self.shift, slopes)
        paid = most << self.shift
        paid[rows[:n_rows]] = exact[rows[:n_rows]]
        where = np.empty(base.n_variables)
        where[layout.order] = means
        # A partition keeps these for every node.
        kept = duals.astype(np.float32)
        return _Minorant(int(self.counts @ paid), slopes, self.shift, kept, where, span)


@dataclass(frozen=True, eq=False)
class _Minorant(Minorant):
    """With the lengths of every client's steps."""

    span: FloatArray


def _integers(name: str, given: ArrayLike, dimensions: int, bits: int = 40) -> IntArray:
    raw = np.asarray(given)
    if raw.ndim != dimensions or raw.dtype.kind not in "iub":
        raise ProblemError(f"{name}: integers with {dimensions} dimensions expected")
    if raw.size and np.abs(raw.astype(np.float64)).max() >= 2.0**bits:
        raise ProblemError(f"{name}: integers below 2^{bits} in size expected")
    return raw.astype(np.int64)
