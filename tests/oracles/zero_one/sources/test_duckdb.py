"""DuckDB: which relations are read, what never leaves it, and names that are no words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import duckdb
import numpy as np
import pandas as pd
import pytest

from oracle_dp import Binned, Categorical, Domain
from oracles import ProblemError
from oracles.zero_one import CellTable

from .routes import same

DOMAIN = Domain([Categorical('the "sex"', ("f", "m")), Binned("a'ge", (30, 60))])
TARGET = Categorical("select", ("no", "yes"))
FRAME = pd.DataFrame(
    {'the "sex"': ["f", "m", "m"], "a'ge": [29, 30, 61], "select": ["yes", "no", "no"]}
)
TARGET_Y = Categorical("y", ("no", "yes"))
SECRET = "Zanzibar"


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(":memory:") as made:
        made.register("people", FRAME)
        yield made


def test_relations_tables_and_queries(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    expected = CellTable.from_frame(FRAME, DOMAIN, TARGET)
    connection.sql("CREATE TABLE kept AS SELECT * FROM people")
    for rows in ("people", "kept", "SELECT * FROM people WHERE true"):
        found = CellTable.from_duckdb(rows, DOMAIN, TARGET, connection=connection)
        assert same(found, expected)
    assert same(CellTable.from_duckdb(connection.table("kept"), DOMAIN, TARGET), expected)
    FRAME.to_parquet(tmp_path / "x.parquet")
    query = f"SELECT * FROM '{tmp_path}/*.parquet'"
    assert same(CellTable.from_duckdb(query, DOMAIN, TARGET), expected)


def test_a_connection_of_our_own_never_spills(tmp_path: Path) -> None:
    connect = duckdb.connect
    grouped = "SELECT count(*) FROM (SELECT range i, count(*) FROM range(3000000) GROUP BY ALL)"
    refusals = []

    def watched(path: str, config: dict[str, str]) -> duckdb.DuckDBPyConnection:
        made = connect(path, config=config)
        made.execute("SET memory_limit = '100MB'")
        with pytest.raises(duckdb.OutOfMemoryException) as refused:
            made.execute(grouped)
        refusals.append(str(refused.value))
        return connect(path, config=config)

    domain, target = Domain([Categorical("s", ["f", "m"])]), TARGET_Y
    with mock.patch.object(duckdb, "connect", watched):
        assert CellTable.from_duckdb("SELECT 'f' AS s, 'no' AS y", domain, target).n_rows == 1
    assert len(refusals) == 1
    # Where it may spill, that is no refusal.
    spills = {"memory_limit": "100MB", "temp_directory": str(tmp_path)}
    with connect(":memory:", config=spills) as made:
        assert made.execute(grouped).fetchall() == [(3_000_000,)]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("nothing", "refused by DuckDB"),
        ("SELECT", "refused by DuckDB"),
        ("", "gives no rows"),
        (f"SELECT '{SECRET}' || i::VARCHAR AS \"a'ge\" FROM range(2) t(i)", "is missing"),
        (
            f'SELECT \'f\' AS "the ""sex""", (\'{SECRET}\' || i)::INTEGER AS "a\'ge", \'no\' AS '
            '"select" FROM range(2) t(i)',
            "DuckDB failed to count them",
        ),
    ],
)
def test_a_query_that_fails_shows_nothing_of_the_rows(query: str, message: str) -> None:
    with pytest.raises(ProblemError, match=message) as refused:
        CellTable.from_duckdb(query, DOMAIN, TARGET)
    told: BaseException | None = refused.value
    while told is not None:
        assert SECRET not in repr(told)
        told = told.__cause__ or told.__context__


def test_types_that_only_sql_has(connection: duckdb.DuckDBPyConnection) -> None:
    query = (
        "SELECT i::HUGEINT AS h, i::UHUGEINT AS u, (i / 2)::DECIMAL(12, 2) AS d, "
        "(CASE i WHEN 1 THEN 'no' ELSE 'yes' END)::ENUM('yes', 'other', 'no') AS y "
        "FROM range(1, 4) t(i)"
    )
    domain = Domain([Categorical("h", list("123")), Binned("u", [2]), Binned("d", [1, 1.5])])
    found = CellTable.from_duckdb(query, domain, TARGET_Y)
    assert found.codes.tolist() == [[0, 0, 0], [1, 1, 1], [2, 1, 2]]
    assert found.positive.tolist() == [0, 1, 1]
    with pytest.raises(ProblemError, match="'d' is of type decimal; cast it to VARCHAR"):
        CellTable.from_duckdb(
            query, Domain([Categorical("d", ["1"])]), Categorical("y", ["a", "b"])
        )


def test_thousands_of_categories(connection: duckdb.DuckDBPyConnection) -> None:
    many = Domain([Categorical("c", [f"level {i}" for i in range(10_000)])])
    query = "SELECT 'level ' || i % 9000 AS c, i % 2 = 0 AS y FROM range(20000) t(i)"
    found = CellTable.from_duckdb(query, many, Categorical("y", ("False", "True")))
    assert (found.n_cells, found.n_rows) == (9000, 20_000)
    assert found.codes[:, 0].tolist() == np.arange(9000).tolist()
