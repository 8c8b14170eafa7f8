"""A loss over nearest sites as a problem that can be minimised with rewards, counted and ranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oracles.oracle import UNLIMITED, Limits
from oracles.selection.base import IntArray
from oracles.selection.facility import FacilityLoss
from oracles.selection.search import minimize_loss
from oracles.solution import Solution


@dataclass(frozen=True, eq=False)
class FacilityProblem:
    """Choices of sites; see :class:`oracles.coordinates.RankedProblem`.

    Rewards are prices of sites with the sign turned, so that a perturbed loss is one of the same
    kind, and its minimum is proven in integers.

    Args:
        loss: The loss.
    """

    loss: FacilityLoss

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of every variable: one or two."""
        base = self.loss.base
        return tuple(int(size) for size in base.upper - base.lower + 1)

    @property
    def is_integer(self) -> bool:
        """Always true."""
        return True

    @property
    def n_points(self) -> int:
        """Number of choices."""
        return self.loss.base.n_points

    @property
    def loss_spread(self) -> int:
        """Every client from its least cost to its fallback, and all prices."""
        nearest = np.minimum(self.loss.costs.min(axis=1, initial=2**40), self.loss.fallback)
        clients = int(self.loss.counts @ (self.loss.fallback - nearest))
        return clients + int(np.abs(self.loss.opening).sum())

    def positions(self, value: IntArray) -> tuple[int, ...]:
        """Index of each variable's value."""
        return tuple(int(x) for x in value - self.loss.base.lower)

    def point(self, positions: Sequence[int]) -> IntArray | None:
        """The choice at these positions, or None if it is not allowed."""
        chosen = self.loss.base.lower + np.array(positions, dtype=np.int64)
        return chosen if self.loss.base.contains(chosen) else None

    def point_at(self, rank: int) -> IntArray:
        """The choice of a rank."""
        return self.loss.base.point_at(rank)

    def check(self, *, scale: int = 1, limits: Limits = UNLIMITED) -> None:
        """A base set has a member and losses are finite; only their size can be wrong.

        Raises:
            ProblemError: The numbers would not fit into 64 bits.
        """
        self._tilted(np.zeros_like(self.loss.opening), scale)

    def minimize(
        self, rewards: Sequence[IntArray], *, scale: int = 1, limits: Limits = UNLIMITED
    ) -> Solution[IntArray]:
        """Minimise ``scale * loss - rewards``.

        Raises:
            ProblemError: The numbers would not fit into 64 bits.
        """
        first = sum(int(reward[0]) for reward in rewards)
        steps = [int(reward[1] - reward[0]) if len(reward) > 1 else 0 for reward in rewards]
        found = minimize_loss(self._tilted(np.array(steps, dtype=np.int64), scale), limits=limits)
        # A fixed variable has its reward whatever is chosen; that of a base at 1 is in ``steps``.
        assert found.objective is not None, "a search begins with a member"
        return Solution(
            found.status, found.value, found.objective - first, found.bound - first,
            found.certificate, found.oracle,
        )  # fmt: skip

    def _tilted(self, steps: IntArray, scale: int) -> FacilityLoss:
        """``scale * loss`` less a reward for every chosen site."""
        loss = self.loss
        return FacilityLoss(
            loss.base,
            loss.costs,
            loss.counts * scale,
            fallback=loss.fallback,
            opening=loss.opening * scale - steps,
        )
