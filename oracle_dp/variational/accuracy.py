"""How accurately NISPP's inner problems are to be solved, and can be in double precision.

nu is a privacy parameter: it is part of the sensitivity, and the number of inner iterations must
guarantee it whatever the records are. So it is never below what floating point is trusted with.
"""

from __future__ import annotations

import numpy as np

from oracle_dp.variational.bounds import Constants
from oracle_dp.variational.calibration import PrivacyTarget, Schedule


def default_accuracy(
    constants: Constants,
    schedule: Schedule,
    target: PrivacyTarget,
    *,
    weight: float,
    modulus: float | None = None,
    n_records: int | None = None,
) -> float:
    """A nu that hardly adds to the sensitivity, and that floating point can reach.

    Args:
        constants: Of the problem.
        schedule: For the batch size.
        target: For the relation.
        weight: lambda.
        modulus: Strong monotonicity of the inner problem; default: the weight.
        n_records: n where the stability over many passes matters too.
    """
    change = target.reach * constants.bound / schedule.batch_size
    strong = weight if modulus is None else modulus
    # One four-hundredth of c^2 / 8 lambda: the sensitivity grows by 0.03 percent.
    wanted = change**2 / (3200 * strong)
    if n_records is not None:
        wanted = min(wanted, constants.bound**2 / (50 * strong * n_records**2))
    return max(wanted, reachable_accuracy(constants, weight=weight, modulus=strong))


def reachable_accuracy(constants: Constants, *, weight: float, modulus: float) -> float:
    """The least nu that double precision is trusted to reach, with a margin."""
    lipschitz = constants.lipschitz + weight
    radius = rounding_radius(constants, lipschitz=lipschitz, modulus=modulus)
    growth = lipschitz * constants.diameter + constants.bound + 3 * weight * constants.diameter
    return radius * growth


def rounding_radius(constants: Constants, *, lipschitz: float, modulus: float) -> float:
    """How far rounding may leave an inner solution from the exact one.

    An iteration's rounding is some units in the last place of the numbers in it, and contraction
    by 1 + modulus / lipschitz adds up a few lipschitz / modulus of them.
    """
    # A set far from the origin has coordinates much larger than its diameter.
    size = 2 * max(constants.diameter, constants.magnitude) + constants.bound / lipschitz
    return 512 * float(np.finfo(np.float64).eps) * size * (1 + lipschitz / modulus)
