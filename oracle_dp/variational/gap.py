"""How good a released point is: gap estimators, one of which may be released for a price.

Theorem (docs/theory/variational.md, Theorem 8). For a point A that is public,
``g(v) = sup over w of <v, A - w>`` is D-Lipschitz, so that the certificate ``g(mean of F_i(A))``
changes by at most 2 M D / n when a record is replaced, M D / n when it is zeroed: with Laplace
noise of that over epsilon it is epsilon-differentially private.

Where its hypotheses are enforced: M as for NSEG (by construction or by clipping); n and D are
public.

Every other number here is computed from the records and is **not private**: it is a diagnostic for
whoever may see the data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from numpy.typing import ArrayLike

from oracle_dp.errors import ParameterError
from oracle_dp.ledger import Ledger
from oracle_dp.mechanisms.base import charge_before_noise, conditions, stated
from oracle_dp.noise import BitSource, bit_source, positive_rational
from oracle_dp.noise.floating import laplace
from oracle_dp.privacy import FLOATING_POINT_NOISE, Contingency, Guarantee, Neighbors, Release
from oracle_dp.variational._release import CLIPPED, ENFORCED, checked_operator
from oracles import Certificate, Limits
from oracles.monotone import Clipped, RecordOperator, strong_gap

MECHANISM = "variational_gap"
THEOREM = "Laplace noise on the gap certificate (docs/theory/variational.md, Theorem 8)"


@dataclass(frozen=True, slots=True, kw_only=True)
class GapEstimate:
    """A gap and the terms that take it from records to their law. NOT PRIVATE.

    Attributes:
        certificate: ``sup <F_S(A), A - w>`` over the records at hand.
        correction: What must be added for ``bound`` to hold.
        kind: ``"empirical"``, ``"weak"`` or ``"strong"``.
    """

    certificate: float
    correction: float
    kind: str

    @property
    def bound(self) -> float:
        """Certificate plus correction."""
        return self.certificate + self.correction


def empirical_gap(operator: RecordOperator, point: ArrayLike) -> GapEstimate:
    """An upper bound on the gap for the mean over the records, if it is monotone. NOT PRIVATE.

    Raises:
        ProblemError: The point lies outside the set.
    """
    inside = operator.domain.require_point("point", point)
    value = strong_gap(operator.mean(), inside, operator.domain)
    return GapEstimate(certificate=value, correction=0.0, kind="empirical")


def weak_gap(operator: RecordOperator, point: ArrayLike, *, stability: float) -> GapEstimate:
    """An estimate of a bound on the weak gap for the records' law, from training. NOT PRIVATE.

    The *mean* of the certificate, over data and coins, plus ``M stability`` bounds the weak gap
    (Lemma C): the estimate is one draw of that mean.

    Args:
        operator: Over the records that the method was run on.
        point: What it returned.
        stability: A bound on the method's mean argument stability, as from
            :func:`~oracle_dp.variational.bounds.extragradient_stability`.

    Raises:
        ParameterError: ``stability`` is negative.
        ProblemError: The point lies outside the set.
    """
    if not stability >= 0:
        raise ParameterError(f"stability: a number of at least 0 expected, not {stability!r}")
    found = empirical_gap(operator, point)
    return GapEstimate(
        certificate=found.certificate, correction=operator.bound * stability, kind="weak"
    )


def strong_gap_bound(
    fresh: RecordOperator, point: ArrayLike, *, failure_probability: float = 0.05
) -> GapEstimate:
    """A bound on the gap for the records' law, from records that the method never saw. NOT PRIVATE.

    With probability at least ``1 - failure_probability`` the gap is at most the certificate over m
    fresh records plus ``M D sqrt(2 ln(1 / failure_probability) / m)`` (Lemma D).

    Args:
        fresh: Over records that are independent of ``point``.
        point: What a method returned.
        failure_probability: In (0, 1).

    Raises:
        ParameterError: The probability is out of range.
        ProblemError: The point lies outside the set.
    """
    if not 0 < failure_probability < 1:
        raise ParameterError(f"failure_probability: lies in (0, 1), not {failure_probability!r}")
    found = empirical_gap(fresh, point)
    spread = math.sqrt(2 * -math.log(failure_probability) / fresh.n_records)
    return GapEstimate(
        certificate=found.certificate,
        correction=fresh.bound * fresh.domain.diameter * spread,
        kind="strong",
    )


def release_gap(
    operator: RecordOperator,
    point: ArrayLike,
    *,
    epsilon: float | Fraction,
    neighbors: Neighbors | str = Neighbors.REPLACE,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    random_state: int | BitSource | None = None,
    contingencies: Sequence[Contingency] = (),
) -> Release[float]:
    """Release the certificate of a public point with Laplace noise, for epsilon of its own.

    Args:
        operator: Over the records.
        point: In the set, and already released: it may depend on the records through that only.
        epsilon: Positive.
        neighbors: ``"replace"`` or ``"zero_out"``.
        ledger: Charged before the noise is drawn, with ``dataset`` as the name.
        dataset: Name of the data set in the ledger.
        random_state: None for the operating system's randomness; an integer marks the release as
            not private.
        contingencies: Further conditions for the guarantee to state.

    Returns:
        The noisy certificate, which can be negative. If the operator is clipped, as all are that do
        not see to their bounds themselves, it is no bound on a gap.

    Raises:
        ParameterError: A parameter is out of range. Nothing is charged.
        ProblemError: The point lies outside the set. Nothing is charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.
    """
    records = checked_operator(operator)
    bounded = records if records.enforced else Clipped(records)
    # Within the set, not only within the tolerance: distances from it are at most D.
    inside = bounded.domain.project(bounded.domain.require_point("point", point))
    spend = positive_rational("epsilon", epsilon)
    relation = Neighbors.parse(neighbors)
    if relation is Neighbors.ADD_REMOVE:
        raise ParameterError(
            "neighbors: the number of records is public here; use 'replace' or 'zero_out'"
        )
    reach = 2 if relation is Neighbors.REPLACE else 1
    sensitivity = reach * bounded.bound * bounded.domain.diameter / bounded.n_records
    sensitivity *= 1 + 1e-12  # For the rounding of this line.
    scale = sensitivity / stated("epsilon", spend, toward=0)
    source = bit_source(random_state)
    charge_before_noise(ledger, dataset, mechanism=MECHANISM, epsilon=spend, neighbors=relation)
    exact = strong_gap(bounded.mean(), inside, bounded.domain)
    noisy = exact + float(laplace(source, scale, 1)[0])
    return Release(
        noisy,
        Guarantee(
            mechanism=MECHANISM,
            theorem=THEOREM,
            neighbors=relation,
            epsilon=stated("epsilon", spend, toward=math.inf),
            delta=0.0,
            rho=stated("epsilon", spend**2 / 2, toward=math.inf),
            sensitivity=sensitivity,
            sensitivity_source=ENFORCED if records.enforced else CLIPPED,
            certificate=Certificate.NONE,
            contingencies=(
                *contingencies,
                FLOATING_POINT_NOISE,
                *conditions(source, Limits()),
            ),
        ),
    )
