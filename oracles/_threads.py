"""One thread of BLAS at a time, so that every worker adds numbers in the same order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

_lock = Lock()
_held: list[Any] = []
"""The limit in force, once per user of it: the first sets it and the last lifts it."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS to one thread while anyone in this process is within.

    threadpoolctl's own limits are the process's: of two threads with one each, the first to leave
    would lift the other's.
    """
    from threadpoolctl import threadpool_limits

    with _lock:
        _held.append(_held[0] if _held else threadpool_limits(1))
    try:
        yield
    finally:
        with _lock:
            last = _held.pop()
            if not _held:
                last.restore_original_limits()
