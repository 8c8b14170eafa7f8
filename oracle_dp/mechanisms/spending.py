"""What an approximate-DP mechanism is asked for: read, calibrated, charged and stated in one way.

A :class:`Target` is read before anything is drawn or charged. Its ``mu`` is the largest for which
mu-Gaussian differential privacy implies (epsilon, delta), lowered by ``_SLACK`` so that rounding in
the few floating-point operations from mu to a standard deviation cannot add to the claim. Full
batch runs spend it in zCDP terms, ``rho = mu^2 / 2``, which adds up over adaptive steps whose ratio
of noise to sensitivity is fixed beforehand (Dong, Roth, Su 2022, Corollary 3.3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Required, TypedDict, TypeVar

from oracle_dp.errors import ParameterError
from oracle_dp.ledger import Ledger
from oracle_dp.mechanisms.base import CALLER, charge_before_noise, conditions, stated
from oracle_dp.noise import BitSource, bit_source, positive_rational, rational
from oracle_dp.noise.floating import gaussian
from oracle_dp.privacy import (
    FLOATING_POINT_NOISE,
    Contingency,
    Guarantee,
    Neighbors,
    Release,
)
from oracle_dp.record_losses import RecordLosses, has_proved_constants
from oracle_dp.sensitivity import ASSERTED
from oracles import Certificate, Limits
from oracles.arrays import FloatArray

ValueT = TypeVar("ValueT")

_SLACK = 1e-12

PROVED_GRADIENT = "L2, of the sum of gradients; proved for rows clipped to norm 1"


class Asked(TypedDict, total=False):
    """What every approximate-DP mechanism is asked for, by keyword.

    Attributes:
        epsilon: Positive; always needed.
        delta: In (0, 1); 0, the default, for a pure mechanism alone.
        neighbors: The relation that the noise is for; default ``"replace"``.
        ledger: Charged before noise is drawn, with ``dataset`` as the name.
        dataset: Name of the data set in the ledger.
        random_state: None for the operating system's randomness; an integer reproduces a run and
            marks the release as not private.
        contingencies: Further conditions for the guarantee to state.
    """

    epsilon: Required[float | Fraction]
    delta: float | Fraction
    neighbors: Neighbors | str
    ledger: Ledger | None
    dataset: str | None
    random_state: int | BitSource | None
    contingencies: Sequence[Contingency]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An (epsilon, delta) to be met under a neighbour relation, and who pays.

    Attributes:
        epsilon: Positive.
        delta: In (0, 1), or 0 for a pure mechanism.
        neighbors: The relation.
        ledger: Charged before noise is drawn.
        dataset: The ledger's name for the data.
        source: Of the noise.
        contingencies: Of the caller.
    """

    epsilon: Fraction
    delta: Fraction
    neighbors: Neighbors
    ledger: Ledger | None
    dataset: str | None
    source: BitSource
    contingencies: tuple[Contingency, ...]

    @property
    def mu(self) -> float:
        """Of Gaussian differential privacy, rounded down."""
        from oracle_dp.accounting.gaussian import gaussian_mu

        return gaussian_mu(self.epsilon_below, delta=self.delta_below) * (1 - _SLACK)

    @property
    def rho(self) -> float:
        """``mu^2 / 2``."""
        return self.mu**2 / 2

    @property
    def stated_rho(self) -> float:
        """``rho``, rounded up: what a run over all records states and charges."""
        return math.nextafter(self.rho, math.inf)

    @property
    def epsilon_below(self) -> float:
        """As a float that is not above it."""
        return stated("epsilon", self.epsilon, toward=0)

    @property
    def delta_below(self) -> float:
        """As a float that is not above it."""
        return stated("delta", self.delta, toward=0)

    @property
    def reach(self) -> int:
        """By how many records' contributions neighbours differ at most: 2 or 1."""
        return 2 if self.neighbors is Neighbors.REPLACE else 1

    def charge(self, mechanism: str, *, rho: float | None = None) -> None:
        """Charge the ledger, if there is one; ``rho`` where the mechanism has one of its own.

        Raises:
            ParameterError: Only one of ledger and data set is given.
            LedgerError: The ledger refuses.
        """
        charge_before_noise(
            self.ledger,
            self.dataset,
            mechanism=mechanism,
            epsilon=self.epsilon,
            delta=self.delta,
            neighbors=self.neighbors,
            rho=None if rho is None else Fraction(rho),
        )

    def release(
        self,
        value: ValueT,
        *,
        mechanism: str,
        theorem: str,
        sensitivity: float,
        sensitivity_source: str = PROVED_GRADIENT,
        certificate: Certificate = Certificate.NONE,
        rho: float | None = None,
        conditions_of_mechanism: Sequence[Contingency] = (),
    ) -> Release[ValueT]:
        """The value with its guarantee; floating-point noise is always one of the conditions."""
        return Release(
            value,
            Guarantee(
                mechanism=mechanism,
                theorem=theorem,
                neighbors=self.neighbors,
                epsilon=stated("epsilon", self.epsilon, toward=math.inf),
                delta=stated("delta", self.delta, toward=math.inf) if self.delta else 0.0,
                rho=rho,
                sensitivity=sensitivity,
                sensitivity_source=sensitivity_source,
                certificate=certificate,
                contingencies=(
                    *self.contingencies,
                    *conditions_of_mechanism,
                    *conditions(self.source, Limits()),
                    FLOATING_POINT_NOISE,
                ),
            ),
        )


