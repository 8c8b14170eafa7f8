"""Newton's method with noise on the gradient and noise on the direction.

Theorem (docs/theory/second_order.md, Theorem 1). Let a record's gradient have norm at most L0 and
its curvature eigenvalues in [0, L1] and trace at most tau. Step t draws, with gradient g at w_t,
curvature A at w_t or at an earlier iterate, and l > 0 a function of public numbers and of earlier
outputs only,

    tr~ = tr A + N(0, (tau / n)^2 / (2 rho_1)),      g~ = g + N(0, (reach L0 / n)^2 / (2 rho_2) I),
    w_{t+1} = w_t - Psi_l(A)^-1 g~ + N(0, |g~|^2 s(l)^2 / (2 rho_3) I)

with s(l) from Lemma 3 (``add``: Psi = A + l I) or Lemma 4 (``clip``: eigenvalues raised to l). T
steps with K traces satisfy mu-Gaussian differential privacy for
mu^2 = 2 K rho_1 + 2 T (rho_2 + rho_3).

Where its hypotheses are enforced: bounds on records by :class:`LinearModelLoss`, or by whoever
states them (a contingency); l from tr~ alone by ``floor_for``; the split, T and the start are
arguments; mu from the target by :mod:`oracle_dp.accounting`.

Source: Ganesh, Haghifam, Steinke, Thakurta, "Faster Differentially Private Convex Optimization via
Second-Order Methods" (NeurIPS 2023), Algorithm 3 and Section 5.2; deviations in the proof note.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Unpack

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from oracle_dp.errors import ParameterError
from oracle_dp.mechanisms import spending
from oracle_dp.mechanisms.spending import fraction_of_one, noisy, positive, steps
from oracle_dp.noise import BitSource
from oracle_dp.points import start_point
from oracle_dp.privacy import Release
from oracle_dp.record_losses import RecordLosses, require_bounded
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
        refresh: How many steps use one curvature. Most of the work of a step is its curvature; of
            the logistic loss an earlier one is mostly larger, so that steps stay safe.
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
    refresh: int = 1
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
        if isinstance(self.refresh, bool) or not isinstance(self.refresh, int) or self.refresh < 1:
            raise ParameterError(
                f"refresh: an integer of at least 1 expected, not {self.refresh!r}"
            )
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
    settings: DoubleNoise | None = None,
    start: ArrayLike | None = None,
    **asked: Unpack[spending.Asked],
) -> Release[FloatArray]:
    """Release the last iterate of double-noise Newton.

    Args:
        losses: The records' losses with their public constants.
        settings: Public; default :class:`DoubleNoise`.
        start: Public; default 0.
        **asked: Epsilon, delta, who pays and with what randomness:
            :class:`oracle_dp.mechanisms.spending.Asked`.

    Returns:
        w of shape ``(d,)`` with its guarantee, rho-zCDP included.

    Raises:
        ParameterError: A parameter is out of range or a constant infinite. Nothing is charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.
    """
    target = spending.read_target(asked)
    require_bounded(losses, target.neighbors, curvature=True)
    chosen = settings if settings is not None else DoubleNoise()
    if not isinstance(chosen, DoubleNoise):
        raise ParameterError(f"settings: a DoubleNoise expected, not {settings!r}")
    factor = chosen.floor_factor or (4.0 if target.epsilon <= Fraction(3, 10) else 1.0)
    w = start_point(start, losses.dimension)
    plan = _Plan.split(chosen, losses, target.rho, factor, target.reach)
    target.charge(MECHANISM, rho=target.stated_rho)
    for step in range(chosen.steps):
        exact, matrix = _derivatives(losses, w, chosen, fresh=step % chosen.refresh == 0)
        if matrix is not None:
            held = plan.curved(losses, matrix, target.source)
        w = plan.step(held, w, exact, target.source)
    return target.release(
        w,
        mechanism=MECHANISM,
        theorem=THEOREM,
        sensitivity=target.reach * losses.lipschitz,
        sensitivity_source=spending.gradient_source(losses),
        rho=target.stated_rho,
        conditions_of_mechanism=spending.vouched(losses),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Curved:
    """A modified curvature, and by how much one record changes its inverse."""

    solve: Callable[[FloatArray], FloatArray]
    bound: float


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
        """Shares of a run's rho: T gradients, T directions, one trace per fresh curvature."""
        for_gradient = settings.gradient_share * rho / settings.steps
        rest = (1 - settings.gradient_share) * rho
        for_trace = 0.0 if settings.floor is not None else settings.trace_share * rest
        each = for_trace / math.ceil(settings.steps / settings.refresh)
        return cls(
            settings=settings,
            factor=factor,
            reach=reach,
            rho_direction=(rest - for_trace) / settings.steps,
            gradient_scale=sensitivity.gradient(losses, reach) / math.sqrt(2 * for_gradient),
            trace_scale=sensitivity.trace(losses) / math.sqrt(2 * each) if each else 0.0,
        )

    def curved(self, losses: RecordLosses, matrix: FloatArray, source: BitSource) -> _Curved:
        """The curvature with its floor; stays inside until a direction is released."""
        floor = self.settings.floor or self._floor(losses, matrix, source)
        if self.settings.modification is Modification.ADD:
            return _Curved(
                solve=added(matrix, floor), bound=sensitivity.direction_add(losses, floor)
            )
        return _Curved(
            solve=clipped(matrix, floor),
            bound=sensitivity.direction_clip(losses, floor, self.reach),
        )

    def step(
        self, curved: _Curved, w: FloatArray, exact: FloatArray, source: BitSource
    ) -> FloatArray:
        """One step: a noisy gradient, and a noisy point in its direction."""
        slope = noisy(exact, self.gradient_scale, source)
        length = float(np.linalg.norm(slope))
        if length == 0:
            return w
        scale = length * curved.bound / math.sqrt(2 * self.rho_direction)
        return noisy(w - curved.solve(slope), scale, source)

    def _floor(self, losses: RecordLosses, matrix: FloatArray, source: BitSource) -> float:
        estimate = float(noisy(np.array([np.trace(matrix)]), self.trace_scale, source)[0])
        # Post-processing: what is below the noise says nothing, and the trace has a public bound.
        held = min(max(estimate, self.trace_scale), losses.curvature_trace)
        return sensitivity.floor_for(losses, held, self.rho_direction, self.factor)


def _derivatives(
    losses: RecordLosses, w: FloatArray, settings: DoubleNoise, *, fresh: bool
) -> tuple[FloatArray, FloatArray | None]:
    if fresh:
        return losses.second_order(w, settings.curvature)
    return losses.gradient(w), None


def added(matrix: FloatArray, floor: float) -> Callable[[FloatArray], FloatArray]:
    """``(A + floor I)^-1``, as a function."""
    factor = scipy.linalg.cho_factor(matrix + floor * np.eye(len(matrix)), check_finite=False)
    return lambda vector: np.asarray(scipy.linalg.cho_solve(factor, vector, check_finite=False))


def clipped(matrix: FloatArray, floor: float) -> Callable[[FloatArray], FloatArray]:
    """The inverse of A with eigenvalues raised to ``floor``, as a function."""
    eigenvalues, vectors = scipy.linalg.eigh(matrix)
    held = np.maximum(eigenvalues, floor)
    return lambda vector: np.asarray(vectors @ ((vectors.T @ vector) / held))
