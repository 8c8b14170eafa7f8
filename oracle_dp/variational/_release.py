"""What both methods do around their steps: hypotheses, the charge, and the guarantee."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from oracle_dp.errors import ParameterError
from oracle_dp.ledger import Ledger
from oracle_dp.mechanisms.base import CALLER, charge_before_noise, conditions, stated
from oracle_dp.noise import BitSource, bit_source
from oracle_dp.privacy import FLOATING_POINT_NOISE, Contingency, Guarantee
from oracle_dp.variational._probe import check_values
from oracle_dp.variational.calibration import PrivacyTarget
from oracles import Certificate, Limits
from oracles.monotone import RecordOperator

ENFORCED = "proved: every possible record's operator is within its bounds by construction"
CLIPPED = "proved: every record's operator is clipped to its bound"
ASSERTED = "asserted by the caller: every possible record's operator is monotone and within bounds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Who pays, and with which randomness.

    Attributes:
        target: What is promised.
        ledger: Charged before noise is drawn, or None.
        dataset: The ledger's name for the data, or None.
        source: Of the noise and of the batches.
        contingencies: Further conditions for the guarantee to state.
    """

    target: PrivacyTarget
    ledger: Ledger | None
    dataset: str | None
    source: BitSource
    contingencies: tuple[Contingency, ...] = ()

    @classmethod
    def opened(
        cls,
        target: PrivacyTarget,
        ledger: Ledger | None,
        dataset: str | None,
        random_state: int | BitSource | None,
        contingencies: Sequence[Contingency] = (),
    ) -> Account:
        """With the bit source that ``random_state`` asks for."""
        return cls(
            target=target,
            ledger=ledger,
            dataset=dataset,
            source=bit_source(random_state),
            contingencies=tuple(contingencies),
        )

    def guarantee(
        self, *, mechanism: str, theorem: str, sensitivity: float, sensitivity_source: str
    ) -> Guarantee:
        """The guarantee of a release that :meth:`charge` was called for."""
        target = self.target
        vouched = [CALLER] if sensitivity_source == ASSERTED else []
        return Guarantee(
            mechanism=mechanism,
            theorem=theorem,
            neighbors=target.neighbors,
            epsilon=stated("epsilon", target.epsilon, toward=math.inf),
            delta=stated("delta", target.delta, toward=math.inf),
            rho=None,
            sensitivity=sensitivity,
            sensitivity_source=sensitivity_source,
            certificate=Certificate.NONE,
            contingencies=(
                *self.contingencies,
                *vouched,
                FLOATING_POINT_NOISE,
                *conditions(self.source, Limits()),
            ),
        )

    def charge(self, mechanism: str) -> None:
        """Charge the ledger, if there is one.

        Raises:
            ParameterError: Only one of ledger and dataset is there.
            LedgerError: The ledger refuses.
        """
        charge_before_noise(
            self.ledger,
            self.dataset,
            mechanism=mechanism,
            epsilon=self.target.epsilon,
            delta=self.target.delta,
            neighbors=self.target.neighbors,
        )


def checked_operator(operator: object) -> RecordOperator:
    """A record operator with at least two records, whose values have the shape they should.

    Raises:
        ParameterError: It is something else, or a caller's own function returns what it must not.
    """
    if not isinstance(operator, RecordOperator):
        raise ParameterError(
            "operator: an oracles.monotone.RecordOperator expected, not a "
            f"{type(operator).__name__}; make one with RecordFunction"
        )
    if operator.n_records < 2:
        raise ParameterError(
            f"operator: {operator.n_records} record; at least 2 are needed, a single one cannot "
            "be hidden and solved for"
        )
    if operator.domain.diameter == 0:
        raise ParameterError("operator: its set is a single point, which needs no release")
    check_values(operator)
    return operator
