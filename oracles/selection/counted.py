"""Released variables whose choices can be counted, because a base set holds all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from oracles.errors import ProblemError
from oracles.lift import ReleasedVariables
from oracles.selection.base import BaseSet, IntArray
from oracles.selection.detect import base_set


@dataclass(frozen=True, eq=False)
class CountedVariables(ReleasedVariables):
    """As :class:`oracles.lift.ReleasedVariables`, with the number of choices and their ranks.

    Raises:
        ProblemError: There is recourse, or a row that no base set holds.
    """

    base: BaseSet = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.released) < self.program.n_variables:
            raise ProblemError("released: choices cannot be counted where there is recourse")
        base, rows = base_set(self.program, self.lift.coordinates)
        if len(rows):
            raise ProblemError(
                f"program: row {int(rows[0])} shares variables with others, or has too many "
                "sums, so that its choices cannot be counted"
            )
        object.__setattr__(self, "base", base)

    @property
    def n_points(self) -> int:
        """Number of choices."""
        return self.base.n_points

    def point(  # type: ignore[override]  # None, as every countable problem may have
        self, positions: Sequence[int]
    ) -> IntArray | None:
        """The choice at these positions, or None if the rows do not allow it."""
        chosen = super().point(positions)
        return chosen if self.base.contains(chosen) else None

    def point_at(self, rank: int) -> IntArray:
        """The choice of a rank."""
        return np.asarray(self.base.point_at(rank), dtype=np.int64)
