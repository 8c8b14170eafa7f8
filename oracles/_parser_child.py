"""Parse one model file with HiGHS: a script, which ``oracles._parser`` runs as a process.

It ends by itself when its time is over, even if nobody waits for it any more. It imports neither
NumPy nor this package, which would take ten times as long as the rest of its start.

Arguments: the extension module of highspy, seconds, bytes of memory. Standard input: the path.
Standard output: fields, each with its length before it in eight bytes.

- ``ready``, when HiGHS is loaded;
- ``model`` and what :func:`model_fields` lists, or ``remarks`` and HiGHS's remarks, or ``memory``
  if there was not enough;
- ``end``.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import struct
import sys
from array import array
from importlib.machinery import ExtensionFileLoader, ModuleSpec

TYPE_CHECKING = False
if TYPE_CHECKING:  # Not typing's, whose import is a tenth of the whole time.
    from collections.abc import Callable, Iterable
    from typing import Any, BinaryIO, NoReturn

    Fields = list[bytes | array[Any]]

LENGTH = struct.Struct("<Q")
HEADER = struct.Struct("<qq??d")
"""Columns, rows, whether the matrix is stored by columns, whether to maximise, the constant."""

_HOPELESS = "switching to fixed format"
"""What HiGHS says before it starts its parser of fixed MPS files. The file is refused for that
remark in any case, and all files known to hang or to crash HiGHS 1.16 do so in this parser."""


def main() -> None:
    """Answer the one request."""
    # Ctrl-C is the parent's to hear, which ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    extension, seconds, memory = sys.argv[1:]
    faulthandler.dump_traceback_later(float(seconds), exit=True)
    out = _take_standard_output()
    path = sys.stdin.buffer.read()
    core = _load(extension)
    _write(out, [b"ready"])
    limit_memory(int(memory))

    def finish(fields: Fields) -> NoReturn:
        _write(out, [*fields, b"end"])
        # Without destructors: they take their time, and cannot matter any more.
        os._exit(0)

    try:
        fields = answer(core, path, finish)
    except MemoryError:
        fields = [b"memory"]
    finish(fields)


def _take_standard_output() -> BinaryIO:
    """Standard output, to which from now on nothing else can write: HiGHS prints at times."""
    out = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return out


def _load(extension: str) -> Any:
    """The extension alone: ``import highspy`` imports NumPy as well."""
    loader = ExtensionFileLoader("highspy._core", extension)
    spec = ModuleSpec(loader.name, loader, origin=extension)
    core = loader.create_module(spec)
    core.__spec__ = spec
    loader.exec_module(core)
    return core


def _write(out: BinaryIO, fields: Iterable[bytes | array[Any]]) -> None:
    for field in fields:
        view = memoryview(field).cast("B")
        out.write(LENGTH.pack(len(view)))
        out.write(view)
    out.flush()


def limit_memory(size: int) -> None:
    """Bound this process's memory, where the platform can; and leave no copy of it on the disk."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for kind, limit in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, size)):
        _, hard = resource.getrlimit(kind)
        soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        try:
            resource.setrlimit(kind, (soft, hard))
        except (ValueError, OSError):  # macOS may refuse; the limit on time holds.
            continue


def answer(core: Any, path: bytes, finish: Callable[[Fields], NoReturn]) -> Fields:
    """The fields between ``ready`` and ``end``.

    Args:
        core: ``highspy._core``.
        path: The model file.
        finish: Given fields, ends this process with them at once, out of the parser.

    Raises:
        MemoryError: There is not enough.
    """
    remarks: list[str] = []
    noted = (core.HighsLogType.kWarning, core.HighsLogType.kError)

    def note(_kind: Any, message: str, out: Any, _reply: Any, _data: Any) -> None:
        if out.log_type in noted:
            remarks.append(message)
        if _HOPELESS in message:
            finish(_refusal(remarks))

    highs = core._Highs()
    highs.setOptionValue("log_to_console", False)
    highs.setOptionValue("small_matrix_value", 1e-12)
    highs.setCallback(note, None)
    highs.startCallback(core.cb.HighsCallbackType.kCallbackLogging)
    try:
        status = highs.readModel(path)
        highs.setCallback(None, None)
        if not remarks and status == core.HighsStatus.kOk:
            if highs.getHessianNumNz() == 0:
                return [b"model", *model_fields(core, highs)]
            remarks.append("quadratic terms")
    except UnicodeDecodeError:
        # Some of HiGHS's warnings print memory that is not text, and names may be cut in two.
        remarks.append("")
    return _refusal(remarks)


def _refusal(remarks: list[str]) -> Fields:
    return [b"remarks", *(remark.encode("utf-8", "replace") for remark in remarks)]


def model_fields(core: Any, highs: Any) -> Fields:
    """The model that HiGHS holds.

    Returns:
        The header; starts, indices and entries of the matrix; bounds of the rows; objective,
        bounds and kinds of the columns (0 continuous, 1 integer, 2 anything else; nothing if all
        are continuous); the lengths of their names, and these, joined.
    """
    lp = highs.getLp()
    matrix = lp.a_matrix_
    columnwise = matrix.format_ == core.MatrixFormat.kColwise
    maximise = lp.sense_ == core.ObjSense.kMaximize
    names = lp.col_names_
    kinds = {core.HighsVarType.kContinuous: 0, core.HighsVarType.kInteger: 1}
    return [
        HEADER.pack(lp.num_col_, lp.num_row_, columnwise, maximise, lp.offset_),
        array("q", matrix.start_),
        array("q", matrix.index_),
        array("d", matrix.value_),
        array("d", lp.row_lower_),
        array("d", lp.row_upper_),
        # One by one: col_cost_ would import NumPy.
        array("d", (highs.getCol(column)[1] for column in range(lp.num_col_))),
        array("d", lp.col_lower_),
        array("d", lp.col_upper_),
        bytes(kinds.get(kind, 2) for kind in lp.integrality_),
        array("q", map(len, names)),
        "".join(names).encode(),
    ]


if __name__ == "__main__":
    main()
