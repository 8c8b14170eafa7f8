"""The protocol that every backend for integer programs meets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oracles.errors import ProblemError
from oracles.problem import IntegerProgram
from oracles.solution import Solution


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much work an oracle may do. The default is to run to completion.

    Args:
        seconds: Wall-clock seconds, positive; None for no limit.
        nodes: Branch-and-bound nodes, positive; None for no limit.
        rounds: Rejection trials of an exact sampler, positive; None for no limit. Minimisers have
            none.
        threads: Solver threads, positive; None for the backend's own choice. It may differ from
            call to call within one process.

    Raises:
        ProblemError: A limit is not positive, or not a number.
    """

    seconds: float | None = None
    nodes: int | None = None
    rounds: int | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "nodes", "rounds", "threads"):
            limit = getattr(self, name)
            if limit is None:
                continue
            whole = name != "seconds"
            if not isinstance(limit, int if whole else (int, float)) or isinstance(limit, bool):
                kind = "an integer" if whole else "a number"
                raise ProblemError(f"limits: {name} must be {kind} or None, not {limit!r}")
            if not (limit > 0 and math.isfinite(limit)):
                raise ProblemError(f"limits: {name} must be positive and finite, not {limit!r}")

    @property
    def may_stop_early(self) -> bool:
        """Whether a run under these limits can end without its proof."""
        return any(x is not None for x in (self.seconds, self.nodes, self.rounds))


UNLIMITED = Limits()


@runtime_checkable
class Oracle(Protocol):
    """A minimiser of integer programs. An oracle object is configuration only.

    An oracle never passes a solver's status through: it recomputes the objective and the
    feasibility of the point it returns (:meth:`IntegerProgram.objective_value`,
    :meth:`IntegerProgram.is_feasible`) and grants the certificate that those figures and the
    bound support.
    """

    @property
    def name(self) -> str:
        """Name and version of the solver, as guarantees cite it."""
        ...

    def minimize(
        self,
        program: IntegerProgram,
        *,
        limits: Limits = UNLIMITED,
        start: ArrayLike | None = None,
    ) -> Solution[NDArray[np.float64]]:
        """Minimise a program.

        Args:
            program: What to minimise.
            limits: When to stop without a proof.
            start: A point to begin from, shape ``(n_variables,)``. A hint: it may be ignored,
                and an infeasible one is.

        Returns:
            The solution; ``value`` has shape ``(n_variables,)`` with exact integers at integer
            variables.
        """
        ...
