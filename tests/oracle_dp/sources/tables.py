"""A small table of all kinds of columns, and its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oracle_dp import Binned, Categorical, Domain, LogisticRegression

DOMAIN = Domain(
    [
        Categorical("colour", ["red", "green", "blue"]),
        Categorical("size", ["1", "2", "3"]),
        Binned("age", edges=[30.0, 50.0]),
    ]
)
CLASSES = ("no", "yes")
NUMBERS = ["height", "age", "size", "smokes"]


def table(n: int = 900) -> pd.DataFrame:
    draws = np.random.default_rng(0)
    colour = draws.choice(["red", "green", "blue"], n)
    return pd.DataFrame(
        {
            "colour": colour,
            "label": np.where(draws.random(n) < np.where(colour == "red", 0.8, 0.3), "yes", "no"),
            "size": draws.integers(1, 4, n),
            "age": draws.integers(18, 80, n).astype(np.int16),
            "height": draws.normal(size=n).astype(np.float32),
            "smokes": draws.random(n) < 0.2,
        }
    )


def files(folder: Path, frame: pd.DataFrame) -> list[Path]:
    """Three files of row groups of 130 rows."""
    cuts = [0, 200, 210, len(frame)]
    paths = [folder / f"part-{k}.parquet" for k in range(3)]
    for path, low, high in zip(paths, cuts, cuts[1:], strict=False):
        frame.iloc[low:high].to_parquet(path, row_group_size=130, index=False)
    return paths


def classifier(**changes: Any) -> LogisticRegression:
    settings: dict[str, Any] = {
        "classes": CLASSES, "random_state": 1, "domain": DOMAIN, "delta": 1e-6, **changes,
    }  # fmt: skip
    return LogisticRegression(**settings)
