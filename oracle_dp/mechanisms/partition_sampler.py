"""Exact draws from ``exp(-beta L)`` over a base set, by rejection from a partition of envelopes.

Theorem (docs/theory/private_programs.md, Theorem 1). Let boxes partition a base set, each with a
positive mass m and a law on its members, and let no member w have ``exp(-beta (L(w) - reference))``
above m times its probability in its box. A trial picks a box by mass, draws w in it, and accepts
with the ratio of the two. It accepts w with probability ``exp(-beta (L(w) - reference)) / sum of
m``, whatever the partition, the masses and the laws. So an accepted w is an exact draw, and stays
one if the partition, or the reference, is changed between trials by anything but the trials to
come; a trial that refines the partition and draws nothing is one that accepts nothing.

Where its hypotheses are enforced: masses, weights and tables *are* the integers that ``dyadic``
makes of floats, and every choice is made between integers; minorants are exact integers, valid for
any duals (:mod:`oracles.selection`); the loss is an integer; acceptance is decided by enclosures,
and a ratio above 1 is an error, never clipped.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb, fmpz

from oracle_dp.mechanisms.envelope_walk import Walk
from oracle_dp.mechanisms.rejection import EnvelopeError
from oracle_dp.noise import BitSource, SeededBits, uniform_below
from oracle_dp.noise.reals import (
    MANTISSA,
    NotAProbabilityError,
    bernoulli_real,
    dyadic,
    real_exp,
)
from oracles.errors import InfeasibleError
from oracles.selection.base import IntArray
from oracles.selection.envelope import (
    Envelope,
    Minorant,
    SelectionLoss,
    widest,
)

FLOOR = -1500.0
"""Least logarithm of a mass: none is 0, and exp(-1500) of a mass costs nothing."""

MASS_SHIFT = math.ceil(-FLOOR / math.log(2)) + 64

REFERENCE_PROPOSALS = 4

MOST_WALKS = 200
"""Nodes whose tables are kept in memory."""

HEAVY = 1e4
"""A box whose mass has a greater logarithm is split instead of drawn from. Masses are integers as
long as their logarithms, and before such a box gets lighter nothing in it would be accepted."""

FAR = 500.0
"""Nats by which the reference may miss the least loss seen, before masses are counted from that."""

SHIFT_MARGIN = 2.0**-50
"""Relative rounding of a mass's logarithm when the reference moves: at most 4 half units of 2^-52,
of summands no larger than the two that are added."""

SPLIT_BELOW = 0.5
"""A node is split when the point that it proposed was accepted with less than this probability."""


@dataclass(frozen=True, eq=False)
class Node:
    """A box of the partition.

    Attributes:
        lower: Its bounds.
        upper: Likewise.
        minorant: What its envelope is made of.
        log_mass: Where its mass comes from.
    """

    lower: IntArray
    upper: IntArray
    minorant: Minorant
    log_mass: float

    @cached_property
    def mass(self) -> int:
        """Times ``2^-(MASS_SHIFT + MANTISSA)`` it is the node's mass; asked for below ``HEAVY``."""
        return dyadic(max(self.log_mass, FLOOR), MASS_SHIFT)


