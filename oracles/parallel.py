"""Independent calls on joblib's workers: processes, or what ``joblib.parallel_config`` says.

What a call needs is shipped in memory: to each process once, or once to a Dask cluster, on every
worker of it. Nothing is drawn here, so calls of a worker that died can be made again.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from oracles.errors import WorkerError

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
ValueT = TypeVar("ValueT")

ATTEMPTS = 3
"""How often calls are made whose workers die."""


def in_order(
    function: Callable[[Any, ItemT], ResultT],
    shared: Any,
    items: Sequence[ItemT],
    *,
    n_jobs: int | None = 1,
) -> Iterator[ResultT]:
    """``function(shared, item)`` for every item, in order, as they come.

    Args:
        function: Deterministic, and importable where workers are.
        shared: What all calls need, such as private data; None for nothing.
        items: What each call needs of its own.
        n_jobs: As joblib counts: 1 for this process alone, -1 for all cores. With
            ``joblib.parallel_config("dask")`` any other number, or None, means the cluster.

    Raises:
        WorkerError: Workers died ``ATTEMPTS`` times.
    """
    from joblib import effective_n_jobs

    if effective_n_jobs(n_jobs) == 1 or len(items) < 2:
        for item in items:
            yield function(shared, item)
        return
    done = 0
    for attempt in range(ATTEMPTS):
        try:
            for result in _started(function, shared, items[done:], n_jobs):
                yield result
                done += 1
            return
        except _deaths() as error:
            _check_attempts(attempt, error)


def retried(run: Callable[[], ResultT]) -> ResultT:
    """What ``run`` gives, made again if workers die.

    Raises:
        WorkerError: They did so ``ATTEMPTS`` times.
    """
    for attempt in range(ATTEMPTS):
        try:
            return run()
        except _deaths() as error:
            _check_attempts(attempt, error)
    raise AssertionError("the last attempt returns or raises")


def _check_attempts(attempt: int, error: BaseException) -> None:
    if attempt + 1 == ATTEMPTS:
        raise WorkerError(
            f"workers died {ATTEMPTS} times ({type(error).__name__}): perhaps each of them has too "
            "little memory for the data"
        ) from None


def _started(
    function: Callable[[Any, ItemT], ResultT],
    shared: Any,
    items: Sequence[ItemT],
    n_jobs: int | None,
) -> Iterator[ResultT]:
    """Results of calls on workers."""
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    sealed = _Sealed(shared)
    backend, _ = get_active_backend()
    with _scattered(backend, sealed):
        # max_nbytes: larger arrays would be shared through files.
        results = "generator" if backend.supports_return_generator else "list"
        run = Parallel(n_jobs=n_jobs, max_nbytes=None, return_as=results)
        calls = delayed(_call)
        found: Iterator[ResultT] = run(calls(function, sealed, _Sealed(item)) for item in items)
        yield from found


@contextlib.contextmanager
def _scattered(backend: Any, sealed: _Sealed[Any]) -> Iterator[None]:
    """Within it a Dask cluster, if that is where calls are made, has the data on every worker."""
    client = getattr(backend, "client", None)
    if client is None or sealed.value is None:
        yield
        return
    from joblib import parallel_config

    with parallel_config(backend="dask", client=client, scatter=[sealed]):
        yield


@dataclass(frozen=True, slots=True, repr=False, eq=False, weakref_slot=True)
class _Sealed(Generic[ValueT]):
    """A value that does not show itself: workers' logs show the arguments of calls that fail."""

    value: ValueT


def _call(
    function: Callable[[Any, ItemT], ResultT], shared: _Sealed[Any], item: _Sealed[ItemT]
) -> ResultT:
    return function(shared.value, item.value)


def _deaths() -> tuple[type[BaseException], ...]:
    """The errors that say that a worker died, and not that a call failed."""
    from concurrent.futures.process import BrokenProcessPool

    known: list[type[BaseException]] = [BrokenProcessPool]
    if "distributed" in sys.modules:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        # Cancelled, because the worker that died had the only copy of something.
        known += [KilledWorker, FutureCancelledError]
    return tuple(known)
