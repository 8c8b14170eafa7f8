"""The front door with every lift and noise: what is released, refused and charged."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from oracle_dp import (
    Budget,
    Ledger,
    OverspendError,
    ParameterError,
    UncertifiedError,
    opdisc,
)
from oracle_dp.mechanisms.perturbation import NOISES, RadialPerturbation, perturbation_of
from oracle_dp.mechanisms.pi_lift import PiLift
from oracle_dp.noise import SeededBits, rational
from oracle_dp.privacy import ContingencyKind
from oracles import (
    Certificate,
    Exhaustive,
    Highs,
    InfeasibleError,
    IntegerProgram,
    ProblemError,
    Solution,
)
from oracles.finite import FiniteTable
from oracles.released import ReleasedVariables
from oracles.zero_one import CellTable, ZeroOneProblem

TABLE = FiniteTable([[3, 1], [2, 5]])
LIFTS = [(lift, noise) for lift, noises in NOISES.items() for noise in noises]


def delta_of(noise: str) -> float:
    return 1e-6 if noise == "gaussian" else 0


@pytest.mark.parametrize(("lift", "noise"), LIFTS)
def test_release_states_its_guarantee(lift: str, noise: str) -> None:
    delta = delta_of(noise)
    release = opdisc(TABLE, epsilon=0.5, sensitivity=2, lift=lift, noise=noise, delta=delta)
    guarantee = release.guarantee
    assert release.value in set(itertools.product((0, 1), repeat=2))
    assert (guarantee.epsilon, guarantee.delta) == (0.5, delta)
    assert guarantee.rho == (None if delta else 0.125)
    assert ("Theorem 3" if lift != "one_hot" else "Theorem 2") in guarantee.theorem
    assert guarantee.certificate is Certificate.EXACT


def test_exponential_is_another_name_for_geometric() -> None:
    releases = [
        opdisc(TABLE, epsilon=0.5, sensitivity=2, noise=noise, random_state=3)
        for noise in (None, "geometric", "exponential")
    ]
    assert len({release.value for release in releases}) == 1


@pytest.mark.parametrize(("lift", "noise"), [pair for pair in LIFTS if pair[0] != "one_hot"])
def test_the_released_point_minimises_the_perturbed_loss(
    lift: str, noise: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code's own perturbation, applied by hand to every point."""
    seen: list[RadialPerturbation] = []
    right = RadialPerturbation.draw

    def peek(self: RadialPerturbation, sizes: object, source: object) -> object:
        seen.append(self)
        return right(self, sizes, source)  # as opdisc calls it

    monkeypatch.setattr(RadialPerturbation, "draw", peek)
    generator = np.random.default_rng(1)
    for seed in range(20):
        losses = generator.integers(0, 9, (2, 2, 2))
        release = opdisc(
            FiniteTable(losses),
            epsilon=20,
            sensitivity=1,
            lift=lift,
            noise=noise,
            delta=delta_of(noise),
            random_state=seed,
        )
        drawn = seen[-1].noise.draw(SeededBits(seed))
        rewards, total = seen[-1].lift.rewards(drawn)
        perturbed = {
            point: seen[-1].scale * int(losses[point])
            - sum(int(own[i]) for own, i in zip(rewards, point, strict=True))
            - ((total.reward(point) or 0) if total else 0)
            for point in itertools.product((0, 1), repeat=3)
        }
        assert perturbed[release.value] == min(perturbed.values())


