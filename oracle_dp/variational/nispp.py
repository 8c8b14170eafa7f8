"""NISPP: the noisy inexact stochastic proximal point method.

Theorem (docs/theory/variational.md, Theorem 6). Let every possible record's operator be monotone
and bounded by M on W (or only L-Lipschitz and bounded, with ``lambda > L``; then read
``lambda - L`` for lambda below). A step releases u + noise, where u in W solves up to nu the
inequality of ``G(w) = mean over the batch of F_record(w) + lambda (w - w_k)``. Solutions for
neighbouring batches are at most a apart, where ``lambda a^2 = c a + 2 nu`` and c is by how much G
can change; noise calibrated to a makes all steps together (epsilon, delta)-differentially private.

Where its hypotheses are enforced: monotone operators and bounds by the operator's class, through
checked or clipped *features*; a clipped operator is not monotone, and is refused unless lambda > L.
nu by a number of inner iterations that is fixed before the data are seen. Only w_{k+1} is used
downstream.

Source: Boob, Guzman (2021), https://arxiv.org/abs/2104.02988, Algorithm 2 and Proposition 5.2, with
the sensitivity proved anew (its table of deviations is in the proof note).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from fractions import Fraction
from numbers import Real

import numpy as np

from oracle_dp.errors import ParameterError, UncertifiedError
from oracle_dp.ledger import Ledger
from oracle_dp.noise import BitSource
from oracle_dp.noise.floating import FloatArray
from oracle_dp.privacy import Contingency, Neighbors, Release
from oracle_dp.variational._probe import refuted
from oracle_dp.variational._release import ASSERTED, ENFORCED, Account, checked_operator
from oracle_dp.variational.accuracy import reachable_accuracy, rounding_radius
from oracle_dp.variational.bounds import Constants
from oracle_dp.variational.calibration import (
    PrivacyTarget,
    noise_multiplier,
    proximal_contribution,
)
from oracle_dp.variational.plans import NisppPlan, nispp_multi_pass
from oracle_dp.variational.sampling import Sampling, batches, standard_normals
from oracles.monotone import RecordOperator, extrapolation_iterations, extrapolation_run

MECHANISM = "nispp"
THEOREM = (
    "noisy inexact stochastic proximal point, Gaussian noise calibrated to a(nu), {sampling} "
    "batches (docs/theory/variational.md, Theorem 6)"
)


class Subsolver(Enum):
    """What solves the proximal problems, with a number of iterations known beforehand."""

    EXTRAPOLATION = "extrapolation"
    """Operator extrapolation, as in the paper."""
    FIXED_POINT = "fixed_point"
    """``u <- P(w_k - F(u) / lambda)``, a contraction by L / lambda: faster for lambda >= 2 L."""


def nispp(
    operator: RecordOperator,
    *,
    epsilon: float | Fraction,
    delta: float | Fraction,
    plan: NisppPlan | None = None,
    subsolver: Subsolver | str = Subsolver.EXTRAPOLATION,
    neighbors: Neighbors | str = Neighbors.REPLACE,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    random_state: int | BitSource | None = None,
    contingencies: Sequence[Contingency] = (),
) -> Release[FloatArray]:
    """Release an approximate solution of a monotone variational inequality over private records.

    Args:
        operator: The mean over records, with its set. The number of records, the set and the
            constants are public.
        epsilon: Positive.
        delta: In (0, 1).
        plan: Public parameters; by default :func:`~oracle_dp.variational.plans.nispp_multi_pass`.
        subsolver: ``"extrapolation"`` or ``"fixed_point"``.
        neighbors: ``"replace"`` or ``"zero_out"``.
        ledger: Charged before the noise is drawn, with ``dataset`` as the name.
        dataset: Name of the data set in the ledger.
        random_state: None for the operating system's randomness; an integer reproduces a run and
            marks the release as not private.
        contingencies: Further conditions for the guarantee to state.

    Returns:
        The projected average of w_1, ..., w_K, shape ``(dimension,)``, with its guarantee.

    Raises:
        ParameterError: A parameter is out of range, the records' operators need not be monotone
            and lambda does not exceed L or are found not to be at sampled points, the set has no
            exact projection, nu is beyond what floating point reaches, the default plan finds
            epsilon too small, or a caller's own function returns NaN or another shape. Nothing is
            charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.
        UncertifiedError: Noise threw an iterate so far that nu is out of reach. The charge stays.

    Warns:
        VacuousBoundWarning: The default plan's bound is no better than M D.

    A caller's own operator is only looked at in a few points, before the charge: try it on public
    records with :func:`oracles.monotone.check_operator`, since privacy rests on its being monotone.
    """
    records = checked_operator(operator)
    if refuted(records):
        raise ParameterError(
            "operator: declared monotone, and is not at sampled points: the sensitivity would be "
            "wrong. Declare it monotone=False, which needs weight above lipschitz, or use nseg; "
            "oracles.monotone.check_operator looks at an operator on public records"
        )
    target = PrivacyTarget.checked(epsilon, delta, neighbors)
    if plan is None:
        plan = nispp_multi_pass(Constants.of(records), records.n_records, target)
    elif not isinstance(plan, NisppPlan):
        raise ParameterError(f"plan: a NisppPlan or None expected, not a {type(plan).__name__}")
    prox = _Proximal(records, plan, _parse(subsolver))
    schedule = plan.schedule(records.n_records)
    contribution = proximal_contribution(
        schedule, target, bound=records.bound, modulus=prox.modulus, accuracy=plan.accuracy
    )
    deviation = noise_multiplier(schedule, target) * contribution
    account = Account.opened(target, ledger, dataset, random_state, contingencies)
    account.charge(MECHANISM)
    value = prox.run(deviation, account.source)
    return Release(
        value,
        account.guarantee(
            mechanism=MECHANISM,
            theorem=THEOREM.format(sampling=plan.sampling.value),
            sensitivity=target.reach * contribution,
            sensitivity_source=ENFORCED if records.enforced else ASSERTED,
        ),
    )


class _Proximal:
    """The steps of a plan on an operator, its hypotheses checked."""

    def __init__(self, operator: RecordOperator, plan: NisppPlan, subsolver: Subsolver) -> None:
        given = (plan.weight, plan.accuracy)
        if not all(isinstance(number, Real) and 0 < number < math.inf for number in given):
            raise ParameterError("weight, accuracy: positive finite numbers expected")
        self.operator, self.plan, self.subsolver = operator, plan, subsolver
        self.modulus = plan.weight if operator.monotone else plan.weight - operator.lipschitz
        if self.modulus <= 0:
            raise ParameterError(
                f"weight: lambda = {plan.weight:g} must exceed L = {operator.lipschitz:g}, because "
                "the records' operators need not be monotone (a clipped operator is not); raise "
                "weight, or clip the features that a monotone operator is made of"
            )
        if not operator.monotone and plan.sampling is Sampling.POISSON:
            raise ParameterError(
                "sampling: the records' operators need not be monotone, and a large Poisson batch "
                "would outweigh lambda; use sampling='fixed_size' or 'single_pass'"
            )
        if operator.domain.projection_error > 0:
            raise ParameterError(
                "operator: its set has no exact projection, and the accuracy nu could not be "
                "promised; use a ball, box, simplex or a product of them, or nseg"
            )
        if subsolver is Subsolver.FIXED_POINT and plan.weight <= operator.lipschitz:
            raise ParameterError(
                f"subsolver: 'fixed_point' needs weight above L = {operator.lipschitz:g}, not "
                f"{plan.weight:g}; use 'extrapolation'"
            )
        constants = Constants.of(operator)
        least = reachable_accuracy(constants, weight=plan.weight, modulus=self.modulus)
        if plan.accuracy < least:
            raise ParameterError(
                f"accuracy: nu = {plan.accuracy:g} is beyond double precision here; at least "
                f"{least:g}, which is then part of the sensitivity"
            )
        self.constants = constants

    def run(self, deviation: float, source: BitSource) -> FloatArray:
        """All steps: the projected average of the noisy solutions."""
        operator, plan = self.operator, self.plan
        domain = operator.domain
        chosen = batches(plan.sampling, operator.n_records, plan.batch_size, source)
        normals = standard_normals(domain.dimension, source)
        anchor = domain.centre
        total = np.zeros(domain.dimension)
        for _ in range(plan.steps):
            anchor = self.solve(anchor, next(chosen)) + deviation * next(normals)
            total += anchor
        return domain.project(total / plan.steps)

    def solve(self, anchor: FloatArray, batch: np.ndarray | slice) -> FloatArray:
        """A nu-solution of one batch's proximal problem, in the set.

        The number of iterations depends on the anchor, which was released, on the size of the
        batch, which was drawn without looking at records, and on public constants.
        """
        operator, plan = self.operator, self.plan
        domain, size, weight = operator.domain, plan.batch_size, plan.weight
        drawn = len(batch) if isinstance(batch, np.ndarray) else operator.n_records
        point = domain.project(anchor)
        if drawn == 0:
            return point
        share = drawn / size
        summed = operator.summed(batch)
        radius = self._radius(share, float(np.linalg.norm(anchor - point)))
        # The solution is within M / modulus of the anchor's projection (Lemma B).
        away = min(domain.diameter, operator.bound * share / self.modulus)
        if self.subsolver is Subsolver.FIXED_POINT and weight > operator.lipschitz * share:
            # A Poisson batch may be too large for it: extrapolation never is.
            ratio = operator.lipschitz * share / weight
            for _ in range(_fixed_point_iterations(ratio, away, radius)):
                point = domain.project(anchor - summed(point) / (size * weight))
            return point
        lipschitz = operator.lipschitz * share
        return extrapolation_run(
            lambda w: summed(w) / size,
            domain,
            lipschitz=lipschitz,
            strong_monotonicity=self.modulus,
            iterations=extrapolation_iterations(
                lipschitz=lipschitz,
                strong_monotonicity=self.modulus,
                diameter=away,
                radius=radius,
            ),
            start=point,
            weight=weight,
            anchor=anchor,
        )

    def _radius(self, share: float, distance: float) -> float:
        """How close to the exact solution makes a nu-solution, by Lemma A."""
        c, weight = self.constants, self.plan.weight
        lipschitz = c.lipschitz * share + weight
        growth = lipschitz * c.diameter + c.bound * share + weight * (c.diameter + distance)
        radius = self.plan.accuracy / growth
        floor = rounding_radius(c, lipschitz=lipschitz, modulus=self.modulus) / 8
        if radius < floor * (1 + distance / c.diameter):
            raise UncertifiedError(
                "accuracy: noise threw an iterate so far from the set that double precision does "
                "not reach nu; raise accuracy or weight. The charge stays"
            )
        return radius


def _fixed_point_iterations(ratio: float, away: float, radius: float) -> int:
    """How many contractions by ``ratio`` bring a distance down to a radius."""
    if away <= radius:
        return 1
    return 1 + math.ceil(math.log(away / radius) / -math.log(ratio))


def _parse(subsolver: Subsolver | str) -> Subsolver:
    try:
        return Subsolver(subsolver)
    except ValueError:
        raise ParameterError(
            f"subsolver: 'extrapolation' or 'fixed_point' expected, not {subsolver!r}"
        ) from None
