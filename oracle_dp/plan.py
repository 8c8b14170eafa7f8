"""What a private training run would cost and give, tried on data that are public.

A dry run on the private rows would spend privacy, and its effort would tell about them. So the
plan is made on a public or synthetic table of the same shape, and with seeded noise: nothing that
it prints is about anybody, and nothing of it carries over but the choice of settings.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from oracle_dp.errors import ParameterError, UncertifiedError
from oracle_dp.estimators.mechanisms import DEFAULTS, Mechanism, select
from oracle_dp.noise import positive_rational, rational
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
        unfinished: Whether a run reached the limit; the other figures are then NaN.
    """

    epsilon: float
    seconds: float
    slowest: float
    error: float
    spread: float
    unfinished: bool = False

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


def synthetic(levels: Sequence[int], n_rows: int, *, seed: int) -> CellTable:
    """A made-up table: uneven random levels, labels from a random scoring card with noise.

    Raises:
        ParameterError: There is no attribute, a level count below 1, or a negative ``n_rows``.
    """
    if not levels or min(levels) < 1 or n_rows < 0:
        raise ParameterError("levels and rows: at least one attribute, positive numbers expected")
    generator = np.random.default_rng(seed)
    shares = [generator.dirichlet(np.ones(size)) for size in levels]
    columns = [generator.choice(len(share), n_rows, p=share) for share in shares]
    codes = np.column_stack(columns).astype(np.int64)
    points = [generator.normal(size=size)[codes[:, j]] for j, size in enumerate(levels)]
    score = np.sum(points, axis=0) + generator.normal(scale=len(levels) ** 0.5, size=n_rows)
    return CellTable.from_codes(codes, score > len(levels) ** 0.5 / 2, levels)


def estimate(
    cells: CellTable,
    epsilons: Sequence[float | Fraction],
    *,
    mechanism: str = "exponential",
    neighbors: Neighbors | str = Neighbors.REPLACE,
    weights: Sequence[int] = (-1, 0, 1),
    options: Mapping[str, object] | None = None,
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
        options: Of the mechanism, as there, such as its lift; default none.
        runs: Seeded runs per epsilon, positive.
        limits: As for the mechanism.

    Raises:
        ParameterError: A parameter is out of range, found before the first line.
    """
    if runs < 1:
        raise ParameterError(f"runs: a positive number expected, not {runs}")
    selected, chosen = select(mechanism, {**DEFAULTS, **(options or {})})
    relation = Neighbors.parse(neighbors)
    for epsilon in epsilons:
        positive_rational("epsilon", epsilon)
    _compile(selected, chosen, tuple(weights))
    for epsilon in epsilons:
        common = {"epsilon": epsilon, "neighbors": relation, "limits": limits}
        seconds, errors = [], []
        try:
            for seed in range(runs):
                begun = time.perf_counter()
                found: tuple[IntArray, ...] = selected.train(
                    cells, tuple(weights), {**common, "random_state": seed}, chosen
                ).value
                seconds.append(time.perf_counter() - begun)
                errors.append(cells.errors(found) / max(1, cells.n_rows))
        except UncertifiedError:
            nan = float("nan")
            yield Estimate(float(rational("epsilon", epsilon)), nan, nan, nan, nan, True)
            continue
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
