"""A domain in lists, strings and numbers, as it is saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from oracle_dp._attributes import Attribute, Binned, Categorical, Crossed, Single, Threshold
from oracle_dp.errors import DomainError

_KEYS = ("name", "categories", "edges", "column", "edge", "crossed")
"""Of all kinds of attribute: which kind was meant is unknown where a key is misspelt."""


def describe(attributes: Sequence[Attribute]) -> dict[str, Any]:
    """The description of a domain with these attributes."""
    return {"attributes": [_entry(attribute) for attribute in attributes]}


def attributes_of(description: object) -> list[Attribute]:
    """Inverse of :func:`describe`.

    Raises:
        DomainError: A key is missing, unknown or of the wrong type, or its value is not one that
            an attribute accepts.
    """
    table = _table(description, "domain", "attributes")
    entries = _list(table["attributes"], "attributes")
    return [_attribute(entry, f"attributes[{i}]") for i, entry in enumerate(entries)]


def _entry(attribute: Attribute) -> dict[str, Any]:
    match attribute:
        case Categorical(name=name, categories=categories):
            return {"name": name, "categories": list(categories)}
        case Binned(name=name, edges=edges):
            return {"name": name, "edges": list(edges)}
        case Threshold(column=column, edge=edge):
            return {"column": column, "edge": edge}
        case Crossed(parts=parts):
            return {"crossed": [_entry(part) for part in parts]}


def _attribute(entry: object, where: str) -> Attribute:
    """One attribute from its description."""
    if not isinstance(entry, Mapping) or "crossed" not in entry:
        return _single(entry, where)
    table = _table(entry, where, "crossed")
    parts = _list(table["crossed"], f"{where}.crossed")
    return Crossed([_single(part, f"{where}.crossed[{i}]") for i, part in enumerate(parts)])


def _single(entry: object, where: str) -> Single:
    if isinstance(entry, Mapping) and "edges" in entry:
        table = _table(entry, where, "name", "edges")
        return Binned(table["name"], _list(table["edges"], f"{where}.edges"))
    if isinstance(entry, Mapping) and "edge" in entry:
        table = _table(entry, where, "column", "edge")
        return Threshold(table["column"], table["edge"])
    table = _table(entry, where, "name", "categories")
    return Categorical(table["name"], _list(table["categories"], f"{where}.categories"))


def check_keys(
    entry: object,
    where: str,
    required: Sequence[str],
    optional: Sequence[str] = (),
    similar: Sequence[str] = (),
) -> Mapping[str, Any]:
    """The entry, if it is a mapping with these keys.

    Args:
        entry: What may be one.
        where: Its place, for messages.
        required: Keys that it must have.
        optional: Keys that it may have.
        similar: Keys that a misspelt one may also have been meant for.

    Raises:
        DomainError: It is not.
    """
    keys = (*required, *optional)
    if not isinstance(entry, Mapping):
        raise DomainError(f"{where}: need a table with the keys {', '.join(keys)}")
    for key in entry:
        if key not in keys:
            near = get_close_matches(str(key), {*keys, *similar} - {key}, n=1)
            meant = f" (did you mean {near[0]!r}?)" if near else ""
            raise DomainError(
                f"{where}: unknown key {key!r}{meant}; the keys are {', '.join(keys)}"
            )
    for key in required:
        if key not in entry:
            raise DomainError(f"{where}: key {key!r} is missing")
    return entry


def _table(entry: object, where: str, *keys: str) -> Mapping[str, Any]:
    return check_keys(entry, where, keys, similar=_KEYS)


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise DomainError(f"{where}: need a list")
    return list(value)
