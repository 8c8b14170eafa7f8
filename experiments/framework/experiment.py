"""What an experiment is: configs, a pure function from a config to records, and a page of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from experiments.framework.cells import Cell, Table

Config = Mapping[str, Any]
"""Whatever JSON can hold; all seeds are in it."""
Record = dict[str, Any]


class NotAvailableError(Exception):
    """A config cannot be run here: what is missing, and how to get it. The others are run."""


@dataclass(frozen=True)
class Section:
    """A heading with a figure, a table or both.

    Attributes:
        title: Heading.
        caption: Plain text, honest: what each curve's delta is, what was not reached, what is not
            private about the tuning. In parts where it has numbers of records, which are cells.
        figure: Draws the figure, at the size that :mod:`experiments.framework.styles` is set to;
            it is called once for every width.
        table: Every number in it can be traced to records.
    """

    title: str
    caption: str | Sequence[str | Cell]
    figure: Callable[[], Figure] | None = None
    table: Table | None = None

    @property
    def parts(self) -> Sequence[str | Cell]:
        """Of the caption."""
        return [self.caption] if isinstance(self.caption, str) else self.caption

    @property
    def words(self) -> str:
        """The caption as it is read."""
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)


@dataclass(frozen=True)
class Experiment:
    """One or more tables and figures that are made from the same records.

    Attributes:
        name: The module's name in ``experiments``; its records are in
            ``experiments/records/<name>.jsonl``.
        title: Heading on the page.
        configs: ``configs(quick)``: every unit of work, some seconds each.
        run: Pure: the same config gives the same records, but for what a clock measured. Raises
            :class:`NotAvailableError` where data or an environment are missing.
        page: What the page shows of the records, which come in the order of their configs.
        alone: Seconds are compared: in a full run nothing else runs beside it.
    """

    name: str
    title: str
    configs: Callable[[bool], Sequence[Config]]
    run: Callable[[Config], list[Record]]
    page: Callable[[Sequence[Record]], Sequence[Section]]
    alone: bool = False
