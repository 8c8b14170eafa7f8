"""The certified search: every bound against enumeration, every optimum against brute force."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import numba
import numpy as np
import pytest

from oracle_dp.datasets import load_adult
from oracles import Certificate, Limits, ProblemError, Status
from oracles.zero_one import CellTable, minimize
from oracles.zero_one import _bounds as bounds
from oracles.zero_one import _state as states
from oracles.zero_one import _trail as trails
from oracles.zero_one import _tree as trees
from oracles.zero_one._layout import Layout, lay_out
from oracles.zero_one._shift import up_to_shifts
from oracles.zero_one.cells import IntArray
from oracles.zero_one.descent import total_cost
from oracles.zero_one.search import search, useful_values

Costs = list[IntArray]

ROOT = Path(__file__).parents[3]

GRIDS = [(0, 1), (-1, 0, 1), (-2, -1, 0, 1, 2), (-5, 0, 1, 3), (-7, -1, 0)]


def brute_force(cells: CellTable, values: IntArray, costs: Costs) -> int:
    """The least errors plus costs over all classifiers."""
    n_levels = sum(cells.levels)
    stacked = np.concatenate(costs)
    best = None
    for point in itertools.product(range(len(values)), repeat=n_levels):
        priced = int(stacked[np.arange(n_levels), point].sum())
        total = cells.errors(cells.split(values[list(point)])) + priced
        best = total if best is None else min(best, total)
    assert best is not None
    return best


def random_table(generator: np.random.Generator, *, factors: bool, levels: list[int]) -> CellTable:
    """A few cells with counts that include ties and zeros; sometimes none at all."""
    n = int(generator.integers(0, 12))
    codes = np.stack([generator.integers(0, size, n) for size in levels], axis=1)
    codes = np.unique(codes, axis=0)
    n = len(codes)
    factor = np.ones_like(codes)
    if factors:
        factor = generator.integers(-3, 4, codes.shape)
    positive, negative = generator.integers(0, 9, (2, n))
    return CellTable(codes, factor, positive, negative, tuple(levels))


def random_costs(
    generator: np.random.Generator, levels: list[int], n_values: int, size: int
) -> Costs:
    return [generator.integers(-size, size + 1, (level, n_values)) for level in levels]


def instances(
    seed: int, n: int, *, most: int = 4_000
) -> Iterator[tuple[CellTable, IntArray, Costs]]:
    """Tiny problems of every kind: grids, factors, one to four attributes, costs of both signs."""
    generator = np.random.default_rng(seed)
    made = 0
    while made < n:
        values = np.array(GRIDS[generator.integers(len(GRIDS))])
        levels = [int(x) for x in generator.integers(1, 4, generator.integers(1, 5))]
        if len(values) ** sum(levels) > most:
            continue
        cells = random_table(generator, factors=made % 3 == 2, levels=levels)
        size = (0, 4, 40)[made % 3 if made % 2 else generator.integers(3)]
        yield cells, values, random_costs(generator, levels, len(values), size)
        made += 1


def solve(cells: CellTable, values: IntArray, costs: Costs, **limits: float) -> int:
    """The certified optimum, with everything that a solution promises checked."""
    found = search(cells, values, costs, limits=Limits(**limits))
    assert found.status is Status.OPTIMAL
    assert found.certificate is Certificate.EXACT
    assert found.value is not None
    assert isinstance(found.objective, int)
    assert found.objective == found.bound == total_cost(cells, values, costs, found.value)
    assert all(np.isin(chosen, values).all() for chosen in found.value)
    return found.objective


def no_costs(levels: tuple[int, ...] | list[int], n_values: int) -> Costs:
    return [np.zeros((size, n_values), dtype=np.int64) for size in levels]


# -- bounds against enumeration ----------------------------------------------------------------


@numba.njit
def _star(arrays, state):
    return bounds.star(arrays, state)


@numba.njit
def _probes(arrays, state, probe):
    bounds.star(arrays, state)
    for b in range(arrays.n_b):
        bounds.probe_b(arrays, state, b, probe)
    for level in range(arrays.n_rest):
        bounds.probe_rest(arrays, state, level, probe)


@numba.njit
def _propagate(arrays, state, trail):
    for level in range(arrays.n_rest):
        trails._mark(arrays, trail, level)
    return trails.propagate(arrays, state, trail)


@numba.njit
def _refresh(arrays, state, level):
    bounds.refresh(arrays, state, level)


def costs_of_all(
    layout: Layout, cells: CellTable, values: IntArray, costs: Costs
) -> tuple[IntArray, IntArray]:
    """Every classifier as positions in the layout's numbering, and its cost beyond the constant."""
    stacked = np.concatenate(costs)
    points, totals = [], []
    for point in itertools.product(range(len(values)), repeat=len(stacked)):
        weights = cells.split(values[list(point)])
        priced = int(stacked[np.arange(len(point)), point].sum())
        points.append(layout.point(weights))
        totals.append(cells.errors(weights) + priced - layout.constant)
    return np.array(points), np.array(totals)


