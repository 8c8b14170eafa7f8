"""Every engine gives the table that the encoder in memory gives, and refuses what it refuses."""

from __future__ import annotations

import datetime
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle_dp import Binned, Categorical, Crossed, Domain, DomainError, Threshold
from oracles import ProblemError
from oracles.zero_one import CellTable, ClassCounts

from .routes import ROUTES, Route, same

TARGET = Categorical("label", ("no", "yes"))
CITY = Categorical("city", ("Rome", " Rome", "it's", 'a "b"', "", "Zürich"))
AGE = Binned("age", (18, 30.5, 65))
DOMAIN = Domain(
    [
        CITY,
        AGE,
        Categorical("rooms", ("1", "2", "3", "1.0")),
        Categorical("owner", ("True", "False", "true")),
        Categorical("size", ("0.0", "-0.0", "1.5", "1e+16", "inf", "1")),
        Threshold("income", 0.1),
        Crossed([CITY, Binned("income", (0.0, 0.1))]),
    ]
)


def people(n: int, seed: int = 0) -> pa.Table:
    """Rows whose columns are of many types, with numbers on and beside the edges."""
    generator = np.random.default_rng(seed)
    some = generator.choice
    return pa.table(
        {
            "other": pa.nulls(n),
            "city": pa.array(some(list(CITY.categories), n).tolist(), pa.string()),
            "age": pa.array(some([17, 18, 30, 31, 64, 65, 99], n), pa.int16()),
            "rooms": pa.array(some([1, 2, 3], n), pa.uint8()),
            "owner": pa.array(some([True, False], n)),
            "size": pa.array(some([0.0, -0.0, 1.5, 1e16, np.inf], n)),
            "income": pa.array(some([-1.0, -0.0, 0.0, np.nextafter(0.1, 0), 0.1, 2e9], n)),
            "label": pa.array(some(["no", "yes"], n).tolist()).dictionary_encode(),
        }
    )


@pytest.fixture(params=ROUTES)
def route(request: pytest.FixtureRequest) -> Route:
    return ROUTES[request.param]


def in_memory(table: pa.Table, domain: Domain = DOMAIN) -> CellTable:
    frame = table.to_pandas()
    positive = (frame["label"].astype(str) == "yes").to_numpy(dtype=bool)
    return CellTable.from_codes(domain.encode(frame), positive, domain.levels)


@pytest.mark.parametrize("n", [0, 1, 3000])
def test_the_table_is_that_of_the_rows_in_memory(route: Route, n: int, tmp_path: Path) -> None:
    table = people(n)
    found = route(table, tmp_path, DOMAIN, TARGET, None)
    assert same(found.against_rest(1), in_memory(table))


def test_the_key_of_many_attributes_is_more_than_64_bits(route: Route, tmp_path: Path) -> None:
    ages = tuple(range(10, 99))
    many = Domain([Crossed([Binned(c, ages), Binned(d, ages)]) for c in "ab" for d in "cdef"])
    generator = np.random.default_rng(5)
    rows = generator.integers(0, 110, (40, 6))[generator.integers(0, 40, 300)]
    columns = {name: rows[:, j] for j, name in enumerate("abcdef")}
    table = pa.table({**columns, "label": generator.choice(["no", "yes"], 300).tolist()})
    found = route(table, tmp_path, many, TARGET, None)
    assert found.counts.sum() == 300
    assert same(found.against_rest(1), in_memory(table, many))


def test_three_classes_and_counts(route: Route, tmp_path: Path) -> None:
    table = pa.table(
        {
            "age": [5, 20, 5, 70, 20],
            "n": [3, 0, 4, 2**53 + 1, 0],
            "label": ["b", "b", "b", "c", "a"],
        }
    )
    found = route(table, tmp_path, Domain([AGE]), Categorical("label", ("a", "b", "c")), "n")
    # Who stands for nobody is nowhere.
    assert found.codes.tolist() == [[0], [3]]
    assert found.counts.tolist() == [[0, 7, 0], [0, 0, 2**53 + 1]]


