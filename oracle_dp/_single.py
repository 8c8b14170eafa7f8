"""What the attributes of one column share: why an entry has no level, and how numbers are cut."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Self, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oracle_dp._columns import read_numbers

IntArray: TypeAlias = NDArray[np.int64]


class Problem(IntEnum):
    """Why an entry has no level. Negative, so that it can stand where a level would."""

    MISSING = -1
    NOT_A_CATEGORY = -2
    NOT_A_NUMBER = -3
    INFINITE = -4


_REFUSALS = {
    Problem.MISSING: "has missing values (NaN or None): drop those rows, or fill them with a "
    "value that the domain covers",
    Problem.NOT_A_CATEGORY: "has values outside its {n_levels} public levels (values are "
    "compared as text, exactly): correct the data, or the domain from public knowledge",
    Problem.NOT_A_NUMBER: "must hold numbers, and holds something else: convert it, for "
    "example with pandas.to_numeric",
    Problem.INFINITE: "has infinite values: replace them with a finite bound that is public",
}


class ReadsOneColumn:
    """An attribute that reads one column; an :class:`oracles.zero_one.sources.Encoding`."""

    @property
    def n_levels(self) -> int:
        """Number of codes."""
        raise NotImplementedError

    @property
    def parts(self) -> tuple[Self]:
        """The attribute itself."""
        return (self,)

    def refusal(self, code: int) -> str:
        """What to say of a column with a code that is a ``Problem``, after its name."""
        return _REFUSALS[Problem(code)].format(n_levels=self.n_levels)


def bins(column: pd.Series[Any], edges: tuple[float, ...]) -> IntArray:
    """How many edges each number reaches; a ``Problem`` where it is not a finite number."""
    values, is_numeric = read_numbers(column)
    codes = np.searchsorted(edges, values, side="right").astype(np.int64)
    codes[np.isinf(values)] = Problem.INFINITE
    codes[np.isnan(values)] = Problem.MISSING
    codes[~is_numeric] = Problem.NOT_A_NUMBER
    return codes
