"""A Newton iteration over rows that are streamed from Parquet files: seconds and memory.

    python -m benchmarks.scale_newton FOLDER [--rows 10000000] [--layout dense] [--threads 2]
        [--output FILE.json] [--keep]

Writes synthetic rows into FOLDER unless they are there, runs a double-noise Newton iteration over
them in a process of its own, whose peak of resident memory is the operating system's figure, and
removes them unless told to keep them. Two layouts, from a seed, both of d = 105 with the
intercept's column:

* ``dense``: 104 columns of 32-bit floats, normal, divided by 12, not compressed;
* ``codes``: Adult-like; six numbers become bins and eight columns are text in dictionaries, 14
  attributes with 104 levels in all, encoded and made one-hot in every pass.

``look`` is the first pass, which checks and counts all rows before anything is charged;
``iteration`` is one step: the pass that sums gradient and curvature, the noise and the solve.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments.result import commit, result, write
from oracle_dp.domain import Binned, Categorical, Domain
from oracle_dp.estimators.logistic_rows import RowReading
from oracle_dp.record_losses import LinearModelLoss
from oracle_dp.second_order.double_noise import DoubleNoise, double_noise_newton
from oracle_dp.sources import ParquetSource

ROW_GROUP = 1 << 18
NUMBERS = 104
LEVELS = (8, 16, 7, 14, 6, 5, 2, 16)
BINS = (5, 5, 5, 5, 5, 5)
TARGET = "label"


def domain() -> Domain:
    """Of the layout ``codes``: 104 levels."""
    texts = [
        Categorical(f"c{j}", [f"c{j} level {k}" for k in range(m)]) for j, m in enumerate(LEVELS)
    ]
    numbers = [Binned(f"n{j}", edges=[20.0 * k for k in range(1, m)]) for j, m in enumerate(BINS)]
    return Domain([*texts, *numbers])


def dense(size: int, draws: np.random.Generator) -> dict[str, Any]:
    """One table's columns."""
    x = draws.standard_normal((NUMBERS, size), dtype=np.float32) / 12
    positive = draws.random(size, dtype=np.float32) < 1 / (1 + np.exp(-8 * x[0] + 8 * x[1]))
    return {**{f"x{j}": column for j, column in enumerate(x)}, TARGET: positive.astype(np.int8)}


def codes(size: int, draws: np.random.Generator) -> dict[str, Any]:
    """One table's columns."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    score = np.zeros(size, np.float32)
    for j, m in enumerate(LEVELS):
        code = draws.integers(0, m, size, dtype=np.int32)
        score += (code % 3 - 1) / 2
        labels = pa.array([f"c{j} level {k}" for k in range(m)])
        columns[f"c{j}"] = pa.DictionaryArray.from_arrays(pa.array(code), labels)
    for j in range(len(BINS)):
        columns[f"n{j}"] = draws.integers(0, 100, size, dtype=np.int16)
    positive = draws.random(size, dtype=np.float32) < 1 / (1 + np.exp(-score))
    columns[TARGET] = positive.astype(np.int8)
    return columns


LAYOUTS = {"dense": dense, "codes": codes}


def tables(layout: str, rows: int, seed: int) -> Iterator[Any]:
    """Row group by row group."""
    import pyarrow as pa

    draws = np.random.default_rng(seed)
    for begin in range(0, rows, ROW_GROUP):
        yield pa.table(LAYOUTS[layout](min(ROW_GROUP, rows - begin), draws))


def generate(folder: Path, layout: str, rows: int, seed: int = 0) -> None:
    """Write files of up to eight row groups."""
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    writer = None
    for k, table in enumerate(tables(layout, rows, seed)):
        if k % 8 == 0:
            if writer is not None:
                writer.close()
            writer = pq.ParquetWriter(
                folder / f"part-{k // 8:04d}.parquet", table.schema, compression="none",
                use_dictionary=[name for name in table.column_names if name.startswith("c")],
            )  # fmt: skip
        writer.write_table(table, row_group_size=ROW_GROUP)
    if writer is not None:
        writer.close()


def measure(folder: Path, layout: str, threads: int) -> dict[str, Any]:
    """The passes of one iteration, and this process's peak of resident memory."""
    source = ParquetSource(folder, n_jobs=threads)
    schema = domain() if layout == "codes" else None
    names = tuple(name for name in source.columns if name != TARGET)
    reading = RowReading(
        columns=names, target=TARGET, classes=(0, 1), domain=schema, bound=1.0, intercept=True
    )
    begun = time.perf_counter()
    losses = LinearModelLoss.from_parts(
        source, reading, reading.dimension, norm_bound=reading.norm_bound
    )
    found: dict[str, Any] = {"look_seconds": time.perf_counter() - begun}
    begun, used = time.perf_counter(), time.process_time()
    double_noise_newton(
        losses, epsilon=1.0, delta=1e-9, settings=DoubleNoise(steps=1), random_state=0
    )
    found["iteration_seconds"] = time.perf_counter() - begun
    found["iteration_processor_seconds"] = time.process_time() - used
    found["load_average"] = os.getloadavg()[0]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {**found, "dimension": losses.dimension, "rows": losses.size, "peak_bytes": peak}


def apart(folder: Path, layout: str, threads: int) -> dict[str, Any]:
    """The same in a process that has done nothing else."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found: dict[str, Any] = pool.apply(measure, (folder, layout, threads))
    return found


def main() -> None:
    """Generate, measure, remove."""
    parser = argparse.ArgumentParser(description="a Newton iteration over streamed rows")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--layout", choices=sorted(LAYOUTS), nargs="+", default=["dense", "codes"])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--output", type=Path)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    code, lines = commit(), []
    for layout in options.layout:
        folder = options.folder / layout
        if not folder.exists():
            generate(folder, layout, options.rows)
        size = sum(path.stat().st_size for path in folder.glob("*.parquet"))
        for threads in options.threads:
            found = apart(folder, layout, threads)
            lines.append({"layout": layout, "threads": threads, "file_bytes": size, **found})
            print(json.dumps(lines[-1]), flush=True)
        if not options.keep:
            shutil.rmtree(folder)
    found = result(
        "a Newton iteration over streamed rows",
        {"lines": lines},
        libraries=("pyarrow", "pandas", "numba"),
        code=code,
    )
    write(options.output, found)


if __name__ == "__main__":
    main()
