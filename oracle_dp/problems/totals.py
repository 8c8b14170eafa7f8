"""Problems whose loss is a sum of private totals, one per chosen item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from oracle_dp.errors import DomainError, ParameterError
from oracle_dp.privacy import Neighbors
from oracle_dp.problems.base import PrivateProblem, doubled, integer_table, within
from oracles import Highs, IntegerProgram, Limits
from oracles.selection.base import IntArray
from oracles.selection.linear import ProgramLoss


class TotalsProblem(PrivateProblem):
    """What these problems share: ``records`` are counted only through their columns' sums.

    Subclasses have ``records``, ``most`` (of one entry) and ``sign`` (of the loss).
    """

    records: IntArray
    most: int
    sign = 1

    @property
    def n_choices(self) -> int:
        """One variable per item."""
        return int(self.records.shape[1])

    @cached_property
    def counts(self) -> IntArray:
        """The private total of every item."""
        return np.asarray(self.records.sum(axis=0), dtype=np.int64)

    def with_totals(self, totals: IntArray) -> IntegerProgram:
        """The program for some totals."""
        raise NotImplementedError

    def program(self) -> IntegerProgram:
        """One binary variable per item."""
        return self.with_totals(self.counts)

    def value(self, choice: IntArray) -> int:
        """The loss of a choice."""
        return int(self.program().objective_value(np.asarray(choice, dtype=np.float64)))

    def loss(self) -> ProgramLoss:
        """The loss itself is linear; rows that no base set holds get multipliers."""
        return ProgramLoss(self.program(), range(self.n_choices), Highs())

    def l1_sensitivity(self, neighbors: Neighbors) -> int:
        """Every total moves by at most ``most``, whether a record is added or replaced."""
        return self.most * self.n_choices

    def answer(self, counts: IntArray, limits: Limits) -> IntArray:
        """The best choice for noisy totals that HiGHS finds."""
        found = Highs().minimize(self.with_totals(np.maximum(counts, 0)), limits=limits)
        return found.require_point()[: self.n_choices].astype(np.int64)


@dataclass(frozen=True, eq=False)
class Assortment(TotalsProblem):
    """Choose items under one public knapsack row so that their ratings add up to the most.

    *Sensitivity.* With ratings between 0 and r, a person changes the total rating of a choice of at
    most K items by something between 0 and r K: range r K when the person is added or removed. When
    one is replaced, each item's total changes by something between -r and r, so the range is at
    most r times the number of items in the best and in the worst choice for that difference, which
    can be taken disjoint: r min(2 K, n). K is the most items that the public row allows.

    Args:
        ratings: Integers from 0 to ``most``, shape ``(people, items)``. Private.
        weights: Integers from 0, one per item. Public.
        capacity: Largest total weight. Public.
        most: The scale's largest rating, positive. Public; never read from the data.

    Raises:
        DomainError: A rating is outside the scale.
        ParameterError: Weights or capacity are not as described.
    """

    records: IntArray
    weights: IntArray
    capacity: int
    most: int

    def __init__(self, ratings: ArrayLike, weights: ArrayLike, capacity: int, *, most: int) -> None:
        scale = _positive("most", most)
        table = within("ratings", integer_table("ratings", ratings, 2), 0, scale)
        weight = within("weights", integer_table("weights", weights, 1), 0, 2**40)
        if len(weight) != table.shape[1]:
            raise ParameterError("weights: one per item expected")
        for name, value in (
            ("records", table), ("weights", weight), ("capacity", _positive("capacity", capacity)),
            ("most", scale),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    def sensitivity(self, neighbors: Neighbors | str) -> int:
        """As proven above."""
        largest = _most_items(self.weights[None], np.array([self.capacity]))
        return _range(neighbors, self.most, largest, self.n_choices)

    def with_totals(self, totals: IntArray) -> IntegerProgram:
        """Minimise minus the totals."""
        return _choice(-totals, self.weights[None], None, [self.capacity])

    def histogram(self) -> Assortment:
        """The items' totals."""
        return self

    def synthetic(self, n_records: int, seed: int) -> Assortment:
        """Ratings around a random mean for every item."""
        ratings = _made_up(n_records, self.n_choices, self.most, seed)
        return Assortment(ratings, self.weights, self.capacity, most=self.most)


