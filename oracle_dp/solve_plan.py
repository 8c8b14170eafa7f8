"""Which mechanism for a private integer program: chosen without a look at the private data.

For a problem class every mechanism that applies is tried on made-up records over the same public
domain, with seeded noise, and the mean excess loss over the best known choice is compared. For a
program without a class only the constraints are looked at. Both are functions of public facts, so
the choice tells nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from oracle_dp.errors import ParameterError, UncertifiedError
from oracle_dp.mechanisms.histogram import counts_histogram
from oracle_dp.mechanisms.opdisc import opdisc
from oracle_dp.mechanisms.selection import SelectionExponential
from oracle_dp.models import Model
from oracle_dp.noise import positive_rational
from oracle_dp.privacy import Neighbors
from oracle_dp.problems.base import PrivateProblem
from oracles import Highs, Limits
from oracles.released import ReleasedVariables
from oracles.selection.base import IntArray
from oracles.selection.detect import base_set
from oracles.selection.facility import FacilityLoss
from oracles.selection.problem import FacilityProblem

ROUNDS = 2_000
"""Trials that an exact draw gets on made-up data before it counts as too slow, and nodes that a
search in integers gets. Not seconds: the same question gets the same answer on every machine."""

WORK = 200_000
"""Trials times variables, where those are many: one of each takes some tens of microseconds."""

SECONDS = 30.0
"""Seconds that a solver gets there."""

RUNS = 8
"""Data sets to make up."""

FEW_RUNS = 3
"""The same where only one question is left: whether a mechanism finishes."""

FEW_POINTS = 2**16
"""Up to so many points, rows that no base set holds are left to the sampler's search."""

TOO_SLOW = "did not finish within the limits of a plan"


