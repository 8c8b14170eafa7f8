"""Objective perturbation of losses that are not integer: any point within a proven gap will do.

The worst oracle is enumerated: on one data set it returns a point whenever the gap allows that, on
the other one only where nothing else is allowed. No oracle has a greater ratio for that point.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from oracle_dp import Ledger, ParameterError, UncertifiedError, opdisc
from oracle_dp.mechanisms.perturbation import perturbation_of
from oracle_dp.privacy import ContingencyKind
from oracle_dp.solve import solve_private
from oracles import Certificate, Exhaustive, Highs, IntegerProgram, Limits, Solution, Status
from oracles.oracle import UNLIMITED
from oracles.released import ReleasedVariables

from .exact_law import one_coordinate, two_coordinates

SENSITIVITY, BITS = Fraction(2), 2
"""Losses are multiples of 1/4, which the lattice's steps are too: laws can be enumerated."""


def noise(epsilon: int, coordinates: int, gap: Fraction) -> Any:
    return perturbation_of(
        (5,) * coordinates, None, lift="one_hot", noise=None, epsilon=Fraction(epsilon),
        delta=Fraction(0), sensitivity=SENSITIVITY + 2 * gap, lattice_bits=BITS, max_norm=None,
    )  # fmt: skip


def extremes(
    d: np.ndarray, e: np.ndarray, point: tuple[int, ...], gap: Fraction, q: float
) -> tuple[float, float]:
    """The most that an oracle can give a point on d, and the least on e; losses in steps."""
    steps = int(gap * 2**BITS)
    assert steps == gap * 2**BITS
    liked, disliked = d.copy(), e.copy()
    # It is allowed iff no other is better by more than the gap, and forced iff all are worse by so.
    liked[point] -= steps
    disliked[point] += steps
    if d.ndim == 1:
        (i,) = point
        other = (i + 1) % len(d)
        most = one_coordinate(liked, q, first=i)[i]
        return most, one_coordinate(disliked, q, first=other)[i]
    # Ties go to lower indices, and the points tried come last. Sums are cut; the error is on the
    # side on which a violation is certain.
    least, missing = two_coordinates(disliked, q)
    return two_coordinates(liked, q, first=point)[0][point], least[point] + missing


def worst_pair(shape: tuple[int, ...], far: int) -> tuple[np.ndarray, np.ndarray, tuple[int, ...]]:
    """A point far behind whose neighbour helps it by Delta against those one step away."""
    point = tuple(m - 1 for m in shape)
    base = np.full(shape, 4 * far)
    for j, m in enumerate(shape):
        for value in range(m - 1):
            base[(*point[:j], value, *point[j + 1 :])] = 0
    base[point] = far
    other = base.copy()
    other[point] += int(SENSITIVITY * 2**BITS)
    return base, other, point


@pytest.mark.parametrize("gap", [Fraction(1, 4), Fraction(1), Fraction(5, 2)])
@pytest.mark.parametrize("shape", [(2,), (3,), (5,), (2, 2), (2, 3)], ids=str)
def test_the_worst_oracle_keeps_the_claim_and_attains_it(
    shape: tuple[int, ...], gap: Fraction
) -> None:
    epsilon = 1 if len(shape) == 1 else 12
    calibrated = noise(epsilon, len(shape), gap)
    q = math.exp(-float(calibrated.exponent))
    d, e, point = worst_pair(shape, 60 if len(shape) == 1 else 8)
    most, least = extremes(d, e, point, gap, q)
    assert math.log(most / least) <= epsilon + 1e-6
    # The strict shift wastes one step of N at most.
    assert math.log(most / least) >= epsilon * (1 - 1.2 / calibrated.shift) - 1e-6
    g = np.random.default_rng(len(shape))
    for _ in range(10):
        d = g.integers(0, 12, shape)
        e = d + g.integers(-4, 5, shape)  # A difference of two moves by at most 8 steps, Delta.
        for one, two in ((d, e), (e, d)):
            most, least = extremes(one, two, point, gap, q)
            assert math.log(most / least) <= epsilon + 1e-6


