"""Parameters of the two methods, from (n, d, L, M, D, epsilon, delta) and nothing else.

A plan is public: it is made from the constants of the problem, never from records. Whatever it
says, privacy holds: noise is calibrated to it. Step lengths, weights and batch sizes minimise the
explicit bounds of :mod:`oracle_dp.variational.bounds`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from oracle_dp.variational import bounds
from oracle_dp.variational._fit import least_batch, refuse_drowned, warn_vacuous
from oracle_dp.variational.accuracy import default_accuracy
from oracle_dp.variational.bounds import Constants
from oracle_dp.variational.calibration import (
    PrivacyTarget,
    Schedule,
    noise_multiplier,
    proximal_contribution,
)
from oracle_dp.variational.sampling import Sampling


@dataclass(frozen=True, slots=True, kw_only=True)
class NsegPlan:
    """Parameters of :func:`~oracle_dp.variational.nseg.nseg`.

    Attributes:
        sampling: How each evaluation's records are chosen.
        batch_size: Records in a batch; n for ``FULL``; expected for ``POISSON``.
        steps: T; each takes two evaluations and two releases.
        step: Step length, one for all coordinates or one for each factor of a product set.
        burn_in: How many of the first iterates the average leaves out; below ``steps``.
        reuse: Whether a step's first half takes the previous step's second release again instead
            of a new one (Popov's method): one release per step but the first. The bounds are not
            proved for it.
        gap_bound: The bound on the mean gap that the plan was made to minimise, or None.
    """

    sampling: Sampling
    batch_size: int
    steps: int
    step: float | tuple[float, ...]
    burn_in: int = 0
    reuse: bool = False
    gap_bound: float | None = None

    def schedule(self, n_records: int) -> Schedule:
        """Both half-steps of every step are releases, unless one is used again."""
        return Schedule(
            sampling=self.sampling,
            n_records=n_records,
            batch_size=self.batch_size,
            releases=1 + self.steps if self.reuse else 2 * self.steps,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NisppPlan:
    """Parameters of :func:`~oracle_dp.variational.nispp.nispp`.

    Attributes:
        sampling: How each step's records are chosen.
        batch_size: Records in a batch; n for ``FULL``; expected for ``POISSON``.
        steps: K; each is one release.
        weight: lambda, of the proximal term.
        accuracy: nu, guaranteed by the number of inner iterations and part of the sensitivity.
        gap_bound: The bound on the mean gap that the plan was made to minimise, or None.
    """

    sampling: Sampling
    batch_size: int
    steps: int
    weight: float
    accuracy: float
    gap_bound: float | None = None

    def schedule(self, n_records: int) -> Schedule:
        """One release per step."""
        return Schedule(
            sampling=self.sampling,
            n_records=n_records,
            batch_size=self.batch_size,
            releases=self.steps,
        )


def nseg_single_pass(constants: Constants, n_records: int, target: PrivacyTarget) -> NsegPlan:
    """One pass: disjoint batches, for the strong gap (Theorem 9).

    Batches are at least so large that the noise of an evaluation is not longer than M on average,
    as in the paper's corollary, and of that size or above minimise the bound.

    Raises:
        ParameterError: No step fits into the data.

    Warns:
        VacuousBoundWarning: The bound is no better than M D.
    """
    one = Schedule(sampling=Sampling.SINGLE_PASS, n_records=n_records, batch_size=1, releases=1)
    multiplier = noise_multiplier(one, target)
    length = multiplier * constants.noise_length
    least = least_batch(constants, length, n_records, uses=2)

    def best(batch: int) -> tuple[float, float]:
        steps = n_records // (2 * batch)
        variance = constants.bound**2 / batch + (length / batch) ** 2
        step = _capped(constants, constants.diameter / math.sqrt(3.5 * steps * variance))
        gap = bounds.extragradient_gap(constants, steps=steps, step=step, variance=variance)
        return gap, step

    batch = min(_sizes(least, n_records // 2), key=lambda size: best(size)[0])
    gap, step = best(batch)
    warn_vacuous(constants, gap)
    return NsegPlan(
        sampling=Sampling.SINGLE_PASS,
        batch_size=batch,
        steps=n_records // (2 * batch),
        step=step,
        gap_bound=gap,
    )


def nseg_multi_pass(
    constants: Constants,
    n_records: int,
    target: PrivacyTarget,
    *,
    sampling: Sampling = Sampling.POISSON,
) -> NsegPlan:
    """About n^2 evaluations in batches of sqrt(n), for the weak gap (Theorems 9 and 10).

    Raises:
        ParameterError: Noise would drown the operator at any step length.

    Warns:
        VacuousBoundWarning: The bound is no better than M D.
    """
    batch = n_records if sampling is Sampling.FULL else math.ceil(math.sqrt(n_records))
    steps = max(1, math.ceil(n_records**2 / (2 * math.ceil(math.sqrt(n_records)))))
    plan = NsegPlan(sampling=sampling, batch_size=batch, steps=steps, step=1.0)
    schedule = plan.schedule(n_records)
    length = noise_multiplier(schedule, target) * constants.noise_length
    refuse_drowned(constants, schedule, length)
    noise = length / batch
    variance = bounds.batch_variance(constants, sampling, batch) + noise**2

    def gap(step: float) -> float:
        apart = bounds.extragradient_stability(
            constants,
            sampling,
            n_records=n_records,
            batch_size=batch,
            steps=steps,
            step=step,
            noise=noise,
        )
        found = bounds.extragradient_gap(constants, steps=steps, step=step, variance=variance)
        return found + constants.bound * apart

    step = _least(gap, _capped(constants, math.inf))
    warn_vacuous(constants, gap(step))
    return NsegPlan(
        sampling=sampling, batch_size=batch, steps=steps, step=step, gap_bound=gap(step)
    )


def nispp_single_pass(constants: Constants, n_records: int, target: PrivacyTarget) -> NisppPlan:
    """One pass: disjoint batches, for the strong gap (Theorem 11).

    Raises:
        ParameterError: No step fits into the data.

    Warns:
        VacuousBoundWarning: The bound is no better than M D.
    """
    one = Schedule(sampling=Sampling.SINGLE_PASS, n_records=n_records, batch_size=1, releases=1)
    multiplier = noise_multiplier(one, target)
    length = multiplier * constants.bound * math.sqrt(constants.dimension)
    least = least_batch(constants, length, n_records, uses=1)
    plans = [
        _best_weight(
            constants, n_records, target, multiplier,
            NisppPlan(sampling=Sampling.SINGLE_PASS, batch_size=batch, steps=n_records // batch,
                      weight=1.0, accuracy=1.0),
            n_for_accuracy=None,
        )
        for batch in _sizes(least, n_records)
    ]  # fmt: skip
    best = min(plans, key=lambda plan: plan.gap_bound or math.inf)
    warn_vacuous(constants, best.gap_bound or math.inf)
    return best


def nispp_multi_pass(
    constants: Constants,
    n_records: int,
    target: PrivacyTarget,
    *,
    sampling: Sampling = Sampling.POISSON,
) -> NisppPlan:
    """As many steps as records, on batches of sqrt(n), for the weak gap (Theorems 11 and 12).

    Raises:
        ParameterError: Noise would drown the operator at any step length.

    Warns:
        VacuousBoundWarning: The bound is no better than M D.
    """
    batch = n_records if sampling is Sampling.FULL else math.ceil(math.sqrt(n_records))
    plan = NisppPlan(sampling=sampling, batch_size=batch, steps=n_records, weight=1.0, accuracy=1.0)
    schedule = plan.schedule(n_records)
    multiplier = noise_multiplier(schedule, target)
    length = multiplier * constants.bound * math.sqrt(constants.dimension)
    refuse_drowned(constants, schedule, length)
    best = _best_weight(constants, n_records, target, multiplier, plan, n_for_accuracy=n_records)
    warn_vacuous(constants, best.gap_bound or math.inf)
    return best


def _best_weight(
    constants: Constants,
    n_records: int,
    target: PrivacyTarget,
    multiplier: float,
    plan: NisppPlan,
    *,
    n_for_accuracy: int | None,
) -> NisppPlan:
    """The plan with the weight that minimises the bound, and the accuracy that goes with it."""
    schedule = plan.schedule(n_records)

    def gap(weight: float) -> float:
        accuracy = default_accuracy(
            constants, schedule, target, weight=weight, n_records=n_for_accuracy
        )
        contribution = proximal_contribution(
            schedule, target, bound=constants.bound, modulus=weight, accuracy=accuracy
        )
        found = bounds.proximal_gap(
            constants,
            plan.sampling,
            batch_size=plan.batch_size,
            steps=plan.steps,
            weight=weight,
            accuracy=accuracy,
            deviation=multiplier * contribution,
        )
        if plan.sampling is not Sampling.SINGLE_PASS:
            found += constants.bound * bounds.proximal_stability(
                constants, n_records=n_records, steps=plan.steps, weight=weight, accuracy=accuracy
            )
        return found

    scale = max(constants.bound / constants.diameter, constants.lipschitz)
    weight = _least(gap, 1e4 * scale * math.sqrt(n_records))
    accuracy = default_accuracy(
        constants, schedule, target, weight=weight, n_records=n_for_accuracy
    )
    return NisppPlan(
        sampling=plan.sampling,
        batch_size=plan.batch_size,
        steps=plan.steps,
        weight=weight,
        accuracy=accuracy,
        gap_bound=gap(weight),
    )


def _sizes(least: int, most: int) -> list[int]:
    """Batch sizes to try, a quarter apart."""
    count = 1 + max(0, math.ceil(math.log(most / least) / math.log(1.25)))
    return sorted({min(most, math.ceil(least * 1.25**k)) for k in range(count + 1)})


def _capped(constants: Constants, step: float) -> float:
    return min(step, 1 / (math.sqrt(3) * constants.lipschitz))


def _least(function: Callable[[float], float], most: float) -> float:
    """Where a function of a positive number is least, up to ``most``: a grid, then refined."""
    grid = np.log(most) - np.linspace(0, 40, 81)
    values = [function(math.exp(point)) for point in grid]
    best = int(np.argmin(values))
    around = (grid[min(best + 1, 80)], grid[max(best - 1, 0)])
    found = minimize_scalar(
        lambda point: function(math.exp(point)), bounds=around, method="bounded"
    )
    refined = min((float(grid[best]), float(found.x)), key=lambda point: function(math.exp(point)))
    return math.exp(refined)
