"""The exponential mechanism over classifiers, exactly, by branch and bound.

Theorem (docs/theory/exact_exponential.md, Theorem 1). Let W be finite and public, B(w) > 0 a public
base measure, and L a loss with range sensitivity Delta. Drawing w with probability proportional to
B(w) exp(-epsilon L(D, w) / Delta) is epsilon-differentially private, with a log ratio that lies
in an interval of length epsilon, hence (epsilon^2 / 8)-zCDP.

Where its hypotheses are enforced: W and B are parameters (levels, weights, sparsity, number of
attributes); Delta is 2 under ``replace`` and 1 otherwise, proved for the 0-1 loss; the law is exact
by :mod:`oracle_dp.mechanisms.rejection`, which needs no enumeration and no minimum.

Sources: McSherry and Talwar, FOCS 2007; Dymetman, Bouchard, Carter, "The OS* algorithm",
arXiv:1207.0742, for adaptive rejection.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from oracle_dp.errors import ParameterError, UncertifiedError
from oracle_dp.ledger import Ledger
from oracle_dp.mechanisms.base import (
    REFUSED,
    charge_before_noise,
    conditions,
    limits_or_none,
    stated,
)
from oracle_dp.mechanisms.rejection import Draw, EnvelopeError, Sampler
from oracle_dp.noise import BitSource, bernoulli, bit_source, positive_rational, rational
from oracle_dp.privacy import Contingency, Guarantee, Neighbors, Release
from oracle_dp.sensitivity import PROVED, ZERO_ONE
from oracles import Certificate, Limits
from oracles.zero_one import CellTable, check_weights, minimize
from oracles.zero_one.cells import IntArray
from oracles.zero_one.descent import descend, total_cost
from oracles.zero_one.partition import PartitionTree

MECHANISM = "exponential"
THEOREM = (
    "exponential mechanism, drawn exactly by branch and bound "
    "(docs/theory/exact_exponential.md, Theorems 1 and 4)"
)
MAX_PRICE = 2**30
"""Of a non-zero weight, so that prices and counts add up within 64 bits whatever the data."""

MAX_SUBSETS = 1_000
"""Trees side by side, at most."""

EXTREME = 1e8
"""Nats of all rows together from which a local optimum is too far from the optimum: masses of
exp(10^8) have wide margins. Then the search finds the reference."""

SEARCH_NODES = 100_000

SPARSITY_STEPS = 16
"""The sparsity prior is rounded to this part of an error's weight, so that costs stay integers."""


