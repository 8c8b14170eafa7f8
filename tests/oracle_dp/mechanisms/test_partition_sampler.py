"""Exact draws from partitions: the law of a trial, the checks, and partitions against truth."""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from experiments import program_exactness
from oracle_dp import UncertifiedError
from oracle_dp.mechanisms import partition_sampler
from oracle_dp.mechanisms.envelope_walk import Walk
from oracle_dp.mechanisms.partition_sampler import PartitionSampler
from oracle_dp.mechanisms.rejection import EnvelopeError
from oracle_dp.mechanisms.selection import SelectionExponential
from oracle_dp.noise import SeededBits
from oracle_dp.noise.reals import MANTISSA, dyadic_parts
from oracles import Exhaustive, Highs, InfeasibleError, IntegerProgram, Limits
from oracles.selection.base import BaseSet, Block
from oracles.selection.envelope import Envelope, Minorant
from oracles.selection.facility import FacilityLoss
from oracles.selection.linear import ProgramLoss

from .goodness import p_value

BETA = Fraction(1, 7)


def facility(seed: int = 0) -> FacilityLoss:
    g = np.random.default_rng(seed)
    return FacilityLoss(BaseSet.subsets(7, exactly=3), g.integers(0, 20, (12, 7)))


def outcomes(sampler: PartitionSampler, trials: int) -> list[tuple[int, ...] | None]:
    source = SeededBits(5)
    drawn = [sampler.trial(source) for _ in range(trials)]
    return [None if point is None else tuple(point.tolist()) for point in drawn]


def rational(x: float) -> Fraction:
    mantissa, exponent = dyadic_parts(x)
    return mantissa * Fraction(2) ** (exponent - MANTISSA)


def walk_law(envelope: Envelope, base: BaseSet) -> dict[tuple[int, ...], Fraction]:
    """The probability of every member, from the tables by definition (Lemma 2)."""
    law = {}
    for w in itertools.product(
        *(range(a, b + 1) for a, b in zip(base.lower, base.upper, strict=True))
    ):
        chance, place = Fraction(1), 0
        for block, table in enumerate(envelope.tables):
            total = 0
            for i in range(len(table) - 1):
                j = base.layout.order[place]
                k = int(envelope.offsets[place]) + w[j] - int(envelope.lower[j])
                here = rational(float(table[i, total]))
                total += int(envelope.moves[k])
                if total >= table.shape[1] or table[i + 1, total] == -math.inf:
                    chance = Fraction(0)
                    break
                chance *= rational(float(envelope.weights[k]))
                chance *= rational(float(table[i + 1, total])) / here
                place += 1
            if not chance:
                break
            assert block < len(envelope.tables)
        if chance:
            law[w] = chance
    return law


@pytest.mark.parametrize(
    "base",
    [
        BaseSet.subsets(6, exactly=2),
        BaseSet.subsets(6, at_most=3),
        BaseSet.knapsack([3, 1, 4, 1, 5, 2], 7),
        BaseSet([-1, 0, 0, 0, 1], [1, 2, 1, 1, 2], (Block((0, 1, 4), (-2, 1, 3), -1, 4),)),
    ],
)
def test_proposals_have_the_probability_that_they_state(base: BaseSet) -> None:
    g = np.random.default_rng(1)
    minorant = Minorant(5, g.integers(-9, 10, base.n_variables), 1, np.empty(0), np.zeros(9))
    envelope = Envelope.of(base, minorant, base.lower, base.upper, beta=BETA, reference=0)
    law = walk_law(envelope, base)
    assert len(law) == base.n_points
    assert 1 - 1e-7 < float(sum(law.values())) <= 1
    walk, source = Walk(envelope), SeededBits(3)
    seen: dict[tuple[int, ...], int] = {}
    for _ in range(2_000):
        found = walk.propose(base, source)
        if found is None:
            continue
        stated = found.weight * Fraction(2) ** found.exponent / found.begin
        w = tuple(found.point.tolist())
        assert stated == law[w]
        seen[w] = seen.get(w, 0) + 1
    often = [w for w in law if law[w] * 2_000 > 30]
    assert often
    for w in often:  # Six standard deviations.
        mean = 2_000 * float(law[w])
        assert abs(seen.get(w, 0) - mean) < 6 * math.sqrt(mean)


