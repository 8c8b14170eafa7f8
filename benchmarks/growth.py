"""How the certified search grows with the number of levels d and the range K of the weights.

    python -m benchmarks.growth [--seconds 60] [--seven]

Adult's complete training rows, weights {-K..K}; each instance has ``--seconds``. Prints a table
with the optimum, or the best errors found and the bound where the proof is not complete;
``--seven`` runs the seven categorical attributes alone, with 900 seconds. The last lines give peak
memory and the time that the first use compiles.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from benchmarks.search import adult_cells
from oracles import Certificate, Limits
from oracles.zero_one import CellTable, _tree, minimize

THREE = "education,occupation,relationship"
FIVE = THREE + ",race,sex"
SIX = FIVE + ",workclass"
SEVEN = "workclass,education,marital-status,occupation,relationship,race,sex"
INSTANCES = [
    ("education,relationship", 1),
    (THREE, 1),
    (THREE, 2),
    (THREE, 3),
    (FIVE, 1),
    (FIVE, 2),
    (FIVE, 3),
    (SIX, 1),
]
COMPILE = """
import time; begun = time.perf_counter()
import numpy as np
from oracles.zero_one import CellTable, minimize
cells = CellTable.from_codes(np.eye(3, dtype=int), np.array([True, False, True]), (2, 2, 2))
before = time.perf_counter(); minimize(cells); print(time.perf_counter() - before)
"""


def run(cells: CellTable, attributes: str, reach: int, seconds: float) -> None:
    """Search one instance and print its line."""
    weights = tuple(range(-reach, reach + 1))
    with counted_nodes() as nodes:
        begun = time.perf_counter()
        found = minimize(cells, weights, limits=Limits(seconds=seconds))
        elapsed = time.perf_counter() - begun
    proven = found.certificate is Certificate.EXACT
    print(
        f"{sum(cells.levels):>3} {reach:>2} {cells.n_cells:>6} {found.objective:>7} "
        f"{'proven' if proven else 'bound ' + str(found.bound):>11} {elapsed:>9.2f} "
        f"{nodes():>10,}  {attributes}",
        flush=True,
    )


@contextmanager
def counted_nodes() -> Iterator[Callable[[], int]]:
    """Watch the tree that the search makes: solutions do not tell how many nodes they took."""
    trees: list[_tree.Tree] = []
    make = _tree.new_tree

    def watched(*arguments: Any) -> _tree.Tree:
        trees.append(make(*arguments))
        return trees[-1]

    with mock.patch.object(_tree, "new_tree", watched):
        yield lambda: int(trees[-1].numbers[_tree.NODES])


def compile_seconds() -> float:
    """Seconds of the first search in a process without a cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        done = subprocess.run(
            [sys.executable, "-c", COMPILE], env=environment, capture_output=True, check=True
        )
    return float(done.stdout)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="growth of the certified search")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seven", action="store_true")
    options = parser.parse_args()
    instances = [(SEVEN, 1)] if options.seven else INSTANCES
    seconds = 900.0 if options.seven else options.seconds
    tables = [adult_cells(attributes.split(",")) for attributes, _ in instances]
    minimize(adult_cells(["sex", "race", "relationship"]))  # Compiled and warm.
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    heading = ["d", "K", "cells", "errors", "proof", "seconds", "nodes"]
    widths = 3, 2, 6, 7, 11, 9, 10
    print(*(f"{word:>{width}}" for word, width in zip(heading, widths, strict=True)), " attributes")
    for cells, (attributes, reach) in zip(tables, instances, strict=True):
        run(cells, attributes, reach, seconds)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"peak memory above the process before the searches: {(peak - before) / 1024:.0f} MB")
    print(f"first use, compiling: {compile_seconds():.1f} s")


if __name__ == "__main__":
    main()