ROWS = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]
CODES = np.array(ROWS).repeat([5, 1, 3, 2, 4, 6], axis=0)
LABELS = np.arange(len(CODES)) % 3 == 0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("max_norm", [None, 1.5])
@pytest.mark.parametrize("weights", [(-1, 0, 1), (1, 0, -1), (-2, 0, 1)])
@pytest.mark.parametrize(
    ("method", "certificate"), [("search", Certificate.EXACT), ("milp", Certificate.SOLVER)]
)
def test_classifiers_agree_with_enumeration(
    seed: int,
    max_norm: float | None,
    weights: tuple[int, ...],
    method: str,
    certificate: Certificate,
) -> None:
    """Search, and the program over cells, against a table of the losses of all classifiers."""
    cells = CellTable.from_codes(CODES, LABELS, (3, 2))
    problem = ZeroOneProblem(cells, weights, method=method)
    points = list(itertools.product(weights, repeat=5))
    losses = np.array([cells.errors(cells.split(point)) for point in points])
    table = FiniteTable(losses.reshape((len(weights),) * 5))
    perturbation = perturbation_of(
        problem.sizes,
        problem.values,
        lift="pi",
        noise=None,
        epsilon=Fraction(4),
        delta=Fraction(0),
        sensitivity=Fraction(2),
        lattice_bits=None,
        max_norm=max_norm,
    )
    rewards, total = perturbation.draw(problem.sizes, SeededBits(seed))
    found = problem.minimize(rewards, scale=perturbation.scale, total=total)
    expected = table.minimize(rewards, scale=perturbation.scale, total=total)
    assert found.objective == expected.objective
    assert found.certificate is certificate
    assert found.value is not None
    assert max_norm is None or np.linalg.norm(np.concatenate(found.value)) <= max_norm


def test_an_integer_program_through_highs() -> None:
    program = IntegerProgram([3, -2, 1], [[1, 1, 1]], None, [2], lower=[-1, -1, 0], upper=[1, 1, 4])
    values = set()
    for seed in range(8):
        answers = [
            opdisc(
                ReleasedVariables(program, (0, 1), oracle),
                epsilon=2,
                sensitivity=1,
                lift="pi",
                random_state=seed,
            )
            for oracle in (Highs(), Exhaustive())
        ]
        assert answers[0].value.tolist() == answers[1].value.tolist()
        assert answers[0].guarantee.certificate is Certificate.SOLVER
        values.add(tuple(answers[0].value.tolist()))
    assert len(values) > 1


GAUSSIAN = {"lift": "pi", "noise": "gaussian", "delta": 1e-6}

REFUSED = [
    ({"lift": "pie"}, "lift"),
    ({"lift": 3}, "lift"),
    ({"noise": "gaussian"}, "noise"),
    ({"lift": "pi", "noise": "geometric"}, "noise"),
    ({"delta": 1e-6}, "delta"),
    ({"lift": "pi", "delta": 1e-6}, "delta"),
    ({"lift": "pi", "noise": "gaussian"}, "delta"),
    ({"lift": "pi", "noise": "gaussian", "delta": 1}, "delta"),
    ({"lift": "pi", "noise": "gaussian", "delta": -0.1}, "delta"),
    ({"lift": "pi", "noise": "gaussian", "delta": float("nan")}, "delta"),
    ({"max_norm": 1.0}, "max_norm"),
    ({"lift": "centred_binary", "max_norm": 1.0}, "max_norm"),
    ({"lift": "pi", "max_norm": 0}, "max_norm"),
    ({"lift": "centred_binary", "lattice_bits": 5}, "lattice_bits"),
    ({"lift": "pi", "lattice_bits": 21}, "lattice_bits"),
    ({"lift": "pi", "lattice_bits": True}, "lattice_bits"),
    ({"lift": "centred_binary", "epsilon": Fraction(1, 10**18)}, "epsilon"),
    ({"lift": "pi", "epsilon": Fraction(1, 10**14)}, "epsilon"),
    (
        {"lift": "pi", "noise": "gaussian", "delta": 1e-6, "epsilon": Fraction(1, 10**400)},
        "epsilon",
    ),
    ({"lift": "pi", "noise": "gaussian", "delta": 1e-6, "epsilon": 1e300}, "epsilon"),
    ({"lift": "pi", "sensitivity": 1e9}, "sensitivity"),
]


@pytest.mark.parametrize(("given", "fault"), REFUSED)
def test_what_does_not_fit_is_refused_before_the_charge(
    given: dict[str, object], fault: str
) -> None:
    ledger = Ledger({"people": Budget(epsilon=1, delta=Fraction(1, 1000))})
    settings: dict[str, object] = {"epsilon": 0.5, "sensitivity": 2, **given}
    with pytest.raises(ParameterError, match=fault):
        opdisc(TABLE, ledger=ledger, dataset="people", **settings)  # wrong on purpose
    assert not ledger.charges


def test_values_too_far_apart_for_64_bits_are_refused() -> None:
    """Their squares would wrap around."""
    with pytest.raises(ParameterError, match="steps of the grid"):
        PiLift.of([np.array([-(2**32), 0, 1, 2**32])])


