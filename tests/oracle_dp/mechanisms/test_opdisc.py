"""Objective perturbation on finite tables: the claim holds, is attained, and faults break it.

For a pure guarantee over a finite set, the worst event is a single outcome: the ratio of sums is
at most the largest ratio of terms. So checking every outcome checks every event.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from oracle_dp import (
    Budget,
    Ledger,
    LedgerError,
    Neighbors,
    OverspendError,
    ParameterError,
    UncertifiedError,
    opdisc,
)
from oracle_dp.mechanisms.perturbation import OneHotNoise
from oracle_dp.noise import rational
from oracle_dp.privacy import ContingencyKind
from oracles import (
    Certificate,
    Exhaustive,
    Highs,
    InfeasibleError,
    IntegerProgram,
    Limits,
    Solution,
    Status,
)
from oracles.finite import FiniteTable
from oracles.released import ReleasedVariables

from .exact_law import one_coordinate, two_coordinates

SENSITIVITY = {"replace": 4, "add_remove": 2}
"""Of losses in {0, 1, 2}."""


def calibrated(epsilon: float, relation: str, coordinates: int, bits: int) -> OneHotNoise:
    return OneHotNoise(
        epsilon=Fraction(epsilon),
        sensitivity=Fraction(SENSITIVITY[relation]),
        coordinates=coordinates,
        lattice_bits=bits,
    )


def parameter(noise: OneHotNoise) -> float:
    """q as the theorem has it, not as the code computes it."""
    shift = math.floor(2**noise.lattice_bits * noise.sensitivity) + 1
    return math.exp(-float(noise.epsilon / (noise.coordinates * shift)))


def neighbouring_tables(
    generator: np.random.Generator, shape: tuple[int, ...], relation: str, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Totals of n records with losses in {0, 1, 2}, and of a neighbouring data set."""
    records = generator.integers(0, 3, (n, *shape))
    if relation == "add_remove":
        return records.sum(axis=0), records[1:].sum(axis=0)
    other = records.copy()
    other[0] = generator.integers(0, 3, shape)
    return records.sum(axis=0), other.sum(axis=0)


def worst_tables(
    shape: tuple[int, ...], relation: str, n: int
) -> tuple[np.ndarray, np.ndarray, tuple[int, ...]]:
    """A point that lies far behind in every coordinate and whose neighbour helps it least.

    The point's records lose 2 wherever it loses; only points that differ in one
    coordinate compete, so that every coordinate's noise is needed in full.
    """
    point = tuple(m - 1 for m in shape)  # The last in order: it loses every default tie.
    base = np.full(shape, 2)
    for j, m in enumerate(shape):
        for value in range(m - 1):
            base[(*point[:j], value, *point[j + 1 :])] = 0
    helped = np.full(shape, 2)
    helped[point] = 0
    hurt = 2 - helped if relation == "replace" else np.zeros(shape, dtype=int)
    return base * (n - 1) + helped, base * (n - 1) + hurt, point


def law(
    totals: np.ndarray, noise: OneHotNoise, first: tuple[int, ...] | None = None
) -> tuple[np.ndarray, float]:
    costs = totals * noise.scale
    if totals.ndim == 1:
        return one_coordinate(costs, parameter(noise), first=first[0] if first else None), 0.0
    return two_coordinates(costs, parameter(noise), first=first)


def worst_log_ratio(
    d: np.ndarray, e: np.ndarray, noise: OneHotNoise, first: tuple[int, ...] | None = None
) -> float:
    """Greatest certain log ratio over outcomes, the numerator's ties going to ``first``."""
    on_d, _ = law(d, noise, first)
    on_e, missing = law(e, noise)
    certain = on_d > 0  # Sums are cut: an outcome may be too rare to have a certain lower bound.
    assert on_d[certain].sum() > 0.999
    return float(np.log(on_d[certain] / (on_e[certain] + missing)).max())


