"""Several releases from the same data as one, on an equal share of the budget each.

Theorem (Dwork and Roth 2014, Theorem 3.16; Bun and Steinke 2016, Lemma 2.3, for rho). Of k
mechanisms with independent noise, each (epsilon / k, delta / k)-differentially private for one
neighbour relation, the results together are (epsilon, delta)-differentially private; their rhos
add up.

Where its hypotheses are enforced: k is public, and shares are exact rationals; every part charges
:class:`SplitCharge`, which refuses unequal charges or too few; all parts draw from one source of
bits, so that none of them is used twice. The ledger is charged once, with k times the first
part's charge, when that part has checked its parameters and has drawn no noise: so an overspend
leaves nothing trained.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from oracle_dp.errors import ParameterError, PrivacyError
from oracle_dp.ledger import Charge, Ledger
from oracle_dp.mechanisms.base import charge_before_noise, stated
from oracle_dp.noise import bit_source, positive_rational, rational
from oracle_dp.privacy import Contingency, Guarantee, Release
from oracles import Certificate

ValueT = TypeVar("ValueT")
Settings = Mapping[str, Any]

_WEAKEST_FIRST = (Certificate.NONE, Certificate.BOUNDED, Certificate.SOLVER, Certificate.EXACT)


class SplitCharge(Ledger):
    """Takes the charges of the parts, and charges the whole to the ledger at the first.

    Args:
        parts: Number of parts.
        ledger: The ledger of the whole, or None.
        dataset: Its name for the data, or None.
    """

    def __init__(self, parts: int, ledger: Ledger | None, dataset: str | None) -> None:
        super().__init__({})
        self._parts = parts
        self._whole = ledger, dataset

    def charge(self, charge: Charge) -> None:
        """Take one part's charge.

        Raises:
            ParameterError: The whole's ledger or data set's name is none. Nothing is charged.
            LedgerError: The ledger refuses the whole. Nothing is charged.
            PrivacyError: The parts are not equal, or there are too many.
        """
        if not self._charges:
            charge_before_noise(
                *self._whole,
                mechanism=whole_name(charge.mechanism),
                epsilon=self._parts * charge.epsilon,
                delta=self._parts * charge.delta,
                neighbors=charge.neighbors,
                rho=None if charge.rho is None else self._parts * charge.rho,
            )
        elif charge != self._charges[0] or len(self._charges) == self._parts:
            raise PrivacyError("a part spends what was not charged for it")
        self._charges.append(charge)

    @property
    def spent_in_all(self) -> tuple[Fraction, Fraction]:
        """Epsilon and delta of the whole.

        Raises:
            PrivacyError: A part has not been charged.
        """
        if len(self._charges) != self._parts:
            raise PrivacyError("a part was not charged")
        return self._parts * self._charges[0].epsilon, self._parts * self._charges[0].delta


def whole_name(mechanism: str) -> str:
    """What ledger and guarantee call the mechanism of the whole."""
    return f"one_vs_rest({mechanism})"


def split(
    trainers: Sequence[Callable[[Settings, Settings], Release[ValueT]]],
    common: Settings,
    options: Settings,
) -> Release[tuple[ValueT, ...]]:
    """Run every part on its share.

    Args:
        trainers: The parts: each takes common settings and options, and releases.
        common: What all mechanisms are given; ``epsilon`` and the ledger are the whole's. Limits
            are for each part.
        options: Options of the mechanism; ``delta``, if among them, is the whole's.

    Returns:
        The parts' values, with the guarantee of the whole.

    Raises:
        ParameterError: A parameter is out of range. Nothing is charged.
        LedgerError: The budget does not allow the whole. Nothing is charged.
        UncertifiedError: A part was refused. The charge of the whole stays.
    """
    parts = len(trainers)
    epsilon = positive_rational("epsilon", common["epsilon"])
    stated("epsilon", epsilon, toward=math.inf)  # Refused here, and not when it is spent.
    ledger = SplitCharge(parts, common["ledger"], common["dataset"])
    shared = {
        **common,
        "epsilon": epsilon / parts,
        "ledger": ledger,
        "dataset": "part",
        "random_state": bit_source(common["random_state"]),
    }
    own = {**options, **({"delta": _delta(options) / parts} if "delta" in options else {})}
    releases = [train(shared, own) for train in trainers]
    guarantee = _whole([release.guarantee for release in releases], *ledger.spent_in_all)
    return Release(tuple(release.value for release in releases), guarantee)


def _whole(parts: Sequence[Guarantee], epsilon: Fraction, delta: Fraction) -> Guarantee:
    first, k = parts[0], len(parts)
    return Guarantee(
        mechanism=whole_name(first.mechanism),
        theorem=(
            f"sequential composition of {k} cards, one for each class against the rest, on "
            f"1/{k} of the budget each (Dwork and Roth 2014, Theorem 3.16); each: {first.theorem}"
        ),
        neighbors=first.neighbors,
        epsilon=stated("epsilon", epsilon, toward=math.inf),
        delta=stated("delta", delta, toward=math.inf),
        rho=_sum_of_rhos(parts),
        sensitivity=first.sensitivity,
        sensitivity_source=f"{first.sensitivity_source}, for each of the {k} cards",
        certificate=min((part.certificate for part in parts), key=_WEAKEST_FIRST.index),
        contingencies=_all_contingencies(parts),
    )


def _sum_of_rhos(parts: Sequence[Guarantee]) -> float | None:
    rhos = [part.rho for part in parts if part.rho is not None]
    if len(rhos) < len(parts):
        return None
    try:
        return stated("epsilon", sum(map(Fraction, rhos), Fraction(0)), toward=math.inf)
    except ParameterError:  # Beyond all floats: as good as unknown.
        return None


def _all_contingencies(parts: Sequence[Guarantee]) -> tuple[Contingency, ...]:
    return tuple(dict.fromkeys(c for part in parts for c in part.contingencies))


def _delta(options: Settings) -> Fraction:
    delta = rational("delta", options["delta"])
    if not 0 <= delta < 1:
        raise ParameterError(f"delta: a number in [0, 1) expected, not {options['delta']!r}")
    return delta
