"""Blockwise redrawing: exponential-mechanism updates of one attribute at a time.

**Not** a draw from the exponential mechanism over classifiers: a fixed number of updates from a
fixed start, each paid for. For attribute sets whose joint law :mod:`.exponential` cannot reach.

Theorem (docs/theory/rivals.md, Theorem 4). An update redraws every level of one attribute, each
from exp(-b cost of its value), with the other attributes' weights as released. With s = 1 under
``add_remove`` and ``zero_out`` and s = 2 under ``replace`` it is pure s b and ((s b)^2 / 8)-zCDP; T
updates are pure T s b and (T (s b)^2 / 8)-zCDP, hence (epsilon, delta) by
:mod:`oracle_dp.accounting.zcdp`.

Where its hypotheses are enforced: start, order and number of updates are parameters, and no
update is skipped, repeated or chosen by its result; every level of the domain is drawn,
with rows or without; one level per row by :func:`.one_hot.public_values`; the law of a draw by
``pick_cost``, exactly, from integer costs; b by :func:`calibrate`, rounded down and checked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from oracle_dp.accounting.zcdp import largest_rho
from oracle_dp.errors import ParameterError, PrivacyError
from oracle_dp.ledger import Ledger
from oracle_dp.mechanisms.base import charge_before_noise, conditions, limits_or_none, stated
from oracle_dp.mechanisms.one_hot import public_values
from oracle_dp.noise import BitSource, bit_source, positive_rational, rational
from oracle_dp.noise.reals import pick_cost
from oracle_dp.privacy import Contingency, Guarantee, Neighbors, Release
from oracle_dp.sensitivity import PROVED, ZERO_ONE
from oracles import Certificate, Limits
from oracles.zero_one import CellTable
from oracles.zero_one.cells import IntArray

MECHANISM = "blockwise"
THEOREM = (
    "a fixed sequence of exponential-mechanism updates, attribute by attribute, composed; not a "
    "draw from the joint law, and no optimality is claimed (docs/theory/rivals.md, Theorem 4)"
)
SWEEPS = 2
"""Updates of every attribute by default: more of them have a smaller share of epsilon each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What T updates cost.

    Attributes:
        rate: b, nats per error.
        reach: s: by how much one record can change the range of an update's costs.
        updates: T.
        epsilon: Of the whole.
        delta: Of the whole; 0 where basic composition gives the larger b.
    """

    rate: Fraction
    reach: int
    updates: int
    epsilon: Fraction
    delta: Fraction

    @property
    def rho(self) -> Fraction:
        """Of the whole, in zero-concentrated differential privacy."""
        return self.updates * (self.reach * self.rate) ** 2 / 8


def calibrate(
    *, epsilon: Fraction, delta: Fraction, updates: int, neighbors: Neighbors
) -> Calibration:
    """The largest b for (epsilon, delta), by basic composition or by zCDP, rounded down.

    Raises:
        ParameterError: The figures are too extreme to be converted.
    """
    # Equal to the range sensitivity of the errors; why it bounds an update is Lemma 3.
    reach = ZERO_ONE[neighbors]
    basic = epsilon / (updates * reach)
    pure = Calibration(rate=basic, reach=reach, updates=updates, epsilon=epsilon, delta=Fraction(0))
    if delta == 0:
        return pure
    rho = largest_rho(epsilon, delta)
    rate = Fraction(math.sqrt(8 * rho / updates) / reach) * (1 - Fraction(1, 2**40))
    if rate <= basic:
        return pure
    composed = Calibration(rate=rate, reach=reach, updates=updates, epsilon=epsilon, delta=delta)
    if composed.rho > rho:
        raise PrivacyError("the rounded rate costs more than was converted")
    return composed


def blockwise(
    cells: CellTable,
    *,
    epsilon: float | Fraction,
    delta: float | Fraction = 0,
    neighbors: Neighbors | str = Neighbors.REPLACE,
    weights: Sequence[int] = (-1, 0, 1),
    sweeps: int = SWEEPS,
    order: Sequence[int] | None = None,
    limits: Limits | None = None,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    random_state: int | BitSource | None = None,
    contingencies: Sequence[Contingency] = (),
) -> Release[tuple[IntArray, ...]]:
    """Redraw every attribute ``sweeps`` times, from all weights 0, and release the last weights.

    Args:
        cells: The data, one-hot attributes only. Codes and levels are public, counts are not.
        epsilon: Of the whole, positive.
        delta: Of the whole, in [0, 1). With 0, basic composition.
        neighbors: The neighbour relation.
        weights: The values of every weight: distinct integers, 0 among them. Public.
        sweeps: How often every attribute is redrawn, positive. Public.
        order: The attributes in the order of a sweep, each once. Public. Default: most levels
            first, ties in the table's order.
        limits: Only for the sake of a common signature: the number of updates is fixed, so
            limits that could stop a run are refused.
        ledger: Charged before the first random bit is drawn.
        dataset: Name of the data set in the ledger.
        random_state: None for the operating system's randomness; an integer reproduces a run and
            marks the release as not private.
        contingencies: Further conditions for the guarantee to state.

    Returns:
        One integer array of weights per attribute, with its guarantee. Its certificate is ``NONE``
        always: none is needed. Its delta is 0 where the given one would not have helped.

    Raises:
        ParameterError: A parameter is out of range, or the table is not one-hot. Nothing is
            charged.
        ProblemError: ``weights`` are not as described. Nothing is charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.
    """
    relation = Neighbors.parse(neighbors)
    values = public_values(cells, weights)
    schedule = _schedule(cells.levels, sweeps, order)
    spent = calibrate(
        epsilon=positive_rational("epsilon", epsilon),
        delta=_delta(delta),
        updates=len(schedule),
        neighbors=relation,
    )
    source = bit_source(random_state)
    if limits_or_none(limits).may_stop_early:
        raise ParameterError("limits: the number of updates is fixed; nothing may stop them early")
    guarantee = _guarantee(spent, relation, (*contingencies, *conditions(source, Limits())))
    charge_before_noise(
        ledger,
        dataset,
        mechanism=MECHANISM,
        epsilon=spent.epsilon,
        delta=spent.delta,
        neighbors=relation,
        rho=spent.rho,
    )
    current = [np.zeros(size, dtype=np.int64) for size in cells.levels]
    for j in schedule:
        current[j] = redraw(cells, values, current, j, spent.rate, source)
    return Release(tuple(current), guarantee)


def redraw(
    cells: CellTable,
    values: IntArray,
    current: Sequence[IntArray],
    attribute: int,
    rate: Fraction,
    source: BitSource,
) -> IntArray:
    """New weights for every level of one attribute: one update."""
    costs = level_costs(cells, values, current, attribute).tolist()
    return values[[pick_cost(row, rate, source) for row in costs]]


def level_costs(
    cells: CellTable, values: IntArray, current: Sequence[IntArray], attribute: int
) -> IntArray:
    """Errors among each level's rows per value of its weight, shape ``(levels, len(values))``."""
    code = cells.codes[:, attribute]
    others = cells.margins(current) - current[attribute][code]
    costs = np.zeros((cells.levels[attribute], len(values)), dtype=np.int64)
    for i, value in enumerate(values):
        # Not bincount, whose sums are floats.
        np.add.at(costs[:, i], code, np.where(others + value >= 1, cells.negative, cells.positive))
    return costs