def read_target(asked: Asked, *, pure: bool = False) -> Target:
    """Read a target.

    Raises:
        ParameterError: epsilon is not positive; delta is not in (0, 1), or for a ``pure`` mechanism
            not 0; there is no such relation or source of randomness; a contingency is none.
        TypeError: epsilon is missing, or something else is asked for.
    """
    for name in asked:
        if name not in Asked.__annotations__:
            raise TypeError(f"an unexpected keyword argument {name!r}")
    if "epsilon" not in asked:
        raise TypeError("epsilon: a required keyword argument")
    delta = asked.get("delta", 0)
    allowed = rational("delta", delta)
    if pure and allowed != 0:
        raise ParameterError(f"delta: this mechanism is pure; leave delta at 0, not {delta!r}")
    if not pure and not 0 < allowed < 1:
        raise ParameterError(f"delta: a number in (0, 1) expected, not {delta!r}")
    further = asked.get("contingencies", ())
    if isinstance(further, str) or not all(isinstance(one, Contingency) for one in further):
        raise ParameterError("contingencies: a sequence of oracle_dp.Contingency expected")
    return Target(
        epsilon=positive_rational("epsilon", asked["epsilon"]),
        delta=allowed,
        neighbors=Neighbors.parse(asked.get("neighbors", Neighbors.REPLACE)),
        ledger=asked.get("ledger"),
        dataset=asked.get("dataset"),
        source=bit_source(asked.get("random_state")),
        contingencies=tuple(further),
    )


def noisy(exact: FloatArray, scale: float, source: BitSource) -> FloatArray:
    """The Gaussian mechanism: the only way that a full-batch run lets a number out."""
    return exact + gaussian(source, scale, exact.shape)


def vouched(losses: RecordLosses) -> tuple[Contingency, ...]:
    """What a guarantee says of bounds on one record that are not proved here."""
    return () if has_proved_constants(losses) else (CALLER,)


def gradient_source(losses: RecordLosses) -> str:
    """Who vouches for the gradient's sensitivity."""
    return PROVED_GRADIENT if has_proved_constants(losses) else ASSERTED


def fraction_of_one(name: str, value: float) -> float:
    """A share of the budget, strictly between 0 and 1.

    Raises:
        ParameterError: It is not.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise ParameterError(f"{name}: a share strictly between 0 and 1 expected, not {value!r}")
    return float(value)


def positive(name: str, value: float) -> float:
    """A positive, finite parameter.

    Raises:
        ParameterError: It is not.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ParameterError(f"{name}: a number expected, not {value!r}")
    if not 0 < value < math.inf:
        raise ParameterError(f"{name}: a positive finite number expected, not {value!r}")
    return float(value)


def steps(value: int) -> int:
    """A number of steps, at least 1.

    Raises:
        ParameterError: It is not.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParameterError(f"steps: an integer of at least 1 expected, not {value!r}")
    return value
