"""What a private training run would cost and give, tried on data that are public.

A dry run on the private rows would spend privacy, and its effort would tell about them. So the
plan is made on a public or synthetic table of the same shape, and with seeded noise: nothing that
it prints is about anybody, and nothing of it carries over but the choice of settings.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from oracle_dp.errors import ParameterError
from oracle_dp.estimators.mechanisms import DEFAULTS, Mechanism, select
from oracle_dp.noise import rational
from oracle_dp.privacy import Neighbors
from oracles import Limits
from oracles.zero_one import CellTable
from oracles.zero_one.cells import IntArray


@dataclass(frozen=True, slots=True)
class Estimate:
    """One line of a plan.

    Attributes:
        epsilon: As given.
        seconds: Median over the runs.
        slowest: The longest run.
        error: Mean share of wrong rows on the public table.
        spread: Standard deviation of that share over the runs.
    """

    epsilon: float
    seconds: float
    slowest: float
    error: float
    spread: float

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able data."""
        return asdict(self)


def resample(cells: CellTable, n_rows: int, *, seed: int) -> CellTable:
    """A public table with another number of rows: drawn with replacement from the given one.

    Raises:
        ParameterError: ``n_rows`` is not positive, or the table is empty.
    """
    if n_rows < 1 or cells.n_rows == 0:
        raise ParameterError("rows: a positive number, and a public table with rows, expected")
    counts = np.concatenate([cells.positive, cells.negative]).astype(float)
    drawn = np.random.default_rng(seed).multinomial(n_rows, counts / counts.sum())
    positive, negative = np.split(drawn.astype(np.int64), 2)
    return CellTable(cells.codes, cells.factors, positive, negative, cells.levels)


def estimate(
    cells: CellTable,
    epsilons: Sequence[float | Fraction],
    *,
    mechanism: str = "exponential",
    neighbors: Neighbors | str = Neighbors.REPLACE,
    weights: Sequence[int] = (-1, 0, 1),
    runs: int = 5,
    limits: Limits | None = None,
) -> Iterator[Estimate]:
    """Try a mechanism on a public table, one line per epsilon, as they are ready.

    Args:
        cells: Public or synthetic data. Never the private ones.
        epsilons: Positive.
        mechanism: As for :class:`oracle_dp.ZeroOneClassifier`.
        neighbors: The neighbour relation.
        weights: The values of every weight.
        runs: Seeded runs per epsilon, positive.
        limits: As for the mechanism.

    Raises:
        ParameterError: A parameter is out of range.
        UncertifiedError: A limit was reached.
    """
    if runs < 1:
        raise ParameterError(f"runs: a positive number expected, not {runs}")
    selected, options = select(mechanism, DEFAULTS)
    relation = Neighbors.parse(neighbors)
    _compile(selected, options, tuple(weights))
    for epsilon in epsilons:
        seconds, errors = [], []
        for seed in range(runs):
            begun = time.perf_counter()
            common = {
                "epsilon": epsilon,
                "neighbors": relation,
                "limits": limits,
                "random_state": seed,
            }
            found: tuple[IntArray, ...]
            found = selected.train(cells, tuple(weights), common, options).value
            seconds.append(time.perf_counter() - begun)
            errors.append(cells.errors(found) / max(1, cells.n_rows))
        yield Estimate(
            float(rational("epsilon", epsilon)),
            float(np.median(seconds)),
            max(seconds),
            float(np.mean(errors)),
            float(np.std(errors)),
        )


def _compile(mechanism: Mechanism, options: dict[str, Any], weights: tuple[int, ...]) -> None:
    """Run once on two rows, so that the first line does not time the compiler."""
    codes = np.array([[0, 0, 0], [1, 1, 1]])
    cells = CellTable.from_codes(codes, np.array([True, False]), (2, 2, 2))
    common = {"epsilon": 1, "neighbors": Neighbors.REPLACE, "random_state": 0}
    mechanism.train(cells, weights, common, options)
