"""The proven rounding of a gradient, against exact arithmetic."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.arrays import FloatArray
from oracles.convex import MeanLoss, Rows, StreamedRows, plain_additions
from oracles.convex._blocks import GROUP, GROUPS, DenseBlock, sparse_group
from oracles.convex._compensated import CompensatedSum, add_exactly

UNIT = 2.0**-53
FLOATS = st.floats(-1e100, 1e100)


@given(FLOATS, FLOATS)
def test_two_floats_are_their_sum(a, b) -> None:
    total, lost = add_exactly(a, b)
    assert total == a + b
    assert Fraction(total) + Fraction(lost) == Fraction(a) + Fraction(b)


@settings(max_examples=300)
@given(st.lists(st.tuples(FLOATS, st.integers(0, 3)), min_size=1, max_size=60))
def test_a_compensated_sum_is_within_its_bound(drawn) -> None:
    """In three sums that are merged, with every term's negation and more before the end."""
    terms = [term for term, _ in drawn] + [-term * (1 - UNIT * k) for term, k in drawn]
    parts = [CompensatedSum(0.0, 0.0) for _ in range(3)]
    for place, term in enumerate(terms):
        parts[place % 3].add(term)
    whole = CompensatedSum(0.0, 0.0)
    for part in parts:
        whole.merge(part)
    exact, size = sum(map(Fraction, terms)), sum(abs(Fraction(term)) for term in terms)
    error = abs(Fraction(whole.high) + Fraction(whole.low) - exact)
    assert error <= Fraction(2.1 * (len(terms) + 6) * UNIT**2) * size
    assert whole.high == whole.high + whole.low


