"""Maximum coverage with private sets: reach as many people as possible."""

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
from oracles.selection.facility import FacilityLoss

TYPICAL_REACH = 0.08


@dataclass(frozen=True, eq=False)
class MaximumCoverage(PrivateProblem):
    """Choose exactly k sites so that as few people as possible are reached by none of them.

    *Sensitivity.* A person adds 0 or 1 to the number of people who are not reached, whichever set
    of sites reaches them: range 1 when a person is added or removed, 2 when one is replaced.

    Args:
        reached: Whether a site reaches a person, 0 or 1, shape ``(people, sites)``. Private.
        k: Number of sites to choose. Public.
        typical_reach: Share of people that a site reaches, about, for plans. Public; never read
            from the data.

    Raises:
        DomainError: ``reached`` is not as described.
        ParameterError: ``k`` or ``typical_reach`` is out of range.
    """

    reached: IntArray
    k: int
    typical_reach: float

    def __init__(self, reached: ArrayLike, k: int, *, typical_reach: float = TYPICAL_REACH) -> None:
        table = within("reached", integer_table("reached", reached, 2), 0, 1)
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= table.shape[1]:
            raise ParameterError(f"k: between 1 and {table.shape[1]} expected, not {k!r}")
        if not 0 < typical_reach < 1:
            raise ParameterError(f"typical_reach: between 0 and 1, not {typical_reach!r}")
        object.__setattr__(self, "reached", table)
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "typical_reach", float(typical_reach))

    @property
    def n_choices(self) -> int:
        """One variable per site."""
        return int(self.reached.shape[1])

    def sensitivity(self, neighbors: Neighbors | str) -> int:
        """As proven above."""
        return doubled(neighbors, 1)

    def value(self, choice: IntArray) -> int:
        """Number of people who are not reached."""
        return self._loss.value(np.asarray(choice, dtype=np.int64))

    def program(self) -> IntegerProgram:
        """``choose_j``, then ``missed_i`` for every distinct set of sites."""
        distinct, counts = 1 - self._loss.costs, self._loss.counts
        people, sites = distinct.shape
        rows = sp.hstack([sp.csr_array(distinct.astype(float)), sp.eye_array(people)])
        size = sp.csr_array(np.concatenate([np.ones(sites), np.zeros(people)])[None])
        return IntegerProgram(
            np.concatenate([np.zeros(sites), counts]),
            sp.vstack([size, rows], format="csr"),
            np.concatenate([[self.k], np.ones(people)]),
            np.concatenate([[self.k], np.full(people, np.inf)]),
            upper=np.ones(sites + people),
            names=[*self.choice_names] + [f"missed_{i}" for i in range(people)],
        )

    def loss(self) -> FacilityLoss:
        """Lagrangian minorants: being missed costs 1, being reached 0."""
        return self._loss

    def synthetic(self, n_records: int, seed: int) -> MaximumCoverage:
        """People reached by random sites, each site by its own chance."""
        generator = np.random.default_rng(seed)
        chances = np.clip(2 * self.typical_reach * generator.random(self.n_choices), 0, 1)
        reached = (generator.random((n_records, self.n_choices)) < chances).astype(np.int64)
        return MaximumCoverage(reached, self.k, typical_reach=self.typical_reach)

    @cached_property
    def _loss(self) -> FacilityLoss:
        rows, which = np.unique(self.reached.astype(np.int8), axis=0, return_inverse=True)
        counts = np.bincount(which.ravel(), minlength=len(rows))
        base = BaseSet.subsets(self.n_choices, exactly=self.k)
        return FacilityLoss(
            base, 1 - rows.astype(np.int64), counts, fallback=np.ones(len(rows), np.int64)
        )
