"""Readers for J. E. Beasley's OR-Library: p-median, warehouse location, knapsacks, set covering.

The files hold public constraints and, where a benchmark has costs of its own, those. Private
records come on top: see the problem classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path

from oracles import IntegerProgram, ModelFileError
from oracles.arrays import FloatArray
from oracles.selection.base import IntArray


@dataclass(frozen=True, eq=False)
class PMedianFile:
    """A p-median instance.

    Attributes:
        distances: All-pairs shortest paths, integers, shape ``(n, n)``.
        p: Number of sites to open.
    """

    distances: IntArray
    p: int


@dataclass(frozen=True, eq=False)
class WarehouseFile:
    """A capacitated warehouse location instance.

    Attributes:
        capacities: Of every warehouse.
        opening: Its price.
        demands: Of every customer.
        costs: Of serving all of a customer's demand from a warehouse, shape
            ``(customers, warehouses)``.
    """

    capacities: FloatArray
    opening: FloatArray
    demands: FloatArray
    costs: FloatArray

    def program(self) -> IntegerProgram:
        """The mixed-integer program: demand may be split between open warehouses."""
        customers, sites = self.costs.shape
        pairs, n = customers * sites, sites + customers * sites
        pair, who = np.arange(pairs), np.repeat(np.arange(customers), sites)
        where = np.tile(np.arange(sites), customers)
        served = sp.csr_array((np.ones(pairs), (who, sites + pair)), shape=(customers, n))
        links = sp.csr_array(
            (
                np.r_[np.ones(pairs), -np.ones(pairs)],
                (np.r_[pair, pair], np.r_[sites + pair, where]),
            ),
            shape=(pairs, n),
        )
        room = sp.csr_array(
            (
                np.r_[self.demands[who], -self.capacities],
                (np.r_[where, np.arange(sites)], np.r_[sites + pair, np.arange(sites)]),
            ),
            shape=(sites, n),
        )
        return IntegerProgram(
            np.r_[self.opening, self.costs.ravel()],
            sp.vstack([served, links, room], format="csr"),
            np.r_[np.ones(customers), np.full(pairs + sites, -np.inf)],
            np.r_[np.ones(customers), np.zeros(pairs + sites)],
            upper=np.ones(n),
            integer=np.arange(n) < sites,
        )


@dataclass(frozen=True, eq=False)
class KnapsackFile:
    """A multi-dimensional knapsack instance.

    Attributes:
        profits: Of every item.
        weights: Shape ``(rows, items)``.
        capacities: Of every row.
        optimum: As the file states it; 0 where it is not known.
    """

    profits: FloatArray
    weights: FloatArray
    capacities: FloatArray
    optimum: float

    def program(self) -> IntegerProgram:
        """Minimise minus the profit."""
        n = len(self.profits)
        return IntegerProgram(
            -self.profits, self.weights, row_upper=self.capacities, upper=np.ones(n), negated=True
        )


@dataclass(frozen=True, eq=False)
class CoverFile:
    """A set covering instance.

    Attributes:
        costs: Of every set.
        covers: Whether a set covers an element, 0 or 1, shape ``(elements, sets)``.
    """

    costs: IntArray
    covers: IntArray

    def program(self) -> IntegerProgram:
        """Minimise the cost of a cover."""
        return IntegerProgram(
            self.costs, self.covers, row_lower=np.ones(len(self.covers)),
            upper=np.ones(len(self.costs)),
        )  # fmt: skip


def read_p_median(path: str | Path) -> PMedianFile:
    """Read ``pmed*.txt``: nodes, edges and p, then the edges; of two edges the later one counts.

    Raises:
        ModelFileError: The file is missing, truncated or malformed.
    """
    numbers = _Numbers(path)
    n, edges, p = numbers.whole(), numbers.whole(), numbers.whole()
    graph = np.zeros((n, n))
    for _ in range(edges):
        a, b, length = numbers.whole(), numbers.whole(), numbers.next()
        if not (1 <= a <= n and 1 <= b <= n):
            raise numbers.broken("names a node that does not exist")
        graph[a - 1, b - 1] = graph[b - 1, a - 1] = length
    numbers.finish()
    distances = shortest_path(sp.csr_array(graph), directed=False)
    if not (1 <= p <= n and np.isfinite(distances).all()):
        raise numbers.broken("has a network that is not connected, or p out of range")
    return PMedianFile(np.rint(distances).astype(np.int64), p)


def read_warehouses(path: str | Path) -> WarehouseFile:
    """Read ``cap*.cap``: warehouses and customers, capacities and prices, demands and costs.

    Raises:
        ModelFileError: The file is missing, truncated or malformed.
    """
    numbers = _Numbers(path)
    sites, customers = numbers.whole(), numbers.whole()
    sizes = np.array(numbers.take(2 * sites)).reshape(sites, 2)
    rows = np.array(numbers.take(customers * (sites + 1))).reshape(customers, sites + 1)
    numbers.finish()
    return WarehouseFile(sizes[:, 0], sizes[:, 1], rows[:, 0], rows[:, 1:])


def read_knapsacks(path: str | Path) -> list[KnapsackFile]:
    """Read ``mknap1.txt`` or ``mknapcb*.txt``: several instances, with their optima.

    Raises:
        ModelFileError: The file is missing, truncated or malformed.
    """
    numbers = _Numbers(path)
    found = []
    for _ in range(numbers.whole()):
        items, rows, optimum = numbers.whole(), numbers.whole(), numbers.next()
        profits = np.array(numbers.take(items))
        weights = np.array(numbers.take(rows * items)).reshape(rows, items)
        found.append(KnapsackFile(profits, weights, np.array(numbers.take(rows)), optimum))
    numbers.finish()
    return found


def read_cover(path: str | Path) -> CoverFile:
    """Read ``scp*.txt``: elements and sets, costs, and for every element the sets that cover it.

    A copy in LP format is read by :meth:`oracles.IntegerProgram.from_lp`.

    Raises:
        ModelFileError: The file is missing, truncated or malformed.
    """
    numbers = _Numbers(path)
    elements, sets = numbers.whole(), numbers.whole()
    costs = np.array([numbers.whole() for _ in range(sets)])
    covers = np.zeros((elements, sets), dtype=np.int64)
    for row in covers:
        for _ in range(numbers.whole()):
            j = numbers.whole()
            if not 1 <= j <= sets:
                raise numbers.broken("names a set that does not exist")
            row[j - 1] = 1
    numbers.finish()
    return CoverFile(costs, covers)


class _Numbers:
    """The numbers of a file, one after another."""

    def __init__(self, path: str | Path) -> None:
        self._name = Path(path).name
        try:
            words = Path(path).read_text(encoding="ascii").split()
            self._left: Iterator[float] = iter([float(word) for word in words])
        except OSError as error:
            raise self.broken(f"cannot be read ({error.strerror})") from None
        except (ValueError, UnicodeDecodeError):
            raise self.broken("holds something that is not a number") from None

    def broken(self, what: str) -> ModelFileError:
        return ModelFileError(f"{self._name}: the file {what}")

    def next(self) -> float:
        number = next(self._left, None)
        if number is None:
            raise self.broken("is truncated: numbers are missing at its end")
        if not np.isfinite(number):
            raise self.broken("holds NaN or an infinity")
        return number

    def whole(self) -> int:
        number = self.next()
        if number != int(number) or not 0 <= number < 2**40:
            raise self.broken("has a fraction or a negative number where a count belongs")
        return int(number)

    def take(self, count: int) -> list[float]:
        return [self.next() for _ in range(count)]

    def finish(self) -> None:
        if next(self._left, None) is not None:
            raise self.broken("goes on after its last number")