@dataclass(frozen=True, eq=False)
class MultiKnapsack(TotalsProblem):
    """Choose items under several public knapsack rows so that private values add up to the most.

    *Sensitivity.* As for :class:`Assortment`, with K the most items that every single row allows.

    Args:
        values: What each item is worth to each person, integers from 0 to ``most``, shape
            ``(people, items)``. Private.
        weights: Integers from 0, shape ``(rows, items)``. Public.
        capacities: Largest total of every row. Public.
        most: The scale's largest value. Public; never read from the data.

    Raises:
        DomainError: A value is outside the scale.
        ParameterError: Weights or capacities are not as described.
    """

    records: IntArray
    weights: IntArray
    capacities: IntArray
    most: int

    def __init__(
        self, values: ArrayLike, weights: ArrayLike, capacities: ArrayLike, *, most: int
    ) -> None:
        scale = _positive("most", most)
        table = within("values", integer_table("values", values, 2), 0, scale)
        weight = within("weights", integer_table("weights", weights, 2), 0, 2**40)
        capacity = within("capacities", integer_table("capacities", capacities, 1), 0, 2**50)
        if weight.shape != (len(capacity), table.shape[1]):
            raise ParameterError("weights: one row per capacity and one column per item expected")
        for name, value in (
            ("records", table), ("weights", weight), ("capacities", capacity), ("most", scale)
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    def sensitivity(self, neighbors: Neighbors | str) -> int:
        """As proven above."""
        largest = _most_items(self.weights, self.capacities)
        return _range(neighbors, self.most, largest, self.n_choices)

    def with_totals(self, totals: IntArray) -> IntegerProgram:
        """Minimise minus the totals."""
        return _choice(-totals, self.weights, None, self.capacities)

    def histogram(self) -> MultiKnapsack:
        """The items' totals."""
        return self

    def synthetic(self, n_records: int, seed: int) -> MultiKnapsack:
        """Values around a random mean for every item."""
        values = _made_up(n_records, self.n_choices, self.most, seed)
        return MultiKnapsack(values, self.weights, self.capacities, most=self.most)


@dataclass(frozen=True, eq=False)
class SetCover(TotalsProblem):
    """Choose sets that cover everything, where a set burdens the people who object to it.

    *Sensitivity.* A person objects to at most h sets, so adds between 0 and h to the burden of any
    choice: range h when the person is added or removed. When one is replaced by another, totals
    rise by one on at most h sets and fall by one on at most h: range 2 h.

    Args:
        objections: 0 or 1, shape ``(people, sets)``, at most ``most_objections`` in a row. Private.
        covers: Whether a set covers an element, 0 or 1, shape ``(elements, sets)``. Public.
        costs: Cost of every set, integers from 0, in the units of one objection. Public. Default 0.
        most_objections: h, positive. Public.

    Raises:
        DomainError: The objections are not as described.
        ParameterError: Covers, costs or h are not as described.
    """

    records: IntArray
    covers: IntArray
    costs: IntArray
    most_objections: int
    most = 1

    def __init__(
        self,
        objections: ArrayLike,
        covers: ArrayLike,
        costs: ArrayLike | None = None,
        *,
        most_objections: int,
    ) -> None:
        limit = _positive("most_objections", most_objections)
        table = within("objections", integer_table("objections", objections, 2), 0, 1)
        if (table.sum(axis=1) > limit).any():
            raise DomainError("objections: a row has more of them than most_objections allows")
        cover = within("covers", integer_table("covers", covers, 2), 0, 1)
        sets = table.shape[1]
        price = np.zeros(sets, np.int64) if costs is None else integer_table("costs", costs, 1)
        if cover.shape[1] != sets or len(within("costs", price, 0, 2**40)) != sets:
            raise ParameterError("covers and costs: one column and one cost per set expected")
        if not cover.any(axis=1).all():
            raise ParameterError("covers: an element is in no set, so nothing covers everything")
        for name, value in (
            ("records", table), ("covers", cover), ("costs", price), ("most_objections", limit)
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    def sensitivity(self, neighbors: Neighbors | str) -> int:
        """As proven above."""
        return doubled(neighbors, min(self.most_objections, self.n_choices))

    def l1_sensitivity(self, neighbors: Neighbors) -> int:
        """At most h totals rise by one; when a record is replaced, as many fall."""
        return doubled(neighbors, min(self.most_objections, self.n_choices))

    def with_totals(self, totals: IntArray) -> IntegerProgram:
        """Minimise costs and objections."""
        return _choice(self.costs + totals, self.covers, np.ones(len(self.covers)), None)

    def histogram(self) -> SetCover:
        """Objections to every set."""
        return self

    def synthetic(self, n_records: int, seed: int) -> SetCover:
        """Objections to random sets, to some of them more often."""
        generator = np.random.default_rng(seed)
        appeal = generator.exponential(size=self.n_choices)
        keys = generator.exponential(size=(n_records, self.n_choices)) / appeal
        named = np.argsort(keys, axis=1)[:, : self.most_objections]
        objections = np.zeros((n_records, self.n_choices), np.int64)
        np.put_along_axis(objections, named, 1, axis=1)
        return SetCover(objections, self.covers, self.costs, most_objections=self.most_objections)


def _choice(
    costs: IntArray,
    rows: IntArray,
    low: ArrayLike | None,
    high: Sequence[int] | IntArray | None,
) -> IntegerProgram:
    n = len(costs)
    names = [f"choose_{j}" for j in range(n)]
    return IntegerProgram(
        costs, sp.csr_array(rows.astype(float)), low, high, upper=np.ones(n), names=names
    )


def _most_items(weights: IntArray, capacities: IntArray) -> int:
    """The most items that no single row forbids."""
    sums = np.cumsum(np.sort(weights, axis=1), axis=1)
    return int((sums <= capacities[:, None]).sum(axis=1).min())


def _range(neighbors: Neighbors | str, most: int, largest: int, n: int) -> int:
    single = doubled(Neighbors.ADD_REMOVE, most * largest)
    return min(doubled(neighbors, single), most * n)


def _made_up(n_records: int, items: int, most: int, seed: int) -> IntArray:
    generator = np.random.default_rng(seed)
    means = generator.random(items)
    return np.asarray(generator.binomial(most, means, size=(n_records, items)), dtype=np.int64)


def _positive(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ParameterError(f"{name}: a positive integer expected, not {value!r}")
    return int(value)
