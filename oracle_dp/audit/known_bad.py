"""Calibrations that must fail. For audits only: no mechanism may import this module.

An audit that has never found a violation may be blind. These calibrations are known to break the
claim that they are made for, so an audit must find them out.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from oracle_dp.errors import ParameterError
from oracle_dp.noise import BitSource, geometric_array, positive_rational


def released_sigma(*, epsilon: float, delta: float, max_norm: float, separation: float) -> float:
    """Standard deviation of the Gaussian noise in the public code of Neel et al. (2020).

    Meant for the lift pi, losses in [0, 1], and a set of points of norm at most D that are at least
    tau apart: ``sigma = 7 sqrt(ln(1 / delta)) D^2 / (2 tau^2 epsilon)``. It comes from a tail bound
    for the noise in *one* direction, while the minimiser depends on the noise and picks the worst
    of all directions; and it is half of what even that argument gives.

    It does not make the mechanism (epsilon, delta)-private for arbitrary bounded losses:
    :mod:`oracle_dp.audit.counterexamples` has closed-form violations, with two records in enough
    dimensions, and with a linear classifier in one. In the setting of the paper's own experiments
    (halfspaces, the grid of step 1) no violation is known.

    Args:
        epsilon: The claim's epsilon, positive.
        delta: The claim's delta, between 0 and 1.
        max_norm: D.
        separation: tau.

    Raises:
        ParameterError: A parameter is out of range.
    """
    positive = {"epsilon": epsilon, "max_norm": max_norm, "separation": separation}
    for name, value in positive.items():
        if not 0 < value < math.inf:
            raise ParameterError(f"{name}: a positive number expected, not {value!r}")
    if not 0 < delta < 1:
        raise ParameterError(f"delta: a number between 0 and 1 expected, not {delta!r}")
    return 7 * math.sqrt(math.log(1 / delta)) * max_norm**2 / (2 * separation**2 * epsilon)


def one_sided_counts(
    counts: NDArray[np.int64], *, epsilon: float, source: BitSource
) -> NDArray[np.int64]:
    """Counts with noise on one side only, as if objective perturbation's noise would do here.

    One-sided noise hides a *minimiser*, under any tie-break, because only one direction of its
    shift is ever needed. A count that is released needs both: a released 0 rules out all data with
    a count of 1, at any epsilon.
    """
    noise = geometric_array(positive_rational("epsilon", epsilon), counts.shape, source)
    return np.asarray(counts + noise)
