"""How figures look: for eyes that do not tell colours apart, and for a page 400 pixels wide.

Colours are those of Okabe and Ito (2008) without yellow, which is too pale for lines on white. No
two curves share a dash pattern or a marker, so a picture in grey can be read too. What must not be
used is dashed, grey and called by its name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h", "d", "8")
DASHES: tuple[Any, ...] = (
    "-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)), (0, (3, 1, 1, 1, 1, 1)), (0, (10, 2)),
    (0, (2, 2)), (0, (8, 2, 2, 2)), (0, (1, 2.5)), (0, (4, 1, 4, 3)), (0, (12, 2, 1, 2)),
    (0, (3, 3)), (0, (6, 1, 1, 1, 1, 1, 1, 1)), (0, (2, 1)),
)  # fmt: skip
KNOWN_BAD = {"color": "#777777", "linestyle": (0, (6, 3)), "marker": "x", "linewidth": 1.6}
"""A curve of something that is wrong; its label says so."""
REFERENCE = {"color": "#444444", "linestyle": (0, (1, 1)), "linewidth": 1.2}
"""A line without privacy; give every one a dash pattern of its own, or a label at its end."""

WIDE, NARROW = (7.0, 3.6), (4.4, 3.4)
LEGEND_ROW = 0.2
"""Inches."""
_narrow: ContextVar[bool] = ContextVar("narrow", default=False)


def curve(index: int) -> dict[str, Any]:
    """Keywords of ``Axes.plot`` for the curve of that number, from 0 to 13."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": DASHES[index],
        "marker": MARKERS[index],
        "markersize": 5,
        "linewidth": 1.6,
    }


@contextmanager
def drawing(*, narrow: bool) -> Iterator[None]:
    """Figures made inside are for a page of that width."""
    import matplotlib

    settings = {
        "font.size": 10,
        "axes.grid": True,
        "grid.color": "#dddddd",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        "legend.handlelength": 3.2,
        "svg.fonttype": "none",
        "svg.hashsalt": "oracle-dp",
    }
    token = _narrow.set(narrow)
    try:
        with matplotlib.rc_context(settings):
            yield
    finally:
        _narrow.reset(token)


def axes(panels: int = 1, *, share_y: bool = False) -> tuple[Figure, list[Axes]]:
    """A figure with some panels: side by side where there is room, else below one another."""
    from matplotlib.figure import Figure

    narrow = _narrow.get()
    width, height = NARROW if narrow else WIDE
    rows, columns = (panels, 1) if narrow else (-(-panels // 2), min(panels, 2))
    figure = Figure(
        figsize=(width, height * (1 if rows == 1 else 0.8 * rows)), layout="constrained"
    )
    grid = figure.subplots(rows, columns, squeeze=False, sharey=share_y)
    flat = list(grid.flat)
    for spare in flat[panels:]:
        spare.remove()
    return figure, flat[:panels]


def legend(figure: Figure, axis: Axes | None = None, columns: int = 3) -> None:
    """One legend below all panels, each label once; in one or two columns where it is narrow.

    The figure grows by the legend's height.
    """
    handles: dict[str, Any] = {}
    for one in figure.axes if axis is None else [axis]:
        for handle, name in zip(*one.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    longest = max((len(name) for name in handles), default=0)
    fitting = (2 if longest <= 20 else 1) if _narrow.get() else columns
    figure.set_figheight(figure.get_figheight() + LEGEND_ROW * -(-len(handles) // fitting))
    figure.legend(
        list(handles.values()), list(handles), loc="outside lower center", ncols=fitting, fontsize=9
    )


def epsilon_axis(axis: Axes, values: Sequence[float]) -> None:
    """A logarithmic axis whose ticks are the values themselves."""
    axis.set_xscale("log")
    axis.set_xticks(list(values), [f"{value:g}" for value in values])
    axis.minorticks_off()
    axis.set_xlabel("epsilon")


def powers_of_ten(axis: Axes) -> None:
    """A logarithmic horizontal axis whose ends, and labels, are powers of ten."""
    axis.set_xscale("log")
    low, high = axis.dataLim.intervalx
    margin = 1.15
    ends = 10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high))
    axis.set_xlim(ends[0] / margin, ends[1] * margin)
    axis.xaxis.set_minor_formatter("")
