"""Conditions under which a guarantee holds that its theorem does not supply."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ContingencyKind(Enum):
    """A condition that the theorem does not supply."""

    ORACLE_BOUND = "oracle_bound"
    """Optimality rests on a solver's floating-point bound."""
    SEEDED = "seeded"
    """The noise came from a seed: the release is reproducible and not private."""
    COMPLETION = "completion"
    """The run could have been refused for want of a proof; refusal depends on the data."""
    LEAKED_PARAMETER = "leaked_parameter"
    """A parameter that must be public was read from the data."""
    CALLER = "caller"
    """The caller promised something that the program cannot check."""
    RUNNING_TIME = "running_time"
    """The running time depends on the data and is not padded."""
    FLOATING_POINT_NOISE = "floating_point_noise"
    """The noise, or what it was added to, was rounded to floating point."""


@dataclass(frozen=True, slots=True)
class Contingency:
    """One condition, with a sentence for a person."""

    kind: ContingencyKind
    detail: str


RUNNING_TIME = Contingency(
    ContingencyKind.RUNNING_TIME,
    "the running time depends on the data and is outside the guarantee: do not let anyone who "
    "must not see the data time the run",
)

FLOATING_POINT_NOISE = Contingency(
    ContingencyKind.FLOATING_POINT_NOISE,
    "the noise and the numbers that it was added to are floating-point numbers, the theorem's are "
    "real: release them rounded, and never with all their bits to someone who may attack them",
)
