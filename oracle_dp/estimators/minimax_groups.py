"""The groups of :class:`~oracle_dp.estimators.minimax.MinimaxClassifier` and their shares."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oracle_dp.domain import Domain
from oracle_dp.errors import ParameterError
from oracle_dp.privacy import Contingency, ContingencyKind
from oracle_dp.variational.calibration import Schedule
from oracles.arrays import floats
from oracles.errors import ProblemError
from oracles.monotone import GroupRobustLogistic

PUBLIC_GROUPS = Contingency(
    ContingencyKind.CALLER,
    "the group of every record is public: the groups' sizes were counted, and a neighbour's record "
    "is in the same group",
)

WANDER = 0.25
"""By how many times its share noise alone moves a group's weight in all steps, on average."""


def groups_of(
    groups: object, domain: Domain | None, X: Any, n_rows: int
) -> tuple[list[str], NDArray[np.intp]]:
    """Labels of all groups, and the group of each row.

    Raises:
        ParameterError: ``groups`` are not names, or there is no domain to read them from.
    """
    if groups is None:
        return ["all"], np.zeros(n_rows, dtype=np.intp)
    given = [groups] if isinstance(groups, str) else groups
    named = list(given) if isinstance(given, Iterable) else []
    if domain is None or not named or not all(isinstance(name, str) for name in named):
        raise ParameterError(
            f"groups: names of attributes of a domain expected, not {groups!r}; give domain too"
        )
    chosen = domain[named]
    codes = np.ravel_multi_index(tuple(chosen.encode(X).T), chosen.levels)
    grid = np.indices(chosen.levels).reshape(len(named), -1).T
    levels = [[str(level) for level in attribute.labels] for attribute in chosen]
    names = [" x ".join(levels[j][i] for j, i in enumerate(row)) for row in grid]
    return names, codes


def public_shares(given: object, names: list[str]) -> NDArray[np.float64] | None:
    """The shares that the caller knows, in the order of the groups; None where none are given.

    Raises:
        ParameterError: They are no mapping to numbers, or a group has none.
    """
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ParameterError("group_shares: a mapping from groups to fractions expected")
    missing = [name for name in names if name not in given]
    if missing:
        raise ParameterError(f"group_shares: no share for {', '.join(missing)}")
    try:
        return floats("group_shares", [given[name] for name in names])
    except ProblemError as error:
        raise ParameterError(str(error)) from error


def counted_shares(names: list[str], codes: NDArray[np.intp]) -> NDArray[np.float64]:
    """The groups' shares of the records at hand: groups are then taken to be public.

    Raises:
        ParameterError: A group has fewer than two records.
    """
    sizes = np.bincount(codes, minlength=len(names))
    small = [name for name, size in zip(names, sizes, strict=True) if size < 2]
    if small:
        raise ParameterError(
            f"groups: fewer than two records in {', '.join(small)}; leave such levels out of "
            "the domain, or group by fewer attributes"
        )
    return np.asarray(sizes / len(codes))


def mixture_step(operator: GroupRobustLogistic, schedule: Schedule, multiplier: float) -> float:
    """The mixture's step length, from public constants: :data:`WANDER` for the noise alone.

    A longer step leaves the weights of small groups to noise. Beyond ``1 / (sqrt(3) L)`` NSEG's
    theorem on the gap allows none (docs/theory/variational.md, Theorem 9).
    """
    longest = 1 / (math.sqrt(3) * operator.lipschitz)
    groups = operator.n_groups
    noise = multiplier * groups * operator.half_range / math.sqrt(operator.loss_share)
    # In units of a group's share a step of the mixture's coordinates counts n_groups times.
    wander = groups * noise / schedule.batch_size * math.sqrt(schedule.releases)
    return min(longest, WANDER / wander)


def with_names(message: str, names: list[str]) -> str:
    """A message about group numbers, with the list of their names."""
    return f"{message} (groups: {', '.join(names)})" if message.startswith("groups") else message