TEXTS = ["a", "b ", "B", "1", "1.0", "True", "nan", "", "é", "0", "-1"]
ENTRIES = {
    pa.string(): st.sampled_from(TEXTS) | st.none(),
    pa.dictionary(pa.int8(), pa.string()): st.sampled_from(TEXTS) | st.none(),
    pa.int64(): st.sampled_from([-1, 0, 1, 2, 2**53 + 1, -(2**63)]) | st.none(),
    pa.bool_(): st.booleans() | st.none(),
    pa.float64(): st.sampled_from([0.0, -0.0, 1.0, 0.1, 1e300, float("nan"), float("-inf")])
    | st.none(),
    pa.float32(): st.sampled_from([0.0, 1.0, float(np.float32(0.1)), 2.5]) | st.none(),
}
SPELT = (*TEXTS, "0.0", "-0.0", "0.1", "-inf", "0.10000000149011612", "1e+300", "9007199254740993")
READ = {
    "categories": Categorical("x", SPELT[::2]),
    "others": Categorical("x", SPELT[1::2]),
    "edges": Binned("x", (-1, 0, 0.1, 0.10000000149011612, 1, 2**53)),
}


@pytest.mark.parametrize("read", READ)
@pytest.mark.parametrize("kind", ENTRIES, ids=str)
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_entries_are_read_as_in_memory(
    kind: pa.DataType, read: str, data: st.DataObject, tmp_path: Path
) -> None:
    entries = data.draw(st.lists(ENTRIES[kind], min_size=1, max_size=4))
    domain = Domain([READ[read]])
    table = pa.table({"x": pa.array(entries, kind), "label": ["yes"] * len(entries)})
    try:
        expected = in_memory(table, domain)
    except DomainError as error:
        refusal = str(error).split("; domain.outside")[0]
        # Of several reasons, row groups and partitions tell that of the first of them.
        for found in ROUTES.values():
            with pytest.raises(ProblemError) as refused:
                found(table, tmp_path, domain, TARGET, None)
            if len(entries) == 1:
                assert str(refused.value).endswith(refusal)
    else:
        for found in ROUTES.values():
            assert same(found(table, tmp_path, domain, TARGET, None).against_rest(1), expected)


SECRET = "Zanzibar"


