"""Minima of objective perturbation with the lift pi: the search against HiGHS, in one run.

    python -m benchmarks.totals [--seconds 60] [--seeds 5]

Adult's complete training rows, weights {-1, 0, 1}, epsilon 1, ``replace``, gamma-norm noise: with
two, three and five attributes, the same perturbed objectives for both. HiGHS gets the formulation
over cells and up to ``--seconds`` per objective, which decides what it does not prove. Prints one
JSON object; a ratio of times is a lower bound where HiGHS has no proof.
"""

from __future__ import annotations

import argparse
import json
import time
from fractions import Fraction

from benchmarks.search import ATTRIBUTES, adult_cells
from experiments.result import result
from oracle_dp.mechanisms.perturbation import Perturbation, Rewards, perturbation_of
from oracle_dp.noise import SeededBits
from oracles import Certificate, Highs, Limits
from oracles.zero_one import ZeroOneProblem

SETS = ("relationship,education", "education,occupation,relationship", ATTRIBUTES)


def perturbation(problem: ZeroOneProblem) -> Perturbation:
    """Lift pi with gamma-norm noise at epsilon 1."""
    return perturbation_of(
        problem.sizes, problem.values, lift="pi", noise="gamma_norm", epsilon=Fraction(1),
        delta=Fraction(0), sensitivity=Fraction(2), lattice_bits=None, max_norm=None,
    )  # fmt: skip


def timed(
    problem: ZeroOneProblem, scale: int, drawn: Rewards, limits: Limits
) -> tuple[float, int | None]:
    """Seconds, and the objective if it is proven."""
    rewards, total = drawn
    begun = time.perf_counter()
    found = problem.minimize(rewards, scale=scale, total=total, limits=limits)
    seconds = time.perf_counter() - begun
    proven = found.certificate is not Certificate.NONE
    return seconds, int(found.objective) if proven and found.objective is not None else None


def compared(attributes: str, seeds: int, limits: Limits) -> dict[str, object]:
    """Both on the same objectives."""
    cells = adult_cells(attributes.split(","))
    search, solver = ZeroOneProblem(cells), ZeroOneProblem(cells, method="milp")
    noise = perturbation(search)
    drawn = [noise.draw(search.sizes, SeededBits(seed)) for seed in range(seeds)]
    timed(search, noise.scale, drawn[0], Limits())  # Compiled and warm.
    ours = [timed(search, noise.scale, one, Limits()) for one in drawn]
    theirs = [timed(solver, noise.scale, one, limits) for one in drawn]
    for (_, own), (_, other) in zip(ours, theirs, strict=True):
        if own is None or other not in (None, own):
            raise SystemExit("the search and HiGHS disagree, or the search has no proof")
    proven = sum(other is not None for _, other in theirs)
    ratio = sum(s for s, _ in theirs) / sum(s for s, _ in ours)
    return {
        "attributes": attributes,
        "levels": sum(cells.levels),
        "search_seconds": [round(s, 3) for s, _ in ours],
        "solver_seconds": [round(s, 3) for s, _ in theirs],
        "proven_by_solver": proven,
        "ratio" if proven == seeds else "ratio_at_least": round(ratio, 1),
    }


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description="lift pi: the search against HiGHS")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    limits = Limits(seconds=options.seconds)
    found = [compared(attributes, options.seeds, limits) for attributes in SETS]
    fields = {"solver": Highs().name, "seconds": options.seconds, "sets": found}
    print(json.dumps(result("lift pi: search against HiGHS", fields), indent=1))


if __name__ == "__main__":
    main()
