"""The 0-1 loss of linear classifiers over an integer grid of weights."""

from oracles.zero_one.cells import CellTable
from oracles.zero_one.class_counts import ClassCounts
from oracles.zero_one.minimize import ZeroOneProblem, check_weights, minimize
from oracles.zero_one.sources import Encoding, Encodings

__all__ = [
    "CellTable",
    "ClassCounts",
    "Encoding",
    "Encodings",
    "ZeroOneProblem",
    "check_weights",
    "minimize",
]
