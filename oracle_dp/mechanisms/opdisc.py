"""OPDisc: objective perturbation over a discrete set, in integers.

Theorem (docs/theory/objective_perturbation.md, Theorems 2 and 3). Let W be a finite public set, L
an integer loss with range sensitivity Delta, phi a public integer lift of W, and X integer noise
calibrated to phi and Delta by :mod:`oracle_dp.mechanisms.perturbation`. Then

    w_hat  in  argmin_w  scale * L(D, w) - <X, phi(w)>

is differentially private under *any* tie-break, for any number of records: purely with geometric
noise on the one-hot lift and with gamma-norm noise, approximately with Gaussian noise.

Where the hypotheses are enforced: integer loss and public coordinates by ``OneHotProblem``
(:func:`opdisc` refuses others); Delta and the relation by the caller, named in the guarantee; the
law of X by ``oracle_dp.noise``, without floats; the exact minimum by the oracle's certificate,
without which nothing is released.

Theorem 4 there: with Delta + 2 gap in place of Delta the same holds, for any loss and at the same
epsilon and delta, of *any* point that is within ``gap`` of the minimum. It is for losses that are
not integer, and for continuous recourse: the gap is a public parameter, and a run whose oracle
does not prove it is refused.

Source: Neel, Roth, Vietri, Wu, "Oracle Efficient Private Non-Convex Optimization" (ICML 2020),
Section 3, with other lifts and noises besides its own: see the deviations in the proof note.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from oracle_dp.errors import ParameterError, UncertifiedError
from oracle_dp.ledger import Ledger
from oracle_dp.mechanisms.base import (
    REFUSED,
    charge_before_noise,
    conditions,
    larger_reading,
    limits_or_none,
    require_certified,
    stated,
)
from oracle_dp.mechanisms.perturbation import (
    Perturbation,
    RadialPerturbation,
    perturbation_of,
)
from oracle_dp.noise import BitSource, bit_source, positive_rational, rational
from oracle_dp.privacy import Contingency, Guarantee, Neighbors, Release
from oracle_dp.sensitivity import ASSERTED, is_proved
from oracles import Certificate, Limits, Solution
from oracles.coordinates import OneHotProblem, SphereProblem
from oracles.released import ReleasedVariables
from oracles.verdict import LEAST_GAP
from oracles.zero_one import ZeroOneProblem

ValueT = TypeVar("ValueT")

MECHANISM = "opdisc"


def opdisc(
    problem: OneHotProblem[ValueT],
    *,
    epsilon: float | Fraction,
    sensitivity: float | Fraction,
    sensitivity_source: str = ASSERTED,
    neighbors: Neighbors | str = Neighbors.REPLACE,
    lift: str = "one_hot",
    noise: str | None = None,
    delta: float | Fraction = 0,
    max_norm: float | None = None,
    lattice_bits: int | None = None,
    gap: float | Fraction | None = None,
    limits: Limits | None = None,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    random_state: int | BitSource | None = None,
    contingencies: Sequence[Contingency] = (),
) -> Release[ValueT]:
    """Release an almost-minimiser of a loss.

    Args:
        problem: The loss over its public set: a ``ZeroOneProblem``, a ``FiniteTable``, or the
            ``ReleasedVariables`` of an integer program. Only the loss may depend on private data.
            It must be integer, unless there is a ``gap``.
        epsilon: Positive.
        sensitivity: Range sensitivity of the loss under ``neighbors``: the most by which one
            record changes ``L(w) - L(v)``, over all w, v. Positive.
        sensitivity_source: Who vouches for it, for the guarantee.
        neighbors: The neighbour relation that ``sensitivity`` is for.
        lift: What noise is added along. ``"one_hot"``: every value of every coordinate, whose
            excess loss grows with d^2 log m for d coordinates of m values. ``"pi"``: the
            coordinates' integer values and a function of their norm, grows with d T, T the
            greatest squared norm in steps of the grid: d^2 m^2 for m values around 0.
            ``"centred_binary"``: for coordinates of two values, about half of pi's noise.
        noise: ``"geometric"`` for the one-hot lift, of which ``"exponential"`` is another name:
            the floor of an exponential variable is geometric. For the others ``"gamma_norm"``,
            the default, pure epsilon, and ``"gaussian"``, the source's own, which needs
            ``delta`` and is larger at the usual deltas.
        delta: For ``"gaussian"`` only.
        max_norm: For ``"pi"`` only: a public bound on the Euclidean norm of the coordinates;
            points beyond it do not belong to the set.
        lattice_bits: A public constant between 0 and 20. ``"one_hot"``: a unit of loss has ``2**k``
            lattice steps, 4 by default. ``"pi"``: its entries are multiples of ``2**-k``, fine
            enough by default to cost a tenth of the noise; fewer make smaller objectives, which a
            solver can prove, or 64 bits hold, with more rows.
        gap: In units of loss, positive and public: how far from the minimum the oracle's point may
            provably be. For losses that are not integer; the noise is that of a sensitivity larger
            by twice as much. A hundredth of the sensitivity costs 2 % of noise.
        limits: When the oracle may stop. Default: never, since a refusal depends on the data.
        ledger: Charged before the noise is drawn, with ``dataset`` as the name.
        dataset: Name of the data set in the ledger.
        random_state: None for the operating system's randomness; an integer reproduces a run and
            marks the release as not private.
        contingencies: Further conditions for the guarantee to state.

    Returns:
        The minimiser with its guarantee: pure epsilon and rho = epsilon^2 / 2, or, with Gaussian
        noise, (epsilon, delta). With a gap its certificate is ``bounded``, also where the oracle
        proved more: whether it did depends on the data.

    Raises:
        ParameterError: A parameter is out of range, or the loss is not integer and there is no
            gap. Nothing is charged.
        OracleError: The problem is infeasible or unbounded, or with lift ``"pi"`` too large for 64
            bits together with the noise. Nothing is charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.
        UncertifiedError: The oracle did not prove the minimum, or the gap. The charge stays.
    """
    within_gap = None if gap is None else positive_rational("gap", gap)
    if within_gap is None and not problem.is_integer:
        raise ParameterError(
            "problem: the lattice needs an integer objective over integer variables; "
            "multiply the coefficients to integers, or state the gap that is to be proven"
        )
    target = positive_rational("epsilon", epsilon)
    # A float is read as the larger of its two readings here: noise must not fall short.
    most = larger_reading("sensitivity", sensitivity)
    perturbation = perturbation_of(
        problem.sizes,
        problem.values if isinstance(problem, SphereProblem) else None,
        lift=lift,
        noise=noise,
        epsilon=target,
        delta=rational("delta", delta),
        sensitivity=most if gap is None else most + 2 * larger_reading("gap", gap),
        lattice_bits=lattice_bits,
        max_norm=max_norm,
    )
    source = bit_source(random_state)
    within = limits_or_none(limits)
    relation = Neighbors.parse(neighbors)
    promise = _promise(perturbation, target, most, relation, sensitivity_source, within_gap)
    _check(problem, perturbation, within)
    if within_gap is not None and isinstance(problem, ReleasedVariables):
        _check_gap(within_gap, perturbation.scale)
    charge_before_noise(
        ledger,
        dataset,
        mechanism=MECHANISM,
        epsilon=target,
        delta=perturbation.delta,
        neighbors=promise.neighbors,
    )
    solution = _perturbed_minimum(problem, perturbation, source, within)
    value = _require(solution, within_gap, perturbation.scale)
    # Of a gap, whether more was proven says whether the objective is integer: it is not stated.
    certificate = solution.certificate if within_gap is None else Certificate.BOUNDED
    solver = None if certificate is Certificate.EXACT else solution.oracle
    vouched = not is_proved(sensitivity_source)
    met = conditions(source, within, solver=solver, vouched=vouched, gap=within_gap)
    return Release(
        value,
        replace(
            promise,
            certificate=certificate,
            contingencies=(*contingencies, *met),
        ),
    )


def _require(solution: Solution[ValueT], gap: Fraction | None, scale: int) -> ValueT:
    """The point, if it is proven to be a minimiser, or within a gap of one.

    Raises:
        UncertifiedError: It is not.
    """
    if gap is None:
        return require_certified(solution)
    unproven = solution.certificate is Certificate.NONE or solution.gap > gap * scale
    if solution.value is None or unproven:
        raise UncertifiedError(
            f"a gap of {float(gap):g} is not proven, no release ({solution.oracle}: "
            f"{solution.status.message}). {REFUSED}"
        )
    return solution.value


def _promise(
    perturbation: Perturbation,
    epsilon: Fraction,
    sensitivity: Fraction,
    neighbors: Neighbors,
    sensitivity_source: str,
    gap: Fraction | None,
) -> Guarantee:
    """The guarantee but for what the run decides; made before the charge.

    Raises:
        ParameterError: A figure has no float to state it by.
    """
    delta, theorem = perturbation.delta, perturbation.theorem
    if gap is not None:
        theorem += f", for any point within a proven gap of {float(gap):g} (Theorem 4)"
    return Guarantee(
        mechanism=MECHANISM,
        theorem=theorem,
        neighbors=neighbors,
        epsilon=stated("epsilon", epsilon, toward=math.inf),
        delta=stated("delta", delta, toward=math.inf) if delta else 0.0,
        rho=None if delta else stated("epsilon", epsilon**2 / 2, toward=math.inf),
        sensitivity=stated("sensitivity", sensitivity, toward=0),
        sensitivity_source=sensitivity_source,
        certificate=Certificate.NONE,
        contingencies=(),
    )


def _check(problem: OneHotProblem[ValueT], perturbation: Perturbation, limits: Limits) -> None:
    scale = perturbation.scale
    if perturbation.limit is None:
        problem.check(scale=scale, limits=limits)
    else:
        _sphere(problem).check(scale=scale, total=perturbation.limit, limits=limits)
        # Noise that is refused after it was drawn would be cut off, which no epsilon allows.
        if isinstance(problem, ZeroOneProblem) and isinstance(perturbation, RadialPerturbation):
            problem.check_noise(perturbation.largest, perturbation.limit)


def _check_gap(gap: Fraction, scale: int) -> None:
    """Refuse what only an integer objective would be released with, before the charge.

    Raises:
        ParameterError: The gap is less than the margin of every fractional objective.
    """
    least = Fraction(LEAST_GAP) / scale
    if gap <= least:
        raise ParameterError(
            f"gap: more than {float(least):g} expected, which is taken off for a solver's floats; "
            "below, whether a run is refused would say whether the objective is integer"
        )


def _perturbed_minimum(
    problem: OneHotProblem[ValueT], perturbation: Perturbation, source: BitSource, limits: Limits
) -> Solution[ValueT]:
    rewards, total = perturbation.draw(problem.sizes, source)
    scale = perturbation.scale
    if total is None:
        return problem.minimize(rewards, scale=scale, limits=limits)
    return _sphere(problem).minimize(rewards, scale=scale, total=total, limits=limits)


def _sphere(problem: OneHotProblem[ValueT]) -> SphereProblem[ValueT]:
    """A problem whose values a lift has used already."""
    assert isinstance(problem, SphereProblem)
    return problem
