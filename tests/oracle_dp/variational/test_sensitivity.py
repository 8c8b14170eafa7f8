"""Sensitivity of a proximal step and the stability recursions, on random and on worst instances.

The attained ratio, largest distance over claimed distance, is printed: run with ``-s``.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import fsolve

from oracle_dp import ParameterError
from oracle_dp.variational import NisppPlan, Sampling, nispp
from oracle_dp.variational.calibration import proximal_sensitivity
from oracle_dp.variational.nispp import Subsolver, _Proximal
from oracles.monotone import (
    Ball,
    BilinearGame,
    Clipped,
    GroupRobustLogistic,
    QuadraticGame,
    RecordFunction,
    RecordOperator,
)

INSTANCES = 10_000


def operator_of(kind: int, rng: np.random.Generator, n: int) -> RecordOperator:
    """Records 0 and 1 are what a batch holds before and after the replacement."""
    if kind == 0:
        balls = Ball(1.0, np.zeros(2)), Ball(1.0, np.zeros(2))
        size = 10 ** rng.uniform(-1, 1)
        return BilinearGame(
            size * rng.normal(size=(n, 2, 2)), 5 * rng.normal(size=(n, 4)), *balls,
            coupling_norm=size, linear_norm=1.0,
        )  # fmt: skip
    if kind == 1:
        linear = rng.normal(size=(n, 3))
        linear[1] = -linear[0]
        return QuadraticGame(
            100 * linear, rng.normal(size=(1, 2)), 10 ** rng.uniform(-4, 0),
            Ball(1.0, np.zeros(3)),
        )  # fmt: skip
    features = rng.normal(size=(n, 3))
    return GroupRobustLogistic(
        10 * features, rng.choice([-1, 1], n), np.arange(n) % 2, [0.5, 0.5], radius=2.0
    )


def test_proximal_steps_of_neighbouring_batches_are_as_close_as_claimed() -> None:
    """The library's own inner solutions, on batches that differ in one record."""
    rng = np.random.default_rng(0)
    worst = {"extrapolation": 0.0, "fixed_point": 0.0}
    for i in range(INSTANCES):
        size = int(rng.integers(1, 6))
        operator = operator_of(i % 3, rng, max(size + 1, 4))
        fixed_point = i % 10 != 0  # The other one takes ten times as long.
        scale = 10 ** rng.uniform(0.5, 2) if fixed_point else 10 ** rng.uniform(-0.5, 1)
        weight = operator.lipschitz * scale
        subsolver = Subsolver.FIXED_POINT if fixed_point else Subsolver.EXTRAPOLATION
        accuracy = 1e-4 * operator.bound**2 / (weight * size**2)
        plan = NisppPlan(
            sampling=Sampling.FIXED_SIZE, batch_size=size, steps=1, weight=weight,
            accuracy=accuracy,
        )  # fmt: skip
        prox = _Proximal(operator, plan, subsolver)
        anchor = 2 * rng.normal(size=operator.domain.dimension) / operator.domain.dimension
        before = np.concatenate([[0], np.arange(2, size + 1)])
        after = np.concatenate([[1], np.arange(2, size + 1)])
        distance = np.linalg.norm(prox.solve(anchor, before) - prox.solve(anchor, after))
        claimed = proximal_sensitivity(2 * operator.bound / size, modulus=weight, accuracy=accuracy)
        worst[subsolver.value] = max(worst[subsolver.value], distance / claimed)
    print(f"attained ratio of {INSTANCES} proximal steps: {worst}")
    assert max(worst.values()) <= 1
    # The bound is not loose: opposite constants in a small batch come near.
    assert worst["fixed_point"] >= 0.5


