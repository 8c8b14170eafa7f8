"""What ends a worker in mid-run. Little is imported: workers import it each time they start."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oracles import Solution
from oracles.arrays import FloatArray
from oracles.convex.perturbed import BallProblem


def mark_in(folder: Path) -> Path:
    """Where a death is noted; its name says which process is the tests' own."""
    return folder / f"died.{os.getpid()}"


def die_once(mark: str) -> None:
    """End this process, unless it is the tests' own or one has died before."""
    if Path(mark).suffix != f".{os.getpid()}" and not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True, eq=False)
class DeadlyProblem(BallProblem):
    """A problem one of whose tilts ends the worker that solves it, once."""

    mark: str = ""
    tilt: float = 0.0

    def minimize(self, tilt: FloatArray) -> Solution[FloatArray]:
        if tilt[0] == self.tilt:
            die_once(self.mark)
        return super().minimize(tilt)


@dataclass(frozen=True)
class DeadlyFunction:
    """A part's function that ends its worker once."""

    function: Any
    mark: str

    def __call__(self, pieces: Iterable[Any], given: Any) -> Any:
        die_once(self.mark)
        return self.function(pieces, given)