def excess_of_bounds(seed: int, n: int) -> int:
    """The largest amount by which a bound exceeds the minimum of its box, over random boxes."""
    generator = np.random.default_rng(seed)
    worst = -(10**9)
    for cells, values, costs in instances(seed, n, most=800):
        layout = lay_out(cells, values, costs, cut=True)
        arrays = layout.arrays
        points, totals = costs_of_all(layout, cells, values, costs)
        state = states.new_state(layout)
        bounds.settle(arrays, state)
        open_levels = arrays.n_rest + arrays.n_b
        for _ in range(6):
            box = state.alive & (generator.random(state.alive.shape) < 0.8)
            keep = box[:open_levels].any(axis=1)
            state.alive[:open_levels][keep] = box[:open_levels][keep]
            for level in range(arrays.n_rest):
                _refresh(arrays, state, level)
            inside = np.ones(len(points), dtype=bool)
            for level in range(open_levels):
                inside &= state.alive[level][points[:, level]]
            probe = np.zeros(arrays.cost.shape, dtype=np.int64)
            worst = max(worst, _star(arrays, state) - totals[inside].min())
            _probes(arrays, state, probe)
            for level in range(open_levels):
                for v in np.flatnonzero(state.alive[level]):
                    within = totals[inside & (points[:, level] == v)]
                    worst = max(worst, probe[level, v] - within.min())
    return int(worst)


def test_no_bound_exceeds_the_minimum_of_its_box() -> None:
    # 0, not less: once rest and B are fixed, the bound is the cost.
    assert excess_of_bounds(1, 60) == 0


def test_an_inflated_bound_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = states.new_state

    def inflated(layout: Layout) -> states.State:
        state = genuine(layout)
        state.cost_a[0] += 1  # one price of one level of A, by the least amount
        return state

    monkeypatch.setattr(states, "new_state", inflated)
    assert excess_of_bounds(1, 60) > 0


def test_moving_there_and_back_restores_the_table_exactly() -> None:
    generator = np.random.default_rng(3)
    for cells, values, costs in instances(3, 30):
        layout = lay_out(cells, values, costs, cut=True)
        arrays, state = layout.arrays, states.new_state(layout)
        bounds.settle(arrays, state)
        before = state.table.copy(), state.moving.copy(), state.totals[0]
        for _ in range(20):
            for level in range(arrays.n_rest):
                state.alive[level] = generator.random(len(values)) < 0.5
                state.alive[level, generator.integers(len(values))] = True
                _refresh(arrays, state, level)
            moved = state.table.copy()
            bounds.settle(arrays, state)
            np.testing.assert_array_equal(moved, state.table)
        state.alive[: arrays.n_rest] = True
        for level in range(arrays.n_rest):
            _refresh(arrays, state, level)
        np.testing.assert_array_equal(before[0], state.table)
        kept = slice(None) if arrays.one_hot else states.REACH
        np.testing.assert_array_equal(before[1][:, kept], state.moving[:, kept])
        assert before[2] == state.totals[0]