@pytest.mark.parametrize("accuracy", [0.0, 0.01, 0.3, 2.0])
def test_all_nu_solutions_of_all_pairs_are_enumerated_in_one_dimension(accuracy: float) -> None:
    """W = [-1, 1], affine increasing records: every nu-solution on a grid, no solver involved."""
    grid = np.linspace(-1, 1, 401)
    bound, weight, worst = 1.0, 0.8, 0.0
    records = [slope * (grid - zero) for slope in (0.0, 0.25, 0.5) for zero in (-1.0, 0.0, 1.0)] + [
        np.full(401, bound),
        np.full(401, -bound),
    ]
    for anchor in (-2.0, -0.4, 0.0, 0.7):
        solutions = []
        for record in records:
            assert np.abs(record).max() <= bound
            value = record + weight * (grid - anchor)
            gap = np.maximum(value * (grid + 1), value * (grid - 1))
            # The grid's own step leaves exact solutions between its points.
            solutions.append(grid[gap <= accuracy + 0.01])
        for first in solutions:
            for second in solutions:
                apart = max(first.max() - second.min(), second.max() - first.min())
                worst = max(worst, apart)
    claimed = proximal_sensitivity(2 * bound, modulus=weight, accuracy=accuracy + 0.01)
    print(f"nu = {accuracy}: attained ratio {worst / claimed:.3f}")
    assert worst <= claimed
    assert worst / claimed >= (0.6 if accuracy <= 0.3 else 0.4)


def test_zeroing_a_record_of_a_poisson_batch_is_within_its_own_bound() -> None:
    rng = np.random.default_rng(1)
    worst = 0.0
    for i in range(2000):
        operator = operator_of(i % 3, rng, 6)
        size, weight = 3, 4 * operator.lipschitz
        accuracy = 1e-4 * operator.bound**2 / (weight * size**2)
        plan = NisppPlan(
            sampling=Sampling.POISSON, batch_size=size, steps=1, weight=weight, accuracy=accuracy
        )
        prox = _Proximal(operator, plan, Subsolver.FIXED_POINT)
        anchor = rng.normal(size=operator.domain.dimension)
        drawn = np.flatnonzero(rng.random(5) < 0.6) + 1
        without = prox.solve(anchor, drawn)
        with_record = prox.solve(anchor, np.concatenate([[0], drawn]))
        claimed = proximal_sensitivity(operator.bound / size, modulus=weight, accuracy=accuracy)
        worst = max(worst, float(np.linalg.norm(without - with_record)) / claimed)
    print(f"attained ratio of 2000 zeroed records: {worst:.3f}")
    assert 0.5 <= worst <= 1


# -- the counterexample --------------------------------------------------------------------------

L, M, LAM, BATCH = 15.0, 1.0, 1.0, 1000
TURN = np.array([[0.0, -1.0], [1.0, 0.0]])


def clipped_rotation(point: np.ndarray) -> np.ndarray:
    value = L * TURN @ point
    return value * min(1.0, M / max(float(np.linalg.norm(value)), 1e-300))


def test_clipping_a_rotation_breaks_the_sensitivity_bound() -> None:
    """Exact solutions, L-Lipschitz records of norm at most M: many times the claimed distance."""
    start = np.array([1.05 / L, 0.0])
    anchor = start + clipped_rotation(start) / LAM
    tangent = np.array([0.0, -M])

    def solution(share: float) -> np.ndarray:
        """All records rotations, but a share of constants."""

        def equation(u: np.ndarray) -> np.ndarray:
            return (1 - share) * clipped_rotation(u) + share * tangent + LAM * (u - anchor)

        found, *_ = fsolve(equation, start, full_output=True)
        assert np.linalg.norm(equation(found)) < 1e-10
        return np.asarray(found)

    apart = np.linalg.norm(solution(0.0) - solution(1 / BATCH))
    claimed = proximal_sensitivity(2 * M / BATCH, modulus=LAM, accuracy=0.0)
    print(f"clipped rotation: {apart / claimed:.2f} times the sensitivity of monotone operators")
    assert apart > 10 * claimed


def rotations(count: int, domain: Ball) -> Clipped:
    raw = RecordFunction(
        lambda w, records: np.tile(L * TURN @ w, (len(np.arange(count)[records]), 1)),
        domain, n_records=count, lipschitz=L, bound=3 * L,
    )  # fmt: skip
    return Clipped(raw, M)


def test_nispp_refuses_the_clipped_rotation() -> None:
    operator = rotations(BATCH, Ball(3.0, [0.0, 0.0]))
    plan = NisppPlan(sampling=Sampling.FULL, batch_size=BATCH, steps=1, weight=LAM, accuracy=1e-6)
    with pytest.raises(ParameterError, match=r"lambda = 1 must exceed L = 15.*clip the features"):
        nispp(operator, epsilon=1.0, delta=1e-6, plan=plan, random_state=0)
    poisson = NisppPlan(
        sampling=Sampling.POISSON, batch_size=10, steps=1, weight=40.0, accuracy=1e-6
    )
    with pytest.raises(ParameterError, match="sampling: the records' operators need not"):
        nispp(operator, epsilon=1.0, delta=1e-6, plan=poisson, random_state=0)