@pytest.mark.parametrize("gap", [Fraction(1, 4), Fraction(1)])
def test_noise_for_the_sensitivity_alone_does_not_keep_it(gap: Fraction) -> None:
    calibrated = noise(1, 1, Fraction(0))
    q = math.exp(-float(calibrated.exponent))
    d, e, point = worst_pair((5,), 60)
    most, least = extremes(d, e, point, gap, q)
    assert math.log(most / least) > 1.1
    # Nor does once the gap in place of twice.
    calibrated = noise(1, 1, gap / 2)
    most, least = extremes(d, e, point, gap, math.exp(-float(calibrated.exponent)))
    assert math.log(most / least) > 1.05


# -- the mechanism ------------------------------------------------------------------------------

FRACTIONAL = IntegerProgram(
    [-0.3, -0.55, -0.4, 0.25], [[2, 3, 1, 1], [1, 0, 0, 2]], row_upper=[5, 1.5],
    upper=[1, 1, 2, 3], integer=[True, True, True, False],
    names=["open_a", "open_b", "size", "flow"],
)  # fmt: skip


@dataclass(frozen=True)
class Sloppy:
    """An oracle that returns a worse point, with an honest bound."""

    name: str = "sloppy"

    def minimize(
        self, program: IntegerProgram, *, limits: Limits = UNLIMITED, start: Any = None
    ) -> Solution[np.ndarray]:
        found = Highs().minimize(program, limits=limits, start=start)
        assert found.value is not None
        other = found.value.copy()
        other[1] = 1 - other[1]
        if not program.is_feasible(other):
            return found
        objective = program.objective_value(other)
        return Solution(
            Status.OPTIMAL, other, objective, found.bound, Certificate.BOUNDED, self.name
        )


def test_a_fractional_objective_with_continuous_recourse() -> None:
    ledger = Ledger({"people": 1.0})
    release = solve_private(
        FRACTIONAL, epsilon=1, sensitivity=1, release=["open_*", "size"], gap=0.01,
        ledger=ledger, dataset="people", random_state=0,
    )  # fmt: skip
    assert set(release.value) == {"open_a", "open_b", "size"}
    guarantee = release.guarantee
    assert (guarantee.mechanism, guarantee.epsilon, guarantee.delta) == ("opdisc", 1.0, 0.0)
    assert guarantee.certificate is Certificate.BOUNDED
    assert guarantee.sensitivity == 1.0
    assert "within a proven gap of 0.01 (Theorem 4)" in guarantee.theorem
    details = {c.kind: c.detail for c in guarantee.contingencies}
    assert "a gap of at most 0.01 rests on" in details[ContingencyKind.ORACLE_BOUND]
    assert ContingencyKind.COMPLETION in details
    assert ledger.spent("people")[0] == 1


