"""Processes that charge a ledger's file and are killed: run as a script for many kills.

python tests/oracle_dp/ledger_killed.py 200
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from oracle_dp import Budget, Charge, Ledger, Neighbors, OverspendError
from oracle_dp.ledger_file import DurableLedger

UNIT = Fraction(1, 10_000)
ROOT = Path(__file__).parents[2]


def charge() -> Charge:
    return Charge(
        dataset="survey",
        mechanism="test",
        epsilon=UNIT,
        delta=Fraction(0),
        neighbors=Neighbors.REPLACE,
    )


@dataclass
class Outcome:
    """Over all kills."""

    acknowledged: int = 0
    lost: int = 0
    beyond: int = 0
    interrupted: int = 0


def start(path: Path, mode: str, times: int) -> subprocess.Popen[bytes]:
    """A process that charges ``times`` times and writes a byte for each charge it was granted."""
    return subprocess.Popen(
        [sys.executable, __file__, "--work", str(path), mode, str(times)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def work(path: Path, mode: str, times: int) -> None:
    ledger = Ledger.open(path)
    for _ in range(times):
        if mode == "early":  # What must not be done, for a test of the test.
            os.write(1, b".")
        try:
            ledger.charge(charge())
        except OverspendError:
            continue
        if mode != "early":
            os.write(1, b".")


def kill_many(kills: int, folder: Path, *, mode: str = "late", seed: int = 0) -> Outcome:
    """Kill a process that charges, at a random moment, again and again on one file."""
    rng = random.Random(seed)
    path = folder / f"{mode}.ledger"
    ledger = Ledger.create(path, {"survey": Budget(epsilon=10**6)})
    outcome, before = Outcome(), 0
    for _ in range(kills):
        process = start(path, mode, 10**6)
        assert process.stdout is not None
        granted = len(process.stdout.read(1))
        time.sleep(rng.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        granted += len(process.stdout.read())
        process.stdout.close()
        process.wait()
        outcome.interrupted += Path(f"{path}-journal").exists()
        # Opening it again checks the whole file.
        after = len(DurableLedger(path).charges)
        outcome.acknowledged += granted
        outcome.lost += max(0, granted - (after - before))
        outcome.beyond += max(0, (after - before) - granted)
        assert ledger.spent("survey") == (after * UNIT, 0)
        before = after
    return outcome


def main() -> None:
    if sys.argv[1] == "--work":
        work(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
        return
    with tempfile.TemporaryDirectory() as folder:
        print(kill_many(int(sys.argv[1]), Path(folder)))


if __name__ == "__main__":
    main()
