"""The best points in order, against enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from oracles import (
    Certificate,
    Highs,
    InfeasibleError,
    IntegerProgram,
    Limits,
    ProblemError,
    Solution,
    Status,
)
from oracles.coordinates import CountableProblem
from oracles.finite import FiniteTable
from oracles.ranking import MAX_SPREAD, best_points
from oracles.released import ReleasedVariables
from oracles.zero_one import CellTable, ZeroOneProblem


@pytest.mark.parametrize("shape", [(1,), (7,), (3, 4), (2, 1, 3), (2, 2, 2, 2)], ids=str)
@pytest.mark.parametrize("spread", [1, 3, 1000])
def test_ranks_as_sorting_does(shape: tuple[int, ...], spread: int) -> None:
    generator = np.random.default_rng(spread)
    for _ in range(4):
        losses = generator.integers(-spread, spread + 1, shape)
        allowed = generator.random(shape) < 0.7
        allowed.flat[-1] = True
        table = FiniteTable(losses, allowed)
        ordered = sorted(losses[allowed].tolist())
        for number in (1, 2, 5, len(ordered), len(ordered) + 3):
            found = best_points(table, number)
            assert found.value is not None
            assert [p.loss for p in found.value] == ordered[:number]
            assert len({p.positions for p in found.value}) == min(number, len(ordered))
            assert all(losses[p.positions] == p.loss for p in found.value)
            assert all(allowed[p.positions] for p in found.value)
            assert found.certificate is Certificate.EXACT


@pytest.mark.parametrize("method", ["search", "milp"])
def test_ranks_classifiers(method: str) -> None:
    generator = np.random.default_rng(2)
    codes = generator.integers(0, 2, (30, 2))
    cells = CellTable.from_codes(codes, generator.random(30) < 0.5, (2, 2))
    problem = ZeroOneProblem(cells, (1, -1, 0), method=method)
    every = [cells.errors(cells.split(w)) for w in itertools.product((-1, 0, 1), repeat=4)]
    found = best_points(problem, 12)
    assert found.value is not None
    assert [p.loss for p in found.value] == sorted(every)[:12]
    for ranked in found.value:
        point = problem.point(ranked.positions)
        assert cells.errors(point) == ranked.loss
        assert problem.positions(point) == ranked.positions
    proof = Certificate.EXACT if method == "search" else Certificate.SOLVER
    assert found.certificate is proof


def test_ranks_released_variables_of_all_kinds() -> None:
    # A binary, a gap-free range, a fixed variable, and recourse.
    program = IntegerProgram([2, -3, 5, 1], lower=[0, -1, 4, 0], upper=[1, 2, 4, 9])
    problem = ReleasedVariables(program, (0, 1, 2), Highs())
    assert (problem.n_points, problem.loss_spread) == (8, 2 + 9)
    every = sorted(2 * x - 3 * y + 20 for x in (0, 1) for y in (-1, 0, 1, 2))
    found = best_points(problem, 8)
    assert found.value is not None
    assert [p.loss for p in found.value] == every
    for ranked in found.value:
        point = problem.point(ranked.positions)
        assert problem.positions(point) == ranked.positions
        assert 2 * point[0] - 3 * point[1] + 20 == ranked.loss
    assert (
        ReleasedVariables(IntegerProgram([1], [[1]], [0], None, upper=[1]), (0,), Highs()).n_points
        is None
    )


def test_large_losses_are_ranked_exactly() -> None:
    high = 2**59
    found = best_points(FiniteTable([high, high - 1, 0, -high]), 4)
    assert found.value is not None
    assert [p.loss for p in found.value] == [-high, 0, high - 1, high]
    with pytest.raises(ProblemError, match="differ"):
        best_points(FiniteTable([0, MAX_SPREAD + 1]), 1)


def test_an_empty_set_is_infeasible() -> None:
    with pytest.raises(InfeasibleError):
        best_points(FiniteTable([1, 2], [False, False]), 1)


class Contradicting(FiniteTable):
    """Says of every part that it holds something better than before."""

    calls = 0

    def minimize(self, *args: object, **rest: object) -> Solution[tuple[int, ...]]:
        found = super().minimize(*args, **rest)
        Contradicting.calls += 1
        assert isinstance(found.objective, int)
        objective = found.objective - 10 * Contradicting.calls
        return Solution(
            found.status, found.value, objective, objective, found.certificate, found.oracle
        )


def test_a_contradicted_proof_is_no_certificate() -> None:
    found = best_points(Contradicting([1, 2, 3]), 2)
    assert (found.status, found.value) == (Status.ERROR, None)
    assert found.certificate is Certificate.NONE


def test_a_limit_ends_without_points() -> None:
    generator = np.random.default_rng(0)
    codes = np.column_stack([generator.integers(0, m, 3_000) for m in (9, 8, 7, 6)])
    cells = CellTable.from_codes(codes, generator.random(3_000) < 0.5, (9, 8, 7, 6))
    problem: CountableProblem[object] = ZeroOneProblem(cells)
    found = best_points(problem, 3, limits=Limits(seconds=0.2))
    assert (found.status, found.value) == (Status.STOPPED, None)
    assert found.certificate is Certificate.NONE
