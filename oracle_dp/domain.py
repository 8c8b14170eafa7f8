"""The public schema of the data: which attributes there are, and the levels of each.

A domain is a public parameter. It is written down by whoever knows what the attributes mean,
never read from the rows: a category that occurs in one row only would give that row away.
Encoding is local: the codes of a row depend on that row and the domain alone, so that changing
one record changes one row of codes. The privacy proofs of everything downstream rest on this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from oracle_dp._attributes import Attribute, Binned, Categorical, IntArray, Problem
from oracle_dp.errors import DomainError

__all__ = ["Attribute", "Binned", "Categorical", "Domain"]

_REFUSALS = {
    Problem.MISSING: "has missing values (NaN or None): drop those rows, or fill them with a "
    "value that the domain covers",
    Problem.NOT_A_CATEGORY: "has values outside its {n_levels} public levels (values are "
    "compared as text, exactly): correct the data, or the domain from public knowledge",
    Problem.NOT_A_NUMBER: "must hold numbers, and holds something else: convert it, for "
    "example with pandas.to_numeric",
    Problem.INFINITE: "has infinite values: replace them with a finite bound that is public",
}


@dataclass(frozen=True)
class Domain:
    """The public schema of a table: its attributes, in order.

    Iterating gives the attributes; ``domain["sex"]`` is one of them, and
    ``domain[["education", "sex"]]`` the domain of these two, in this order.

    Args:
        attributes: At least one, with distinct names.

    Raises:
        DomainError: There is no attribute, or two share a name.
    """

    attributes: tuple[Attribute, ...]

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        members = tuple(attributes)
        if not members:
            raise DomainError("attributes: a domain needs at least one")
        if not all(isinstance(member, Categorical | Binned) for member in members):
            raise DomainError("attributes: each must be a Categorical or a Binned")
        object.__setattr__(self, "attributes", members)
        _check_distinct(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names, in order."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def levels(self) -> tuple[int, ...]:
        """The attributes' numbers of levels, in order."""
        return tuple(attribute.n_levels for attribute in self.attributes)

    def __len__(self) -> int:
        return len(self.attributes)

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def __contains__(self, item: object) -> bool:
        return item in self.names or item in self.attributes

    def __repr__(self) -> str:
        inner = ", ".join(f"{attribute.name}: {attribute.n_levels}" for attribute in self)
        return f"Domain({inner})"

    @overload
    def __getitem__(self, names: str) -> Attribute: ...
    @overload
    def __getitem__(self, names: list[str] | tuple[str, ...]) -> Domain: ...
    def __getitem__(self, names: str | list[str] | tuple[str, ...]) -> Attribute | Domain:
        """One attribute by name, or the domain of several in the order asked for.

        Raises:
            DomainError: A name is not in the domain, or is asked for twice.
        """
        known = dict(zip(self.names, self.attributes, strict=True))
        wanted = (names,) if isinstance(names, str) or not np.iterable(names) else tuple(names)
        for name in wanted:
            if not isinstance(name, str) or name not in known:
                raise DomainError(f"no attribute {name!r}; the domain has {', '.join(self.names)}")
        return known[names] if isinstance(names, str) else Domain([known[n] for n in wanted])

    def encode(self, data: pd.DataFrame | ArrayLike) -> IntArray:
        """Replace each value by the code of its level.

        Args:
            data: A frame, whose columns are looked up by name (others are ignored), or a
                two-dimensional array with exactly the domain's columns, in its order.

        Returns:
            Codes, shape ``(n_rows, len(self))``; column ``j`` is in ``range(levels[j])``.

        Raises:
            DomainError: A column is missing or there twice, or it holds something without a
                level: a missing or infinite value, a non-number, an unknown category. The
                message names the column and no value; :meth:`outside` shows the values.
        """
        columns = _columns(data, self.names)
        codes = np.empty((len(columns[0]), len(self)), dtype=np.int64)
        for j, (attribute, column) in enumerate(zip(self, columns, strict=True)):
            codes[:, j] = attribute.codes(column)
            lowest = int(codes[:, j].min(initial=0))
            if lowest < 0:
                refusal = _REFUSALS[Problem(lowest)].format(n_levels=attribute.n_levels)
                raise DomainError(
                    f"column {attribute.name!r} {refusal}; domain.outside(data) shows the curator "
                    "what does not fit"
                )
        return codes

    def outside(self, data: pd.DataFrame | ArrayLike) -> pd.DataFrame:
        """List what has no level in the domain. NOT PRIVATE: for the data's curator only.

        The report shows raw values and exact counts, which no epsilon covers. A domain that was
        completed from it is no longer public.

        Args:
            data: As for :meth:`encode`.

        Returns:
            One row for each distinct value without a level, with the columns ``column``,
            ``problem``, ``value`` (as text) and ``rows``; no rows if everything fits.

        Raises:
            DomainError: A column is missing or there twice.
        """
        report: list[tuple[str, str, str, int]] = []
        for attribute, column in zip(self, _columns(data, self.names), strict=True):
            codes = attribute.codes(column)
            strays = column.to_numpy(dtype=object)[codes < 0]
            counts = Counter(zip(codes[codes < 0].tolist(), map(str, strays), strict=True))
            for (code, value), rows in counts.most_common():
                problem = Problem(code).name.lower().replace("_", " ")
                report.append((attribute.name, problem, value, rows))
        return pd.DataFrame(report, columns=["column", "problem", "value", "rows"])

    def to_dict(self) -> dict[str, Any]:
        """Describe the domain in lists, strings and numbers, ready for JSON or TOML."""
        return {
            "attributes": [
                {"name": attribute.name, "categories": list(attribute.categories)}
                if isinstance(attribute, Categorical)
                else {"name": attribute.name, "edges": list(attribute.edges)}
                for attribute in self
            ]
        }

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Domain:
        """Read what :meth:`to_dict` wrote.

        Raises:
            DomainError: A key is missing, unknown or of the wrong type, or its value is not
                one that an attribute accepts.
        """
        table = _table(description, "domain", "attributes")
        entries = _list(table["attributes"], "attributes")
        return cls([_attribute(entry, f"attributes[{i}]") for i, entry in enumerate(entries)])


