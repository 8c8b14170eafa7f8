"""Run configs in parallel, write what each found at once, and go on where a run was interrupted."""

from __future__ import annotations

import datetime
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
from joblib.externals.loky import get_reusable_executor
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from threadpoolctl import threadpool_limits

from experiments.framework.experiment import Config, Experiment, NotAvailableError, Record
from experiments.framework.records import Store, batch, environment, identity, path_of
from experiments.result import commit

Task = tuple[Experiment, Config]


@dataclass(frozen=True)
class Ran:
    """What a run did.

    Attributes:
        computed: Configs that were computed now.
        kept: Configs whose records were there already.
        missing: Why other configs could not be run here, and how many each reason kept back.
        interrupted: Ctrl-C came first.
    """

    computed: int
    kept: int
    missing: Mapping[str, int]
    interrupted: bool


def run(
    experiments: Sequence[Experiment],
    *,
    quick: bool,
    jobs: int | None = None,
    records: Path | None = None,
) -> Ran:
    """Compute every config that has no records yet.

    Args:
        experiments: Which; their configs share the processes.
        quick: The small configs.
        jobs: Processes; default one per core.
        records: The file, for a single experiment; default its place in ``experiments/records``.

    Raises:
        BlockingIOError: Another run is writing to a file.
    """
    with ExitStack() as stack:
        stores = {
            one.name: stack.enter_context(Store(records or path_of(one.name, quick)))
            for one in experiments
        }
        every = [(one, config) for one in experiments for config in one.configs(quick)]
        tasks = [t for t in every if identity(t[0].name, t[1]) not in stores[t[0].name].done]
        together = [task for task in tasks if quick or not task[0].alone]
        alone = [task for task in tasks if not (quick or not task[0].alone)]
        where = environment(commit())
        extra = {
            "environment": where["environment"],
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        }
        computed, missing, interrupted = 0, Counter[str](), False
        try:
            for (one, config), found, seconds in _progress(_results(together, alone, jobs), tasks):
                if isinstance(found, str):
                    missing[f"{one.name}: {found}"] += 1
                    continue
                added = extra | {"seconds": seconds} | _seed(config)
                stores[one.name].append(where, batch(one.name, config, found, added))
                computed += 1
        except KeyboardInterrupt:
            interrupted = True
            get_reusable_executor().shutdown(wait=False, kill_workers=True)
    return Ran(computed, len(every) - len(tasks), missing, interrupted)


def _seed(config: Config) -> dict[str, Any]:
    """The config's seeds, if it has some."""
    found = config.get("seed", config.get("seeds"))
    return {} if found is None else {"seed": found}


Found = list[Record] | str
"""Records, or why there are none."""
Result = tuple[Task, Found, float]


def _results(together: Sequence[Task], alone: Sequence[Task], jobs: int | None) -> Iterator[Result]:
    """First what may share the machine, then what may not."""
    n_jobs = jobs or joblib.cpu_count()
    for tasks, n in ((together, n_jobs), (alone, 1)):
        if n == 1:
            yield from (
                _measured(i, one.run, config, tasks) for i, (one, config) in enumerate(tasks)
            )
        elif tasks:
            yield from _parallel(tasks, n)


def _parallel(tasks: Sequence[Task], jobs: int) -> Iterator[Result]:
    with joblib.parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=1):
        calls = (
            joblib.delayed(_timed)(i, one.run, config) for i, (one, config) in enumerate(tasks)
        )
        for i, found, seconds in joblib.Parallel(
            return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs"
        )(calls):
            yield tasks[i], found, seconds


def _timed(
    number: int, function: Callable[[Config], list[Record]], config: Config
) -> tuple[int, Found, float]:
    """One unit of work, with its wall-clock seconds."""
    begun = time.perf_counter()
    with threadpool_limits(1):
        try:
            found: Found = function(config)
        except NotAvailableError as error:
            found = str(error)
    return number, found, round(time.perf_counter() - begun, 3)


def _measured(
    number: int, function: Callable[[Config], list[Record]], config: Config, tasks: Sequence[Task]
) -> Result:
    _, found, seconds = _timed(number, function, config)
    return tasks[number], found, seconds


def _progress(results: Iterator[Result], tasks: Sequence[Task]) -> Iterator[Result]:
    """A bar per experiment on a terminal; nothing elsewhere."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not sys.stderr.isatty()) as bars:
        names = [one.name for one, _ in tasks]
        bar = {name: bars.add_task(name, total=names.count(name)) for name in dict.fromkeys(names)}
        for result in results:
            yield result
            bars.advance(bar[result[0][0].name])
