"""Files that commands read and write."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

_REASONS: dict[type[OSError], str] = {
    FileNotFoundError: "there is no such file",
    IsADirectoryError: "it is a folder",
    NotADirectoryError: "a part of its path is no folder",
    PermissionError: "you may not read it",
}


def read_bytes(path: Path, what: str) -> bytes:
    """All of a file; ``-`` is standard input.

    Args:
        path: Of the file.
        what: The parameter that messages name.

    Raises:
        ParameterError: The file cannot be read.
    """
    from oracle_dp.errors import ParameterError

    try:
        return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        reason = _REASONS.get(type(error), error.strerror or "the system gives no reason")
        raise ParameterError(f"{what}: cannot read {path}: {reason}") from None


def check_writable(path: Path, *, what: str, force: bool) -> None:
    """Find out whether a file can be written, before anything is spent.

    Raises:
        ParameterError: It cannot, or it is there already and may not be replaced.
    """
    from oracle_dp.errors import ParameterError

    # By os.path, since those of Path raise where a folder may not be searched.
    is_file = os.path.isfile(path)
    whole = is_file or not os.path.exists(path)
    folder = os.path.dirname(os.path.realpath(path))
    writable = os.path.isdir(folder) and os.access(folder if whole else path, os.W_OK)
    if os.path.isdir(path) or not writable:
        raise ParameterError(f"{what}: cannot write {path}; name a file in a folder that you own")
    if is_file and not force:
        raise ParameterError(f"{what}: {path} is there already; --force replaces it")


def write_whole(path: Path, text: str) -> None:
    """Write a file entirely or not at all; a device or a pipe is written to as it is."""
    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    with tempfile.NamedTemporaryFile(
        "w", dir=path.parent, prefix=f".{path.name}.", delete=False, encoding="utf-8"
    ) as file:
        try:
            file.write(text)
            file.flush()
            os.replace(file.name, path)
        except BaseException:  # Ctrl-C too; the error goes on.
            os.unlink(file.name)
            raise
