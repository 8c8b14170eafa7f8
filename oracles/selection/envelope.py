"""Minorants of a loss on a box, and the sums of their exponentials: masses to reject from.

A node of a partition is a box within a base set. On it a loss L has a modular minorant g, in exact
integers, and ``sum over the node of exp(-beta (g(w) - reference))`` is a dynamic program. The
program runs in floats, with margins that keep its results above the real sums
(docs/theory/private_programs.md, Lemma 3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from oracles.selection._kernels import fill_table, soft_means
from oracles.selection._places import Places
from oracles.selection.base import BaseSet, IntArray

FloatArray = NDArray[np.float64]

CLAMP = 200.0
"""Nats below the best value of a variable at which a weight is raised: masses stay of a size that
exact arithmetic handles well, and exp(-200) of mass costs nothing."""

STEP_MARGIN = 1e-9
"""Nats added at every place of a table: more than its rounding and that of reading it exactly."""

ULP = 2.0**-52


@dataclass(frozen=True, eq=False)
class Minorant:
    """A linear function nowhere above a loss on a node: ``(constant + slopes @ w) / 2**shift``.

    Attributes:
        constant: Exact.
        slopes: Exact, shape ``(n,)``.
        shift: Binary digits behind the point.
        duals: What made it, for the node's children to begin from.
        means: About the mean of w under ``exp(-beta g)``, shape ``(n,)``: where to branch.
    """

    constant: int
    slopes: IntArray
    shift: int
    duals: NDArray[np.floating]
    means: FloatArray

    def at(self, point: IntArray) -> Fraction:
        """The value at a point, exactly."""
        total = sum(int(s) * int(x) for s, x in zip(self.slopes, point, strict=True) if x)
        return Fraction(self.constant + total, 1 << self.shift)


class SelectionLoss(Protocol):
    """An integer loss over a base set, or over a part of it."""

    @property
    def base(self) -> BaseSet:
        """The set that is counted and summed over."""
        ...

    def value(self, point: IntArray) -> int | None:
        """The loss of a member of the base set; None where it is not a member of the part."""
        ...

    def minorant(
        self, lower: IntArray, upper: IntArray, beta: float, parent: Minorant | None
    ) -> Minorant | None:
        """A good minorant on a box for sums of ``exp(-beta g)``; None if the box is empty."""
        ...


@dataclass(frozen=True, eq=False)
class Envelope:
    """The exponential of a minorant on a node, ready to be summed and walked.

    Attributes:
        minorant: The function g.
        lower: The node's bounds, shape ``(n,)``.
        upper: Likewise.
        log_mass: At least the logarithm of the node's sum of ``exp(-beta (g - reference))``;
            ``-inf`` for an empty node.
        weights: Log-weights, at most 0, of every value of every place, one after another.
        offsets: Where each place's values begin.
        moves: What each value adds to its block's sum.
        last: For every block the log-weights of its final sums, at most 0.
        tables: For every block the log-sums from :func:`fill_table`.
    """

    minorant: Minorant
    lower: IntArray
    upper: IntArray
    log_mass: float
    weights: FloatArray
    offsets: IntArray
    moves: IntArray
    last: tuple[FloatArray, ...]
    tables: tuple[FloatArray, ...]

    @classmethod
    def of(
        cls,
        base: BaseSet,
        minorant: Minorant,
        lower: IntArray,
        upper: IntArray,
        *,
        beta: Fraction,
        reference: int,
    ) -> Envelope:
        """Sum over a node.

        Args:
            base: The base set.
            minorant: A linear function.
            lower: Bounds within the base set's.
            upper: Likewise.
            beta: Nats per unit of loss.
            reference: A loss whose exponential counts as mass 1.
        """
        layout = base.layout
        places = Places.of(layout, lower, upper)
        unit = float(-beta / (1 << minorant.shift))
        slopes = unit * minorant.slopes[layout.order].astype(np.float64)
        thetas = _multipliers(base, places, slopes)
        block = np.repeat(np.arange(len(base.blocks)), np.diff(layout.starts))
        # A multiplier acts on the variables; moves count a falling sum of them from above.
        pull = thetas[block[places.place]] * places.moves
        push = slopes[places.place] * places.value
        weights = push - pull
        if len(weights):
            best = np.maximum.reduceat(weights, places.offsets[:-1])
            weights = np.maximum(weights - best[places.place], -CLAMP)
        else:
            best = weights
        start = float(-beta * (Fraction(minorant.constant, 1 << minorant.shift) - reference))
        log_mass = start + float(best.sum())
        size = abs(start) + float(np.abs(push).sum() + np.abs(pull).sum())
        last, tables = [], []
        for b, theta in enumerate(thetas):
            top, ends, final = _last_entries(theta, int(layout.least[b]), int(layout.most[b]))
            first, end = int(layout.starts[b]), int(layout.starts[b + 1])
            own, offsets = places.of_block(first, end)
            table = np.empty((end - first + 1, len(final)))
            log_mass += top + fill_table(
                weights[own], offsets, places.moves[own], int(layout.least[b]), final, STEP_MARGIN,
                table,
            )  # fmt: skip
            size += abs(top) + ends
            last.append(final)
            tables.append(table)
        log_mass += STEP_MARGIN + (len(lower) + 16) * ULP * size
        return cls(
            minorant, lower, upper, log_mass, weights, places.offsets, places.moves, tuple(last),
            tuple(tables),
        )  # fmt: skip


def _multipliers(base: BaseSet, places: Places, slopes: FloatArray) -> FloatArray:
    """One for the row of every block. Any will do; these make what matters comparable."""
    thetas, layout = np.zeros(len(base.blocks)), base.layout
    soft_means(
        slopes, places.low, places.high, layout.signed, layout.starts, *base.sides, thetas,
        np.empty(len(slopes)),
    )  # fmt: skip
    return thetas


def _last_entries(theta: float, least: int, most: int) -> tuple[float, float, FloatArray]:
    """The greatest multiple of an allowed sum, the largest in size, and the entries below it."""
    ends = theta * np.arange(most + 1)
    top = float(ends[least:].max())
    return top, float(np.abs(ends).max()), np.minimum(np.maximum(ends - top, -CLAMP), 0.0)


def widest(lower: IntArray, upper: IntArray, means: FloatArray) -> int:
    """The variable to branch on: that with the most undecided mean, None decided.

    Args:
        lower: The node's bounds, not all equal to ``upper``.
        upper: Likewise.
        means: About the variables' means.
    """
    room = np.minimum(means - lower, upper - means)
    return int(np.argmax(np.where(upper > lower, np.maximum(room, 0.0) + 1e-12, -math.inf)))
