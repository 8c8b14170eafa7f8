"""The kernels read by Python itself, with numba off, on tiny cases: the same optima and bounds.

    NUMBA_DISABLE_JIT=1 python -m tests.oracles.zero_one.interpreted

Machine code cannot be measured for coverage, and does what the sources say only if numba is right.
The operations on lanes are instructions of the machine: here each has a line of NumPy.
"""

from __future__ import annotations

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
    from oracles import Limits
    from oracles.zero_one._layout import lay_out
    from oracles.zero_one.search import search
    from tests.oracles.zero_one import test_lagrangian as totals
    from tests.oracles.zero_one import test_search as cases

    evenly = [(c, v, cases.no_costs(c.levels, len(v))) for c, v in cases.evenly_spaced(13, 12)]
    for cells, values, costs in [*cases.instances(0, 50, most=900), *evenly]:
        optimum = cases.brute_force(cells, values, costs)
        assert cases.solve(cells, values, costs) == optimum
        # Descents find most optima: from a worse one the tree has to.
        layout = lay_out(cells, values, costs, cut=True)
        worse = optimum - layout.constant + 1_000
        assert cases.from_scratch(layout, worse) == optimum - layout.constant
    for case in totals.cases(0, 40, most=300):
        totals.check(case, case.solve(unit=0))
    stopped = search(*next(cases.instances(11, 1, most=800)), limits=Limits(nodes=1))
    assert stopped.bound <= (stopped.objective or 0)
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
