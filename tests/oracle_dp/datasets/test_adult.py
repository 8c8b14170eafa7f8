from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from oracle_dp.datasets import AdultData, load_adult
from oracle_dp.datasets.build_adult import COLUMNS
from oracle_dp.domain import Binned, Categorical
from oracle_dp.errors import DomainError, ParameterError

NUMBERS = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
WITH_MISSING = ["workclass", "occupation", "native-country"]


@pytest.fixture(scope="module")
def kept() -> AdultData:
    return load_adult()


@pytest.fixture(scope="module")
def dropped() -> AdultData:
    return load_adult(missing="drop")


def test_frame_has_all_rows_in_order(kept: AdultData, dropped: AdultData) -> None:
    assert kept.frame.shape == (48_842, 15)
    assert tuple(kept.frame.columns) == COLUMNS
    assert kept.frame.index.equals(pd.RangeIndex(48_842))
    pd.testing.assert_frame_equal(kept.frame, dropped.frame)


def test_numbers_are_integers_and_the_rest_is_text(kept: AdultData) -> None:
    for name, column in kept.frame.items():
        if name in NUMBERS:
            assert column.dtype == np.int64
        else:
            assert column.map(type).eq(str).all()


def test_attributes_and_label(kept: AdultData) -> None:
    assert tuple(kept.X.columns) == COLUMNS[:-1]
    assert kept.classes == ("<=50K", ">50K")
    assert kept.y.value_counts().to_dict() == {"<=50K": 37_155, ">50K": 11_687}
    assert kept.y.iloc[kept.train].eq(">50K").sum() == 7_841


def test_split(kept: AdultData, dropped: AdultData) -> None:
    assert kept.train.dtype == kept.test.dtype == np.int64
    assert kept.train.tolist() == list(range(32_561))
    assert kept.test.tolist() == list(range(32_561, 48_842))
    assert len(dropped.train) == 30_162
    assert len(dropped.test) == 15_060
    for rows, of in ((dropped.train, kept.train), (dropped.test, kept.test)):
        assert np.isin(rows, of).all()
        complete = (dropped.X.iloc[of] != "?").all(axis=1).to_numpy()
        assert rows.tolist() == of[complete].tolist()


def test_domain_is_the_documented_schema(kept: AdultData, dropped: AdultData) -> None:
    assert kept.domain.names == dropped.domain.names
    assert set(kept.domain.names) == set(COLUMNS) - {"fnlwgt", "income"}
    assert list(kept.domain.names) == [name for name in COLUMNS if name in kept.domain.names]
    assert dropped.domain["workclass"].n_levels == 8
    assert sum(dropped.domain[["education", "occupation", "relationship"]].levels) == 36
    for public, complete in zip(kept.domain, dropped.domain, strict=True):
        assert isinstance(public, Binned) == (public.name in NUMBERS)
        if public.name in WITH_MISSING:
            assert public.labels == (*complete.labels, "?")
        else:
            assert public == complete


def test_every_row_has_a_code(kept: AdultData) -> None:
    codes = kept.domain.encode(kept.X)
    assert codes.shape == (48_842, 13)
    assert (codes.min(axis=0) == 0).all()
    assert (codes.max(axis=0) < kept.domain.levels).all()
    for j, attribute in enumerate(kept.domain):
        if isinstance(attribute, Categorical):
            decoded = np.array(attribute.categories)[codes[:, j]]
            assert (decoded == kept.frame[attribute.name].to_numpy(dtype=str)).all()


def test_complete_rows_have_codes_and_the_others_none(dropped: AdultData) -> None:
    domain = dropped.domain
    assert len(domain.encode(dropped.X.iloc[dropped.train])) == 30_162
    assert len(domain.encode(dropped.X.iloc[dropped.test])) == 15_060
    with pytest.raises(DomainError, match="'workclass' has values outside its 8 public levels"):
        domain.encode(dropped.X)
    report = domain.outside(dropped.X)
    assert report["column"].tolist() == WITH_MISSING
    assert set(report["value"]) == {"?"}


def test_the_public_domain_has_a_level_that_no_complete_row_has(dropped: AdultData) -> None:
    rows = np.concatenate([dropped.train, dropped.test])
    codes = dropped.domain[["workclass"]].encode(dropped.X.iloc[rows])
    never_worked = dropped.domain["workclass"].labels.index("Never-worked")
    assert sorted(np.unique(codes)) == [code for code in range(8) if code != never_worked]


def test_each_call_gives_a_frame_of_its_own(kept: AdultData) -> None:
    other = load_adult()
    other.frame.loc[0, "age"] = 0
    assert kept.frame.loc[0, "age"] == 39


def test_an_unknown_way_with_missing_values_is_refused() -> None:
    with pytest.raises(ParameterError, match="'impute'"):
        load_adult(missing="impute")


def test_shipped_rows_are_the_original_ones(kept: AdultData, test_data: Path) -> None:
    original = [
        line.removesuffix(".").split(", ")
        for name in ("adult.data", "adult.test")
        for line in (test_data / "adult" / name).read_text().splitlines()
        if line and not line.startswith("|")
    ]
    assert kept.frame.astype(str).to_numpy().tolist() == original
