"""Every value of every variable of a node, spelled out in flat arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oracles.selection.base import IntArray, Layout


@dataclass(frozen=True, eq=False)
class Places:
    """The values that a box leaves, place after place of a layout.

    Attributes:
        low: The box's bounds at every place.
        high: Likewise.
        offsets: Where each place's values begin, and the number of values.
        place: The place of every value.
        value: The values, ascending within a place.
        moves: What each adds to its block's sum, counted from the layout's least.
    """

    low: IntArray
    high: IntArray
    offsets: IntArray
    place: IntArray
    value: IntArray
    moves: IntArray

    @classmethod
    def of(cls, layout: Layout, lower: IntArray, upper: IntArray) -> Places:
        """Spell a box out; its bounds are by variable, within the layout's."""
        low, high = lower[layout.order], upper[layout.order]
        offsets = np.concatenate([[0], np.cumsum(high - low + 1)]).astype(np.int64)
        place = np.repeat(np.arange(len(low)), high - low + 1)
        value = np.arange(len(place)) - offsets[place] + low[place]
        up = np.where(
            layout.downward[place], layout.upper[place] - value, value - layout.lower[place]
        )
        moves = (layout.steps[place] * up).astype(np.int64)
        return cls(low, high, offsets, place, value, moves)

    def of_block(self, first: int, end: int) -> tuple[slice, IntArray]:
        """The values of the places from ``first`` to ``end``, and offsets counted within them."""
        own = slice(self.offsets[first], self.offsets[end])
        return own, self.offsets[first : end + 1] - self.offsets[first]
