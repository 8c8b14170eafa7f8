"""Noise on a public histogram of the records, and then any minimiser of what it says.

Theorem (docs/theory/rivals.md, Theorem 1). Let x be an integer vector of public length that moves
by at most S in L1 norm between neighbours, and let Y have independent entries with
P[Y = y] = (1 - q) / (1 + q) q^|y|, q = exp(-epsilon / S). Then x + Y is epsilon-differentially
private, and so is all that is computed from it: the answer released here, and any number of
further ones.

Where its hypotheses are enforced: every cell of the public histogram gets noise, those without
records too; S is the histogram's own statement for each neighbour relation (1 and 2 where a record
is in one cell); the law of Y by ``oracle_dp.noise``; what minimises sees the noisy counts only, so
that neither its optimality nor its limits carry any of the guarantee.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from oracle_dp.errors import ParameterError
from oracle_dp.ledger import Ledger
from oracle_dp.mechanisms.base import charge_before_noise, conditions, limits_or_none, stated
from oracle_dp.mechanisms.counts import noisy_counts
from oracle_dp.noise import SMALLEST_ARRAY_EXPONENT, BitSource, bit_source, positive_rational
from oracle_dp.privacy import Contingency, Guarantee, Neighbors, Release
from oracle_dp.sensitivity import ASSERTED, is_proved
from oracles import Certificate, IntegerProgram, Limits, Oracle
from oracles.oracle import UNLIMITED
from oracles.selection.base import IntArray

MECHANISM = "counts"
THEOREM = (
    "two-sided geometric noise on every cell of a public histogram; the minimisation is "
    "post-processing, so its optimality plays no role (docs/theory/rivals.md, Theorem 1)"
)

MAX_CELLS = 2_000_000
"""Largest histogram: every cell gets noise, about 10 microseconds each."""

SEARCH = Limits(seconds=60)
"""How long a solver looks at noisy counts by default. Nothing is refused for it."""


class Histogram(Protocol):
    """Counts that the loss is computed from, and how to answer from them."""

    @property
    def counts(self) -> IntArray:
        """The private counts of every public cell."""
        ...

    def l1_sensitivity(self, neighbors: Neighbors) -> int:
        """The most by which neighbours differ in the sum of absolute differences of counts."""
        ...

    def answer(self, counts: IntArray, limits: Limits) -> IntArray:
        """A good choice for counts, which may be negative: post-processing."""
        ...


@dataclass(frozen=True, eq=False)
class HistogramObjective:
    """A program whose objective is ``program.objective + counts @ costs``.

    Args:
        program: The constraints and the public part of the objective.
        costs: What a record of each cell adds to the objective, shape ``(cells, n)``, finite.
            Public.
        counts: Records of every cell, integers, shape ``(cells,)``. Private.
        released: Indices of the integer variables that are published.
        oracle: What solves it.
        cells_per_record: How many counts a record raises by one, at most.

    Raises:
        ParameterError: Shapes disagree, or a number is not what it should be.
    """

    program: IntegerProgram
    costs: sp.csr_array
    counts: IntArray
    released: tuple[int, ...]
    oracle: Oracle
    cells_per_record: int

    def __init__(
        self,
        program: IntegerProgram,
        costs: ArrayLike | sp.sparray,
        counts: ArrayLike,
        *,
        released: tuple[int, ...],
        oracle: Oracle,
        cells_per_record: int = 1,
    ) -> None:
        rows: Any = costs  # The stubs of sparse arrays take no ArrayLike.
        table: Any = sp.csr_array(rows).astype(np.float64)
        number = np.asarray(counts)
        if number.ndim != 1 or number.dtype.kind not in "iu":
            raise ParameterError("counts: a vector of integers expected")
        if table.shape != (len(number), program.n_variables):
            raise ParameterError("costs: one row per count and one column per variable expected")
        if not np.isfinite(table.data).all():
            raise ParameterError("costs: NaN or infinite entries")
        whole = isinstance(cells_per_record, int | np.integer)
        if isinstance(cells_per_record, bool) or not whole or cells_per_record < 1:
            raise ParameterError(
                f"cells_per_record: a positive integer expected, not {cells_per_record!r}"
            )
        _check_released(program, released)
        for name, value in (
            ("program", program), ("costs", table), ("counts", number.astype(np.int64)),
            ("released", tuple(int(j) for j in released)), ("oracle", oracle),
            ("cells_per_record", int(cells_per_record)),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    def with_counts(self, counts: IntArray) -> IntegerProgram:
        """The program for some counts."""
        costs = self.program.objective + self.costs.T @ counts.astype(np.float64)
        return self.program.with_objective(costs, self.program.constant)

    def l1_sensitivity(self, neighbors: Neighbors) -> int:
        """``cells_per_record``, twice that where a record is replaced."""
        return self.cells_per_record * (2 if neighbors is Neighbors.REPLACE else 1)

    def answer(self, counts: IntArray, limits: Limits = UNLIMITED) -> IntArray:
        """The best choice that the oracle finds; negative counts are taken for 0.

        Raises:
            OracleError: It finds none.
        """
        found = self.oracle.minimize(self.with_counts(np.maximum(counts, 0)), limits=limits)
        return found.require_point()[list(self.released)].astype(np.int64)


def _check_released(program: IntegerProgram, released: tuple[int, ...]) -> None:
    if not released or len(set(released)) != len(released):
        raise ParameterError("released: at least one variable expected, each once")
    for j in released:
        if not 0 <= j < program.n_variables:
            raise ParameterError(f"released: the program has no variable of index {j}")
        if not program.integer[j]:
            raise ParameterError(
                f"released: {program.names[j]!r} is continuous; only integers can be published"
            )


def counts_histogram(
    histogram: Histogram,
    *,
    epsilon: float | Fraction,
    neighbors: Neighbors | str = Neighbors.REPLACE,
    sensitivity_source: str = ASSERTED,
    limits: Limits | None = None,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    random_state: int | BitSource | None = None,
    contingencies: tuple[Contingency, ...] = (),
) -> Release[IntArray]:
    """Release the best choice found for noisy counts.

    Args:
        histogram: Counts of public cells, and how to answer from them.
        epsilon: Positive.
        neighbors: The neighbour relation.
        sensitivity_source: Who vouches for how many cells a record touches.
        limits: When to stop looking for a better choice. Default :data:`SEARCH`.
        ledger: Charged before the first random bit is drawn.
        dataset: Name of the data set in the ledger.
        random_state: None for the operating system's randomness; an integer reproduces a run and
            marks the release as not private.
        contingencies: Further conditions for the guarantee to state.

    Returns:
        The choice with its guarantee: pure epsilon, rho = epsilon^2 / 2. Its certificate is
        ``NONE`` always: none is needed.

    Raises:
        ParameterError: A parameter is out of range. Nothing is charged.
        LedgerError: The budget does not allow the charge. Nothing is charged.
        OracleError: The solver found no choice for the noisy counts. The charge stays.
    """
    target = positive_rational("epsilon", epsilon)
    relation = Neighbors.parse(neighbors)
    sensitivity = histogram.l1_sensitivity(relation)
    exponent = target / sensitivity
    if exponent < SMALLEST_ARRAY_EXPONENT:
        raise ParameterError(f"epsilon: {epsilon!r} is too small: noise would exceed 64 bits")
    if len(histogram.counts) > MAX_CELLS:
        raise ParameterError(f"counts: at most {MAX_CELLS} cells; merge some")
    source = bit_source(random_state)
    within = SEARCH if limits is None else limits_or_none(limits)
    vouched = not is_proved(sensitivity_source)
    guarantee = Guarantee(
        mechanism=MECHANISM,
        theorem=THEOREM,
        neighbors=relation,
        epsilon=stated("epsilon", target, toward=math.inf),
        delta=0.0,
        rho=stated("epsilon", target**2 / 2, toward=math.inf),
        sensitivity=float(sensitivity),
        sensitivity_source=sensitivity_source,
        certificate=Certificate.NONE,
        # Limits decide how good the choice is, never whether the noise hides enough.
        contingencies=(*contingencies, *conditions(source, Limits(), vouched=vouched)),
    )
    charge_before_noise(ledger, dataset, mechanism=MECHANISM, epsilon=target, neighbors=relation)
    noisy = noisy_counts(histogram.counts, exponent=exponent, source=source)
    return Release(histogram.answer(noisy, within), guarantee)
