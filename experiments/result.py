"""What every result file says besides its records: when, on which code, with which libraries."""

from __future__ import annotations

import datetime
import json
import subprocess
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

LIBRARIES = ("oracle-dp", "numpy", "scipy")


def commit() -> str | None:
    """The commit of the code, with a mark if it was changed since."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=40"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent,
    )
    return described.stdout.strip() or None


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
