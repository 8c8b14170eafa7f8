"""Write the measured tables of docs/logistic.md anew, from the records.

    python -m experiments.second_order_docs

What stands between the two marks there is made here, and a test compares it with the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.framework import Cell, Record, Section, Table
from experiments.framework.page import current
from experiments.second_order_time import EXPERIMENT

DOCUMENT = Path(__file__).parents[1] / "docs" / "logistic.md"
BEGIN, END = "<!-- experiments.second_order_docs: begin -->", "<!-- end -->"
SHOWN = ("Table 1", "Figure 2")
"""Sections of the page whose tables are in the document."""


def render(records: Sequence[Record]) -> str:
    """The tables in Markdown, each under its title."""
    sections = [s for s in EXPERIMENT.page(records) if s.title.startswith(SHOWN)]
    return "".join(f"\n{_title(section)}:\n\n{_markdown(section.table)}" for section in sections)


def replaced(text: str, tables: str) -> str:
    """The document with these tables between its marks.

    Raises:
        ValueError: A mark is missing.
    """
    head, tail = text.index(BEGIN) + len(BEGIN), text.index(END)
    return f"{text[:head]}\n{tables}\n{text[tail:]}"


def _title(section: Section) -> str:
    title = section.title.partition(": ")[2]
    return title[:1].upper() + title[1:]


def _markdown(table: Table | None) -> str:
    if table is None:
        return ""
    lines = [list(table.columns), ["---"] * len(table.columns)]
    for row in table.rows:
        entries = [(entry,) if isinstance(entry, Cell) else entry for entry in row]
        lines.append([" ".join(cell.text for cell in entry) for entry in entries])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def main() -> None:
    """Rewrite the document."""
    text = DOCUMENT.read_text(encoding="utf-8")
    tables = render(current(EXPERIMENT, quick=False))
    DOCUMENT.write_text(replaced(text, tables), encoding="utf-8")


if __name__ == "__main__":
    main()
