"""The domain file: the public schema of a table in TOML, its target and classes among it.

::

    confirmed_public = true  # a person vouches for every line below

    [target]
    column = "repaid"
    classes = ["no", "yes"]  # of two the second is the positive one

    [[attributes]]
    name = "purpose"
    categories = ["car", "house", "other"]

    [[attributes]]
    name = "age"
    edges = [25, 45, 65]

The attributes are those of :meth:`oracle_dp.Domain.to_dict`. A file may be drafted from the rows
(:mod:`oracle_dp.draft`), and is then as private as they are: a draft says ``confirmed_public =
false``, and nothing but a person turns that into ``true``. The program cannot check what that
person vouches for; it refuses to go on without it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from oracle_dp._description import check_keys
from oracle_dp.domain import Categorical, Domain
from oracle_dp.errors import DomainError

CONFIRMED = "confirmed_public"

MAX_CATEGORIES = 10_000
"""Of one attribute in a file. So fine a list names people, and nothing can be learnt on it."""


@dataclass(frozen=True, slots=True)
class DomainFile:
    """What a confirmed domain file says.

    Attributes:
        domain: The public schema of the attributes.
        target: The column of the labels, if the file names one.
        classes: The public labels as the text of their cells: negative and positive, or three
            and more in the order of ties. None without a target.
    """

    domain: Domain
    target: str | None = None
    classes: tuple[str, ...] | None = None

    @classmethod
    def from_toml(cls, text: str | bytes) -> DomainFile:
        """Read a domain file that a person has confirmed.

        Raises:
            DomainError: It is not TOML, is not confirmed, or does not describe a domain. Nothing
                of an unconfirmed file is shown.
        """
        description = _parsed(text)
        # Asked first: what is wrong in a draft may be private.
        _check_confirmed(description)
        table = check_keys(description, "domain file", (CONFIRMED, "attributes"), ("target",))
        domain = Domain.from_dict({"attributes": table["attributes"]})
        for attribute in domain:
            for part in attribute.parts:
                _check_cells(part.column, part.labels if isinstance(part, Categorical) else ())
        if "target" not in table:
            return cls(domain)
        target = check_keys(table["target"], "target", ("column", "classes"))
        column, classes = target["column"], target["classes"]
        if not isinstance(column, str) or not column:
            raise DomainError("target: column must be the name of a column")
        if not isinstance(classes, list):
            raise DomainError("target: classes must be a list")
        return cls(domain, column, check_texts(classes))


def check_texts(classes: Sequence[object]) -> tuple[str, ...]:
    """Classes as they stand in the cells of a file.

    Raises:
        DomainError: One is not text, or has blanks around it.
        ParameterError: There are fewer than two, or two are the same.
    """
    from oracle_dp.estimators.labels import check_labels

    texts = [label for label in classes if isinstance(label, str)]
    if len(texts) < len(classes):
        raise DomainError("classes: need strings (write '1' for 1), as the cells of a file are")
    _check_cells("classes", texts)
    check_labels(texts)
    return tuple(texts)


def _parsed(text: str | bytes) -> Mapping[str, Any]:
    """The TOML. Its errors are told by their place alone: the text may be private."""
    place = "a place that is not text in UTF-8"
    try:
        return tomllib.loads(text if isinstance(text, str) else text.decode("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line \d+, column \d+|end of document", str(error))
        place = found.group() if found else "an unknown place"
    except UnicodeDecodeError:
        pass
    except RecursionError:
        place = "a place where it is nested too deeply"
    except ValueError:  # Python's own, of an integer of thousands of digits.
        place = "a number that is too long"
    raise DomainError(
        f"domain file: not TOML, at {place}; text needs quotes, lists need brackets and commas"
    )


def _check_confirmed(description: Mapping[str, Any]) -> None:
    if CONFIRMED not in description:
        # Shown only if it is this word misspelt: the rest may be private.
        near = get_close_matches(CONFIRMED, description, n=1, cutoff=0.8)
        meant = f" (unknown key {near[0]!r} in its place)" if near else ""
        raise DomainError(
            f"domain file: key {CONFIRMED!r} is missing{meant}; write '{CONFIRMED} = true' on its "
            "first line once every level, edge and class is known to be public"
        )
    if description[CONFIRMED] is not True:
        raise DomainError(
            f"domain file: not confirmed. Check from public knowledge, not from the rows, that "
            f"every level, edge and class is public, then write '{CONFIRMED} = true'"
        )


def _check_cells(name: str, labels: Sequence[str]) -> None:
    if len(labels) > MAX_CATEGORIES:
        raise DomainError(
            f"{name!r}: {len(labels):,} categories, more than {MAX_CATEGORIES:,}; group them, or "
            "leave the attribute out"
        )
    for text in (name, *labels):
        if text != text.strip():
            raise DomainError(
                f"{name!r}: {text!r} has blanks around it, and cells are read without them"
            )
