"""From tables of cells to a released scoring card: what every way to fit has in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral

import numpy as np

from oracle_dp.domain import Domain
from oracle_dp.errors import DomainError, ParameterError
from oracle_dp.estimators.labels import Label, check_classes
from oracle_dp.estimators.mechanisms import Weights
from oracle_dp.estimators.one_vs_rest import OneVsRest
from oracle_dp.estimators.scoring_card import MAX_TOTAL, ScoringCard
from oracle_dp.estimators.split_budget import Settings, split
from oracle_dp.privacy import Release
from oracles.zero_one import CellTable, ClassCounts


def release(
    trainers: Sequence[Callable[[Settings, Settings], Release[Weights]]],
    common: Settings,
    options: Settings,
    domain: Domain,
    classes: tuple[Label, ...],
) -> Release[ScoringCard | OneVsRest]:
    """Run the mechanism for every card, and make its weights points."""
    if len(trainers) == 1:
        one = trainers[0](common, options)
        card = ScoringCard(domain, _points(one.value), check_classes(classes))
        return Release(card, one.guarantee)
    several = split(trainers, common, options)
    cards = OneVsRest.from_points(domain, [_points(value) for value in several.value], classes)
    return Release(cards, several.guarantee)


def _points(weights: Weights) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(weight) for weight in block) for block in weights)


def checked_domain(domain: object) -> Domain:
    """The domain, if it is one."""
    if not isinstance(domain, Domain):
        raise DomainError(
            f"domain: a {type(domain).__name__}; state the public schema of the attributes "
            "(oracle_dp.domain.Domain)"
        )
    return domain


def checked_weights(given: Sequence[int], n_attributes: int) -> tuple[int, ...]:
    """The values that every weight may take, if a card can hold them."""
    listed = list(given) if np.iterable(given) else [None]
    if any(isinstance(w, bool) or not isinstance(w, Integral) for w in listed):
        raise ParameterError(
            f"weights: a sequence of integers expected, such as (-1, 0, 1), not {given!r}"
        )
    weights = tuple(int(w) for w in given)
    # Asked here, whatever the rows: the card could not hold such points once they are paid for.
    if n_attributes * max(map(abs, weights), default=0) > MAX_TOTAL:
        raise ParameterError("weights: a total could exceed 64 bits; use smaller weights")
    return weights


def tables_of(
    cells: CellTable | ClassCounts, domain: Domain, classes: Sequence[Label]
) -> list[CellTable]:
    """One table for two classes, else one for each class against the rest.

    Raises:
        DomainError: The cells are not of this domain, or not of so many classes.
    """
    if not isinstance(cells, CellTable | ClassCounts):
        raise DomainError(f"cells: a CellTable or ClassCounts expected, not {type(cells).__name__}")
    n_classes = 2 if isinstance(cells, CellTable) else cells.n_classes
    if n_classes != len(classes):
        raise DomainError(f"cells: of {n_classes} classes, and classes={tuple(classes)!r}")
    if cells.levels != domain.levels or (isinstance(cells, CellTable) and cells.is_matrix):
        raise DomainError("cells: their levels are not those of the domain, attribute by attribute")
    if isinstance(cells, CellTable):
        return [cells.project(range(len(domain)))]  # Merged and in order, by whomever it was made.
    positives = (1,) if n_classes == 2 else range(n_classes)
    return [cells.against_rest(i) for i in positives]
