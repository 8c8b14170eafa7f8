"""Private variational inequalities and saddle points: NSEG, NISPP, and how good their answers are.

A problem is an :class:`oracles.monotone.RecordOperator`; a plan holds public parameters, made from
the problem's constants by the theorems (:func:`nseg_single_pass` and its kin).
"""

from oracle_dp.variational.bounds import Constants
from oracle_dp.variational.calibration import PrivacyTarget
from oracle_dp.variational.gap import (
    GapEstimate,
    empirical_gap,
    release_gap,
    strong_gap_bound,
    weak_gap,
)
from oracle_dp.variational.nispp import Subsolver, nispp
from oracle_dp.variational.nseg import nseg
from oracle_dp.variational.plans import (
    NisppPlan,
    NsegPlan,
    nispp_multi_pass,
    nispp_single_pass,
    nseg_multi_pass,
    nseg_single_pass,
)
from oracle_dp.variational.recursive import RecursivePlan, recursive_nseg
from oracle_dp.variational.sampling import Sampling

__all__ = [
    "Constants",
    "GapEstimate",
    "NisppPlan",
    "NsegPlan",
    "PrivacyTarget",
    "RecursivePlan",
    "Sampling",
    "Subsolver",
    "empirical_gap",
    "nispp",
    "nispp_multi_pass",
    "nispp_single_pass",
    "nseg",
    "nseg_multi_pass",
    "nseg_single_pass",
    "recursive_nseg",
    "release_gap",
    "strong_gap_bound",
    "weak_gap",
]
