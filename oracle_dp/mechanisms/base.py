"""What every mechanism does around its noise: charge first, release only what is proven."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np

from oracle_dp.errors import ParameterError, UncertifiedError
from oracle_dp.ledger import Charge, Ledger
from oracle_dp.noise import BitSource, positive_rational
from oracle_dp.privacy import RUNNING_TIME, Contingency, ContingencyKind, Neighbors
from oracles import Certificate, Limits, Solution

ValueT = TypeVar("ValueT")

REFUSED = (
    "The budget stays charged: whether a run is refused depends on the data and is not covered by "
    "epsilon. Run without limits; where a solver's floating point cannot prove a minimum, make the "
    "objective's coefficients smaller, or use a problem that is proven in integers."
)

SEEDED = Contingency(
    ContingencyKind.SEEDED, "seeded: not private; anyone who knows the seed can remove the noise"
)

CALLER = Contingency(
    ContingencyKind.CALLER,
    "the caller vouches for the sensitivity, and that the set of points does not depend on "
    "private data: only the loss may",
)

COMPLETION = Contingency(
    ContingencyKind.COMPLETION,
    "conditional on completion: under a limit, or where a solver's floating point cannot prove a "
    "minimum, a run may be refused, which depends on the data and is not covered by epsilon",
)


def larger_reading(name: str, value: float | Fraction) -> Fraction:
    """A positive parameter as the larger of a float's two readings.

    For a sensitivity: noise must not fall short.
    """
    smaller = positive_rational(name, value)
    if isinstance(value, float | np.floating):
        printed = Fraction(np.format_float_scientific(value, trim="-"))
        return max(smaller, printed, Fraction(*value.as_integer_ratio()))
    return smaller


def stated(name: str, value: Fraction, *, toward: float) -> float:
    """A positive figure as a float, rounded so that the guarantee claims no more than is true."""
    try:
        nearest = float(value)
    except OverflowError:
        raise ParameterError(f"{name}: too large for the guarantee to state") from None
    wrong_side = Fraction(nearest) < value if toward > 0 else Fraction(nearest) > value
    return math.nextafter(nearest, toward) if wrong_side else nearest


def limits_or_none(limits: Limits | None, *, without: Sequence[str] = ("rounds",)) -> Limits:
    """The limits given, or none at all.

    Args:
        limits: As a caller gave them.
        without: Those that have no meaning where they were given.

    Raises:
        ParameterError: They are something else, or one of them has no meaning here.
    """
    for name in without:
        if getattr(limits, name, None) is not None:
            raise ParameterError(f"limits: {name} has no meaning for this mechanism; leave it out")
    if limits is not None and not isinstance(limits, Limits):
        raise ParameterError(f"limits: an oracles.Limits or None expected, not {limits!r}")
    return limits or Limits()


def charge_before_noise(
    ledger: Ledger | None,
    dataset: str | None,
    *,
    mechanism: str,
    epsilon: Fraction,
    delta: Fraction = Fraction(0),
    neighbors: Neighbors,
    rho: Fraction | None = None,
) -> None:
    """Charge the ledger, if there is one; ``rho`` where it is less than a pure epsilon's.

    Raises:
        ParameterError: Only one of ``ledger`` and ``dataset`` is given, or one of a wrong type.
        LedgerError: The ledger refuses.
    """
    if ledger is None and dataset is None:
        return
    if ledger is None or dataset is None:
        given, missing = ("ledger", "dataset") if dataset is None else ("dataset", "ledger")
        raise ParameterError(f"{missing}: needed together with {given}; give both or neither")
    if not isinstance(ledger, Ledger):
        raise ParameterError(f"ledger: an oracle_dp.Ledger or None expected, not {ledger!r}")
    ledger.charge(
        Charge(
            dataset=dataset,
            mechanism=mechanism,
            epsilon=epsilon,
            delta=delta,
            neighbors=neighbors,
            rho=rho,
        )
    )


def require_certified(solution: Solution[ValueT]) -> ValueT:
    """The minimiser, if its optimality is proven.

    Raises:
        UncertifiedError: It is not.
    """
    proven = solution.certificate in (Certificate.EXACT, Certificate.SOLVER)
    if solution.value is None or not proven:
        raise UncertifiedError(
            f"no certificate, no release ({solution.oracle}: {solution.status.message}). {REFUSED}"
        )
    return solution.value


def conditions(
    source: BitSource,
    limits: Limits,
    *,
    solver: str | None = None,
    vouched: bool = False,
    gap: Fraction | None = None,
) -> list[Contingency]:
    """The contingencies of a run.

    Args:
        source: Where the noise came from.
        limits: What could have stopped the run.
        solver: Whose floating-point bound the release rests on, if any.
        vouched: Whether hypotheses rest on the caller's word.
        gap: The gap that the bound has to prove, where it is not 0.
    """
    found = [RUNNING_TIME, CALLER] if vouched else [RUNNING_TIME]
    if solver is not None:
        what, how = (
            ("optimality", "recomputed in integers")
            if gap is None
            else (f"a gap of at most {float(gap):g}", "recomputed, with a margin for rounding")
        )
        detail = (
            f"{what} rests on the floating-point lower bound of {solver}; the objective itself was "
            f"{how}"
        )
        found.append(Contingency(ContingencyKind.ORACLE_BOUND, detail))
    if limits.may_stop_early or solver is not None:
        found.append(COMPLETION)
    if not source.is_private:
        found.append(SEEDED)
    return found
