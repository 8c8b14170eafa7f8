"""The 0-1 loss over cells as an integer program, tight and without tolerances.

Weights and margins are integers, so "predicted positive" is ``margin >= 1`` and "predicted
negative" is ``margin <= 0``: no strict inequality has to be imitated by a small number. A cell
costs its minority count in any case; the binary ``e`` pays the rest when the prediction goes
against the majority:

    majority positive:  margin >= 1 - (1 - m) e      m = least margin the cell can have
    majority negative:  margin <= M e                M = greatest margin the cell can have

``1 - m`` and ``M`` are the smallest valid big-M of each cell. Ties and cells whose prediction is
the same under all weights are constants. (docs/theory/zero_one.md.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from oracles.lift import OneHotLift, one_hot
from oracles.problem import IntegerProgram
from oracles.total import TotalReward
from oracles.zero_one.cells import CellTable, IntArray


@dataclass(frozen=True, eq=False)
class Formulation:
    """The program of a cell table, and the way between its points and weights.

    Attributes:
        cells: The table.
        program: Minimises errors plus costs; weights first, then error binaries, then indicators.
        priced: Cells that have an error binary, in the order of the binaries.
        lift: The one-hot lift of the weights, or None where bounds alone express them.
        total: The reward for a total of the weights that the program has, or None.
    """

    cells: CellTable
    program: IntegerProgram
    priced: IntArray
    lift: OneHotLift | None
    total: TotalReward | None = None

    def weights(self, point: NDArray[np.float64]) -> tuple[IntArray, ...]:
        """The weights of a point, one array per attribute."""
        return self.cells.split(point[: sum(self.cells.levels)])

    def point(self, weights: Sequence[IntArray]) -> NDArray[np.float64]:
        """The cheapest point of given weights."""
        predicted = self.cells.margins(weights)[self.priced] >= 1
        majority = (self.cells.positive > self.cells.negative)[self.priced]
        base = np.concatenate([*weights, predicted != majority]).astype(np.float64)
        if self.lift is None:
            return base
        point = self.lift.complete(base)
        if self.total is None:
            return point
        positions = [
            int(np.searchsorted(values, weight))
            for values, weight in zip(self.lift.values, np.concatenate(weights), strict=True)
        ]
        return np.concatenate([point, self.total.columns(self.total.total(positions))])


def formulate(
    cells: CellTable,
    weights: Sequence[int],
    costs: Sequence[IntArray] | None,
    total: TotalReward | None = None,
) -> Formulation:
    """State the minimisation of errors plus costs, less a reward for a total, over a cell table.

    Args:
        cells: The table.
        weights: The integer values of every weight, ascending.
        costs: One integer array per attribute, shape ``(levels, len(weights))``, or None.
        total: Only together with ``costs``.
    """
    program, priced = _errors_program(cells, weights)
    n_weights = sum(cells.levels)
    contiguous = weights[-1] - weights[0] == len(weights) - 1
    if costs is None and contiguous:
        return Formulation(cells, program, priced, None)
    lift = one_hot(program, range(n_weights), [weights] * n_weights)
    if costs is None:
        return Formulation(cells, lift.program, priced, lift)
    rewards = [-row for table in costs for row in table]
    rewarded = lift.with_rewards(rewards, total=total)
    return Formulation(cells, rewarded, priced, lift, total)


def _errors_program(cells: CellTable, weights: Sequence[int]) -> tuple[IntegerProgram, IntArray]:
    least, greatest = cells.margin_bounds(weights)
    difference = cells.positive - cells.negative
    either = (least <= 0) & (greatest >= 1)
    priced = np.flatnonzero(either & (difference != 0))
    constant = np.minimum(cells.positive, cells.negative)[either].sum()
    constant += np.where(greatest >= 1, cells.negative, cells.positive)[~either].sum()

    n_weights, n_priced = sum(cells.levels), len(priced)
    wants_positive = difference[priced] > 0
    big_m = np.where(wants_positive, 1 - least[priced], -greatest[priced])
    margin = sp.csr_array(
        (
            cells.factors[priced].ravel().astype(float),
            (np.repeat(np.arange(n_priced), len(cells.levels)), cells.columns[priced].ravel()),
        ),
        shape=(n_priced, n_weights),
    )
    rows = sp.hstack([margin, sp.diags_array(big_m.astype(float))], format="csr")
    program = IntegerProgram(
        np.concatenate([np.zeros(n_weights), np.abs(difference[priced])]),
        rows,
        np.where(wants_positive, 1.0, -np.inf),
        np.where(wants_positive, np.inf, 0.0),
        lower=np.concatenate([np.full(n_weights, weights[0]), np.zeros(n_priced)]),
        upper=np.concatenate([np.full(n_weights, weights[-1]), np.ones(n_priced)]),
        constant=float(constant),
        names=_names(cells, n_priced),
    )
    return program, priced


def _names(cells: CellTable, n_priced: int) -> list[str]:
    weights = [f"w{j}_{level}" for j, size in enumerate(cells.levels) for level in range(size)]
    return weights + [f"e{i}" for i in range(n_priced)]