class ZeroOneExponential:
    """The mechanism for one cell table: any number of draws, each with its own epsilon.

    Args:
        cells: The data.
        epsilon: Of one draw, positive.
        neighbors: The neighbour relation.
        weights: The values of every weight: distinct integers, 0 among them. Public.
        sparsity: Public prior ``exp(-sparsity * number of non-zero weights)``, not negative;
            rounded to sixteenths of the exponent of one error.
        max_attributes: Public limit on the number of attributes with a non-zero weight.

    Raises:
        ParameterError: A parameter is out of range.
        ProblemError: ``weights`` are not as described, or the counts are too large.
    """

    def __init__(
        self,
        cells: CellTable,
        *,
        epsilon: float | Fraction,
        neighbors: Neighbors | str = Neighbors.REPLACE,
        weights: Sequence[int] = (-1, 0, 1),
        sparsity: float | Fraction = 0,
        max_attributes: int | None = None,
    ) -> None:
        self.epsilon = positive_rational("epsilon", epsilon)
        self.neighbors = Neighbors.parse(neighbors)
        _, self._values = check_weights(weights)
        cells.margin_bounds([int(value) for value in self._values])
        sensitivity = ZERO_ONE[self.neighbors]
        error = self.epsilon / sensitivity
        prior = rational("sparsity", sparsity)
        if prior < 0:
            raise ParameterError(f"sparsity: must not be negative, not {sparsity!r}")
        self._scale = 1 if prior == 0 else SPARSITY_STEPS
        self._price = round(prior * self._scale / error)
        if self._price > MAX_PRICE:
            raise ParameterError(
                f"sparsity: {sparsity!r} is too large for epsilon = {epsilon!r}: a non-zero weight "
                f"would cost more than {MAX_PRICE // SPARSITY_STEPS} errors"
            )
        self._beta = error / self._scale
        self._cells = cells.scaled(self._scale)
        self._subsets = _subsets(len(cells.levels), max_attributes)

    def release(
        self,
        *,
        limits: Limits | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
        random_state: int | BitSource | None = None,
        contingencies: Sequence[Contingency] = (),
    ) -> Release[tuple[IntArray, ...]]:
        """Draw once and charge once.

        Args:
            limits: ``rounds`` counts rejection trials, ``seconds`` is looked at between them only,
                so that neither changes the law of what is released. Default: no limit.
            ledger: Charged before the first random bit is drawn.
            dataset: Name of the data set in the ledger.
            random_state: None for the operating system's randomness; an integer reproduces a run
                and marks the release as not private.
            contingencies: Further conditions for the guarantee to state.

        Returns:
            One integer array of weights per attribute, with its guarantee.

        Raises:
            ParameterError: A parameter is out of range. Nothing is charged.
            LedgerError: The budget does not allow the charge. Nothing is charged.
            UncertifiedError: A limit was reached. The charge stays.
        """
        release = self.releases(
            1,
            limits=limits,
            ledger=ledger,
            dataset=dataset,
            random_state=random_state,
            contingencies=contingencies,
        )
        return next(release)

    def releases(
        self,
        number: int,
        *,
        limits: Limits | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
        random_state: int | BitSource | None = None,
        contingencies: Sequence[Contingency] = (),
    ) -> Iterator[Release[tuple[IntArray, ...]]]:
        """Draw several times from one tree: independent draws, each charged before it is made.

        The arguments and errors are those of :meth:`release`; limits are per draw. What is not
        iterated over is not charged.
        """
        within = limits_or_none(limits, without=("nodes",))
        source = bit_source(random_state)
        guarantee = self._guarantee(source, within, contingencies)
        for _ in range(number):
            charge_before_noise(
                ledger,
                dataset,
                mechanism=MECHANISM,
                epsilon=self.epsilon,
                neighbors=self.neighbors,
                rho=self.epsilon**2 / 8,
            )
            yield Release(self._draw(source, within), guarantee)

    def _guarantee(
        self, source: BitSource, limits: Limits, contingencies: Sequence[Contingency]
    ) -> Guarantee:
        return Guarantee(
            mechanism=MECHANISM,
            theorem=THEOREM,
            neighbors=self.neighbors,
            epsilon=stated("epsilon", self.epsilon, toward=math.inf),
            delta=0.0,
            rho=stated("epsilon", self.epsilon**2 / 8, toward=math.inf),
            sensitivity=float(ZERO_ONE[self.neighbors]),
            sensitivity_source=PROVED,
            certificate=Certificate.EXACT,
            contingencies=(*contingencies, *conditions(source, limits)),
        )

    def _draw(self, source: BitSource, limits: Limits) -> tuple[IntArray, ...]:
        seconds = math.inf if limits.seconds is None else limits.seconds
        deadline = time.monotonic() + seconds
        rounds = itertools.count() if limits.rounds is None else range(limits.rounds)
        with contextlib.suppress(TimeoutError):
            for _ in rounds:
                draw = self._sampler.trial(source, deadline)
                if draw is not None:
                    weights = self._weights(draw)
                    if bernoulli(Fraction(1, self._multiplicity(weights)), source):
                        return weights
        raise UncertifiedError(f"no draw was accepted within the limits. {REFUSED}")

    # -- the trees -----------------------------------------------------------------------------

    @property
    def rate(self) -> Fraction:
        """Nats per error: ``epsilon / Delta``."""
        return self._beta * self._scale

    @property
    def sparsity(self) -> Fraction:
        """Nats per non-zero weight, after rounding."""
        return self._beta * self._price

    @cached_property
    def _tables(self) -> list[tuple[CellTable, list[IntArray]]]:
        """Cells and costs of each subset of attributes."""
        row = np.where(self._values == 0, 0, self._price)
        tables = [self._cells.project(subset) for subset in self._subsets]
        return [(table, [np.tile(row, (size, 1)) for size in table.levels]) for table in tables]

    @cached_property
    def _sampler(self) -> Sampler:
        beta = float(self._beta)
        # Any reference would do; near the optimum the masses are of ordinary size.
        reference = min(self._good_cost(table, costs) for table, costs in self._tables)
        trees = [
            PartitionTree(table, self._values, costs, beta=beta, reference=reference)
            for table, costs in self._tables
        ]
        return Sampler(trees, self._beta)

    def _good_cost(self, table: CellTable, costs: list[IntArray]) -> int:
        values = [int(value) for value in self._values]
        if float(self._beta) * table.n_rows > EXTREME:
            found = minimize(table, values, costs=costs, limits=Limits(nodes=SEARCH_NODES))
            if found.value is not None:
                return total_cost(table, self._values, costs, found.value)
        return total_cost(table, self._values, costs, descend(table, values, costs))

    def _weights(self, draw: Draw) -> tuple[IntArray, ...]:
        """The classifier of a draw, recounted from the cells."""
        layout = self._sampler.trees[draw.tree].layout
        table, costs = self._tables[draw.tree]
        point = draw.leaf.fixed.copy()
        point[draw.leaf.levels] = draw.chosen
        chosen = layout.weights(point)
        if total_cost(table, self._values, costs, chosen) != draw.cost + layout.constant:
            raise EnvelopeError("the recount of a drawn classifier differs from its tree's")
        weights = [np.zeros(size, dtype=np.int64) for size in self._cells.levels]
        for j, block in zip(self._subsets[draw.tree], chosen, strict=True):
            weights[j] = block
        return tuple(weights)

    def _multiplicity(self, weights: Sequence[IntArray]) -> int:
        """In how many of the subsets a classifier occurs."""
        used = {j for j, block in enumerate(weights) if block.any()}
        return sum(used <= set(subset) for subset in self._subsets)


