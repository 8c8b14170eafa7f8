"""NSEG: the noisy stochastic extragradient method.

Theorem (docs/theory/variational.md, Theorem 5). Let s(w) > 0 depend on the point alone and
``|F_record(w) / s(w)| <= 1`` for every possible record. Both half-steps of every step release a
batch's mean plus Gaussian noise of standard deviation ``z s(w) / batch_size`` per coordinate, with
z from the accountant of *the scheme that draws the batches* for all 2 T releases. Then all iterates
together, and the average, are (epsilon, delta)-differentially private. Neither monotonicity nor
Lipschitz continuity is needed for that.

Where its hypotheses are enforced: s by the operator's class, where it clips or checks features
before an operator is formed; otherwise every record's value is clipped to M here. One plan selects
the draw and the accountant.

Source: Boob, Guzman, "Optimal algorithms for differentially private stochastic monotone variational
inequalities and saddle-point problems" (2021), https://arxiv.org/abs/2104.02988, Algorithm 1.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from numbers import Real

import numpy as np

from oracle_dp.errors import ParameterError
from oracle_dp.ledger import Ledger
from oracle_dp.noise import BitSource
from oracle_dp.noise.floating import FloatArray
from oracle_dp.privacy import Contingency, Neighbors, Release
from oracle_dp.variational._probe import refuted
from oracle_dp.variational._release import CLIPPED, ENFORCED, Account, checked_operator
from oracle_dp.variational.bounds import Constants
from oracle_dp.variational.calibration import PrivacyTarget, noise_multiplier
from oracle_dp.variational.plans import NsegPlan, nseg_multi_pass
from oracle_dp.variational.sampling import IndexArray, batches, standard_normals
from oracles.errors import NonMonotoneWarning
from oracles.monotone import Clipped, Product, RecordOperator

MECHANISM = "nseg"
THEOREM = (
    "noisy stochastic extragradient, Gaussian noise on every evaluation, {sampling} batches "
    "(docs/theory/variational.md, Theorem 5)"
)
Shift = Callable[[FloatArray], FloatArray]


def nseg(
    operator: RecordOperator,
    *,
    epsilon: float | Fraction,
    delta: float | Fraction,
    plan: NsegPlan | None = None,
    neighbors: Neighbors | str = Neighbors.REPLACE,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    random_state: int | BitSource | None = None,
    contingencies: Sequence[Contingency] = (),
) -> Release[FloatArray]:
    """Release an approximate solution of a variational inequality over private records.

    Args:
        operator: The mean over records, with its set. The number of records, the set and the
            constants are public.
        epsilon: Positive.
        delta: In (0, 1).
        plan: Public parameters; by default :func:`~oracle_dp.variational.plans.nseg_multi_pass`,
            whose n^2 evaluations take seconds for n = 1,000 and minutes for n = 10,000. A plan of
            one's own is followed, however much noise it means.
        neighbors: ``"replace"`` or ``"zero_out"``.
        ledger: Charged before the noise is drawn, with ``dataset`` as the name.
        dataset: Name of the data set in the ledger.
        random_state: None for the operating system's randomness; an integer reproduces a run and
            marks the release as not private.
        contingencies: Further conditions for the guarantee to state.

    Returns:
        The average of the iterates w_t, shape ``(dimension,)``, in the set, with its guarantee.

    Raises:
        ParameterError: A parameter is out of range, the default plan finds epsilon too small, or
            a caller's own function returns NaN or another shape. Nothing is charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.

    Warns:
        NonMonotoneWarning: A caller's own operator is not monotone at sampled points, as
            :func:`oracles.monotone.check_operator` shows for any operator. Privacy holds all the
            same; no bound on the gap does.
        VacuousBoundWarning: The default plan's bound is no better than M D.
    """
    records = checked_operator(operator)
    warn_refuted(records)
    source = ENFORCED if records.enforced else CLIPPED
    bounded = records if records.enforced else Clipped(records)
    target = PrivacyTarget.checked(epsilon, delta, neighbors)
    if plan is None:
        plan = nseg_multi_pass(Constants.of(bounded), bounded.n_records, target)
    elif not isinstance(plan, NsegPlan):
        raise ParameterError(f"plan: an NsegPlan or None expected, not a {type(plan).__name__}")
    multiplier = noise_multiplier(plan.schedule(bounded.n_records), target)
    step = step_lengths(bounded, plan)
    account = Account.opened(target, ledger, dataset, random_state, contingencies)
    account.charge(MECHANISM)
    value = extragradient_run(bounded, plan, step, multiplier, account.source)
    return Release(
        value,
        account.guarantee(
            mechanism=MECHANISM,
            theorem=THEOREM.format(sampling=plan.sampling.value),
            sensitivity=target.reach * bounded.bound / plan.batch_size,
            sensitivity_source=source,
        ),
    )


def warn_refuted(records: RecordOperator) -> None:
    """Say so where a caller's own operator is not monotone at sampled points."""
    if refuted(records):
        warnings.warn(
            "operator: not monotone at sampled points: no bound on the gap holds. Look at it with "
            "oracles.monotone.check_operator, and declare it monotone=False",
            NonMonotoneWarning,
            stacklevel=3,
        )


