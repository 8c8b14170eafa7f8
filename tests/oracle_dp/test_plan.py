"""The plan is made on public data, with seeds."""

from __future__ import annotations

import numpy as np
import pytest

from oracle_dp import ParameterError
from oracle_dp.plan import estimate, resample
from oracles.zero_one import CellTable, minimize


def cells(n: int = 300) -> CellTable:
    generator = np.random.default_rng(0)
    codes = np.column_stack([generator.integers(0, m, n) for m in (4, 3)])
    return CellTable.from_codes(codes, codes[:, 0] + generator.normal(size=n) > 1.5, (4, 3))


@pytest.mark.parametrize("mechanism", ["exponential", "opdisc", "counts", "blockwise"])
def test_error_falls_with_epsilon_to_the_optimum(mechanism: str) -> None:
    table = cells()
    lines = list(estimate(table, [0.01, 1000.0], mechanism=mechanism, runs=3))
    assert [line.epsilon for line in lines] == [0.01, 1000.0]
    optimum = minimize(table).objective
    assert optimum is not None
    if mechanism != "blockwise":
        assert lines[1].error == optimum / table.n_rows
    assert lines[0].error > lines[1].error
    assert all(0 < line.seconds <= line.slowest for line in lines)


def test_plan_is_reproducible() -> None:
    first, second = ([x.error for x in estimate(cells(), [0.5], runs=2)] for _ in range(2))
    assert first == second


def test_resample_keeps_shares_and_has_the_rows_asked_for() -> None:
    table = cells()
    more = resample(table, 100_000, seed=1)
    assert more.n_rows == 100_000
    assert more.positive.sum() / 100_000 == pytest.approx(table.positive.sum() / 300, abs=0.02)
    with pytest.raises(ParameterError, match="rows"):
        resample(table, 0, seed=1)


def test_bad_plans() -> None:
    with pytest.raises(ParameterError, match="runs"):
        next(estimate(cells(), [1.0], runs=0))
    with pytest.raises(ParameterError, match="mechanism"):
        next(estimate(cells(), [1.0], mechanism="guess"))
    with pytest.raises(ParameterError, match="epsilon"):
        next(estimate(cells(), [-1.0]))
