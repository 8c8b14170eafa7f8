"""Who spent what, on which data.

A ledger holds a budget for every data set by name and takes each charge *before* any noise is
drawn. By default the epsilons add up, and so do the deltas (Dwork and Roth 2014, Theorem 3.16); a
budget may ask for composition by zero-concentrated privacy (docs/accounting.md, Theorem 7). A
charge is never given back: a run that fails or refuses after its noise was drawn has depended on
the data.

:class:`Ledger` is in memory; :meth:`Ledger.create` and :meth:`Ledger.open` keep one in a file that
processes may share.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from oracle_dp.amendment import Amendment, amended
from oracle_dp.budget import (
    Budget,
    Charge,
    Composition,
    Total,
    admit,
    check_charge,
    composed,
    read_budgets,
    shown,
)
from oracle_dp.errors import LedgerError

if TYPE_CHECKING:
    from oracle_dp.ledger_file import DurableLedger

__all__ = ["Amendment", "Budget", "Charge", "Composition", "Ledger"]


class Ledger:
    """Budgets and charges, in memory, safe to share between threads.

    Args:
        budgets: For each data set's name a :class:`Budget`, or its epsilon alone (pure,
            ``"replace"``).

    Raises:
        ParameterError: A name is not a non-empty string, or a budget is out of its range.
    """

    def __init__(self, budgets: Mapping[str, Budget | float]) -> None:
        self._budgets = read_budgets(budgets)
        self._charges: list[Charge] = []
        self._amendments: list[Amendment] = []
        self._lock = threading.Lock()
        self._process = os.getpid()

    @staticmethod
    def create(path: str | Path, budgets: Mapping[str, Budget | float]) -> DurableLedger:
        """Make a ledger in a new file, which any process may open.

        Raises:
            ParameterError: As for the class.
            LedgerFileError: The file is there already, or cannot be written.
        """
        from oracle_dp.ledger_file import DurableLedger

        return DurableLedger.made(path, budgets)

    @staticmethod
    def open(path: str | Path) -> DurableLedger:
        """The ledger in a file.

        Raises:
            LedgerFileError: The file is missing, damaged, not a ledger, or of a newer version.
        """
        from oracle_dp.ledger_file import DurableLedger

        return DurableLedger(path)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({_summary(self)})"

    @property
    def budgets(self) -> Mapping[str, Budget]:
        """Every data set's budget."""
        return dict(self._budgets)

    @property
    def charges(self) -> tuple[Charge, ...]:
        """Every charge, in order."""
        with self._lock:
            return tuple(self._charges)

    @property
    def amendments(self) -> tuple[Amendment, ...]:
        """Every change of a budget, in order."""
        with self._lock:
            return tuple(self._amendments)

    def budget(self, dataset: str) -> Budget:
        """The budget of a data set.

        Raises:
            LedgerError: The ledger has none for this name.
        """
        return budget_of(self.budgets, dataset)

    def spent(self, dataset: str) -> tuple[Fraction, Fraction]:
        """Epsilon and delta spent so far, by the budget's composition."""
        spent, budget = self._total(dataset), self.budgets.get(dataset)
        return (spent.epsilon, spent.delta) if budget is None else composed(budget, spent)

    def _total(self, dataset: str) -> Total:
        return Total.of(charge for charge in self.charges if charge.dataset == dataset)

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
            "would be spent again; use one in a file (Ledger.create), fit in this process, or "
            "pickle the estimator without it (set_params(ledger=None))"
        )

    def amend(
        self,
        dataset: str,
        *,
        epsilon: float | Fraction | None = None,
        delta: float | Fraction | None = None,
        reason: str,
    ) -> Amendment:
        """Raise or lower a data set's budget, and keep a record of it.

        What was released until then is as private as it was; all releases together are as private
        as the budget says that stands last. If a budget is raised because of what releases showed,
        read the guarantee with the largest budget to which they could have led
        (docs/accounting.md).

        Args:
            dataset: Its name.
            epsilon: The new total epsilon; None for the old one.
            delta: The new total delta; None for the old one.
            reason: Kept with the record. Write nothing there that the data told.

        Raises:
            ParameterError: A figure is out of its range, none is given, or there is no reason.
            LedgerError: The data set has no budget, or the new one would not cover what is spent.
        """
        self._check_process()
        with self._lock:
            budget = self.budget(dataset)
            earlier = [c for c in self._charges if c.dataset == dataset]
            after = amended(budget, Total.of(earlier), epsilon=epsilon, delta=delta, reason=reason)
            entry = Amendment(
                dataset=dataset, before=budget, after=after, charges=len(earlier), reason=reason
            )
            self._budgets[dataset] = after
            self._amendments.append(entry)
        return entry

    def charge(self, charge: Charge) -> None:
        """Take a charge, before any noise is drawn.

        Raises:
            LedgerError: The data set has no budget, or one under another neighbour relation.
            OverspendError: The charge exceeds what remains. Nothing is charged.
        """
        check_charge(charge)
        self._check_process()
        with self._lock:
            budget = self.budget(charge.dataset)
            earlier = Total.of(c for c in self._charges if c.dataset == charge.dataset)
            admit(budget, earlier, charge)
            self._charges.append(charge)

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise LedgerError(
                "ledger: this process was forked from the ledger's own, and both would spend the "
                "whole budget; charge it in the process that made it, or use one in a file"
            )


def budget_of(budgets: Mapping[str, Budget], dataset: str) -> Budget:
    """The budget of a data set.

    Raises:
        LedgerError: There is none of this name.
    """
    if dataset not in budgets:
        known = ", ".join(map(repr, budgets)) or "none"
        raise LedgerError(f"dataset: no budget for {dataset!r}; the ledger knows {known}")
    return budgets[dataset]


def _summary(ledger: Ledger) -> str:
    """What is spent of every budget, for a person."""
    parts = []
    for name, budget in ledger.budgets.items():
        epsilon, delta = ledger.spent(name)
        of = f"epsilon {shown(epsilon)} of {shown(budget.epsilon)}"
        deltas = f", delta {shown(delta)} of {shown(budget.delta)}" if budget.delta else ""
        parts.append(f"{name!r}: {of}{deltas} spent")
    return "; ".join(parts)
