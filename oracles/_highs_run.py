"""One run of HiGHS in a thread of its own, so that the caller's thread can hear Ctrl-C.

HiGHS keeps one scheduler per thread, fixed to the thread count it first saw. A new thread gets
a new scheduler, which is also what lets the count change from call to call.
"""

from __future__ import annotations

import atexit
import threading
import time
import weakref
from typing import Any

from oracles.errors import SolverError

_WAIT = 0.05
"""Seconds between two looks for Ctrl-C; a finished solver ends the wait at once."""

_GRACE = 0.5
"""Seconds that a cancelled solver is given before its thread is left to end by itself."""


def load_highspy() -> Any:
    """The module highspy, imported when it is first needed.

    Raises:
        SolverError: It is not installed.
    """
    try:
        import highspy
    except ImportError as error:
        raise SolverError("highspy is not installed: pip install 'highspy>=1.15'") from error
    return highspy


def highs_version() -> str:
    """``major.minor.patch`` of HiGHS itself."""
    module = load_highspy()
    major, minor = module.HIGHS_VERSION_MAJOR, module.HIGHS_VERSION_MINOR
    return f"{major}.{minor}.{module.HIGHS_VERSION_PATCH}"


def run(highs: Any) -> Any:
    """Run a HiGHS object that holds a model and its options.

    Args:
        highs: The object; it may not be used again if this is interrupted.

    Returns:
        HiGHS's return status.

    Raises:
        KeyboardInterrupt: Within a second of Ctrl-C, as anything else that a signal handler
            raises in the waiting thread.
    """
    return _Run(highs).finish()


class _Run:
    def __init__(self, highs: Any) -> None:
        self._highs = highs
        self._status: Any = None
        self._error: BaseException | None = None
        self.done = threading.Event()

    def finish(self) -> Any:
        self._highs.setCallback(_interrupt, None)
        # A daemon: HiGHS looks for interrupts rarely inside a large linear program, and leaving
        # the interpreter must not wait for that.
        threading.Thread(target=self._work, name="HiGHS", daemon=True).start()
        try:
            # Not Thread.join: interrupted, it takes the thread for finished (Python 3.11).
            while not self.done.wait(_WAIT):
                pass
        except BaseException:  # Ctrl-C too; the error goes on.
            self._cancel()
            raise
        if self._error is not None:
            raise self._error
        return self._status

    def _work(self) -> None:
        try:
            self._status = self._highs.run()
        except BaseException as error:  # Raised again in the thread that waits.
            self._error = error
        finally:
            self.done.set()

    def _cancel(self) -> None:
        # Only now: an active callback makes HiGHS wait for Python's lock thousands of times a
        # second, which other Python threads may hold.
        for kind in _interrupt_kinds():
            self._highs.startCallback(kind)
        if not self.done.wait(_GRACE):
            _LEFT_BEHIND.add(self)

    def silence(self) -> None:
        """Let HiGHS run on without calling Python."""
        for kind in _interrupt_kinds():
            self._highs.stopCallback(kind)


_LEFT_BEHIND: weakref.WeakSet[_Run] = weakref.WeakSet()
"""Cancelled runs that have not ended; their threads hold them, and nothing else does."""


@atexit.register
def _silence_left_behind() -> None:
    """Before Python shuts down, end what ends and keep the rest from calling it.

    A thread that asks for Python's lock during shutdown is killed there, and being killed inside
    HiGHS aborts the process.
    """
    deadline = time.monotonic() + _GRACE
    for left in tuple(_LEFT_BEHIND):
        if not left.done.wait(max(0.0, deadline - time.monotonic())):
            left.silence()
            left.done.wait(_WAIT)  # for a call that was already waiting for the lock


def _interrupt_kinds() -> tuple[Any, ...]:
    kinds = load_highspy().cb.HighsCallbackType
    return (
        kinds.kCallbackMipInterrupt,
        kinds.kCallbackSimplexInterrupt,
        kinds.kCallbackIpmInterrupt,
    )


def _interrupt(_kind: Any, _message: str, _out: Any, reply: Any, _data: Any) -> None:
    if reply is not None:
        reply.user_interrupt = True
