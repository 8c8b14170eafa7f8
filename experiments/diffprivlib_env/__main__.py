"""Make the environment: a virtual environment beside this file, and two pinned packages in it."""

from __future__ import annotations

import json
import subprocess
import venv
from pathlib import Path

from experiments.diffprivlib_env import FOLDER, MISSING, PACKAGES

RECORDS = Path(__file__).parents[1] / "records"


def main() -> None:
    """Create or renew it, and forget the records that say it is missing: they are then made."""
    venv.create(FOLDER, clear=True, with_pip=True)
    python = str(FOLDER / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    subprocess.run([python, "-c", "import diffprivlib.models"], check=True)
    for path in RECORDS.glob("adult_accuracy*.jsonl"):
        forget_missing(path)
    print(FOLDER)


def forget_missing(path: Path) -> None:
    """Drop the records of a file whose reason is the missing environment."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line).get("reason") != MISSING]
    path.write_text("".join(kept), encoding="utf-8")


if __name__ == "__main__":
    main()
