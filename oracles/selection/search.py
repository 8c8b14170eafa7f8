"""Minima over base sets, proven in integers: best-first branch and bound with minorants.

A node's bound is the least value of its minorant over the base set's members in the node, by a
dynamic program in integers; as losses are integers it is rounded up. A node whose bound is not
below the best loss found is dropped. What is left at the end is the minimum: no float takes part
in a comparison, they only choose duals and branches.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from dataclasses import dataclass

import numpy as np

from oracles.oracle import UNLIMITED, Limits
from oracles.selection._least import NONE, least_of_block
from oracles.selection._places import Places
from oracles.selection.base import BaseSet, IntArray
from oracles.selection.envelope import Minorant, SelectionLoss, widest
from oracles.solution import Certificate, Solution, Status

NAME = "native search over base sets"

SHARP = 1e4
"""Nats of an arbitrary member's loss: duals are then almost those of a minimum's relaxation."""


def minimize_loss(loss: SelectionLoss, *, limits: Limits = UNLIMITED) -> Solution[IntArray]:
    """The least loss over a base set.

    Args:
        loss: Defined on every member of the base set.
        limits: Seconds and nodes.

    Returns:
        The minimiser, with certificate ``EXACT`` if the search was completed.
    """
    base = loss.base
    deadline = math.inf if limits.seconds is None else time.monotonic() + limits.seconds
    best, least = base.point_at(0), _value(loss, base.point_at(0))
    beta = SHARP / max(1, abs(least))
    serial, opened = itertools.count(), 0
    queue: list[tuple[int, int, IntArray, IntArray, Minorant | None]] = []
    heapq.heappush(queue, (-NONE, next(serial), base.lower, base.upper, None))
    while queue and queue[0][0] < least:
        if time.monotonic() >= deadline or (limits.nodes is not None and opened >= limits.nodes):
            none = Certificate.NONE
            return Solution(Status.STOPPED, best, least, queue[0][0], none, NAME)
        opened += 1
        _, _, lower, upper, parent = heapq.heappop(queue)
        box = base.tightened(lower, upper)
        minorant = None if box is None else loss.minorant(*box, beta, parent)
        if box is None or minorant is None:
            continue
        found = least_member(base, minorant, *box)
        if found is None:
            continue
        value = _value(loss, found.point)
        if value < least:
            best, least = found.point, value
        if found.bound >= least or (box[0] == box[1]).all():
            continue
        lower, upper = box
        j = widest(lower, upper, minorant.means)
        cut = min(max(math.floor(minorant.means[j]), int(lower[j])), int(upper[j]) - 1)
        below, above = upper.copy(), lower.copy()
        below[j], above[j] = cut, cut + 1
        heapq.heappush(queue, (found.bound, next(serial), lower, below, minorant))
        heapq.heappush(queue, (found.bound, next(serial), above, upper, minorant))
    return Solution(Status.OPTIMAL, best, least, least, Certificate.EXACT, NAME)


@dataclass(frozen=True, eq=False)
class Least:
    """The member with the least minorant, and what that proves.

    Attributes:
        bound: No member of the box has a smaller loss.
        point: The member.
    """

    bound: int
    point: IntArray


def least_member(
    base: BaseSet, minorant: Minorant, lower: IntArray, upper: IntArray
) -> Least | None:
    """Minimise a minorant over the base set's members in a box; None if there are none."""
    layout = base.layout
    places = Places.of(layout, lower, upper)
    costs = minorant.slopes[layout.order][places.place] * places.value
    chosen, total = np.zeros(len(lower), np.int64), minorant.constant
    for block in range(len(base.blocks)):
        first, end = int(layout.starts[block]), int(layout.starts[block + 1])
        own, offsets = places.of_block(first, end)
        table = np.empty((end - first + 1, int(layout.most[block]) + 1), np.int64)
        least = least_of_block(
            costs[own], offsets, places.moves[own], int(layout.least[block]), table,
            chosen[first:end],
        )  # fmt: skip
        if least == NONE:
            return None
        total += int(least)
    point = lower.copy()
    point[layout.order] += chosen
    return Least(-((-total) >> minorant.shift), point)


def _value(loss: SelectionLoss, point: IntArray) -> int:
    value = loss.value(point)
    assert value is not None, "the loss is defined on every member"
    return value
