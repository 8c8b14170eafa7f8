"""What every result file says besides its records: when, on which code, with which libraries."""

from __future__ import annotations

import datetime
import json
import subprocess
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

LIBRARIES = ("oracle-dp", "numpy", "scipy")


WRITTEN = ("experiments/records", "experiments/results", "experiments/page.html")
"""What runs write themselves: it does not change the code."""


def commit() -> str | None:
    """The commit of the code, with a mark if it was changed since."""
    head = _git("rev-parse", "HEAD")
    if not head:
        return None
    without = [f":(top,exclude){path}" for path in WRITTEN]
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ":/", *without)
    return f"{head}-dirty" if changed else head


def _git(*arguments: str) -> str:
    """What git says; nothing where there is no repository."""
    found = subprocess.run(
        ["git", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent,
    )
    return found.stdout.strip()


def result(
    experiment: str,
    fields: Mapping[str, object],
    *,
    libraries: Sequence[str] = (),
    code: str | None = None,
) -> dict[str, object]:
    """One JSON-able object.

    Args:
        experiment: What was run.
        fields: What was found.
        libraries: Distributions whose version matters, beyond ``LIBRARIES``.
        code: The commit, if it was read before the run; default now.
    """
    return {
        "experiment": experiment,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "commit": code or commit(),
        "versions": {name: version(name) for name in (*LIBRARIES, *libraries)},
        **fields,
    }


def write(path: Path | None, found: Mapping[str, object]) -> None:
    """Write a result, if there is a path for it."""
    if path is not None:
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