def _check_distinct(names: Sequence[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DomainError(
            f"attribute {repeated[0]!r} occurs more than once among {', '.join(names)}"
        )


def _columns(data: pd.DataFrame | ArrayLike, names: Sequence[str]) -> list[pd.Series[Any]]:
    """The columns of these names, or all columns in order if the data has no names."""
    if isinstance(data, pd.DataFrame):
        return [_column(data, name) for name in names]
    if hasattr(data, "columns"):
        raise DomainError("data: a table with named columns must be a pandas.DataFrame; convert it")
    try:
        # Objects, because a common type of all columns would turn numbers into text, or 1 to 1.0.
        table = data if isinstance(data, np.ndarray) else np.asarray(data, dtype=object)
    except ValueError:
        raise DomainError("data: rows of different lengths") from None
    if table.ndim != 2 or table.shape[1] != len(names):
        raise DomainError(
            f"data: need {len(names)} columns, in the order {', '.join(names)}; got an array "
            f"with {table.ndim} dimensions"
            + (f" and {table.shape[1]} columns" if table.ndim == 2 else "")
        )
    return [pd.Series(table[:, j]) for j in range(len(names))]


def _column(frame: pd.DataFrame, name: str) -> pd.Series[Any]:
    places = [
        i for i, label in enumerate(frame.columns) if isinstance(label, str) and label == name
    ]
    if len(places) != 1:
        found = "is missing" if not places else "occurs more than once"
        raise DomainError(f"column {name!r} {found} in the data; the domain needs it once")
    return frame.iloc[:, places[0]]


def _attribute(entry: object, where: str) -> Attribute:
    """One attribute from its description."""
    if isinstance(entry, Mapping) and "edges" in entry:
        table = _table(entry, where, "name", "edges")
        return Binned(table["name"], _list(table["edges"], f"{where}.edges"))
    table = _table(entry, where, "name", "categories")
    return Categorical(table["name"], _list(table["categories"], f"{where}.categories"))


def _table(entry: object, where: str, *keys: str) -> Mapping[str, Any]:
    """The entry, if it is a mapping with exactly these keys."""
    if not isinstance(entry, Mapping):
        raise DomainError(f"{where}: need a table with the keys {', '.join(keys)}")
    for key in entry:
        if key not in keys:
            raise DomainError(f"{where}: unknown key {key!r}; the keys are {', '.join(keys)}")
    for key in keys:
        if key not in entry:
            raise DomainError(f"{where}: key {key!r} is missing")
    return entry


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise DomainError(f"{where}: need a list")
    return list(value)
