"""Noise on public histograms."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pytest

from oracle_dp import Ledger, Neighbors, ParameterError
from oracle_dp.mechanisms.histogram import HistogramObjective, counts_histogram
from oracle_dp.privacy import ContingencyKind
from oracle_dp.solve import solve_private
from oracles import Certificate, Exhaustive, Highs, IntegerProgram, Limits

PROGRAM = IntegerProgram([1, 0, 0], [[1, 1, 1]], [1], [1], upper=[1, 1, 1])
COSTS = np.array([[0, 2, 5], [4, 0, 1]])


def objective(counts: list[int], cells: int = 1) -> HistogramObjective:
    return HistogramObjective(
        PROGRAM, COSTS, counts, released=(0, 1, 2), oracle=Highs(), cells_per_record=cells
    )


@dataclass
class Recorder:
    """Keeps the noisy counts that it was given."""

    counts: np.ndarray
    sensitivity: int
    seen: list[np.ndarray] = field(default_factory=list)

    def l1_sensitivity(self, neighbors: Neighbors) -> int:
        return self.sensitivity

    def answer(self, counts: np.ndarray, limits: Limits) -> np.ndarray:
        self.seen.append(counts)
        return np.zeros(1, np.int64)


def test_the_objective_is_the_public_part_and_the_counts() -> None:
    whole = objective([3, 7]).with_counts(np.array([3, 7]))
    assert whole.objective.tolist() == [1 + 28, 6, 15 + 7]
    assert objective([3, 7]).answer(np.array([3, 7])).tolist() == [0, 1, 0]
    # Negative counts are taken for 0.
    assert objective([3, 7]).answer(np.array([9, -50])).tolist() == [1, 0, 0]


def test_every_cell_gets_two_sided_noise_of_the_stated_size() -> None:
    recorder = Recorder(np.zeros(4_000, np.int64), 2)
    counts_histogram(recorder, epsilon=1, random_state=1)
    (noise,) = recorder.seen
    q = math.exp(-1 / 2)
    assert np.abs(noise).mean() == pytest.approx(2 * q / (1 - q * q), rel=0.06)
    assert abs(noise.mean()) < 0.2
    assert np.mean(noise == 0) == pytest.approx((1 - q) / (1 + q), abs=0.02)


def test_the_guarantee_needs_no_certificate() -> None:
    ledger = Ledger({"people": 1.0})
    release = counts_histogram(
        objective([3, 7], 2), epsilon=1, ledger=ledger, dataset="people",
        limits=Limits(seconds=5),
    )  # fmt: skip
    guarantee = release.guarantee
    assert guarantee.sensitivity == 4.0
    assert guarantee.rho == 0.5
    assert guarantee.certificate is Certificate.NONE
    kinds = {c.kind for c in guarantee.contingencies}
    assert kinds == {ContingencyKind.RUNNING_TIME, ContingencyKind.CALLER}
    assert ledger.spent("people")[0] == 1


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"counts": [1.5, 2]}, "counts"),
        ({"counts": [1]}, "one row per count"),
        ({"costs": np.ones((2, 4))}, "one column per variable"),
        ({"costs": np.array([[0, math.nan, 0], [0, 0, 0]])}, "NaN"),
        ({"cells_per_record": 0}, "cells_per_record"),
        ({"released": ()}, "released"),
        ({"released": (0, 0)}, "each once"),
        ({"released": (0, 3)}, "no variable of index 3"),
        ({"released": (-1,)}, "no variable of index -1"),
        (
            {
                "program": IntegerProgram(
                    np.ones(3), integer=[True, False, True], upper=np.ones(3)
                ),
                "released": (0, 1),
            },
            "'x1' is continuous",
        ),
    ],
)
def test_what_is_refused(given: dict[str, object], match: str) -> None:
    parts = {
        "program": PROGRAM, "costs": COSTS, "counts": [1, 2], "released": (0,),
        "cells_per_record": 1, **given,
    }  # fmt: skip
    with pytest.raises(ParameterError, match=match):
        HistogramObjective(
            parts["program"], parts["costs"], parts["counts"], released=parts["released"],
            oracle=Highs(),
            cells_per_record=parts["cells_per_record"],
        )  # wrong on purpose  # fmt: skip


def test_noise_that_would_not_fit_is_refused_uncharged() -> None:
    ledger = Ledger({"people": 1.0})
    with pytest.raises(ParameterError, match="too small"):
        counts_histogram(objective([1, 2]), epsilon=1e-13, ledger=ledger, dataset="people")
    assert ledger.spent("people")[0] == 0


def test_rows_of_decimals_hold_exactly_for_counts() -> None:
    """As a float's, the row is violated by less than tolerances; as integers', by one."""
    program = IntegerProgram([0, 0], [[1.0000005, 1]], row_upper=[1], upper=[1, 1])
    histogram = HistogramObjective(
        program, [[-5, 1]], np.array([100]), released=(0, 1), oracle=Exhaustive()
    )
    assert histogram.answer(np.array([100])).tolist() == [1, 0]
    for sensitivity in (None, 6):
        found = solve_private(
            histogram, mechanism="counts", epsilon=1, sensitivity=sensitivity, random_state=0
        )
        assert found.value == {"x0": 0, "x1": 0}
