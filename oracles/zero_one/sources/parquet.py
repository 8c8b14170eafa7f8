"""Cells of Parquet files, row group by row group, in blocks of rows.

Memory: one block of the columns that are read for each thread, the compressed pages it comes from,
and the counts; it does not grow with the files, nor with their row groups.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd

from oracles.errors import ProblemError
from oracles.zero_one.sources.engines import needed
from oracles.zero_one.sources.frame import tally
from oracles.zero_one.sources.parquet_files import File, check_schemas, files_of, kind
from oracles.zero_one.sources.schema import Encoding, IntArray, Schema, checked, checked_counts
from oracles.zero_one.sources.tally import Tally

BLOCK = 2**18
"""Rows that are decoded at once, by each thread."""


def count_parquet(rows: Any, schema: Schema) -> Tally:
    """Count the rows of Parquet files; see :meth:`FromSources.from_parquet`.

    All files' footers are read, and compared, before any row is.
    """
    threads = max(1, needed("pyarrow", "parquet").cpu_count())
    files = files_of(rows)
    check_schemas(files, schema)
    total = Tally(schema.levels, schema.target.n_levels)
    stopped = threading.Event()
    jobs = (
        (file, group, schema, stopped)
        for file in files
        for group in range(file.metadata.num_row_groups)
    )
    pool = ThreadPoolExecutor(threads)
    try:
        for found in _in_order(pool, _count_row_group, jobs, ahead=2 * threads):
            total.update(found)
    finally:
        stopped.set()  # An error or Ctrl-C ends the other threads at their next block.
        pool.shutdown(wait=True, cancel_futures=True)
    return total


def _in_order(
    pool: ThreadPoolExecutor,
    function: Callable[..., Tally],
    jobs: Iterator[tuple[Any, ...]],
    ahead: int,
) -> Iterator[Tally]:
    """Results in the order of the jobs, of which few are ahead: so memory is bounded."""
    running: deque[Future[Tally]] = deque()
    for job in jobs:
        running.append(pool.submit(function, *job))
        if len(running) > ahead:
            yield running.popleft().result()
    while running:
        yield running.popleft().result()


def _count_row_group(file: File, group: int, schema: Schema, stopped: threading.Event) -> Tally:
    """Count one row group.

    Raises:
        ProblemError: As :meth:`FromSources.from_parquet`, with file and row group.
    """
    arrow = needed("pyarrow", "parquet")
    found = Tally(schema.levels, schema.target.n_levels)
    # Raised below, so that no error of pyarrow's is behind ours: it may quote what it read.
    problem = "is damaged; write or copy the file anew"
    try:
        for block in _blocks(file, group, schema):
            if stopped.is_set():
                break
            found.update(_count_block(block, schema))
        problem = ""
    except ProblemError as error:
        problem = str(error)
    except (arrow.ArrowException, OSError):
        pass
    # By the footer of another file one column's entries are read as another's.
    if file.changed:
        problem = "was changed while it was read; count its rows once it is written"
    if not problem:
        return found
    raise ProblemError(f"{file.path}, row group {group}: {problem}")


def _blocks(file: File, group: int, schema: Schema) -> Iterator[Any]:
    """Record batches of the columns that are read."""
    text = [c for c in schema.columns if kind(file.schema.field(c).type) == "text"]
    with file.opened(text) as opened:
        yield from opened.iter_batches(
            BLOCK, row_groups=[group], columns=schema.columns, use_threads=False
        )


def _count_block(block: Any, schema: Schema) -> Tally:
    columns = dict(zip(block.schema.names, block.columns, strict=True))
    codes = [checked(part, _read(columns[part.column], part)) for part in schema.parts]
    counts = None
    if schema.counts is not None:
        column = columns[schema.counts]
        missing = column.null_count > 0
        counts = checked_counts(schema.counts, column.to_numpy(False), missing=missing)
    return tally(schema, codes, counts)


def _read(array: Any, encoding: Encoding) -> IntArray:
    """The code of each entry.

    Raises:
        ProblemError: pyarrow cannot hand over an entry: a text that is not UTF-8, a date beyond
            Python's, a list. Its own error is not behind this one: it quotes the entry.
    """
    arrow = needed("pyarrow", "parquet")
    try:
        return _codes(array, encoding)
    except (arrow.ArrowException, ValueError, OverflowError):
        pass
    raise ProblemError(
        f"column {encoding.column!r} has entries of type {array.type} that cannot be read; write "
        "it as text in UTF-8, or as numbers"
    )


def _codes(array: Any, encoding: Encoding) -> IntArray:
    """The code of each entry, from those of the distinct entries where they are categories."""
    arrow = needed("pyarrow", "parquet")
    if encoding.edges:
        return encoding.codes(array.to_pandas())
    if isinstance(array, arrow.NullArray):
        return encoding.codes(pd.Series([None] * len(array), dtype=object))
    encoded = array if isinstance(array, arrow.DictionaryArray) else array.dictionary_encode()
    distinct = encoding.codes(encoded.dictionary.to_pandas())
    missing = encoding.codes(pd.Series([None], dtype=object))
    places = encoded.indices.fill_null(len(distinct)).to_numpy(False)
    found: IntArray = np.concatenate([distinct, missing])[places]
    return found
