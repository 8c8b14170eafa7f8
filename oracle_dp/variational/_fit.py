"""Whether a budget is large enough for a plan to be worth its charge; public constants alone.

Privacy does not rest on it: what is refused here would be private, and noise.
"""

from __future__ import annotations

import math
import warnings

from oracle_dp.errors import ParameterError, VacuousBoundWarning
from oracle_dp.variational.bounds import Constants
from oracle_dp.variational.calibration import Schedule


def least_batch(constants: Constants, length: float, n_records: int, *, uses: int) -> int:
    """The batch whose noise has mean squared length M^2, if ``uses`` of them fit into n.

    Raises:
        ParameterError: They do not.
    """
    least = max(1, math.ceil(length / constants.bound))
    if uses * least > n_records:
        raise ParameterError(
            f"epsilon: too small for n = {n_records} and {constants.dimension} dimensions: no step "
            f"fits, the noise of a batch is longer than the operator below {uses * least} records; "
            "raise epsilon or n, lower the dimension, or use several passes"
        )
    return least


def refuse_drowned(constants: Constants, schedule: Schedule, noise_length: float) -> None:
    """See that noise does not drown the operator, even averaged over all releases.

    Where the average of all noise vectors is longer than M, no step length and no weight tells
    the operator from noise: shorter steps only average over more of them.

    Args:
        constants: Of the problem.
        schedule: All releases.
        noise_length: Root mean square length of the noise on the sum over a batch.

    Raises:
        ParameterError: It drowns it.
    """
    averaged = noise_length / (schedule.batch_size * math.sqrt(schedule.releases))
    if averaged > constants.bound:
        raise ParameterError(
            f"epsilon: too small for n = {schedule.n_records} and {constants.dimension} "
            "dimensions: no step fits, the noise averaged over all steps is "
            f"{averaged / constants.bound:.3g} times as long as the operator can be; raise epsilon "
            "or n, or lower the dimension"
        )


def warn_vacuous(constants: Constants, gap: float) -> None:
    """Say so where the bound that a plan minimises is no better than what any point has.

    Warns:
        VacuousBoundWarning: It is not below M D.
    """
    if gap >= constants.trivial_gap:
        warnings.warn(
            f"gap_bound: {gap:.3g} is no better than M D = {constants.trivial_gap:.3g}, which "
            "holds for any point of the set: nothing is promised of the result; raise epsilon or "
            "n, or lower the dimension",
            VacuousBoundWarning,
            stacklevel=3,
        )
