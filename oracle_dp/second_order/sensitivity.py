"""By how much one record changes a gradient, a modified inverse curvature, a trace.

Proofs: docs/theory/second_order.md, Lemmas 2 to 6. Throughout, A is the sum of the records'
curvatures over the public n: each is positive semi-definite with eigenvalues at most L1 and trace
at most tau. ``reach`` is 1 where a record's contribution appears or vanishes, 2 where one takes
another's place.
"""

from __future__ import annotations

import math

import numpy as np

from oracle_dp.record_losses import RecordLosses


def gradient(losses: RecordLosses, reach: int) -> float:
    """L2 sensitivity of the mean gradient: ``reach L0 / n`` (Lemma 2)."""
    return reach * losses.lipschitz / losses.size


def direction_add(losses: RecordLosses, floor: float) -> float:
    """Of ``(A + floor I)^-1``, in operator norm, under both reaches: ``L1 / (n l^2 + L1 l)``.

    Lemma 3; attained. For any rank, without a factor for the dimension.
    """
    largest = losses.smoothness
    return largest / (losses.size * floor**2 + largest * floor)


def direction_clip(losses: RecordLosses, floor: float, reach: int) -> float:
    """Of the inverse of A with eigenvalues raised to ``floor``: ``sqrt(reach) tau / (n l^2)``.

    Lemma 4, in Frobenius and so in operator norm; no pole at small floors.
    """
    return math.sqrt(reach) * losses.curvature_trace / (losses.size * floor**2)


def trace(losses: RecordLosses) -> float:
    """Of the trace of A, under both reaches: ``tau / n`` (Lemma 5)."""
    return losses.curvature_trace / losses.size


def curvature(losses: RecordLosses, reach: int) -> float:
    """Of A in Frobenius norm: ``sqrt(reach) tau / n`` (Lemma 6)."""
    return math.sqrt(reach) * losses.curvature_trace / losses.size


def floor_for(losses: RecordLosses, trace_estimate: float, rho: float, factor: float) -> float:
    """The smallest eigenvalue to keep, from public and released numbers only.

    The largest of:

    * ``(factor (4 L1)^2 tr / (n^2 rho))^(1/3)``, which balances bias and noise (Ganesh et al. 2023,
      Section 5.2; for the logistic loss 4 L1 = 1);
    * ``(L1^3 tr / (n^2 rho))^(1/4)``: the noise of a direction is in proportion to the gradient,
      and above this floor it makes a squared gradient of at most half the last one. Without it
      runs diverge at large rho;
    * ``4 L1 / n``.

    Args:
        losses: For n and L1.
        trace_estimate: A *released* estimate of the trace.
        rho: zCDP budget of the direction in this step.
        factor: Public; how far the balance leans towards noise.
    """
    largest, n = losses.smoothness, losses.size
    balance = float(np.cbrt(factor * (4 * largest) ** 2 * trace_estimate / (n**2 * rho)))
    stable = float((largest**3 * trace_estimate / (n**2 * rho)) ** 0.25)
    return max(balance, stable, 4 * largest / n)