def test_the_noise_is_that_of_a_larger_sensitivity(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = ReleasedVariables(FRACTIONAL, (0, 1, 2), Highs())
    seen = []

    def noted(*arguments: Any, sensitivity: Fraction, **options: Any) -> Any:
        seen.append(sensitivity)
        return perturbation_of(*arguments, sensitivity=sensitivity, **options)

    monkeypatch.setattr("oracle_dp.mechanisms.opdisc.perturbation_of", noted)
    # Of a float the greater reading; of what has to be proven the smaller one.
    for gap in (Fraction(1, 3), 0.1, 0.3):
        opdisc(problem, epsilon=1, sensitivity=3, gap=gap, random_state=0)
        assert seen[-1] == 3 + 2 * max(Fraction(gap), Fraction(str(gap)))


def test_at_a_great_epsilon_it_is_the_minimiser() -> None:
    release = solve_private(
        FRACTIONAL, epsilon=3_000, sensitivity=1, release="*e*", gap=0.001, random_state=0
    )
    assert release.value == {"open_a": 0, "open_b": 1, "size": 2}


def test_a_point_within_the_gap_is_released_and_one_beyond_it_is_not() -> None:
    problem = ReleasedVariables(FRACTIONAL, (0, 1, 2), Sloppy())
    settings: dict[str, Any] = {"epsilon": 3_000, "sensitivity": 1, "random_state": 0}
    release = opdisc(problem, gap=5, **settings)
    assert release.value.tolist() == [0, 0, 2]
    ledger = Ledger({"people": 3_000.0})
    with pytest.raises(UncertifiedError, match=r"gap of 0\.001 is not proven.*depends on the data"):
        opdisc(problem, gap=0.001, ledger=ledger, dataset="people", **settings)
    assert ledger.spent("people")[0] == 3_000


@pytest.mark.parametrize("first_cost", [-3, -3.1], ids=["integer", "fractional"])
def test_a_gap_within_the_margin_is_refused_whatever_the_objective(first_cost: float) -> None:
    program = IntegerProgram([first_cost, -5], [[1, 1]], row_upper=[1], upper=[1, 1])
    ledger = Ledger({"people": 1.0})
    given: dict[str, Any] = {"ledger": ledger, "dataset": "people", "random_state": 0}
    with pytest.raises(ParameterError, match=r"^gap: more than 1\.25e-05 expected"):
        solve_private(program, epsilon=1, sensitivity=1, release="*", gap=1.25e-5, **given)
    assert ledger.spent("people")[0] == 0
    solve_private(program, epsilon=1, sensitivity=1, release="*", gap=1.3e-5, **given)


def test_an_integer_objective_may_have_a_gap_too() -> None:
    # Whether it is one may depend on the data, and must not decide what is refused.
    program = IntegerProgram([-3, -5], [[1, 1]], row_upper=[1], upper=[1, 1])
    for oracle in (Highs(), Exhaustive()):
        problem = ReleasedVariables(program, (0, 1), oracle)
        release = opdisc(problem, epsilon=500, sensitivity=1, gap=0.5, random_state=0)
        assert release.value.tolist() == [0, 1]


@pytest.mark.parametrize("oracle", [Highs(), Exhaustive()], ids=lambda oracle: oracle.name)
def test_the_guarantee_does_not_say_whether_the_objective_is_integer(oracle: Any) -> None:
    first, second = (
        solve_private(
            IntegerProgram([-3 + moved, -5], [[1, 1]], row_upper=[1], upper=[1, 1]),
            epsilon=500, sensitivity=1, release="*", gap=0.5, oracle=oracle, random_state=0,
        )
        for moved in (0, 0.1)
    )  # fmt: skip
    assert first.guarantee == second.guarantee
    assert first.guarantee.certificate is Certificate.BOUNDED


def test_a_second_opinion_on_fractional_objectives() -> None:
    release = solve_private(
        FRACTIONAL, epsilon=1, sensitivity=1, release="open_*", gap=0.01, random_state=0,
        cross_check=Highs(presolve=False),
    )  # fmt: skip
    assert "cross-checked" in str(release.guarantee).replace("\n", " ")


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"gap": 0}, "gap"),
        ({"gap": -1}, "gap"),
        ({"gap": math.nan}, "gap"),
        ({"gap": 0.1, "mechanism": "exponential"}, "gap: only opdisc"),
        ({"gap": 0.1, "mechanism": "top_r"}, "gap: only opdisc"),
        ({"gap": 0.1, "delta": 1e-6}, "delta"),
        ({"gap": 0.1, "release": "flow"}, "'flow' is continuous"),
    ],
)
def test_parameters_out_of_range(changes: dict[str, Any], match: str) -> None:
    given = {"epsilon": 1, "sensitivity": 1, "release": "open_*", **changes}
    with pytest.raises(ParameterError, match=match):
        solve_private(FRACTIONAL, **given)
