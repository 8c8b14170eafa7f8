"""Cells of many rows in Parquet: ours against DuckDB's and pandas' own group-by, in one run.

    python -m benchmarks.scale FOLDER [--rows 10000,...,100000000] [--repeats 3] [--output FILE]

Education, occupation, relationship, race, sex and income of synthetic rows like Adult's
(:mod:`benchmarks.scale_data`, written below FOLDER if they are not there). Every measurement is a
process of its own, contenders take turns, and medians are compared:

- ``parquet``, ``duckdb``, ``dask``: ``CellTable.from_...`` of the files: encoded by the domain,
  checked entry by entry, counted per class;
- ``duckdb_group_by``: ``SELECT ..., count(*) ... GROUP BY ALL`` of the same columns, not encoded;
- ``pandas``: ``read_parquet`` and ``groupby(observed=True).size()``, with categories (as the files
  say) and, as ``pandas_text``, with text;
- ``frame``, ``pandas_loaded``: of the frame with categories that is in memory already.

Seconds are those after imports; ``process_seconds`` those of the whole process. Ratios are of the
wall clock, and of processor time, which other work on the machine disturbs least. Peak memory is
the process's largest resident set. Then the certified optimum is found on the cells of the most
rows and on the same table with all counts divided by 1,000, in turns: once with counts first
rounded to thousands, so that both are one problem, and once as they are, where division rounds to
another.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.growth import counted_nodes
from benchmarks.scale_data import CATEGORIES, LABEL, write
from experiments.result import commit, result
from experiments.result import write as write_result
from oracle_dp import Categorical
from oracle_dp.datasets import load_adult
from oracles import Certificate
from oracles.zero_one import CellTable, minimize

COLUMNS = [*CATEGORIES, LABEL]
AT_MOST = {"dask": 10_000_000, "pandas": 10_000_000, "pandas_text": 10_000_000}
"""Rows beyond which a contender is left out: pandas holds all of them."""
AT_MOST |= {"frame": 10_000_000, "pandas_loaded": 10_000_000}
PAIRS = [
    *(("parquet", theirs) for theirs in ("duckdb_group_by", "pandas", "pandas_text")),
    *(("duckdb", theirs) for theirs in ("duckdb_group_by", "pandas", "pandas_text")),
    ("frame", "pandas_loaded"),
]
"""Whose medians are divided by whose."""
DIVISOR = 1000


def parquet(folder: Path) -> Callable[[], Any]:
    """Our streaming count."""
    import pyarrow.parquet  # noqa: F401  # Before the clock starts.

    schema = _schema()
    return lambda: CellTable.from_parquet(folder, *schema)


def duckdb(folder: Path) -> Callable[[], Any]:
    """Our count in DuckDB."""
    import duckdb  # noqa: F401 -- imported before the clock starts

    schema = _schema()
    query = f"SELECT * FROM read_parquet('{folder}/*.parquet')"
    return lambda: CellTable.from_duckdb(query, *schema)


def dask(folder: Path) -> Callable[[], Any]:
    """Our count on Dask's threads."""
    import dask.dataframe as dd

    schema = _schema()
    return lambda: CellTable.from_dask(dd.read_parquet(folder, columns=COLUMNS), *schema)


def duckdb_group_by(folder: Path) -> Callable[[], Any]:
    """DuckDB's own."""
    import duckdb

    connection = duckdb.connect(":memory:")
    names = ", ".join(COLUMNS)
    query = f"SELECT {names}, count(*) AS n FROM read_parquet('{folder}/*.parquet') GROUP BY ALL"
    return lambda: connection.sql(query).fetchnumpy()["n"]


def pandas(folder: Path) -> Callable[[], Any]:
    """Its own, of categories."""
    import pandas as pd

    return lambda: _grouped(pd.read_parquet(folder, columns=COLUMNS))


def pandas_text(folder: Path) -> Callable[[], Any]:
    """Its own, of text."""
    import pandas as pd

    return lambda: _grouped(pd.read_parquet(folder, columns=COLUMNS).astype(str))


def frame(folder: Path) -> Callable[[], Any]:
    """Our count of what pandas holds."""
    import pandas as pd

    loaded, schema = pd.read_parquet(folder, columns=COLUMNS), _schema()
    return lambda: CellTable.from_frame(loaded, *schema)


def pandas_loaded(folder: Path) -> Callable[[], Any]:
    """Its own, of what it holds."""
    import pandas as pd

    loaded = pd.read_parquet(folder, columns=COLUMNS)
    return lambda: _grouped(loaded)


CONTENDERS = {
    f.__name__: f
    for f in (parquet, duckdb, dask, duckdb_group_by, pandas, pandas_text, frame, pandas_loaded)
}


def _schema() -> tuple[Any, Categorical]:
    adult = load_adult(missing="drop")
    return adult.domain[list(CATEGORIES)], Categorical(LABEL, adult.classes)


def _grouped(loaded: Any) -> Any:
    return loaded.groupby(COLUMNS, observed=True).size().to_numpy()


