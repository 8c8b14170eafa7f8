"""Audits of objective perturbation: every lift with every noise, in closed form and from draws.

With a gap the oracle is the worst there can be: on one data set it returns a point whenever the gap
allows that, on the other only where it must.

In closed form on the instances of :mod:`oracle_dp.audit.counterexamples`, with the perturbation
that the mechanism itself calibrates; ties are broken by an adversary. From draws on two points
whose losses move in opposite directions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from oracle_dp.audit.bounds import event_epsilon
from oracle_dp.audit.counterexamples import (
    Advantages,
    Counterexample,
    GammaNormAdvantages,
    GaussianAdvantages,
    GeometricAdvantages,
    halfspace,
    parity,
)
from oracle_dp.audit.search import audit_by_draws
from oracle_dp.audit.standing import Audit, Method
from oracle_dp.mechanisms.opdisc import opdisc
from oracle_dp.mechanisms.perturbation import (
    NOISES,
    OneHotNoise,
    Perturbation,
    RadialPerturbation,
    perturbation_of,
)
from oracle_dp.mechanisms.radial import GammaNormNoise
from oracle_dp.noise import BitSource
from oracles import Certificate, Limits, Solution, Status
from oracles.finite import FiniteTable, IntArray
from oracles.oracle import UNLIMITED
from oracles.total import TotalReward

EPSILON = 1.0
DELTA = 1e-3
SENSITIVITY = 2
DRAWS = 10_000
DRAWN_DELTA = 0.05
"""Of Gaussian noise from draws: at a small delta, only rare outcomes tell."""

PAIR = (FiniteTable([3, 0]), FiniteTable([2, 1]))
VARIANTS = [
    (lift, noise) for lift, names in NOISES.items() for noise in names if noise != "exponential"
]
"""Without the second name of geometric noise."""

DRAWN = ("one_hot", "centred_binary")
"""Lifts that two points suffice for; of ``pi`` they show next to nothing, whatever its noise."""

GAP = 3
"""More than the sensitivity, so that noise for the sensitivity alone, or for the sensitivity and
the gap, shows."""

Preferring = tuple[Sequence[int], int]

GAP_PAIR: tuple[Preferring, Preferring] = (((7, 1), 0), ((8, 0), 1))
"""Losses, and the point that the oracle would rather return; the other one is seen."""

EXAMPLES = [*((1, halfspace(n)) for n in (1, 2, 5, 11)), *((d, parity(d)) for d in (1, 2, 3, 8))]
"""Dimensions, and instances of them."""


def audits() -> list[Audit]:
    """In closed form for each lift and noise, and from draws."""
    found = []
    for lift, noise in VARIANTS:
        deltas = (DELTA, DRAWN_DELTA) if noise == "gaussian" else (0.0, 0.0)
        drawn = partial(released, lift, noise, deltas[1])
        methods = [
            (Method.EXACT, "closed form", partial(in_closed_form, lift, noise)),
            (Method.DRAWS, "draws", partial(_by_draws, drawn, deltas[1])),
        ]
        found += [
            Audit(
                mechanism="opdisc",
                variant=f"{lift}, {noise}, {how}",
                claimed=EPSILON,
                delta=delta,
                method=method,
                measure=measure,
            )
            for (method, how, measure), delta in zip(methods, deltas, strict=True)
            if method is Method.EXACT or lift in DRAWN
        ]
    with_gap = Audit(
        mechanism="opdisc",
        variant="one_hot, geometric, gap, draws",
        claimed=EPSILON,
        method=Method.DRAWS,
        measure=lambda seed: audit_by_draws(within_gap, [GAP_PAIR], draws=DRAWS, random_state=seed),
    )
    return [*found, with_gap]


def in_closed_form(lift: str, noise: str, _seed: int) -> float:
    """The most that any of the instances shows."""
    delta = DELTA if noise == "gaussian" else 0.0
    return max(
        shown(example, advantages(calibrated(dimension, lift, noise, EPSILON, DELTA)), delta)
        for dimension, example in EXAMPLES
    )


def shown(example: Counterexample, law: Advantages, delta: float) -> float:
    """What an instance's event shows about a law of advantages; at least 0."""
    return max(0.0, event_epsilon(example.on_first(law), example.on_second(law), delta=delta))


def calibrated(dimension: int, lift: str, noise: str, epsilon: float, delta: float) -> Perturbation:
    """What the mechanism itself would add over {-1, +1}^d."""
    return perturbation_of(
        (2,) * dimension,
        [np.array([-1, 1])] * dimension,
        lift=lift,
        noise=noise,
        epsilon=Fraction(epsilon),
        delta=Fraction(delta) if noise == "gaussian" else Fraction(0),
        sensitivity=Fraction(SENSITIVITY),
        lattice_bits=None,
        max_norm=None,
    )


def advantages(perturbation: Perturbation) -> Advantages:
    """Of a perturbation over {-1, +1}^d; read off the rewards for unit noise."""
    if isinstance(perturbation, OneHotNoise):
        return GeometricAdvantages(perturbation.exponent, Fraction(1, perturbation.scale))
    assert isinstance(perturbation, RadialPerturbation)
    unit = np.zeros(perturbation.lift.dimension, dtype=np.int64)
    unit[0] = 1
    rewards, _ = perturbation.lift.rewards(unit)
    step = Fraction(int(rewards[0][1] - rewards[0][0]), perturbation.scale)
    scale = float(perturbation.noise.scale)
    if isinstance(perturbation.noise, GammaNormNoise):
        return GammaNormAdvantages(scale, perturbation.lift.dimension, step)
    return GaussianAdvantages(scale, step)


def _by_draws(drawn: partial[Iterable[Hashable]], delta: float, seed: int) -> float:
    return audit_by_draws(drawn, [PAIR], draws=DRAWS, delta=delta, random_state=seed)


def released(
    lift: str, noise: str, delta: float, table: FiniteTable, draws: int, source: BitSource
) -> Iterable[Hashable]:
    """What objective perturbation releases."""
    for _ in range(draws):
        yield opdisc(
            table,
            epsilon=EPSILON,
            delta=delta,
            sensitivity=SENSITIVITY,
            lift=lift,
            noise=noise,
            random_state=source,
        ).value


@dataclass(frozen=True, eq=False, init=False)
class WithinGap(FiniteTable):
    """Two points, and an oracle that returns one of them whenever the gap allows it."""

    preferred: int

    def __init__(self, losses: Sequence[int], preferred: int) -> None:
        super().__init__(losses)
        object.__setattr__(self, "preferred", preferred)

    def minimize(
        self,
        rewards: Sequence[IntArray],
        *,
        scale: int = 1,
        total: TotalReward | None = None,
        limits: Limits = UNLIMITED,
    ) -> Solution[tuple[int, ...]]:
        """An honest bound, and not always the least of the two."""
        costs = [
            int(loss) * scale - int(x) for loss, x in zip(self.losses, rewards[0], strict=True)
        ]
        least = min(costs)
        allowed = costs[self.preferred] <= least + GAP * scale
        chosen = self.preferred if allowed else 1 - self.preferred
        return Solution(
            Status.OPTIMAL, (chosen,), costs[chosen], least, Certificate.BOUNDED, "the worst"
        )


def within_gap(
    data: tuple[Sequence[int], int], draws: int, source: BitSource
) -> Iterable[Hashable]:
    """What objective perturbation releases of what such an oracle returns."""
    table = WithinGap(*data)
    for _ in range(draws):
        yield opdisc(
            table, epsilon=EPSILON, sensitivity=SENSITIVITY, gap=GAP, random_state=source
        ).value
