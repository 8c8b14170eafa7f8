"""Losses of a margin, and oracles that minimise them to a proven distance from the optimum."""

from oracles.convex._blocks import plain_additions
from oracles.convex.gradient import Gradient
from oracles.convex.losses import Hinge, HuberHinge, Logistic, MarginLoss, Ramp, Squared
from oracles.convex.minimum import ConvexMinimum
from oracles.convex.newton import Newton
from oracles.convex.objective import MeanLoss
from oracles.convex.programs import hinge_program, ramp_program
from oracles.convex.row_set import RowSet, StreamedRows
from oracles.convex.rows import Rows

__all__ = [
    "ConvexMinimum",
    "Gradient",
    "Hinge",
    "HuberHinge",
    "Logistic",
    "MarginLoss",
    "MeanLoss",
    "Newton",
    "Ramp",
    "RowSet",
    "Rows",
    "Squared",
    "StreamedRows",
    "hinge_program",
    "plain_additions",
    "ramp_program",
]
