"""Distinct rows with the counts of two classes or more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from oracles.errors import ProblemError
from oracles.zero_one.cells import CellTable, IntArray
from oracles.zero_one.sources.constructors import FromSources


@dataclass(frozen=True, eq=False)
class ClassCounts(FromSources):
    """Distinct rows of codes with their counts per class: what one-vs-rest takes its tables from.

    Args:
        codes: Level of each attribute, shape ``(n_cells, n_attributes)``, distinct rows.
        counts: Number of rows of each class, shape ``(n_cells, n_classes)``, in the order of the
            target's levels.
        levels: Number of levels per attribute. Public: levels without rows count too.

    Raises:
        ProblemError: As :class:`CellTable`, or there are fewer than two classes.
    """

    codes: IntArray
    counts: IntArray
    levels: tuple[int, ...]

    def __post_init__(self) -> None:
        counts = np.asarray(self.counts)
        if counts.ndim != 2 or counts.shape[1] < 2:
            raise ProblemError("counts: one column for each of at least two classes expected")
        checked = [self.against_rest(i) for i in range(counts.shape[1])]
        object.__setattr__(self, "codes", checked[0].codes)
        object.__setattr__(self, "counts", np.column_stack([table.positive for table in checked]))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.counts.shape[1])

    def against_rest(self, positive: int) -> CellTable:
        """The cells of one class, the positive one, against all others."""
        counts = np.asarray(self.counts)
        rest = counts.sum(axis=1) - counts[:, positive]
        codes = np.asarray(self.codes)
        return CellTable(codes, np.ones_like(codes), counts[:, positive], rest, self.levels)

    @classmethod
    def _of_classes(cls, codes: IntArray, counts: IntArray, levels: tuple[int, ...]) -> Self:
        return cls(codes, counts, levels)