def test_some_optimum_uses_useful_values_only() -> None:
    for cells, values, costs in instances(4, 60, most=800):
        layout = lay_out(cells, values, costs, cut=True)
        points, totals = costs_of_all(layout, cells, values, costs)
        useful = useful_values(layout)
        allowed = useful[np.arange(len(useful)), points].all(axis=1)
        assert totals[allowed].min() == totals.min()


def evenly_spaced(seed: int, n: int) -> Iterator[tuple[CellTable, IntArray]]:
    """Tables of one-hot attributes that can be counted up to shifts, with their weights."""
    generator = np.random.default_rng(seed)
    grids = [(0, 1), (-1, 0, 1), (-2, 0), (-1, 0, 1, 2), (-2, -1, 0, 1, 2)]
    for _ in range(n):
        values = np.array(grids[generator.integers(len(grids))])
        levels = [2, 2, *generator.integers(1, 3, generator.integers(2, 4))]
        while len(values) ** sum(levels) > 2_500:
            levels.remove(max(levels[2:]))
        codes = np.stack([generator.integers(0, size, 14) for size in levels], axis=1)
        yield CellTable.from_codes(codes, generator.random(14) < 0.5, levels), values


def test_counting_up_to_shifts_loses_no_margins_and_invents_none() -> None:
    n_grouped = 0
    for cells, values in evenly_spaced(12, 40):
        layout = lay_out(cells, values, no_costs(cells.levels, len(values)), cut=True)
        shifts = up_to_shifts(layout, np.ones(layout.arrays.cost.shape, dtype=bool))
        if shifts is None:
            continue
        n_grouped += 1
        n_rest, rest_cells = layout.arrays.n_rest, layout.cell_level[:, :-2]
        used = np.flatnonzero(layout.level_gain[:n_rest] > 0)
        sums = set()
        for chosen in itertools.product(range(len(values)), repeat=len(used)):
            point = np.zeros(n_rest, dtype=np.int64)
            point[used] = chosen
            sums.add(tuple(values[point][rest_cells].sum(axis=1)))
        numbers = shifts.layout.arrays.rest_values
        reached = set()
        state = states.new_state(shifts.layout)
        trail = trails.new_trail(shifts.layout.arrays)
        for chosen in itertools.product(*(np.flatnonzero(shifts.allowed[i]) for i in used)):
            point = np.full(len(layout.arrays.cost), shifts.layout.arrays.zero)
            point[used] = chosen
            state.alive[:] = False
            state.alive[np.arange(len(point)), point] = True
            bounds.settle(shifts.layout.arrays, state)
            if not _propagate(shifts.layout.arrays, state, trail):
                trail.numbers[:], trail.marked[:] = 0, 0
                continue
            seen = tuple(numbers[point][rest_cells].sum(axis=1))
            assert seen not in reached  # each exactly once
            reached.add(seen)
            point[n_rest:] = 0
            original = shifts.point(point)
            assert (original >= 0).all()
            assert (original < len(values)).all()
            assert tuple(values[original][rest_cells].sum(axis=1)) == seen
        assert reached == sums
    assert n_grouped > 10


# -- optima against brute force ----------------------------------------------------------------


def test_equals_brute_force() -> None:
    for cells, values, costs in instances(0, 250):
        assert solve(cells, values, costs) == brute_force(cells, values, costs)


def test_equals_brute_force_where_shifts_are_merged() -> None:
    for cells, values in evenly_spaced(13, 80):
        costs = no_costs(cells.levels, len(values))
        assert solve(cells, values, costs) == brute_force(cells, values, costs)


