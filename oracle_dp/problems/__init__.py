"""Private integer programs that ship: data in, sensitivity proven, formulation and envelope.

Every problem's constraints and domain are public, and only its objective depends on people. Its
docstring proves the range sensitivity of its loss, for :func:`oracle_dp.solve_private` to use.
"""

from oracle_dp.problems.base import PrivateProblem
from oracle_dp.problems.best_subset import BestSubset
from oracle_dp.problems.coverage import MaximumCoverage
from oracle_dp.problems.location import FacilityLocation, PMedian
from oracle_dp.problems.path import ShortestPath
from oracle_dp.problems.totals import Assortment, MultiKnapsack, SetCover

__all__ = [
    "Assortment",
    "BestSubset",
    "FacilityLocation",
    "MaximumCoverage",
    "MultiKnapsack",
    "PMedian",
    "PrivateProblem",
    "SetCover",
    "ShortestPath",
]