@pytest.mark.parametrize(
    ("column", "entries", "message"),
    [
        ("city", pa.array(["Rome", SECRET]), "'city' has values outside its 6 public levels"),
        ("city", pa.array(["Rome", "Rome "]), "'city' has values outside its 6 public levels"),
        ("city", pa.array(["Rome", None]), "'city' has missing values"),
        ("label", pa.array(["no", SECRET]), "'label' has values outside its 2 public levels"),
        ("label", pa.array(["no", None]), "'label' has missing values"),
        ("age", pa.array(["18", SECRET]), "'age' must hold numbers"),
        ("age", pa.array([True, False]), "'age' must hold numbers"),
        ("age", pa.array([1.0, np.nan], from_pandas=False), "'age' has missing values"),
        ("age", pa.array([1.0, None]), "'age' has missing values"),
        ("age", pa.array([1.0, -np.inf]), "'age' has infinite values"),
        ("n", pa.array([1, -1]), "'n', the counts, has a negative count"),
        ("n", pa.array([1, None], pa.int32()), "'n', the counts, has missing values|must hold"),
        ("n", pa.array([1.0, 2.0]), "'n', the counts, must hold integers"),
        ("n", pa.array(["1", SECRET]), "'n', the counts, must hold integers"),
        ("n", pa.array([2**60, 1]), "more than 1152921504606846976 rows in all"),
        ("n", pa.array([2**62, 2**62]), "more than 1152921504606846976 rows|more than 64 bits"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused_by_every_engine(
    route: Route, column: str, entries: pa.Array, message: str, tmp_path: Path
) -> None:
    columns = {"city": ["Rome", "it's"], "age": [1, 2], "label": ["no", "yes"], "n": [1, 1]}
    table = pa.table({**columns, column: entries})
    with pytest.raises(ProblemError, match=message) as refused:
        route(table, tmp_path, Domain([CITY, AGE]), TARGET, "n")
    told: BaseException | None = refused.value
    while told is not None:
        assert SECRET not in repr(told)
        told = told.__cause__ or told.__context__


def test_columns_have_one_part_to_play(route: Route, tmp_path: Path) -> None:
    table = people(3)
    for target, counts in ((Categorical("age", ["1", "2"]), None), (TARGET, "label")):
        with pytest.raises(ProblemError, match="a column is named twice"):
            route(table, tmp_path, DOMAIN, target, counts)
    with pytest.raises(ProblemError, match="column 'age' is missing"):
        route(table.drop_columns(["age"]), tmp_path, DOMAIN, TARGET, None)


def test_a_table_has_two_classes() -> None:
    frame = pd.DataFrame({"age": [1, 2], "label": ["a", "b"], "count": [4, 2]})
    domain = Domain([AGE])
    table = CellTable.from_counts(frame, domain, Categorical("label", ("a", "b")))
    assert (table.negative.tolist(), table.positive.tolist()) == ([4], [2])
    with pytest.raises(ProblemError, match="target: two classes expected"):
        CellTable.from_counts(frame, domain, Categorical("label", ("a", "b", "c")))
    with pytest.raises(ProblemError, match="at least two classes"):
        ClassCounts(np.zeros((1, 1), int), np.ones((1, 1), int), (4,))
    with pytest.raises(ProblemError, match="counts must not be negative"):
        ClassCounts(np.zeros((1, 1), int), np.array([[2, -1]]), (4,))


def test_types_that_only_memory_spells(tmp_path: Path) -> None:
    day = datetime.date(2020, 1, 2)
    table = pa.table(
        {"x": pa.array([day, day]), "d": [Decimal("1.50")] * 2, "label": ["no", "yes"]}
    )
    domain = Domain([Categorical("x", ("2020-01-02",)), Categorical("d", ("1.50",))])
    expected = in_memory(table, domain)
    for name in ("frame", "parquet", "dask"):
        found = ROUTES[name](table, tmp_path, domain, TARGET, None)
        assert same(found.against_rest(1), expected)
    with pytest.raises(ProblemError, match="'x' is of type date; cast it to VARCHAR"):
        ROUTES["duckdb"](table, tmp_path, domain, TARGET, None)


@pytest.mark.parametrize(
    ("module", "extra", "call"),
    [
        ("pyarrow", "parquet", "from_parquet('x.parquet', domain, target)"),
        ("duckdb", "duckdb", "from_duckdb('x', domain, target)"),
        ("dask", "dask", "from_dask(None, domain, target)"),
    ],
)
def test_an_engine_that_is_not_installed_is_named(module: str, extra: str, call: str) -> None:
    program = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "from oracle_dp import Binned, Categorical, Domain\n"
        "from oracles.zero_one import CellTable\n"
        "domain, target = Domain([Binned('age', [1])]), Categorical('y', ['0', '1'])\n"
        f"CellTable.{call}"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (
        f"SolverError: {module} is not installed; pip install 'oracle-dp[{extra}]'" in done.stderr
    )


def test_a_frame_is_asked_for_by_name() -> None:
    wrong: Any = [[1]]
    domain = Domain([AGE])
    with pytest.raises(ProblemError, match=r"a pandas.DataFrame expected"):
        CellTable.from_frame(wrong, domain, TARGET)
    with pytest.raises(ProblemError, match=r"a dask.dataframe expected"):
        CellTable.from_dask(wrong, domain, TARGET)
    with pytest.raises(ProblemError, match="a duckdb relation, a table's name or a query"):
        CellTable.from_duckdb(wrong, domain, TARGET)
    with pytest.raises(ProblemError, match="a folder, several of these"):
        CellTable.from_parquet(3, domain, TARGET)
