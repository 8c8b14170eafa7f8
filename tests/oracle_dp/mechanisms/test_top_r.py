"""Top-R: its law on enumerated sets, on neighbouring data, and what breaks it."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from oracle_dp import (
    Ledger,
    LedgerError,
    Neighbors,
    OverspendError,
    ParameterError,
    UncertifiedError,
)
from oracle_dp.mechanisms.top_r import CappedLaw, top_r
from oracle_dp.noise import SeededBits
from oracle_dp.privacy import ContingencyKind
from oracles import (
    Certificate,
    Exhaustive,
    Highs,
    InfeasibleError,
    IntegerProgram,
    Limits,
    ProblemError,
    Solution,
)
from oracles.finite import FiniteTable
from oracles.ranking import best_points
from oracles.released import ReleasedVariables
from oracles.zero_one import CellTable, ZeroOneProblem

from .capped_law import SENSITIVITY, Point, expected_law, log_ratio, mechanism_law, tables
from .goodness import p_value


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
@pytest.mark.parametrize("n_best", [1, 2, 4, 100])
def test_every_outcome_satisfies_the_claim(relation: str, n_best: int) -> None:
    for seed, shape in itertools.product(range(8), [(5,), (3, 3), (2, 2, 2)]):
        for epsilon in (0.2, 3.0):
            laws = []
            for table in tables(seed, relation, shape, 1 + seed % 4):
                law = mechanism_law(table, n_best, epsilon, SENSITIVITY[relation])
                rate = epsilon / SENSITIVITY[relation]
                assert law == pytest.approx(expected_law(table, n_best, rate), rel=1e-9)
                laws.append(law)
            assert log_ratio(*laws) <= epsilon + 1e-9


def lopsided(relation: str) -> tuple[FiniteTable, FiniteTable]:
    """One point all but certain; a record that prefers the second of the R best to it."""
    base = np.array([0, 20, 30, 30])
    preferring, other = np.array([2, 0, 0, 0]), np.array([0, 2, 0, 0])
    if relation == "add_remove":
        other = np.zeros(4, dtype=int)
    return FiniteTable(base + preferring), FiniteTable(base + other)


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_the_claim_is_attained(relation: str) -> None:
    epsilon = 4.0
    laws = [mechanism_law(t, 2, epsilon, SENSITIVITY[relation]) for t in lopsided(relation)]
    assert 0.99 * epsilon <= log_ratio(*laws) <= epsilon + 1e-9


def test_the_sensitivity_of_removal_is_caught_under_replacement() -> None:
    laws = [mechanism_law(t, 2, 4.0, SENSITIVITY["add_remove"]) for t in lopsided("replace")]
    assert log_ratio(*laws) > 7.0


def test_a_rank_that_depends_on_the_data_is_caught() -> None:
    # "As many as were proven in time": one point on D, three on its neighbour.
    first, second = lopsided("replace")
    laws = [mechanism_law(t, r, 1.0, 4) for t, r in ((first, 1), (second, 3))]
    assert log_ratio(*laws) > 4.0


def test_all_points_ranked_is_the_exponential_mechanism() -> None:
    table = FiniteTable(np.array([[3, 1], [0, 7]]))
    weights = np.exp(-0.5 * table.losses)
    law = mechanism_law(table, 4, 1.0, 2)
    assert law == pytest.approx(
        {w: float(weights[w] / weights.sum()) for w in np.ndindex(2, 2)}, rel=1e-12
    )


def test_ties_do_not_matter() -> None:
    law = mechanism_law(FiniteTable([5, 5, 5, 5, 9]), 2, 1.0, 1)
    assert all(p == pytest.approx(0.2) for p in law.values())


# -- draws -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_best", [1, 3, 6])
def test_draws_from_a_masked_table_have_their_law(n_best: int) -> None:
    losses = np.array([[4, 1, 3], [0, 2, 2], [5, 2, 1]])
    allowed = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1]], dtype=bool)
    table, source = FiniteTable(losses, allowed), SeededBits(n_best)
    seen = Counter(
        top_r(table, n_best=n_best, epsilon=1, sensitivity=2, random_state=source).value
        for _ in range(1_500)
    )
    assert p_value(seen, expected_law(table, n_best, 0.5)) > 1e-5
    # With one of the best points all are alike, whatever the rate.
    assert n_best == 1 or p_value(seen, expected_law(table, n_best, 1.0)) < 1e-5


def test_draws_of_classifiers_have_their_law() -> None:
    generator = np.random.default_rng(4)
    codes = generator.integers(0, 2, (12, 2))
    labels = (codes[:, 0] == 1) ^ (generator.random(12) < 0.2)
    cells = CellTable.from_codes(codes, labels, (2, 2))
    every = itertools.product((1, 0, -1), repeat=4)
    losses = np.array([cells.errors(cells.split(w)) for w in every])
    table = FiniteTable(losses.reshape(3, 3, 3, 3))
    problem, source = ZeroOneProblem(cells, (1, 0, -1)), SeededBits(6)
    release = top_r(problem, n_best=20, epsilon=1, sensitivity=2, random_state=source)
    assert release.guarantee.certificate is Certificate.EXACT
    best = best_points(problem, 20).require_point()
    law = CappedLaw(best, 81 - 20, Fraction(1, 2))
    seen = Counter(problem.positions(law.draw(problem, source)) for _ in range(4_000))
    assert p_value(seen, expected_law(table, 20, 0.5)) > 1e-5
    assert p_value(seen, expected_law(table, 81, 0.5)) < 1e-5
    assert p_value(seen, expected_law(table, 2, 0.5)) < 1e-5


def test_most_of_a_large_set_is_drawn_blindly() -> None:
    # 3^60 classifiers: the multiple of the last weight is an integer beyond floats.
    codes = np.zeros((5, 2), dtype=np.int64)
    cells = CellTable.from_codes(codes, np.ones(5, dtype=bool), (30, 30))
    value = top_r(ZeroOneProblem(cells), n_best=2, epsilon=1, sensitivity=2, random_state=3).value
    assert [len(block) for block in value] == [30, 30]
    assert {-1, 0, 1} == {int(w) for block in value for w in block}


def test_a_program_without_rows() -> None:
    program = IntegerProgram([3, -2, 1], lower=[0, -1, 0], upper=[2, 1, 5])
    for oracle in (Exhaustive(), Highs()):
        problem = ReleasedVariables(program, (0, 1), oracle)
        release = top_r(problem, n_best=3, epsilon=200, sensitivity=1)
        assert release.value.tolist() == [0, 1]
        expected = Certificate.SOLVER if isinstance(oracle, Highs) else Certificate.EXACT
        assert release.guarantee.certificate is expected
        kinds = {c.kind for c in release.guarantee.contingencies}
        assert (ContingencyKind.ORACLE_BOUND in kinds) == isinstance(oracle, Highs)


# -- what is released, refused, and charged ----------------------------------------------------

TABLE = FiniteTable([3, 1, 2])


def test_release_states_its_guarantee() -> None:
    guarantee = top_r(TABLE, n_best=2, epsilon=0.5, sensitivity=2).guarantee
    assert (guarantee.epsilon, guarantee.delta, guarantee.rho) == (0.5, 0.0, 0.5**2 / 8)
    assert guarantee.neighbors is Neighbors.REPLACE
    assert guarantee.certificate is Certificate.EXACT
    assert guarantee.sensitivity_source == "asserted by the caller"
    assert {c.kind for c in guarantee.contingencies} == {
        ContingencyKind.RUNNING_TIME,
        ContingencyKind.CALLER,
    }
    limited = top_r(TABLE, n_best=2, epsilon=1, sensitivity=2, limits=Limits(seconds=60))
    assert ContingencyKind.COMPLETION in {c.kind for c in limited.guarantee.contingencies}


def test_seed_reproduces_and_is_marked() -> None:
    first, second = (
        top_r(TABLE, n_best=1, epsilon=0.1, sensitivity=2, random_state=7) for _ in range(2)
    )
    assert first == second
    assert not first.guarantee.is_private


def test_sensitivity_is_never_rounded_down(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[CappedLaw] = []
    monkeypatch.setattr(CappedLaw, "draw", lambda self, *_: seen.append(self))
    top_r(TABLE, n_best=1, epsilon=0.1, sensitivity=0.1)
    assert seen[0].rate < 1


class Uncertified(FiniteTable):
    """Finds the minima and proves nothing."""

    def minimize(self, *args: object, **rest: object) -> Solution[Point]:
        found = super().minimize(*args, **rest)
        return Solution(
            found.status, found.value, found.objective, found.bound, Certificate.NONE, "fake"
        )


class Stubborn(FiniteTable):
    """Always the same point, whatever is forbidden."""

    def minimize(self, rewards: object, **rest: object) -> Solution[Point]:
        return super().minimize([np.zeros(size, dtype=np.int64) for size in self.sizes])


@pytest.mark.parametrize("oracle", [Uncertified, Stubborn])
def test_without_all_r_points_no_release_and_the_charge_stays(oracle: type[FiniteTable]) -> None:
    ledger = Ledger({"people": 1.0})
    with pytest.raises(UncertifiedError, match=r"depends on the data and is not\s+covered by"):
        top_r(
            oracle([3, 1, 2]),
            n_best=2,
            epsilon=0.75,
            sensitivity=1,
            ledger=ledger,
            dataset="people",
        )
    assert ledger.spent("people")[0] == Fraction(3, 4)
    with pytest.raises(OverspendError):
        top_r(TABLE, n_best=2, epsilon=0.75, sensitivity=1, ledger=ledger, dataset="people")


ROWS = ReleasedVariables(IntegerProgram([1, 1], [[1, 1]], None, [1], upper=[1, 1]), (0, 1), Highs())
HALVES = ReleasedVariables(IntegerProgram([0.5], upper=[1]), (0,), Highs())


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"n_best": 0}, ParameterError),
        ({"n_best": 2.0}, ParameterError),
        ({"n_best": True}, ParameterError),
        ({"epsilon": 0}, ParameterError),
        ({"epsilon": math.nan}, ParameterError),
        ({"sensitivity": 0}, ParameterError),
        ({"sensitivity": math.inf}, ParameterError),
        ({"neighbors": "friends"}, ParameterError),
        ({"random_state": -1}, ParameterError),
        ({"limits": 3}, ParameterError),
        ({"n_jobs": 0}, ParameterError),
        ({"n_jobs": "2"}, ParameterError),
        ({"dataset": None}, ParameterError),
        ({"dataset": "strangers"}, LedgerError),
        ({"problem": ROWS}, ParameterError),
        ({"problem": HALVES}, ProblemError),
        ({"problem": FiniteTable([0, 2**61])}, ProblemError),
        ({"problem": FiniteTable([1], [False])}, InfeasibleError),
    ],
    ids=str,
)
def test_bad_input_is_named_and_charges_nothing(
    changes: dict[str, object], error: type[Exception]
) -> None:
    ledger = Ledger({"people": 10.0})
    settings: dict[str, object] = {
        "problem": TABLE,
        "n_best": 2,
        "epsilon": 1,
        "sensitivity": 2,
        "ledger": ledger,
        "dataset": "people",
        **changes,
    }
    with pytest.raises(error):
        top_r(settings.pop("problem"), **settings)
    assert ledger.charges == ()
