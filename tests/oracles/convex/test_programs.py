"""Hinge as a linear program and ramp as a mixed-integer one, against enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from oracles import Certificate, Highs, Status
from oracles.convex import Hinge, Ramp, Rows, hinge_program, ramp_program
from oracles.errors import ProblemError


def candidates(rows: Rows, box: float, thresholds: tuple[float, ...]) -> np.ndarray:
    """Every vertex of the arrangement of kinks and box sides: a piecewise linear minimum is one."""
    matrix = np.asarray(rows.matrix)
    lines = [(z, t) for z in matrix for t in thresholds]
    lines += [(unit, side) for unit in np.eye(2) for side in (-box, box)]
    points = []
    for (a, s), (b, t) in itertools.combinations(lines, 2):
        system = np.array([a, b])
        if abs(np.linalg.det(system)) > 1e-9:
            points.append(np.linalg.solve(system, [s, t]))
    found = np.array(points)
    return found[(np.abs(found) <= box + 1e-9).all(axis=1)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("make", "loss", "thresholds"),
    [(hinge_program, Hinge(), (1.0,)), (ramp_program, Ramp(), (0.0, 1.0))],
)
def test_the_programs_minimum_is_the_best_vertex(seed, make, loss, thresholds) -> None:
    draws = np.random.default_rng(seed)
    rows = Rows(draws.normal(size=(8, 2)), draws.choice([-1, 1], 8), draws.integers(1, 4, 8))
    tilt = draws.normal(size=2)
    solution = Highs().minimize(make(rows, box=1.5, linear=tilt))
    assert solution.status is Status.OPTIMAL
    assert solution.certificate is Certificate.BOUNDED
    points = candidates(rows, 1.5, thresholds)
    values = loss.value(points @ np.asarray(rows.matrix).T) @ rows.weights + points @ tilt
    assert solution.objective == pytest.approx(values.min(), abs=1e-6)
    w = solution.value[:2]
    assert loss.value(np.asarray(rows.matrix) @ w) @ rows.weights + tilt @ w == pytest.approx(
        solution.objective, abs=1e-6
    )
    assert solution.bound >= values.min() - 1e-5


@pytest.mark.parametrize("box", [0.0, -1.0, np.inf, np.nan, [1.0, 1.0, 1.0]])
def test_a_box_is_positive_and_finite(box) -> None:
    with pytest.raises((ProblemError, ValueError)):
        hinge_program(Rows([[1.0, 2.0]]), box=box)
