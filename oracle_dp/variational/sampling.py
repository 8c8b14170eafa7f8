"""Batches of records, drawn exactly as the accountant takes them to be.

What is accounted for one scheme must not be drawn by another: a batch of fixed size accounted for
as a Poisson sample claims several times too small an epsilon. So that nothing can drift apart, one
:class:`Sampling` selects both the draw (here) and the accountant
(:mod:`oracle_dp.variational.calibration`).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from oracle_dp.errors import ParameterError
from oracle_dp.noise import BitSource
from oracle_dp.noise.bits import words
from oracle_dp.noise.floating import FloatArray, gaussian

IndexArray = NDArray[np.int64]

_ROWS = 1024
"""How many noise vectors are drawn at once."""

_SUBSETS, _TRIALS = 1024, 65_536
"""At most so many Poisson batches, of so many records together, are drawn at once."""


class Sampling(Enum):
    """How the records of a step are chosen."""

    SINGLE_PASS = "single_pass"
    """Disjoint batches of one random permutation: each record serves once."""
    FULL = "full"
    """All records, every time."""
    POISSON = "poisson"
    """Each record by itself with probability batch_size / n; sums are divided by batch_size."""
    FIXED_SIZE = "fixed_size"
    """A uniform subset of batch_size records, independent of the others."""

    @classmethod
    def parse(cls, given: Sampling | str) -> Sampling:
        """The member named by a string such as ``"poisson"``.

        Raises:
            ParameterError: There is no such scheme.
        """
        try:
            return cls(given)
        except ValueError:
            known = ", ".join(repr(member.value) for member in cls)
            raise ParameterError(f"sampling: one of {known} expected, not {given!r}") from None


def batches(
    sampling: Sampling, n_records: int, batch_size: int, source: BitSource
) -> Iterator[IndexArray | slice]:
    """Batches without end, or until every record has served once for ``SINGLE_PASS``.

    Args:
        sampling: The scheme.
        n_records: n, public.
        batch_size: Size of a batch; expected size for ``POISSON``; ignored for ``FULL``.
        source: Where the bits come from.
    """
    if sampling is Sampling.FULL:
        while True:
            yield slice(None)
    elif sampling is Sampling.SINGLE_PASS:
        order = permutation(n_records, source)
        for start in range(0, n_records - batch_size + 1, batch_size):
            yield order[start : start + batch_size]
    elif sampling is Sampling.FIXED_SIZE:
        while True:
            yield subset(n_records, batch_size, source)
    else:
        yield from bernoulli_subsets(n_records, batch_size / n_records, source)


def permutation(n: int, source: BitSource) -> IndexArray:
    """A uniform permutation of 0, ..., n - 1, by sorting random words.

    Two of the words are equal with a probability below ``n^2 / 2^65``; their order is then the
    index's, which leaves the permutation independent of the data.
    """
    return np.argsort(words(source, n), kind="stable").astype(np.int64)


def subset(n: int, size: int, source: BitSource) -> IndexArray:
    """A uniform subset of ``size`` of 0, ..., n - 1: the first distinct ones of uniform draws."""
    if 2 * size > n:
        left_out = subset(n, n - size, source)
        return np.delete(np.arange(n, dtype=np.int64), left_out)
    chosen = np.empty(0, dtype=np.int64)
    while len(chosen) < size:
        drawn = np.concatenate([chosen, _uniform(n, size - len(chosen), source)])
        _, first = np.unique(drawn, return_index=True)
        chosen = drawn[np.sort(first)]
    return chosen


def bernoulli_subsets(n: int, probability: float, source: BitSource) -> Iterator[IndexArray]:
    """Subsets without end, each with every one of 0, ..., n - 1 with the given probability.

    The trials of many subsets stand in one row; the gaps between successes are geometric.
    """
    if probability >= 1:
        while True:
            yield np.arange(n, dtype=np.int64)
    scale = 1 / np.log1p(-probability)
    count = max(1, min(_SUBSETS, int(_TRIALS / (1 + n * probability))))
    while True:
        last, total, successes = -1, n * count, []
        while last < total:
            size = int(16 + 1.1 * (total - last) * probability)
            uniforms = (words(source, size).astype(np.float64) + 0.5) * 2.0**-64
            # Gaps beyond the row end it; cut there, they fit in 64 bits.
            gaps = np.minimum(np.floor(np.log(uniforms) * scale), total).astype(np.int64) + 1
            successes.append(last + np.cumsum(gaps))
            last = int(successes[-1][-1])
        row = np.concatenate(successes)
        row = row[row < total]
        ends = np.searchsorted(row, np.arange(1, count) * n)
        yield from np.split(row % n, ends)


def standard_normals(dimension: int, source: BitSource) -> Iterator[FloatArray]:
    """Independent standard Gaussian vectors without end, each used once."""
    while True:
        yield from gaussian(source, 1.0, (_ROWS, dimension))


def _uniform(n: int, count: int, source: BitSource) -> IndexArray:
    """Uniform integers below n: words at or above a multiple of n are drawn again."""
    limit = (2**64 // n) * n
    drawn = words(source, count)
    while n & (n - 1) and (high := drawn > np.uint64(limit - 1)).any():
        drawn[high] = words(source, int(high.sum()))
    return (drawn % np.uint64(n)).astype(np.int64)
