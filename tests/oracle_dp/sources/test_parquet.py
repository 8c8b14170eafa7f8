"""Parquet files: their order, and what is wrong with them, by file and row group."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oracle_dp import Ledger
from oracle_dp.errors import DomainError
from oracle_dp.ledger import Budget
from oracle_dp.sources import ParquetSource, Source
from tests.oracle_dp.sources.tables import DOMAIN, classifier, files, table


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files(tmp_path, table())
    return tmp_path


def whole(pieces: Iterable[pd.DataFrame], _: Any) -> pd.DataFrame:
    return pd.concat(list(pieces))


def contents(source: Source) -> pd.DataFrame:
    return pd.concat(list(source.map(whole, [None] * len(source))), ignore_index=True)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_all_rows_come_in_the_files_order(folder, n_jobs, monkeypatch) -> None:
    monkeypatch.setattr("oracle_dp.sources.parquet.rows_per_piece", lambda _: 50)
    frame = table()
    for paths in (folder, str(folder / "*.parquet"), sorted(folder.glob("*.parquet"))):
        source = ParquetSource(paths, n_jobs=n_jobs)
        assert isinstance(source, Source)
        assert source.columns == tuple(frame.columns)
        assert len(source) == 2 + 1 + 6
        found = contents(source.select(["age", "colour"]))
        assert list(found.columns) == ["age", "colour"]
        assert (found["colour"].astype(str).to_numpy() == frame["colour"].to_numpy()).all()
        assert (found["age"].to_numpy() == frame["age"].to_numpy()).all()
    last_first = sorted(folder.glob("*.parquet"))[::-1]
    assert contents(ParquetSource(last_first))["age"].iloc[-1] == frame["age"].iloc[199]


def test_no_file_and_no_column(folder, tmp_path) -> None:
    for paths in (tmp_path / "none.parquet", str(tmp_path / "x*.parquet"), []):
        with pytest.raises(DomainError, match=r"no such file|no file"):
            ParquetSource(paths)
    with pytest.raises(DomainError, match="'weight' is missing"):
        ParquetSource(folder).select(["weight"])


def damaged(folder: Path, kind: str) -> str:
    """Damage the last file; where the message has to say it is."""
    last = folder / "part-2.parquet"
    frame = pd.read_parquet(last)
    at = "row group 4"
    if kind == "truncated":
        last.write_bytes(last.read_bytes()[:-300])
        return "part-2.parquet: is no whole"
    if kind == "garbled":
        group = pq.read_metadata(last).row_group(4)
        begin = group.column(0).dictionary_page_offset or group.column(0).data_page_offset
        stored = bytearray(last.read_bytes())
        stored[begin : begin + 40] = b"\xff" * 40
        last.write_bytes(stored)
        return f"part-2.parquet, {at}: is damaged"
    if kind == "schema":
        frame["age"] = frame["age"].astype(np.float64)
        at = "part-2.parquet, from row group 0 on: column 'age' holds floats"
    elif kind == "column":
        frame = frame.drop(columns="size")
        at = "part-2.parquet, from row group 0 on: column 'size' is missing"
    elif kind == "more":
        frame["weight"] = 1
        at = "part-2.parquet: it has columns"
    elif kind == "category":
        frame.loc[600, "colour"] = "mauve"
        at = f"part-2.parquet, {at}: column 'colour'"
    elif kind == "label":
        frame.loc[600, "label"] = "perhaps"
        at = f"part-2.parquet, {at}: column 'label'"
    elif kind == "missing":
        frame.loc[600, "label"] = None
        at = f"part-2.parquet, {at}: column 'label' has missing"
    frame.to_parquet(last, row_group_size=130, index=False)
    return at


@pytest.mark.parametrize(
    "kind",
    ["truncated", "garbled", "schema", "column", "more", "category", "label", "missing"],
)
def test_what_is_wrong_is_named_and_nothing_is_charged(folder, kind) -> None:
    place = damaged(folder, kind)
    ledger = Ledger({"d": Budget(epsilon=1, delta=1e-3)})
    for n_jobs in (1, 2):
        with pytest.raises(DomainError) as caught:
            classifier(ledger=ledger, dataset="d").fit_blocks(
                ParquetSource(folder, n_jobs=n_jobs), "label"
            )
        assert place in str(caught.value)
        for private in ("mauve", "perhaps"):
            assert private not in str(caught.value)
        assert caught.value.__cause__ is None
    assert ledger.charges == ()


def test_numbers_that_are_no_numbers(folder) -> None:
    frame = table().drop(columns="colour")
    frame.loc[700, "height"] = np.nan
    frame.to_parquet(folder / "part-0.parquet", row_group_size=130)
    source = ParquetSource(folder / "part-0.parquet")
    numbers = source.select([name for name in source.columns if name != "__index_level_0__"])
    with pytest.raises(DomainError, match="row group 5: features: NaN"):
        classifier(domain=None).fit_blocks(numbers, "label")
    with pytest.raises(DomainError, match="column 'colour' holds no numbers"):
        classifier(domain=None).fit_blocks(ParquetSource(folder / "part-1.parquet"), "label")


def test_a_file_that_changes_in_mid_run_ends_it_and_the_charge_stays(folder, monkeypatch) -> None:
    ledger = Ledger({"d": Budget(epsilon=1, delta=1e-3)})
    spend = ledger.charge

    def charge_and_change(charge: Any) -> None:
        spend(charge)
        table(700).to_parquet(folder / "part-1.parquet", index=False)

    monkeypatch.setattr(ledger, "charge", charge_and_change)
    fitted = classifier(ledger=ledger, dataset="d")
    with pytest.raises(DomainError, match=r"part-1.parquet, row group 0: the file has changed"):
        fitted.fit_blocks(ParquetSource(folder), "label")
    assert len(ledger.charges) == 1
    assert not hasattr(fitted, "release_")


def test_text_in_dictionaries_and_large_text_are_text(tmp_path) -> None:
    frame = table()[["colour", "size", "age", "label"]]
    plain = pa.Table.from_pandas(frame, preserve_index=False)
    for k, kind in enumerate(
        (pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string()))
    ):
        column = plain.column("colour").cast(kind)
        pq.write_table(plain.set_column(0, "colour", column), tmp_path / f"{k}.parquet")
    found = contents(ParquetSource(tmp_path))
    assert len(found) == 2700
    assert (DOMAIN.encode(found)[:900] == DOMAIN.encode(found)[1800:]).all()


def test_nothing_else_is_opened_or_written(folder, monkeypatch) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    monkeypatch.chdir(folder)
    classifier().fit_blocks(ParquetSource("*.parquet"), "label")
    assert {Path(folder, p.name): os.stat(p).st_mtime_ns for p in folder.iterdir()} == before


def test_an_entry_beyond_python_s_own_is_named_by_file_and_row_group(tmp_path: Path) -> None:
    days = pa.array([3_000_000], pa.int32()).cast(pa.date32())
    pq.write_table(pa.table({"day": days}), tmp_path / "late.parquet")
    with pytest.raises(DomainError, match=r"late\.parquet, row group 0: .*cannot hold") as caught:
        contents(ParquetSource(tmp_path))
    assert caught.value.__context__ is None
    assert "year 1" not in str(caught.value)
