"""A histogram with a sensitivity: names keep their order, and refusals tell nothing of counts."""

from __future__ import annotations

import numpy as np
import pytest

from oracle_dp import ParameterError, solve_private
from oracle_dp.mechanisms.histogram import HistogramObjective
from oracles import Highs, IntegerProgram, ProblemError

ONE_OF_TWO = IntegerProgram(
    [0, 0], [[1, 1]], [1], [1], upper=[1, 1], integer=[True, True], names=["dear", "cheap"]
)
MECHANISMS = ("counts", "opdisc", "exponential")


def histogram(
    costs: object, counts: list[int], released: tuple[int, ...] = (0, 1)
) -> HistogramObjective:
    return HistogramObjective(
        ONE_OF_TWO, np.array(costs), counts, released=released, oracle=Highs()
    )


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("released", [(0, 1), (1, 0)])
def test_values_go_with_their_names(mechanism: str, released: tuple[int, ...]) -> None:
    found = solve_private(
        histogram([[9, 0]], [1_000], released),
        epsilon=50, sensitivity=18, mechanism=mechanism, random_state=0,
    )  # fmt: skip
    assert found.value == {"dear": 0, "cheap": 1}


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("count", [2, 3])
def test_half_costs_are_refused_whatever_the_counts(mechanism: str, count: int) -> None:
    with pytest.raises(ProblemError, match="costs: integers expected"):
        solve_private(
            histogram([[0.5, 0], [0, 1]], [count, 4]),
            epsilon=1, sensitivity=2, mechanism=mechanism, random_state=0,
        )  # fmt: skip


@pytest.mark.parametrize("count", [0, 1])
def test_counts_that_differ_by_far_are_not_refused(count: int) -> None:
    found = solve_private(
        histogram([[1, 0], [0, 1]], [count, 2 * 10**9]),
        epsilon=1, sensitivity=2, mechanism="counts", random_state=0,
    )  # fmt: skip
    assert found.value == {"dear": 1, "cheap": 0}


@pytest.mark.parametrize("cells", [0, 1.9, True, float("nan"), "2"])
def test_cells_per_record_is_a_positive_integer(cells: object) -> None:
    """1.9 must not be read as 1: the noise would be too small."""
    with pytest.raises(ParameterError, match="cells_per_record"):
        HistogramObjective(
            ONE_OF_TWO, np.eye(2), [1, 1], released=(0, 1), oracle=Highs(),
            cells_per_record=cells,  # what the test is about
        )  # fmt: skip


@pytest.mark.parametrize("released", [(0, 1), (-1,), (2,), (0, 0)])
def test_released_are_integer_variables(released: tuple[int, ...]) -> None:
    mixed = IntegerProgram([0, 0], [[1, 1]], [1], [1.7], upper=[1, 1], integer=[True, False])
    with pytest.raises(ParameterError, match="released"):
        HistogramObjective(mixed, np.eye(2), [1, 1], released=released, oracle=Highs())