def _guarantee(
    spent: Calibration, neighbors: Neighbors, contingencies: tuple[Contingency, ...]
) -> Guarantee:
    return Guarantee(
        mechanism=MECHANISM,
        theorem=THEOREM,
        neighbors=neighbors,
        epsilon=stated("epsilon", spent.epsilon, toward=math.inf),
        delta=stated("delta", spent.delta, toward=math.inf),
        rho=stated("epsilon", spent.rho, toward=math.inf),
        sensitivity=float(spent.reach),
        sensitivity_source=PROVED,
        certificate=Certificate.NONE,
        contingencies=contingencies,
    )


def _schedule(levels: tuple[int, ...], sweeps: int, order: Sequence[int] | None) -> tuple[int, ...]:
    if isinstance(sweeps, bool) or not isinstance(sweeps, int) or sweeps < 1:
        raise ParameterError(f"sweeps: a positive integer expected, not {sweeps!r}")
    every = range(len(levels))
    if order is None:
        return tuple(sorted(every, key=lambda j: -levels[j])) * sweeps
    listed = tuple(order)
    if any(isinstance(j, bool) or not isinstance(j, int) for j in listed):
        raise ParameterError(f"order: attribute numbers expected, not {order!r}")
    if sorted(listed) != list(every):
        raise ParameterError(f"order: each of 0..{len(levels) - 1} once expected, not {order!r}")
    return listed * sweeps


def _delta(given: float | Fraction) -> Fraction:
    delta = rational("delta", given)
    if not 0 <= delta < 1:
        raise ParameterError(f"delta: a number in [0, 1) expected, not {given!r}")
    return delta
