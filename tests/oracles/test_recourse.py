"""Continuous recourse in rationals: feasible exactly, or not at all."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from oracles import Highs, IntegerProgram, ProblemError, Status, recourse
from oracles.recourse import check_recourse, exact_objective
from oracles.released import ReleasedVariables
from oracles.verdict import gap_margin


def test_thirds_are_thirds() -> None:
    program = IntegerProgram(
        [2, -1], [[1, 3]], [1], [1], upper=[1, 1], integer=[True, False], constant=0.5
    )
    assert exact_objective(program, np.array([0.0, 0.0])) == Fraction(1, 2) - Fraction(1, 3)
    assert exact_objective(program, np.array([1.0, 9.0])) == Fraction(5, 2)


def test_what_is_feasible_only_up_to_a_tolerance_is_not() -> None:
    third = float(np.nextafter(1 / 3, 0))
    program = IntegerProgram([1, 1], [[1, 3]], [1], [1], upper=[1, third], integer=[True, False])
    assert program.is_feasible([0, third])
    assert exact_objective(program, np.array([0.0, third])) is None
    # A solver takes it for the minimum; the released variable is refused, not published.
    problem = ReleasedVariables(program, (0,), Highs())
    found = problem.minimize([np.array([9, 0])])
    assert found.status is Status.ERROR
    assert found.value is None


def test_no_continuous_values_at_all() -> None:
    program = IntegerProgram([1, 1], [[1, 1]], [3], [4], upper=[1, 1], integer=[True, False])
    assert exact_objective(program, np.array([1.0, 1.0])) is None


@pytest.mark.parametrize("seed", range(30))
def test_the_objective_is_the_least_over_vertices(seed: int) -> None:
    """Against every basic solution, solved in rationals from scratch."""
    g = np.random.default_rng(seed)
    rows = g.integers(-4, 5, (3, 4)).astype(float)
    program = IntegerProgram(
        g.integers(-5, 6, 4) / 4, rows, g.integers(-6, 0, 3) / 2, g.integers(1, 7, 3) / 2,
        upper=[1, 1, 2.5, 1.75], integer=[True, True, False, False],
    )  # fmt: skip
    for point in itertools.product((0, 1), repeat=2):
        expected = _least(program, point)
        found = exact_objective(program, np.array([*point, 0.0, 0.0]))
        assert found == expected


def _least(program: IntegerProgram, point: tuple[int, ...]) -> Fraction | None:
    """Two continuous variables: the vertices are crossings of two of their lines."""
    lines = []
    for i in range(program.n_rows):
        a = [Fraction(float(x)) for x in program.matrix[[i]].toarray()[0]]
        fixed = a[0] * point[0] + a[1] * point[1]
        for side in (program.row_lower[i], program.row_upper[i]):
            lines.append((a[2], a[3], Fraction(float(side)) - fixed))
    for j in (2, 3):
        for end in (program.lower[j], program.upper[j]):
            lines.append((Fraction(j == 2), Fraction(j == 3), Fraction(float(end))))
    values = []
    for (a, b, c), (d, e, f) in itertools.combinations(lines, 2):
        if (bottom := a * e - b * d) == 0:
            continue
        z = ((c * e - b * f) / bottom, (a * f - c * d) / bottom)
        inside = all(
            lines[k][0] * z[0] + lines[k][1] * z[1] >= lines[k][2]
            and lines[k + 1][0] * z[0] + lines[k + 1][1] * z[1] <= lines[k + 1][2]
            for k in range(0, len(lines), 2)
        )
        if inside:
            whole = [Fraction(x) for x in point] + list(z)
            values.append(
                sum(Fraction(float(c)) * x for c, x in zip(program.objective, whole, strict=True))
            )
    return min(values, default=None)


@pytest.mark.parametrize("seed", range(8))
def test_gaps_of_fractional_objectives_are_proven(seed: int) -> None:
    g = np.random.default_rng(seed)
    program = IntegerProgram(
        np.round(g.normal(size=5), 3), g.integers(0, 4, (2, 5)), row_upper=[5, 4],
        upper=[1, 1, 2, 3.5, 2], integer=[True, True, True, False, False],
    )  # fmt: skip
    problem = ReleasedVariables(program, (0, 1, 2), Highs())
    rewards = [g.integers(0, 9, size) for size in problem.sizes]
    found = problem.minimize(rewards, scale=16)
    assert found.value is not None
    losses = {
        w: exact_objective(program, np.array([*w, 0.0, 0.0]))
        for w in itertools.product((0, 1), (0, 1), (0, 1, 2))
    }
    perturbed = {
        w: 16 * loss - sum(int(r[x]) for r, x in zip(rewards, w, strict=True))
        for w, loss in losses.items()
        if loss is not None
    }
    least = min(perturbed.values())
    assert found.bound <= least
    assert perturbed[tuple(found.value.tolist())] - least <= Fraction(found.gap)
    assert found.gap < 4 * gap_margin(problem.lift.program) + 1e-3


def test_systems_too_large_for_rationals_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    program = IntegerProgram(
        np.ones(4), np.ones((3, 4)), row_upper=np.ones(3), upper=np.ones(4),
        integer=[True, False, False, False],
    )  # fmt: skip
    check_recourse(program)
    monkeypatch.setattr(recourse, "MOST_EQUATIONS", 2)
    with pytest.raises(ProblemError, match="rational"):
        ReleasedVariables(program, (0,), Highs()).check()
