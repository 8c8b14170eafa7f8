"""What an oracle answers: a point, its objective, a bound, and how far to trust them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from oracles.errors import InfeasibleError, SolverError, UnboundedError

ValueT = TypeVar("ValueT", covariant=True)


class Status(Enum):
    """How a run ended. A member's value is the message for a person, with the remedy.

    A status says why the oracle stopped, never how good the point is: that is the business of
    :class:`Certificate`. ``STOPPED`` with a point and ``STOPPED`` without one are told apart by
    ``Solution.value is None``.
    """

    OPTIMAL = "the oracle reports an optimum; read the certificate for how far it is proven"
    STOPPED = "a limit was reached before the proof was complete: raise or remove the limits"
    INFEASIBLE = "no point satisfies the constraints: check the bounds and the rows"
    UNBOUNDED = "the objective has no minimum: bound the variables that improve it"
    ERROR = (
        "the solver failed or its answer contradicts the model: try another backend, "
        "and check that coefficients are of similar magnitude"
    )

    @property
    def message(self) -> str:
        """The sentence for a person, remedy included."""
        return str(self.value)


class Certificate(Enum):
    """What the optimality of a point rests on."""

    EXACT = "exact"
    """Proven in integer arithmetic."""
    SOLVER = "solver"
    """The objective is integer, recomputed exactly, and a solver's own floating-point bound, less
    a margin, is above it minus one. The proof is as good as that bound."""
    BOUNDED = "bounded"
    """A solver's floating-point bound proves the objective up to ``Solution.gap``."""
    NONE = "none"
    """Nothing is proven: the run has no bound that suffices, or the numbers are too large for a
    solver's floats (bound every variable of the objective, rescale rows)."""


@dataclass(frozen=True)  # no slots: with them Solution[T](...) fails on Python 3.11
class Solution(Generic[ValueT]):
    """An oracle's answer to a minimisation.

    Attributes:
        status: Why the run ended.
        value: The best point found, or None.
        objective: Its objective, recomputed from the problem's data; an ``int`` where objective
            and point are integer (then without rounding), otherwise a ``float``; None without
            a point.
        bound: A lower bound on the optimum, never above ``objective``; an ``int`` where it was
            rounded up because the objective is integer; ``-inf`` when nothing is known.
        certificate: What the optimality of ``value`` rests on.
        oracle: Name and version of what computed ``bound``.
    """

    status: Status
    value: ValueT | None
    objective: int | float | None
    bound: int | float
    certificate: Certificate
    oracle: str

    @property
    def gap(self) -> float:
        """Objective minus bound, at least 0; infinite without a point or a bound, and for NaN."""
        if self.objective is None or self.bound == -math.inf:
            return math.inf
        gap = self.objective - self.bound
        return math.inf if math.isnan(gap) else float(max(0, gap))

    def require_point(self) -> ValueT:
        """The point, or the error that says why there is none.

        Raises:
            InfeasibleError: The oracle found the problem infeasible.
            UnboundedError: The oracle found the problem unbounded.
            SolverError: Anything else left the oracle without a point.
        """
        if self.value is not None:
            return self.value
        message = f"{self.oracle}: {self.status.message}"
        if self.status is Status.INFEASIBLE:
            raise InfeasibleError(message)
        if self.status is Status.UNBOUNDED:
            raise UnboundedError(message)
        raise SolverError(message)
