"""What ``oracle-dp plan problem`` plans: every problem class, from a public file or a few numbers.

Records are left out: a plan makes up its own.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oracle_dp.problems import PrivateProblem
    from oracles.selection.base import IntArray


class ProblemClass(StrEnum):
    """Problem classes."""

    P_MEDIAN = "p_median"
    FACILITY = "facility"
    COVERAGE = "coverage"
    ASSORTMENT = "assortment"
    MULTI_KNAPSACK = "multi_knapsack"
    SET_COVER = "set_cover"
    BEST_SUBSET = "best_subset"
    SHORTEST_PATH = "shortest_path"


FROM_FILES = {
    ProblemClass.P_MEDIAN: "pmed*.txt",
    ProblemClass.FACILITY: "cap*.cap, without its capacities",
    ProblemClass.MULTI_KNAPSACK: "mknap*.txt, its first instance",
    ProblemClass.SET_COVER: "scp*.txt or .lp",
}
"""OR-Library files, by the class that is planned from one."""

SIZES = {
    ProblemClass.COVERAGE: ("sites, how many to choose", "60,8"),
    ProblemClass.ASSORTMENT: ("items, of made-up weights; half of the weight fits", "50"),
    ProblemClass.BEST_SUBSET: ("tests, how many to choose, how many must be positive", "30,5,2"),
    ProblemClass.SHORTEST_PATH: ("rows, columns of a street grid, from corner to corner", "6,6"),
}
"""What the numbers of ``--size`` are, and their default, by the class that is planned from them."""

MOST = {
    ProblemClass.ASSORTMENT: ("largest rating", 5),
    ProblemClass.MULTI_KNAPSACK: ("largest value of an item to a person", 5),
    ProblemClass.SET_COVER: ("objections of one person", 3),
    ProblemClass.SHORTEST_PATH: ("arcs that one person uses", 3),
}
"""What ``--most`` bounds, and its default."""

CENTS = 100
"""Prices in files have two decimals; costs are integers."""


def problem_of(
    kind: ProblemClass, public: Path | None, size: str | None, most: int | None
) -> PrivateProblem:
    """The class's public part, without records.

    Raises:
        ParameterError: An option is missing, superfluous or out of range.
        OracleError: The file is malformed.
    """
    from oracle_dp.errors import ParameterError

    if most is not None and kind not in MOST:
        raise ParameterError(f"most: {kind.value} has no such bound; leave it out")
    bound = most if most is not None else MOST.get(kind, ("", 1))[1]
    if kind in FROM_FILES:
        if size is not None:
            raise ParameterError(f"size: {kind.value} is planned from a file; leave it out")
        if public is None:
            raise ParameterError(f"public: name an OR-Library file, {FROM_FILES[kind]}")
        return _from_file(kind, public, bound)
    if public is not None:
        raise ParameterError(f"public: {kind.value} is planned from --size; leave it out")
    return _from_numbers(kind, _numbers(kind, size), bound)


def _numbers(kind: ProblemClass, size: str | None) -> tuple[int, ...]:
    from oracle_dp.cli.choices import integers
    from oracle_dp.errors import ParameterError

    what, default = SIZES[kind]
    numbers = integers(default if size is None else size, name="size")
    if len(numbers) != len(default.split(",")) or min(numbers) < 1:
        raise ParameterError(f"size: positive integers expected ({what}), such as {default}")
    return numbers


def _from_file(kind: ProblemClass, public: Path, most: int) -> PrivateProblem:
    import numpy as np

    from oracle_dp.problems import FacilityLocation, MultiKnapsack, PMedian, SetCover, orlib
    from oracles import IntegerProgram

    if kind is ProblemClass.P_MEDIAN:
        read = orlib.read_p_median(public)
        return PMedian(read.distances, np.zeros(len(read.distances), np.int64), read.p)
    if kind is ProblemClass.FACILITY:
        stores = orlib.read_warehouses(public)
        # The file's costs are of all of a place's demand; here a person is one unit of it.
        each = stores.costs / np.maximum(stores.demands, 1)[:, None]
        nobody = np.zeros(len(each), np.int64)
        return FacilityLocation(_cents(each), nobody, _cents(stores.opening))
    if kind is ProblemClass.MULTI_KNAPSACK:
        first = orlib.read_knapsacks(public)[0]
        nothing = np.zeros((0, len(first.profits)), np.int64)
        return MultiKnapsack(
            nothing, np.rint(first.weights).astype(np.int64),
            np.floor(first.capacities).astype(np.int64), most=most,
        )  # fmt: skip
    is_lp = public.suffix == ".lp"
    cover = IntegerProgram.from_lp(public) if is_lp else orlib.read_cover(public).program()
    nothing = np.zeros((0, cover.n_variables), np.int64)
    return SetCover(
        nothing, np.rint(cover.matrix.toarray()).astype(np.int64),
        np.rint(cover.objective).astype(np.int64), most_objections=most,
    )  # fmt: skip


def _from_numbers(kind: ProblemClass, size: tuple[int, ...], most: int) -> PrivateProblem:
    import numpy as np

    from oracle_dp.problems import Assortment, BestSubset, MaximumCoverage

    if kind is ProblemClass.SHORTEST_PATH:
        return _grid(size[0], size[1], most)
    nothing = np.zeros((0, size[0]), np.int64)
    if kind is ProblemClass.COVERAGE:
        return MaximumCoverage(nothing, size[1])
    if kind is ProblemClass.ASSORTMENT:
        weights = np.random.default_rng(size[0]).integers(1, 20, size[0])
        return Assortment(nothing, weights, int(weights.sum()) // 2, most=most)
    return BestSubset(nothing, np.zeros(0, np.int64), size[1], threshold=size[2])


def _grid(rows: int, columns: int, most: int) -> PrivateProblem:
    """One-way streets to the right and down, each of length 1."""
    import numpy as np

    from oracle_dp.problems import ShortestPath

    node = np.arange(rows * columns).reshape(rows, columns)
    tails = np.concatenate([node[:, :-1].ravel(), node[:-1].ravel()])
    heads = np.concatenate([node[:, 1:].ravel(), node[1:].ravel()])
    return ShortestPath(
        np.zeros((0, len(tails)), np.int64), tails, heads, np.ones(len(tails), np.int64),
        source=0, target=rows * columns - 1, most_arcs=most,
    )  # fmt: skip


def _cents(prices: object) -> IntArray:
    import numpy as np

    return np.rint(CENTS * np.asarray(prices, dtype=np.float64)).astype(np.int64)
