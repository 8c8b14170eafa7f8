"""The kernels read by Python itself, with numba off, on tiny cases: the same optima and bounds.

    NUMBA_DISABLE_JIT=1 python -m tests.oracles.zero_one.interpreted

Machine code cannot be measured for coverage, and does what the sources say only if numba is right.
The operations on lanes are instructions of the machine: here each has a line of NumPy.
"""

from __future__ import annotations

import itertools

import numba
import numpy as np

from oracles.zero_one import _compile
from oracles.zero_one._layout import LANES

assert numba.config.DISABLE_JIT, "to be run with NUMBA_DISABLE_JIT=1"


def lanes(array, at):
    return array[at : at + LANES]


def set_sum(target, at, x, at_x, y, at_y):
    lanes(target, at)[:] = lanes(x, at_x) + lanes(y, at_y)


def set_difference(target, at, x, at_x, y, at_y):
    lanes(target, at)[:] = lanes(x, at_x) - lanes(y, at_y)


def min_sum(target, at, x, at_x, y, at_y):
    lanes(target, at)[:] = np.minimum(lanes(target, at), lanes(x, at_x) + lanes(y, at_y))


def add_run(target, at, x, at_x, count):
    target[at : at + count * LANES].reshape(count, LANES)[:] += lanes(x, at_x)


def subtract_run(target, at, x, at_x, count):
    target[at : at + count * LANES].reshape(count, LANES)[:] -= lanes(x, at_x)


def total(x, at_x):
    return lanes(x, at_x).sum()


for operation in (set_sum, set_difference, min_sum, add_run, subtract_run, total):
    setattr(_compile, operation.__name__, operation)


def main() -> None:
    """Search, partition and draw; compare with enumeration."""
    # Imported now: they take the operations from the module above.
    from oracle_dp import exponential
    from tests.oracles.zero_one import test_search as cases

    # Every fourth with the costs and factors that most of the code is about.
    for cells, values, costs in itertools.islice(cases.instances(0, 60, most=900), 60):
        assert cases.solve(cells, values, costs) == cases.brute_force(cells, values, costs)
    for cells, values in cases.evenly_spaced(13, 12):
        costs = cases.no_costs(cells.levels, len(values))
        assert cases.solve(cells, values, costs) == cases.brute_force(cells, values, costs)
    assert cases.excess_of_bounds(3, 8) <= 0
    for cells, values, _ in cases.instances(5, 6, most=300):
        for seed in range(3):
            release = exponential(
                cells, epsilon=2, weights=[int(v) for v in values], random_state=seed
            )
            assert len(release.value) == len(cells.levels)
    cases.test_moving_there_and_back_restores_the_table_exactly()
    print("the same")


if __name__ == "__main__":
    main()