def test_nispp_takes_it_above_the_lipschitz_constant_and_pays() -> None:
    """With lambda > L the modulus is lambda - L: the release names the larger sensitivity."""
    operator = rotations(BATCH, Ball(3.0, [0.0, 0.0]))
    plan = NisppPlan(sampling=Sampling.FULL, batch_size=BATCH, steps=1, weight=16.0, accuracy=3e-8)
    release = nispp(operator, epsilon=1.0, delta=1e-6, plan=plan, random_state=0)
    exact = 2 * M / (BATCH * (16.0 - L))
    assert exact <= release.guarantee.sensitivity <= 1.05 * exact
    start = np.array([1.3 / L, 0.0])
    anchor = start + clipped_rotation(start) / 16.0
    constant = np.array([0.0, -M])
    shifted = fsolve(
        lambda u: (1 - 1 / BATCH) * clipped_rotation(u) + constant / BATCH + 16.0 * (u - anchor),
        start,
    )
    assert np.linalg.norm(shifted - start) <= exact


# -- stability -------------------------------------------------------------------------------------


def random_monotone(rng: np.random.Generator, d: int) -> np.ndarray:
    matrix = rng.normal(size=(d, d))
    skew = matrix - matrix.T
    square = rng.choice([0.0, 0.1, 1.0]) * matrix @ matrix.T
    total = skew + square
    return np.asarray(total / np.linalg.norm(total, 2) * 10 ** rng.uniform(-1, 1))


def test_one_extragradient_step_spreads_as_the_recursion_says() -> None:
    """Theorem 10's step: same operators, two starts; F1 - F2 constant, so its norm is known."""
    rng = np.random.default_rng(2)
    worst = 0.0
    for _ in range(INSTANCES):
        d = int(rng.integers(2, 5))
        ball = Ball(1.0, np.zeros(d))
        matrix = random_monotone(rng, d)
        lipschitz = float(np.linalg.norm(matrix, 2))
        first, second = rng.normal(size=(2, d)) * 10 ** rng.uniform(-2, 0)
        step = rng.uniform(0.05, 1) / lipschitz
        u, v = (ball.project(2 * point) for point in rng.normal(size=(2, d)))

        ends = []
        for point in (u, v):
            half = ball.project(point - step * (matrix @ point + first))
            ends.append(ball.project(point - step * (matrix @ half + second)))
        grown = np.linalg.norm(ends[0] - ends[1]) - np.linalg.norm(u - v)
        apart = float(np.linalg.norm(first - second))
        allowed = 2 * step**2 * lipschitz * (lipschitz * ball.diameter + apart)
        worst = max(worst, float(grown) / allowed)
    print(f"attained ratio of {INSTANCES} extragradient steps: {worst:.3f}")
    assert 0.02 <= worst <= 1


def test_proximal_steps_from_two_anchors_spread_as_the_recursion_says() -> None:
    """Theorem 12's step: two anchors and, half of the time, batches that differ in a record."""
    rng = np.random.default_rng(3)
    worst = 0.0
    for i in range(INSTANCES):
        operator = operator_of(i % 3, rng, 5)
        size, weight = 2, 6 * operator.lipschitz
        accuracy = 1e-4 * operator.bound**2 / (weight * size**2)
        plan = NisppPlan(
            sampling=Sampling.FIXED_SIZE, batch_size=size, steps=1, weight=weight,
            accuracy=accuracy,
        )  # fmt: skip
        prox = _Proximal(operator, plan, Subsolver.FIXED_POINT)
        first, second = rng.normal(size=(2, operator.domain.dimension)) * 10 ** rng.uniform(-2, 0)
        hit = i % 2
        u = prox.solve(first, np.array([0, 2]))
        v = prox.solve(second, np.array([hit, 2]))
        allowed = (
            np.linalg.norm(first - second)
            + hit * 2 * operator.bound / (weight * size)
            + math.sqrt(2 * accuracy / weight)
        )
        worst = max(worst, float(np.linalg.norm(u - v)) / float(allowed))
    print(f"attained ratio of {INSTANCES} proximal steps from two anchors: {worst:.3f}")
    assert 0.5 <= worst <= 1