ONE = [(m,) for m in (2, 3, 5, 8, 16)]
TWO = [(2, 2), (2, 5), (5, 2), (3, 3), (4, 3), (5, 5)]
EPSILON = {1: 1.0, 2: 12.0}
"""By number of coordinates: with two, a smaller one would need longer sums."""


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
@pytest.mark.parametrize("shape", ONE + TWO, ids=str)
def test_every_event_satisfies_the_claim(shape: tuple[int, ...], relation: str) -> None:
    generator = np.random.default_rng(len(shape) * 100 + shape[0])
    epsilon = 30.0 if shape == (5, 5) else EPSILON[len(shape)]
    for n, bits in itertools.product(
        (1, 2) if shape == (5, 5) else (1, 2, 5, 16), (0, 4) if len(shape) == 1 else (0,)
    ):
        noise = calibrated(epsilon, relation, len(shape), bits)
        d, e = neighbouring_tables(generator, shape, relation, n)
        for first, second in ((d, e), (e, d)):
            assert worst_log_ratio(first, second, noise) <= epsilon + 1e-9


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
@pytest.mark.parametrize("shape", [(2,), (3,), (5,), (16,), (2, 2), (3, 3), (2, 5)], ids=str)
def test_the_claim_is_attained_under_adverse_ties(shape: tuple[int, ...], relation: str) -> None:
    epsilon = EPSILON[len(shape)]
    d, e, point = worst_tables(shape, relation, 16 if len(shape) == 1 else 2)
    noise = calibrated(epsilon, relation, len(shape), 0)
    attained = worst_log_ratio(d, e, noise, first=point)
    assert 0.99 * epsilon <= attained <= epsilon + 1e-9


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_the_claim_is_nearly_attained_under_fixed_ties(relation: str) -> None:
    # Without adverse ties only the strictness of the shift is lost: one step in 2^k Delta + 1.
    d, e, _ = worst_tables((5,), relation, 16)
    noise = calibrated(1.0, relation, 1, 8)
    assert 0.99 <= worst_log_ratio(d, e, noise) <= 1.0


def halved_shift(noise: OneHotNoise) -> OneHotNoise:
    return replace(noise, sensitivity=noise.sensitivity / 2)


def halved_noise(noise: OneHotNoise) -> OneHotNoise:
    return replace(noise, epsilon=noise.epsilon * 2)


def forgotten_coordinates(noise: OneHotNoise) -> OneHotNoise:
    return replace(noise, coordinates=1)


@pytest.mark.parametrize("fault", [halved_shift, halved_noise, forgotten_coordinates])
def test_a_wrong_calibration_is_caught(fault: object) -> None:
    d, e, point = worst_tables((3, 3), "replace", 2)
    noise = calibrated(12.0, "replace", 2, 0)
    assert worst_log_ratio(d, e, fault(noise), first=point) > 13.0


def test_a_cost_instead_of_a_reward_is_caught() -> None:
    # The loss becomes (m - 1) epsilon: with two values the fault would not show.
    noise = calibrated(1.0, "replace", 1, 0)
    d, e, _ = worst_tables((5,), "replace", 16)
    q = parameter(noise)
    wrong = np.log(one_coordinate(e, q, sign=1) / one_coordinate(d, q, sign=1))
    assert np.abs(wrong).max() > 2.0


# -- the mechanism's own code, draw by draw ----------------------------------------------------


def enumerated_law(
    monkeypatch: pytest.MonkeyPatch, table: FiniteTable, cells: int, **parameters: object
) -> np.ndarray:
    """Run the mechanism on every noise vector up to a tail, and add up its law."""
    law = np.zeros(table.losses.shape)
    drawn: list[OneHotNoise] = []
    pending: Iterator[tuple[int, ...]]

    def scripted(self: OneHotNoise, sizes: object, source: object) -> tuple[list[np.ndarray], None]:
        drawn.append(self)
        flat = np.array(next(pending))
        return list(np.split(flat, np.cumsum(table.sizes)[:-1])), None

    monkeypatch.setattr(OneHotNoise, "draw", scripted)
    vectors = list(itertools.product(range(cells), repeat=sum(table.sizes)))
    pending = iter(vectors)
    for vector in vectors:
        value = opdisc(table, **parameters).value
        q = math.exp(-float(drawn[-1].exponent))
        law[value] += (1 - q) ** len(vector) * q ** sum(vector)
    return law


def test_the_code_has_the_law_that_the_theorem_is_about(monkeypatch: pytest.MonkeyPatch) -> None:
    losses = np.array([2, 0, 1])
    settings = {"epsilon": 8.0, "sensitivity": 4, "lattice_bits": 0, "random_state": 1}
    measured = enumerated_law(monkeypatch, FiniteTable(losses), 14, **settings)
    expected, _ = law(losses, calibrated(8.0, "replace", 1, 0))
    assert measured.sum() == pytest.approx(1, abs=1e-8)
    assert measured == pytest.approx(expected, abs=1e-8)