def test_too_many_rows_for_a_solver_are_refused_before_the_charge() -> None:
    ledger = Ledger({"people": Budget(epsilon=1)})
    cells = CellTable.from_codes(CODES, LABELS, (3, 2)).scaled(10**8)
    solver = ZeroOneProblem(cells, method="milp")
    far_more = ZeroOneProblem(cells.scaled(10**6))
    for problem, lift in ((solver, "pi"), (solver, "one_hot"), (far_more, "pi")):
        with pytest.raises(ProblemError, match="too large"):
            opdisc(problem, epsilon=0.5, sensitivity=2, lift=lift, ledger=ledger, dataset="people")
    assert not ledger.charges
    for lift in ("one_hot", "pi"):
        opdisc(
            ZeroOneProblem(cells), epsilon=0.5, sensitivity=2, lift=lift, ledger=ledger,
            dataset="people",
        )  # fmt: skip
    assert len(ledger.charges) == 2


def test_coarser_entries_make_smaller_objectives() -> None:
    values = [np.arange(6)] * 10
    coarse, fine = (PiLift.of(values, bits=bits) for bits in (8, None))
    assert 0 < coarse.gain < fine.gain / 5
    with pytest.raises(ParameterError, match="lattice_bits"):
        PiLift.of(values, bits=3)


def test_a_solver_makes_the_guarantee_conditional() -> None:
    program = IntegerProgram([1, 1], upper=[2, 2])
    kinds = {}
    for oracle in (Highs(), Exhaustive()):
        problem = ReleasedVariables(program, (0, 1), oracle)
        release = opdisc(problem, epsilon=0.5, sensitivity=2)
        kinds[oracle.name] = {c.kind for c in release.guarantee.contingencies}
    solver, enumerated = kinds.values()
    assert ContingencyKind.COMPLETION in solver
    assert ContingencyKind.COMPLETION not in enumerated


def test_three_values_are_too_many_for_the_centred_binary_lift() -> None:
    with pytest.raises(ParameterError, match="two values"):
        opdisc(FiniteTable([1, 2, 3]), epsilon=1, sensitivity=1, lift="centred_binary")


def test_no_point_within_the_norm_bound_is_refused_before_the_charge() -> None:
    ledger = Ledger({"people": Budget(epsilon=1)})
    program = IntegerProgram([1, 1], lower=[2, 2], upper=[3, 3])
    problem = ReleasedVariables(program, (0, 1), Exhaustive())
    with pytest.raises(InfeasibleError):
        opdisc(
            problem,
            epsilon=0.5,
            sensitivity=1,
            lift="pi",
            max_norm=2.0,
            ledger=ledger,
            dataset="people",
        )
    assert not ledger.charges


def test_delta_is_charged() -> None:
    ledger = Ledger({"people": Budget(epsilon=1, delta=Fraction(1, 10**6))})
    settings = {"epsilon": 0.5, "sensitivity": 2, "lift": "pi", "noise": "gaussian"}
    for _ in range(2):
        opdisc(TABLE, delta=4e-7, ledger=ledger, dataset="people", **settings)  # of one type each
    assert [charge.delta for charge in ledger.charges] == [rational("delta", 4e-7)] * 2
    with pytest.raises(OverspendError):
        opdisc(TABLE, delta=4e-7, ledger=ledger, dataset="people", **settings)  # of one type each


class Unsure:
    """Answers rightly, and proves nothing once there is an objective."""

    name = "unsure 1.0"

    def minimize(self, program: IntegerProgram, **rest: object) -> Solution[np.ndarray]:
        found = Exhaustive().minimize(program)
        return replace(found, certificate=Certificate.NONE) if program.objective.any() else found


def test_a_refusal_stays_charged() -> None:
    ledger = Ledger({"people": Budget(epsilon=1)})
    program = IntegerProgram([1, 1], upper=[2, 2])
    with pytest.raises(UncertifiedError, match="not covered"):
        opdisc(
            ReleasedVariables(program, (0, 1), Unsure()),
            epsilon=0.5,
            sensitivity=2,
            lift="pi",
            ledger=ledger,
            dataset="people",
        )
    assert len(ledger.charges) == 1
