"""OPDisc: objective perturbation over a discrete set, with the one-hot lift, in integers.

Theorem (docs/theory/objective_perturbation.md, Theorem 2). Let W be a finite public set with d
coordinates, L an integer loss with range sensitivity Delta, N = floor(2^k Delta) + 1, and X[j, a]
independent with P[X = x] = (1 - q) q^x, x = 0, 1, ..., q = exp(-epsilon / (d N)). Then

    w_hat  in  argmin_w  2^k L(D, w) - sum_j X[j, w_j]

is epsilon-differentially private under *any* tie-break, for any number of records.

Where its hypotheses are enforced: integer loss and public coordinates by ``OneHotProblem``
(:func:`opdisc` refuses others); Delta and the relation by the caller, named in the guarantee; the
law of X by ``oracle_dp.noise``; the exact minimum by the oracle's certificate, without which
nothing is released.

Source: Neel, Roth, Vietri, Wu, "Oracle Efficient Private Non-Convex Optimization" (ICML 2020),
Section 3, with another lift and another noise: see the deviations in the proof note.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np

from oracle_dp.errors import ParameterError
from oracle_dp.ledger import Ledger
from oracle_dp.mechanisms.base import (
    charge_before_noise,
    conditions,
    larger_reading,
    limits_or_none,
    require_certified,
    stated,
)
from oracle_dp.noise import (
    SMALLEST_ARRAY_EXPONENT,
    BitSource,
    bit_source,
    geometric_array,
    positive_rational,
)
from oracle_dp.privacy import Contingency, Guarantee, Neighbors, Release
from oracle_dp.sensitivity import ASSERTED, is_proved
from oracles import Certificate, Limits
from oracles.coordinates import IntArray, OneHotProblem

ValueT = TypeVar("ValueT")

MECHANISM = "opdisc"
THEOREM = (
    "objective perturbation, one-hot lift, one-sided geometric noise on the lattice "
    "(docs/theory/objective_perturbation.md, Theorem 2)"
)
LATTICE_BITS = 4
"""Noise steps of 1/16 of a loss unit: at most 6% more noise than a continuous one would need, and
small enough for a floating-point solver to tell objectives apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneHotNoise:
    """Calibrated noise of Theorem 2.

    Attributes:
        epsilon: The target.
        sensitivity: Range sensitivity of the loss.
        coordinates: d, the number of coordinates with at least two values.
        lattice_bits: k; one loss unit is ``2**k`` lattice steps.
    """

    epsilon: Fraction
    sensitivity: Fraction
    coordinates: int
    lattice_bits: int

    @property
    def scale(self) -> int:
        """Lattice steps per unit of loss."""
        return 1 << self.lattice_bits

    @property
    def shift(self) -> int:
        """N, in lattice steps: the least integer strictly above ``scale * sensitivity``."""
        return int(self.scale * self.sensitivity) + 1

    @property
    def exponent(self) -> Fraction:
        """The geometric law's exponent, ``-ln q = epsilon / (d N)``."""
        return self.epsilon / (self.coordinates * self.shift)

    def draw(self, sizes: Sequence[int], source: BitSource) -> list[IntArray]:
        """One reward per (coordinate, value); coordinates with one value need none."""
        return [
            geometric_array(self.exponent, size, source) if size > 1 else np.zeros(1, np.int64)
            for size in sizes
        ]


def opdisc(
    problem: OneHotProblem[ValueT],
    *,
    epsilon: float | Fraction,
    sensitivity: float | Fraction,
    sensitivity_source: str = ASSERTED,
    neighbors: Neighbors | str = Neighbors.REPLACE,
    lattice_bits: int = LATTICE_BITS,
    limits: Limits | None = None,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    random_state: int | BitSource | None = None,
    contingencies: Sequence[Contingency] = (),
) -> Release[ValueT]:
    """Release an almost-minimiser of an integer loss with pure epsilon.

    Args:
        problem: The loss over its public set: a ``ZeroOneProblem``, a ``FiniteTable``, or the
            ``ReleasedVariables`` of an integer program. Only the loss may depend on private data.
        epsilon: Positive.
        sensitivity: Range sensitivity of the loss under ``neighbors``: the most by which one
            record changes ``L(w) - L(v)``, over all w, v. Positive.
        sensitivity_source: Who vouches for it, for the guarantee.
        neighbors: The neighbour relation that ``sensitivity`` is for.
        lattice_bits: k, between 0 and 20; a public constant.
        limits: When the oracle may stop. Default: never, since a refusal depends on the data.
        ledger: Charged before the noise is drawn, with ``dataset`` as the name.
        dataset: Name of the data set in the ledger.
        random_state: None for the operating system's randomness; an integer reproduces a run and
            marks the release as not private.
        contingencies: Further conditions for the guarantee to state.

    Returns:
        The minimiser with its guarantee: pure epsilon, rho = epsilon^2 / 2.

    Raises:
        ParameterError: A parameter is out of range, or the loss is not integer. Nothing is charged.
        OracleError: The problem is infeasible or unbounded. Nothing is charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.
        UncertifiedError: The oracle did not prove the minimum. The charge stays.
    """
    if not problem.is_integer:
        raise ParameterError(
            "problem: the lattice needs an integer objective over integer variables; "
            "multiply the coefficients to integers"
        )
    if not isinstance(lattice_bits, int) or not 0 <= lattice_bits <= 20:
        raise ParameterError(f"lattice_bits: an integer in 0..20 expected, not {lattice_bits!r}")
    noise = OneHotNoise(
        epsilon=positive_rational("epsilon", epsilon),
        # A float is read as the larger of its two readings here: noise must not fall short.
        sensitivity=larger_reading("sensitivity", sensitivity),
        coordinates=max(1, sum(size > 1 for size in problem.sizes)),
        lattice_bits=lattice_bits,
    )
    if noise.exponent < SMALLEST_ARRAY_EXPONENT:
        raise ParameterError(
            f"epsilon: {epsilon!r} is too small for {noise.coordinates} coordinates: the noise "
            "would exceed 64-bit integers"
        )
    relation = Neighbors.parse(neighbors)
    source = bit_source(random_state)
    within = limits_or_none(limits)
    # Found before anything is spent, since there may be no such floats.
    claimed = stated("epsilon", noise.epsilon, toward=math.inf)
    rho = stated("epsilon", noise.epsilon**2 / 2, toward=math.inf)
    range_sensitivity = stated("sensitivity", noise.sensitivity, toward=0)
    problem.check(limits=within)
    charge_before_noise(
        ledger, dataset, mechanism=MECHANISM, epsilon=noise.epsilon, neighbors=relation
    )
    rewards = noise.draw(problem.sizes, source)
    solution = problem.minimize(rewards, scale=noise.scale, limits=within)
    value = require_certified(solution)
    solver = solution.oracle if solution.certificate is Certificate.SOLVER else None
    return Release(
        value,
        Guarantee(
            mechanism=MECHANISM,
            theorem=THEOREM,
            neighbors=relation,
            epsilon=claimed,
            delta=0.0,
            rho=rho,
            sensitivity=range_sensitivity,
            sensitivity_source=sensitivity_source,
            certificate=solution.certificate,
            contingencies=(
                *contingencies,
                *conditions(
                    source, within, solver=solver, vouched=not is_proved(sensitivity_source)
                ),
            ),
        ),
    )
