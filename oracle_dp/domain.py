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

from oracle_dp._attributes import (
    Attribute,
    Binned,
    Categorical,
    Crossed,
    Single,
    Threshold,
)
from oracle_dp._columns import read_columns
from oracle_dp._description import attributes_of, describe
from oracle_dp._single import IntArray, Problem
from oracle_dp.errors import DomainError

__all__ = ["Attribute", "Binned", "Categorical", "Crossed", "Domain", "Threshold"]


@dataclass(frozen=True)
class Domain:
    """The public schema of a table: its attributes, in order.

    Iterating gives the attributes; ``domain["sex"]`` is one of them, and
    ``domain[["education", "sex"]]`` the domain of these two, in this order.

    Args:
        attributes: At least one, with distinct names. Several may read the same column: all of
            them as numbers, or all as categories.

    Raises:
        DomainError: There is no attribute, two share a name, or a column is read in both ways.
    """

    attributes: tuple[Attribute, ...]

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        members = tuple(attributes)
        if not members:
            raise DomainError("attributes: a domain needs at least one")
        if not all(isinstance(member, Attribute) for member in members):
            raise DomainError(
                "attributes: each must be a Categorical, a Binned, a Threshold or a Crossed"
            )
        object.__setattr__(self, "attributes", members)
        _check_distinct(self.names)
        _check_kinds(self._singles)

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names, in order."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def levels(self) -> tuple[int, ...]:
        """The attributes' numbers of levels, in order."""
        return tuple(attribute.n_levels for attribute in self.attributes)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the attributes read, each once, by first mention."""
        return tuple(dict.fromkeys(single.column for single in self._singles))

    @property
    def numeric_columns(self) -> tuple[str, ...]:
        """Those of the columns that must hold numbers."""
        numbers = {single.column for single in self._singles if _is_numeric(single)}
        return tuple(column for column in self.columns if column in numbers)

    @property
    def _singles(self) -> list[Single]:
        return [part for attribute in self for part in attribute.parts]

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

    def thermometer(self, *names: str) -> Domain:
        """The domain with binned attributes replaced by one :class:`Threshold` per edge.

        A scoring card can then say "age >= 35: +1" and "age >= 55: +1", where a ``Binned`` has
        points of its own for each bin. The thresholds stand in the place of the attribute, in
        the order of its edges, and read its column. Every edge counts as an attribute of two
        levels, also where a mechanism's noise grows with their number or with that of all
        combinations of levels, even those that no number has.

        Args:
            names: Binned attributes, at least one.

        Raises:
            DomainError: A name is missing, not in the domain, or not that of a ``Binned``.
        """
        chosen = self[names]
        for attribute in chosen:
            if not isinstance(attribute, Binned):
                raise DomainError(
                    f"thermometer: {attribute.name!r} is not binned; only numbers have thresholds"
                )
        attributes: list[Attribute] = []
        for attribute in self:
            if isinstance(attribute, Binned) and attribute in chosen:
                attributes += [Threshold(attribute.name, edge) for edge in attribute.edges]
            else:
                attributes.append(attribute)
        return Domain(attributes)

    def crossed(self, *names: str) -> Domain:
        """The domain with several attributes as one, a :class:`Crossed`, for their interaction.

        It stands in the place of the first and the others leave, since its levels tell apart all
        that theirs do. To keep them beside it: ``Domain([*domain, Crossed([...])])``.

        Args:
            names: At least two, of different columns. They give the order of the labels'
                parts; the first one *named* gives the place.

        Raises:
            DomainError: There are fewer, one is not in the domain, two read the same column, or
                there are more than a million combinations.
        """
        first, *rest = chosen = self[names].attributes
        pair = Crossed(chosen)
        return Domain([pair if a == first else a for a in self if a not in rest])

    def encode(self, data: pd.DataFrame | ArrayLike) -> IntArray:
        """Replace each value by the code of its level.

        Args:
            data: A frame, whose columns are looked up by name (others are ignored), or a
                two-dimensional array with exactly the domain's ``columns``, in their order.

        Returns:
            Codes, shape ``(n_rows, len(self))``; column ``j`` is in ``range(levels[j])``.

        Raises:
            DomainError: A column is missing or there twice, or it holds something without a
                level: a missing or infinite value, a non-number, an unknown category. The
                message names the column and no value; :meth:`outside` shows the values.
        """
        columns = read_columns(data, self.columns)
        n_rows = len(columns[self.columns[0]])
        codes = np.zeros((n_rows, len(self)), dtype=np.int64)
        for j, attribute in enumerate(self):
            for part in attribute.parts:
                code = part.codes(columns[part.column])
                _check_levels(part, code)
                codes[:, j] = codes[:, j] * part.n_levels + code
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
        # Attributes of one column find the same: a value is listed once.
        report: dict[tuple[str, str, str], int] = {}
        columns = read_columns(data, self.columns)
        for single in self._singles:
            column = columns[single.column]
            codes = single.codes(column)
            strays = column.to_numpy(dtype=object)[codes < 0]
            counts = Counter(zip(codes[codes < 0].tolist(), map(str, strays), strict=True))
            for (code, value), rows in counts.most_common():
                problem = Problem(code).name.lower().replace("_", " ")
                report[single.column, problem, value] = rows
        return pd.DataFrame(
            [(*found, rows) for found, rows in report.items()],
            columns=["column", "problem", "value", "rows"],
        )

    def to_dict(self) -> dict[str, Any]:
        """Describe the domain in lists, strings and numbers, ready for JSON or TOML."""
        return describe(self.attributes)

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Domain:
        """Read what :meth:`to_dict` wrote.

        Raises:
            DomainError: A key is missing, unknown or of the wrong type, or its value is not
                one that an attribute accepts.
        """
        return cls(attributes_of(description))


def _check_distinct(names: Sequence[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DomainError(
            f"attribute {repeated[0]!r} occurs more than once among {', '.join(names)}"
        )


def _is_numeric(single: Single) -> bool:
    return isinstance(single, Binned | Threshold)


def _check_kinds(singles: Sequence[Single]) -> None:
    """No column is both text and number: where all is text, as in a CSV file, it could not be."""
    kinds: dict[str, bool] = {}
    for single in singles:
        if kinds.setdefault(single.column, _is_numeric(single)) != _is_numeric(single):
            raise DomainError(
                f"column {single.column!r} is read both as numbers and as categories; give one of "
                "the two a column of its own"
            )


def _check_levels(single: Single, codes: IntArray) -> None:
    """Refuse codes that are a ``Problem``."""
    lowest = int(codes.min(initial=0))
    if lowest < 0:
        refusal = single.refusal(lowest)
        raise DomainError(
            f"column {single.column!r} {refusal}; domain.outside(data) shows the curator what does "
            "not fit"
        )
