"""What a mechanism is given: a model, problem or histogram, read and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from oracle_dp.errors import ParameterError
from oracle_dp.mechanisms.histogram import Histogram, HistogramObjective
from oracle_dp.models import Model, prepare, read_program
from oracle_dp.noise import positive_rational
from oracle_dp.privacy import Contingency, ContingencyKind, Neighbors
from oracle_dp.problems.base import PrivateProblem
from oracle_dp.sensitivity import ASSERTED
from oracles import IntegerProgram, Oracle, ProblemError
from oracles.released import ReleasedVariables
from oracles.selection.counted import CountedVariables
from oracles.selection.envelope import SelectionLoss
from oracles.selection.facility import FacilityLoss
from oracles.selection.linear import ProgramLoss
from oracles.selection.problem import FacilityProblem

PUBLIC_PARTS = Contingency(
    ContingencyKind.CALLER,
    "the caller vouches that the problem's costs, sizes, scales and constraints do not depend on "
    "private data: only the records may",
)


@dataclass(frozen=True, eq=False)
class Task:
    """What a mechanism is given: a model or problem, and everything that was asked for."""

    names: tuple[str, ...]
    oracle: Oracle
    neighbors: Neighbors
    common: dict[str, Any]
    model: Model | None = None
    problem: PrivateProblem | None = None
    histogram: Histogram | None = None
    n_best: int = 10
    is_native: bool = True

    def loss(self) -> SelectionLoss:
        """For exact sampling."""
        if self.problem is not None:
            found = self.problem.loss()
            if found is None:
                raise ParameterError(
                    f"mechanism: {type(self.problem).__name__} has no envelope to sample from"
                )
            return found
        model = self._model()
        return ProgramLoss(model.program, model.released, self.oracle)

    def variables(self) -> ReleasedVariables | FacilityProblem:
        """For minimisation with rewards."""
        if (native := self._native()) is not None:
            return native
        model = self._model()
        return ReleasedVariables(model.program, model.released, self.oracle)

    def counted(self) -> CountedVariables | FacilityProblem:
        """For ranking."""
        if (native := self._native()) is not None:
            return native
        model = self._model()
        return CountedVariables(model.program, model.released, self.oracle)

    def _native(self) -> FacilityProblem | None:
        """A search that proves minima in integers, where there is one and no solver was named."""
        loss = self.problem.loss() if self.problem is not None and self.is_native else None
        return FacilityProblem(loss) if isinstance(loss, FacilityLoss) else None

    def _model(self) -> Model:
        if self.model is not None:
            return self.model
        assert self.problem is not None, "a task has a model, a problem or a histogram's model"
        return Model(self.problem.program(), tuple(range(self.problem.n_choices)))


def _of_histogram(
    histogram: HistogramObjective, names: tuple[str, ...], *, with_gap: bool
) -> Model:
    """Its program, checked by public facts only, with the private objective.

    Raises:
        ProblemError: The public program, or a cost, is not as :func:`prepare` needs it.
    """
    public = prepare(histogram.program, list(names), with_gap=with_gap)
    if not with_gap and not np.array_equal(histogram.costs.data, np.rint(histogram.costs.data)):
        # The objective may be integer all the same: whether it is would tell about the counts.
        raise ProblemError(
            "costs: integers expected, since the noise lies on a lattice; multiply them, and the "
            "sensitivity, by a public factor"
        )
    whole = histogram.with_counts(histogram.counts)
    private = public.program.with_objective(whole.objective, whole.constant)
    return Model(private, histogram.released)


def _with_rows(histogram: HistogramObjective, prepared: IntegerProgram) -> HistogramObjective:
    """With rows that were brought to integers, so that what is published is feasible exactly."""
    own = histogram.program
    return replace(histogram, program=prepared.with_objective(own.objective, own.constant))


def make_task(
    given: Any,
    sensitivity: float | Fraction | None,
    release: str | Sequence[str] | None,
    oracle: Oracle,
    common: dict[str, Any],
    n_best: int,
) -> Task:
    """Look at what was handed in, before anything is drawn or charged.

    Raises:
        ParameterError: Something is missing, superfluous or out of range.
        OracleError: The model is malformed.
    """
    relation: Neighbors = common["neighbors"]
    if isinstance(given, PrivateProblem):
        if sensitivity is not None or release is not None:
            raise ParameterError(
                "sensitivity and release: a problem class has its own; leave them out"
            )
        proven = {
            "sensitivity": given.sensitivity(relation),
            "sensitivity_source": given.sensitivity_source,
            "contingencies": (PUBLIC_PARTS,),
        }
        return Task(
            given.choice_names, oracle, relation, {**common, **proven}, problem=given,
            histogram=given.histogram(), n_best=n_best,
        )  # fmt: skip
    histogram = given if isinstance(given, HistogramObjective) else None
    if histogram is not None:
        whole = histogram.with_counts(histogram.counts)
        names = tuple(whole.names[j] for j in histogram.released)
        if release is not None:
            raise ParameterError("release: a HistogramObjective has its own; leave it out")
        if sensitivity is None:
            # Checked without the counts, which are private and need not make it integer.
            public = prepare(whole.with_objective(np.zeros(whole.n_variables)), list(names))
            return Task(
                names, oracle, relation, common, model=public,
                histogram=_with_rows(histogram, public.program), n_best=n_best,
            )  # fmt: skip
        model = _of_histogram(histogram, names, with_gap="gap" in common)
        histogram = _with_rows(histogram, model.program)
    else:
        if release is None:
            raise ParameterError("release: name the variables to publish, such as 'open_*'")
        if sensitivity is None:
            raise ParameterError(
                "sensitivity: needed: the most by which one record changes a difference of two "
                "objectives"
            )
        model = prepare(read_program(given), release, with_gap="gap" in common)
    positive_rational("sensitivity", sensitivity)
    stated = {"sensitivity": sensitivity, "sensitivity_source": ASSERTED}
    return Task(
        model.names, oracle, relation, {**common, **stated}, model=model, histogram=histogram,
        n_best=n_best,
    )  # fmt: skip