def measure_here(name: str, folder: Path) -> dict[str, Any]:
    """One contender, in this process."""
    run = CONTENDERS[name](folder)
    begun, used = time.perf_counter(), time.process_time()
    found = run()
    seconds, processor = time.perf_counter() - begun, time.process_time() - used
    ours = isinstance(found, CellTable)
    return {
        "seconds": seconds,
        "processor_seconds": processor,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "rows": found.n_rows if ours else int(found.sum()),
        "groups": int(np.count_nonzero([found.positive, found.negative])) if ours else len(found),
    }


def measure(name: str, folder: Path) -> dict[str, Any]:
    """One contender, in a process of its own."""
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale", str(folder), "--one", name],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    return {**json.loads(done.stdout), "process_seconds": time.perf_counter() - begun}


def compare(folder: Path, rows: int, repeats: int) -> dict[str, Any]:
    """All contenders on so many rows."""
    names = [name for name in CONTENDERS if rows <= AT_MOST.get(name, rows)]
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for _ in range(repeats):
        for name in names:
            runs[name].append(measure(name, folder))
    seen = {(run["rows"], run["groups"]) for several in runs.values() for run in several}
    if len(seen) != 1 or next(iter(seen))[0] != rows:
        raise SystemExit(f"the contenders counted different rows: {seen}")
    line: dict[str, Any] = {"rows": rows, "groups": next(iter(seen))[1], "repeats": repeats}
    for name, several in runs.items():
        median = {key: statistics.median(run[key] for run in several) for key in several[0]}
        line[name] = {
            **{key: round(median[key], 3) for key in ("seconds", "processor_seconds")},
            "process_seconds": round(median["process_seconds"], 3),
            "peak_mb": round(max(run["peak_mb"] for run in several)),
        }
    for key, clock in (("ratios", "seconds"), ("processor_ratios", "processor_seconds")):
        line[key] = {
            f"{ours}/{theirs}": round(line[ours][clock] / line[theirs][clock], 3)
            for ours, theirs in PAIRS
            if ours in line and theirs in line
        }
    return line


def optimum(folder: Path, repeats: int) -> dict[str, Any]:
    """The certified optimum with all counts, and with all divided."""
    cells = CellTable.from_parquet(folder, *_schema())
    rounded = _divided(cells)
    found = {
        "cells": cells.n_cells,
        "rounded_first": _in_turns(rounded.scaled(DIVISOR), rounded, repeats),
        "as_counted": _in_turns(cells, rounded, repeats),
    }
    return {"divisor": DIVISOR, "repeats": repeats, **found}


def _divided(cells: CellTable) -> CellTable:
    """All counts divided, and rounded to the nearest integer."""
    parts = ((part + DIVISOR // 2) // DIVISOR for part in (cells.positive, cells.negative))
    return CellTable(cells.codes, cells.factors, *parts, cells.levels)


def _in_turns(large: CellTable, small: CellTable, repeats: int) -> dict[str, Any]:
    minimize(small)  # Compiled and warm.
    clocks = {"seconds": time.perf_counter, "processor_seconds": time.process_time}
    taken: dict[str, list[list[float]]] = {"large": [], "small": []}
    facts: dict[str, Any] = {}
    for _ in range(repeats):
        for name, table in (("large", large), ("small", small)):
            with counted_nodes() as nodes:
                begun = [clock() for clock in clocks.values()]
                solution = minimize(table)
                ended = [clock() for clock in clocks.values()]
                taken[name].append([b - a for a, b in zip(begun, ended, strict=True)])
            if solution.certificate is not Certificate.EXACT:
                raise SystemExit("an optimum is not proven")
            facts[name] = {
                "rows": table.n_rows,
                "cells_with_rows": int(np.count_nonzero(table.positive + table.negative)),
                "errors": int(solution.objective or 0),
                "nodes": nodes(),
            }
    for name, several in taken.items():
        medians = np.median(several, axis=0).round(4).tolist()
        facts[name] |= dict(zip(clocks, medians, strict=True))
    for ratio, clock in (("ratio", "seconds"), ("processor_ratio", "processor_seconds")):
        facts[ratio] = round(facts["large"][clock] / facts["small"][clock], 3)
    return facts


def main() -> None:
    """Measure, print, and write the result."""
    parser = argparse.ArgumentParser(description="cells of many rows against other group-bys")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", default="10000,100000,1000000,10000000,100000000")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--one", choices=CONTENDERS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure_here(options.one, options.folder)))
        return
    code = commit()
    sizes = [int(rows) for rows in options.rows.split(",")]
    lines = []
    for rows in sizes:
        folder = options.folder / str(rows)
        if not folder.is_dir():
            write(folder, rows, files=10)
        lines.append(compare(folder, rows, options.repeats))
        print(json.dumps(lines[-1]), flush=True)
    proof = optimum(options.folder / str(sizes[-1]), repeats=21)
    print(json.dumps(proof))
    libraries = ("pandas", "pyarrow", "duckdb", "dask", "numba")
    fields = {"processors": os.cpu_count(), "lines": lines, "optimum": proof}
    name = "cells of many rows in Parquet"
    write_result(options.output, result(name, fields, libraries=libraries, code=code))


if __name__ == "__main__":
    main()
