"""Synthetic rows like Adult's, in Parquet, as many as asked for.

    python -m benchmarks.scale_data FOLDER [--rows 10000000] [--files 10] [--seed 0]

Each row is one of Adult's complete training rows, drawn with replacement, except for 2 % of them:
there each of education, occupation, relationship, race and sex is drawn by itself, evenly, and the
label by its share in Adult, so that all 13,440 cells of the five occur once there are some 10^7
rows. Ages are moved by -2 to 2 years. Everything is drawn by numpy's generator from the seed, row
group after row group, so that memory stays small.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oracle_dp.datasets import load_adult

CATEGORIES = ("education", "occupation", "relationship", "race", "sex")
LABEL = "income"
MIXED = 0.02
ROW_GROUP = 1_000_000


def batches(rows: int, seed: int) -> Any:
    """Tables of at most ``ROW_GROUP`` rows, columns of text encoded by dictionaries."""
    import pyarrow as pa

    adult = load_adult(missing="drop")
    frame = adult.frame.iloc[adult.train]
    levels = {name: adult.domain[name].labels for name in CATEGORIES} | {LABEL: adult.classes}
    codes = {
        name: pd.Categorical(frame[name], categories=list(labels)).codes.astype(np.int8)
        for name, labels in levels.items()
    }
    ages = frame["age"].to_numpy(dtype=np.int8)
    generator = np.random.default_rng(seed)
    for begin in range(0, rows, ROW_GROUP):
        size = min(ROW_GROUP, rows - begin)
        drawn = generator.integers(0, len(frame), size, dtype=np.int32)
        places = np.flatnonzero(generator.random(size, dtype=np.float32) < MIXED)
        columns = {}
        for name, labels in levels.items():
            column = codes[name][drawn]
            if name == LABEL:
                column[places] = generator.choice(codes[LABEL], len(places))
            else:
                column[places] = generator.integers(0, len(labels), len(places), dtype=np.int8)
            columns[name] = pa.DictionaryArray.from_arrays(
                pa.array(column.astype(np.int32)), pa.array(list(labels), pa.string())
            )
        moved = ages[drawn] + generator.integers(-2, 3, size, dtype=np.int8)
        columns["age"] = pa.array(moved)
        yield pa.table(columns)


def write(folder: Path, rows: int, files: int, seed: int = 0) -> list[Path]:
    """Write the rows as ``files`` files of whole row groups, the last one with the rest."""
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    groups = -(-rows // ROW_GROUP)
    each = -(-groups // files)
    paths: list[Path] = []
    writer = None
    for number, table in enumerate(batches(rows, seed)):
        if number % each == 0:
            if writer is not None:
                writer.close()
            paths.append(folder / f"part-{len(paths):03d}.parquet")
            writer = pq.ParquetWriter(paths[-1], table.schema)
        writer.write_table(table, row_group_size=ROW_GROUP)
    if writer is not None:
        writer.close()
    return paths


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description="synthetic rows like Adult's, in Parquet")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--files", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for path in write(options.folder, options.rows, options.files, options.seed):
        print(path)


if __name__ == "__main__":
    main()
