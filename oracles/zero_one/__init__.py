"""The 0-1 loss of linear classifiers over an integer grid of weights."""

from oracles.zero_one.cells import CellTable
from oracles.zero_one.minimize import ZeroOneProblem, check_weights, minimize

__all__ = ["CellTable", "ZeroOneProblem", "check_weights", "minimize"]
