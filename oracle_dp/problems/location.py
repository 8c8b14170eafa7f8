"""p-median and facility location with private customers at public places."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from oracle_dp.errors import ParameterError
from oracle_dp.privacy import Neighbors
from oracle_dp.problems.base import PrivateProblem, doubled, integer_table, within
from oracles import Highs, IntegerProgram, Limits, Oracle
from oracles.selection.base import BaseSet, Block, IntArray
from oracles.selection.facility import FacilityLoss
from oracles.selection.local import good_sites, with_counts

MOST_COUNT = 2**32


@dataclass(frozen=True, eq=False)
class _Location(PrivateProblem):
    """Customers at public places who go to the nearest open site."""

    costs: IntArray
    counts: IntArray

    @property
    def n_choices(self) -> int:
        """One variable per site."""
        return int(self.costs.shape[1])

    @property
    def choice_names(self) -> tuple[str, ...]:
        """``open_j``."""
        return tuple(f"open_{j}" for j in range(self.n_choices))

    def value(self, choice: IntArray) -> int:
        """Total cost of the customers and of the sites."""
        return self._loss.value(np.asarray(choice, dtype=np.int64))

    def loss(self) -> FacilityLoss:
        """Lagrangian minorants of the assignment."""
        return self._loss

    @cached_property
    def _loss(self) -> FacilityLoss:
        raise NotImplementedError

    def l1_sensitivity(self, neighbors: Neighbors) -> int:
        """A customer is counted at one place."""
        return 2 if neighbors is Neighbors.REPLACE else 1

    def _assignment(self, opening: IntArray, row: tuple[float, float]) -> IntegerProgram:
        """Sites first, then one binary per place and site: a place is assigned to an open site."""
        places, sites = self.costs.shape
        pairs = places * sites
        n = sites + pairs
        pair, place = np.arange(pairs), np.repeat(np.arange(places), sites)
        site = np.tile(np.arange(sites), places)
        once = sp.csr_array((np.ones(pairs), (place, sites + pair)), shape=(places, n))
        link = sp.csr_array(
            (
                np.concatenate([np.ones(pairs), -np.ones(pairs)]),
                (np.concatenate([pair, pair]), np.concatenate([sites + pair, site])),
            ),
            shape=(pairs, n),
        )
        number = sp.csr_array((np.ones(sites), (np.zeros(sites, int), np.arange(sites))), (1, n))
        low, high = row
        return IntegerProgram(
            # In floats: a product beyond 2^53 is refused by its size, where integers wrap around.
            np.concatenate([opening, (self.counts[:, None] * self.costs.astype(float)).ravel()]),
            sp.vstack([number, once, link], format="csr"),
            np.concatenate([[low], np.ones(places), np.full(pairs, -np.inf)]),
            np.concatenate([[high], np.ones(places), np.zeros(pairs)]),
            upper=np.ones(n),
            names=[*self.choice_names]
            + [f"serve_{i}_{j}" for i in range(places) for j in range(sites)],
        )


@dataclass(frozen=True, eq=False)
class PMedian(_Location):
    """Open exactly p sites; every customer pays the cost to the nearest open one.

    *Sensitivity.* A customer at place i pays d_i(w), the least cost among the open sites. With
    exactly p open that is at least the least cost c_i and at most the p-th largest one, when the p
    most expensive sites are open: a range R_i, over all choices. Adding or removing a customer
    changes a difference of two losses by at most max R_i. Replacing one at i by one at k changes it
    by the range of d_i - d_k. That is at most R_i + R_k; and, since a minimum moves by no more than
    its arguments do, at most 2 max_j abs(cost_ij - cost_kj). The maximum runs over all public
    places, with customers or without.

    Args:
        costs: From every public place to every site, integers from 0, shape ``(places, sites)``.
            Public.
        counts: Customers at every place, integers from 0, shape ``(places,)``. Private.
        p: Number of sites to open. Public.

    Raises:
        DomainError: Costs or counts are not as described.
        ParameterError: ``p`` is not between 1 and the number of sites.
    """

    p: int

    def __init__(self, costs: ArrayLike, counts: ArrayLike, p: int) -> None:
        table = within("costs", integer_table("costs", costs, 2), 0, MOST_COUNT)
        number = within("counts", integer_table("counts", counts, 1), 0, MOST_COUNT)
        _check_shape(table, number)
        if isinstance(p, bool) or not isinstance(p, int) or not 1 <= p <= table.shape[1]:
            raise ParameterError(f"p: between 1 and {table.shape[1]} expected, not {p!r}")
        object.__setattr__(self, "costs", table)
        object.__setattr__(self, "counts", number)
        object.__setattr__(self, "p", p)

    def sensitivity(self, neighbors: Neighbors | str) -> int:
        """As proven above."""
        ranges = self._farthest - self.costs.min(axis=1)
        single = int(ranges.max())
        both = doubled(neighbors, single)
        if Neighbors.parse(neighbors) is not Neighbors.REPLACE:
            return both
        apart = np.array([np.abs(self.costs - row).max(axis=1) for row in self.costs])
        pairs = np.minimum(2 * apart, ranges[:, None] + ranges)
        return max(1, int(pairs.max()))

    def program(self) -> IntegerProgram:
        """``open_j``, then ``serve_i_j``."""
        nothing = np.zeros(self.n_choices, np.int64)
        return self._assignment(nothing, (float(self.p), float(self.p)))

    def histogram(self) -> PMedian:
        """Customers per place."""
        return self

    def answer(self, counts: IntArray, limits: Limits) -> IntArray:
        """A local optimum for noisy counts; ``limits`` are not needed."""
        return good_sites(with_counts(self._loss, counts), self.p)

    def synthetic(self, n_records: int, seed: int) -> PMedian:
        """Customers at uneven random places."""
        return PMedian(self.costs, _uneven(n_records, len(self.costs), seed), self.p)

    @cached_property
    def _farthest(self) -> IntArray:
        return np.asarray(np.sort(self.costs, axis=1)[:, -self.p], dtype=np.int64)

    @cached_property
    def _loss(self) -> FacilityLoss:
        base = BaseSet.subsets(self.n_choices, exactly=self.p)
        return FacilityLoss(base, self.costs, self.counts, fallback=self._farthest)


@dataclass(frozen=True, eq=False)
class FacilityLocation(_Location):
    """Open at least one site at its public price; customers pay the cost to the nearest one.

    *Sensitivity.* A customer at place i pays between the least and the greatest of its costs: a
    range R_i. Prices are public and cancel. So the range sensitivity is max R_i where a customer is
    added or removed, and twice that where one is replaced, over all public places.

    Args:
        costs: From every public place to every site, integers from 0. Public.
        counts: Customers at every place, integers from 0. Private.
        opening: Price of every site, integers from 0. Public.

    Raises:
        DomainError: Something is not as described.
    """

    opening: IntArray

    def __init__(self, costs: ArrayLike, counts: ArrayLike, opening: ArrayLike) -> None:
        table = within("costs", integer_table("costs", costs, 2), 0, MOST_COUNT)
        number = within("counts", integer_table("counts", counts, 1), 0, MOST_COUNT)
        price = within("opening", integer_table("opening", opening, 1), 0, 2**40)
        _check_shape(table, number)
        if len(price) != table.shape[1]:
            raise ParameterError("opening: one price per site expected")
        object.__setattr__(self, "costs", table)
        object.__setattr__(self, "counts", number)
        object.__setattr__(self, "opening", price)

    def sensitivity(self, neighbors: Neighbors | str) -> int:
        """As proven above."""
        return doubled(neighbors, int((self.costs.max(axis=1) - self.costs.min(axis=1)).max()))

    def program(self) -> IntegerProgram:
        """``open_j``, then ``serve_i_j``."""
        return self._assignment(self.opening, (1.0, float(self.n_choices)))

    def histogram(self) -> FacilityLocation:
        """Customers per place."""
        return self

    def answer(self, counts: IntArray, limits: Limits, oracle: Oracle | None = None) -> IntArray:
        """The best sites for noisy counts that a solver finds."""
        noisy = FacilityLocation(self.costs, np.maximum(counts, 0), self.opening)
        found = (oracle or Highs()).minimize(noisy.program(), limits=limits)
        return found.require_point()[: self.n_choices].astype(np.int64)

    def synthetic(self, n_records: int, seed: int) -> FacilityLocation:
        """Customers at uneven random places."""
        counts = _uneven(n_records, len(self.costs), seed)
        return FacilityLocation(self.costs, counts, self.opening)

    @cached_property
    def _loss(self) -> FacilityLoss:
        sites = self.n_choices
        some = Block(tuple(range(sites)), (1,) * sites, 1, None)
        base = BaseSet(np.zeros(sites, int), np.ones(sites, int), (some,))
        return FacilityLoss(base, self.costs, self.counts, opening=self.opening)


def _check_shape(costs: IntArray, counts: IntArray) -> None:
    if len(costs) != len(counts) or 0 in costs.shape:
        raise ParameterError("costs and counts: one row of costs per place expected")


def _uneven(n_records: int, places: int, seed: int) -> IntArray:
    """Made-up customers: shares of the places are exponentially distributed."""
    generator = np.random.default_rng(seed)
    shares = generator.exponential(size=places)
    return np.asarray(generator.multinomial(n_records, shares / shares.sum()), dtype=np.int64)
