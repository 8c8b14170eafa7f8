"""The minimiser of the 0-1 loss against enumeration, and on Adult."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from oracle_dp.datasets import load_adult
from oracles import Certificate, Exhaustive, Highs, Limits, ProblemError, Solution, Status
from oracles.zero_one import CellTable, ZeroOneProblem, minimize
from oracles.zero_one.descent import descend
from oracles.zero_one.formulation import formulate


def every_classifier(
    levels: Sequence[int], weights: Sequence[int]
) -> Iterator[tuple[np.ndarray, ...]]:
    """All assignments of weights to levels."""
    cuts = np.cumsum(levels)[:-1]
    for flat in itertools.product(weights, repeat=sum(levels)):
        yield tuple(np.split(np.array(flat), cuts))


def random_cells(generator: np.random.Generator, levels: Sequence[int], n: int) -> CellTable:
    codes = np.column_stack([generator.integers(0, m, n) for m in levels])
    return CellTable.from_codes(codes, generator.random(n) < 0.5, levels)


CASES = [
    ((2, 2), (-1, 0, 1)),
    ((3, 2), (-1, 0, 1)),
    ((2, 1, 2), (-1, 0, 1)),
    ((4,), (0, 1, -1)),
    ((2, 2), (-2, 0, 1)),
    ((3, 1), (-3, 0, 1, 2)),
    ((2, 2), (1, 0)),
]


@pytest.mark.parametrize(("levels", "weights"), CASES)
@pytest.mark.parametrize("with_costs", [False, True])
def test_milp_equals_enumeration(
    levels: tuple[int, ...], weights: tuple[int, ...], with_costs: bool
) -> None:
    generator = np.random.default_rng(hash((levels, weights)) % 2**32)
    for n in (0, 1, 12, 60):
        cells = random_cells(generator, levels, n)
        costs = [generator.integers(-6, 7, (m, len(weights))) for m in levels]
        given = costs if with_costs else None

        def total(
            choice: tuple[np.ndarray, ...],
            cells: CellTable = cells,
            given: list[np.ndarray] | None = given,
        ) -> int:
            paid = sum(
                int(table[level, weights.index(w)])
                for table, block in zip(given or [], choice, strict=False)
                for level, w in enumerate(block)
            )
            return cells.errors(choice) + paid

        best = min(total(choice) for choice in every_classifier(levels, weights))
        found = minimize(cells, weights, costs=given, method="milp")
        assert found.status is Status.OPTIMAL
        assert found.certificate is Certificate.SOLVER
        assert found.objective == best
        assert found.value is not None
        assert total(found.value) == best
        assert all(set(block) <= set(weights) for block in found.value)


def test_feature_matrix_equals_enumeration() -> None:
    generator = np.random.default_rng(3)
    for _ in range(10):
        features = generator.integers(-2, 3, (40, 3))
        cells = CellTable.from_matrix(features, generator.random(40) < 0.5)
        best = min(cells.errors(w) for w in every_classifier((1, 1, 1), (-2, -1, 0, 1, 2)))
        assert minimize(cells, (-2, -1, 0, 1, 2), method="milp").objective == best


def test_formulation_prices_every_classifier() -> None:
    # At every choice of weights the cheapest point of the program costs its errors: a big-M too
    # small would make some choices infeasible, one too large would leave errors unpaid.
    generator = np.random.default_rng(4)
    cells = random_cells(generator, (2, 2), 30)
    program = formulate(cells, [-1, 0, 1], None)
    for weights in every_classifier((2, 2), (-1, 0, 1)):
        point = program.point(weights)
        assert program.program.is_feasible(point)
        assert program.program.objective_value(point) == cells.errors(weights)
        n_weights = sum(cells.levels)
        fixed_low, fixed_high = point.copy(), point.copy()
        fixed_low[n_weights:], fixed_high[n_weights:] = 0, 1
        bounded = type(program.program)(
            program.program.objective,
            program.program.matrix,
            program.program.row_lower,
            program.program.row_upper,
            lower=fixed_low,
            upper=fixed_high,
            constant=program.program.constant,
        )
        assert Exhaustive().minimize(bounded).objective == cells.errors(weights)


def test_the_big_m_is_the_smallest_valid_one() -> None:
    # One cell each way: margins lie in [-2, 2], so 1 - m = 3 and M = 2.
    for positive, expected in ((True, 3.0), (False, -2.0)):
        cells = CellTable.from_codes([[0, 0]], [positive], (1, 1))
        program = formulate(cells, [-1, 0, 1], None).program
        assert program.matrix.toarray()[0, 2] == expected


def test_descent_is_deterministic_and_feasible() -> None:
    generator = np.random.default_rng(5)
    cells = random_cells(generator, (4, 3), 80)
    costs = [generator.integers(-3, 4, (m, 3)) for m in (4, 3)]
    first, second = (descend(cells, (-1, 0, 1), costs) for _ in range(2))
    assert all((a == b).all() for a, b in zip(first, second, strict=True))
    assert all(set(block) <= {-1, 0, 1} for block in first)


@pytest.mark.parametrize(
    ("attributes", "optimum"),
    [
        (("education", "occupation", "relationship"), 5353),
        (("education", "relationship"), 5537),
        (("relationship", "sex", "race"), 7469),
    ],
)
def test_adult_optimum(attributes: tuple[str, ...], optimum: int) -> None:
    adult = load_adult(missing="drop")
    domain = adult.domain[list(attributes)]
    rows = adult.frame.iloc[adult.train]
    cells = CellTable.from_codes(
        domain.encode(rows), (rows["income"] == adult.classes[1]).to_numpy(), domain.levels
    )
    assert cells.n_rows == 30_162
    found = minimize(cells, (-1, 0, 1), method="milp")
    assert found.objective == optimum
    assert found.certificate is Certificate.SOLVER


class LyingOracle(Highs):
    """Claims a proven optimum that is one error below its point's."""

    def minimize(self, *args: object, **kwargs: object) -> Solution[np.ndarray]:
        found = super().minimize(*args, **kwargs)
        assert found.objective is not None
        lie = found.objective - 1
        return Solution(found.status, found.value, lie, lie, Certificate.SOLVER, "liar")


