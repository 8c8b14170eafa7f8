"""HiGHS's parsers of model files, in a process that is ended when it takes too long.

On some malformed files they run for ever, and nothing within a process can end them. A process
for every file costs 0.03 seconds (``oracles._parser_child`` says how), which is little enough
that none is kept for the next file: it would hold private coefficients, and outlive its use.

Nothing that the process answers is ever run: numbers are taken from their bytes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from oracles._highs_run import load_highspy
from oracles._parser_child import HEADER, LENGTH
from oracles.arrays import FloatArray
from oracles.errors import SolverError

_SCRIPT = Path(__file__).with_name("_parser_child.py")

_GRACE = 5.0
"""Seconds after which a process ends itself that should have been ended, its parent being dead."""


class ParserError(Exception):
    """The process did not answer; the message says what is wrong with the file."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Parsed:
    """A model as HiGHS holds it; kinds are 0 for continuous, 1 for integer, 2 for others."""

    matrix: sp.csc_array | sp.csr_array
    row_lower: FloatArray
    row_upper: FloatArray
    objective: FloatArray
    lower: FloatArray
    upper: FloatArray
    kinds: NDArray[np.uint8]
    names: list[str]
    constant: float
    maximise: bool


def parse(path: Path, *, seconds: float, memory: int) -> Parsed | list[str]:
    """Parse a file.

    Args:
        path: ``.mps`` or ``.lp``, or either with ``.gz``.
        seconds: Of wall-clock time that the process may take.
        memory: Bytes of address space that it may take, where the platform has a limit.

    Returns:
        The model, or what HiGHS remarked on it; the remarks quote the file.

    Raises:
        ParserError: The process took too long or too much memory, or crashed.
        SolverError: highspy is missing, or no process can be started.
        KeyboardInterrupt: On Ctrl-C, when the process has been ended; as anything else that a
            signal handler raises.
    """
    extension = load_highspy()._core.__file__
    command = [
        sys.executable or "",
        "-I",
        str(_SCRIPT),
        extension,
        str(seconds + _GRACE),
        str(memory),
    ]
    answer, code = _run(command, os.fsencode(path), seconds)
    fields = _fields(answer)
    if not fields or bytes(fields[0]) != b"ready":
        raise SolverError(
            f"no process to read model files in: {sys.executable} did not start HiGHS (exit code "
            f"{code}): free some memory, or install Python and highspy anew"
        )
    if bytes(fields[-1]) != b"end":
        raise ParserError(f"crashes HiGHS's parser ({_ending(code)})")
    kind, rest = bytes(fields[1]), fields[2:-1]
    if kind == b"memory":
        raise ParserError(f"needs more than {memory / 1e9:.2g} GB of memory to be read")
    return _model(rest) if kind == b"model" else [str(remark, "utf-8") for remark in rest]


def _run(command: list[str], request: bytes, seconds: float) -> tuple[bytes, int]:
    """Output and exit code of a process, which is over in any case."""
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError as error:
        raise SolverError(
            f"no process to read model files in: {sys.executable or 'Python'} cannot be started "
            f"({error.strerror}): free some memory, or allow more processes"
        ) from None
    with process:
        try:
            answer, _ = process.communicate(request, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise ParserError(
                f"is not read to its end within {round(seconds, 1):g} seconds"
            ) from None
        finally:
            process.kill()
            process.wait()
    return answer, process.returncode


def _fields(answer: bytes) -> list[memoryview]:
    """The whole fields of an answer that may have been cut off."""
    view, at = memoryview(answer), 0
    fields = []
    while at + LENGTH.size <= len(view):
        (length,) = LENGTH.unpack_from(view, at)
        at += LENGTH.size
        if at + length > len(view):
            break
        fields.append(view[at : at + length])
        at += length
    return fields


def _ending(code: int) -> str:
    names = {-known.value: known.name for known in signal.Signals}
    return names.get(code, f"exit code {code}")


def _model(fields: list[memoryview]) -> Parsed:
    n, m, columnwise, maximise, constant = HEADER.unpack(fields[0])
    start, index = (np.frombuffer(field, np.int64) for field in fields[1:3])
    value, row_lower, row_upper, objective, lower, upper = (
        np.frombuffer(field, np.float64) for field in fields[3:9]
    )
    lengths = np.frombuffer(fields[10], np.int64).tolist()
    joined, ends = str(fields[11], "utf-8"), accumulate(lengths)
    compressed: Any = sp.csc_array if columnwise else sp.csr_array
    return Parsed(
        matrix=compressed((value, index, start), shape=(m, n)),
        row_lower=row_lower,
        row_upper=row_upper,
        objective=objective,
        lower=lower,
        upper=upper,
        kinds=np.frombuffer(fields[9], np.uint8),
        names=[joined[end - length : end] for length, end in zip(lengths, ends, strict=True)],
        constant=constant,
        maximise=maximise,
    )
