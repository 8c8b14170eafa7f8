"""Exact draws from ``exp(-beta cost)`` over classifiers, by rejection on a tree of masses.

Theorem (docs/theory/exact_exponential.md, Theorem 4). Let every node of a tree over W have a
mass, an integer multiple of a power of two, with children's masses adding up to at most their
parent's, and complete nodes' masses at least ``Z(node)``, the node's sum of
``exp(-beta (cost - reference))``. Walk from the root: at a node of mass m go to a child of mass c
with probability c / m, otherwise reject; accept a complete node with probability Z(node) / m, and
draw in it. Then a trial accepts w with probability exp(-beta (cost(w) - reference)) / m(root). An
accepted w is an exact draw, whatever the masses, and whatever was done to the tree before the
trial, as long as that did not look at the trial's randomness.

Where its hypotheses are enforced: the masses are integers by definition (``dyadic``); a sum
of children above its parent, or an acceptance probability above 1, is an error at every step
(:class:`EnvelopeError`), never clipped; choices and acceptance are decided exactly
(``oracle_dp.noise``). Floating point only proposes masses.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from flint import arb, fmpz

from oracle_dp.errors import PrivacyError
from oracle_dp.noise import BitSource
from oracle_dp.noise.reals import (
    MANTISSA,
    NotAProbabilityError,
    bernoulli_real,
    dyadic,
    pick_cost,
    pick_mass,
    real_exp,
)
from oracles.zero_one.partition import Leaf, PartitionTree

DIGITS = 64
"""Binary digits of a mass below its parent's leading digit that count for certain."""

FIRST_SHARE = 0.1
"""A round's threshold: nodes that hold more than this share of all mass are split."""

SHRINK = 0.25
"""What the share is multiplied by for the next round."""

CHUNK = 20_000_000
"""Work between two looks for Ctrl-C: about a tenth of a second."""


class EnvelopeError(PrivacyError):
    """A bound was not one. Nothing was drawn; the tree must not be used again."""


@dataclass(frozen=True, eq=False)
class Draw:
    """An accepted point: which tree, which of its complete nodes, which values in it.

    Attributes:
        tree: Index of the tree.
        leaf: The complete node.
        chosen: Position of the value of each of the leaf's levels.
    """

    tree: int
    leaf: Leaf
    chosen: list[int]

    @property
    def cost(self) -> int:
        """Cost of the point beyond the layout's constant."""
        rows = zip(self.leaf.costs.tolist(), self.chosen, strict=True)
        return self.leaf.base + sum(int(row[i]) for row, i in rows)


@dataclass(eq=False)
class Sampler:
    """Independent exact trials over one tree, or over several side by side.

    Several trees make one: their common root is the sum of their roots. The trees are refined in
    rounds: nodes with more than a share of all mass are split, the share shrinks from round to
    round, and a round grants trials in proportion to its work. The schedule counts operations, not
    seconds, so that a seed reproduces a run.

    Args:
        trees: The masses; one reference for all.
        beta: Nats per unit of cost, exactly; the trees' is a float near it.
    """

    trees: Sequence[PartitionTree]
    beta: Fraction
    log_share: float = field(default_factory=lambda: math.log(FIRST_SHARE))
    granted: int = 0
    trials_left: int = 0
    gathered: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def trial(self, source: BitSource, deadline: float = math.inf) -> Draw | None:
        """Walk once: an exact draw, or None.

        Args:
            source: Where the bits come from.
            deadline: Of the monotonic clock. Looked at while the trees are refined, before any of
                the trial's randomness is drawn, and never after that.

        Raises:
            TimeoutError: The deadline passed before the trial began.
            EnvelopeError: A bound was violated.
        """
        with self._lock:  # The trees' arrays are shared, and kernels do not hold the interpreter.
            # During the trial itself masses only get children.
            self._refine_if_due(deadline)
            if time.monotonic() >= deadline:
                raise TimeoutError
            self.trials_left -= 1
            return self._try(source)

    def _try(self, source: BitSource) -> Draw | None:
        index = self._pick_tree(source)
        tree = self.trees[index]
        node = self._walk(tree, source)
        if node is None:
            return None
        leaf = tree.leaf(node)
        if not self._accept(leaf, tree.reference, tree.log_mass(node), source):
            return None
        chosen = [pick_cost(costs, self.beta, source) for costs in leaf.costs.tolist()]
        return Draw(index, leaf, chosen)

    def _pick_tree(self, source: BitSource) -> int:
        if len(self.trees) == 1:
            return 0
        roots = [tree.log_mass(0) for tree in self.trees]
        masses = [dyadic(root, _shift(max(roots))) for root in roots]
        index = pick_mass(masses, sum(masses), source)
        assert index is not None, "the roots are all there is"
        return index

    def _walk(self, tree: PartitionTree, source: BitSource) -> int | None:
        node = 0
        while children := tree.children(node):
            shift = _shift(tree.log_mass(node))
            masses = [dyadic(tree.log_mass(child), shift) for child in children]
            try:
                chosen = pick_mass(masses, dyadic(tree.log_mass(node), shift), source)
            except NotAProbabilityError:
                raise EnvelopeError("children's bounds exceed their parent's") from None
            if chosen is None:
                return None
            node = children[chosen]
        return node

    def _accept(self, leaf: Leaf, reference: int, log_mass: float, source: BitSource) -> bool:
        """Accept with the node's sum over its mass."""
        costs = leaf.costs.tolist()
        least = [min(row) for row in costs]
        shared = leaf.base + sum(least) - reference
        # Levels of A often have equal excesses: their factors are computed once.
        excesses = Counter(
            tuple(sorted(cost - low for cost in row)) for row, low in zip(costs, least, strict=True)
        )
        shift = _shift(log_mass)
        mass = dyadic(log_mass, shift)

        def probability() -> arb:
            value = real_exp(-self.beta * shared)
            for row, power in excesses.items():
                value *= sum((real_exp(-self.beta * cost) for cost in row), arb(0)) ** power
            return value * arb(2) ** (shift + MANTISSA) / arb(fmpz(mass))

        try:
            return bernoulli_real(probability, source)
        except NotAProbabilityError:
            raise EnvelopeError("a complete node's bound is below its sum") from None

    # -- the schedule --------------------------------------------------------------------------

    def _refine_if_due(self, deadline: float) -> None:
        if self.trials_left > 0:
            if self._n_nodes > 1.05 * self.gathered + 64:
                self._gather()
            return
        self._gather()
        expanded = 0
        while time.monotonic() < deadline and (done := self._split_heavy_nodes()):
            expanded += done
        self.log_share += math.log(SHRINK)
        # Where nothing heavy is left to split, looking for it becomes rare.
        self.granted = 8 + expanded // 4 if expanded else max(8, 2 * self.granted)
        self.trials_left = self.granted

    def _split_heavy_nodes(self) -> int:
        roots = [tree.log_mass(0) for tree in self.trees]
        high = max(roots)
        total = high + math.log(sum(math.exp(root - high) for root in roots))
        done = sum(tree.refine(total + self.log_share, CHUNK) for tree in self.trees)
        self._gather()
        return done

    def _gather(self) -> None:
        for tree in self.trees:
            tree.gather()
        self.gathered = self._n_nodes

    @property
    def _n_nodes(self) -> int:
        return sum(tree.n_nodes for tree in self.trees)


def _shift(log_mass: float) -> int:
    return DIGITS - math.floor(log_mass / math.log(2))
