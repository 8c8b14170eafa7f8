"""Calls on workers: in order, with the data in memory only, and made again if a worker dies."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from oracles.errors import WorkerError
from oracles.parallel import ATTEMPTS, _Sealed, in_order


def add(shared: Any, item: int) -> tuple[int, int]:
    return int(shared[item]) + item, os.getpid()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_results_are_in_order(n_jobs) -> None:
    shared = np.arange(200_000)  # Above joblib's own threshold for files.
    found = list(in_order(add, shared, range(7), n_jobs=n_jobs))
    assert [value for value, _ in found] == [2 * k for k in range(7)]
    alone = {os.getpid()}
    assert ({process for _, process in found} == alone) == (n_jobs == 1)


def test_threads_and_processes_that_give_lists_will_do() -> None:
    for backend in ("threading", "multiprocessing"):
        with joblib.parallel_config(backend):
            found = list(in_order(add, np.arange(9), range(5), n_jobs=2))
        assert [value for value, _ in found] == [0, 2, 4, 6, 8]


def deadly(marks: str, item: int) -> int:
    """Dies in a worker the first time that it is called with 3."""
    Path(marks, f"{item}-{len(os.listdir(marks))}-{os.getpid()}").touch()
    if item == 3 and not Path(marks, "died").exists():
        Path(marks, "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return item**2


def test_calls_of_a_worker_that_died_are_made_again(tmp_path) -> None:
    found = in_order(deadly, str(tmp_path), range(6), n_jobs=2)
    assert list(found) == [k**2 for k in range(6)]
    assert (tmp_path / "died").exists()


def always_deadly(marks: str, item: int) -> int:
    if item == 1:
        Path(marks, str(len(os.listdir(marks)))).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def test_workers_that_die_every_time_are_an_error(tmp_path) -> None:
    with pytest.raises(WorkerError, match=f"died {ATTEMPTS} times"):
        list(in_order(always_deadly, str(tmp_path), range(2), n_jobs=2))
    assert len(list(tmp_path.iterdir())) == ATTEMPTS


def failing(_: Any, item: int) -> None:
    raise KeyError(item)


def test_a_call_that_fails_fails_at_once() -> None:
    with pytest.raises(KeyError):
        list(in_order(failing, None, range(2), n_jobs=2))


def test_what_is_shipped_does_not_show_itself() -> None:
    assert "secret" not in repr(_Sealed("secret"))
