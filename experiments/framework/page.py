"""The page: one HTML file with all figures and tables, which needs neither network nor scripts."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.framework import styles
from experiments.framework.cells import label
from experiments.framework.experiment import Experiment, Record, Section
from experiments.framework.records import canonical, identity, load, path_of, root

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = Path(__file__).parents[1]
LISTED = 12
"""Settings with more values than that are shown by their number."""


class NothingToShowError(ValueError):
    """There are no records to make it from."""


def default_path(quick: bool) -> Path:
    """Where the page is written: the one of quick runs is not kept by git."""
    return FOLDER / ("page.quick.html" if quick else "page.html")


def write_page(experiments: Sequence[Experiment], *, quick: bool, path: Path) -> None:
    """Render all experiments from the records that are there.

    Raises:
        NothingToShowError: There are none. What stands at the path is kept.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shown = [_shown(one, quick, number) for number, one in enumerate(experiments)]
    if not any(one["done"] for one in shown):
        size = "quick" if quick else "full"
        raise NothingToShowError(
            f"no records of {size} runs: run 'python -m experiments all --{size}' first"
        )
    text = environment.get_template("page.html.j2").render(experiments=shown, quick=quick)
    whole = path.with_name(f".{path.name}.part")
    whole.write_text(text, encoding="utf-8")
    whole.replace(path)


def current(experiment: Experiment, quick: bool, path: Path | None = None) -> list[Record]:
    """The records of the configs that the experiment has now, in the configs' order."""
    order = {
        identity(experiment.name, config): place
        for place, config in enumerate(experiment.configs(quick))
    }
    found = load(path or path_of(experiment.name, quick))
    return sorted(
        (record for record in found if root(record) in order),
        key=lambda record: (order[root(record)], int(record["id"].rpartition("-")[2])),
    )


def _shown(experiment: Experiment, quick: bool, number: int) -> dict[str, Any]:
    """What the template reads of one experiment."""
    records = current(experiment, quick)
    sections = experiment.page(records) if records else []
    return {
        "name": experiment.name,
        "title": experiment.title,
        "command": f"python -m experiments.{experiment.name} --{'quick' if quick else 'full'}",
        "sections": [_section(one, f"f{number}-{i}-") for i, one in enumerate(sections)],
        "done": len({root(record) for record in records}),
        "wanted": len(experiment.configs(quick)),
        "missing": missing(experiment.name, experiment.configs(quick), records),
        "settings": settings([record["config"] for record in records]),
        "made": made(records),
    }


def _section(section: Section, prefix: str) -> dict[str, Any]:
    found: dict[str, Any] = {"title": section.title, "figures": []}
    found["caption"] = [label(part) if isinstance(part, str) else part for part in section.parts]
    for narrow in (False, True) if section.figure is not None else ():
        assert section.figure is not None
        with styles.drawing(narrow=narrow):
            drawn = svg(section.figure(), f"{prefix}{'n' if narrow else 'w'}-", section.title)
        found["figures"].append({"kind": "narrow" if narrow else "wide", "svg": drawn})
    found["columns"] = section.table.columns if section.table else []
    rows = section.table.rows if section.table else []
    found["rows"] = [[e if isinstance(e, Sequence) else (e,) for e in row] for row in rows]
    return found


def first_figure(experiment: Experiment) -> str:
    """An SVG file of the first figure, with its letters drawn: it looks the same everywhere.

    Raises:
        NothingToShowError: There is none, for want of full records perhaps.
    """
    import matplotlib

    records = current(experiment, quick=False)
    for section in experiment.page(records) if records else ():
        if section.figure is not None:
            with styles.drawing(narrow=False), matplotlib.rc_context({"svg.fonttype": "path"}):
                return _drawn(section.figure())
    raise NothingToShowError(
        f"{experiment.name}: no figure from full records; run 'python -m "
        f"experiments.{experiment.name} --full' first"
    )


def _drawn(figure: Figure) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None}, facecolor="white")
    return buffer.getvalue()


def svg(figure: Figure, prefix: str, title: str) -> str:
    """A figure as an element of a page; ``prefix`` keeps its ids apart from other figures'."""
    from markupsafe import Markup, escape

    text = _drawn(figure)
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    head, rest = text.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None, "matplotlib writes one"
    rest = re.sub(r'\bid="', f'id="{prefix}', rest)
    rest = re.sub(r'href="#', f'href="#{prefix}', rest)
    rest = re.sub(r"url\(#", f"url(#{prefix}", rest)
    return Markup(f'<svg {box.group()} role="img" aria-label="{escape(title)}">{rest}')


def settings(configs: Sequence[Any]) -> list[tuple[str, str]]:
    """Every setting of the configs, with all values that it has."""
    found: dict[str, list[str]] = {}
    for config in configs:
        for name, value in config.items():
            text = _setting(value)
            if text not in found.setdefault(name, []):
                found[name].append(text)
    return [(name, _listed(every)) for name, every in found.items()]


def missing(name: str, configs: Sequence[Any], records: Sequence[Record]) -> list[str]:
    """The configs without records, by the settings that tell configs apart."""
    done = {root(record) for record in records}
    left = [config for config in configs if identity(name, config) not in done]
    telling = _telling(configs)
    told = [
        ", ".join(f"{key} {_setting(value)}" for key, value in config.items() if key in telling)
        for config in left
    ]
    return told if len(told) <= LISTED else [*told[:LISTED], f"and {len(told) - LISTED} more"]


def _telling(configs: Sequence[Any]) -> list[str]:
    """Settings without which fewer configs could be told apart; those that come first stay."""

    def apart(keys: Sequence[str]) -> int:
        return len({canonical({k: config.get(k) for k in keys}) for config in configs})

    keys = list(dict.fromkeys(key for config in configs for key in config))
    for key in reversed(keys):
        fewer = [other for other in keys if other != key]
        if apart(fewer) == apart(keys):
            keys = fewer
    return keys


def _setting(value: Any) -> str:
    """A value as people write it: a range by its ends, and of many entries only how many."""
    if isinstance(value, dict):
        return f"{len(value)} entries (in the records)"
    if isinstance(value, list) and len(value) > 2 and value == list(range(value[0], value[-1] + 1)):
        return f"{value[0]} to {value[-1]}"
    return value if isinstance(value, str) else canonical(value)


def _listed(every: Sequence[str]) -> str:
    if len(every) <= LISTED:
        return "; ".join(every)
    return f"{len(every)} values, {every[0]} to {every[-1]}"


def made(records: Sequence[Record]) -> list[tuple[str, str]]:
    """When, on which code, with which libraries, and how long it took."""
    if not records:
        return []
    versions = {f"{k} {v}" for record in records for k, v in record["versions"].items()}
    seconds = {root(record): record["seconds"] for record in records}
    known = [s for s in seconds.values() if s is not None]
    return [
        ("records", f"{len(records)} from {len(seconds)} configs"),
        ("commit", ", ".join(dict.fromkeys(str(r["commit"])[:10] for r in records))),
        ("versions", ", ".join(sorted(versions))),
        ("dates", ", ".join(dict.fromkeys(r["date"] for r in records))),
        ("wall-clock seconds", f"{sum(known):.0f} together, known of {len(known)} configs"),
    ]
