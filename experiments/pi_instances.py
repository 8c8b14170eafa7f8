"""Objective perturbation with the pi lift on fixed neighbouring data sets: is a violation found?

    python -m experiments.pi_instances [--draws 1000000] [--output FILE.json]

Rule, fixed before any run:

1. 20 instances: a grid of 1 to 4 coordinates, losses of n records in {0, 1} of which one is
   replaced, epsilon, and gamma-norm or Gaussian noise (delta 0.001), each from a fixed seed.
2. ``--draws`` noise vectors are drawn, calibrated by the mechanism's own perturbation and floored,
   from NumPy's generator (a thousand times faster than the exact sampler, whose law is tested
   elsewhere; ``--exact`` takes that one). The minimiser is found by enumeration, on either data
   set, the first of equals.
3. On the first half of the draws, and in either direction, S is a set of points whose frequency
   exceeds e^(x epsilon) times the other data set's: that with the best lower bound on epsilon, of
   x = 0, 1/4, 1/2, 3/4, 1. On the second half, Clopper-Pearson bounds for P[S] and P'[S] at a
   total error of 1e-6 over all instances, directions and sides.
4. A violation is a lower bound of P[S] above e^epsilon times the upper bound of P'[S] plus delta.

Finding none proves nothing by itself: the theorem does that. So the same procedure is run on a
planted fault, a tenth of the noise, which it must find on at least one instance of each noise.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from experiments.result import result, write
from oracle_dp.audit import counted_epsilon
from oracle_dp.mechanisms.perturbation import RadialPerturbation, perturbation_of
from oracle_dp.mechanisms.radial import GammaNormNoise
from oracle_dp.noise import SeededBits

INSTANCES = 20
GRIDS = ((-1, 0, 1), (0, 1), (-1, 1), (-2, -1, 0, 1, 2))
EPSILONS = (Fraction(1, 2), Fraction(1), Fraction(2))
DELTA = Fraction(1, 1000)
SENSITIVITY = Fraction(2)
TOTAL_ERROR = 1e-6
BLOCK = 50_000


@dataclass(frozen=True, slots=True)
class Instance:
    """Losses of every point on two neighbouring data sets, and the claim."""

    number: int
    values: tuple[int, ...]
    dimension: int
    epsilon: Fraction
    noise: str
    first: np.ndarray
    second: np.ndarray

    @property
    def delta(self) -> Fraction:
        """Of the claim."""
        return DELTA if self.noise == "gaussian" else Fraction(0)

    def perturbation(self) -> RadialPerturbation:
        """As the mechanism calibrates it."""
        found = perturbation_of(
            (len(self.values),) * self.dimension,
            [np.array(self.values)] * self.dimension,
            lift="pi",
            noise=self.noise,
            epsilon=self.epsilon,
            delta=self.delta,
            sensitivity=SENSITIVITY,
            lattice_bits=None,
            max_norm=None,
        )
        assert isinstance(found, RadialPerturbation)
        return found


def instance(number: int) -> Instance:
    """One of the 20. Every other has parities for losses, which are hard; the rest are random."""
    generator = np.random.default_rng(500 + number)
    dimension = 1 + number % 4
    values = GRIDS[(number // 4) % (len(GRIDS) if dimension < 4 else 3)]
    shape = (len(values),) * dimension
    records = int(generator.integers(0, 4))
    base = generator.integers(0, 2, (records, *shape)).sum(axis=0)
    if number % 2:
        odd = np.add.reduce(np.indices(shape)) % 2
        private = np.stack([odd, 1 - odd])
    else:
        private = generator.integers(0, 2, (2, *shape))
    first, second = base + private[0], base + private[1]
    noise = ("gamma_norm", "gaussian")[(number // 2) % 2]
    return Instance(
        number, values, dimension, EPSILONS[number % 3], noise, first.ravel(), second.ravel()
    )


def vectors(perturbation: RadialPerturbation, instance: Instance) -> np.ndarray:
    """Phi of every point, shape ``(n_points, k)``, read off the rewards for unit noise."""
    columns = []
    for unit in np.eye(perturbation.lift.dimension, dtype=np.int64):
        rewards, total = perturbation.lift.rewards(unit)
        column = []
        for point in itertools.product(range(len(instance.values)), repeat=instance.dimension):
            entry = sum(int(own[i]) for own, i in zip(rewards, point, strict=True))
            column.append(entry + ((total.reward(point) or 0) if total is not None else 0))
        columns.append(column)
    return np.array(columns, dtype=np.int64).T


Draw = Callable[[int], np.ndarray]


def exact_noise(given: Instance) -> Draw:
    """Vectors from the mechanism's own sampler, some at a time."""
    noise, source = given.perturbation().noise, SeededBits(given.number)
    return lambda size: np.stack([noise.draw(source) for _ in range(size)])


