"""Running the command, and what most of its tests share."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from oracle_dp import Binned, Categorical, Domain, Guarantee, Neighbors, ScoringCard
from oracle_dp.cli import app
from oracles import Certificate

ROOT = Path(__file__).parents[3]
COMMAND = (sys.executable, "-m", "oracle_dp.cli")

GUARANTEE = Guarantee(
    mechanism="opdisc",
    theorem="a theorem",
    neighbors=Neighbors.REPLACE,
    epsilon=1.0,
    delta=0.0,
    rho=0.5,
    sensitivity=2.0,
    sensitivity_source="proved",
    certificate=Certificate.EXACT,
    contingencies=(),
)
DOMAIN = Domain([Categorical("sex", ("Female", "Male", "")), Binned("age", (30, 40.5))])
CARD = ScoringCard(DOMAIN, ((0, 1, 0), (-1, 0, 2)), ("no", "yes"))
CANARY = "c4n4ry"
NUMBER = "739154.25"
"""Another canary, for columns of numbers."""


def run(*words: str, stdin: str | bytes | None = None) -> Result:
    """The command in this process."""
    return CliRunner().invoke(app, words, input=stdin)


def started(*words: str, **rest: Any) -> subprocess.CompletedProcess[str]:
    """This checkout's command in a process of its own."""
    return subprocess.run(
        [*COMMAND, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **rest,
    )


def refused(result: Result, *parts: str, code: int = 1) -> None:
    """One line on stderr with these parts, nothing on stdout, no traceback."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert result.stderr.startswith("oracle-dp: ")
    assert result.stderr.count("\n") == 1
    for part in parts:
        assert part in result.stderr
    told = result.output + "".join(behind(result.exception))
    assert CANARY not in told
    assert NUMBER not in told


def behind(error: BaseException | None) -> list[str]:
    """All that an exception holds, and all that it was raised from or during."""
    if error is None:
        return []
    held = [repr(error), repr(error.args), repr(vars(error))]
    return held + behind(error.__cause__) + behind(error.__context__)


DOMAIN_FILE = """\
confirmed_public = true

[target]
column = "repaid"
classes = ["no", "yes"]

[[attributes]]
name = "purpose"
categories = ["car", "house", ""]

[[attributes]]
name = "age"
edges = [25, 45.5]
"""
# Repaid if and only if for a house, at every age: so the best card predicts just that.
LOANS = "age,purpose,note,repaid\n" + "".join(
    f"{age},{purpose},{i},{'yes' if purpose == 'house' else 'no'}\n"
    for i, (age, purpose) in enumerate([*product((20, 30, 60), ("car", "house", ""))] * 5)
)


def own(folder: Path, rows: str | bytes = LOANS, domain: str | bytes = DOMAIN_FILE) -> list[str]:
    """Files in a folder, and the words that train on them."""
    for name, text in (("rows.csv", rows), ("domain.toml", domain)):
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return ["train", str(folder / "rows.csv"), "--domain", str(folder / "domain.toml")]
