"""Read a page back: its numbers, and from which records each was computed."""

from __future__ import annotations

import html.parser
from collections.abc import Mapping
from dataclasses import dataclass

from experiments.framework.cells import computed
from experiments.framework.experiment import Record


@dataclass(frozen=True)
class Shown:
    """A number on a page, as its cell describes it."""

    experiment: str
    records: tuple[str, ...]
    field: str
    how: str
    scale: float
    form: str
    text: str

    def again(self, records: Mapping[str, Record]) -> str:
        """The text that the records give now.

        Raises:
            KeyError: One of them is not there.
        """
        chosen = [records[name] for name in self.records]
        return computed(chosen, self.field, how=self.how, scale=self.scale, form=self.form)[1]


class _Reader(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.numbers: list[Shown] = []
        self.references: list[str] = []
        self._open: dict[str, str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.references += [
            value for name, value in given.items() if name.endswith(("href", "src", "srcset"))
        ]
        self.references += [f"<{tag}>"] if tag in ("script", "iframe", "object", "link") else []
        if "data-records" in given:
            self._open, self._text = given, ""

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self._text += data
        if "@import" in data or "url(" in data:
            self.references.append(data)

    def handle_endtag(self, tag: str) -> None:
        if self._open is not None and tag == "span":
            given, self._open = self._open, None
            self.numbers.append(
                Shown(
                    given["data-experiment"],
                    tuple(given["data-records"].split()),
                    given["data-field"],
                    given["data-how"],
                    float(given["data-scale"]),
                    given["data-form"],
                    self._text,
                )
            )


def numbers(page: str) -> list[Shown]:
    """All numbers of a page that were computed from records."""
    reader = _Reader()
    reader.feed(page)
    return reader.numbers


def outside(page: str) -> list[str]:
    """What a page would fetch or run: nothing, if it is self-contained."""
    reader = _Reader()
    reader.feed(page)
    return [found for found in reader.references if not found.startswith("#")]
