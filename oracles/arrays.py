"""Checked copies of what a caller gives: how the data of a problem are taken in.

Every copy is read-only, since a problem is immutable. No message shows an entry: coefficients
may be derived from private records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from oracles.errors import ProblemError

FloatArray = NDArray[np.float64]

EXACT_FLOAT = 2.0**53
"""Up to here floats hold every integer, and sums of integers below it are not rounded."""


def floats(name: str, given: Any) -> FloatArray:
    """A copy as floats.

    Raises:
        ProblemError: Something is not a real number, or an integer that a float would round.
    """
    try:
        raw = np.asarray(given)
        kind = raw.dtype.kind
        # In C order at once: to turn a table of columns around later takes as long again.
        numbers = np.array(raw, dtype=np.float64, order="C") if kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        # Not chained: the original message quotes the entry.
        numbers = None
    if numbers is None:
        raise ProblemError(f"{name}: not an array of real numbers that floats can hold") from None
    if kind in "iuO":
        large = np.abs(numbers) >= EXACT_FLOAT
        pairs = zip(raw[large].tolist(), numbers[large].tolist(), strict=True)
        # Python compares an int with a float exactly.
        if any(isinstance(entry, int) and entry != held for entry, held in pairs):
            raise ProblemError(f"{name}: an integer beyond 2^53 that a float cannot hold exactly")
    return numbers


def vector(
    name: str, given: ArrayLike | None, size: int | None, default: float | None
) -> FloatArray:
    """A vector of the given size, or of any size when ``size`` is None."""
    if given is not None:
        numbers = floats(name, given)
    elif default is not None and size is not None:
        numbers = np.full(size, default)
    else:
        raise ProblemError(f"{name}: missing")
    if numbers.ndim != 1 or (size is not None and len(numbers) != size):
        expected = "one dimension" if size is None else f"shape ({size},)"
        raise ProblemError(f"{name}: {expected} expected, shape {numbers.shape} given")
    numbers.setflags(write=False)
    return numbers


def scalar(name: str, given: Any) -> float:
    """One number."""
    number = floats(name, given)
    if number.shape != ():
        raise ProblemError(f"{name}: one number expected, shape {number.shape} given")
    return float(number)


def matrix(given: Any, n: int) -> sp.csr_array:
    """A matrix with ``n`` columns in compressed rows, duplicates summed."""
    sparse = bool(sp.issparse(given))
    if given is None:
        rows = sp.csr_array((0, n), dtype=np.float64)
    elif sparse and given.ndim == 2:
        stored = given.tocoo()
        entries = floats("matrix", stored.data)
        rows = sp.csr_array(sp.coo_array((entries, (stored.row, stored.col)), shape=stored.shape))
    else:
        dense = floats("matrix", given)
        if dense.ndim != 2:
            raise ProblemError(f"matrix: two dimensions expected, shape {dense.shape} given")
        rows = sp.csr_array(dense)
    if rows.ndim != 2 or rows.shape[1] != n:
        raise ProblemError(f"matrix: {n} columns expected, shape {rows.shape} given")
    rows.sum_duplicates()
    for array in (rows.data, rows.indices, rows.indptr):
        array.setflags(write=False)
    return rows


def mask(name: str, given: ArrayLike | None, n: int) -> NDArray[np.bool_]:
    """A boolean vector of size ``n``; all true by default."""
    flags = np.ones(n, dtype=bool) if given is None else np.array(given)
    if flags.shape == (0,):
        flags = flags.astype(bool)  # an empty list has no type of its own
    if flags.shape != (n,) or flags.dtype != bool:
        raise ProblemError(f"{name}: a boolean array of shape ({n},) expected")
    flags.setflags(write=False)
    return flags


def names(given: Sequence[str] | None, n: int) -> tuple[str, ...]:
    """``n`` distinct names; by default ``x0, x1, ...``."""
    if given is None:
        return tuple(f"x{i}" for i in range(n))
    if isinstance(given, str) or len(given) != n:
        raise ProblemError(f"names: a sequence of {n} names expected")
    distinct = tuple(str(name) for name in given)
    if len(set(distinct)) != n:
        repeated, _ = Counter(distinct).most_common(1)[0]
        raise ProblemError(f"names: {repeated!r} is used twice; names must be distinct")
    return distinct
