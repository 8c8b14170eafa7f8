"""Noise on the counts of every cell of the public domain, and then any classifier.

Theorem (docs/theory/rivals.md, Theorem 1). Let x be an integer vector of public length that moves
by at most S in L1 norm between neighbours, and let Y have independent entries with
P[Y = y] = (1 - q) / (1 + q) q^|y|, q = exp(-epsilon / S). Then x + Y is epsilon-differentially
private, and so is all that is computed from it. For x = positive minus negative count per cell, S
is 1 under ``add_remove`` and ``zero_out``, 2 under ``replace``.

Where its hypotheses are enforced: the vector has an entry for every cell of the product of levels,
with rows or without (:func:`cell_differences`); S is :data:`L1_SENSITIVITY`; the law of Y by
``oracle_dp.noise``, on both sides of 0; the minimisation sees the noisy counts only, so that
neither its optimality nor its limits carry any of the guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from oracle_dp.errors import ParameterError
from oracle_dp.ledger import Ledger
from oracle_dp.mechanisms.base import charge_before_noise, conditions, limits_or_none, stated
from oracle_dp.mechanisms.one_hot import public_values
from oracle_dp.noise import (
    SMALLEST_ARRAY_EXPONENT,
    BitSource,
    bit_source,
    positive_rational,
    two_sided_geometric_array,
)
from oracle_dp.privacy import Contingency, Guarantee, Neighbors, Release
from oracles import Certificate, Limits
from oracles.zero_one import CellTable, minimize
from oracles.zero_one.cells import IntArray

MECHANISM = "counts"
THEOREM = (
    "two-sided geometric noise on every cell's difference of counts; the minimisation is "
    "post-processing, so its optimality plays no role (docs/theory/rivals.md, Theorem 1)"
)
L1_SENSITIVITY = {Neighbors.REPLACE: 2, Neighbors.ADD_REMOVE: 1, Neighbors.ZERO_OUT: 1}
"""Of the vector of positive minus negative counts: a record moves one entry by 1 when it appears
or vanishes, and a replacement is one of each (docs/theory/rivals.md, Lemma 1)."""

SENSITIVITY_SOURCE = "proved: L1 norm of the cells' differences of counts"

MAX_CELLS = 2_000_000
"""Largest public domain: every cell gets noise, about 10 microseconds each."""

SEARCH = Limits(nodes=200_000)
"""How long the noisy counts are searched by default: some seconds, the same for equal seeds."""

_LARGEST_TOTAL = 2**60
"""Noisy counts are cut so that their sum stays below; this is post-processing."""


def noisy_counts(counts: IntArray, *, exponent: Fraction, source: BitSource) -> IntArray:
    """Counts with independent two-sided geometric noise of ratio ``exp(-exponent)``.

    A mechanism only together with the L1 sensitivity S of ``counts``: pure ``S * exponent``.

    Args:
        counts: Integers, every entry public in its meaning, zeros included.
        exponent: At least :data:`oracle_dp.noise.SMALLEST_ARRAY_EXPONENT`.
        source: Where the bits come from.

    Returns:
        An array of the shape of ``counts``. Sums beyond 64 bits are taken modulo 2^64, a function
        of the sum alone.

    Raises:
        ParameterError: ``counts`` are not integers, or ``exponent`` is out of range.
    """
    table = np.asarray(counts)
    if not np.issubdtype(table.dtype, np.signedinteger):
        raise ParameterError(f"counts: signed integers expected, not {table.dtype}")
    noisy: IntArray = table + two_sided_geometric_array(exponent, table.shape, source)
    return noisy


def cell_differences(cells: CellTable) -> IntArray:
    """Positive minus negative count of every cell of the domain, in lexicographic order."""
    differences = np.zeros(math.prod(cells.levels), dtype=np.int64)
    place = cells.codes @ _strides(cells.levels)
    np.add.at(differences, place, cells.positive - cells.negative)
    return differences


def noisy_differences(
    cells: CellTable, *, epsilon: Fraction, neighbors: Neighbors, source: BitSource
) -> IntArray:
    """All that the mechanism sees of the data: what follows is post-processing."""
    exponent = _exponent(epsilon, neighbors)
    return noisy_counts(cell_differences(cells), exponent=exponent, source=source)


def _exponent(epsilon: Fraction, neighbors: Neighbors) -> Fraction:
    return epsilon / L1_SENSITIVITY[neighbors]


def counts_zero_one(
    cells: CellTable,
    *,
    epsilon: float | Fraction,
    neighbors: Neighbors | str = Neighbors.REPLACE,
    weights: Sequence[int] = (-1, 0, 1),
    limits: Limits | None = None,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    random_state: int | BitSource | None = None,
    contingencies: Sequence[Contingency] = (),
) -> Release[tuple[IntArray, ...]]:
    """Release the best classifier found for noisy counts.

    Args:
        cells: The data, one-hot attributes only. Codes and levels are public, counts are not.
        epsilon: Positive.
        neighbors: The neighbour relation.
        weights: The values of every weight: distinct integers, 0 among them. Public.
        limits: When to stop looking for a better classifier. Nothing is ever refused. Default
            :data:`SEARCH`.
        ledger: Charged before the first random bit is drawn.
        dataset: Name of the data set in the ledger.
        random_state: None for the operating system's randomness; an integer reproduces a run and
            marks the release as not private.
        contingencies: Further conditions for the guarantee to state.

    Returns:
        One integer array of weights per attribute, with its guarantee: pure epsilon, rho =
        epsilon^2 / 2. Its certificate is ``NONE`` always: none is needed.

    Raises:
        ParameterError: A parameter is out of range, the table is not one-hot, or its domain has
            more than :data:`MAX_CELLS` cells. Nothing is charged.
        ProblemError: ``weights`` are not as described. Nothing is charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.
    """
    target = positive_rational("epsilon", epsilon)
    relation = Neighbors.parse(neighbors)
    if _exponent(target, relation) < SMALLEST_ARRAY_EXPONENT:
        raise ParameterError(f"epsilon: {epsilon!r} is too small: noise would exceed 64 bits")
    values = public_values(cells, weights)
    _check_domain(cells.levels)
    source = bit_source(random_state)
    within = SEARCH if limits is None else limits_or_none(limits)
    guarantee = Guarantee(
        mechanism=MECHANISM,
        theorem=THEOREM,
        neighbors=relation,
        epsilon=stated("epsilon", target, toward=math.inf),
        delta=0.0,
        rho=stated("epsilon", target**2 / 2, toward=math.inf),
        sensitivity=float(L1_SENSITIVITY[relation]),
        sensitivity_source=SENSITIVITY_SOURCE,
        certificate=Certificate.NONE,
        # Limits decide how good the classifier is, never whether there is one.
        contingencies=(*contingencies, *conditions(source, Limits())),
    )
    charge_before_noise(ledger, dataset, mechanism=MECHANISM, epsilon=target, neighbors=relation)
    noisy = noisy_differences(cells, epsilon=target, neighbors=relation, source=source)
    return Release(best_found(noisy, cells.levels, values, within), guarantee)


def best_found(
    differences: IntArray, levels: tuple[int, ...], values: IntArray, limits: Limits
) -> tuple[IntArray, ...]:
    """The best classifier that a search finds for differences of counts; post-processing.

    Args:
        differences: Positive minus negative count of every cell, in lexicographic order.
        levels: Number of levels of each attribute.
        values: The values of every weight, increasing.
        limits: When to stop.

    Returns:
        One array of weights per attribute.
    """
    most = _LARGEST_TOTAL // differences.size
    cut = np.clip(differences, -most, most)
    place = np.flatnonzero(cut)
    codes = place[:, None] // _strides(levels) % np.array(levels)
    positive, negative = np.maximum(cut[place], 0), np.maximum(-cut[place], 0)
    table = CellTable(codes, np.ones_like(codes), positive, negative, levels)
    return minimize(table, [int(v) for v in values], limits=limits).require_point()


def _strides(levels: tuple[int, ...]) -> IntArray:
    """Cells between neighbouring levels of each attribute; arrays have too few axes for some."""
    return np.array([math.prod(levels[j + 1 :]) for j in range(len(levels))], dtype=np.int64)


def _check_domain(levels: tuple[int, ...]) -> None:
    if math.prod(levels) > MAX_CELLS:
        raise ParameterError(
            f"cells: the public domain has {math.prod(levels)} cells, and each of them needs "
            f"noise; at most {MAX_CELLS}: use fewer attributes, or merge levels"
        )