def fast_noise(given: Instance, share: float = 1.0) -> Draw:
    """Vectors of the same law, or with a share of the noise, from NumPy."""
    noise, generator = given.perturbation().noise, np.random.default_rng(given.number)
    scale, k = share * float(noise.scale), noise.dimension

    def draw(size: int) -> np.ndarray:
        real = generator.standard_normal((size, k))
        if isinstance(noise, GammaNormNoise):
            lengths = generator.gamma(k, size=size) / np.linalg.norm(real, axis=1)
            real *= lengths[:, None]
        return np.floor(scale * real).astype(np.int64)

    return draw


def outcomes(given: Instance, draws: int, draw: Draw) -> np.ndarray:
    """Index of the minimiser for every draw, on both data sets, shape ``(2, draws)``."""
    perturbation = given.perturbation()
    phi = vectors(perturbation, given)
    found = np.empty((2, draws), dtype=np.int64)
    for begin in range(0, draws, BLOCK):
        size = min(BLOCK, draws - begin)
        gains = draw(size) @ phi.T
        for side, losses in enumerate((given.first, given.second)):
            perturbed = perturbation.scale * losses - gains
            found[side, begin : begin + size] = np.argmin(perturbed, axis=1)
    return found


def lower_epsilon(given: Instance, found: np.ndarray) -> float:
    """A lower bound on epsilon at the claim's delta, -inf if nothing is shown."""
    first, second = np.array_split(found, 2, axis=1)
    best = -math.inf
    for one, other in ((0, 1), (1, 0)):
        counts = [np.bincount(first[side], minlength=len(given.first)) for side in (one, other)]
        ratios = np.exp(float(given.epsilon) * np.array([0, 0.25, 0.5, 0.75, 1]))
        events = [counts[0] > ratio * counts[1] for ratio in ratios]
        chosen = max(events, key=lambda event: bound(given, first[one], first[other], event))
        best = max(best, bound(given, second[one], second[other], chosen))
    return best


def bound(given: Instance, one: np.ndarray, other: np.ndarray, event: np.ndarray) -> float:
    """``log((P[S] - delta) / P'[S])`` at least, by Clopper-Pearson."""
    return counted_epsilon(
        int(event[one].sum()),
        int(event[other].sum()),
        draws=len(one),
        delta=float(given.delta),
        error=TOTAL_ERROR / (INSTANCES * 2),
    )


def run(given: Instance, draws: int, draw: Draw) -> dict[str, object]:
    """Draw and test one instance."""
    begun = time.perf_counter()
    measured = lower_epsilon(given, outcomes(given, draws, draw))
    return {
        "instance": given.number,
        "values": given.values,
        "dimension": given.dimension,
        "noise": given.noise,
        "epsilon": str(given.epsilon),
        "delta": str(given.delta),
        "draws": draws,
        "lower_epsilon": measured if math.isfinite(measured) else None,
        "violation": measured > given.epsilon,
        "seconds": round(time.perf_counter() - begun, 1),
    }


def main() -> int:
    """Run all instances, then the planted fault, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--draws", type=int, default=1_000_000)
    parser.add_argument("--fault-draws", type=int, default=20_000)
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    records, faults = [], []
    for given in map(instance, range(INSTANCES)):
        draw = exact_noise(given) if options.exact else fast_noise(given)
        records.append(run(given, options.draws, draw))
        print(json.dumps(records[-1]), flush=True)
        faults.append(run(given, options.fault_draws, fast_noise(given, share=0.1)))
    caught = sorted({str(fault["noise"]) for fault in faults if fault["violation"]})
    violations = sum(bool(record["violation"]) for record in records)
    found = {
        "violations": violations,
        "planted_fault_found_with": caught,
        "planted_fault_found": sum(bool(fault["violation"]) for fault in faults),
        "passes": violations == 0 and caught == ["gamma_norm", "gaussian"],
    }
    print(json.dumps(found))
    fields = {
        **found,
        "sampler": "exact" if options.exact else "NumPy",
        "instances": records,
        "planted": faults,
    }
    write(
        options.output,
        result("pi lift on fixed neighbours", fields, libraries=("python-flint",)),
    )
    return 0 if found["passes"] else 1


if __name__ == "__main__":
    sys.exit(main())
