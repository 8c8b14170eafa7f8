"""Cells of a DuckDB relation: SQL encodes every entry, groups and counts.

The query is one pass: each part becomes an expression of its column, a code or a negative number
that says what is wrong, and the rows are grouped by them. What comes back is one row per distinct
combination. The expressions are written from the schema alone, which is public.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from oracles.errors import ProblemError
from oracles.zero_one.sources.engines import needed
from oracles.zero_one.sources.frame import tally
from oracles.zero_one.sources.schema import Encoding, IntArray, Schema, checked, checked_counts
from oracles.zero_one.sources.tally import Tally

INTEGERS = {
    *("tinyint", "smallint", "integer", "bigint", "hugeint"),
    *("utinyint", "usmallint", "uinteger", "ubigint", "uhugeint"),
}
FLOATS = {"float", "double"}
TEXT = {"varchar", "enum", "null"}


def count_duckdb(rows: Any, schema: Schema, connection: Any) -> Tally:
    """Count the rows of a relation; see :meth:`FromSources.from_duckdb`."""
    duckdb = needed("duckdb", "duckdb")
    if isinstance(rows, duckdb.DuckDBPyRelation):
        return _count(rows, schema)
    if not isinstance(rows, str):
        raise ProblemError(
            f"rows: a duckdb relation, a table's name or a query expected, not a "
            f"{type(rows).__name__}"
        )
    if connection is not None:
        return _count(_relation(connection, rows), schema)
    # Spilling would write private rows to disk: the connection of one's own says where.
    with duckdb.connect(":memory:", config={"temp_directory": ""}) as own:
        return _count(_relation(own, rows), schema)


def _relation(connection: Any, rows: str) -> Any:
    """The relation that a name or a query stands for."""
    duckdb = needed("duckdb", "duckdb")
    problem = ""
    try:
        found = connection.table(rows) if rows.isidentifier() else connection.sql(rows)
        if found is not None:
            return found
        problem = "is a statement that gives no rows"
    except duckdb.Error as error:
        problem = f"is refused by DuckDB ({type(error).__name__})"
    raise ProblemError(f"rows: the query {problem}; run it by itself to see why")


def _count(relation: Any, schema: Schema) -> Tally:
    duckdb = needed("duckdb", "duckdb")
    schema.check_columns(relation.columns)
    types = {
        name: str(kind.id) for name, kind in zip(relation.columns, relation.types, strict=True)
    }
    problem = ""
    found = {}
    try:
        found = relation.query("rows_to_count", _query(schema, types)).fetchnumpy()
    except duckdb.Error as error:
        # Not DuckDB's own words, nor its error behind ours: they quote entries.
        problem = type(error).__name__
    if problem:
        raise ProblemError(
            f"rows: DuckDB failed to count them ({problem}); run the query by itself to see why"
        )
    codes = [
        checked(part, np.asarray(found[f"part{i}"]).astype(np.int64))
        for i, part in enumerate(schema.parts)
    ]
    return tally(schema, codes, _counts(schema, found))


def _counts(schema: Schema, found: dict[str, Any]) -> IntArray:
    """The number of rows of each group."""
    if schema.counts is None:
        return np.asarray(found["n"]).astype(np.int64)
    checked_counts(schema.counts, found["lowest"], missing=bool(np.any(found["missing"])))
    total = found["n"]
    missing = bool(np.ma.getmaskarray(total).any())
    if missing:
        raise ProblemError(f"column {schema.counts!r}, the counts, adds up to more than 64 bits")
    return np.asarray(total).astype(np.int64)


def _query(schema: Schema, types: dict[str, str]) -> str:
    """The query that encodes, groups and counts."""
    codes = [f"{_code(part, types[part.column])} AS part{i}" for i, part in enumerate(schema.parts)]
    if schema.counts is None:
        numbers = ["count(*) AS n"]
    elif types[schema.counts] not in INTEGERS:
        raise ProblemError(f"column {schema.counts!r}, the counts, must hold integers")
    else:
        counts = _name(schema.counts)
        numbers = [
            f"TRY_CAST(coalesce(sum({counts}), 0) AS BIGINT) AS n",
            f"coalesce(least(min({counts}), 0), 0)::BIGINT AS lowest",
            f"bool_or({counts} IS NULL) AS missing",
        ]
    places = ", ".join(str(i + 1) for i in range(len(codes)))
    return f"SELECT {', '.join([*codes, *numbers])} FROM rows_to_count GROUP BY {places}"


def _code(part: Encoding, kind: str) -> str:
    """An expression for the code of a column's entry, in as few bytes as will do."""
    width = "TINYINT" if part.n_levels < 100 else "INTEGER"
    return _bin(part, kind, width) if part.edges else _category(part, kind, width)


