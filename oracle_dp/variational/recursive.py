"""Recursive regularisation: a chain of ever more strongly monotone problems on fresh records.

Theorem (docs/theory/variational.md, Theorem 7). Records are dealt without looking at them into
disjoint parts S_1, ..., S_T. Round t runs NSEG on the mean over S_t plus the public field
``2 weight sum_{s <= t} 2^s (w - w_{s-1})``, with noise for (epsilon, delta) on S_t. Each record is
in one part only, and rounds see others through released points alone: the chain of all w_t is
(epsilon, delta)-differentially private, for any weight, number of rounds and accuracy.

Where its hypotheses are enforced: as for NSEG; the parts by a permutation that is independent of
the data. **Nothing is claimed about its utility**, which is measured only: the rates of the papers
below are for weights and accuracies that are not reproduced here.

Sources: Bassily, Guzman, Menart (2023), https://arxiv.org/abs/2302.12909, and (2024),
https://arxiv.org/abs/2411.05198.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Real

import numpy as np

from oracle_dp.errors import ParameterError
from oracle_dp.ledger import Ledger
from oracle_dp.noise import BitSource
from oracle_dp.noise.floating import FloatArray
from oracle_dp.privacy import Contingency, Neighbors, Release
from oracle_dp.variational._fit import refuse_drowned
from oracle_dp.variational._release import CLIPPED, ENFORCED, Account, checked_operator
from oracle_dp.variational.bounds import Constants, batch_variance
from oracle_dp.variational.calibration import PrivacyTarget, Schedule, noise_multiplier
from oracle_dp.variational.nseg import Shift, extragradient_run, warn_refuted
from oracle_dp.variational.plans import NsegPlan
from oracle_dp.variational.sampling import Sampling, permutation
from oracles.monotone import Clipped, RecordOperator

MECHANISM = "recursive_nseg"
THEOREM = (
    "recursive regularisation on disjoint parts, NSEG with Poisson batches in each "
    "(docs/theory/variational.md, Theorems 5 and 7); no utility is claimed"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursivePlan:
    """Parameters of :func:`recursive_nseg`.

    Attributes:
        weight: Of the first round's regulariser, positive. Choose it on public or synthetic data.
        rounds: T; None for the floor of log2(n).
        steps: Of NSEG in each round; None for the size of a part.
        batch_size: Expected, in each round; None for the square root of a part.
    """

    weight: float
    rounds: int | None = None
    steps: int | None = None
    batch_size: int | None = None

    def filled(self, n_records: int) -> tuple[int, int, Schedule]:
        """Rounds, records in a part, and what is accounted for in each.

        Raises:
            ParameterError: The weight is not positive, or a part would be empty.
        """
        if not isinstance(self.weight, Real) or not 0 < self.weight < math.inf:
            raise ParameterError(f"weight: a positive finite number expected, not {self.weight!r}")
        rounds = max(1, int(math.log2(n_records))) if self.rounds is None else self.rounds
        for name, given in (("rounds", rounds), ("steps", self.steps)):
            if isinstance(given, bool) or not isinstance(given, Integral | None):
                raise ParameterError(f"{name}: a positive integer expected, not {given!r}")
        if not 1 <= rounds <= n_records // 2:
            raise ParameterError(
                f"rounds: between 1 and n / 2 = {n_records // 2} expected, not {rounds!r}"
            )
        part = n_records // rounds
        size = math.ceil(math.sqrt(part)) if self.batch_size is None else self.batch_size
        steps = part if self.steps is None else self.steps
        schedule = Schedule(
            sampling=Sampling.POISSON, n_records=part, batch_size=size, releases=2 * steps
        )
        return rounds, part, schedule


def recursive_nseg(
    operator: RecordOperator,
    *,
    epsilon: float | Fraction,
    delta: float | Fraction,
    plan: RecursivePlan,
    neighbors: Neighbors | str = Neighbors.REPLACE,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    random_state: int | BitSource | None = None,
    contingencies: Sequence[Contingency] = (),
) -> Release[FloatArray]:
    """Release the last point of the chain; parameters as for :func:`~.nseg.nseg`.

    Raises:
        ParameterError: A parameter is out of range, or epsilon is so small that noise drowns the
            operator in every round. Nothing is charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.

    Warns:
        NonMonotoneWarning: As :func:`~.nseg.nseg`.
    """
    records = checked_operator(operator)
    warn_refuted(records)
    bounded = records if records.enforced else Clipped(records)
    target = PrivacyTarget.checked(epsilon, delta, neighbors)
    rounds, part, schedule = plan.filled(bounded.n_records)
    constants = Constants.of(bounded)
    multiplier = noise_multiplier(schedule, target)
    refuse_drowned(constants, schedule, multiplier * constants.noise_length)
    account = Account.opened(target, ledger, dataset, random_state, contingencies)
    account.charge(MECHANISM)
    order = permutation(bounded.n_records, account.source)
    anchors = [bounded.domain.centre]
    for t in range(1, rounds + 1):
        step = _step(constants, schedule, multiplier, plan.weight * 2.0 ** (t + 2))
        steps = schedule.releases // 2
        inner = NsegPlan(
            sampling=Sampling.POISSON, batch_size=schedule.batch_size, steps=steps, step=step
        )
        point = extragradient_run(
            bounded,
            inner,
            step,
            multiplier,
            account.source,
            members=order[(t - 1) * part : t * part],
            start=anchors[-1],
            shift=_pull(plan.weight, anchors),
        )
        anchors.append(point)
    return Release(
        anchors[-1],
        account.guarantee(
            mechanism=MECHANISM,
            theorem=THEOREM,
            sensitivity=target.reach * bounded.bound / schedule.batch_size,
            sensitivity_source=ENFORCED if records.enforced else CLIPPED,
        ),
    )


def _pull(weight: float, anchors: Sequence[FloatArray]) -> Shift:
    """``2 weight sum_s 2^s (w - w_{s-1})`` as one linear field; public."""
    factors = 2 * weight * 2.0 ** np.arange(1, len(anchors) + 1)
    strength = float(factors.sum())
    towards = factors @ np.array(anchors)
    return lambda point: strength * point - towards


def _step(constants: Constants, schedule: Schedule, multiplier: float, pull: float) -> float:
    """Within what convergence needs, and otherwise as for one run of NSEG."""
    noise = multiplier * constants.noise_length / schedule.batch_size
    variance = batch_variance(constants, schedule.sampling, schedule.batch_size) + noise**2
    steps = schedule.releases // 2
    balanced = constants.diameter / math.sqrt(3.5 * steps * variance)
    return min(balanced, 1 / (math.sqrt(3) * (constants.lipschitz + pull)))
