"""Logistic regression of diffprivlib 0.6.6, which needs an older scikit-learn than this project.

``python -m experiments.diffprivlib_env`` makes a virtual environment for it beside this file. Here
is what runs its worker there: JSON in, JSON out, no file.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oracles.zero_one import CellTable

FOLDER = Path(__file__).parent / "venv"
PACKAGES = ("diffprivlib==0.6.6", "scikit-learn==1.5.2")
MISSING = "environment missing"
"""The reason of records that could not be made for want of the environment."""
HOW = "python -m experiments.diffprivlib_env"
_PYTHON = FOLDER / "bin" / "python"
_WORKER = Path(__file__).with_name("worker.py")


class MissingError(RuntimeError):
    """The environment was not made."""


@dataclass(frozen=True)
class Lines:
    """What the worker found.

    Attributes:
        lines: For each seed one coefficient per level of the attributes, and an intercept.
        versions: Of the libraries in the worker's environment.
    """

    lines: list[tuple[np.ndarray, float]]
    versions: dict[str, str]


def installed() -> bool:
    """Whether the environment was made."""
    return _PYTHON.exists()


def fit(cells: CellTable, *, epsilon: float, seeds: Sequence[int]) -> Lines:
    """Train one model per seed with diffprivlib's defaults.

    Args:
        cells: The rows.
        epsilon: Of one model.
        seeds: One for each model.

    Raises:
        MissingError: The environment was not made.
        subprocess.CalledProcessError: The worker failed.
    """
    if not installed():
        raise MissingError(f"no environment of diffprivlib: {HOW}")
    asked = {
        "columns": cells.columns.tolist(),
        "dimension": sum(cells.levels),
        "positive": cells.positive.tolist(),
        "negative": cells.negative.tolist(),
        "epsilon": epsilon,
        "seeds": list(seeds),
    }
    run = subprocess.run(
        [str(_PYTHON), "-I", str(_WORKER)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(run.stdout)
    return Lines([(np.array(w), float(b)) for w, b in found["lines"]], found["versions"])
