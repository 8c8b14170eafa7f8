"""Who spent what, on which data.

A ledger holds a budget for every data set by name and takes each charge *before* any noise is
drawn, by basic sequential composition: the epsilons add up, and so do the deltas (Dwork and Roth
2014, Theorem 3.16). A charge is never given back: a run that fails or refuses after its noise was
drawn has depended on the data.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from oracle_dp.errors import LedgerError, OverspendError, ParameterError
from oracle_dp.noise import rational
from oracle_dp.privacy import Neighbors


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What may be spent on one data set under one neighbour relation.

    A float is the decimal that it prints as: three charges of 0.1 fill a budget of 0.3, whose
    binary value is a little less. A charge is never more than its decimal.

    Args:
        epsilon: Total epsilon, not negative.
        delta: Total delta, in [0, 1).
        neighbors: The relation that every charge must have.

    Raises:
        ParameterError: A parameter is out of its range.
    """

    epsilon: float | Fraction
    delta: float | Fraction = 0
    neighbors: Neighbors | str = Neighbors.REPLACE

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _printed("epsilon", self.epsilon))
        object.__setattr__(self, "delta", _printed("delta", self.delta))
        _set_figures(self, "a budget")


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One entry of the ledger.

    Args:
        dataset: Name of the data set.
        mechanism: Name of the mechanism that spends.
        epsilon: Not negative.
        delta: In [0, 1).
        neighbors: The relation that epsilon and delta are for.

    Raises:
        ParameterError: A parameter is out of its range.
    """

    dataset: str
    mechanism: str
    epsilon: Fraction
    delta: Fraction
    neighbors: Neighbors

    def __post_init__(self) -> None:
        _check_name(self.dataset)
        # Exact and never negative: a negative charge would give budget back.
        _set_figures(self, "a charge")


class Ledger:
    """Budgets and charges, in memory, safe to share between threads.

    Args:
        budgets: For each data set's name a :class:`Budget`, or its epsilon alone (pure,
            ``"replace"``).

    Raises:
        ParameterError: A name is not a non-empty string, or a budget is out of its range.
    """

    def __init__(self, budgets: Mapping[str, Budget | float]) -> None:
        if not isinstance(budgets, Mapping):
            raise ParameterError("budgets: a mapping expected, such as {'survey': 1.0}")
        for name in budgets:
            _check_name(name)
        self.budgets = {
            name: budget if isinstance(budget, Budget) else Budget(epsilon=budget)
            for name, budget in budgets.items()
        }
        self._charges: list[Charge] = []
        self._lock = threading.Lock()
        self._process = os.getpid()

    def __repr__(self) -> str:
        return f"Ledger({self.budgets!r})"

    @property
    def charges(self) -> tuple[Charge, ...]:
        """Every charge, in order."""
        with self._lock:
            return tuple(self._charges)

    def budget(self, dataset: str) -> Budget:
        """The budget of a data set.

        Raises:
            LedgerError: The ledger has none for this name.
        """
        budget = self.budgets.get(dataset)
        if not isinstance(budget, Budget):
            known = ", ".join(map(repr, self.budgets)) or "none"
            raise LedgerError(f"dataset: no budget for {dataset!r}; the ledger knows {known}")
        return budget

    def spent(self, dataset: str) -> tuple[Fraction, Fraction]:
        """Epsilon and delta spent so far."""
        mine = [charge for charge in self.charges if charge.dataset == dataset]
        return sum((c.epsilon for c in mine), Fraction(0)), sum(
            (c.delta for c in mine), Fraction(0)
        )

    def remaining(self, dataset: str) -> tuple[Fraction, Fraction]:
        """Epsilon and delta still to be spent."""
        budget, (epsilon, delta) = self.budget(dataset), self.spent(dataset)
        return Fraction(budget.epsilon) - epsilon, Fraction(budget.delta) - delta

    def __copy__(self) -> Ledger:
        return self

    def __deepcopy__(self, memo: object) -> Ledger:
        # scikit-learn clones estimators by copying their parameters: a copy of the ledger would
        # let every clone spend the whole budget again.
        return self

    def __reduce__(self) -> tuple[object, ...]:
        raise LedgerError(
            "ledger: one in memory cannot be saved or sent to another process, where its budget "
            "would be spent again; fit in this process, or pickle the estimator without it "
            "(set_params(ledger=None))"
        )

    def charge(self, charge: Charge) -> None:
        """Take a charge, before any noise is drawn.

        Raises:
            LedgerError: The data set has no budget, or one under another neighbour relation.
            OverspendError: The charge exceeds what remains. Nothing is charged.
        """
        if type(charge) is not Charge:  # Nothing that only looks like one, with another epsilon.
            raise LedgerError(f"charge: an oracle_dp.Charge expected, not {charge!r}")
        if os.getpid() != self._process:
            raise LedgerError(
                "ledger: this process was forked from the ledger's own, and both would spend the "
                "whole budget; charge it in the process that made it"
            )
        budget = self.budget(charge.dataset)
        if budget.neighbors is not charge.neighbors:
            raise LedgerError(
                f"neighbors: the budget of {charge.dataset!r} is for "
                f"{Neighbors.parse(budget.neighbors).value!r}, the charge for "
                f"{charge.neighbors.value!r}; epsilons of different relations do not add up"
            )
        with self._lock:
            mine = [c for c in self._charges if c.dataset == charge.dataset]
            epsilon = sum((c.epsilon for c in mine), charge.epsilon)
            delta = sum((c.delta for c in mine), charge.delta)
            if epsilon > budget.epsilon or delta > budget.delta:
                raise OverspendError(
                    f"dataset {charge.dataset!r}: this charge of epsilon "
                    f"{float(charge.epsilon):g}, delta {float(charge.delta):g} exceeds what "
                    f"remains; spend less, or raise the budget knowingly"
                )
            self._charges.append(charge)


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name:
        raise ParameterError(f"dataset: a name must be a non-empty string, not {name!r}")


def _printed(name: str, value: float | Fraction) -> Fraction:
    """A figure of a budget as it is written."""
    if isinstance(value, float | np.floating) and np.isfinite(value):
        return Fraction(np.format_float_scientific(value, trim="-"))
    return rational(name, value)


def _set_figures(entry: Budget | Charge, what: str) -> None:
    """Make the figures of a frozen entry exact, or refuse them."""
    epsilon, delta = rational("epsilon", entry.epsilon), rational("delta", entry.delta)
    if epsilon < 0:
        raise ParameterError(f"epsilon: {what} must not be negative, not {entry.epsilon!r}")
    if not 0 <= delta < 1:
        raise ParameterError(f"delta: {what} lies in [0, 1), not {entry.delta!r}")
    object.__setattr__(entry, "epsilon", epsilon)
    object.__setattr__(entry, "delta", delta)
    object.__setattr__(entry, "neighbors", Neighbors.parse(entry.neighbors))
