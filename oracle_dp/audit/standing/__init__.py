"""The standing set: audits of every mechanism, and of calibrations that an audit must find out.

To add a mechanism, write a module of this package with a function ``audits()`` and name it in
:data:`MODULES`. Each audit is on public toy data that are made for it, so nothing is spent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from importlib import import_module

from oracle_dp._workers import workers
from oracle_dp.errors import ParameterError
from oracles.parallel import in_order

MODULES = (
    *("zero_one", "estimators", "finite", "perturbation", "programs", "convex"),
    *("first_order", "second_order", "variational", "broken"),
)
"""The modules of this package that have audits, in the order of the report."""


class Method(Enum):
    """Where a bound comes from."""

    EXACT = "exact"
    """Probabilities computed from the mechanism's own parameters."""
    DRAWS = "draws"
    """Runs on two data sets; Clopper-Pearson."""
    ONE_RUN = "one run"
    """One run with canaries."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """One line of the report.

    Attributes:
        mechanism: The mechanism's name, as in its guarantees.
        variant: Lift, noise, neighbours, or whatever tells it from its other audits.
        claimed: The epsilon that is claimed.
        delta: The delta that is claimed.
        method: Where the bound comes from.
        expected_violation: True for calibrations that are known not to keep their claim.
        measure: From a seed to a lower bound on epsilon.
    """

    mechanism: str
    variant: str
    claimed: float
    delta: float = 0.0
    method: Method
    expected_violation: bool = False
    measure: Callable[[int], float]

    @property
    def name(self) -> str:
        """Mechanism and variant."""
        return f"{self.mechanism} ({self.variant})"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What an audit measured.

    Attributes:
        audit: Which audit.
        measured: A lower bound on the mechanism's epsilon.
    """

    audit: Audit
    measured: float

    @property
    def violates(self) -> bool:
        """Whether the claim is refuted; NaN, which nothing can be said of, does so."""
        return not self.measured <= self.audit.claimed

    @property
    def as_expected(self) -> bool:
        """Whether a violation was found where one is known, and only there.

        NaN, or a claim that is no number, is never as expected.
        """
        if self.audit.expected_violation:
            return self.measured > self.audit.claimed
        return not self.violates

    @property
    def verdict(self) -> str:
        """For a person."""
        if self.audit.expected_violation:
            return "found out" if self.as_expected else "MISSED: the audit is blind"
        return "VIOLATED" if self.violates else "holds"


def standing_set(names: str = "") -> list[Audit]:
    """All audits whose name contains a text.

    Raises:
        ParameterError: There is none.
    """
    modules = (import_module(f"{__name__}.{module}") for module in MODULES)
    every: list[Audit] = [audit for module in modules for audit in module.audits()]
    chosen = [audit for audit in every if names in audit.name]
    if not chosen:
        known = ", ".join(sorted({audit.mechanism for audit in every}))
        raise ParameterError(f"only: no audit has {names!r} in its name; there are {known}")
    return chosen


def run(audits: list[Audit], *, seed: int, n_jobs: int | None = 1) -> Iterator[Finding]:
    """Measure all, in order; ``n_jobs`` workers, as joblib counts, do not change what is found.

    Raises:
        ParameterError: ``n_jobs`` is no number of workers.
    """
    found = in_order(_measured, seed, audits, n_jobs=workers(n_jobs))
    for audit, measured in zip(audits, found, strict=True):
        yield Finding(audit=audit, measured=measured)


def _measured(seed: int, audit: Audit) -> float:
    return audit.measure(seed)