@dataclass(frozen=True, slots=True)
class MechanismEstimate:
    """What a mechanism did on made-up data.

    Attributes:
        mechanism: Its name.
        excess: Mean loss beyond the best known choice, over the runs that finished; infinite if
            fewer than half did.
        relative: The same as a share of that choice's loss, NaN where it is 0.
        seconds: Mean time of a run.
        why: A sentence for a person.
    """

    mechanism: str
    excess: float
    relative: float
    seconds: float
    why: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able data."""
        return asdict(self)


def best_mechanism(
    problem: PrivateProblem,
    *,
    epsilon: float | Fraction,
    neighbors: Neighbors | str = Neighbors.REPLACE,
    n_records: int = 1_000,
) -> str:
    """The mechanism with the least excess on made-up data.

    Without a histogram that is ``exponential``, which beats ``opdisc`` wherever both finish; so
    ``opdisc`` is chosen only if it finishes on made-up data and ``exponential`` does not.
    """
    if problem.histogram() is not None:
        plan = plan_problem(problem, epsilon=epsilon, neighbors=neighbors, n_records=n_records)
        ended = [line for line in plan if math.isfinite(line.excess)]
        return min(ended, key=lambda line: line.excess).mechanism if ended else "opdisc"
    if problem.loss() is None:
        return "opdisc"
    runs = range(_checked(n_records, FEW_RUNS))
    made_up = [problem.synthetic(n_records, seed) for seed in runs]
    target, relation = positive_rational("epsilon", epsilon), Neighbors.parse(neighbors)
    for mechanism in ("exponential", "opdisc"):
        tried = _try_all(mechanism, made_up, target, relation)
        if 2 * sum(math.isfinite(loss) for loss, _ in tried) >= len(tried):
            return mechanism
    return "exponential"


def plan_problem(
    problem: PrivateProblem,
    *,
    epsilon: float | Fraction,
    neighbors: Neighbors | str = Neighbors.REPLACE,
    n_records: int = 1_000,
    runs: int = RUNS,
    with_opdisc: bool = False,
) -> Iterator[MechanismEstimate]:
    """Try the mechanisms of a problem class on made-up records, one line each.

    Args:
        problem: Its public parts are used; its records are not looked at.
        epsilon: Positive.
        neighbors: The neighbour relation.
        n_records: How many records to make up. Public.
        runs: Data sets to make up, positive.
        with_opdisc: Whether to try ``opdisc`` too, which needs a solver's proof in every run.

    Raises:
        ParameterError: A parameter is out of range.
    """
    positive_rational("epsilon", epsilon)
    relation = Neighbors.parse(neighbors)
    made_up = [problem.synthetic(n_records, seed) for seed in range(_checked(n_records, runs))]
    names = [
        name
        for name, applies in (
            ("counts", problem.histogram() is not None),
            ("exponential", problem.loss() is not None),
            ("opdisc", with_opdisc),
        )
        if applies
    ]
    tried = {name: _try_all(name, made_up, epsilon, relation) for name in names}
    best = [_best_known(data, [tried[name][s][0] for name in names])
            for s, data in enumerate(made_up)]  # fmt: skip
    for name in names:
        yield _summary(name, tried[name], best)


def _checked(n_records: int, runs: int) -> int:
    if n_records < 1 or runs < 1:
        raise ParameterError("n_records and runs: positive numbers expected")
    return runs


def _try_all(
    name: str,
    made_up: list[PrivateProblem],
    epsilon: float | Fraction,
    relation: Neighbors,
) -> list[tuple[float, float]]:
    """All runs; if the first two do not finish, the others count as unfinished too."""
    runs: list[tuple[float, float]] = []
    for seed, data in enumerate(made_up):
        stuck = len(runs) > 1 and not any(math.isfinite(loss) for loss, _ in runs)
        runs.append(runs[-1] if stuck else _try(name, data, epsilon, relation, seed))
    return runs


def _try(
    name: str, data: PrivateProblem, epsilon: float | Fraction, relation: Neighbors, seed: int
) -> tuple[float, float]:
    """Loss and seconds of one seeded run on made-up data; infinite where it did not finish."""
    begun = time.perf_counter()
    try:
        choice = _run(name, data, epsilon, relation, seed)
    except UncertifiedError:
        return math.inf, time.perf_counter() - begun
    return float(data.value(choice)), time.perf_counter() - begun


def _run(
    name: str, data: PrivateProblem, epsilon: float | Fraction, relation: Neighbors, seed: int
) -> IntArray:
    if name == "counts":
        histogram = data.histogram()
        assert histogram is not None, "only problems with a histogram are tried"
        return counts_histogram(
            histogram, epsilon=epsilon, neighbors=relation, random_state=seed
        ).value
    sensitivity = data.sensitivity(relation)
    if name == "opdisc":
        variables = _variables(data)
        native = isinstance(variables, FacilityProblem)
        return opdisc(
            variables, epsilon=epsilon, sensitivity=sensitivity, neighbors=relation,
            limits=Limits(nodes=ROUNDS) if native else Limits(seconds=SECONDS), random_state=seed,
        ).value  # fmt: skip
    loss = data.loss()
    assert loss is not None, "only problems with an envelope are tried"
    sampled = SelectionExponential(
        loss, epsilon=epsilon, sensitivity=sensitivity, neighbors=relation
    )
    rounds = max(1, min(ROUNDS, WORK // max(1, loss.base.n_variables)))
    return sampled.release(limits=Limits(rounds=rounds), random_state=seed).value


def _variables(data: PrivateProblem) -> ReleasedVariables | FacilityProblem:
    loss = data.loss()
    if isinstance(loss, FacilityLoss):
        return FacilityProblem(loss)
    return ReleasedVariables(data.program(), tuple(range(data.n_choices)), Highs())


def _best_known(data: PrivateProblem, losses: list[float]) -> float:
    """The least loss known on made-up data: of the runs, and of runs almost without noise."""
    found = list(losses)
    histogram = data.histogram()
    if histogram is not None:
        found.append(float(data.value(histogram.answer(histogram.counts, Limits(seconds=SECONDS)))))
    elif data.loss() is not None:
        found.append(_try("exponential", data, 100, Neighbors.ADD_REMOVE, 0)[0])
    return min(found)


def _summary(name: str, runs: list[tuple[float, float]], best: list[float]) -> MechanismEstimate:
    seconds = float(np.mean([run[1] for run in runs]))
    beyond = [loss - least for (loss, _), least in zip(runs, best, strict=True)]
    finished = [x for x in beyond if math.isfinite(x)]
    if 2 * len(finished) < len(runs):
        return MechanismEstimate(name, math.inf, math.nan, seconds, TOO_SLOW)
    excess, scale = float(np.mean(finished)), abs(float(np.mean(best)))
    relative = excess / scale if scale else math.nan
    why = (
        f"mean loss beyond the best known choice; {len(finished)} of {len(runs)} runs on made-up "
        "data finished"
    )
    return MechanismEstimate(name, excess, relative, seconds, why)


def choose_for_program(model: Model) -> str:
    """For a program without a class, by its constraints alone.

    ``exponential`` where a base set holds all rows (then a draw is one dynamic program) or has few
    points that a search could have to visit, if there is no recourse; ``opdisc`` otherwise.
    """
    if len(model.released) < model.program.n_variables:
        return "opdisc"
    base, rows = base_set(model.program, model.released)
    return "opdisc" if len(rows) and base.n_points > FEW_POINTS else "exponential"
