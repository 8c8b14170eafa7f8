"""Shortest path where traffic on the arcs is private."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from oracle_dp.errors import ParameterError
from oracle_dp.privacy import Neighbors
from oracle_dp.problems.base import doubled, integer_table, within
from oracle_dp.problems.totals import TotalsProblem
from oracles import IntegerProgram
from oracles.selection.base import IntArray


@dataclass(frozen=True, eq=False)
class ShortestPath(TotalsProblem):
    """A path from a source to a target, arcs being as long as they are and as full of people.

    *Sensitivity.* A person who uses at most h arcs, each worth 1, adds between 0 and min(h, E) to
    the length of a path of at most E arcs: that is the range when the person is added or removed;
    twice that when one is replaced.

    Args:
        uses: Whether a person uses an arc, 0 or 1, shape ``(people, arcs)``, at most ``most_arcs``
            in a row. Private.
        tails: Node where every arc begins. Public.
        heads: Node where it ends, greater than its tail: the network has no cycles. Public.
        lengths: Integers from 0, in the units of one person. Public.
        source: First node.
        target: Last node.
        most_arcs: h, positive. Public.

    Raises:
        DomainError: ``uses`` is not as described.
        ParameterError: The network is not as described.
    """

    records: IntArray
    tails: IntArray
    heads: IntArray
    lengths: IntArray
    source: int
    target: int
    most_arcs: int
    most = 1

    def __init__(
        self,
        uses: ArrayLike,
        tails: ArrayLike,
        heads: ArrayLike,
        lengths: ArrayLike,
        *,
        source: int,
        target: int,
        most_arcs: int,
    ) -> None:
        table = within("uses", integer_table("uses", uses, 2), 0, 1)
        if isinstance(most_arcs, bool) or not isinstance(most_arcs, int) or most_arcs < 1:
            raise ParameterError(f"most_arcs: a positive integer expected, not {most_arcs!r}")
        within("uses (arcs per person)", table.sum(axis=1), 0, most_arcs)
        begin, end = integer_table("tails", tails, 1), integer_table("heads", heads, 1)
        length = within("lengths", integer_table("lengths", lengths, 1), 0, 2**40)
        if not len(begin) == len(end) == len(length) == table.shape[1]:
            raise ParameterError("tails, heads, lengths: one per arc expected")
        if (begin < 0).any() or (begin >= end).any():
            raise ParameterError("heads: every arc must lead to a node of a greater number")
        for name, value in (
            ("records", table), ("tails", begin), ("heads", end), ("lengths", length),
            ("source", int(source)), ("target", int(target)), ("most_arcs", most_arcs),
        ):  # fmt: skip
            object.__setattr__(self, name, value)
        if self._longest < 1:
            raise ParameterError("target: no path leads there from the source")

    def sensitivity(self, neighbors: Neighbors | str) -> int:
        """As proven above."""
        return doubled(neighbors, min(self.most_arcs, self._longest))

    def l1_sensitivity(self, neighbors: Neighbors) -> int:
        """A person uses at most h arcs."""
        return doubled(neighbors, self.most_arcs)

    @property
    def choice_names(self) -> tuple[str, ...]:
        """``arc_tail_head_j``."""
        arcs = enumerate(zip(self.tails, self.heads, strict=True))
        return tuple(f"arc_{tail}_{head}_{j}" for j, (tail, head) in arcs)

    def with_totals(self, totals: IntArray) -> IntegerProgram:
        """One unit of flow from the source to the target."""
        arcs, nodes = self.n_choices, int(self.heads.max()) + 1
        arc = np.arange(arcs)
        flow = sp.csr_array(
            (
                np.concatenate([np.ones(arcs), -np.ones(arcs)]),
                (np.concatenate([self.tails, self.heads]), np.concatenate([arc, arc])),
            ),
            shape=(nodes, arcs),
        )
        balance = np.zeros(nodes)
        balance[self.source], balance[self.target] = 1.0, -1.0
        return IntegerProgram(
            self.lengths + totals,
            flow,
            balance,
            balance,
            upper=np.ones(arcs),
            names=self.choice_names,
        )

    def histogram(self) -> ShortestPath:
        """People on every arc."""
        return self

    def synthetic(self, n_records: int, seed: int) -> ShortestPath:
        """People on random arcs, on some of them more often."""
        generator = np.random.default_rng(seed)
        appeal = generator.exponential(size=self.n_choices)
        keys = generator.exponential(size=(n_records, self.n_choices)) / appeal
        uses = np.zeros((n_records, self.n_choices), np.int64)
        np.put_along_axis(uses, np.argsort(keys, axis=1)[:, : self.most_arcs], 1, axis=1)
        return ShortestPath(
            uses, self.tails, self.heads, self.lengths, source=self.source, target=self.target,
            most_arcs=self.most_arcs,
        )  # fmt: skip

    @cached_property
    def _longest(self) -> int:
        """The most arcs of a path from the source to the target; -1 if there is none."""
        most = {self.source: 0}
        for j in np.argsort(self.heads, kind="stable"):
            tail, head = int(self.tails[j]), int(self.heads[j])
            if tail in most:
                most[head] = max(most.get(head, 0), most[tail] + 1)
        return most.get(self.target, -1)
