"""Newton's method with noise on the gradient and noise on the direction.

Theorem (docs/theory/second_order.md, Theorem 1). Let a record's gradient have norm at most L0 and
its curvature eigenvalues in [0, L1] and trace at most tau. Step t draws, with gradient g at w_t,
curvature A and l > 0 a function of public numbers and of earlier outputs only,

    tr~ = tr A + N(0, (tau / n)^2 / (2 rho_1)),      g~ = g + N(0, (reach L0 / n)^2 / (2 rho_2) I),
    w_{t+1} = w_t - Psi_l(A)^-1 g~ + N(0, |g~|^2 s(l)^2 / (2 rho_3) I)

with s(l) from Lemma 3 (``add``: Psi = A + l I) or Lemma 4 (``clip``: eigenvalues raised to l). T
steps satisfy mu-Gaussian differential privacy with mu^2 = 2 T (rho_1 + rho_2 + rho_3).

Where its hypotheses are enforced: bounds on records by :class:`LinearModelLoss`, or by whoever
states them (a contingency); l from tr~ alone by ``floor_for``; the split, T and the start are
arguments; mu from the target by :mod:`oracle_dp.accounting`.

Source: Ganesh, Haghifam, Steinke, Thakurta, "Faster Differentially Private Convex Optimization via
Second-Order Methods" (NeurIPS 2023), Algorithm 3 and Section 5.2; deviations in the proof note.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from oracle_dp.errors import ParameterError
from oracle_dp.ledger import Ledger
from oracle_dp.mechanisms.base import CALLER
from oracle_dp.mechanisms.spending import fraction_of_one, noisy, positive, read_target, steps
from oracle_dp.noise import BitSource
from oracle_dp.privacy import Contingency, Neighbors, Release
from oracle_dp.record_losses import LinearModelLoss, RecordLosses, require_bounded, start_point
from oracle_dp.second_order import sensitivity
from oracles.arrays import FloatArray
from oracles.convex.objective import Curvature

MECHANISM = "double_noise_newton"
THEOREM = (
    "Newton's method with noise on gradient, trace and direction "
    "(docs/theory/second_order.md, Theorem 1)"
)
STEPS = 20
SMALLEST_FLOOR = 1e-10


class Modification(Enum):
    """How small eigenvalues are kept away from 0."""

    ADD = "add"
    """The floor is added to every eigenvalue. For curvatures of any rank."""
    CLIP = "clip"
    """Eigenvalues below the floor are raised to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubleNoise:
    """Public settings of a run; the defaults were chosen on public data (docs/theory note).

    Args:
        curvature: ``"upper"`` for the quadratic upper bound, which cannot overshoot, or
            ``"hessian"``, which may diverge from a far start.
        modification: ``"add"`` or ``"clip"``.
        steps: T, at least 1.
        gradient_share: Of the budget of a step, strictly between 0 and 1.
        trace_share: Of what the gradient leaves; the direction has the rest. Unused with a
            fixed ``floor``.
        floor_factor: Scales the balance of :func:`sensitivity.floor_for`. None: 1, and 4 for an
            epsilon up to 0.3.
        floor: A fixed smallest eigenvalue in place of one that follows the trace.

    Raises:
        ParameterError: A setting is out of its range.
    """

    curvature: Curvature = "upper"
    modification: Modification | str = Modification.ADD
    steps: int = STEPS
    gradient_share: float = 0.75
    trace_share: float = 0.1
    floor_factor: float | None = None
    floor: float | None = None

    def __post_init__(self) -> None:
        if self.curvature not in ("hessian", "upper"):
            raise ParameterError(
                f"curvature: 'hessian' or 'upper' expected, not {self.curvature!r}"
            )
        try:
            object.__setattr__(self, "modification", Modification(self.modification))
        except ValueError:
            raise ParameterError(
                f"modification: 'add' or 'clip' expected, not {self.modification!r}"
            ) from None
        steps(self.steps)
        fraction_of_one("gradient_share", self.gradient_share)
        fraction_of_one("trace_share", self.trace_share)
        for name in ("floor_factor", "floor"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name))
        if self.floor is not None and self.floor < SMALLEST_FLOOR:
            raise ParameterError(
                f"floor: {self.floor!r} is too small to keep a singular curvature invertible in "
                f"floating point; give at least {SMALLEST_FLOOR:g}"
            )