@dataclass(frozen=True)
class Cut:
    """Parts of rows, of uneven length."""

    rows: tuple[Rows, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def map(self, function, each):
        for rows, given_ in zip(self.rows, each, strict=True):
            yield function(iter((rows,)), given_)


def read(piece: Rows) -> Rows:
    return piece


def streamed(rows: Rows) -> StreamedRows[Rows]:
    n = rows.n_rows
    cuts = [0, 1, 2, n // 3, n // 3 + 700, n - 1, n]
    parts = tuple(rows.taken(slice(i, j)) for i, j in itertools.pairwise(cuts))
    return StreamedRows(Cut(parts), read, rows.dimension)


def exact_sum(matrix: FloatArray) -> list[Fraction]:
    """Of the columns. math.fsum would be a float: what it loses counts here."""
    found = []
    for column in matrix.T:
        values, counts = np.unique(column, return_counts=True)
        terms = zip(values.tolist(), counts.tolist(), strict=True)
        found.append(sum((Fraction(value) * count for value, count in terms), Fraction(0)))
    return found


def hard(kind: str, n: int = 200_000) -> FloatArray:
    """Slopes are -1/2 exactly at w = 0, so half the entries are summed, and only the sum rounds."""
    draws = np.random.default_rng(7)
    if kind == "tiny after large":
        first = np.concatenate([[1.0], np.full(n - 1, UNIT * 0.99)])
        return np.stack([first, first[::-1]], axis=1)
    if kind == "cancellation":
        half = draws.choice(np.array([1.0, 0.3, 1 / 7, 1e-9]), n // 2)
        return np.stack([np.concatenate([half, -half]), np.concatenate([half, half])], axis=1)
    return np.stack([np.full(n, 0.1), np.full(n, 1 / 3)], axis=1)


KINDS = ["tiny after large", "cancellation", "drift"]


def error_and_bound(rows: Rows | StreamedRows[Rows], matrix: FloatArray) -> tuple[float, float]:
    """The error of a gradient by exact arithmetic, and what is proven of it."""
    problem, zero = MeanLoss(rows=rows, divisor=1.0), np.zeros(2)
    found = map(Fraction, problem.gradient(zero).tolist())
    pairs = zip(found, exact_sum(matrix), strict=True)
    return math.hypot(*(float(value + total / 2) for value, total in pairs)), problem.rounding(zero)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("cut", [False, True])
def test_the_sum_is_within_its_bound_of_exact_arithmetic(kind, sparse, cut) -> None:
    matrix = hard(kind)
    rows = Rows(sp.csr_array(matrix) if sparse else matrix)
    error, bound = error_and_bound(streamed(rows) if cut else rows, matrix)
    assert error <= bound < 1200 * UNIT * len(matrix) * rows.largest_norm


def test_a_bound_without_the_plain_additions_is_caught(monkeypatch) -> None:
    matrix = hard("drift")
    monkeypatch.setattr("oracles.convex.objective.plain_additions", lambda dimension: 0)
    error, bound = error_and_bound(Rows(sp.csr_array(matrix)), matrix)
    assert error > bound


def test_more_rows_in_a_group_than_the_bound_says_are_caught(monkeypatch) -> None:
    matrix = hard("drift")
    _, bound = error_and_bound(Rows(sp.csr_array(matrix)), matrix)
    for module in ("_blocks", "rows"):
        monkeypatch.setattr(f"oracles.convex.{module}.sparse_group", lambda dimension: len(matrix))
    error, _ = error_and_bound(Rows(sp.csr_array(matrix)), matrix)
    assert error > bound


def test_blocks_without_compensation_are_caught(monkeypatch) -> None:
    def plainly(held: CompensatedSum[FloatArray], term: FloatArray) -> None:
        held.high = held.high + term

    matrix = hard("drift", 3_000_000)
    monkeypatch.setattr("oracles.convex._compensated.CompensatedSum.add", plainly)
    monkeypatch.setattr("oracles.convex.rows.BLOCK_BYTES", 1)
    error, bound = error_and_bound(Rows(matrix), matrix)
    assert error > bound


@pytest.mark.parametrize("dimension", [1, 3, 105, 5000, 30_000])
@pytest.mark.parametrize("sparse", [False, True])
def test_no_block_has_more_rows_than_the_bound_covers(dimension, sparse) -> None:
    n = 70_000
    empty = sp.csr_array((n, dimension))
    rows = Rows(empty if sparse or dimension > 105 else np.zeros((n, dimension)))
    for block in rows.blocks():
        if isinstance(block, DenseBlock):
            groups = math.ceil(len(block.weights) / GROUP)
            assert min(len(block.weights), GROUP) + groups <= plain_additions(dimension)
    assert sparse_group(dimension) <= plain_additions(dimension)


def test_a_larger_dense_block_is_refused() -> None:
    n = GROUP * GROUPS
    DenseBlock(np.zeros((n, 1)), np.ones(n))
    with pytest.raises(ValueError, match="rounding"):
        DenseBlock(np.zeros((n + 1, 1)), np.ones(n + 1))


def test_wide_sparse_rows_are_those_of_a_dense_table() -> None:
    draws = np.random.default_rng(1)
    table = np.where(draws.random((3000, 20)) < 0.1, draws.normal(size=(3000, 20)), 0.0)
    wide = sp.hstack([sp.csr_array(table), sp.csr_array((3000, 20_000))], format="csr")
    w = draws.normal(size=20)
    narrow = MeanLoss(rows=Rows(table)).gradient(w)
    found = MeanLoss(rows=Rows(wide)).gradient(np.concatenate([w, np.zeros(20_000)]))
    assert np.allclose(found[:20], narrow, rtol=1e-13, atol=1e-16)
    assert (found[20:] == 0).all()


def test_the_bound_hardly_grows_with_the_rows() -> None:
    """What it says of 10^7 rows is what it says of 10^4."""

    @dataclass(frozen=True)
    class Counted:
        n_rows: int
        dimension: int = 105
        largest_norm: float = 1.0
        sum_of_squares: float = 1.0

        @property
        def total_weight(self) -> float:
            return float(self.n_rows)

        def map(self, function: object) -> Iterable[object]:
            raise AssertionError

        def sampled(self, records: object) -> object:
            raise AssertionError

    few, many = (MeanLoss(rows=Counted(n)).rounding(np.ones(105)) for n in (10**4, 10**7))
    assert few <= many <= few * (1 + 1e-6)
    assert many < 2000 * UNIT
