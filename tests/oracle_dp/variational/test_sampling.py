"""Batches have the law that the accountant is told."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.stats import binom, chisquare

from oracle_dp import ParameterError
from oracle_dp.noise import SeededBits
from oracle_dp.variational import Sampling
from oracle_dp.variational.sampling import (
    batches,
    bernoulli_subsets,
    permutation,
    standard_normals,
    subset,
)

DRAWS = 20_000


@pytest.mark.parametrize(("n", "size"), [(5, 2), (5, 4), (6, 3), (4, 4), (3, 1)])
def test_fixed_size_batches_are_uniform_subsets(n: int, size: int) -> None:
    source = SeededBits(n * 10 + size)
    counts = Counter(tuple(sorted(subset(n, size, source))) for _ in range(DRAWS))
    every = list(itertools.combinations(range(n), size))
    assert set(counts) <= set(every)
    assert chisquare([counts[s] for s in every]).pvalue > 1e-4 or len(every) == 1


@pytest.mark.parametrize(("n", "q"), [(4, 0.3), (4, 0.9), (1, 0.5)])
def test_poisson_batches_take_every_record_by_itself(n: int, q: float) -> None:
    drawn = itertools.islice(bernoulli_subsets(n, q, SeededBits(3)), DRAWS)
    counts = Counter(tuple(batch.tolist()) for batch in drawn)
    every = [s for k in range(n + 1) for s in itertools.combinations(range(n), k)]
    expected = [DRAWS * q ** len(s) * (1 - q) ** (n - len(s)) for s in every]
    assert set(counts) <= set(every)
    assert chisquare([counts[s] for s in every], expected).pvalue > 1e-4


def test_poisson_batches_stay_independent_where_many_are_drawn_at_once() -> None:
    """Sizes are binomial, neighbouring batches uncorrelated, and both ends of the data appear."""
    n, q = 300, 0.02
    drawn = list(itertools.islice(bernoulli_subsets(n, q, SeededBits(4)), DRAWS))
    sizes = np.array([len(batch) for batch in drawn])
    seen = np.bincount(sizes, minlength=20)[:20]
    law = DRAWS * binom.pmf(np.arange(20), n, q)
    kept = law > 10
    assert chisquare(seen[kept], law[kept] * seen[kept].sum() / law[kept].sum()).pvalue > 1e-4
    assert abs(np.corrcoef(sizes[:-1], sizes[1:])[0, 1]) < 4 / np.sqrt(DRAWS)
    hits = np.bincount(np.concatenate(drawn), minlength=n)
    assert chisquare(hits).pvalue > 1e-4
    assert all((np.diff(batch) > 0).all() for batch in drawn)


def test_a_probability_of_one_takes_all() -> None:
    assert next(bernoulli_subsets(5, 1.0, SeededBits(0))).tolist() == [0, 1, 2, 3, 4]


def test_a_single_pass_uses_each_record_at_most_once() -> None:
    drawn = list(batches(Sampling.SINGLE_PASS, 23, 4, SeededBits(5)))
    used = np.concatenate(drawn)
    assert [len(batch) for batch in drawn] == [4] * 5
    assert len(set(used.tolist())) == 20


def test_permutations_are_uniform() -> None:
    source = SeededBits(6)
    counts = Counter(tuple(permutation(3, source).tolist()) for _ in range(6000))
    assert len(counts) == 6
    assert chisquare(list(counts.values())).pvalue > 1e-4


def test_all_records_every_time() -> None:
    drawn = batches(Sampling.FULL, 7, 7, SeededBits(0))
    assert [next(drawn) for _ in range(3)] == [slice(None)] * 3


def test_noise_vectors_are_never_handed_out_twice() -> None:
    vectors = list(itertools.islice(standard_normals(2, SeededBits(7)), 3000))
    assert len({tuple(v) for v in vectors}) == 3000
    assert np.std(vectors) == pytest.approx(1, abs=0.05)


def test_unknown_schemes_are_named() -> None:
    with pytest.raises(ParameterError, match="sampling: one of 'single_pass'"):
        Sampling.parse("shuffle")