def double_noise_newton(
    losses: RecordLosses,
    *,
    epsilon: float | Fraction,
    delta: float | Fraction,
    settings: DoubleNoise | None = None,
    start: ArrayLike | None = None,
    neighbors: Neighbors | str = Neighbors.REPLACE,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    random_state: int | BitSource | None = None,
    contingencies: Sequence[Contingency] = (),
) -> Release[FloatArray]:
    """Release the last iterate of double-noise Newton.

    Args:
        losses: The records' losses with their public constants.
        epsilon: Positive.
        delta: In (0, 1).
        settings: Public; default :class:`DoubleNoise`.
        start: Public; default 0.
        neighbors: The relation that the noise is for.
        ledger: Charged before noise is drawn, with ``dataset`` as the name.
        dataset: Name of the data set in the ledger.
        random_state: None for the operating system's randomness; an integer reproduces a run and
            marks the release as not private.
        contingencies: Further conditions for the guarantee to state.

    Returns:
        w of shape ``(d,)`` with its guarantee, rho-zCDP included.

    Raises:
        ParameterError: A parameter is out of range or a constant infinite. Nothing is charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.
    """
    target = read_target(
        epsilon=epsilon,
        delta=delta,
        neighbors=neighbors,
        ledger=ledger,
        dataset=dataset,
        random_state=random_state,
        contingencies=contingencies,
    )
    require_bounded(losses, target.neighbors, curvature=True)
    chosen = settings if settings is not None else DoubleNoise()
    if not isinstance(chosen, DoubleNoise):
        raise ParameterError(f"settings: a DoubleNoise expected, not {settings!r}")
    factor = chosen.floor_factor or (4.0 if target.epsilon <= Fraction(3, 10) else 1.0)
    w = start_point(start, losses.dimension)
    per_step = target.rho / chosen.steps
    plan = _Plan.split(chosen, losses, per_step, factor, target.reach)
    target.charge(MECHANISM)
    for _ in range(chosen.steps):
        w = plan.step(losses, w, target.source)
    return target.release(
        w,
        mechanism=MECHANISM,
        theorem=THEOREM,
        sensitivity=target.reach * losses.lipschitz,
        rho=math.nextafter(target.rho, math.inf),
        conditions_of_mechanism=() if isinstance(losses, LinearModelLoss) else (CALLER,),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """Noise of one step, all of it fixed before the first."""

    settings: DoubleNoise
    factor: float
    reach: int
    rho_direction: float
    gradient_scale: float
    trace_scale: float

    @classmethod
    def split(
        cls, settings: DoubleNoise, losses: RecordLosses, rho: float, factor: float, reach: int
    ) -> _Plan:
        for_gradient = settings.gradient_share * rho
        rest = rho - for_gradient
        for_trace = 0.0 if settings.floor is not None else settings.trace_share * rest
        return cls(
            settings=settings,
            factor=factor,
            reach=reach,
            rho_direction=rest - for_trace,
            gradient_scale=sensitivity.gradient(losses, reach) / math.sqrt(2 * for_gradient),
            trace_scale=(
                sensitivity.trace(losses) / math.sqrt(2 * for_trace) if for_trace else 0.0
            ),
        )

    def step(self, losses: RecordLosses, w: FloatArray, source: BitSource) -> FloatArray:
        """One step; everything but the three noisy quantities stays inside."""
        exact, matrix = losses.second_order(w, self.settings.curvature)
        slope = noisy(exact, self.gradient_scale, source)
        floor = self.settings.floor or self._floor(losses, matrix, source)
        length = float(np.linalg.norm(slope))
        if length == 0:
            return w
        if self.settings.modification is Modification.ADD:
            direction = solve_added(matrix, slope, floor)
            bound = sensitivity.direction_add(losses, floor)
        else:
            direction = solve_clipped(matrix, slope, floor)
            bound = sensitivity.direction_clip(losses, floor, self.reach)
        scale = length * bound / math.sqrt(2 * self.rho_direction)
        return noisy(w - direction, scale, source)

    def _floor(self, losses: RecordLosses, matrix: FloatArray, source: BitSource) -> float:
        estimate = float(noisy(np.array([np.trace(matrix)]), self.trace_scale, source)[0])
        # Post-processing: what is below the noise says nothing, and the trace has a public bound.
        held = min(max(estimate, self.trace_scale), losses.curvature_trace)
        return sensitivity.floor_for(losses, held, self.rho_direction, self.factor)


def solve_added(matrix: FloatArray, vector: FloatArray, floor: float) -> FloatArray:
    """``(A + floor I)^-1 vector``."""
    factor = scipy.linalg.cho_factor(matrix + floor * np.eye(len(vector)), check_finite=False)
    return np.asarray(scipy.linalg.cho_solve(factor, vector, check_finite=False))


def solve_clipped(matrix: FloatArray, vector: FloatArray, floor: float) -> FloatArray:
    """The inverse of A with eigenvalues raised to ``floor``, times ``vector``."""
    eigenvalues, vectors = scipy.linalg.eigh(matrix)
    return np.asarray(vectors @ ((vectors.T @ vector) / np.maximum(eigenvalues, floor)))
