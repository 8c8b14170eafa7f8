"""One call from a model whose objective depends on people to an answer that may be published.

:func:`solve_private` reads and checks the model, chooses the mechanism from public facts, and hands
over to the mechanism's module, where the theorem is. Only the objective may depend on private data:
the constraints, the bounds, the names and the choice of what is released are public. That is the
caller's promise, and every guarantee says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from oracle_dp.errors import ParameterError
from oracle_dp.ledger import Ledger
from oracle_dp.mechanisms.base import limits_or_none
from oracle_dp.mechanisms.histogram import counts_histogram
from oracle_dp.mechanisms.opdisc import opdisc
from oracle_dp.mechanisms.selection import SelectionExponential
from oracle_dp.mechanisms.top_r import top_r
from oracle_dp.noise import BitSource, bit_source, positive_rational
from oracle_dp.privacy import Guarantee, Neighbors, Release
from oracle_dp.solve_plan import best_mechanism, choose_for_program
from oracle_dp.solve_task import Task, make_task
from oracles import Certificate, Limits, Oracle
from oracles.backends import backend
from oracles.cross_check import CrossCheck
from oracles.selection.base import IntArray
from oracles.selection.facility import FacilityLoss
from oracles.selection.rule import RuleLoss

MECHANISMS = ("auto", "opdisc", "exponential", "top_r", "counts")


def solve_private(
    program: Any,
    *,
    epsilon: float | Fraction,
    sensitivity: float | Fraction | None = None,
    release: str | Sequence[str] | None = None,
    neighbors: Neighbors | str = Neighbors.REPLACE,
    mechanism: str = "auto",
    delta: float = 0,
    gap: float | Fraction | None = None,
    limits: Limits | None = None,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    cross_check: Oracle | str | None = None,
    random_state: int | BitSource | None = None,
    oracle: Oracle | str | None = None,
    n_best: int = 10,
    planned_records: int = 1_000,
) -> Release[dict[str, int]]:
    """Publish a good choice of some integer variables with differential privacy.

    Args:
        program: An ``IntegerProgram``, a ``pulp.LpProblem``, a path to ``.mps`` or ``.lp`` (also
            ``.gz``), a :class:`HistogramObjective`, or a problem of :mod:`oracle_dp.problems`.
            Only its objective may depend on private data.
        epsilon: Positive.
        sensitivity: Range sensitivity of the objective under ``neighbors``: the most by which one
            record changes a difference of two objectives, over all feasible points. Needed for
            programs; the problem classes have proven ones, and histograms need none.
        release: Names of the variables to publish, or patterns such as ``"open_*"``. The others are
            recourse: their best values are part of the loss, and are not published. Needed for
            programs only.
        neighbors: The neighbour relation.
        mechanism: ``"opdisc"``, ``"exponential"``, ``"top_r"``, ``"counts"``, or ``"auto"``, which
            chooses from public facts (:mod:`oracle_dp.solve_plan`).
        delta: 0: all mechanisms are pure. A positive one is refused.
        gap: For objectives that are not integer, or continuous recourse: how far from the minimum
            ``"opdisc"`` may provably be, in units of the objective. Public. It makes the noise
            that of a sensitivity larger by twice the gap, and needs no delta.
        limits: When to give up. Default: never. A refusal depends on the data and is not covered.
        ledger: Charged before the first random bit is drawn, with ``dataset`` as the name.
        dataset: Name of the data set in the ledger.
        cross_check: A second oracle that must prove the same minimum, or its name. It is asked
            where a minimum is needed: by ``opdisc``, ``top_r``, and for recourse.
        random_state: None for the operating system's randomness; an integer reproduces a run and
            marks the release as not private.
        oracle: What minimises: an oracle, or ``"highs"``, ``"cp_sat"``, ``"scip"``. Default: a
            search in integers for p-median, facility location and coverage, else HiGHS.
        n_best: R of ``"top_r"``: public, fixed before the data are looked at.
        planned_records: ``"auto"`` with a problem class: how many made-up records the plan is tried
            on. Public: never read it from data whose size is private.

    Returns:
        The published variables by name, with their guarantee. Where the constraints leave only one
        choice, that choice, at no cost.

    Raises:
        ParameterError: A parameter is out of range. Nothing is charged.
        OracleError: The model is malformed, infeasible or unbounded. Nothing is charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.
        UncertifiedError: A minimum was not proven, or a limit was reached. The charge stays.
    """
    if mechanism not in MECHANISMS:
        raise ParameterError(f"mechanism: one of {', '.join(MECHANISMS)}, not {mechanism!r}")
    if isinstance(delta, bool) or delta != 0:
        raise ParameterError(
            "delta: must be 0; every mechanism here is pure, also with a gap in place of a proof"
        )
    if gap is not None:
        positive_rational("gap", gap)
        if mechanism not in ("auto", "opdisc"):
            raise ParameterError(f"gap: only opdisc has one, not {mechanism!r}")
        mechanism = "opdisc"
    positive_rational("epsilon", epsilon)
    within = limits_or_none(limits)
    # A seed becomes one stream, whatever is tried with it.
    source = bit_source(random_state)
    common = {
        "epsilon": epsilon, "limits": limits, "ledger": ledger, "dataset": dataset,
        "random_state": source, "neighbors": Neighbors.parse(neighbors),
    }  # fmt: skip
    if gap is not None:
        common["gap"] = gap
    solver = backend("highs" if oracle is None else oracle)
    if cross_check is not None:
        solver = CrossCheck(solver, backend(cross_check))
    task = replace(
        make_task(program, sensitivity, release, solver, common, n_best),
        is_native=oracle is None and cross_check is None,
    )
    chosen = mechanism if mechanism != "auto" else _choose(task, planned_records, epsilon)
    if chosen == "counts" and task.histogram is None:
        raise ParameterError(
            "mechanism: 'counts' needs a HistogramObjective, or a problem class with a histogram"
        )
    if chosen != "counts" and "sensitivity" not in task.common:
        raise ParameterError(f"sensitivity: {chosen!r} needs that of a HistogramObjective")
    single = _only_choice(task, within)
    if single is not None:
        return Release(_named(task, single), _public(task.neighbors))
    found = _RUNS[chosen](task)
    return Release(_named(task, found.value), found.guarantee)


def _choose(task: Task, planned_records: int, epsilon: float | Fraction) -> str:
    """From public facts only."""
    if task.problem is not None:
        return best_mechanism(
            task.problem, epsilon=epsilon, neighbors=task.neighbors, n_records=planned_records
        )
    if task.histogram is not None:
        return "counts"
    assert task.model is not None, "a task without a problem or a histogram has a model"
    return choose_for_program(task.model)


def _only_choice(task: Task, within: Limits) -> IntArray | None:
    """The released variables, if the public constraints leave one choice only.

    Raises:
        InfeasibleError: They leave none.
        UnboundedError: The objective has no minimum.
    """
    if task.problem is not None:
        loss = task.problem.loss()
        if isinstance(loss, FacilityLoss | RuleLoss) and loss.base.n_points == 1:
            return loss.base.point_at(0)  # All members of these losses' base sets are choices.
        return None
    variables = task.variables()
    # Scale 0: how large the objective is, is private, and for the mechanism to see to.
    variables.check(scale=0, limits=within)
    nothing = [np.zeros(size, dtype=np.int64) for size in variables.sizes]
    first = variables.minimize(nothing, scale=0, limits=within).require_point()
    for reward, at in zip(nothing, variables.positions(first), strict=True):
        reward += 1
        reward[at] = 0
    other = variables.minimize(nothing, scale=0, limits=within)
    proven = other.certificate in (Certificate.EXACT, Certificate.SOLVER)
    return first if proven and other.objective == 0 else None


def _public(neighbors: Neighbors) -> Guarantee:
    return Guarantee(
        mechanism="public",
        theorem="the public constraints leave one choice, so that it says nothing of the data",
        neighbors=neighbors, epsilon=0.0, delta=0.0, rho=0.0, sensitivity=0.0,
        sensitivity_source="proved: one choice", certificate=Certificate.NONE, contingencies=(),
    )  # fmt: skip


def _named(task: Task, value: IntArray) -> dict[str, int]:
    return {name: int(x) for name, x in zip(task.names, value, strict=True)}


def _opdisc(task: Task) -> Release[IntArray]:
    return opdisc(task.variables(), **task.common)


def _top_r(task: Task) -> Release[IntArray]:
    return top_r(task.counted(), n_best=task.n_best, **task.common)


def _exponential(task: Task) -> Release[IntArray]:
    own = ("epsilon", "sensitivity", "sensitivity_source", "neighbors")
    sampled = SelectionExponential(
        task.loss(), **{key: task.common[key] for key in own if key in task.common}
    )
    return sampled.release(**{key: value for key, value in task.common.items() if key not in own})


def _counts(task: Task) -> Release[IntArray]:
    assert task.histogram is not None, "checked before"
    common = {key: value for key, value in task.common.items() if key != "sensitivity"}
    return counts_histogram(task.histogram, **common)


_RUNS = {"opdisc": _opdisc, "top_r": _top_r, "exponential": _exponential, "counts": _counts}
