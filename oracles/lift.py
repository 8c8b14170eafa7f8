"""The one-hot lift: a reward for every (coordinate, value) as columns and rows.

A *coordinate* is an integer variable with finitely many values. The lift adds, for each
coordinate j and value a, a binary indicator r[j, a] with ``sum_a r[j, a] = 1`` and
``w_j = sum_a a r[j, a]``, so that any function of the single coordinates becomes linear. The
callers' functions are **rewards**: they are subtracted from the objective,

    minimise  scale * loss(w) - sum_j rewards[j][w_j].

A coordinate with two adjacent values is its own indicator and needs no new column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from oracles.errors import InfeasibleError, ProblemError, SpaceTooLargeError, UnboundedError
from oracles.oracle import UNLIMITED, Limits, Oracle
from oracles.problem import IntegerProgram
from oracles.solution import Solution, Status
from oracles.verdict import recheck

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

    def with_rewards(self, rewards: Sequence[IntArray], *, scale: int = 1) -> IntegerProgram:
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
        return self.program.with_objective(costs, constant)

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
    names = list(program.names)
    taken = set(names)
    for j, value, start in zip(chosen, values, first, strict=True):
        lower[j], upper[j] = value[0], value[-1]
        if start is None:
            continue
        indicators = range(start, start + len(value))
        link, pick = len(right), len(right) + 1
        rows += [link] * (len(value) + 1) + [pick] * len(value)
        cols += [j, *indicators, *indicators]
        entries += [1.0, *(-value.astype(float)), *([1.0] * len(value))]
        right += [0.0, 1.0]
        names += [_fresh(f"{program.names[j]}={a}", taken) for a in value]
    extra = columns - program.n_variables
    added = sp.csr_array((entries, (rows, cols)), shape=(len(right), columns))
    kept = sp.csr_array(
        (program.matrix.data, program.matrix.indices, program.matrix.indptr),
        shape=(program.n_rows, columns),
    )
    return IntegerProgram(
        np.concatenate([program.objective, np.zeros(extra)]),
        sp.vstack([kept, added], format="csr"),
        np.concatenate([program.row_lower, right]),
        np.concatenate([program.row_upper, right]),
        lower=np.concatenate([lower, np.zeros(extra)]),
        upper=np.concatenate([upper, np.ones(extra)]),
        integer=np.concatenate([program.integer, np.ones(extra, dtype=bool)]),
        constant=program.constant,
        names=names,
        negated=program.negated,
    )


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "'"
    taken.add(name)
    return name


def _check_rewards(rewards: Sequence[IntArray], sizes: tuple[int, ...]) -> None:
    shapes = tuple(np.shape(reward) for reward in rewards)
    if shapes != tuple((size,) for size in sizes):
        raise ProblemError("rewards: one array per coordinate, one entry per value, expected")


@dataclass(frozen=True, eq=False)
class ReleasedVariables:
    """A program of which some integer variables are wanted; the others are recourse.

    The loss of a choice w of the released variables is the minimum of the objective over the
    recourse; ``Solution.value`` is w alone, shape ``(len(released),)``, never the recourse.

    Args:
        program: The program.
        released: Indices of integer variables with finite bounds.
        oracle: What solves it.

    Raises:
        ProblemError: As :func:`one_hot`.
    """

    program: IntegerProgram
    released: tuple[int, ...]
    oracle: Oracle
    lift: OneHotLift = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lift", one_hot(self.program, self.released))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of each released variable."""
        return tuple(len(values) for values in self.lift.values)

    @property
    def is_integer(self) -> bool:
        """Whether objective and recourse are integer."""
        return self.program.has_integer_objective and bool(self.program.integer.all())

    @property
    def n_points(self) -> int | None:
        """Number of choices; not known for a program with rows."""
        return None if self.program.n_rows else math.prod(self.sizes)

    @property
    def loss_spread(self) -> int:
        """Sum of ``|cost| * (greatest - least value)``: without rows, no choice moves the rest."""
        costs = self.program.objective[list(self.released)]
        return sum(
            math.ceil(abs(float(cost))) * int(values[-1] - values[0])
            for cost, values in zip(costs, self.lift.values, strict=True)
        )

    def positions(self, value: IntArray) -> tuple[int, ...]:
        """Index of each released variable's value."""
        return tuple(
            int(np.searchsorted(values, chosen))
            for values, chosen in zip(self.lift.values, value, strict=True)
        )

    def point(self, positions: Sequence[int]) -> IntArray:
        """The released variables; without rows every choice is a point."""
        chosen = zip(self.lift.values, positions, strict=True)
        return np.array([values[i] for values, i in chosen], dtype=np.int64)

    def check(self, *, limits: Limits = UNLIMITED) -> None:
        """Refuse an infeasible or unbounded program.

        Raises:
            InfeasibleError: No point satisfies the constraints.
            UnboundedError: The objective has no minimum.
            SolverError: The limits were reached before a feasible point was found.
        """
        constant = self.program.with_objective(self.program.objective * 0)
        feasible = self.oracle.minimize(constant, limits=limits)
        feasible.require_point()
        improving = np.where(self.program.objective > 0, self.program.lower, self.program.upper)
        if np.isfinite(improving[self.program.objective != 0]).all():
            return
        # A feasible program with rational data is unbounded iff its relaxation is.
        relaxed = self.oracle.minimize(self.program.relaxed(), limits=limits)
        if relaxed.status is Status.UNBOUNDED:
            raise UnboundedError(f"program: {Status.UNBOUNDED.message}")

    def minimize(
        self, rewards: Sequence[IntArray], *, scale: int = 1, limits: Limits = UNLIMITED
    ) -> Solution[IntArray]:
        """Minimise ``scale * objective - rewards``; the oracle's answer is checked here again."""
        lifted = self.lift.with_rewards(rewards, scale=scale)
        found = recheck(lifted, self.oracle.minimize(lifted, limits=limits), self.oracle)
        value = None if found.value is None else found.value[list(self.released)].astype(np.int64)
        return Solution(
            found.status, value, found.objective, found.bound, found.certificate, found.oracle
        )