def from_scratch(layout: Layout, incumbent: int) -> int:
    """Cost of the best leaf that the tree finds by itself, given a cost to beat."""
    useful = useful_values(layout)
    shifts = up_to_shifts(layout, useful)
    arrays = layout.arrays if shifts is None else shifts.layout.arrays
    state = states.new_state(layout if shifts is None else shifts.layout)
    state.alive[:] = useful if shifts is None else shifts.allowed
    bounds.settle(arrays, state)
    tree, trail = trees.new_tree(arrays, incumbent), trails.new_trail(arrays)
    while not tree.numbers[trees.NODES] or tree.numbers[trees.DEPTH] >= 0:
        trees.run(arrays, state, tree, trail, 1_000, sys.maxsize)
    best = int(tree.numbers[trees.INCUMBENT])
    if best < incumbent:
        point = tree.point if shifts is None else shifts.point(tree.point)
        assert layout.cost(point) == best
    return best


def test_nothing_better_than_the_incumbent_is_pruned() -> None:
    # The incumbents of descents are mostly optimal; here the last step is left to the tree.
    evenly = ((c, v, no_costs(c.levels, len(v))) for c, v in evenly_spaced(15, 40))
    for cells, values, costs in itertools.chain(instances(14, 100), evenly):
        layout = lay_out(cells, values, costs, cut=True)
        optimum = brute_force(cells, values, costs) - layout.constant
        for worse in (0, 1, 2, 1_000):
            assert from_scratch(layout, optimum + worse) == optimum


@pytest.mark.parametrize("seed", range(4))
def test_matrices_with_negative_factors_equal_brute_force(seed: int) -> None:
    generator = np.random.default_rng(seed)
    for n_features in (1, 2, 3, 4):
        features = generator.integers(-4, 5, (30, n_features))
        cells = CellTable.from_matrix(features, generator.random(30) < 0.5)
        values = np.array([-2, -1, 0, 1, 2])
        costs = random_costs(generator, [1] * n_features, 5, 3)
        assert solve(cells, values, costs) == brute_force(cells, values, costs)


def test_more_levels_of_a_than_lanes() -> None:
    generator = np.random.default_rng(5)
    codes = np.stack([generator.integers(0, 40, 300), generator.integers(0, 2, 300)], axis=1)
    cells = CellTable.from_codes(codes, generator.random(300) < 0.5, (40, 2))
    values = np.array([-1, 0, 1])
    # With the weights of the two other levels known, each of the forty chooses by itself.
    least = min(
        sum(
            min(
                cells.errors([np.where(np.arange(40) == a, w, -9), pair])
                - cells.errors([np.full(40, -9), pair])
                for w in values
            )
            for a in range(40)
        )
        + cells.errors([np.full(40, -9), pair])
        for pair in itertools.product(values, repeat=2)
    )
    assert solve(cells, values, no_costs((40, 2), 3)) == least


def adult(columns: list[str]) -> CellTable:
    data = load_adult(missing="drop")
    frame = data.frame.iloc[data.train]
    codes, levels = [], []
    for column in columns:
        found, code = np.unique(frame[column].astype(str).to_numpy(), return_inverse=True)
        codes.append(code)
        levels.append(len(found))
    positive = (frame["income"] == ">50K").to_numpy()
    return CellTable.from_codes(np.stack(codes, axis=1), positive, levels)


def test_adult_with_36_levels() -> None:
    cells = adult(["education", "occupation", "relationship"])
    assert cells.n_rows == 30_162
    assert solve(cells, np.array([-1, 0, 1]), no_costs(cells.levels, 3)) == 5_353
    assert solve(cells, np.arange(-2, 3), no_costs(cells.levels, 5)) == 5_289
    assert solve(cells, np.arange(-3, 4), no_costs(cells.levels, 7)) == 5_283


def test_adult_with_43_levels() -> None:
    cells = adult(["education", "occupation", "relationship", "race", "sex"])
    assert solve(cells, np.array([-1, 0, 1]), no_costs(cells.levels, 3)) == 5_302


