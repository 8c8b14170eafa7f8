"""The errors of the optimisation side, all in one tree.

::

    OracleError
    ├── ProblemError (also ValueError)     the problem's own data are wrong
    │   ├── ModelFileError                 a model file cannot be read as what it claims to be
    │   └── SpaceTooLargeError             too many points to enumerate
    ├── InfeasibleError                    no point satisfies the constraints
    ├── UnboundedError                     the objective has no minimum
    ├── SolverError                        a backend is missing, failed, or contradicted itself
    └── WorkerError                        processes or machines that were to help died

    NonMonotoneWarning (UserWarning)       an operator is not monotone at sampled points

Every message says what was wrong and what to do, and none shows a coefficient: coefficients
may be derived from private records.
"""


class OracleError(Exception):
    """Base of every error that the package ``oracles`` raises on purpose."""


class ProblemError(OracleError, ValueError):
    """The data of a problem are not what an oracle can work with."""


class ModelFileError(ProblemError):
    """A model file is missing, truncated, malformed, or uses an unsupported feature."""


class SpaceTooLargeError(ProblemError):
    """A space has more points than enumeration is meant for."""


class InfeasibleError(OracleError):
    """No point satisfies the bounds and the constraints."""


class UnboundedError(OracleError):
    """The objective decreases without limit over the feasible points."""


class SolverError(OracleError):
    """A solver is missing, failed, or returned something that its own model contradicts."""


class WorkerError(OracleError):
    """Workers of a parallel run died, each time it was tried."""


class NonMonotoneWarning(UserWarning):
    """An operator was found not to be monotone: gap certificates and rates do not hold for it."""