class PartitionSampler:
    """Independent exact draws from one partition, which rejections refine.

    Args:
        loss: What is drawn by.
        beta: Nats per unit of loss, exactly.

    Raises:
        InfeasibleError: No member of the base set has a loss.
    """

    def __init__(self, loss: SelectionLoss, beta: Fraction) -> None:
        self.loss, self.beta = loss, beta
        self.trials = 0
        self.reference = 0
        self._least: int | None = None
        self._nodes: list[Node] = []
        self._heavy: list[Node] = []
        self._walks: OrderedDict[Node, Walk] = OrderedDict()
        base = loss.base
        root = self._envelope(base.lower, base.upper, None)
        if root is not None:
            self.reference = self._good_loss(root)
            self._add(self._summed(root.minorant, root.lower, root.upper))

    @property
    def n_nodes(self) -> int:
        """Boxes of the partition."""
        return len(self._nodes) + len(self._heavy)

    def trial(self, source: BitSource) -> IntArray | None:
        """One trial: an exact draw, or None, after which the partition is finer.

        Raises:
            InfeasibleError: No member is left that could have a loss.
            EnvelopeError: A bound was violated.
        """
        self.trials += 1
        if self._heavy:
            heaviest = max(self._heavy, key=lambda node: node.log_mass)
            self._look(self._walk(heaviest), 1)
            self._split(heaviest)
        else:
            point = self._draw(source)
            if point is not None:
                return point
        self._recentre()
        return None

    def _draw(self, source: BitSource) -> IntArray | None:
        """Propose and accept, or split the box where the proposal was unlikely to be accepted."""
        node = self._pick(source)
        proposal = self._walk(node).propose(self.loss.base, source)
        if proposal is None:
            return None
        loss = self._value(proposal.point)
        if loss is None:
            self._split(node)
            return None
        excess = -self.beta * (loss - self.reference)
        power = MASS_SHIFT + MANTISSA - proposal.exponent
        scaled = fmpz(proposal.begin << max(power, 0))
        divisor = fmpz(node.mass * proposal.weight << max(-power, 0))

        def probability() -> arb:
            return real_exp(excess) * arb(scaled) / arb(divisor)

        try:
            if bernoulli_real(probability, source):
                return proposal.point
        except NotAProbabilityError:
            raise EnvelopeError("a minorant is above its loss") from None
        if probability() < SPLIT_BELOW:
            self._split(node)
        return None

    def _pick(self, source: BitSource) -> Node:
        total = sum(node.mass for node in self._nodes)
        if total == 0:
            raise InfeasibleError("program: no point satisfies the constraints")
        place = uniform_below(source, total)
        for node in self._nodes:
            place -= node.mass
            if place < 0:
                return node
        raise AssertionError("the masses add up to their total")

    # -- the partition -------------------------------------------------------------------------

    def _split(self, node: Node) -> None:
        """Replace a node by two halves, or a single point by its own loss."""
        lower, upper, minorant = node.lower, node.upper, node.minorant
        (self._heavy if node in self._heavy else self._nodes).remove(node)
        self._walks.pop(node, None)
        if (lower == upper).all():
            self._add(self._envelope(lower, upper, minorant))
            return
        j = widest(lower, upper, minorant.means)
        cut = min(max(math.floor(minorant.means[j]), int(lower[j])), int(upper[j]) - 1)
        below, above = upper.copy(), lower.copy()
        below[j], above[j] = cut, cut + 1
        self._add(self._envelope(lower, below, minorant))
        self._add(self._envelope(above, upper, minorant))

    def _add(self, envelope: Envelope | None) -> None:
        if envelope is not None:
            node = Node(envelope.lower, envelope.upper, envelope.minorant, envelope.log_mass)
            self._place(node)
            self._keep(node, Walk(envelope))

    def _place(self, node: Node) -> None:
        (self._heavy if node.log_mass > HEAVY else self._nodes).append(node)

    def _recentre(self) -> None:
        """Count masses from the least loss seen, where they are counted from one far from it."""
        if self._least is None:
            return
        moved = float(self.beta * (self._least - self.reference))
        if abs(moved) <= FAR:
            return
        self.reference = self._least
        nodes, self._nodes, self._heavy = [*self._nodes, *self._heavy], [], []
        walks, self._walks = self._walks, OrderedDict()
        for node in nodes:
            margin = SHIFT_MARGIN * (abs(node.log_mass) + abs(moved))
            again = replace(node, log_mass=node.log_mass + moved + margin)
            self._place(again)
            if node in walks:  # Its tables do not depend on the reference.
                self._walks[again] = walks[node]

    def _walk(self, node: Node) -> Walk:
        """The tables of a node: kept for those of late, computed again for others."""
        walk = self._walks.pop(node, None)
        if walk is None:
            envelope = self._summed(node.minorant, node.lower, node.upper)
            assert envelope is not None, "a node of the partition is not empty"
            walk = Walk(envelope)
        self._keep(node, walk)
        return walk

    def _keep(self, node: Node, walk: Walk) -> None:
        self._walks[node] = walk
        while len(self._walks) > MOST_WALKS:
            self._walks.popitem(last=False)

    def _envelope(
        self, lower: IntArray, upper: IntArray, parent: Minorant | None
    ) -> Envelope | None:
        box = self.loss.base.tightened(lower, upper)
        if box is None:
            return None
        lower, upper = box
        if (lower == upper).all():
            loss = self._value(lower) if self.loss.base.contains(lower) else None
            if loss is None:
                return None
            nothing = np.zeros(len(lower), dtype=np.int64)
            point = lower.astype(np.float64)
            return self._summed(Minorant(loss, nothing, 0, np.empty(0), point), lower, upper)
        minorant = self.loss.minorant(lower, upper, float(self.beta), parent)
        return None if minorant is None else self._summed(minorant, lower, upper)

    def _summed(self, minorant: Minorant, lower: IntArray, upper: IntArray) -> Envelope | None:
        envelope = Envelope.of(
            self.loss.base, minorant, lower, upper, beta=self.beta, reference=self.reference
        )
        return None if envelope.log_mass == -math.inf else envelope

    def _good_loss(self, root: Envelope) -> int:
        """The least loss of a few members that the root would propose.

        Any reference would do; near the least loss the masses are of ordinary size.
        """
        self.reference = round(-Fraction(root.log_mass) / self.beta)
        again = self._summed(root.minorant, root.lower, root.upper)
        assert again is not None, "another reference does not empty a box"
        self._look(Walk(again), REFERENCE_PROPOSALS)
        return self.reference if self._least is None else self._least

    def _look(self, walk: Walk, proposals: int) -> None:
        """See the losses of a few members that a walk proposes."""
        bits = SeededBits(0)  # Heuristic, and apart from the randomness of every trial.
        for _ in range(proposals):
            proposal = walk.propose(self.loss.base, bits)
            if proposal is not None:
                self._value(proposal.point)

    def _value(self, point: IntArray) -> int | None:
        """A member's loss; the least one is remembered."""
        loss = self.loss.value(point)
        if loss is not None and (self._least is None or loss < self._least):
            self._least = loss
        return loss
