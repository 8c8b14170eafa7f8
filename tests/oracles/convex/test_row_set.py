"""Streamed rows: the same sums as in memory, one pass for each."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info, threadpool_limits

from oracles._threads import one_thread
from oracles.convex import Logistic, MeanLoss, Newton, Rows, RowSet, StreamedRows
from oracles.errors import ProblemError

Piece = tuple[Any, np.ndarray]


@dataclass
class Lists:
    """Parts in memory, each a list of pieces."""

    parts: list[list[Piece]]
    passes: int = field(default=0)

    def __len__(self) -> int:
        return len(self.parts)

    def map(
        self, function: Callable[[Iterable[Piece], Any], Any], each: Sequence[Any]
    ) -> Iterator[Any]:
        self.passes += 1
        for part, given in zip(self.parts, each, strict=True):
            yield function(iter(part), given)


def read(piece: Piece) -> Rows:
    return Rows(*piece)


def sample(n: int = 500, d: int = 4, *, sparse: bool = False) -> tuple[Rows, Lists]:
    draws = np.random.default_rng(0)
    x = np.where(draws.random((n, d)) < 0.6, draws.normal(size=(n, d)) / 3, 0.0)
    y = draws.choice([-1.0, 1.0], n)
    table = sp.csr_array(x) if sparse else x
    # Uneven parts, one of them empty and one without pieces.
    cuts = [0, 7, 7, 130, n - 1, n]
    parts = []
    for low, high in itertools.pairwise(cuts):
        middle = (low + high) // 2
        parts.append([(table[i:j], y[i:j]) for i, j in ((low, middle), (middle, high))])
    return Rows(table, y), Lists([*parts, []])


@pytest.mark.parametrize("sparse", [False, True])
def test_sums_are_those_in_memory(sparse) -> None:
    whole, lists = sample(sparse=sparse)
    streamed = StreamedRows(lists, read, 4)
    assert isinstance(streamed, RowSet)
    assert isinstance(whole, RowSet)
    assert streamed.n_rows == whole.n_rows == streamed.total_weight
    assert streamed.largest_norm == whole.largest_norm
    assert streamed.sum_of_squares == pytest.approx(whole.sum_of_squares, rel=1e-13)
    w = np.array([0.3, -2.0, 1.0, 0.7])
    one, other = (MeanLoss(rows=rows, ridge=0.1, linear=w / 9) for rows in (whole, streamed))
    for kind in ("hessian", "upper"):
        first, second = one.expansion(w, curvature=kind), other.expansion(w, curvature=kind)
        assert first.value == pytest.approx(second.value, rel=1e-13)
        assert np.allclose(first.gradient, second.gradient, rtol=1e-12, atol=1e-14)
        assert np.allclose(first.matrix, second.matrix, rtol=1e-12, atol=1e-14)
    assert other.rounding(w) == pytest.approx(one.rounding(w))
    assert other.mean_square == pytest.approx(one.mean_square)


def test_the_same_records_are_sampled() -> None:
    whole, lists = sample()
    streamed = StreamedRows(lists, read, 4)
    records = np.array([0, 6, 7, 8, 129, 130, 499])
    one, other = whole.sampled(records), streamed.sampled(records)
    assert one.n_rows == other.n_rows == 7 == other.total_weight
    w = np.ones(4)
    first, second = (MeanLoss(rows=rows, divisor=3.0).gradient(w) for rows in (one, other))
    assert np.allclose(first, second, rtol=1e-13)
    again = other.sampled(np.array([1, 6]))
    expected = MeanLoss(rows=whole.sampled(np.array([6, 499]))).gradient(w)
    assert np.allclose(MeanLoss(rows=again).gradient(w), expected, rtol=1e-13)
    nothing = MeanLoss(rows=streamed.sampled(np.array([], dtype=np.int64)))
    assert (nothing.gradient(w) == 0).all()


def test_a_newton_step_is_one_pass() -> None:
    _, lists = sample()
    problem = MeanLoss(rows=StreamedRows(lists, read, 4), ridge=0.01)
    assert lists.passes == 1
    lists.passes = 0
    found = Newton().minimize(problem)
    assert found.iterations >= 2
    # One at the start, one per step, one for the proof.
    assert lists.passes == found.iterations + 2


def test_rows_that_change_between_passes_are_noticed() -> None:
    _, lists = sample()
    rows = StreamedRows(lists, read, 4)
    lists.parts[3].pop()
    with pytest.raises(ProblemError, match="changed"):
        MeanLoss(rows=rows, loss=Logistic()).gradient(np.zeros(4))


def test_every_row_is_checked_when_streaming_begins() -> None:
    _, lists = sample()
    with pytest.raises(ProblemError, match="5 columns"):
        StreamedRows(lists, read, 5)
    lists.parts[3][1][0][-1, 0] = np.nan
    with pytest.raises(ProblemError, match="NaN"):
        StreamedRows(lists, read, 4)


def test_threads_share_one_limit() -> None:
    """The first to leave does not lift the limit of the others."""
    seen: list[int] = []

    def threads() -> int:
        return max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")

    with threadpool_limits(2):
        before = threads()
        outer = one_thread()
        with ThreadPoolExecutor(1) as pool:
            outer.__enter__()

            def inner() -> None:
                with one_thread():
                    seen.append(threads())

            pool.submit(inner).result()
            seen.append(threads())
            outer.__exit__(None, None, None)
        assert seen == [1, 1]
        assert threads() == before
