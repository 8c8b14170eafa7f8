"""Model files: read by HiGHS, and refused wherever HiGHS would guess or drop something.

HiGHS parses; it also ignores entries with a warning, reads ``2abc`` as 2, minimises under
``OBJSENSE MAXIMIZE`` on one line, and invents a variable for a misspelt name in BOUNDS. A program
that is almost the one in the file is worse than none, so a file is refused when HiGHS warns, and
is scanned here as well.

HiGHS's parsers may also run for ever, or crash, on a malformed file. What is known to do so is
refused beforehand; and they run in a process that is ended after ``READ_SECONDS`` and
``READ_SECONDS_PER_MEGABYTE``, and has no more memory than ``READ_BYTES`` and
``READ_BYTES_PER_BYTE``. Set these on this module where a good file needs more. The process costs
0.03 seconds per file; one that cannot be started is a ``SolverError``.

No message quotes the file: its coefficients may be private. A line number is given where there
is one.

Conventions, where readers differ:

- MPS: the sense is that of OBJSENSE, or of the comment ``*SENSE:`` that PuLP writes. An entry on
  the objective row in RHS is *minus* the constant. An integer variable without any bound has
  bounds 0 and 1; with some bound its others are 0 and infinity. A negative upper bound does not
  lower a lower bound of 0: the file is refused for crossed bounds. Free rows other than the
  first are left out. What follows ENDATA is not read.
- LP: a variable in the section Binary has bounds 0 and 1, or is fixed to one of them.
- Both: magnitudes of bounds and sides from 1e20 on are infinite.
"""

from __future__ import annotations

import gzip
import math
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from oracles._parser import Parsed, ParserError, parse
from oracles.errors import ModelFileError, ProblemError
from oracles.problem import IntegerProgram

READ_SECONDS = 10.0
"""Wall-clock seconds that HiGHS's parser may take for any file; finite."""

READ_SECONDS_PER_MEGABYTE = 2.0
"""Further seconds for each 10^6 characters of text; HiGHS 1.16 needs 0.02 to 0.1."""

READ_BYTES = 2**30
"""Memory that the parser's process may take for any file (Linux; macOS where it lets one ask)."""

READ_BYTES_PER_BYTE = 64
"""Further memory for each character of text; HiGHS 1.16 needs 3 to 20."""

_REMEDY = (
    "malformed files may do that, so write it anew with the program that made it, or in the other "
    "format (.mps, .lp); for a good file, raise READ_SECONDS and READ_BYTES of oracles.files"
)

_REASONS = {
    "not defined": "refers to a row that is not declared",
    "not in ROWS": "refers to a row that is not declared",
    "uplicate": "gives an entry twice: keep one of them",
    "more than once": "names a variable twice in one row: add the coefficients up",
    "same name": "gives two rows or two variables the same name: rename one",
    "SOS": "has special ordered sets, which an IntegerProgram cannot express",
    "uadratic": "has quadratic terms, which an IntegerProgram cannot express",
    "ndicator": "has indicator constraints: write them with a bound on the row (big M)",
    "found end of file": "is truncated: its end is missing",
    "No bound given": "is truncated, or a line has no value",
    "constant on the left": "has a constant left of a comparison: move it to the right",
    "tolerance": "has coefficients too small or too large for HiGHS: rescale their rows",
    "with spaces": "has names with spaces, or lines of the wrong form: rename or repair them",
}
"""What HiGHS's messages contain, and what is wrong then. The messages quote the file."""

_SECTIONS = frozenset(
    # The quadratic ones are refused with a reason of their own, after reading.
    ("NAME", "OBJSENSE", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "QUADOBJ", "QMATRIX")
)
_SENSES = {
    **dict.fromkeys(("MIN", "MINIMIZE", "MINIMISE"), False),
    **dict.fromkeys(("MAX", "MAXIMIZE", "MAXIMISE"), True),
}
_FEWEST = {"ROWS": 2, "COLUMNS": 3, "RHS": 2, "RANGES": 2, "BOUNDS": 2}
"""Fields of a line."""
_BOUNDS_WITHOUT_VALUE = frozenset(("FR", "MI", "PL", "BV"))
_LP_SECTION = re.compile(
    r"(?i)bounds?|gen(erals?)?|int(egers?)?|bin(ary|aries)?|semi.*|sec|sin|sos\d?|end"
)
"""The sections that may follow the rows."""