def test_adult_with_the_costs_of_objective_perturbation() -> None:
    cells = adult(["education", "occupation", "relationship"])
    generator = np.random.default_rng(0)
    for eps in (10, 1, 0.1):
        chance = 1 / (1 + 16 * 2 * 36 / eps)
        costs = [-generator.geometric(chance, (size, 3)) for size in cells.levels]
        solve(cells.scaled(16), np.array([-1, 0, 1]), costs)


def test_agrees_with_the_integer_program() -> None:
    generator = np.random.default_rng(8)
    levels = (5, 4, 3, 2)
    codes = np.stack([generator.integers(0, size, 400) for size in levels], axis=1)
    cells = CellTable.from_codes(codes, generator.random(400) < 0.4, levels)
    costs = random_costs(generator, list(levels), 3, 5)
    one = minimize(cells, costs=costs)
    other = minimize(cells, costs=costs, method="milp")
    assert one.certificate is Certificate.EXACT
    assert one.objective == other.objective


# -- sizes and corners -------------------------------------------------------------------------


def test_counts_and_costs_of_any_size() -> None:
    for cells, values, costs in instances(9, 20, most=800):
        size = 10**12
        large = [table * size + np.arange(len(values)) for table in costs]
        table = cells.scaled(size)
        assert solve(table, values, large) == brute_force(table, values, large)


def test_more_than_64_bits_can_hold_is_refused() -> None:
    cells = CellTable.from_codes([[0], [0]], [True, True], (1,))
    huge = [np.array([[0, 2**62, -(2**62)]])]
    with pytest.raises(ProblemError, match="costs"):
        minimize(cells, costs=huge)
    two = CellTable.from_codes([[0, 0], [0, 0]], [True, True], (1, 1)).scaled(2**59)
    with pytest.raises(ProblemError, match="counts and costs"):
        minimize(two, costs=[np.array([[0, 2**61, 0]])] * 2)


def test_one_attribute() -> None:
    cells = CellTable.from_codes([[0], [0], [1], [1], [1]], [True, False, True, True, False], (2,))
    assert minimize(cells).objective == 2


def test_one_level() -> None:
    cells = CellTable.from_codes([[0], [0], [0]], [True, True, False], (1,))
    found = minimize(cells, costs=[[[0, 0, 5]]])
    assert found.objective == 2
    assert minimize(cells, costs=[[[0, 0, 0]]]).objective == 1


def test_two_hundred_levels() -> None:
    generator = np.random.default_rng(6)
    levels = (200, 200, 3)
    codes = np.stack([generator.integers(0, size, 3_000) for size in levels], axis=1)
    cells = CellTable.from_codes(codes, codes[:, 2] == 0, levels)
    assert solve(cells, np.array([-1, 0, 1]), no_costs(levels, 3)) == 0


def test_all_cells_tied() -> None:
    codes = [[a, b] for a in range(3) for b in range(3)] * 2
    cells = CellTable.from_codes(codes, np.repeat([True, False], 9), (3, 3))
    assert minimize(cells).objective == 9


def test_no_cells() -> None:
    cells = CellTable.from_codes(np.zeros((0, 3), dtype=int), np.zeros(0, dtype=bool), (2, 30, 2))
    costs = [np.array([[4, -2, 7]] * size) for size in cells.levels]
    found = minimize(cells, costs=costs)
    assert found.certificate is Certificate.EXACT
    assert found.objective == -2 * 34


def test_levels_without_cells_are_not_searched() -> None:
    codes = np.zeros((4, 4), dtype=int)
    cells = CellTable.from_codes(codes, [True, True, False, True], (60, 50, 40, 30))
    found = search(cells, np.arange(-3, 4), no_costs(cells.levels, 7), limits=Limits(nodes=100))
    assert found.certificate is Certificate.EXACT
    assert found.objective == 1


def test_weights_in_any_order() -> None:
    cells = CellTable.from_codes([[0], [1]], [True, False], (2,))
    found = minimize(cells, (1, 0, -1), costs=[[[3, 1, 0], [9, 1, 0]]])
    assert found.objective == 1
    assert [chosen.tolist() for chosen in found.require_point()] == [[-1, -1]]