def test_mass_times_probability_is_never_below_the_target() -> None:
    """Inequality (1) on every member of every box, and the law of one trial, exactly."""
    loss = facility()
    sampler = PartitionSampler(loss, BETA)
    source = SeededBits(0)
    for _ in range(40):
        sampler.trial(source)
    assert sampler.n_nodes > 3
    covered = 0
    with ctx.workprec(200):
        for node in sampler._nodes:
            envelope = sampler._walk(node).envelope
            mass = Fraction(node.mass, 2 ** (partition_sampler.MASS_SHIFT + MANTISSA))
            inside = BaseSet(node.lower, node.upper)
            for w, chance in walk_law(envelope, _with_rows(inside, loss.base)).items():
                covered += 1
                excess = -BETA * (loss.value(np.array(w)) - sampler.reference)
                target = arb(fmpq(excess.numerator, excess.denominator)).exp()
                bound = mass * chance
                assert target <= arb(fmpq(bound.numerator, bound.denominator))
    assert covered == loss.base.n_points


def _with_rows(box: BaseSet, base: BaseSet) -> BaseSet:
    """A base set's layout, with a box's bounds for enumeration."""
    copy = object.__new__(BaseSet)
    for name, value in (
        ("lower", box.lower), ("upper", box.upper), ("blocks", base.blocks), ("layout", base.layout)
    ):  # fmt: skip
        object.__setattr__(copy, name, value)
    return copy


def test_preregistered_rule_on_fewer_draws() -> None:
    # The large run is committed; this is the same code and the same rule with n / 200.
    records = [
        program_exactness.run_instance(i, 300) for i in range(len(program_exactness.instances()))
    ]
    assert len(records) >= 12
    assert program_exactness.verdict(records)["passes"], records


def test_the_rule_catches_a_wrong_exponent(monkeypatch: pytest.MonkeyPatch) -> None:
    right = PartitionSampler.__init__

    def wrong(self: PartitionSampler, loss: FacilityLoss, beta: Fraction) -> None:
        right(self, loss, beta * 9 / 10)

    monkeypatch.setattr(PartitionSampler, "__init__", wrong)
    records = [program_exactness.run_instance(i, 6_000) for i in (0, 2)]
    assert not program_exactness.verdict(records)["passes"]


# -- the checks --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Lying:
    """A loss whose minorant is above it."""

    base: BaseSet
    above: int

    def value(self, point: np.ndarray) -> int:
        return int(point.sum())

    def minorant(
        self, lower: np.ndarray, upper: np.ndarray, beta: float, parent: Minorant | None
    ) -> Minorant:
        n = len(lower)
        return Minorant(self.above, np.ones(n, np.int64), 0, np.empty(0), np.full(n, 0.5))


def test_a_minorant_above_its_loss_is_an_error_when_it_is_drawn() -> None:
    honest = PartitionSampler(Lying(BaseSet.subsets(4), 0), Fraction(1))
    assert honest.trial(SeededBits(0)) is not None
    lying = PartitionSampler(Lying(BaseSet.subsets(4), 1), Fraction(1))
    with pytest.raises(EnvelopeError, match="above its loss"):
        lying.trial(SeededBits(0))


def test_an_entry_below_its_sum_is_an_error() -> None:
    base = BaseSet.subsets(4, exactly=2)
    g = Minorant(0, np.array([1, 2, 3, 4]), 0, np.empty(0), np.zeros(4))
    envelope = Envelope.of(base, g, base.lower, base.upper, beta=BETA, reference=0)
    envelope.tables[0][0, 0] -= 1e-8
    with pytest.raises(EnvelopeError, match="below the sum"):
        Walk(envelope).propose(base, SeededBits(0))


def test_a_set_without_members_is_infeasible() -> None:
    @dataclass(frozen=True, eq=False)
    class Nowhere(Lying):
        def value(self, point: np.ndarray) -> None:  # no member
            return None

    sampler = PartitionSampler(Nowhere(BaseSet.subsets(3), 0), Fraction(1))
    with pytest.raises(InfeasibleError):
        outcomes(sampler, 1_000)