def read_model(path: str | Path, suffix: str) -> IntegerProgram:
    """Read a model file.

    Args:
        path: The file; its name ends in ``suffix`` or ``suffix + ".gz"``.
        suffix: ``.mps`` or ``.lp``.

    Returns:
        The program, to be minimised: a maximisation is negated, and ``negated`` says so.

    Raises:
        ModelFileError: The file cannot be read, is malformed or truncated, holds what an
            :class:`IntegerProgram` cannot express, or makes HiGHS's parser hang or crash.
        SolverError: highspy is missing, or no process can be started for the parser.
    """
    path = Path(path)
    text = _text(path, suffix)
    if not text.strip():
        raise ModelFileError(f"{path.name}: the file is empty")
    if suffix == ".mps":
        maximise = _scan_mps(path.name, text)
        return _program(path.name, _parse(path, text), maximise)
    model = _parse(path, text)
    program = _program(path.name, model, model.maximise)
    _scan_lp(path.name, text, program)
    return program


def _text(path: Path, suffix: str) -> str:
    name = path.name
    if not name.endswith((suffix, f"{suffix}.gz")):
        raise ModelFileError(f"{name}: a name ending in {suffix} or {suffix}.gz is expected")
    try:
        if path.is_fifo() or path.is_char_device():
            # It may wait, or give, for ever, and is read twice.
            raise ModelFileError(f"{name}: is a pipe or a device: write it to a file first")
        content = path.read_bytes()
        if name.endswith(".gz"):
            content = gzip.decompress(content)
        return content.decode("utf-8")
    except FileNotFoundError:
        raise ModelFileError(f"{name}: there is no such file in {path.parent}") from None
    except IsADirectoryError:
        raise ModelFileError(f"{name}: is a directory, not a file") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise ModelFileError(f"{name}: the compressed file is damaged: fetch it again") from None
    except UnicodeDecodeError:
        raise ModelFileError(f"{name}: is not UTF-8 text: convert it first") from None
    except OSError as error:
        raise ModelFileError(f"{name}: cannot be read ({error.strerror})") from None


def _parse(path: Path, text: str) -> Parsed:
    """The model as HiGHS holds it, provided that HiGHS had nothing to remark."""
    size = len(text)
    try:
        found = parse(
            path,
            seconds=READ_SECONDS + READ_SECONDS_PER_MEGABYTE * size / 1e6,
            memory=int(READ_BYTES + READ_BYTES_PER_BYTE * size),
        )
    except ParserError as error:
        raise ModelFileError(f"{path.name}: {error}: {_REMEDY}") from None
    if isinstance(found, list):
        raise ModelFileError(f"{path.name}: {_reason(found)}")
    return found


def _reason(remarks: list[str]) -> str:
    found = [
        reason for part, reason in _REASONS.items() if any(part in remark for remark in remarks)
    ]
    reason = found[0] if found else "is not a well-formed model file"
    line = re.search(r"--> .*:(\d+):\d+", "\n".join(remarks))
    return f"{reason} (line {line.group(1)})" if line else reason


def _program(name: str, model: Parsed, negated: bool) -> IntegerProgram:
    if (model.kinds > 1).any():
        raise ModelFileError(
            f"{name}: has semi-continuous or semi-integer variables, "
            "which an IntegerProgram cannot express: add a binary variable for each"
        )
    n = len(model.objective)
    if n == 0:
        raise ModelFileError(f"{name}: holds no variables")
    sign = -1.0 if negated else 1.0
    try:
        return IntegerProgram(
            sign * model.objective + 0.0,
            model.matrix,
            model.row_lower,
            model.row_upper,
            lower=model.lower,
            upper=model.upper,
            integer=model.kinds == 1 if len(model.kinds) else np.zeros(n, dtype=bool),
            constant=sign * model.constant + 0.0,
            names=model.names,
            negated=negated,
        )
    except ProblemError as error:
        raise ModelFileError(f"{name}: {error}") from None


# -- what HiGHS does not notice ------------------------------------------------------------------


