"""Losses over coordinates with finitely many values each: what is asked of a problem.

:class:`OneHotProblem` can be minimised with a reward for every (coordinate, value);
:class:`CountableProblem` can besides name its points and say how many there are. A
``ZeroOneProblem``, a ``FiniteTable`` and the ``ReleasedVariables`` of an integer program are both,
and :class:`SphereProblem` too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from oracles.oracle import UNLIMITED, Limits
from oracles.solution import Solution
from oracles.total import TotalReward

IntArray = NDArray[np.int64]
ReleasedT = TypeVar("ReleasedT", covariant=True)
PointT = TypeVar("PointT")


class OneHotProblem(Protocol[ReleasedT]):
    """A loss over coordinates with finitely many values each, which can be minimised with rewards.

    ``minimize`` solves ``min_w scale * loss(w) - sum_j rewards[j][index of w_j]``. The set of w
    does not depend on the loss. ``Solution.value`` is a function of the minimising w alone.
    """

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of each coordinate."""
        ...

    @property
    def is_integer(self) -> bool:
        """Whether every loss is an integer."""
        ...

    def check(self, *, scale: int = 1, limits: Limits = UNLIMITED) -> None:
        """Raise what would keep ``minimize`` from a proven point, whatever the rewards.

        Args:
            scale: As ``minimize`` will be given it.
            limits: When to stop.
        """
        ...

    def minimize(
        self, rewards: Sequence[IntArray], *, scale: int = 1, limits: Limits = UNLIMITED
    ) -> Solution[ReleasedT]:
        """Minimise with rewards; ``rewards[j]`` has shape ``(sizes[j],)``."""
        ...


@runtime_checkable
class SphereProblem(OneHotProblem[ReleasedT], Protocol[ReleasedT]):
    """A problem over integers that can be minimised with a reward for a total besides."""

    @property
    def values(self) -> tuple[IntArray, ...]:
        """The values of each coordinate, in the order of its rewards."""
        ...

    def check(
        self,
        *,
        scale: int = 1,
        total: TotalReward | None = None,
        limits: Limits = UNLIMITED,
    ) -> None:
        """As of every problem; only points whose total has a level count."""
        ...

    def minimize(
        self,
        rewards: Sequence[IntArray],
        *,
        scale: int = 1,
        total: TotalReward | None = None,
        limits: Limits = UNLIMITED,
    ) -> Solution[ReleasedT]:
        """Minimise with rewards and one for the total, over points whose total has a level."""
        ...


class CountableProblem(OneHotProblem[PointT], Protocol[PointT]):
    """A problem whose points can be counted, and named by the positions of their values."""

    @property
    def n_points(self) -> int | None:
        """Number of points, or None where it is not known."""
        ...

    @property
    def loss_spread(self) -> int:
        """An upper bound on the largest loss minus the least."""
        ...

    def positions(self, value: PointT) -> tuple[int, ...]:
        """Index of each coordinate's value: what a reward is looked up by."""
        ...

    def point(self, positions: Sequence[int]) -> PointT | None:
        """The point at these positions, as ``minimize`` would return it; None if there is none."""
        ...


@runtime_checkable
class RankedProblem(CountableProblem[PointT], Protocol[PointT]):
    """A countable problem whose points also have ranks: where points are rare among positions."""

    def point_at(self, rank: int) -> PointT:
        """The point of a rank from 0 to ``n_points - 1``; all ranks give all points."""
        ...
