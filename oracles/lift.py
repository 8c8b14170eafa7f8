"""The one-hot lift: a reward for every (coordinate, value) as columns and rows.

A *coordinate* is an integer variable with finitely many values. The lift adds, for each
coordinate j and value a, a binary indicator r[j, a] with ``sum_a r[j, a] = 1`` and
``w_j = sum_a a r[j, a]``, so that any function of the single coordinates becomes linear. The
callers' functions are **rewards**: they are subtracted from the objective,

    minimise  scale * loss(w) - sum_j rewards[j][w_j].

A coordinate with two adjacent values is its own indicator and needs no new column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from oracles.errors import InfeasibleError, ProblemError, SpaceTooLargeError
from oracles.extend import Column, extend
from oracles.problem import IntegerProgram
from oracles.total import TotalReward

IntArray = NDArray[np.int64]

MAX_VALUES = 10_000
"""Most values of one coordinate that the lift will spell out."""


@dataclass(frozen=True, eq=False)
class OneHotLift:
    """A program with its coordinates spelled out.

    Attributes:
        program: The lifted program with the original objective; the original variables come
            first, the indicators after them.
        coordinates: Indices of the lifted variables.
        values: The values of each coordinate, ascending.
        first_indicator: Column of each coordinate's first indicator, or None where the variable
            is its own indicator.
    """

    program: IntegerProgram
    coordinates: tuple[int, ...]
    values: tuple[IntArray, ...]
    first_indicator: tuple[int | None, ...]

    def with_rewards(
        self, rewards: Sequence[IntArray], *, scale: int = 1, total: TotalReward | None = None
    ) -> IntegerProgram:
        """The lifted program that minimises ``scale * objective - rewards``."""
        _check_rewards(rewards, tuple(len(v) for v in self.values))
        costs = self.program.objective * scale
        constant = self.program.constant * scale
        for j, first, values, reward in zip(
            self.coordinates, self.first_indicator, self.values, rewards, strict=True
        ):
            if first is not None:
                costs[first : first + len(values)] -= reward
            elif len(values) == 1:
                constant -= float(reward[0])
            else:
                slope = float(reward[1] - reward[0])
                costs[j] -= slope
                constant -= float(reward[0]) - slope * float(values[0])
        rewarded = self.program.with_objective(costs, constant)
        return rewarded if total is None else total.added_to(rewarded, *self._total_row(total))

    def _total_row(self, total: TotalReward) -> tuple[sp.csr_array, int]:
        """Coefficients over the lifted columns, and a constant, that add up to the total."""
        coefficients = np.zeros((1, self.program.n_variables))
        constant = 0
        for j, first, values, part in zip(
            self.coordinates, self.first_indicator, self.values, total.parts, strict=True
        ):
            if first is not None:
                coefficients[0, first : first + len(values)] = part
            elif len(values) == 1:
                constant += int(part[0])
            else:
                coefficients[0, j] = part[1] - part[0]
                constant += int(part[0] - (part[1] - part[0]) * values[0])
        return sp.csr_array(coefficients), constant

    def complete(self, point: ArrayLike) -> NDArray[np.float64]:
        """A point of the original program with its indicators appended."""
        x = np.asarray(point, dtype=np.float64)
        lifted = np.zeros(self.program.n_variables)
        lifted[: len(x)] = x
        for j, first, values in zip(
            self.coordinates, self.first_indicator, self.values, strict=True
        ):
            if first is not None:
                lifted[first + int(np.searchsorted(values, x[j]))] = 1.0
        return lifted


def one_hot(
    program: IntegerProgram,
    coordinates: Sequence[int],
    values: Sequence[ArrayLike] | None = None,
) -> OneHotLift:
    """Lift some variables of a program.

    Args:
        program: The program; its objective and rows are kept.
        coordinates: Distinct indices of integer variables.
        values: The values that each may take, distinct integers within the bounds. Default:
            every integer within the bounds, which must then be finite.

    Raises:
        ProblemError: A coordinate is not an integer variable, is listed twice, has no finite
            bounds, or a value lies outside them.
        SpaceTooLargeError: A coordinate has more than ``MAX_VALUES`` values.
    """
    chosen = tuple(int(j) for j in coordinates)
    if len(set(chosen)) != len(chosen):
        raise ProblemError("coordinates: a variable is listed twice")
    spelled = tuple(
        _values(program, j, None if values is None else values[i]) for i, j in enumerate(chosen)
    )
    first: list[int | None] = []
    columns = program.n_variables
    for value in spelled:
        own = len(value) == 1 or (len(value) == 2 and value[1] - value[0] == 1)
        first.append(None if own else columns)
        columns += 0 if own else len(value)
    lifted = _append_indicators(program, chosen, spelled, first, columns)
    return OneHotLift(lifted, chosen, spelled, tuple(first))


def _values(program: IntegerProgram, j: int, given: ArrayLike | None) -> IntArray:
    if not 0 <= j < program.n_variables:
        raise ProblemError(f"coordinates: there is no variable number {j}")
    name = program.names[j]
    if not program.integer[j]:
        raise ProblemError(f"coordinates: {name!r} is continuous; only integers can be lifted")
    low, high = float(program.lower[j]), float(program.upper[j])
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ProblemError(f"coordinates: {name!r} has no finite bounds; state both")
    low, high = float(np.ceil(low)), float(np.floor(high))
    if given is None:
        if high - low >= MAX_VALUES:
            raise SpaceTooLargeError(
                f"coordinates: {name!r} has more than {MAX_VALUES} values; tighten its bounds"
            )
        if high < low:
            raise InfeasibleError(f"coordinates: {name!r} has no integer within its bounds")
        return np.arange(int(low), int(high) + 1, dtype=np.int64)
    listed = np.asarray(given)
    spelled = np.unique(listed.astype(np.int64))
    if len(spelled) != listed.size or not np.array_equal(np.sort(listed.ravel()), spelled):
        raise ProblemError(f"values: {name!r} needs distinct integers")
    if len(spelled) == 0 or spelled[0] < low or spelled[-1] > high:
        raise ProblemError(f"values: {name!r} needs values within its bounds, at least one")
    return spelled


def _append_indicators(
    program: IntegerProgram,
    chosen: tuple[int, ...],
    values: tuple[IntArray, ...],
    first: list[int | None],
    columns: int,
) -> IntegerProgram:
    lower = program.lower.copy()
    upper = program.upper.copy()
    rows: list[int] = []
    cols: list[int] = []
    entries: list[float] = []
    right: list[float] = []
    indicators: list[Column] = []
    for j, value, start in zip(chosen, values, first, strict=True):
        lower[j], upper[j] = value[0], value[-1]
        if start is None:
            continue
        own = range(start, start + len(value))
        link, pick = len(right), len(right) + 1
        rows += [link] * (len(value) + 1) + [pick] * len(value)
        cols += [j, *own, *own]
        entries += [1.0, *(-value.astype(float)), *([1.0] * len(value))]
        right += [0.0, 1.0]
        indicators += [Column(f"{program.names[j]}={a}", 0, 1) for a in value]
    added = sp.csr_array((entries, (rows, cols)), shape=(len(right), columns))
    sides = np.array(right)
    return extend(program, indicators, added, sides, sides, bounds=(lower, upper))


def _check_rewards(rewards: Sequence[IntArray], sizes: tuple[int, ...]) -> None:
    shapes = tuple(np.shape(reward) for reward in rewards)
    if shapes != tuple((size,) for size in sizes):
        raise ProblemError("rewards: one array per coordinate, one entry per value, expected")
