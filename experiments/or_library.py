"""Every OR-Library file of the test data: read by its own reader and solved without privacy.

    python -m experiments.or_library FOLDER [--seconds 60] [--output FILE.json]

FOLDER holds ``orlib_cap``, ``orlib_pmed``, ``orlib_mknap`` and ``orlib_scp``. Each line has the
published optimum where one is known to us and what HiGHS found and proved. Of the 30 knapsacks of
``mknapcb1`` the first two are solved, whose optima are published with them; all are read.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from experiments.result import commit, result, write
from oracle_dp.problems import PMedian
from oracle_dp.problems.orlib import read_knapsacks, read_p_median, read_warehouses
from oracles import Certificate, Highs, IntegerProgram, Limits

PUBLISHED = {
    "cap41": 1040444.375, "cap44": 1235500.45, "cap71": 932615.75, "cap81": 838499.2875,
    "cap111": 826124.7125, "pmed1": 5819, "pmed5": 1355, "scp41": 429,
}  # fmt: skip


def programs(folder: Path) -> Iterator[tuple[str, IntegerProgram, float]]:
    """Name, program to minimise and published minimum of every instance."""
    for path in sorted((folder / "orlib_cap").glob("*.cap")):
        yield path.stem, read_warehouses(path).program(), PUBLISHED[path.stem]
    for path in sorted((folder / "orlib_pmed").glob("*.txt")):
        read = read_p_median(path)
        problem = PMedian(read.distances, np.ones(len(read.distances), np.int64), read.p)
        yield path.stem, problem.program(), PUBLISHED[path.stem]
    for path in sorted((folder / "orlib_mknap").glob("*.txt")):
        some = read_knapsacks(path)[: 7 if path.stem == "mknap1" else 2]
        for i, instance in enumerate(some, 1):
            yield f"{path.stem} {i}", instance.program(), -instance.optimum
    path = folder / "orlib_scp" / "scp41.lp"
    yield "scp41", IntegerProgram.from_lp(path), PUBLISHED["scp41"]


def main() -> None:
    """Solve, print and write."""
    parser = argparse.ArgumentParser(description="OR-Library files without privacy")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    code, lines = commit(), []
    for name, program, published in programs(options.folder):
        begun = time.perf_counter()
        found = Highs().minimize(program, limits=Limits(seconds=options.seconds))
        proven = found.certificate in (Certificate.SOLVER, Certificate.BOUNDED)
        objective = float(found.objective if found.objective is not None else math.nan)
        lines.append(
            {
                "instance": name,
                "published": published,
                "found": objective,
                "proven": proven,
                "equal": math.isclose(objective, published, rel_tol=1e-9),
                "seconds": round(time.perf_counter() - begun, 2),
            }
        )
        print(json.dumps(lines[-1]), flush=True)
    fields = {
        "proven": sum(line["proven"] for line in lines),
        "proven_and_equal": sum(line["proven"] and line["equal"] for line in lines),
        "lines": lines,
    }
    found = result("OR-Library without privacy", fields, libraries=("highspy",), code=code)
    write(options.output, found)


if __name__ == "__main__":
    main()
