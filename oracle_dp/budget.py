"""What may be spent on a data set, what a release spends, and how charges add up.

Theorem (docs/accounting.md, Theorem 7). Charges may be chosen adaptively: (epsilon, delta) holds
for all releases together if, whenever one is made, either the epsilons so far add up to at most
epsilon and the deltas to at most delta (with composition ``"zcdp"``: and none has a delta), or,
with ``"zcdp"``, the rhos add up to at most a rho that implies (epsilon, delta).

Where its hypotheses are enforced: :func:`admit`, in exact rationals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import lru_cache, reduce

import numpy as np

from oracle_dp.errors import LedgerError, OverspendError, ParameterError
from oracle_dp.noise import rational
from oracle_dp.privacy import Neighbors


class Composition(Enum):
    """How charges add up."""

    BASIC = "basic"
    """Epsilons and deltas are added, exactly."""
    ZCDP = "zcdp"
    """As before while no charge has a delta, or by rho, whichever leaves more."""

    @classmethod
    def parse(cls, given: Composition | str) -> Composition:
        """The member named by a string.

        Raises:
            ParameterError: There is no such composition.
        """
        try:
            return cls(given)
        except ValueError:
            raise ParameterError(
                f"composition: 'basic' or 'zcdp' expected, not {given!r}"
            ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What may be spent on one data set under one neighbour relation.

    A float is the decimal that it prints as: three charges of 0.1 fill a budget of 0.3, whose
    binary value is a little less. A charge is never more than its decimal.

    Args:
        epsilon: Total epsilon, not negative.
        delta: Total delta, in [0, 1).
        neighbors: The relation that every charge must have.
        composition: ``"basic"``, or ``"zcdp"``: needs a positive delta, and charges that are pure
            or state their rho.

    Raises:
        ParameterError: A parameter is out of its range.
    """

    epsilon: float | Fraction
    delta: float | Fraction = 0
    neighbors: Neighbors | str = Neighbors.REPLACE
    composition: Composition | str = Composition.BASIC

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _printed("epsilon", self.epsilon))
        object.__setattr__(self, "delta", _printed("delta", self.delta))
        _set_figures(self, "a budget")
        object.__setattr__(self, "composition", Composition.parse(self.composition))
        if self.composition is Composition.ZCDP and not (self.delta and self.epsilon):
            raise ParameterError(
                "delta: composition by zCDP needs a positive delta and epsilon; state them, or "
                "use composition='basic'"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One entry of the ledger.

    Args:
        dataset: Name of the data set.
        mechanism: Name of the mechanism that spends.
        epsilon: Not negative.
        delta: In [0, 1).
        neighbors: The relation that epsilon, delta and rho are for.
        rho: The same release in zero-concentrated differential privacy; None where it is epsilon's
            (epsilon^2 / 2 for a pure one) or unknown.

    Raises:
        ParameterError: A parameter is out of its range.
    """

    dataset: str
    mechanism: str
    epsilon: Fraction
    delta: Fraction
    neighbors: Neighbors
    rho: Fraction | None = None

    def __post_init__(self) -> None:
        _check_name(self.dataset)
        # Exact and never negative: a negative charge would give budget back.
        _set_figures(self, "a charge")
        if self.rho is not None:
            rho = rational("rho", self.rho)
            if rho < 0:
                raise ParameterError(f"rho: a charge must not be negative, not {self.rho!r}")
            object.__setattr__(self, "rho", rho)

    @property
    def concentrated(self) -> Fraction | None:
        """Its rho, as stated or as every pure epsilon implies."""
        if self.rho is None and self.delta == 0:
            return self.epsilon**2 / 2
        return self.rho


def read_budgets(budgets: object) -> dict[str, Budget]:
    """Budgets by name, of which each may be an epsilon alone.

    Raises:
        ParameterError: A name is not a non-empty string, or a budget is out of its range.
    """
    if not isinstance(budgets, Mapping):
        raise ParameterError("budgets: a mapping expected, such as {'survey': 1.0}")
    for name in budgets:
        _check_name(name)
    return {
        name: budget if isinstance(budget, Budget) else Budget(epsilon=budget)
        for name, budget in budgets.items()
    }


@dataclass(frozen=True, slots=True)
class Total:
    """Sums over charges on one data set; rho is None where one of them has none."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    rho: Fraction | None = Fraction(0)

    def plus(self, charge: Charge, *, times: int = 1) -> Total:
        """With so many equal charges more."""
        rho = charge.concentrated
        return Total(
            self.epsilon + times * charge.epsilon,
            self.delta + times * charge.delta,
            None if rho is None or self.rho is None else self.rho + times * rho,
        )

    @classmethod
    def of(cls, charges: Iterable[Charge]) -> Total:
        """Of these charges."""
        return reduce(lambda total, charge: total.plus(charge), charges, cls())


def composed(budget: Budget, spent: Total) -> tuple[Fraction, Fraction]:
    """Epsilon and delta of charges that were admitted, by the budget's composition."""
    if budget.composition is Composition.BASIC or not spent.rho:
        return spent.epsilon, spent.delta
    from oracle_dp.accounting.zcdp import converted_epsilon

    concentrated = Fraction(converted_epsilon(spent.rho, Fraction(budget.delta)))
    if _fits_rho(budget, spent.rho):  # Rounding aside, it is less already.
        concentrated = min(concentrated, Fraction(budget.epsilon))
    if spent.delta == 0 and spent.epsilon <= concentrated:
        return spent.epsilon, spent.delta
    return concentrated, Fraction(budget.delta)


def admit(budget: Budget, spent: Total, charge: Charge) -> None:
    """Whether a charge may follow earlier ones on the same data.

    Raises:
        LedgerError: It is for another neighbour relation, or does not state what the budget's
            composition needs.
        OverspendError: It exceeds what remains.
    """
    if budget.neighbors is not charge.neighbors:
        raise LedgerError(
            f"neighbors: the budget of {charge.dataset!r} is for "
            f"{Neighbors.parse(budget.neighbors).value!r}, the charge for "
            f"{charge.neighbors.value!r}; epsilons of different relations do not add up"
        )
    after = spent.plus(charge)
    if budget.composition is Composition.ZCDP and after.rho is None:
        raise LedgerError(
            f"rho: the budget of {charge.dataset!r} composes by zCDP, and the charge of "
            f"{charge.mechanism} has a delta and states no rho; use another mechanism, or a "
            "budget with composition='basic'"
        )
    if not fits(budget, after):
        advice = "spend less, or raise the budget knowingly (Ledger.amend, oracle-dp ledger amend)"
        if charge.delta > 0 and budget.delta == 0:
            advice = "the budget has no delta: Budget(epsilon=..., delta=...) gives it one"
        raise OverspendError(
            f"dataset {charge.dataset!r}: this charge of epsilon "
            f"{shown(charge.epsilon)}, delta {shown(charge.delta)} exceeds what remains; {advice}"
        )


def fits(budget: Budget, spent: Total) -> bool:
    """Whether a budget covers so much, by its composition."""
    added = spent.epsilon <= budget.epsilon and spent.delta <= budget.delta
    if budget.composition is Composition.BASIC:
        return added
    if added and spent.delta == 0:
        return True
    return spent.rho is not None and _fits_rho(budget, spent.rho)


def check_charge(charge: object) -> None:
    """Refuse what only looks like a charge, with another epsilon.

    Raises:
        LedgerError: It is no charge.
    """
    if type(charge) is not Charge:
        raise LedgerError(f"charge: an oracle_dp.Charge expected, not {charge!r}")


def _fits_rho(budget: Budget, rho: Fraction) -> bool:
    return rho <= _rho_of(Fraction(budget.epsilon), Fraction(budget.delta))


@lru_cache(maxsize=256)
def _rho_of(epsilon: Fraction, delta: Fraction) -> Fraction:
    from oracle_dp.accounting.zcdp import largest_rho

    return largest_rho(epsilon, delta)


def shown(value: Fraction | float) -> str:
    """A figure for a person, never failing on a large one."""
    try:
        return f"{float(value):g}"
    except OverflowError:
        return f"above {1e308:g}"


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
        raise ParameterError(f"epsilon: {what} must not be negative, not {entry.epsilon}")
    if not 0 <= delta < 1:
        raise ParameterError(f"delta: {what} lies in [0, 1), not {entry.delta}")
    object.__setattr__(entry, "epsilon", epsilon)
    object.__setattr__(entry, "delta", delta)
    object.__setattr__(entry, "neighbors", Neighbors.parse(entry.neighbors))