def _bin(part: Encoding, kind: str, width: str) -> str:
    """How many edges are at most the number."""
    column = _name(part.column)
    missing, infinite, other = (
        f"({_reason(part, entry)})::{width}" for entry in (float("nan"), float("inf"), "text")
    )
    if kind not in INTEGERS | FLOATS | {"decimal"}:
        return f"CASE WHEN {column} IS NULL THEN {missing} ELSE {other} END"
    number = f"{column}::DOUBLE"
    below = " ".join(
        f"WHEN {number} < {_double(edge)} THEN {code}::{width}"
        for code, edge in enumerate(part.edges)
    )
    return (
        f"CASE WHEN {column} IS NULL OR isnan({number}) THEN {missing} "
        f"WHEN isinf({number}) THEN {infinite} {below} ELSE {len(part.edges)}::{width} END"
    )


def _category(part: Encoding, kind: str, width: str) -> str:
    """The place of an entry's text among the categories."""
    column = _name(part.column)
    missing, other = (f"({_reason(part, entry)})::{width}" for entry in (None, _stranger(part)))
    if kind in FLOATS:
        found = _float(part, column)
    elif kind in TEXT | INTEGERS:
        found = _text(part, f"{column}::VARCHAR")
    elif kind == "boolean":
        found = _text(part, f"CASE WHEN {column} THEN 'True' WHEN NOT {column} THEN 'False' END")
    else:
        raise ProblemError(
            f"column {part.column!r} is of type {kind}; cast it to VARCHAR, whose text is compared"
        )
    absent = f"{column} IS NULL" + (f" OR isnan({column})" if kind in FLOATS else "")
    # In this order, since entries that have a level are many and those that have none are none.
    return f"coalesce(({found})::{width}, CASE WHEN {absent} THEN {missing} ELSE {other} END)"


def _text(part: Encoding, text: str) -> str:
    # An enumeration is looked up by hashing, which a CASE of thousands of texts is not.
    levels = ", ".join(map(_quoted, part.categories))
    return f"enum_code(TRY_CAST({text} AS ENUM ({levels})))"


def _float(part: Encoding, column: str) -> str:
    """Categories that are how Python spells a float, compared as floats: -0.0 is not 0.0."""
    cases = []
    for code, category in enumerate(part.categories):
        try:
            number = float(category)
        except ValueError:
            continue
        if str(number) != category or number != number:
            continue
        zero = f" AND {'' if category[0] == '-' else 'NOT '}signbit({column})" * (number == 0)
        cases.append(f"WHEN {column}::DOUBLE = {_double(number)}{zero} THEN {code}")
    return f"CASE {' '.join(cases)} END" if cases else "NULL"


def _reason(part: Encoding, entry: object) -> int:
    """What the encoding says of an entry without a level."""
    (code,) = part.codes(pd.Series([entry], dtype=object)).tolist()
    return int(code)


def _stranger(part: Encoding) -> str:
    """A text that is no category."""
    return max(part.categories, key=len) + "x"


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _double(number: float) -> str:
    return f"'{number!r}'::DOUBLE"
