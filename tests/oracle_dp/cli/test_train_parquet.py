"""Training on Parquet files, which are counted and not loaded."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oracle_dp import Ledger

from .support import CANARY, DOMAIN_FILE, LOANS, own, refused, run


def parquet(folder: Path, files: int = 3, **columns: Any) -> list[str]:
    """The rows of LOANS in files of several row groups, and the words to train on them."""
    frame = pd.read_csv(io.StringIO(LOANS), keep_default_na=False).assign(**columns)
    (folder / "data").mkdir()
    size = -(-len(frame) // files)
    for i in range(files):
        part = pa.Table.from_pandas(frame.iloc[i * size : (i + 1) * size], preserve_index=False)
        pq.write_table(part, folder / "data" / f"{i}.parquet", row_group_size=5)
    (folder / "domain.toml").write_text(DOMAIN_FILE, encoding="utf-8")
    return ["train", str(folder / "data" / "*.parquet"), "--domain", str(folder / "domain.toml")]


@pytest.mark.parametrize("mechanism", ["exponential", "counts"])
def test_the_release_is_that_of_the_csv_file(mechanism: str, tmp_path: Path) -> None:
    rest = ("--seed", "5", "--json", "--mechanism", mechanism)
    expected = run(*own(tmp_path), *rest)
    quoted = parquet(tmp_path)
    expanded = ["train", *sorted(map(str, (tmp_path / "data").iterdir())), *quoted[2:]]
    for words in (quoted, expanded):
        found = run(*words, *rest)
        assert found.exit_code == 0, found.output
        assert found.stdout == expected.stdout
    assert json.loads(expected.stdout)["test_error"] is None


def test_three_classes_counts_and_public_rows(tmp_path: Path) -> None:
    words = parquet(tmp_path, heads=1)
    words += ["--classes", "no,late,yes", "--seed", "5", "--json", "--epsilon", "1000"]
    once = run(*words)
    assert json.loads(once.stdout)["model"]["classes"] == ["no", "late", "yes"]
    assert run(*words, "--counts", "heads").stdout == once.stdout
    public = tmp_path / "public.csv"
    public.write_text("purpose,age,repaid\ncar,30,no\nhouse,30,yes\n", encoding="utf-8")
    assert json.loads(run(*words, "--public-test", str(public)).stdout)["test_error"] == 0


@pytest.mark.parametrize(
    ("break_it", "parts"),
    [
        ("schema", ("2.parquet, from row group 0 on: column 'age' holds text",)),
        ("category", ("1.parquet, row group 2: column 'purpose' has values outside its 3",)),
        ("truncated", ("2.parquet: is no whole Parquet file",)),
        ("glob", ("rows: no file matches",)),
        ("count", ("0.parquet, row group 1: column 'note', the counts, has a negative count",)),
    ],
)
def test_bad_files_train_and_charge_nothing(
    break_it: str, parts: tuple[str, ...], tmp_path: Path, untrained: list[str]
) -> None:
    words = parquet(tmp_path)
    Ledger.create(tmp_path / "ledger", {"loans": 1.0})
    files = sorted((tmp_path / "data").iterdir())
    if break_it == "schema":
        change(files[2], "age", lambda ages: [CANARY for _ in ages])
    if break_it == "category":
        change(files[1], "purpose", lambda purposes: [*purposes[:12], CANARY, *purposes[13:]])
    if break_it == "truncated":
        files[2].write_bytes(files[2].read_bytes()[:-9])
    if break_it == "glob":
        words[1] = str(tmp_path / "nothing" / "*.parquet")
    if break_it == "count":
        change(files[0], "note", lambda notes: [*notes[:7], -3, *notes[8:]])
        words += ["--counts", "note"]
    words += ["--ledger", str(tmp_path / "ledger"), "--dataset", "loans"]
    refused(run(*words), *parts)
    assert untrained == []
    assert Ledger.open(tmp_path / "ledger").remaining("loans") == (1, 0)


def change(path: Path, column: str, how: Any) -> None:
    table = pq.read_table(path)
    place = table.column_names.index(column)
    pq.write_table(
        table.set_column(place, column, pa.array(how(table[column].to_pylist()))),
        path,
        row_group_size=5,
    )


def test_words_that_do_not_go_together(tmp_path: Path) -> None:
    words = parquet(tmp_path)
    refused(run(*words, "--model", "logistic"), "model: from Parquet files only zero_one")
    refused(run(*words[:2]), "domain: Parquet files need one, written from public knowledge")
    refused(run("train", "a.csv", "b.csv"), "data: one CSV file, or Parquet files")
    refused(run("train", "adult", words[1]), "data: one CSV file, or Parquet files")
    refused(run(*own(tmp_path), "--counts", "note"), "counts: only Parquet files have it")
    refused(run("train", "adult", "--counts", "n"), "counts: only a CSV file has it")
    first = str(next((tmp_path / "data").iterdir()))
    same = ["train", first, *words[2:], "--public-test", first]
    refused(run(*same), "public_test: this is the file of private rows")
    refused(
        run(*words, "--target", "age", "--classes", "1,2"), "target: 'age' is among the attributes"
    )
