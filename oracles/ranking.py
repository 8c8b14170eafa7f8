"""The best points of a problem in order, each proven, by partition.

The set is split around a minimiser w: part j keeps w's values before coordinate j, forbids w_j, and
leaves the rest free. The parts are disjoint and hold everything but w, so the best of what is left
is the best of their minimisers (Murty, Operations Research 16, 1968; Lawler, Management Science 18,
1972). A part's points lose at least what w does, so parts wait unsolved until it is their turn.

A forbidden value is one with a reward of ``-price``, where price exceeds the spread of the loss:
a point with a forbidden value then loses more than any without, so that a proven minimiser with
one says that the part is empty.
"""

from __future__ import annotations

import dataclasses
import heapq
import itertools
import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from oracles.coordinates import CountableProblem
from oracles.errors import ProblemError
from oracles.oracle import UNLIMITED, Limits
from oracles.parallel import in_order
from oracles.solution import Certificate, Solution, Status

PointT = TypeVar("PointT")

MAX_SPREAD = 2**60
"""Largest spread of the loss: prices and what they are compared with then fit into 64 bits. What a
solver's floats can tell apart is less; beyond that it gives no certificate."""

Part = tuple[NDArray[np.bool_], ...]
"""The values allowed at each coordinate."""

Entry = tuple[float, bool, int, Part, tuple[int, ...]]
"""Bound, whether the part is still to be solved, its number, the part, its best point."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A point and its loss.

    Attributes:
        positions: Index of each coordinate's value.
        loss: Its loss, exactly.
    """

    positions: tuple[int, ...]
    loss: int


def best_points(
    problem: CountableProblem[PointT],
    number: int,
    *,
    limits: Limits = UNLIMITED,
    n_jobs: int | None = 1,
) -> Solution[tuple[Ranked, ...]]:
    """The points of least loss, ascending; ties in any order.

    Args:
        problem: An integer loss.
        number: How many, positive. Fewer are found only if there are no more.
        limits: Seconds are for all minimisations together, nodes and threads for each.
        n_jobs: Workers, as joblib counts them. Parts that will perhaps be needed are minimised
            beside the one that is, so the points do not depend on it.

    Returns:
        The points, with the weakest of the certificates involved: no other point loses less than
        the last of them. ``objective`` is the last one's loss. Without a value if a minimisation
        was not proven.

    Raises:
        ProblemError: The loss is not integer, or spreads beyond ``MAX_SPREAD``.
        WorkerError: Workers died again and again.
    """
    check_rankable(problem)
    ahead = _Ahead(problem, n_jobs)
    deadline = None if limits.seconds is None else time.monotonic() + limits.seconds
    serial = itertools.count()
    whole = tuple(np.ones(size, dtype=bool) for size in problem.sizes)
    queue: list[Entry] = []
    heapq.heappush(queue, (-math.inf, True, next(serial), whole, ()))
    found: list[Ranked] = []
    weakest, oracle = Certificate.EXACT, ""
    while queue and len(found) < number:
        bound, is_open, own, part, point = heapq.heappop(queue)
        if not is_open:
            found.append(Ranked(point, int(bound)))
            for smaller in _split(part, point):
                heapq.heappush(queue, (bound, True, next(serial), smaller, ()))
            continue
        others = (entry for entry in queue if entry[1])
        solution = ahead.solution(own, part, others, _left(limits, deadline))
        oracle = solution.oracle
        if solution.value is None or not _follows(solution, bound):
            failed = (
                Status.ERROR if solution.certificate is not Certificate.NONE else solution.status
            )
            return Solution(failed, None, None, -math.inf, Certificate.NONE, oracle)
        if solution.certificate is Certificate.SOLVER:
            weakest = Certificate.SOLVER
        point = problem.positions(solution.value)
        if all(allowed[i] for allowed, i in zip(part, point, strict=True)):
            heapq.heappush(queue, (solution.objective or 0, False, next(serial), part, point))
    if not found:
        return Solution(Status.INFEASIBLE, None, None, -math.inf, Certificate.NONE, oracle)
    last = found[-1].loss
    return Solution(Status.OPTIMAL, tuple(found), last, last, weakest, oracle)


def check_rankable(problem: CountableProblem[PointT]) -> None:
    """Refuse a loss whose points cannot be ranked.

    Raises:
        ProblemError: The loss is not integer, or spreads beyond ``MAX_SPREAD``.
    """
    if not problem.is_integer:
        raise ProblemError("problem: ranking needs an integer loss; multiply it to integers")
    if problem.loss_spread > MAX_SPREAD:
        raise ProblemError(f"problem: its losses may differ by more than {MAX_SPREAD}; rescale it")


class _Ahead(Generic[PointT]):
    """Minimisers of parts, found by several workers at a time."""

    def __init__(self, problem: CountableProblem[PointT], n_jobs: int | None) -> None:
        self._problem, self._n_jobs = problem, n_jobs
        self._found: dict[int, Solution[PointT]] = {}

    def solution(
        self, own: int, part: Part, others: Iterable[Entry], limits: Limits
    ) -> Solution[PointT]:
        """The minimiser of a part; workers that are free solve those of the others next in turn."""
        if own not in self._found:
            chosen = {own: part}
            if self._n_jobs != 1:
                from joblib import effective_n_jobs

                waiting = (entry for entry in others if entry[2] not in self._found)
                free = effective_n_jobs(self._n_jobs) - 1
                chosen |= {entry[2]: entry[3] for entry in heapq.nsmallest(free, waiting)}
            shared = self._problem, limits
            solved = in_order(_minimize, shared, list(chosen.values()), n_jobs=self._n_jobs)
            self._found.update(zip(chosen, solved, strict=True))
        return self._found.pop(own)


def _minimize(given: tuple[CountableProblem[PointT], Limits], part: Part) -> Solution[PointT]:
    problem, limits = given
    price = problem.loss_spread + 1
    rewards = [np.where(allowed, 0, -price).astype(np.int64) for allowed in part]
    return problem.minimize(rewards, limits=limits)


def _follows(solution: Solution[PointT], bound: float) -> bool:
    """Whether a minimum is proven, and not below that of a set that holds the part."""
    proven = solution.certificate in (Certificate.EXACT, Certificate.SOLVER)
    objective = solution.objective
    return proven and isinstance(objective, int) and objective >= bound


def _split(part: Part, point: tuple[int, ...]) -> Iterator[Part]:
    """The parts around a point; those without a value at some coordinate are left out."""
    chosen = tuple(np.arange(len(allowed)) == i for allowed, i in zip(part, point, strict=True))
    for j, allowed in enumerate(part):
        rest = allowed & ~chosen[j]
        if rest.any():
            yield (*chosen[:j], rest, *part[j + 1 :])


def _left(limits: Limits, deadline: float | None) -> Limits:
    if deadline is None:
        return limits
    return dataclasses.replace(limits, seconds=max(deadline - time.monotonic(), 1e-9))
