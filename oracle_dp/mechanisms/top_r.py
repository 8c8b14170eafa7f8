"""Top-R: the exponential mechanism that tells only the R best points apart.

Theorem (docs/theory/rivals.md, Theorem 2). Let W be finite and public, R fixed in advance, L a loss
with range sensitivity Delta, and L_(R) the R-th smallest loss, ties counted. Drawing w with
probability proportional to exp(-epsilon min(L(D, w), L_(R)(D)) / Delta) is epsilon-differentially
private, with a log ratio in an interval of length epsilon, hence (epsilon^2 / 8)-zCDP. Only the R
best points are needed for it, and the number of the others.

Where its hypotheses are enforced: R is a parameter, never what time allowed (all R, or a refusal);
the oracle's certificates prove that no other point loses less (:mod:`oracles.ranking`); |W| is the
problem's ``n_points``, and without it a problem is refused; ``pick_real`` chooses exactly; Delta
and the relation are the caller's, and named in the guarantee.

Source: Prastakos, Behdin, Mazumder, 2025, with R public and the choice made exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from flint import arb, fmpz

from oracle_dp._workers import workers
from oracle_dp.errors import ParameterError, UncertifiedError
from oracle_dp.ledger import Ledger
from oracle_dp.mechanisms.base import (
    REFUSED,
    charge_before_noise,
    conditions,
    larger_reading,
    limits_or_none,
    require_certified,
    stated,
)
from oracle_dp.noise import BitSource, bit_source, positive_rational, uniform_below
from oracle_dp.noise.reals import pick_real, real_exp
from oracle_dp.privacy import Contingency, Guarantee, Neighbors, Release
from oracle_dp.sensitivity import ASSERTED, is_proved
from oracles import Certificate, Limits
from oracles.coordinates import CountableProblem, RankedProblem
from oracles.errors import WorkerError
from oracles.ranking import Ranked, best_points, check_rankable

PointT = TypeVar("PointT")

MECHANISM = "top_r"
THEOREM = (
    "exponential mechanism on the loss capped at its R-th smallest value "
    "(docs/theory/rivals.md, Theorem 2)"
)


@dataclass(frozen=True, eq=False)
class CappedLaw:
    """What is drawn from: the best points one by one, the others together.

    Attributes:
        best: The R best points, by ascending loss.
        others: Number of points that are not among them.
        rate: Nats per unit of loss, ``epsilon / Delta``.
    """

    best: tuple[Ranked, ...]
    others: int
    rate: Fraction

    def weights(self) -> list[arb]:
        """Enclosures of the best points' weights, then that of all others together, if any."""
        least = self.best[0].loss
        each = [real_exp(-self.rate * (point.loss - least)) for point in self.best]
        return [*each, each[-1] * arb(fmpz(self.others))] if self.others else each

    def draw(self, problem: CountableProblem[PointT], source: BitSource) -> PointT:
        """One point, exactly."""
        index = pick_real(self.weights, source)
        if index < len(self.best):
            value = problem.point(self.best[index].positions)
            assert value is not None, "a minimiser is a point"
            return value
        listed = {point.positions for point in self.best}
        if isinstance(problem, RankedProblem):
            while True:
                rank = uniform_below(source, len(self.best) + self.others)
                found: PointT = problem.point_at(rank)
                if problem.positions(found) not in listed:
                    return found
        while True:
            positions = tuple(uniform_below(source, size) for size in problem.sizes)
            value = problem.point(positions)
            if value is not None and positions not in listed:
                return value