def test_an_oracle_that_lies_about_the_objective_gets_no_certificate() -> None:
    cells = random_cells(np.random.default_rng(6), (3, 2), 50)
    found = minimize(cells, oracle=LyingOracle(), method="milp")
    assert found.status is Status.ERROR
    assert found.value is None
    assert found.certificate is Certificate.NONE


def test_problem_with_rewards_is_minus_costs() -> None:
    generator = np.random.default_rng(7)
    cells = random_cells(generator, (2, 2), 25)
    problem = ZeroOneProblem(cells)
    rewards = [generator.integers(0, 40, 3) for _ in range(4)]
    found = problem.minimize(rewards, scale=4)
    scores = [
        4 * cells.errors(w)
        - sum(int(r[v + 1]) for r, v in zip(rewards, np.concatenate(w), strict=True))
        for w in every_classifier((2, 2), (-1, 0, 1))
    ]
    assert found.objective == min(scores)


@pytest.mark.parametrize(
    "weights", [(1, 2), (), (0, 0, 1), (-0.5, 0, 0.5), ("a", 0), ((0, 1), (1, 0))]
)
def test_bad_weights(weights: tuple[object, ...]) -> None:
    cells = CellTable.from_codes([[0]], [True], (1,))
    with pytest.raises(ProblemError, match="weights"):
        minimize(cells, weights)


def test_bad_costs_and_method() -> None:
    cells = CellTable.from_codes([[0]], [True], (2,))
    with pytest.raises(ProblemError, match="costs"):
        minimize(cells, costs=[np.zeros((1, 3), dtype=int)])
    with pytest.raises(ProblemError, match="costs"):
        minimize(cells, costs=[np.zeros((2, 3))])
    with pytest.raises(ProblemError, match="method"):
        minimize(cells, method="guess")


def test_a_millisecond_proves_nothing_but_says_so() -> None:
    adult = load_adult(missing="drop")
    domain = adult.domain[["education", "occupation", "relationship"]]
    rows = adult.frame.iloc[adult.train]
    cells = CellTable.from_codes(
        domain.encode(rows), (rows["income"] == adult.classes[1]).to_numpy(), domain.levels
    )
    found = minimize(cells, method="milp", limits=Limits(seconds=0.001))
    assert found.status is Status.STOPPED
    assert found.certificate is Certificate.NONE
