"""Minorants are nowhere above their losses, and envelopes sum them from above, but not by much."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from experiments.program_instances import Instance, instances
from oracles import Exhaustive, IntegerProgram, ProblemError
from oracles.selection.base import BaseSet
from oracles.selection.envelope import Envelope, Minorant, widest
from oracles.selection.facility import FacilityLoss
from oracles.selection.linear import ProgramLoss
from oracles.selection.local import good_sites, with_counts
from oracles.selection.rule import RuleLoss

INSTANCES = instances()
NAMES = [instance.name for instance in INSTANCES]


def boxes(instance: Instance, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Random boxes within the base set's bounds, the whole one first."""
    base, g = instance.loss.base, np.random.default_rng(7)
    found = [(base.lower, base.upper)]
    for _ in range(n):
        low, high = base.lower.copy(), base.upper.copy()
        for j in g.permutation(len(low))[: g.integers(1, len(low))]:
            low[j] = high[j] = g.integers(low[j], high[j] + 1)
        found.append((low, high))
    return found


def within(low: np.ndarray, high: np.ndarray) -> list[tuple[int, ...]]:
    return list(itertools.product(*(range(a, b + 1) for a, b in zip(low, high, strict=True))))


@pytest.mark.parametrize("instance", INSTANCES, ids=NAMES)
def test_minorants_and_losses_against_the_naive_loss(instance: Instance) -> None:
    loss, base = instance.loss, instance.loss.base
    root = loss.minorant(base.lower, base.upper, float(instance.rate), None)
    compared = 0
    for low, high in boxes(instance, 12):
        # A sharp beta and one near 0; duals from the root, and from nothing.
        for beta, parent in ((5.0, None), (float(instance.rate), root), (1e-6, root)):
            g = loss.minorant(low, high, beta, parent)
            for w in within(low, high):
                truth = instance.naive(w)
                if truth is None:
                    continue
                compared += 1
                assert g is not None
                point = np.array(w)
                assert loss.value(point) == truth
                assert g.at(point) <= truth
    assert compared > 40


@pytest.mark.parametrize("instance", INSTANCES, ids=NAMES)
def test_an_envelope_bounds_its_sum_closely(instance: Instance) -> None:
    loss, base = instance.loss, instance.loss.base
    for low, high in boxes(instance, 6):
        g = loss.minorant(low, high, float(instance.rate), None)
        if g is None or base.tightened(low, high) is None:
            continue
        members = [w for w in within(low, high) if base.contains(w)]
        envelope = Envelope.of(base, g, low, high, beta=instance.rate, reference=3)
        if not members:
            assert envelope.log_mass == -math.inf
            continue
        exponents = [float(-instance.rate * (g.at(np.array(w)) - 3)) for w in members]
        top = max(exponents)
        truth = top + math.log(math.fsum(math.exp(x - top) for x in exponents))
        assert truth <= envelope.log_mass <= truth + 1e-6


def test_an_envelope_with_slopes_that_differ_by_far() -> None:
    # 10^7 nats between the values: clamped weights, and no number that overflows.
    base = BaseSet.subsets(6, exactly=3)
    slopes = np.array([10**7, -(10**7), 5, 0, -3, 10**6])
    g = Minorant(0, slopes, 0, np.empty(0), np.zeros(6))
    envelope = Envelope.of(base, g, base.lower, base.upper, beta=Fraction(1), reference=-(10**7))
    values = [-(float(g.at(base.point_at(r))) + 10**7) for r in range(base.n_points)]
    truth = max(values) + math.log(sum(math.exp(x - max(values)) for x in values))
    assert truth <= envelope.log_mass <= truth + 1e-4
    assert all(np.isfinite(table).any() for table in envelope.tables)


def test_branching_never_picks_a_decided_variable() -> None:
    assert widest(np.array([0, 0]), np.array([0, 1]), np.array([0.5, 1.0])) == 1
    assert widest(np.array([0, 0]), np.array([1, 1]), np.array([0.1, 0.6])) == 1


def test_what_losses_refuse() -> None:
    base = BaseSet.subsets(3)
    with pytest.raises(ProblemError, match="fallback"):
        FacilityLoss(base, np.ones((2, 3), int))
    with pytest.raises(ProblemError, match="one column per variable"):
        FacilityLoss(base, np.ones((2, 4), int), fallback=[1, 1])
    with pytest.raises(ProblemError, match="binary"):
        FacilityLoss(BaseSet([0], [2]), np.ones((1, 1), int), fallback=[1])
    with pytest.raises(ProblemError, match="negative"):
        FacilityLoss(base, np.ones((2, 3), int), [1, -1], fallback=[1, 1])
    with pytest.raises(ProblemError, match="2\\^60"):
        FacilityLoss(base, np.full((1, 3), 2**39), [2**39], fallback=[1])
    with pytest.raises(ProblemError, match="integers with 2"):
        FacilityLoss(base, np.ones((2, 3)), fallback=[1, 1])
    with pytest.raises(ProblemError, match="0 and 1"):
        RuleLoss(base, np.full((2, 3), 2), [0, 1])
    with pytest.raises(ProblemError, match="threshold"):
        RuleLoss(base, np.ones((2, 3), int), [0, 1], 0)


@pytest.mark.parametrize(
    ("program", "match"),
    [
        (IntegerProgram([1, 1], upper=[1, 1], integer=[True, False]), "continuous"),
        (IntegerProgram([0.5], upper=[1]), "objective"),
        (IntegerProgram([1], [[0.5]], upper=[1]), "matrix"),
        (IntegerProgram([1]), "finite bounds"),
        (IntegerProgram([1], [[1]], row_upper=[0.5], upper=[1]), "row_lower and row_upper"),
        (IntegerProgram([2.0**50], upper=[2.0**20]), "2\\^53"),
    ],
)
def test_programs_off_the_lattice_are_refused(program: IntegerProgram, match: str) -> None:
    with pytest.raises(ProblemError, match=match):
        ProgramLoss(program, (0,), Exhaustive())


def test_local_search_finds_what_enumeration_finds() -> None:
    for seed in range(8):
        g = np.random.default_rng(seed)
        costs, counts = g.integers(0, 30, (12, 9)), g.integers(0, 9, 12)
        loss = FacilityLoss(BaseSet.subsets(9, exactly=3), costs, counts)
        best = min(loss.value(loss.base.point_at(r)) for r in range(loss.base.n_points))
        found = good_sites(loss, 3)
        assert found.sum() == 3
        assert loss.value(found) == best
        other = with_counts(loss, -counts)
        assert other.value(found) == 0
