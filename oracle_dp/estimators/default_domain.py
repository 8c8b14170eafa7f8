"""The public schema that stands in where none was given.

Every number is cut at the same public constants, ``EDGES``; a column of booleans has the levels
False and True. What is taken from the table is its schema alone: how many columns there are, in
which order, their names and types. No value is looked at except to refuse what is no number.

A scoring card reads at most ``MAX_ATTRIBUTES`` of the columns, chosen privately, and there may be
``MAX_COLUMNS`` of them: the exact draw is then among at most 990 pairs of columns with 3^8 cards
each, few enough to list if bounds decide nothing. The rule is public: it looks at no row.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from oracle_dp._columns import as_table, is_number
from oracle_dp.domain import Binned, Categorical, Domain
from oracle_dp.errors import ColumnTypeError, DomainError
from oracle_dp.privacy import Contingency, ContingencyKind

Rows: TypeAlias = pd.DataFrame | ArrayLike
"""A table, by which a sparse container of SciPy's is meant too."""

EDGES = (-1, 0, 1)
MAX_ATTRIBUTES = 2
MAX_COLUMNS = 45

SCHEMA = Contingency(
    ContingencyKind.CALLER,
    f"no domain was given: numbers were cut at the public constants {', '.join(map(str, EDGES))}, "
    "and the caller vouches that the number of columns, their order, names and types are public",
)


def read_schema(data: Rows) -> tuple[Rows, Domain, dict[str, Any]]:
    """The rows, the domain that stands in, and what scikit-learn wants known of the columns.

    Args:
        data: A frame or an array of numbers and booleans, shape ``(n_rows, n_columns)``.

    Returns:
        Rows that the domain can encode; the domain; ``n_features_in_``, and ``feature_names_in_``
        if the columns have names.

    Raises:
        DomainError: The data are no table, have complex numbers, or too many columns.
        ColumnTypeError: A column holds something else than numbers or booleans.
        TypeError: Some names of the columns are text and others are not.
    """
    rows = _table(data)
    seen = BaseEstimator()
    validate_data(seen, rows, skip_check_array=True)
    features = vars(seen)
    n_columns = features["n_features_in_"]
    if n_columns > MAX_COLUMNS:
        raise DomainError(
            f"domain: None, and there are {n_columns} columns; without a domain at most "
            f"{MAX_COLUMNS} are searched: state one (oracle_dp.Domain) of the columns that matter"
        )
    names = _names(features)
    domain = Domain([_attribute(name, _column(rows, j)) for j, name in enumerate(names)])
    return _named(rows, domain), domain, features


def rows_as_at_fit(estimator: BaseEstimator, data: Any, domain: Domain) -> Rows:
    """The rows to predict for, if their columns are those that ``fit`` saw.

    Raises:
        DomainError: The data are no table.
        ValueError: The columns differ in number, order or names.
    """
    rows = _table(data)
    validate_data(estimator, rows, reset=False, skip_check_array=True)
    return _named(rows, domain)


def _table(data: Any) -> Any:
    """The data with two dimensions and a column at least."""
    rows = as_table(data)
    if rows.ndim != 2:
        raise DomainError(
            f"X: two dimensions expected, got {rows.ndim}. Reshape your data: X.reshape(-1, 1) is "
            "a single column, X.reshape(1, -1) a single row"
        )
    if rows.shape[1] == 0:
        # In scikit-learn's words, but for the number of rows, which may be private.
        raise DomainError("X: 0 feature(s) (shape=(, 0)) while a minimum of 1 is required.")
    if isinstance(rows, pd.DataFrame) and not rows.columns.is_unique:
        repeated = rows.columns[rows.columns.duplicated()][0]
        raise DomainError(f"column {repeated!r} occurs more than once in the data; rename one")
    return rows


def _names(features: dict[str, Any]) -> list[str]:
    if "feature_names_in_" in features:
        return list(features["feature_names_in_"])
    return [f"x{j}" for j in range(features["n_features_in_"])]


def _named(rows: Any, domain: Domain) -> Rows:
    """A frame gets the domain's names, which it lacks if its own are no text."""
    return rows.set_axis(list(domain.columns), axis=1) if isinstance(rows, pd.DataFrame) else rows


def _column(rows: Any, j: int) -> pd.Series[Any]:
    if isinstance(rows, pd.DataFrame):
        return rows.iloc[:, j]
    # Of a column of numbers only the type is asked for.
    numeric = rows.dtype.kind in "biufc"
    return pd.Series(np.empty(0, dtype=rows.dtype) if numeric else rows[:, j])


def _attribute(name: str, column: pd.Series[Any]) -> Binned | Categorical:
    types = pd.api.types
    if types.is_complex_dtype(column.dtype):
        raise DomainError(f"column {name!r}: Complex data not supported; pass real numbers")
    if types.is_bool_dtype(column.dtype) and not isinstance(column.dtype, pd.CategoricalDtype):
        return Categorical(name, ("False", "True"))
    numeric = types.is_numeric_dtype(column.dtype)
    if column.dtype == object:
        values = column.to_numpy()
        numeric = all(map(is_number, values[~pd.isna(values)]))
    if not numeric:
        raise ColumnTypeError(
            f"column {name!r}: without a domain the argument must be free of strings and "
            "categories and hold numbers or booleans only. Which categories there are is read off "
            "the data even where pandas keeps a list: state them from public knowledge, with "
            f"domain=oracle_dp.Domain([oracle_dp.Categorical({name!r}, [...]), ...])"
        )
    return Binned(name, EDGES)
