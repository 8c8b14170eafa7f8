"""Find minima and prove it: integer programs, oracles that minimise them, and certificates.

This package knows nothing of privacy. A problem is an :class:`IntegerProgram`, plain data; an
oracle (:class:`Highs`, :class:`Pulp`, :class:`Exhaustive`) is configuration only and answers
with a :class:`Solution`, whose :class:`Certificate` says what its optimality rests on.
"""

from oracles.errors import (
    InfeasibleError,
    ModelFileError,
    OracleError,
    ProblemError,
    SolverError,
    SpaceTooLargeError,
    UnboundedError,
)
from oracles.exhaustive import Exhaustive
from oracles.highs import Highs
from oracles.oracle import Limits, Oracle
from oracles.problem import IntegerProgram
from oracles.pulp import Pulp
from oracles.solution import Certificate, Solution, Status

__all__ = [
    "Certificate",
    "Exhaustive",
    "Highs",
    "InfeasibleError",
    "IntegerProgram",
    "Limits",
    "ModelFileError",
    "Oracle",
    "OracleError",
    "ProblemError",
    "Pulp",
    "Solution",
    "SolverError",
    "SpaceTooLargeError",
    "Status",
    "UnboundedError",
]