def _scan_mps(name: str, text: str) -> bool:
    """Refuse what HiGHS's MPS reader passes over in silence; whether to maximise."""
    columns: set[str] = set()
    senses: set[str] = set()
    section = ""
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.split()
        if line.upper().startswith("*SENSE:"):
            senses.add(line[len("*SENSE:") :].strip().upper())
        if not fields and section not in ("", "NAME"):
            # Where HiGHS 1.16 falls back to fixed columns, it reads an empty line for ever.
            raise ModelFileError(f"{name}: line {number} is empty: take empty lines out")
        if not fields or line.startswith("*"):
            continue
        if not line[0].isspace():
            section = fields.pop(0).upper()
            if section == "ENDATA":
                if fields:  # HiGHS 1.16 reads on, where it may not come to an end.
                    raise ModelFileError(f"{name}: ENDATA stands alone in its line, not {number}")
                return _is_maximisation(name, senses)
            if section not in _SECTIONS:
                raise ModelFileError(f"{name}: unsupported section in line {number}")
        elif section in ("", "NAME"):
            # HiGHS 1.16 may take it for a line of another section, and read on for ever.
            raise ModelFileError(f"{name}: line {number} stands in no section")
        elif len(fields) < _FEWEST.get(section, 0):
            # HiGHS 1.16 reads a line of COLUMNS with one field for ever.
            raise ModelFileError(f"{name}: line {number} has too few fields")
        elif section == "ROWS" and fields[0].upper() not in ("N", "L", "G", "E"):
            raise ModelFileError(f"{name}: line {number} states no kind of row (N, L, G or E)")
        elif section == "COLUMNS" and "'MARKER'" not in fields:
            columns.add(fields[0])
        elif section == "BOUNDS" and not columns.intersection(fields[1:]):
            raise ModelFileError(f"{name}: line {number} bounds a variable not in COLUMNS")
        if section == "OBJSENSE":
            senses.update(field.upper() for field in fields)
        elif line[0].isspace() and not all(map(_is_number, _mps_values(section, fields))):
            raise ModelFileError(f"{name}: a number is expected in line {number}")
    raise ModelFileError(f"{name}: is truncated: there is no ENDATA")


def _is_maximisation(name: str, senses: set[str]) -> bool:
    stated = {_SENSES.get(sense) for sense in senses} or {False}
    if None in stated or len(stated) > 1:
        raise ModelFileError(f"{name}: states no clear sense: write MIN or MAX below OBJSENSE")
    return bool(stated.pop())


def _mps_values(section: str, fields: list[str]) -> Iterator[str]:
    """The fields of a line that must be numbers."""
    if section in ("RHS", "RANGES") or (section == "COLUMNS" and "'MARKER'" not in fields):
        # (name of a set,) row, value(, row, value): the name may be missing.
        yield from fields[1 + len(fields) % 2 :: 2]
    if section == "BOUNDS" and fields[0].upper() not in _BOUNDS_WITHOUT_VALUE:
        yield fields[-1]


def _is_number(field: str) -> bool:
    try:
        return not math.isnan(float(field)) and "_" not in field
    except ValueError:
        return False


def _scan_lp(name: str, text: str, program: IntegerProgram) -> None:
    """Refuse what HiGHS's LP reader passes over in silence.

    A bound overrides that a variable is declared binary, and a name that occurs only in Bounds
    or General becomes a new variable.
    """
    head: list[str] = []
    binaries: set[str] = set()
    section = ""
    for line in text.splitlines():
        statement = line.split("\\")[0].strip()
        if _LP_SECTION.fullmatch(statement):
            section = statement.lower()
        elif not section:
            head.append(statement)
        elif section.startswith("bin"):
            binaries.update(statement.split())
    rows = "\n".join(head)
    entries = np.diff(sp.csc_array(program.matrix).indptr)
    for j, variable in enumerate(program.names):
        if variable in binaries and not 0 <= program.lower[j] <= program.upper[j] <= 1:
            raise ModelFileError(f"{name}: variable {variable!r} is binary and has other bounds")
        if entries[j] == 0 and program.objective[j] == 0 and variable not in rows:
            raise ModelFileError(f"{name}: variable {variable!r} has bounds or a type but no use")
