"""Data for the benchmarks of private logistic regression: rows of norm 1, a constant included."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from oracle_dp.datasets import load_adult
from oracle_dp.record_losses import LinearModelLoss

RANGES = {
    "age": (17, 90),
    "fnlwgt": (0, 1_500_000),
    "education-num": (1, 16),
    "capital-gain": (0, 99_999),
    "capital-loss": (0, 5_000),
    "hours-per-week": (1, 99),
}
"""Public bounds of Adult's numbers, each scaled to [0, 1]."""

NEVER = "Never-worked"
"""A work class that no complete row can have: who never worked has no occupation."""


def adult() -> tuple[sp.csr_array, np.ndarray]:
    """Adult's complete rows, all 14 attributes and a constant: 45,222 rows, d = 105."""
    data = load_adult(missing="drop")
    frame = data.X.iloc[np.concatenate([data.train, data.test])]
    parts: list[Any] = []
    for name in data.X.columns:
        if name in RANGES:
            low, high = RANGES[name]
            column = (frame[name].to_numpy(dtype=float) - low) / (high - low)
            parts.append(sp.csr_array(np.clip(column, 0, 1)[:, None]))
        else:
            levels = [x for x in data.domain[name].categories if x != NEVER]
            codes = np.array([levels.index(value) for value in frame[name]])
            ones = (np.ones(len(codes)), (np.arange(len(codes)), codes))
            parts.append(sp.csr_array(ones, shape=(len(codes), len(levels))))
    parts.append(sp.csr_array(np.ones((len(frame), 1))))
    labels = np.where(data.y.loc[frame.index] == data.classes[1], 1.0, -1.0)
    return to_unit(sp.csr_array(sp.hstack(parts))), labels


def synthetic(n: int = 10_000, d: int = 100, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The paper's set: rows uniform on the sphere, labels by the logistic law of w = 1."""
    draws = np.random.default_rng(seed)
    x = draws.normal(size=(n, d))
    x /= np.linalg.norm(x, axis=1)[:, None]
    return x, np.where(draws.random(n) < 1 / (1 + np.exp(-x.sum(axis=1))), 1.0, -1.0)


def a1a() -> tuple[sp.csr_array, np.ndarray]:
    """LIBSVM's a1a.t, a constant added; from the folder that ORACLE_DP_TEST_DATA names."""
    x, y = load_svmlight_file(str(folder() / "a1a" / "a1a.t"))
    return _with_constant(sp.csr_array(x)), np.where(y > 0, 1.0, -1.0)


def covtype() -> tuple[sp.csr_array, np.ndarray]:
    """20,000 rows of Covertype, class 2 against the others, columns divided by public ranges."""
    raw = np.loadtxt(folder() / "covtype" / "covtype.20k.data.gz", delimiter=",")
    highest = np.array([4000, 360, 66, 1400, 600, 7200, 255, 255, 255, 7200] + [1] * 44)
    labels = np.where(raw[:, -1] == 2, 1.0, -1.0)
    return _with_constant(sp.csr_array(raw[:, :-1] / highest)), labels


def folder() -> Path:
    """The folder of original data sets."""
    return Path(os.environ["ORACLE_DP_TEST_DATA"])


def _with_constant(rows: sp.csr_array) -> sp.csr_array:
    return to_unit(sp.csr_array(sp.hstack([rows, np.ones((rows.shape[0], 1))])))


def to_unit(rows: sp.csr_array) -> sp.csr_array:
    """Every row divided by its norm where that is above 1."""
    norms = np.sqrt(np.asarray((rows * rows).sum(axis=1))).ravel()
    return sp.csr_array(sp.diags_array(1 / np.maximum(1, norms)) @ rows)


def losses(features: Any, labels: np.ndarray) -> LinearModelLoss:
    """As a mechanism takes them."""
    return LinearModelLoss.from_data(features, labels)


def delta_for(n: int) -> float:
    """The paper's: n to the power of -2."""
    return math.pow(n, -2)
