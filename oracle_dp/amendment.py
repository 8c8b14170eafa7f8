"""A budget that is changed on purpose: to what, from what, and why.

A budget may be raised, since what it allows is its owner's decision, and lowered down to what is
spent. What that means for the guarantee of all releases together: docs/accounting.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from oracle_dp.budget import Budget, Total, fits, shown
from oracle_dp.errors import LedgerError, ParameterError


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """A change of a budget's totals, as the ledger keeps it.

    Attributes:
        dataset: Name of the data set.
        before: The budget until then.
        after: The budget from then on.
        charges: How many charges on the data set there were.
        reason: Why, in the words of whoever made it.
    """

    dataset: str
    before: Budget
    after: Budget
    charges: int
    reason: str


def amended(
    budget: Budget,
    spent: Total,
    *,
    epsilon: float | Fraction | None,
    delta: float | Fraction | None,
    reason: str,
) -> Budget:
    """A budget with other totals, for the reason given.

    Raises:
        ParameterError: A figure is out of its range, none is given, or there is no reason.
        LedgerError: It would not cover what is spent already.
    """
    if epsilon is None and delta is None:
        raise ParameterError("epsilon, delta: at least one of them expected")
    if not isinstance(reason, str) or not reason.strip():
        raise ParameterError("reason: some words expected; they are kept with the ledger")
    changed = Budget(
        epsilon=budget.epsilon if epsilon is None else epsilon,
        delta=budget.delta if delta is None else delta,
        neighbors=budget.neighbors,
        composition=budget.composition,
    )
    if not fits(changed, spent):
        raise LedgerError(
            f"budget: epsilon {shown(changed.epsilon)}, delta {shown(changed.delta)} would not "
            "cover what is spent already, which cannot be taken back"
        )
    return changed