def extragradient_run(
    operator: RecordOperator,
    plan: NsegPlan,
    step: float | FloatArray,
    multiplier: float,
    source: BitSource,
    *,
    members: IndexArray | None = None,
    start: FloatArray | None = None,
    shift: Shift | None = None,
) -> FloatArray:
    """The average of the noisy iterates; everything that is released in it is common knowledge.

    Args:
        operator: Within its bounds for every record.
        plan: Sampling, batch size and steps.
        step: As :func:`step_lengths` gives it.
        multiplier: Standard deviation of the noise on a batch's sum, in units of the scale.
        source: Of noise and batches.
        members: The records that take part, chosen without looking at them; all by default.
        start: A public point of the set; its centre by default.
        shift: A public vector field that is added to the mean.
    """
    domain, size = operator.domain, plan.batch_size
    count = operator.n_records if members is None else len(members)
    chosen = batches(plan.sampling, count, size, source)
    normals = standard_normals(domain.dimension, source)

    def noisy(point: FloatArray) -> FloatArray:
        noise = (multiplier * operator.scale(point)) * next(normals)
        batch = next(chosen) if members is None else members[next(chosen)]
        mean = (operator.total(point, batch) + noise) / size
        return mean if shift is None else mean + shift(point)

    point = domain.centre if start is None else start
    total = np.zeros(domain.dimension)
    release: FloatArray | None = None
    for t in range(plan.steps):
        if release is None or not plan.reuse:
            release = noisy(point)
        half = domain.project(point - step * release)
        release = noisy(half)
        point = domain.project(point - step * release)
        if t >= plan.burn_in:
            total += half
    # An average of points of the set, up to rounding.
    return domain.project(total / (plan.steps - plan.burn_in))


def step_lengths(operator: RecordOperator, plan: NsegPlan) -> float | FloatArray:
    """One step length, or one per coordinate, equal within each factor of a product set.

    Raises:
        ParameterError: One is not positive and finite, there are not as many as factors, or the
            burn-in leaves no iterate.
    """
    if not 0 <= plan.burn_in < plan.steps:
        raise ParameterError(
            f"burn_in: between 0 and steps = {plan.steps} expected, not {plan.burn_in!r}"
        )
    given = plan.step if isinstance(plan.step, tuple) else (plan.step,)
    if not all(isinstance(length, Real) and 0 < length < math.inf for length in given):
        raise ParameterError(f"step: positive finite numbers expected, not {plan.step!r}")
    if not isinstance(plan.step, tuple):
        return float(plan.step)
    domain = operator.domain
    if not isinstance(domain, Product) or len(domain.factors) != len(given):
        raise ParameterError("step: one number expected, or one for each factor of a product set")
    repeats = [factor.dimension for factor in domain.factors]
    return np.repeat(np.array(given, dtype=np.float64), repeats)
