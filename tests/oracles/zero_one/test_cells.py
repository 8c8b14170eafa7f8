"""Cells: merging keeps every count, and bad rows are refused."""

from __future__ import annotations

import numpy as np
import pytest

from oracles import ProblemError
from oracles.zero_one import CellTable


def test_merging_keeps_the_errors_of_every_classifier() -> None:
    generator = np.random.default_rng(0)
    for levels in [(2, 3), (5,), (4, 1, 3)]:
        codes = np.column_stack([generator.integers(0, m, 200) for m in levels])
        positive = generator.random(200) < 0.4
        cells = CellTable.from_codes(codes, positive, levels)
        assert cells.n_rows == 200
        assert cells.n_cells == len(np.unique(codes, axis=0))
        for _ in range(20):
            weights = [generator.integers(-2, 3, m) for m in levels]
            margins = sum(w[codes[:, j]] for j, w in enumerate(weights))
            assert cells.errors(weights) == int(((margins >= 1) != positive).sum())


def test_feature_matrix_keeps_the_errors_of_every_classifier() -> None:
    generator = np.random.default_rng(1)
    features = generator.integers(-3, 4, (150, 3))
    positive = generator.random(150) < 0.5
    cells = CellTable.from_matrix(features, positive)
    assert cells.levels == (1, 1, 1)
    for _ in range(30):
        w = generator.integers(-2, 3, 3)
        wrong = int(((features @ w >= 1) != positive).sum())
        assert cells.errors([w[:1], w[1:2], w[2:]]) == wrong


def test_many_attributes_are_merged_without_a_key() -> None:
    # 2^70 possible rows: too many for one 64-bit key per row.
    codes = np.random.default_rng(2).integers(0, 2, (30, 70))
    doubled = np.vstack([codes, codes])
    cells = CellTable.from_codes(doubled, np.arange(60) < 30, (2,) * 70)
    assert (cells.positive == cells.negative).all()
    assert cells.n_rows == 60


def test_a_hundred_attributes_of_one_level() -> None:
    cells = CellTable.from_codes(
        np.zeros((3, 100), dtype=int), np.array([True, True, False]), (1,) * 100
    )
    assert (cells.n_cells, cells.positive.tolist(), cells.negative.tolist()) == (1, [2], [1])


def test_project_merges_what_only_ignored_attributes_tell_apart() -> None:
    generator = np.random.default_rng(3)
    codes = np.column_stack([generator.integers(0, m, 90) for m in (3, 2, 4)])
    positive = generator.random(90) < 0.5
    cells = CellTable.from_codes(codes, positive, (3, 2, 4)).project([2, 0])
    direct = CellTable.from_codes(codes[:, [2, 0]], positive, (4, 3))
    assert (cells.codes == direct.codes).all()
    assert (cells.positive == direct.positive).all()
    assert (cells.negative == direct.negative).all()
    with pytest.raises(ProblemError, match="attributes"):
        cells.project([0, 0])
    with pytest.raises(ProblemError, match="attributes"):
        cells.project([2])


def test_no_rows() -> None:
    cells = CellTable.from_codes(np.empty((0, 2)), np.empty(0, dtype=bool), (2, 3))
    assert cells.n_cells == 0
    assert cells.errors([np.zeros(2), np.ones(3)]) == 0


def test_margin_bounds_are_attained() -> None:
    cells = CellTable.from_matrix([[2, -3]], [True])
    low, high = cells.margin_bounds((-2, 0, 1))
    margins = [2 * a - 3 * b for a in (-2, 0, 1) for b in (-2, 0, 1)]
    assert (low[0], high[0]) == (min(margins), max(margins))


def test_scaling_is_checked() -> None:
    cells = CellTable.from_codes([[0]], [True], (1,))
    assert cells.scaled(16).positive.tolist() == [16]
    with pytest.raises(ProblemError, match="counts"):
        cells.scaled(2**63)


@pytest.mark.parametrize(
    ("codes", "positive", "levels", "message"),
    [
        ([[0, 3]], [True], (2, 3), "number 1 has a code outside 0..2"),
        ([[-1, 0]], [True], (2, 3), "number 0 has a code outside"),
        ([[0.5, 0]], [True], (2, 3), "integers expected"),
        ([[np.nan, 0]], [True], (2, 3), "integers expected"),
        ([["a", "b"]], [True], (2, 3), "integers expected"),
        ([[0, 0]], [True, False], (2, 3), "boolean array of shape"),
        ([[0, 0]], [1], (2, 3), "boolean array of shape"),
        ([[0, 0]], [True], (2,), "shape"),
        ([[0]], [True], (0,), "at least one level"),
    ],
)
def test_bad_codes(codes: object, positive: object, levels: tuple[int, ...], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        CellTable.from_codes(codes, positive, levels)


def test_bad_counts() -> None:
    codes = np.zeros((1, 1), dtype=np.int64)
    one = np.ones(1, dtype=np.int64)
    with pytest.raises(ProblemError, match="negative"):
        CellTable(codes, codes, -one, one, (1,))
    with pytest.raises(ProblemError, match="rows in all"):
        CellTable(codes, codes, one * 2**62, one, (1,))


def test_bad_matrices() -> None:
    with pytest.raises(ProblemError, match="below 2\\^31"):
        CellTable.from_matrix([[2**31]], [True])
    with pytest.raises(ProblemError, match="integers expected"):
        CellTable.from_matrix([[np.inf]], [True])
    cells = CellTable.from_matrix([[2**30]], [True])
    with pytest.raises(ProblemError, match="2\\^53"):
        cells.margin_bounds((-(2**30), 0))
