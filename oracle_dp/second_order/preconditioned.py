"""Newton steps on a curvature that is released a few times and a gradient released every time.

Theorem (docs/theory/second_order.md, Theorem 7). Release K times, at the current iterate, A + E
with the symmetric noise of Theorem 4, and T times the gradient with Gaussian noise; step by
``w - (A + E, its eigenvalues raised)^-1 g~``. It satisfies mu-Gaussian differential privacy with
mu^2 = 2 K rho_H + 2 T rho_g: all that follows a release is post-processing.

Where its hypotheses are enforced: as in ``damped``. Noise on the matrix is larger by sqrt(d) than
on a direction, once; noise on every direction is paid T times. With the quadratic upper bound,
whose curvature mostly falls along the way, an earlier matrix stays a safe one.

Source: the noisy matrix is Avella-Medina, Bradshaw, Loh's (Annals of Statistics 2023), the upper
bound Ganesh et al.'s (NeurIPS 2023); keeping a released matrix for many steps is ours.
"""

from __future__ import annotations

import math
from typing import Unpack

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from oracle_dp.errors import ParameterError
from oracle_dp.mechanisms import spending
from oracle_dp.points import start_point
from oracle_dp.privacy import Release
from oracle_dp.record_losses import RecordLosses, require_bounded
from oracle_dp.second_order import sensitivity
from oracle_dp.second_order.damped import noisy_symmetric
from oracles.arrays import FloatArray
from oracles.convex.objective import Curvature

MECHANISM = "preconditioned_gradient_descent"
THEOREM = (
    "gradient descent preconditioned by noisy curvatures (docs/theory/second_order.md, Theorem 7)"
)


STEPS = 20
"""Chosen on public data (docs/logistic.md); more pay where n is large and curvatures are uneven."""


def preconditioned_descent(
    losses: RecordLosses,
    *,
    steps: int = STEPS,
    matrices: int = 3,
    matrix_share: float = 0.1,
    curvature: Curvature = "upper",
    start: ArrayLike | None = None,
    **asked: Unpack[spending.Asked],
) -> Release[FloatArray]:
    """Release the last iterate.

    Args:
        losses: The records' losses with their public constants.
        steps: T.
        matrices: K, how often the curvature is released anew, at even intervals; at most T.
        matrix_share: Of the budget, strictly between 0 and 1; the gradients have the rest.
        curvature: ``"upper"`` or ``"hessian"``.
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
    total = spending.steps(steps)
    share = spending.fraction_of_one("matrix_share", matrix_share)
    if curvature not in ("hessian", "upper"):
        raise ParameterError(f"curvature: 'hessian' or 'upper' expected, not {curvature!r}")
    if isinstance(matrices, bool) or not isinstance(matrices, int) or matrices < 1:
        raise ParameterError(f"matrices: an integer of at least 1 expected, not {matrices!r}")
    every = math.ceil(total / matrices)
    times = math.ceil(total / every)
    w = start_point(start, losses.dimension)
    rho = target.rho
    slope_scale = sensitivity.gradient(losses, target.reach) / math.sqrt(
        2 * (1 - share) * rho / total
    )
    matrix_scale = sensitivity.curvature(losses, target.reach) / math.sqrt(2 * share * rho / times)
    target.charge(MECHANISM, rho=target.stated_rho)
    for step in range(total):
        if step % every == 0:
            exact, matrix = losses.second_order(w, curvature)
            held = _Spectrum(noisy_symmetric(matrix, matrix_scale, target.source), matrix_scale)
        else:
            exact = losses.gradient(w)
        w = w - held.solve(spending.noisy(exact, slope_scale, target.source))
    return target.release(
        w,
        mechanism=MECHANISM,
        theorem=THEOREM,
        sensitivity=target.reach * losses.lipschitz,
        sensitivity_source=spending.gradient_source(losses),
        rho=target.stated_rho,
        conditions_of_mechanism=spending.vouched(losses),
    )


class _Spectrum:
    """A released matrix with its small eigenvalues raised by the size of its noise.

    ``scale sqrt(2 d)`` is about the norm of the noise: added to what is left of the eigenvalues, it
    makes the matrix an upper bound of the exact one with high probability.
    """

    def __init__(self, released: FloatArray, scale: float) -> None:
        eigenvalues, self._vectors = scipy.linalg.eigh(released)
        self._held = np.maximum(eigenvalues, 0.0) + scale * math.sqrt(2 * len(released))

    def solve(self, vector: FloatArray) -> FloatArray:
        """The inverse, times a vector."""
        return np.asarray(self._vectors @ ((self._vectors.T @ vector) / self._held))
