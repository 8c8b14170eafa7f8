"""Rows: dense and sparse alike, merged, clipped, in blocks."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from oracles.convex import Logistic, MeanLoss, Rows, Squared
from oracles.errors import ProblemError


def sample(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(seed)
    features = np.where(draws.random((n, d)) < 0.4, draws.normal(size=(n, d)), 0.0)
    return features, draws.choice([-1.0, 1.0], n)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.coo_matrix])
@pytest.mark.parametrize("curvature", ["hessian", "upper"])
def test_derivatives_are_the_formulas(convert, curvature) -> None:
    features, labels = sample(5000, 7)
    draws = np.random.default_rng(1)
    weights, w, tilt = draws.integers(0, 4, 5000), draws.normal(size=7), draws.normal(size=7)
    problem = MeanLoss(
        rows=Rows(convert(features), labels, weights), divisor=321.0, linear=tilt, ridge=0.3
    )
    loss = Logistic()
    margins = labels * (features @ w)
    bend = getattr(loss, "curvature" if curvature == "hessian" else "upper_curvature")(margins)
    gradient = features.T @ (labels * weights * loss.slope(margins)) / 321 + tilt + 0.3 * w
    matrix = features.T @ np.diag(weights * bend) @ features / 321 + 0.3 * np.eye(7)
    found, second = problem.second_order(w, curvature)
    assert np.allclose(found, gradient, rtol=1e-12)
    assert np.allclose(problem.gradient(w), gradient, rtol=1e-12)
    assert np.allclose(second, matrix, rtol=1e-12)
    assert (second == second.T).all()
    value = weights @ loss.value(margins) / 321 + tilt @ w + 0.15 * w @ w
    assert problem.value(w) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_merging_keeps_every_sum(convert) -> None:
    draws = np.random.default_rng(2)
    features = draws.integers(0, 2, (4000, 5)).astype(float)
    labels = draws.choice([-1.0, 1.0], 4000)
    rows = Rows(convert(features), labels)
    merged = rows.merged()
    # A row of zeros is the same under both labels.
    assert merged.n_rows == 2 * 2**5 - 1
    assert merged.total_weight == 4000
    w = draws.normal(size=5)
    for one, other in zip(
        MeanLoss(rows=rows).second_order(w), MeanLoss(rows=merged).second_order(w), strict=True
    ):
        assert np.allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_rows_above_the_bound_are_scaled_to_it(convert) -> None:
    features, _ = sample(300, 6)
    features[0] = 0
    rows = Rows(convert(features))
    scaled = rows.scaled_to(1.0)
    assert (scaled.norms() <= 1).all()
    assert (rows.norms() > 1).any()
    dense = scaled.matrix if isinstance(scaled.matrix, np.ndarray) else scaled.matrix.toarray()
    expected = features / np.maximum(1, np.linalg.norm(features, axis=1))[:, None]
    assert np.allclose(dense, expected, atol=1e-12)
    assert scaled.scaled_to(1.0) is scaled


def test_memory_is_a_block_and_the_matrix() -> None:
    features, labels = sample(60_000, 20)
    problem = MeanLoss(rows=Rows(features, labels))
    problem.second_order(np.zeros(20))
    tracemalloc.start()
    problem.second_order(np.zeros(20))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000 < features.nbytes / 4


@pytest.mark.parametrize(
    ("features", "labels", "weights", "match"),
    [
        ([[np.nan]], [1], None, "NaN"),
        ([[np.inf]], [1], None, "infinite"),
        ([[1.0]], [0], None, "labels"),
        ([[1.0], [2.0]], [1], None, "labels"),
        ([[1.0]], [1], [-1], "weights"),
        ([[1.0]], [1], [np.nan], "weights"),
        ([1.0], [1], None, "shape"),
        (np.empty((2, 0)), [1, 1], None, "shape"),
    ],
)
def test_wrong_data_are_refused(features, labels, weights, match) -> None:
    with pytest.raises(ProblemError, match=match):
        Rows(features, labels, weights)


def test_no_rows_are_ordinary_data() -> None:
    problem = MeanLoss(rows=Rows(np.empty((0, 3))), loss=Squared(), ridge=1.0)
    gradient, matrix = problem.second_order(np.ones(3))
    assert (gradient == 1).all()
    assert (matrix == np.eye(3)).all()
    assert problem.value(np.ones(3)) == 1.5
