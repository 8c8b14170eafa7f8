"""The exponential mechanism over integer programs with modular minorants, drawn exactly.

Theorem (docs/theory/private_programs.md, Theorems 1 and 2). Let W be a finite public set of integer
vectors and L an integer loss with range sensitivity Delta. Drawing w with probability proportional
to exp(-epsilon L(D, w) / Delta) is epsilon-differentially private, with a log ratio in an interval
of length epsilon, hence (epsilon^2 / 8)-zCDP.

Where its hypotheses are enforced: W is a base set and rows that a member must satisfy, none of them
read from data (the caller's promise, stated in the guarantee); L is an integer by type; Delta is
the problem class's, proven there, or the caller's, and the guarantee says whose; the law is exact
by :mod:`oracle_dp.mechanisms.partition_sampler`. A loss that is itself a minimum over recourse
rests on the oracle, and the certificate says so.

Sources: McSherry and Talwar, FOCS 2007; Dymetman, Bouchard, Carter, "The OS* algorithm",
arXiv:1207.0742, for adaptive rejection.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property

from oracle_dp.errors import UncertifiedError
from oracle_dp.ledger import Ledger
from oracle_dp.mechanisms.base import (
    REFUSED,
    charge_before_noise,
    conditions,
    larger_reading,
    limits_or_none,
    stated,
)
from oracle_dp.mechanisms.partition_sampler import PartitionSampler
from oracle_dp.noise import BitSource, bit_source, positive_rational
from oracle_dp.privacy import Contingency, Guarantee, Neighbors, Release
from oracle_dp.sensitivity import ASSERTED, is_proved
from oracles import Certificate, Limits
from oracles.errors import SolverError
from oracles.selection.base import IntArray
from oracles.selection.envelope import SelectionLoss
from oracles.selection.linear import ProgramLoss

MECHANISM = "exponential"
THEOREM = (
    "exponential mechanism, drawn exactly by rejection from a partition of envelopes "
    "(docs/theory/private_programs.md, Theorems 1 and 2)"
)


class SelectionExponential:
    """The mechanism for one loss: any number of draws, each with its own epsilon.

    Args:
        loss: An integer loss over a public set: a ``FacilityLoss``, ``RuleLoss`` or
            ``ProgramLoss``. Only its values may depend on private data.
        epsilon: Of one draw, positive.
        sensitivity: Range sensitivity of the loss under ``neighbors``, positive.
        sensitivity_source: Who vouches for it, for the guarantee.
        neighbors: The neighbour relation that ``sensitivity`` is for.

    Raises:
        ParameterError: A parameter is out of range.
    """

    def __init__(
        self,
        loss: SelectionLoss,
        *,
        epsilon: float | Fraction,
        sensitivity: float | Fraction,
        sensitivity_source: str = ASSERTED,
        neighbors: Neighbors | str = Neighbors.REPLACE,
    ) -> None:
        self.loss = loss
        self.epsilon = positive_rational("epsilon", epsilon)
        self.sensitivity = larger_reading("sensitivity", sensitivity)
        self.sensitivity_source = sensitivity_source
        self.neighbors = Neighbors.parse(neighbors)

    def release(
        self,
        *,
        limits: Limits | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
        random_state: int | BitSource | None = None,
        contingencies: Sequence[Contingency] = (),
    ) -> Release[IntArray]:
        """Draw once and charge once.

        Args:
            limits: ``rounds`` counts rejection trials, ``seconds`` is looked at between them only,
                so that neither changes the law of what is released. Default: no limit.
            ledger: Charged before the first random bit is drawn.
            dataset: Name of the data set in the ledger.
            random_state: None for the operating system's randomness; an integer reproduces a run
                and marks the release as not private.
            contingencies: Further conditions for the guarantee to state.

        Returns:
            An integer vector with its guarantee: pure epsilon, rho = epsilon^2 / 8.

        Raises:
            ParameterError: A parameter is out of range. Nothing is charged.
            LedgerError: The budget does not allow the charge. Nothing is charged.
            UncertifiedError: A limit was reached, or a recourse was not proven. The charge stays.
            InfeasibleError: The constraints, which are public, allow no point.
        """
        draws = self.releases(
            1,
            limits=limits,
            ledger=ledger,
            dataset=dataset,
            random_state=random_state,
            contingencies=contingencies,
        )
        return next(draws)

    def releases(
        self,
        number: int,
        *,
        limits: Limits | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
        random_state: int | BitSource | None = None,
        contingencies: Sequence[Contingency] = (),
    ) -> Iterator[Release[IntArray]]:
        """Draw several times from one partition: independent draws, each charged before it is made.

        The arguments and errors are those of :meth:`release`; limits are per draw. What is not
        iterated over is not charged.
        """
        within = limits_or_none(limits, without=("nodes",))
        source = bit_source(random_state)
        guarantee = self._guarantee(source, within, contingencies)
        for _ in range(number):
            charge_before_noise(
                ledger,
                dataset,
                mechanism=MECHANISM,
                epsilon=self.epsilon,
                neighbors=self.neighbors,
            )
            yield Release(self._draw(source, within), guarantee)

    @cached_property
    def sampler(self) -> PartitionSampler:
        """The partition. Its size and effort depend on the data: they are not private."""
        return PartitionSampler(self.loss, self.epsilon / self.sensitivity)

    def _guarantee(
        self, source: BitSource, limits: Limits, contingencies: Sequence[Contingency]
    ) -> Guarantee:
        loss = self.loss
        rests = isinstance(loss, ProgramLoss) and loss.has_recourse
        solver = loss.oracle.name if rests and isinstance(loss, ProgramLoss) else None
        vouched = not is_proved(self.sensitivity_source)
        return Guarantee(
            mechanism=MECHANISM,
            theorem=THEOREM,
            neighbors=self.neighbors,
            epsilon=stated("epsilon", self.epsilon, toward=math.inf),
            delta=0.0,
            rho=stated("epsilon", self.epsilon**2 / 8, toward=math.inf),
            sensitivity=stated("sensitivity", self.sensitivity, toward=0),
            sensitivity_source=self.sensitivity_source,
            certificate=Certificate.EXACT if solver is None else Certificate.SOLVER,
            contingencies=(
                *contingencies,
                *conditions(source, limits, solver=solver, vouched=vouched),
            ),
        )

    def _draw(self, source: BitSource, limits: Limits) -> IntArray:
        seconds = math.inf if limits.seconds is None else limits.seconds
        deadline = time.monotonic() + seconds
        rounds = itertools.count() if limits.rounds is None else range(limits.rounds)
        try:
            sampler = self.sampler
            for _ in rounds:
                # Between trials only: a trial under way is never cut.
                if time.monotonic() >= deadline:
                    break
                point = sampler.trial(source)
                if point is not None:
                    return point
        except SolverError as error:
            raise UncertifiedError(f"{error} {REFUSED}") from None
        raise UncertifiedError(f"no draw was accepted within the limits. {REFUSED}")
