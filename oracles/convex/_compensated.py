"""Sums that carry what rounding took, so that their error hardly grows with their length.

A sum is kept as ``high + low`` with high the float nearest to it. Lemma (``add_exactly`` is Knuth's
TwoSum: both floats together are the exact sum). With u = 2^-53 and S the sum of the magnitudes of m
terms, m u <= 1, ``high + low`` is within ``2.1 m u^2 S`` of the exact sum.

Proof. Of the three steps of :meth:`CompensatedSum.add` only ``low + lost`` rounds, by at most
``u (|low| + |lost|)``. low is what rounding took from high, and lost from ``high + term``: both are
at most u times the exact sum they belong to, which is at most S + e, e the error so far, and for
the second ``(1 + u) (S + e)``. So a step adds at most ``u^2 (2 + u) (S + e)``, and after m of them
``e <= 2.1 m u^2 S``. QED

This holds where nothing overflows: additions of floats that are smaller than the smallest normal
number are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from oracles.arrays import FloatArray

NumberT = TypeVar("NumberT", float, FloatArray)


def add_exactly(a: NumberT, b: NumberT) -> tuple[NumberT, NumberT]:
    """The rounded sum, and what rounding took (Knuth 1998, Section 4.2.2, Theorem B)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


@dataclass(eq=False)
class CompensatedSum(Generic[NumberT]):
    """A float, or an array entry by entry, with the rest that does not fit into it.

    Attributes:
        high: The sum, rounded once.
        low: The rest.
    """

    high: NumberT
    low: NumberT

    def add(self, term: NumberT) -> None:
        """One term more."""
        total, lost = add_exactly(self.high, term)
        self.high, self.low = add_exactly(total, self.low + lost)

    def merge(self, other: CompensatedSum[NumberT]) -> None:
        """Another sum, as two terms more."""
        self.add(other.high)
        self.add(other.low)
