"""Every bound on 10,000 random neighbouring pairs, with the largest ratio attained (``-s``)."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from oracle_dp.record_losses import LinearModelLoss
from oracle_dp.second_order import sensitivity
from oracle_dp.second_order.double_noise import added, clipped

EACH = 2500
"""Pairs for each of the dimensions 1 to 4."""


def public(n: Any) -> Any:
    """The constants of the logistic loss, for one n or an array of them."""
    return SimpleNamespace(size=n, lipschitz=1.0, smoothness=0.25, curvature_trace=0.25)


def units(draws: np.random.Generator, d: int) -> np.ndarray:
    x = draws.normal(size=(EACH, d))
    return x / np.linalg.norm(x, axis=1)[:, None]


def records(draws: np.random.Generator, d: int) -> np.ndarray:
    """Curvatures of one record each: at most 1 / 4 times x x', often all of it."""
    size = np.where(draws.random(EACH) < 0.7, 0.25, draws.uniform(0, 0.25, EACH))
    x = units(draws, d)
    return size[:, None, None] * x[:, :, None] * x[:, None, :]


def others(draws: np.random.Generator, d: int, floor: np.ndarray, n: np.ndarray) -> np.ndarray:
    """What the other records add up to: eigenvalues at, around and far from the floor, or 0."""
    basis, _ = np.linalg.qr(draws.normal(size=(EACH, d, d)))
    kinds = np.stack(
        [np.zeros(EACH), floor, floor * (1 - draws.random(EACH) / n), draws.uniform(0, 0.1, EACH)]
    )
    chosen = kinds[draws.integers(0, 4, (EACH, d)), np.arange(EACH)[:, None]]
    return np.einsum("bij,bj,bkj->bik", basis, chosen, basis)


def inverse(matrix: np.ndarray, floor: np.ndarray, modification: str) -> np.ndarray:
    eigenvalues, vectors = np.linalg.eigh(matrix)
    held = (
        eigenvalues + floor[:, None]
        if modification == "add"
        else np.maximum(eigenvalues, floor[:, None])
    )
    return np.einsum("bij,bj,bkj->bik", vectors, 1 / held, vectors)


def changes(name: str, first: np.ndarray, second: np.ndarray, floor: np.ndarray) -> np.ndarray:
    if name == "trace":
        return np.abs(np.trace(first - second, axis1=1, axis2=2))
    if name == "curvature":
        return np.linalg.norm(first - second, axis=(1, 2))
    apart = inverse(first, floor, name) - inverse(second, floor, name)
    return np.linalg.norm(apart, 2, axis=(1, 2))


def bounds(name: str, n: np.ndarray, floor: np.ndarray, reach: int) -> np.ndarray:
    if name == "add":
        return sensitivity.direction_add(public(n), floor)
    if name == "clip":
        return sensitivity.direction_clip(public(n), floor, reach)
    if name == "trace":
        return sensitivity.trace(public(n))
    return sensitivity.curvature(public(n), reach)


def largest_ratio(name: str, reach: int) -> float:
    draws, worst = np.random.default_rng(11), 0.0
    for d in range(1, 5):
        n = draws.integers(2, 200, EACH).astype(float)
        floor = 10 ** draws.uniform(-2.5, 0, EACH) / 4
        common = others(draws, d, floor, n)
        first, second = (common + records(draws, d) / n[:, None, None] for _ in (0, 1))
        if reach == 1:
            second = common
        change = changes(name, first, second, floor)
        bound = bounds(name, n, floor, reach)
        worst = max(worst, float((change / bound).max()))
    return worst


@pytest.mark.parametrize(
    ("name", "reach", "attained"),
    [
        ("add", 1, 0.99), ("add", 2, 0.99),
        ("clip", 1, 0.95), ("clip", 2, 0.66),
        ("trace", 1, 0.999), ("trace", 2, 0.9),
        ("curvature", 1, 0.999), ("curvature", 2, 0.99),
    ],
)  # fmt: skip
def test_curvature_bounds_hold_and_are_attained(name, reach, attained, capsys) -> None:
    ratio = largest_ratio(name, reach)
    with capsys.disabled():
        print(f"\n{name}, reach {reach}: largest change / bound in {4 * EACH:,} pairs: {ratio:.4f}")
    # So a bound that is much larger than it need be fails too.
    assert attained <= ratio <= 1 + 1e-9


