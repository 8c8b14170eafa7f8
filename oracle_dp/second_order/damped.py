"""The damped Newton method with noise on gradient and curvature matrix, step size included.

Theorem (docs/theory/second_order.md, Theorem 4). With E = (N + N') / 2, all d^2 entries of N
independent N(0, s^2), s = sqrt(reach) tau / (n sqrt(2 rho_H)), releasing A + E is rho_H-zCDP: E is
isotropic among symmetric matrices in Frobenius norm, whose sensitivity is Lemma 6. All that comes
after it is post-processing, the step size ``log(1 + beta) / beta``, beta = |(A + E)^-1 g~|, too;
T steps satisfy mu-Gaussian differential privacy with mu^2 = 2 T (rho_g + rho_H).

Where its hypotheses are enforced: the matrix N is drawn whole by :func:`noisy_symmetric`; the
eigenvalue floor is a function of s and d, both public; beta comes from noisy quantities only.

Source: Avella-Medina, Bradshaw, Loh, "Differentially private inference via noisy optimization"
(Annals of Statistics 2023); its damped step uses the exact Hessian and gradient, which is not
private and is not here. Deviations in the proof note.
"""

from __future__ import annotations

import math
from typing import Unpack

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from oracle_dp.mechanisms import spending
from oracle_dp.noise import BitSource
from oracle_dp.noise.floating import gaussian
from oracle_dp.points import start_point
from oracle_dp.privacy import Release
from oracle_dp.record_losses import RecordLosses, require_bounded
from oracle_dp.second_order import sensitivity
from oracles.arrays import FloatArray

MECHANISM = "damped_newton"
THEOREM = "damped Newton on noisy derivatives (docs/theory/second_order.md, Theorem 4)"


def damped_newton(
    losses: RecordLosses,
    *,
    steps: int = 15,
    gradient_share: float = 0.7,
    start: ArrayLike | None = None,
    **asked: Unpack[spending.Asked],
) -> Release[FloatArray]:
    """Release the last iterate of the private damped Newton method.

    Args:
        losses: The records' losses with their public constants.
        steps: T.
        gradient_share: Of the budget, strictly between 0 and 1; the curvature has the rest.
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
    share = spending.fraction_of_one("gradient_share", gradient_share)
    w = start_point(start, losses.dimension)
    rho = target.rho / total
    gradient_scale = sensitivity.gradient(losses, target.reach) / math.sqrt(2 * share * rho)
    matrix_scale = sensitivity.curvature(losses, target.reach) / math.sqrt(2 * (1 - share) * rho)
    target.charge(MECHANISM, rho=target.stated_rho)
    for _ in range(total):
        exact, matrix = losses.second_order(w, "hessian")
        slope = spending.noisy(exact, gradient_scale, target.source)
        released = noisy_symmetric(matrix, matrix_scale, target.source)
        w = damped_step(w, slope, released, matrix_scale)
    return target.release(
        w,
        mechanism=MECHANISM,
        theorem=THEOREM,
        sensitivity=target.reach * losses.lipschitz,
        sensitivity_source=spending.gradient_source(losses),
        rho=target.stated_rho,
        conditions_of_mechanism=spending.vouched(losses),
    )


def noisy_symmetric(matrix: FloatArray, scale: float, source: BitSource) -> FloatArray:
    """``A + (N + N') / 2``: noise of variance scale^2 on the diagonal, scale^2 / 2 off it.

    Filling one triangle of N only before taking the mean, or the same variance everywhere, costs up
    to twice mu^2: neither is isotropic at this scale.
    """
    whole = gaussian(source, scale, matrix.shape)
    return np.asarray(matrix + (whole + whole.T) / 2)


def damped_step(
    w: FloatArray, gradient: FloatArray, matrix: FloatArray, scale: float
) -> FloatArray:
    """A damped Newton step from released quantities.

    Eigenvalues are raised to ``scale sqrt(2 d)``, about the norm of the noise: below it the matrix
    says nothing.
    """
    eigenvalues, vectors = scipy.linalg.eigh(matrix)
    floor = scale * math.sqrt(2 * len(w))
    direction = vectors @ ((vectors.T @ gradient) / np.maximum(eigenvalues, floor))
    beta = float(np.linalg.norm(direction))
    if beta == 0:
        return w
    return np.asarray(w - min(1.0, math.log1p(beta) / beta) * direction)
