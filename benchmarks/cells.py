"""Cells against one row per record: the same program on the same solver, in one run.

    python -m benchmarks.cells

Relationship, sex and race of Adult's complete training rows, weights {-1, 0, 1}. Both sides
minimise the number of errors to a proven optimum; the only difference is that one side has a row
and a binary for every record. Prints both times and their ratio as one JSON object; where the
records are not proven within ``LIMIT_SECONDS`` the ratio is a lower bound and says so.
"""

from __future__ import annotations

import json
import time

import numpy as np

from oracle_dp.datasets import load_adult
from oracles import Certificate, Highs, Limits
from oracles.zero_one import CellTable
from oracles.zero_one.formulation import formulate

ATTRIBUTES = ["relationship", "sex", "race"]
LIMIT_SECONDS = 60.0


def unmerged(codes: np.ndarray, positive: np.ndarray, levels: tuple[int, ...]) -> CellTable:
    """One cell per record."""
    ones = positive.astype(np.int64)
    return CellTable(codes, np.ones_like(codes), ones, 1 - ones, levels)


def seconds_to_prove(cells: CellTable) -> tuple[float, int | None]:
    """Seconds to state and prove the optimum, without a start, and the optimum if proven."""
    begun = time.perf_counter()
    program = formulate(cells, [-1, 0, 1], None).program
    found = Highs().minimize(program, limits=Limits(seconds=LIMIT_SECONDS))
    elapsed = time.perf_counter() - begun
    proven = found.certificate is Certificate.SOLVER and isinstance(found.objective, int)
    return elapsed, int(found.objective or 0) if proven else None


def main() -> None:
    """Time both sides and print the ratio."""
    adult = load_adult(missing="drop")
    domain = adult.domain[ATTRIBUTES]
    codes = domain.encode(adult.X.iloc[adult.train])
    positive = (adult.y.iloc[adult.train] == adult.classes[1]).to_numpy()
    merged = CellTable.from_codes(codes, positive, domain.levels)
    seconds_to_prove(merged)  # HiGHS is loaded and warm.
    cells, optimum = seconds_to_prove(merged)
    rows, same = seconds_to_prove(unmerged(codes, positive, domain.levels))
    if optimum is None or same not in (None, optimum):
        raise SystemExit("the cells are not proven, or the two programs have different optima")
    print(
        json.dumps(
            {
                "attributes": ATTRIBUTES,
                "optimum": optimum,
                "cells": merged.n_cells,
                "records": len(codes),
                "cells_seconds": round(cells, 4),
                "records_seconds": round(rows, 4),
                "records_proven": same is not None,
                "ratio" if same is not None else "ratio_at_least": round(rows / cells, 1),
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
