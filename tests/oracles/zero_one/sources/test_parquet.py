"""Parquet files: which are meant, and what is refused before and while they are read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from oracle_dp import Binned, Categorical, Domain
from oracles import ProblemError
from oracles.zero_one import CellTable
from oracles.zero_one.sources import parquet
from oracles.zero_one.sources.parquet import BLOCK
from oracles.zero_one.sources.parquet_files import check_schemas

from .routes import same

DOMAIN = Domain([Categorical("sex", ("f", "m")), Binned("age", (30, 60))])
TARGET = Categorical("label", ("no", "yes"))
SECRET = "Zanzibar"
GROUP = 1000


def people(n: int = 10 * GROUP, seed: int = 0) -> pa.Table:
    generator = np.random.default_rng(seed)
    return pa.table(
        {
            "sex": generator.choice(["f", "m"], n).tolist(),
            "age": generator.integers(0, 99, n),
            "n": generator.integers(0, 5, n),
            "label": generator.choice(["no", "yes"], n).tolist(),
        }
    )


def write(path: Path, table: pa.Table, **options: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, row_group_size=GROUP, **options)
    return path


def changed(table: pa.Table, column: str, row: int, entry: object) -> pa.Table:
    entries = table[column].to_pylist()
    entries[row] = entry
    return table.set_column(table.column_names.index(column), column, pa.array(entries))


def refused(rows: Any, *parts: str, counts: str | None = None) -> None:
    with pytest.raises(ProblemError) as refusal:
        CellTable.from_parquet(rows, DOMAIN, TARGET, counts=counts)
    for part in parts:
        assert part in str(refusal.value)
    told: BaseException | None = refusal.value
    while told is not None:
        assert SECRET not in repr(told)
        assert not isinstance(told, UnicodeError)
        told = told.__cause__ or told.__context__


# -- which files -------------------------------------------------------------------------------


def test_files_globs_folders_and_datasets_are_the_same_rows(tmp_path: Path) -> None:
    parts = [people(3500, seed) for seed in range(3)]
    places = ("a.parquet", "b.parquet", "more/c.parquet")
    paths = [write(tmp_path / "x" / p, t) for p, t in zip(places, parts, strict=True)]
    whole = CellTable.from_frame(pa.concat_tables(parts).to_pandas(), DOMAIN, TARGET)
    folder = tmp_path / "x"
    (folder / "_note.parquet").write_text("not data", encoding="utf-8")
    for rows in (
        paths,
        [str(paths[2]), str(folder / "?.parquet")],
        folder,
        str(folder / "**" / "[abc].parquet"),
        ds.dataset(folder, format="parquet"),
        ds.dataset([str(path) for path in paths], format="parquet"),
    ):
        assert same(CellTable.from_parquet(rows, DOMAIN, TARGET), whole)


def test_a_file_without_rows_is_ordinary_data(tmp_path: Path) -> None:
    path = write(tmp_path / "none.parquet", people(0))
    assert CellTable.from_parquet(path, DOMAIN, TARGET).n_cells == 0
    more = write(tmp_path / "some.parquet", people(10))
    assert CellTable.from_parquet([path, more], DOMAIN, TARGET).n_rows == 10


def test_texts_and_integers_of_all_widths_are_one_schema(tmp_path: Path) -> None:
    table = people(50)
    narrow = table.set_column(1, "age", table["age"].cast(pa.int8()))
    narrow = narrow.set_column(0, "sex", table["sex"].dictionary_encode())
    paths = [write(tmp_path / "a.parquet", table), write(tmp_path / "b.parquet", narrow)]
    once = CellTable.from_parquet(paths[0], DOMAIN, TARGET)
    assert same(CellTable.from_parquet(paths, DOMAIN, TARGET), once.scaled(2))


def test_a_row_group_of_several_blocks(tmp_path: Path) -> None:
    table = people(2 * BLOCK + 7)
    pq.write_table(table, tmp_path / "one.parquet", row_group_size=len(table))
    found = CellTable.from_parquet(tmp_path / "one.parquet", DOMAIN, TARGET)
    old = np.digitize(table["age"].to_numpy(), (30, 60))
    man = (table["sex"].to_numpy(zero_copy_only=False) == "m").astype(int)
    yes = table["label"].to_numpy(zero_copy_only=False) == "yes"
    assert found.positive.tolist() == np.bincount((3 * man + old)[yes], minlength=6).tolist()
    assert found.negative.tolist() == np.bincount((3 * man + old)[~yes], minlength=6).tolist()


# -- what is refused ---------------------------------------------------------------------------


def test_no_file(tmp_path: Path) -> None:
    refused(str(tmp_path / "*.parquet"), f"rows: no file matches {tmp_path}")
    refused(tmp_path, "rows: no file matches")
    refused(tmp_path / "x.parquet", "there is no such file")
    refused([], "no file is named")
    path = write(tmp_path / "x.parquet", people(5))
    refused([path, str(tmp_path / "*.parquet")], "a file is named twice")


def test_no_file_counts_twice_by_whatever_name(tmp_path: Path) -> None:
    path = write(tmp_path / "x" / "a.parquet", people(5))
    hard = tmp_path / "hard.parquet"
    hard.hardlink_to(path)
    refused([path, hard], "a file is named twice")
    refused(ds.dataset([str(path), str(path)]), "a file is named twice")
    (tmp_path / "x" / "b.parquet").symlink_to(path)
    refused(tmp_path / "x", "a file is named twice")
    refused(str(tmp_path / "x" / "*.parquet"), "a file is named twice")


def test_of_a_folder_hidden_folders_are_no_part(tmp_path: Path) -> None:
    write(tmp_path / "day.parquet" / "part-0.parquet", people(5))
    write(tmp_path / "_temporary" / "0" / "part-0.parquet", people(7))
    write(tmp_path / ".old" / "part-0.parquet", people(7))
    assert CellTable.from_parquet(tmp_path, DOMAIN, TARGET).n_rows == 5
    below = tmp_path / "_temporary" / "0"
    assert CellTable.from_parquet(below, DOMAIN, TARGET).n_rows == 7


def test_a_dataset_is_read_whole_or_not_at_all(tmp_path: Path) -> None:
    dataset = ds.dataset(write(tmp_path / "x.parquet", people(5)), format="parquet")
    refused(dataset.filter(ds.field("age") > 50), "without a filter")
    refused(ds.dataset(people(5)), "must be of Parquet files")
    long = ds.dataset(write(tmp_path / "long.parquet", people(2 * GROUP)), format="parquet")
    (part,) = (fragment.subset(row_group_ids=[1]) for fragment in long.get_fragments())
    half = ds.FileSystemDataset([part], long.schema, long.format, part.filesystem)
    refused(half, "leaves out row groups of", "long.parquet")
    (tmp_path / "x.csv").write_text("a\n1\n", encoding="utf-8")
    refused(ds.dataset(tmp_path / "x.csv", format="csv"), "must be of Parquet files")


def test_a_schema_that_changes_half_way(tmp_path: Path) -> None:
    table = people()
    first = write(tmp_path / "a.parquet", table)
    texts = table.set_column(1, "age", table["age"].cast(pa.string()))
    second = write(tmp_path / "b.parquet", texts)
    refused(tmp_path, f"{second}, from row group 0 on: column 'age' holds text, and integers in")
    refused([first, write(tmp_path / "c.parquet", table.drop_columns(["sex"]))], "c.parquet",
            "from row group 0 on: column 'sex' is missing")  # fmt: skip


@pytest.mark.parametrize("column", ["sex", "label"])
def test_an_unknown_category_far_into_a_file(column: str, tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", people())
    path = write(tmp_path / "b.parquet", changed(people(), column, 9 * GROUP, SECRET))
    refused(tmp_path, f"{path}, row group 9: column {column!r} has values outside its 2 public")


def test_entries_that_cannot_be_read(tmp_path: Path) -> None:
    raw = pa.array([SECRET.encode() + b"\xff", b"m"])
    broken = pa.Array.from_buffers(pa.string(), 2, raw.buffers())
    late = pa.array([3_000_000, 0], pa.date32())  # In a year with five digits.
    columns = {"broken": broken, "late": late, "lists": pa.array([[SECRET], []])}
    for name, column in columns.items():
        path = write(tmp_path / f"{name}.parquet", people(2).set_column(0, "sex", column))
        refused(path, f"{path}, row group 0: column 'sex' has")


def test_a_negative_count(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", changed(people(), "n", 4 * GROUP + 5, -1))
    refused(path, f"{path}, row group 4: column 'n', the counts, has a negative count", counts="n")
    assert CellTable.from_parquet(path, DOMAIN, TARGET).n_rows == 10 * GROUP


def test_a_truncated_and_a_damaged_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", people(), compression="none", use_dictionary=False)
    whole = path.read_bytes()
    for cut in (0, 3, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        refused(path, f"rows: {path}: is no whole Parquet file")
    third = pq.ParquetFile(write(path, people())).metadata.row_group(3).column(0)
    begin, size = third.dictionary_page_offset, third.total_compressed_size
    whole = path.read_bytes()
    path.write_bytes(whole[:begin] + b"\xff" * size + whole[begin + size :])
    refused(path, f"{path}, row group 3: is damaged")


def test_a_file_that_is_replaced_between_its_footer_and_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = people(50)
    flag = table["label"].combine_chunks()
    other = pa.array(["no"] * 25 + ["yes"] * 25)
    path = write(tmp_path / "a.parquet", table.select(["sex", "age"]).append_column("label", flag))

    def late(files: Any, schema: Any) -> None:
        check_schemas(files, schema)
        write(path, table.select(["sex", "age"]).append_column("label", other))
        os.utime(path, ns=(0, 0))

    monkeypatch.setattr(parquet, "check_schemas", late)
    refused(path, f"{path}, row group 0: was changed while it was read")


def test_of_several_errors_the_first_is_told(tmp_path: Path) -> None:
    wrong = changed(changed(people(), "sex", 7 * GROUP, SECRET), "age", 2 * GROUP, None)
    path = write(tmp_path / "a.parquet", wrong)
    for _ in range(5):
        refused(path, "row group 2: column 'age' has missing values")