def top_r(
    problem: CountableProblem[PointT],
    *,
    n_best: int,
    epsilon: float | Fraction,
    sensitivity: float | Fraction,
    sensitivity_source: str = ASSERTED,
    neighbors: Neighbors | str = Neighbors.REPLACE,
    limits: Limits | None = None,
    n_jobs: int | None = 1,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    random_state: int | BitSource | None = None,
    contingencies: Sequence[Contingency] = (),
) -> Release[PointT]:
    """Draw one point; all but the R best are alike.

    Args:
        problem: An integer loss over a public set whose size is known: a ``ZeroOneProblem``, a
            ``FiniteTable``, the ``ReleasedVariables`` of a program without rows, or its
            ``CountedVariables`` where a base set holds all rows.
        n_best: R, positive and public: fixed before the data are looked at.
        epsilon: Positive.
        sensitivity: Range sensitivity of the loss under ``neighbors``, positive.
        sensitivity_source: Who vouches for it, for the guarantee.
        neighbors: The neighbour relation that ``sensitivity`` is for.
        limits: Seconds are for all minimisations, nodes for each. Default: none, since a refusal
            depends on the data.
        n_jobs: Workers, as joblib counts them; ``joblib.parallel_config`` says where
            (docs/scale_convex.md). The law and a seed's result do not depend on it.
        ledger: Charged before the first random bit is drawn.
        dataset: Name of the data set in the ledger.
        random_state: None for the operating system's randomness; an integer reproduces a run and
            marks the release as not private.
        contingencies: Further conditions for the guarantee to state.

    Returns:
        A point with its guarantee: pure epsilon, rho = epsilon^2 / 8.

    Raises:
        ParameterError: A parameter is out of range, or the set's size is not known. Nothing is
            charged.
        OracleError: The loss is not integer, or the set is empty. Nothing is charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.
        UncertifiedError: One of the R points was not proven, or workers died again and again. The
            charge stays.
    """
    target = positive_rational("epsilon", epsilon)
    range_sensitivity = larger_reading("sensitivity", sensitivity)
    relation = Neighbors.parse(neighbors)
    source = bit_source(random_state)
    within, n_workers = limits_or_none(limits), workers(n_jobs)
    promise = _promise(target, range_sensitivity, relation, sensitivity_source)
    n_points = _n_points(problem, within)
    expected = min(_positive("n_best", n_best), n_points)
    charge_before_noise(
        ledger,
        dataset,
        mechanism=MECHANISM,
        epsilon=target,
        neighbors=relation,
        rho=target**2 / 8,
    )
    try:
        solution = best_points(problem, expected, limits=within, n_jobs=n_workers)
    except WorkerError as error:
        raise UncertifiedError(f"no certificate, no release ({error}). {REFUSED}") from None
    best = require_certified(solution)
    if len({point.positions for point in best}) != expected:
        raise UncertifiedError(f"points are missing, or there twice ({solution.oracle}). {REFUSED}")
    law = CappedLaw(best, n_points - expected, target / range_sensitivity)
    solver = solution.oracle if solution.certificate is Certificate.SOLVER else None
    met = conditions(source, within, solver=solver, vouched=not is_proved(sensitivity_source))
    guarantee = replace(
        promise, certificate=solution.certificate, contingencies=(*contingencies, *met)
    )
    return Release(law.draw(problem, source), guarantee)


def _promise(
    epsilon: Fraction, sensitivity: Fraction, neighbors: Neighbors, sensitivity_source: str
) -> Guarantee:
    """The guarantee but for what the run decides; made before the charge.

    Raises:
        ParameterError: A figure has no float to state it by.
    """
    return Guarantee(
        mechanism=MECHANISM,
        theorem=THEOREM,
        neighbors=neighbors,
        epsilon=stated("epsilon", epsilon, toward=math.inf),
        delta=0.0,
        rho=stated("epsilon", epsilon**2 / 8, toward=math.inf),
        sensitivity=stated("sensitivity", sensitivity, toward=0),
        sensitivity_source=sensitivity_source,
        certificate=Certificate.NONE,
        contingencies=(),
    )


def _positive(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParameterError(f"{name}: a positive integer expected, not {value!r}")
    return value


def _n_points(problem: CountableProblem[PointT], within: Limits) -> int:
    """|W|, of a problem that is fit to be ranked."""
    check_rankable(problem)
    problem.check(limits=within)
    if problem.n_points is None:
        raise ParameterError(
            "problem: Top-R needs the number of points, which is not known for rows that no base "
            "set holds"
        )
    return problem.n_points
