"""Plant one fault after the other in a copy of the tree: does a test fail?

    python -m tests.mutations [--only TEXT] [--every N] [--first K] [--json FILE]

The test that fails is then run without the fault: one that fails anyway catches nothing. Prints
which test caught each fault. Exit code 0 if all were caught.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.mutations.fault import Fault
from tests.mutations.faults import FAULTS

ROOT = Path(__file__).parents[2]
COPIED = ("oracle_dp", "oracles", "experiments", "tests", "docs", "pyproject.toml", "README.md")
SECONDS = 300
NO_TESTS = 5
"""What pytest exits with where it finds none."""


def copy_tree(target: Path) -> None:
    """With times and compiled kernels, so that only what is changed is compiled again."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target / name)
        else:
            shutil.copy2(ROOT / name, target / name)


def pytest(tree: Path, tests: tuple[str, ...]) -> tuple[int, str]:
    """Exit code and output; a run that does not end counts as failed."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    # A changed file may have the old one's second of change: no compiled module may be written.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(tree)}
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True,
            timeout=SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return 1, ""
    return done.returncode, done.stdout


def planted(tree: Path, fault: Fault) -> str | None:
    """The test that fails with the fault, or None."""
    path = tree / fault.path
    original = path.read_text(encoding="utf-8")
    assert original.count(fault.old) == 1, f"{fault.name}: its place is gone"
    try:
        path.write_text(original.replace(fault.old, fault.new), encoding="utf-8")
        code, output = pytest(tree, fault.tests)
    finally:
        path.write_text(original, encoding="utf-8")
    if code == 0:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) ([^ \[\n]+)", output, re.MULTILINE)
    if failed is None:
        return None if code == NO_TESTS else f"exit code {code}"
    clean, _ = pytest(tree, (failed.group(1),))
    return None if clean else failed.group(1)


def main() -> int:
    """Run the faults that are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="faults with this text in their name")
    parser.add_argument("--every", type=int, default=1, help="every N-th fault")
    parser.add_argument("--first", type=int, default=0, help="from the K-th on, counted from 0")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    faults = [fault for fault in FAULTS if options.only in fault.name][
        options.first :: options.every
    ]
    found: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copy_tree(tree)
        for fault in faults:
            begun = time.perf_counter()
            caught = planted(tree, fault)
            seconds = round(time.perf_counter() - begun, 1)
            found.append({"fault": fault.name, "caught_by": caught, "seconds": seconds})
            print(f"{'caught  ' if caught else 'SURVIVED'} {fault.name:<58} {caught}", flush=True)
    survived = sum(entry["caught_by"] is None for entry in found)
    print(f"{len(found) - survived} of {len(found)} caught")
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
