"""One run of a PuLP driver: in a thread, in a private folder, and over when it is over.

A command-line driver writes the model to files, starts a process and waits for it. The model may
be private, so the files go to a folder that only the user can enter and that is removed whatever
happens; and a process that outlived its caller would go on computing with it, so every process
that was given a file of that folder is ended before.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_WAIT = 0.05
"""Seconds between two looks for Ctrl-C; a finished solver ends the wait at once."""

_GRACE = 0.5
"""Seconds in which a thread should notice that its process was ended."""

OVERTIME = 1.0
"""Seconds by which a process may exceed its time limit before it is ended from outside."""

_DRIVER_FAILURES = (
    # What a driver raises on a failed process, and on output that it cannot read.
    OSError,
    subprocess.SubprocessError,
    ValueError,
    TypeError,
    LookupError,
    AssertionError,
    MemoryError,
)


@contextlib.contextmanager
def private_folder() -> Iterator[Path]:
    """A folder of mode 0700, removed at the end; processes that use it are ended first."""
    with tempfile.TemporaryDirectory(prefix="oracles-") as name:
        try:
            yield Path(name)
        finally:
            end_processes(Path(name))


def run_driver(
    solve: Callable[[], Any], folder: Path, failure: type[Exception], seconds: float | None
) -> bool | None:
    """Run a driver while looking for Ctrl-C.

    Args:
        solve: Runs the driver.
        folder: Where its files are.
        failure: PuLP's own error.
        seconds: When to end its process; None for never. A driver without a process is waited
            for.

    Returns:
        True when it ended by itself, False when it failed, None when it was ended for its time.

    Raises:
        KeyboardInterrupt: On Ctrl-C, when the process has been ended; as anything else that a
            signal handler raises. A solver within this process works on in its thread.
    """
    worker = _Worker(solve)
    deadline = None if seconds is None else time.monotonic() + seconds + OVERTIME
    overdue = False
    try:
        while not worker.done.wait(_WAIT):
            if deadline is not None and time.monotonic() > deadline:
                overdue = True
                end_processes(folder)
    except BaseException:  # Ctrl-C too; the error goes on.
        worker.give_up(folder)
        raise
    if worker.error is None:
        return True
    if isinstance(worker.error, (failure, *_DRIVER_FAILURES)):
        return None if overdue else False
    raise worker.error


class _Worker:
    def __init__(self, solve: Callable[[], Any]) -> None:
        self.done = threading.Event()
        self.error: BaseException | None = None
        self._solve = solve
        # A daemon: leaving the interpreter must not wait for a solver that cannot be stopped.
        threading.Thread(target=self._work, name="PuLP", daemon=True).start()

    def _work(self) -> None:
        try:
            self._solve()
        except BaseException as error:  # Raised again in the thread that waits.
            self.error = error
        finally:
            self.done.set()

    def give_up(self, folder: Path) -> None:
        """End the process; one that is about to start is ended when it has."""
        deadline = time.monotonic() + _GRACE
        while time.monotonic() < deadline:
            end_processes(folder)
            if self.done.wait(_WAIT):
                return


def end_processes(folder: Path) -> None:
    """Kill this user's processes that name the folder in their arguments, and their children."""
    deadline = time.monotonic() + _GRACE
    while (found := _processes(folder)) and time.monotonic() < deadline:
        held: set[int] = set()
        # Held first: a process that is killed while it starts another one leaves an orphan.
        while not found <= held and time.monotonic() < deadline:
            _send(signal.SIGSTOP, found - held)
            held |= found
            time.sleep(0.002)
            found |= _processes(folder)
        _send(signal.SIGKILL, found)
        time.sleep(0.01)


def _send(kind: signal.Signals, processes: set[int]) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, kind)


def _processes(folder: Path) -> set[int]:
    """Processes with the folder's random name among their arguments, and what they started."""
    name = os.fsencode(folder)
    found: set[int] = set()
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended while we looked, or is not ours
            if entry.stat().st_uid != os.geteuid() or int(entry.name) == os.getpid():
                continue
            # After the name of the program, which may hold anything: state, parent.
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            if state == "Z":
                continue
            children.setdefault(int(parent), []).append(int(entry.name))
            if name in (entry / "cmdline").read_bytes():
                found.add(int(entry.name))
    waiting = list(found)
    while waiting:
        started = set(children.get(waiting.pop(), ())) - found
        found |= started
        waiting += started
    return found