def test_tables_that_were_dropped_are_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_sampler, "MOST_WALKS", 1)
    few = PartitionSampler(facility(), BETA)
    first = outcomes(few, 60)
    monkeypatch.setattr(partition_sampler, "MOST_WALKS", 10**6)
    many = PartitionSampler(facility(), BETA)
    again = outcomes(many, 60)
    assert first == again
    assert len(few._walks) == 1


@pytest.mark.parametrize("beta", [Fraction(1, 10**9), Fraction(10**6), Fraction(10**12)])
def test_extreme_rates(beta: Fraction) -> None:
    loss, source = facility(), SeededBits(0)
    sampler = PartitionSampler(loss, beta)
    points = [loss.base.point_at(r) for r in range(loss.base.n_points)]
    drawn = []
    while len(drawn) < 20:
        point = sampler.trial(source)
        if point is not None:
            drawn.append(loss.value(point))
    if beta > 1:
        assert set(drawn) == {min(loss.value(point) for point in points)}
    else:
        assert len(set(drawn)) > 5


# -- gaps of many nats -------------------------------------------------------------------------


def wide_gap(size: int) -> ProgramLoss:
    """Two rows that no base set holds both, and profits that differ by a few nats only."""
    profits = size + np.random.default_rng(0).integers(0, 3, 8)
    rows = [[3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8]]
    program = IntegerProgram(-profits, rows, row_upper=[15, 17], upper=np.ones(8))
    return ProgramLoss(program, range(8), Exhaustive())


@pytest.mark.parametrize("size", [10**5, 10**9])
def test_a_gap_of_many_nats_is_split_away_and_the_law_is_exact(size: int) -> None:
    loss, source = wide_gap(size), SeededBits(1)
    values = {w: loss.value(np.array(w)) for w in itertools.product((0, 1), repeat=8)}
    allowed = {w: value for w, value in values.items() if value is not None}
    least = min(allowed.values())
    masses = {w: math.exp(least - value) for w, value in allowed.items()}
    law = {w: mass / sum(masses.values()) for w, mass in masses.items()}
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(20):  # A new partition each: the way there is tested too.
        sampler = PartitionSampler(loss, Fraction(1))
        if size > 10**5:
            assert sampler._heavy
        drawn = 0
        while drawn < 100:
            point = sampler.trial(source)
            if point is not None:
                drawn += 1
                seen[tuple(point.tolist())] += 1
        assert not sampler._heavy
        assert abs(sampler.reference - least) <= partition_sampler.FAR
    assert p_value(seen, law) > 1e-4


def test_masses_hold_after_the_reference_has_moved() -> None:
    loss, source = wide_gap(10**6), SeededBits(0)
    sampler = PartitionSampler(loss, Fraction(1))
    sampler.reference -= 10**7
    before = {id(node.minorant): node.log_mass for node in [*sampler._nodes, *sampler._heavy]}
    sampler._recentre()
    moved = {id(node.minorant): node.log_mass for node in [*sampler._nodes, *sampler._heavy]}
    assert sampler.reference == sampler._least
    for key, log_mass in before.items():
        assert 0 < Fraction(moved[key]) - Fraction(log_mass) - 10**7 < 1e-6
    while sampler.trial(source) is None:
        pass


def test_limits_hold_while_boxes_are_heavy() -> None:
    g = np.random.default_rng(1)
    rows = g.integers(1, 1000, (5, 100))
    profits = (rows.sum(axis=0) // 5 + g.integers(0, 500, 100)) * 10**5
    program = IntegerProgram(-profits, rows, row_upper=rows.sum(axis=1) // 2, upper=np.ones(100))
    mechanism = SelectionExponential(
        ProgramLoss(program, range(100), Highs()), epsilon=1, sensitivity=1
    )
    begun = time.monotonic()
    with pytest.raises(UncertifiedError, match="within the limits"):
        mechanism.release(limits=Limits(seconds=0.5), random_state=0)
    assert time.monotonic() - begun < 5
    assert mechanism.sampler._heavy
    with pytest.raises(UncertifiedError, match="within the limits"):
        mechanism.release(limits=Limits(rounds=3), random_state=0)
