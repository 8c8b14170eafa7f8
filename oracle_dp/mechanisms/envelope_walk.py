"""Draws from an envelope, with the probability of what was drawn, exactly.

Lemma (docs/theory/private_programs.md, Lemma 2). Walk through the values of a block: at an entry M
of its table take value v with probability weight(v) times the entry after it over M, and draw
nothing with what is left. Then a member is drawn with the product of its weights, times the last
entry over the first, whatever the entries are, as long as none is below the sum of what follows.

Where its hypothesis is enforced: weights and entries *are* the rationals that ``dyadic_parts``
makes of floats, choices are made between integers, and an entry below its sum is an error at every
step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from oracle_dp.mechanisms.rejection import EnvelopeError
from oracle_dp.noise import BitSource
from oracle_dp.noise.reals import MANTISSA, NotAProbabilityError, dyadic_parts, pick_mass
from oracles.selection.base import BaseSet, IntArray
from oracles.selection.envelope import Envelope, FloatArray


@dataclass(frozen=True, slots=True)
class Proposal:
    """A member of a node; the node draws it with probability ``weight * 2**exponent / begin``.

    The tables' entries between the first and the last cancel. ``begin`` is an integer.
    """

    point: IntArray
    weight: int
    exponent: int
    begin: int


@dataclass(frozen=True, eq=False)
class Walk:
    """Draws from an envelope by its tables."""

    envelope: Envelope

    def propose(self, base: BaseSet, source: BitSource) -> Proposal | None:
        """Draw a member by the tables; None with what their margins leave over."""
        point = self.envelope.lower.copy()
        weight, exponent, begin = 1, 0, 1
        for block, table in enumerate(self.envelope.tables):
            found = self._walk(base, block, point, source)
            if found is None:
                return None
            first, whole = dyadic_parts(float(table[0, 0]))
            weight *= found[0]
            exponent += found[1] - whole
            begin *= first
        return Proposal(point, weight, exponent, begin)

    def _walk(
        self, base: BaseSet, block: int, point: IntArray, source: BitSource
    ) -> tuple[int, int] | None:
        """Choose a block's values: the product of their weights and of its last entry."""
        envelope, table = self.envelope, self.envelope.tables[block]
        place, total, product, exponent = int(base.layout.starts[block]), 0, 1, 0
        here = _parts(table, 0, 0)
        for i in range(1, len(table)):
            first, last = int(envelope.offsets[place]), int(envelope.offsets[place + 1])
            moves = envelope.moves[first:last].tolist()
            place += 1
            if len(moves) == 1:  # Its weight is 1, and the entry that of the place before.
                total += moves[0]
                continue
            weights = [dyadic_parts(x) for x in envelope.weights[first:last].tolist()]
            entries = [_parts(table, i, total + move) for move in moves]
            chosen = _choose(weights, entries, here, source)
            if chosen is None:
                return None
            product *= weights[chosen][0]
            exponent += weights[chosen][1] - MANTISSA
            total, here = total + moves[chosen], entries[chosen]
            point[base.layout.order[place - 1]] += chosen
        return product * here[0], exponent + here[1]


Parts = tuple[int, int]
"""A mantissa and an exponent, as :func:`dyadic_parts` has them."""


def _parts(table: FloatArray, i: int, total: int) -> Parts:
    if total >= table.shape[1] or table[i, total] == -math.inf:
        return 0, 0
    return dyadic_parts(float(table[i, total]))


def _choose(
    weights: list[Parts], entries: list[Parts], here: Parts, source: BitSource
) -> int | None:
    """A value with probability weight times the entry after it over the entry before."""
    exponents = [a[1] + b[1] for a, b in zip(weights, entries, strict=True)]
    live = [e for e, entry in zip(exponents, entries, strict=True) if entry[0]]
    least = min(*live, here[1] - MANTISSA)
    masses = [
        (a[0] * b[0]) << (e - least) if b[0] else 0
        for a, b, e in zip(weights, entries, exponents, strict=True)
    ]
    try:
        return pick_mass(masses, here[0] << (here[1] + MANTISSA - least), source)
    except NotAProbabilityError:
        raise EnvelopeError("an entry of a table is below the sum that it bounds") from None
