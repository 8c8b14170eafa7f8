"""OPSamp: average the minima of randomly tilted losses, and add noise to the average.

Theorem (docs/theory/opsamp.md, Theorem 3). W compact in a box of sides D_j; any losses, convex or
not, whose change of one record moves a difference of two sums over W by at most Omega. With m tilts
of independent exponentials of mean 1 / eta, each solved to an absolute gap alpha, and

    Delta_1 = sum_j [eta Omega + 2 sqrt(2 alpha eta D_j) + 2 D_j sqrt(log(2 d / delta) / (2 m))],

the average plus independent Laplace noise of scale Delta_1 / epsilon is (epsilon, delta)-DP.
Likewise with Laplace tilts, and with Gaussian tilts and noise.

Where its hypotheses are enforced: each gap by the oracle's certificate, without which nothing is
released; the tilts are drawn here, before any call; m, eta, Omega, D_j, alpha are arguments.

Source: Neel, Roth, Vietri, Wu (ICML 2020), Section 4, Algorithm 2; constants re-derived, about a
hundred times smaller: see the deviations in the proof note.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from oracle_dp._workers import workers
from oracle_dp.errors import ParameterError, UncertifiedError
from oracle_dp.ledger import Ledger
from oracle_dp.mechanisms import spending
from oracle_dp.mechanisms.base import CALLER, REFUSED
from oracle_dp.mechanisms.perturbed_objective import SOLVED
from oracle_dp.mechanisms.sampled_minimum import SampledMinimum
from oracle_dp.mechanisms.sampled_noise import (
    Calibration,
    Geometry,
    Perturbation,
    calibrate,
    needed,
)
from oracle_dp.noise import BitSource
from oracle_dp.noise.floating import gaussian, laplace
from oracle_dp.privacy import Contingency, ContingencyKind, Neighbors, Release
from oracle_dp.sensitivity import ASSERTED
from oracles import Certificate, Solution
from oracles._threads import one_thread
from oracles.arrays import FloatArray
from oracles.convex.perturbed import BallProblem, TiltedProblem
from oracles.errors import WorkerError
from oracles.parallel import in_order

MECHANISM = "opsamp"
THEOREM = "sampling-based objective perturbation (docs/theory/opsamp.md, Theorem 3)"
GAP_OF_SOLVER = Contingency(
    ContingencyKind.ORACLE_BOUND,
    "the gap of every call rests on floating-point bounds of the problem's solver; a gap above the "
    "stated one would take more noise",
)


def opsamp(
    problem: TiltedProblem,
    *,
    epsilon: float | Fraction,
    delta: float | Fraction,
    oscillation: float,
    size: int,
    lipschitz: float = 1.0,
    baseline: float = math.log(2),
    oscillation_source: str = ASSERTED,
    calls: int = 1000,
    perturbation: Perturbation | str = Perturbation.EXPONENTIAL,
    scale: float | None = None,
    gap: float = 1e-6,
    n_jobs: int | None = 1,
    neighbors: Neighbors | str = Neighbors.REPLACE,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    random_state: int | BitSource | None = None,
    contingencies: Sequence[Contingency] = (),
) -> Release[SampledMinimum]:
    """Release the noisy average of minima of randomly tilted losses.

    A single minimum, or the list of them, is never released: their law is not private.

    Args:
        problem: The summed loss over its public set. Only the loss may depend on private data.
        epsilon: Positive.
        delta: In (0, 1).
        oscillation: Omega under ``neighbors``.
        size: n, public: for the accuracy bound and the default scale, not for privacy.
        lipschitz: G of one record's loss, in the L1 norm (L2 for Gaussian tilts): as ``size``.
        baseline: Loss per record of w = 0: for the accuracy statement only.
        oscillation_source: Who vouches for Omega, for the guarantee.
        calls: m, at least 1.
        perturbation: ``"exponential"``, ``"laplace"`` or ``"gaussian"``.
        scale: Of the tilts (1 / eta). Default: the one with the best accuracy bound.
        gap: alpha, the absolute gap that every call must be proven to. Enters the noise.
        n_jobs: Workers, as joblib counts them; ``joblib.parallel_config`` says where
            (docs/scale_convex.md). The result does not depend on it, nor on workers that die.
        neighbors: The relation that ``oscillation`` is for.
        ledger: Charged before noise is drawn, with ``dataset`` as the name.
        dataset: Name of the data set in the ledger.
        random_state: None for the operating system's randomness; an integer reproduces a run and
            marks the release as not private.
        contingencies: Further conditions for the guarantee to state.

    Returns:
        The point, clipped to the box, with its accuracy bound and its guarantee.

    Raises:
        ParameterError: A parameter is out of range. Nothing is charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.
        UncertifiedError: A call was not proven to the gap, or workers died again and again. The
            charge stays.
    """
    target = spending.read_target(
        {
            "epsilon": epsilon,
            "delta": delta,
            "neighbors": neighbors,
            "ledger": ledger,
            "dataset": dataset,
            "random_state": random_state,
            "contingencies": contingencies,
        }
    )
    n_workers = workers(n_jobs)
    law = _perturbation(perturbation)
    geometry = _geometry(problem, spending.positive("oscillation", oscillation), gap)
    public: dict[str, Any] = {
        "epsilon": target.epsilon_below,
        "delta": target.delta_below,
        "perturbation": law,
        "size": _whole("size", size),
        "lipschitz": spending.positive("lipschitz", lipschitz),
    }
    calibration = calibrate(
        geometry,
        **public,
        calls=_whole("calls", calls),
        scale=None if scale is None else spending.positive("scale", scale),
    )
    excess: float | None = None
    enough: tuple[int | None, int | None] = (None, None)
    if problem.is_convex:
        excess = calibration.excess(geometry, size, lipschitz) / size
        enough = needed(geometry, **public, baseline=spending.positive("baseline", baseline))
    target.charge(MECHANISM)
    tilts = calibration.noise.draw(problem.dimension, target.source)
    average = _average(problem, tilts, gap, n_workers)
    point = _noisy(average, calibration, target.source)
    return target.release(
        SampledMinimum(
            point=np.clip(point, -geometry.sides / 2, geometry.sides / 2),
            excess=excess,
            baseline=baseline,
            records_needed=enough[0],
            calls_needed=enough[1],
        ),
        mechanism=MECHANISM,
        theorem=THEOREM,
        sensitivity=oscillation,
        sensitivity_source=oscillation_source,
        certificate=Certificate.BOUNDED,
        conditions_of_mechanism=_conditions(problem, oscillation_source),
    )


def _conditions(problem: TiltedProblem, oscillation_source: str) -> tuple[Contingency, ...]:
    """What the guarantee rests on beside the theorem."""
    asserted = (CALLER,) if oscillation_source == ASSERTED else ()
    # The ball's gap is proven with its rounding; another's is as good as its solver's floats.
    floats = () if isinstance(problem, BallProblem) else (GAP_OF_SOLVER,)
    return (SOLVED, *asserted, *floats)


def _average(
    problem: TiltedProblem, tilts: FloatArray, gap: float, n_jobs: int | None
) -> FloatArray:
    """The mean of the minima, in the tilts' order whatever the workers.

    Raises:
        UncertifiedError: A call was not proven to the gap, or workers died again and again.
    """
    from joblib import effective_n_jobs

    parts = np.array_split(tilts, min(effective_n_jobs(n_jobs), len(tilts)))
    try:
        points = np.concatenate(list(in_order(_solve, (problem, gap), parts, n_jobs=n_jobs)))
    except WorkerError as error:
        raise UncertifiedError(f"no certificate, no release ({error}). {REFUSED}") from None
    if np.isnan(points).any():
        raise UncertifiedError(
            f"no certificate, no release (a call was not proven to a gap of {gap:g}). {REFUSED}"
        )
    return np.asarray(points.mean(axis=0))


def _solve(given: tuple[TiltedProblem, float], tilts: FloatArray) -> FloatArray:
    """One minimum per tilt; NaN for one that is not proven."""
    problem, gap = given
    found = np.empty_like(tilts)
    # So that every worker computes the same bits.
    with one_thread():
        for place, tilt in enumerate(tilts):
            solution = problem.minimize(tilt)
            found[place] = solution.value if _proven(solution, gap) else np.nan
    return found


def _proven(solution: Solution[FloatArray], gap: float) -> bool:
    return (
        solution.value is not None
        and solution.certificate is not Certificate.NONE
        and solution.gap <= gap
    )


def _noisy(average: FloatArray, calibration: Calibration, source: BitSource) -> FloatArray:
    gauss = calibration.noise.perturbation is Perturbation.GAUSSIAN
    law = gaussian if gauss else laplace
    return average + law(source, calibration.output_scale, len(average))


def _geometry(problem: TiltedProblem, oscillation: float, gap: float) -> Geometry:
    if not isinstance(problem, TiltedProblem):
        raise ParameterError(f"problem: a TiltedProblem expected, not a {type(problem).__name__}")
    sides = np.asarray(problem.sides, dtype=np.float64)
    if not (np.isfinite(sides).all() and (sides > 0).all()):
        raise ParameterError("problem: W must be bounded, with positive sides")
    return Geometry(
        sides=sides,
        diameter=float(problem.diameter),
        oscillation=oscillation,
        gap=spending.positive("gap", gap),
    )


def _perturbation(given: Perturbation | str) -> Perturbation:
    try:
        return Perturbation(given)
    except ValueError:
        known = ", ".join(repr(member.value) for member in Perturbation)
        raise ParameterError(f"perturbation: one of {known} expected, not {given!r}") from None


def _whole(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParameterError(f"{name}: an integer of at least 1 expected, not {value!r}")
    return value