@pytest.mark.parametrize("modification", ["add", "clip"])
def test_the_solvers_are_these_inverses(modification) -> None:
    draws = np.random.default_rng(1)
    floor, n = np.full(EACH, 0.02), np.full(EACH, 50.0)
    matrices = others(draws, 4, floor, n)
    invert = added if modification == "add" else clipped
    for matrix, expected in zip(
        matrices[:50], inverse(matrices, floor, modification)[:50], strict=True
    ):
        vector = draws.normal(size=4)
        assert np.allclose(invert(matrix, 0.02)(vector), expected @ vector, rtol=1e-9)


@pytest.mark.parametrize("reach", [1, 2])
def test_the_gradient_bound_holds_and_is_attained(reach, capsys) -> None:
    draws, worst = np.random.default_rng(5), 0.0
    for d in range(1, 5):
        n = draws.integers(2, 50, EACH).astype(float)
        w = draws.normal(size=(EACH, d)) * 10 ** draws.uniform(-2, 3, (EACH, 1))
        x = np.stack([units(draws, d), units(draws, d)])
        x[:, : EACH // 2] = (w / np.linalg.norm(w, axis=1)[:, None])[: EACH // 2]
        y = draws.choice([-1.0, 1.0], (2, EACH))
        each = -(y * expit(-y * (x * w).sum(axis=2)))[:, :, None] * x / n[:, None]
        change = np.linalg.norm(each[0] - (each[1] if reach == 2 else 0), axis=1)
        worst = max(worst, float((change / sensitivity.gradient(public(n), reach)).max()))
    with capsys.disabled():
        print(f"\ngradient, reach {reach}: largest change / bound in 10,000 pairs: {worst:.4f}")
    assert (0.999 if reach == 1 else 0.9) <= worst <= 1 + 1e-12


def test_the_gradient_of_a_record_is_the_formula() -> None:
    x, w = np.array([[0.6, -0.8]]), np.array([3.0, 1.0])
    loss = LinearModelLoss.from_data(x, [-1.0], size=7)
    assert np.allclose(loss.gradient(w), expit(x[0] @ w) * x[0] / 7)


def test_any_rank_through_add() -> None:
    draws, worst = np.random.default_rng(2), 0.0
    for d in range(1, 5):
        n = draws.integers(2, 100, EACH).astype(float)
        floor = 10 ** -draws.uniform(0, 2, EACH)
        common = others(draws, d, floor, n)
        pair = []
        for _ in (0, 1):
            basis, _ = np.linalg.qr(draws.normal(size=(EACH, d, d)))
            own = np.einsum("bij,bj,bkj->bik", basis, draws.choice([0.0, 0.25], (EACH, d)), basis)
            pair.append(inverse(common + own / n[:, None, None], floor, "add"))
        change = np.linalg.norm(pair[0] - pair[1], 2, axis=(1, 2))
        worst = max(worst, float((change / sensitivity.direction_add(public(n), floor)).max()))
    assert 0.99 <= worst <= 1 + 1e-9


def test_the_bound_for_clip_has_no_pole_where_the_printed_one_has() -> None:
    floor = 1 / 400
    assert math.isfinite(sensitivity.direction_clip(public(100), floor, 1))
    assert sensitivity.direction_clip(public(100), floor, 1) == 1 / (4 * 100 * floor**2)


def test_the_floor_is_what_the_formula_says() -> None:
    found = sensitivity.floor_for(public(1000), 0.2, 0.01, 1.0)
    assert found == pytest.approx((0.2 / (1000**2 * 0.01)) ** (1 / 3))
    assert sensitivity.floor_for(public(1000), 1e-15, 1.0, 1.0) == pytest.approx(1 / 1000)
    # At a large rho the noise of a direction must not grow from step to step.
    floor = sensitivity.floor_for(public(1000), 0.2, 1e3, 1.0)
    noise = 0.25 / (1000 * floor**2) / math.sqrt(2e3)
    assert noise**2 * 0.25 * 0.2 == pytest.approx(0.5)