def test_a_sign_planted_in_the_code_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = FiniteTable.minimize

    def wrong(self: FiniteTable, rewards: list[np.ndarray], **rest: object) -> Solution:
        return right(self, [-reward for reward in rewards], **rest)

    monkeypatch.setattr(FiniteTable, "minimize", wrong)
    with pytest.raises(AssertionError):
        test_the_code_has_the_law_that_the_theorem_is_about(monkeypatch)


def test_a_parameter_planted_in_the_code_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = OneHotNoise.exponent.fget
    assert right is not None
    monkeypatch.setattr(OneHotNoise, "exponent", property(lambda self: 2 * right(self)))
    with pytest.raises(AssertionError):
        test_the_code_has_the_law_that_the_theorem_is_about(monkeypatch)


def test_a_subset_of_the_grid_is_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    # W need not be a product: here two coordinates of two values without one corner.
    allowed = np.array([[True, True], [True, False]])
    settings = {"epsilon": 112.0, "sensitivity": 1, "lattice_bits": 0, "random_state": 1}
    laws = [
        enumerated_law(monkeypatch, FiniteTable(losses, allowed), 8, **settings)
        for losses in (np.array([[1, 0], [0, 0]]), np.array([[0, 0], [0, 0]]))
    ]
    assert laws[0][1, 1] == laws[1][1, 1] == 0
    ratio = np.log(laws[0][allowed] / laws[1][allowed])
    assert np.abs(ratio).max() <= 112.0


# -- what is released, refused, and charged ----------------------------------------------------

TABLE = FiniteTable([3, 1, 2])


def test_release_states_its_guarantee() -> None:
    release = opdisc(TABLE, epsilon=0.5, sensitivity=2)
    guarantee = release.guarantee
    assert release.value in {(0,), (1,), (2,)}
    assert (guarantee.epsilon, guarantee.delta, guarantee.rho) == (0.5, 0.0, 0.125)
    assert guarantee.neighbors is Neighbors.REPLACE
    assert guarantee.certificate is Certificate.EXACT
    assert guarantee.sensitivity_source == "asserted by the caller"
    kinds = {c.kind for c in guarantee.contingencies}
    assert kinds == {ContingencyKind.RUNNING_TIME, ContingencyKind.CALLER}
    assert guarantee.is_private


def test_seed_reproduces_and_is_marked() -> None:
    first, second = (opdisc(TABLE, epsilon=0.1, sensitivity=2, random_state=7) for _ in range(2))
    assert first == second
    assert not first.guarantee.is_private
    assert "NOT PRIVATE" in str(first)


def test_solver_certificate_is_a_named_contingency() -> None:
    program = IntegerProgram([3, -2], [[1, 1]], None, [1], upper=[1, 1])
    release = opdisc(ReleasedVariables(program, (0, 1), Highs()), epsilon=50, sensitivity=1)
    assert release.guarantee.certificate is Certificate.SOLVER
    kinds = {c.kind: c.detail for c in release.guarantee.contingencies}
    assert "HiGHS" in kinds[ContingencyKind.ORACLE_BOUND]
    assert program.is_feasible(release.value)


def test_program_with_one_point_releases_it() -> None:
    program = IntegerProgram([5], lower=[2], upper=[2])
    release = opdisc(ReleasedVariables(program, (0,), Exhaustive()), epsilon=1, sensitivity=1)
    assert release.value.tolist() == [2]


class Uncertified:
    """An oracle that finds the optimum and proves nothing."""

    sizes = (3,)
    is_integer = True

    def check(self, *, scale: int = 1, limits: Limits | None = None) -> None:
        pass

    def minimize(
        self, rewards: object, *, scale: int = 1, limits: Limits | None = None
    ) -> Solution:
        return Solution(Status.STOPPED, (1,), 16, 0, Certificate.NONE, "fake")


def test_no_certificate_no_release_and_the_charge_stays() -> None:
    ledger = Ledger({"people": 1.0})
    with pytest.raises(UncertifiedError, match=r"depends on the data and is not\s+covered by"):
        opdisc(Uncertified(), epsilon=0.6, sensitivity=1, ledger=ledger, dataset="people")
    assert ledger.spent("people")[0] == rational("epsilon", 0.6)
    with pytest.raises(OverspendError):
        opdisc(TABLE, epsilon=0.6, sensitivity=1, ledger=ledger, dataset="people")
    assert len(ledger.charges) == 1


