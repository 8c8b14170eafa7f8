"""Oracles by name, as they are called on a command line."""

from __future__ import annotations

from collections.abc import Callable

from oracles.cp_sat import CpSat
from oracles.errors import ProblemError
from oracles.highs import Highs
from oracles.oracle import Oracle
from oracles.scip import Scip

BACKENDS: dict[str, Callable[[], Oracle]] = {"highs": Highs, "cp_sat": CpSat, "scip": Scip}


def backend(named: Oracle | str) -> Oracle:
    """An oracle, or the one of a name: ``highs``, ``cp_sat`` or ``scip``.

    Raises:
        ProblemError: There is no oracle of that name.
    """
    if not isinstance(named, str):
        return named
    if named not in BACKENDS:
        raise ProblemError(f"oracle: one of {', '.join(BACKENDS)} expected, not {named!r}")
    return BACKENDS[named]()