# -- limits ------------------------------------------------------------------------------------


def hard() -> CellTable:
    """Labels at random: nothing to learn, and no bound closes the gap in a day."""
    generator = np.random.default_rng(7)
    levels = (6,) * 7
    codes = np.stack([generator.integers(0, size, 5_000) for size in levels], axis=1)
    return CellTable.from_codes(codes, generator.random(5_000) < 0.5, levels)


def test_node_limit() -> None:
    cells = hard()
    found = minimize(cells, limits=Limits(nodes=50))
    assert found.status is Status.STOPPED
    assert found.certificate is Certificate.NONE
    assert found.objective is not None
    assert found.value is not None
    assert cells.errors(found.value) == found.objective
    tied = np.minimum(cells.positive, cells.negative).sum()
    assert tied <= found.bound < found.objective
    again = minimize(cells, limits=Limits(nodes=50))
    assert (again.objective, again.bound) == (found.objective, found.bound)


def test_the_bound_of_a_stopped_search_is_valid() -> None:
    for cells, values, costs in instances(11, 60, most=800):
        found = search(cells, values, costs, limits=Limits(nodes=1))
        best = brute_force(cells, values, costs)
        assert found.objective is not None
        assert found.bound <= best <= found.objective


def test_time_limit_of_a_millisecond() -> None:
    began = time.monotonic()
    found = minimize(hard(), limits=Limits(seconds=0.001))
    assert time.monotonic() - began < 1
    assert found.status is Status.STOPPED
    assert found.certificate is Certificate.NONE
    assert found.objective is not None
    assert found.bound <= found.objective


def test_time_limit() -> None:
    minimize(hard(), limits=Limits(nodes=2))  # compiles
    began = time.monotonic()
    found = minimize(hard(), limits=Limits(seconds=0.5))
    assert time.monotonic() - began < 1.5
    assert found.status is Status.STOPPED


def seconds_to_interrupt(program: str) -> float:
    """How long a program that prints "compiled" takes to print "interrupted" after a SIGINT."""
    command = [sys.executable, "-c", textwrap.dedent(program)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "compiled\n"
        time.sleep(0.5)
        began = time.monotonic()
        os.kill(child.pid, signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        return time.monotonic() - began


def test_interrupt_within_a_second() -> None:
    program = """
        import signal
        import numpy as np
        from oracles import Limits
        from oracles.zero_one import CellTable, minimize
        # A shell's background job would ignore it, and this test would never end.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        generator = np.random.default_rng(7)
        codes = generator.integers(0, 6, (5000, 7))
        cells = CellTable.from_codes(codes, generator.random(5000) < 0.5, (6,) * 7)
        minimize(cells, limits=Limits(nodes=2))
        print("compiled", flush=True)
        try:
            minimize(cells)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    assert seconds_to_interrupt(program) < 1


def test_without_a_folder_for_machine_code() -> None:
    program = """
        import numba.core.caching as caching
        caching.CacheImpl._locator_classes = []
        from oracles.zero_one._compile import kernel
        print(kernel(lambda x: x + 1)(1))
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout == "2\n"


def test_numba_is_imported_by_the_search_only() -> None:
    program = "import sys, oracles, oracles.zero_one; print('numba' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout == "False\n"


def test_machine_code_on_disk_is_used_again_until_a_source_changes() -> None:
    program = """
        import sys
        from oracles.zero_one import CellTable, minimize
        cells = CellTable.from_codes([[0], [1]], [True, False], (2,))
        minimize(cells)
        from oracles.zero_one import _compile, _tree
        print(sum(_tree.run.stats.cache_hits.values()))
        _compile._digest = lambda folder: "another"
        print(_tree.run._cache.load_overload(_tree.run.signatures[0], _tree.run.targetctx))
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout == "1\nNone\n"
