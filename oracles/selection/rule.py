"""Errors of rules "positive if at least t of the chosen tests are".

A positive record with score s errs iff s < t; and m (t - s) is at most that error for every m with
0 <= m <= 1 / t. A negative one errs iff s >= t; and m (s - t + 1) is at most that error for
0 <= m <= 1 / (S - t + 1), where S is the largest score that a choice can give it. Both hold with
what a node has already chosen taken off t and S, and with m rounded down to a binary fraction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from oracles.errors import ProblemError
from oracles.selection._rule import rule_duals
from oracles.selection.base import BaseSet, IntArray
from oracles.selection.envelope import Minorant

ROOT_STEPS, ROOT_RATE, ROOT_END = 400, 0.3, 0.003
NODE_STEPS, NODE_RATE, NODE_END = 16, 0.1, 0.01
MEMORY = 0.7
SHIFT = 20
"""Binary digits of m behind the point: with 2^40 records, sums stay below 2^62."""


@dataclass(frozen=True, eq=False)
class RuleLoss:
    """Number of errors of a rule that counts positive tests.

    Args:
        base: Which sets of tests may be chosen; binary.
        tests: Outcome of every test on every record, 0 or 1, shape ``(records, tests)``.
        labels: 0 or 1, shape ``(records,)``.
        threshold: t, positive.

    Raises:
        ProblemError: Something has another shape or type.
    """

    base: BaseSet
    rows: IntArray
    positive: IntArray
    negative: IntArray
    threshold: int

    def __init__(
        self, base: BaseSet, tests: ArrayLike, labels: ArrayLike, threshold: int = 1
    ) -> None:
        table, label = np.asarray(tests), np.asarray(labels)
        if table.ndim != 2 or table.shape[1] != base.n_variables or label.shape != table.shape[:1]:
            raise ProblemError("tests: one column per variable, and one label per record, expected")
        if not (np.isin(table, (0, 1)).all() and np.isin(label, (0, 1)).all()):
            raise ProblemError("tests and labels: only 0 and 1 expected")
        if isinstance(threshold, bool) or not isinstance(threshold, int) or threshold < 1:
            raise ProblemError(f"threshold: a positive integer expected, not {threshold!r}")
        rows, which = np.unique(table.astype(np.int8), axis=0, return_inverse=True)
        positive = np.bincount(which.ravel(), label, len(rows)).astype(np.int64)
        total = np.bincount(which.ravel(), minlength=len(rows)).astype(np.int64)
        for name, value in (
            ("base", base), ("rows", rows.astype(np.int64)), ("positive", positive),
            ("negative", total - positive), ("threshold", threshold),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    def value(self, point: IntArray) -> int:
        """The errors of a choice of tests."""
        says = self.rows @ point >= self.threshold
        return int(self.negative[says].sum()) + int(self.positive[~says].sum())

    def minorant(
        self, lower: IntArray, upper: IntArray, beta: float, parent: Minorant | None
    ) -> Minorant:
        """A minorant on a box; see :class:`oracles.selection.envelope.SelectionLoss`."""
        layout, free = self.base.layout, np.flatnonzero(upper > lower)
        fixed = self.rows @ lower
        more = np.minimum(self.rows[:, free].sum(axis=1), self._most_more(lower, upper))
        certain, never = fixed >= self.threshold, fixed + more < self.threshold
        constant = int(self.negative[certain].sum()) + int(self.positive[never].sum())
        open_rows = np.flatnonzero(~certain & ~never)
        needed = self.threshold - fixed[open_rows]
        room = more[open_rows] - needed + 1
        place_of = np.empty(len(lower), np.int64)
        place_of[layout.order] = np.arange(len(lower))
        place_of[lower == upper] = -1
        hits = self.rows[open_rows] * (lower != upper)
        starts = np.concatenate([[0], np.cumsum(hits.sum(axis=1))])
        shares = np.ones(2 * len(self.rows)) if parent is None else parent.duals.astype(np.float64)
        up, down = shares[: len(self.rows)][open_rows], shares[len(self.rows) :][open_rows]
        root = parent is None
        steps, rate, end = (
            (ROOT_STEPS, ROOT_RATE, ROOT_END) if root else (NODE_STEPS, NODE_RATE, NODE_END)
        )
        positive, negative = self.positive[open_rows], self.negative[open_rows]
        means = rule_duals(
            starts, np.nonzero(hits)[1], needed, room, positive, negative, place_of, beta,
            lower[layout.order], upper[layout.order], layout.signed, layout.starts,
            *self.base.sides, np.zeros(len(self.base.blocks)), up, down, steps, rate,
            (end / rate) ** (1 / steps), MEMORY,
        )  # fmt: skip
        shares[: len(self.rows)][open_rows] = up
        shares[len(self.rows) :][open_rows] = down
        pull = positive * _floor(up, needed)
        push = negative * _floor(down, room)
        constant = (constant << SHIFT) + int(pull @ needed) - int(push @ (needed - 1))
        where = np.empty(len(lower))
        where[layout.order] = means
        return Minorant(constant, hits.T @ (push - pull), SHIFT, shares, where)

    def _most_more(self, lower: IntArray, upper: IntArray) -> int:
        """How many more tests a choice in the box can have, by the rows of the base set."""
        tightened = self.base.tightened(lower, upper)
        room = int((upper - lower).sum())
        if tightened is None:
            return room
        for block in self.base.blocks:
            if (
                block.high is not None
                and set(block.coefficients or ()) == {1}
                and len(block.variables) == len(lower)
            ):
                room = min(room, block.high - int(lower.sum()))
        return max(0, room)


def _floor(shares: np.ndarray, divisor: IntArray) -> IntArray:
    """``shares / divisor`` as integers of ``SHIFT`` binary digits, never above ``1 / divisor``."""
    whole = np.rint(np.clip(shares, 0.0, 1.0) * 2.0**SHIFT).astype(np.int64)
    return np.asarray(np.minimum(whole, 1 << SHIFT) // divisor, dtype=np.int64)
