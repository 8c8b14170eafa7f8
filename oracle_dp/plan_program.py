"""Which mechanism for a program without a class: tried on a public program of the same shape.

The user names a program whose objective is public or made up: last year's published figures, or
random numbers of the right size. Every mechanism that applies is run on it with seeded noise. The
private program is never read.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from oracle_dp.errors import ParameterError, UncertifiedError
from oracle_dp.models import Model, prepare, read_program
from oracle_dp.noise import positive_rational
from oracle_dp.privacy import Neighbors
from oracle_dp.solve import solve_private
from oracle_dp.solve_plan import SECONDS, TOO_SLOW, MechanismEstimate
from oracles import Highs, IntegerProgram, Limits
from oracles.selection.detect import base_set

LATTICE_STEP = 1 / 16
"""By how much at most the lattice of ``opdisc`` enlarges a sensitivity, in units of loss."""


def plan_program(
    program: Any,
    *,
    epsilon: float | Fraction,
    sensitivity: float | Fraction,
    release: str | Sequence[str],
    neighbors: Neighbors | str = Neighbors.REPLACE,
    runs: int = 5,
    seconds: float = SECONDS,
) -> Iterator[MechanismEstimate]:
    """Try ``exponential`` and ``opdisc`` on a public program, one line each.

    Args:
        program: As for :func:`oracle_dp.solve_private`, with a public objective.
        epsilon: Positive.
        sensitivity: As for :func:`oracle_dp.solve_private`.
        release: Likewise.
        neighbors: The neighbour relation.
        runs: Seeded runs of each mechanism, positive.
        seconds: What a run may take before its mechanism counts as too slow.

    Raises:
        ParameterError: A parameter is out of range.
        OracleError: The program is malformed, infeasible or unbounded, or HiGHS does not solve it.
    """
    if runs < 1:
        raise ParameterError(f"runs: a positive number expected, not {runs}")
    model = prepare(read_program(program), release)
    within = Limits(seconds=seconds)
    best = float(
        Highs().minimize(model.program, limits=within).require_point() @ model.program.objective
    )
    bounds = _bounds(model, positive_rational("epsilon", epsilon), sensitivity)
    for mechanism, why in bounds.items():
        losses, times = [], []
        for seed in range(runs):
            begun = time.perf_counter()
            try:
                found = solve_private(
                    model.program, epsilon=epsilon, sensitivity=sensitivity,
                    release=list(model.names), neighbors=neighbors, mechanism=mechanism,
                    limits=within, random_state=seed,
                )  # fmt: skip
            except UncertifiedError:
                losses.append(math.inf)
                break
            finally:
                times.append(time.perf_counter() - begun)
            losses.append(_loss(model, list(found.value.values()), within))
        excess = float(np.mean(losses)) - best
        relative = excess / abs(best) if best and math.isfinite(excess) else math.nan
        text = why if math.isfinite(excess) else f"{TOO_SLOW}; {why}"
        yield MechanismEstimate(mechanism, excess, relative, float(np.mean(times)), text)


def _bounds(model: Model, epsilon: Fraction, sensitivity: float | Fraction) -> dict[str, str]:
    """For each mechanism what its excess is at most on average, whatever the data."""
    delta = float(sensitivity)
    released = list(model.released)
    sizes = model.program.upper[released] - model.program.lower[released] + 1
    d = int((sizes > 1).sum())
    base, _ = base_set(model.program, model.released)
    # E[L] - min L <= (ln |W| + 1) / beta, from P[excess > t] <= |W| exp(-beta t).
    sampled = delta / float(epsilon) * (math.log(base.n_points) + 1)
    # Every coordinate's largest reward, less the least: harmonic numbers of geometric variables.
    mean = d * (delta + LATTICE_STEP) / float(epsilon)
    perturbed = mean * float(sum(sum(1 / i for i in range(1, int(m) + 1)) for m in sizes if m > 1))
    return {
        "exponential": f"at most {sampled:.4g} on average by theory",
        "opdisc": f"at most about {perturbed:.4g} on average by theory",
    }


def _loss(model: Model, chosen: list[int], within: Limits) -> float:
    low, high = model.program.lower.copy(), model.program.upper.copy()
    low[list(model.released)] = high[list(model.released)] = chosen
    whole = model.program
    fixed = IntegerProgram(
        whole.objective, whole.matrix, whole.row_lower, whole.row_upper, lower=low, upper=high
    )
    return float(Highs().minimize(fixed, limits=within).require_point() @ whole.objective)
