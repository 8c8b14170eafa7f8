"""Best-subset scoring: which tests to combine into "positive if at least t of them are"."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from oracle_dp.errors import ParameterError
from oracle_dp.privacy import Neighbors
from oracle_dp.problems.base import PrivateProblem, doubled, integer_table, within
from oracles import IntegerProgram
from oracles.selection.base import BaseSet, IntArray
from oracles.selection.rule import RuleLoss


@dataclass(frozen=True, eq=False)
class BestSubset(PrivateProblem):
    """Choose exactly k tests; predict positive if at least t of them are; count the errors.

    *Sensitivity.* A record is right or wrong under every choice: its loss is 0 or 1, a range of 1
    when it is added or removed, and of 2 when it is replaced.

    Args:
        outcomes: Of every test on every record, 0 or 1, shape ``(records, tests)``. Private.
        labels: 0 or 1, shape ``(records,)``. Private.
        k: Number of tests to choose. Public.
        threshold: t, from 1 to k. Public.

    Raises:
        DomainError: Outcomes or labels are not as described.
        ParameterError: ``k`` or ``threshold`` is out of range.
    """

    outcomes: IntArray
    labels: IntArray
    k: int
    threshold: int

    def __init__(
        self, outcomes: ArrayLike, labels: ArrayLike, k: int, *, threshold: int = 1
    ) -> None:
        table = within("outcomes", integer_table("outcomes", outcomes, 2), 0, 1)
        label = within("labels", integer_table("labels", labels, 1), 0, 1)
        if len(label) != len(table):
            raise ParameterError("labels: one per record expected")
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= table.shape[1]:
            raise ParameterError(f"k: between 1 and {table.shape[1]} expected, not {k!r}")
        if not isinstance(threshold, int) or not 1 <= threshold <= k:
            raise ParameterError(f"threshold: between 1 and {k} expected, not {threshold!r}")
        for name, value in (
            ("outcomes", table), ("labels", label), ("k", k), ("threshold", threshold)
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    @property
    def n_choices(self) -> int:
        """One variable per test."""
        return int(self.outcomes.shape[1])

    def sensitivity(self, neighbors: Neighbors | str) -> int:
        """As proven above."""
        return doubled(neighbors, 1)

    def value(self, choice: IntArray) -> int:
        """Number of errors."""
        return self._loss.value(np.asarray(choice, dtype=np.int64))

    def program(self) -> IntegerProgram:
        """``choose_j``, then ``error_i`` for every record."""
        records, tests = self.outcomes.shape
        sign = np.where(self.labels == 1, 1.0, -1.0)
        # Positive: score >= t (1 - error). Negative: score <= t - 1 + (k - t + 1) error.
        slack = np.where(self.labels == 1, self.threshold, self.k - self.threshold + 1)
        scores = sp.csr_array(self.outcomes * sign[:, None])
        rows = sp.hstack([scores, sp.diags_array(slack.astype(float))])
        size = sp.csr_array(np.concatenate([np.ones(tests), np.zeros(records)])[None])
        low = np.where(self.labels == 1, self.threshold, 1 - self.threshold).astype(float)
        return IntegerProgram(
            np.concatenate([np.zeros(tests), np.ones(records)]),
            sp.vstack([size, rows], format="csr"),
            np.concatenate([[self.k], low]),
            np.concatenate([[self.k], np.full(records, np.inf)]),
            upper=np.ones(tests + records),
            names=[*self.choice_names] + [f"error_{i}" for i in range(records)],
        )

    def loss(self) -> RuleLoss:
        """Linear minorants of every record's error."""
        return self._loss

    def synthetic(self, n_records: int, seed: int) -> BestSubset:
        """Labels from k random tests, outcomes and labels with noise."""
        generator = np.random.default_rng(seed)
        tests = (generator.random((n_records, self.n_choices)) < 0.3).astype(np.int64)
        true = generator.permutation(self.n_choices)[: self.k]
        labels = (tests[:, true].sum(axis=1) >= self.threshold).astype(np.int64)
        labels ^= (generator.random(n_records) < 0.2).astype(np.int64)
        return BestSubset(tests, labels, self.k, threshold=self.threshold)

    @cached_property
    def _loss(self) -> RuleLoss:
        base = BaseSet.subsets(self.n_choices, exactly=self.k)
        return RuleLoss(base, self.outcomes, self.labels, self.threshold)