def exponential(
    cells: CellTable,
    *,
    epsilon: float | Fraction,
    neighbors: Neighbors | str = Neighbors.REPLACE,
    weights: Sequence[int] = (-1, 0, 1),
    sparsity: float | Fraction = 0,
    max_attributes: int | None = None,
    limits: Limits | None = None,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    random_state: int | BitSource | None = None,
    contingencies: Sequence[Contingency] = (),
) -> Release[tuple[IntArray, ...]]:
    """Draw one classifier; as :class:`ZeroOneExponential` and its ``release``."""
    mechanism = ZeroOneExponential(
        cells,
        epsilon=epsilon,
        neighbors=neighbors,
        weights=weights,
        sparsity=sparsity,
        max_attributes=max_attributes,
    )
    return mechanism.release(
        limits=limits,
        ledger=ledger,
        dataset=dataset,
        random_state=random_state,
        contingencies=contingencies,
    )


def _subsets(n_attributes: int, limit: int | None) -> list[tuple[int, ...]]:
    """The largest sets of attributes allowed. A classifier may fit several: see Theorem 5."""
    if limit is None:
        return [tuple(range(n_attributes))]
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ParameterError(f"max_attributes: a positive integer or None, not {limit!r}")
    if math.comb(n_attributes, min(limit, n_attributes)) > MAX_SUBSETS:
        raise ParameterError(
            f"max_attributes: more than {MAX_SUBSETS} sets of {limit} out of {n_attributes} "
            "attributes; name fewer attributes in the domain"
        )
    return list(itertools.combinations(range(n_attributes), min(limit, n_attributes)))