def test_a_limit_makes_the_guarantee_conditional() -> None:
    release = opdisc(TABLE, epsilon=1, sensitivity=1, limits=Limits(seconds=60))
    assert ContingencyKind.COMPLETION in {c.kind for c in release.guarantee.contingencies}
    assert "conditional on completion" in str(release.guarantee)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"epsilon": 0}, ParameterError),
        ({"epsilon": -1.0}, ParameterError),
        ({"epsilon": math.nan}, ParameterError),
        ({"epsilon": math.inf}, ParameterError),
        ({"sensitivity": -1}, ParameterError),
        ({"sensitivity": 0}, ParameterError),
        ({"sensitivity": math.inf}, ParameterError),
        ({"neighbors": "friends"}, ParameterError),
        ({"lattice_bits": 21}, ParameterError),
        ({"lattice_bits": 1.5}, ParameterError),
        ({"random_state": -1}, ParameterError),
        ({"epsilon": 1e-20}, ParameterError),
        ({"dataset": None}, ParameterError),
        ({"ledger": None}, ParameterError),
        ({"dataset": "strangers"}, LedgerError),
        ({"neighbors": "add_remove"}, LedgerError),
        ({"problem": FiniteTable([1], [False])}, InfeasibleError),
        (
            {"problem": ReleasedVariables(IntegerProgram([0.5], upper=[1]), (0,), Highs())},
            ParameterError,
        ),
    ],
    ids=str,
)
def test_bad_input_is_named_and_charges_nothing(
    changes: dict[str, object], error: type[Exception]
) -> None:
    ledger = Ledger({"people": Budget(epsilon=10)})
    settings: dict[str, object] = {
        "problem": TABLE,
        "epsilon": 1,
        "sensitivity": 2,
        "ledger": ledger,
        "dataset": "people",
        **changes,
    }
    with pytest.raises(error):
        opdisc(settings.pop("problem"), **settings)
    assert ledger.charges == ()


def test_sensitivity_is_never_rounded_down() -> None:
    # 0.1 as a float is slightly more than a tenth; 5 * 0.2 steps must clear the float's reading.
    seen = {}

    def peek(self: OneHotNoise, sizes: object, source: object) -> tuple[list[np.ndarray], None]:
        seen["noise"] = self
        return [np.zeros(3, dtype=np.int64)], None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OneHotNoise, "draw", peek)
        opdisc(TABLE, epsilon=0.1, sensitivity=0.1)
    assert seen["noise"].sensitivity >= Fraction(0.1)
    assert seen["noise"].epsilon == Fraction(1, 10) < Fraction(0.1)


# -- oracles that lie --------------------------------------------------------------------------


@dataclass(frozen=True)
class Liar:
    """Changes the true answer before it is given."""

    change: dict[str, object]
    name: str = "liar 1.0"

    def minimize(
        self, program: IntegerProgram, *, limits: Limits | None = None, start: object = None
    ) -> Solution:
        found = Exhaustive().minimize(program)
        if not program.objective.any():  # Asked before the charge whether it proves anything.
            return found
        return replace(found, oracle="rows = [17, 42]", **self.change)


PROGRAM = IntegerProgram([3, -2], [[1, 1]], None, [1], upper=[1, 1])


@pytest.mark.parametrize(
    "change",
    [
        {"value": np.array([777.0, 777.0])},
        {"value": np.array([0.4, 0.6])},
        {"value": np.array([np.nan, 0.0])},
        {"value": np.array([1.0, 0.0])},
        {"objective": -(10**6)},
        {"bound": -math.inf},
        {"bound": 10**6},
        {"bound": math.nan},
        {"status": Status.ERROR},
        {"certificate": Certificate.NONE},
        {"certificate": "exact"},
    ],
    ids=str,
)
def test_what_a_lying_oracle_says_is_not_released(change: dict[str, object]) -> None:
    for seed in range(5):
        with pytest.raises(UncertifiedError):
            opdisc(
                ReleasedVariables(PROGRAM, (0, 1), Liar(change)),
                epsilon=1,
                sensitivity=1,
                random_state=seed,
            )


def test_a_foreign_proof_is_its_own_word_and_named() -> None:
    release = opdisc(ReleasedVariables(PROGRAM, (0, 1), Liar({})), epsilon=1, sensitivity=1)
    assert release.guarantee.certificate is Certificate.SOLVER
    text = " ".join(str(release.guarantee).split())
    assert "liar 1.0" in text
    assert "17" not in text
