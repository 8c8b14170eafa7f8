"""Floors of real noise: the laws, and that refinement never decides wrongly."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from oracle_dp.errors import ParameterError
from oracle_dp.noise import BitSource, SeededBits
from oracle_dp.noise.lattice import floored_gamma_norm, floored_gaussian

SAMPLERS = [floored_gaussian, floored_gamma_norm]


def chi_square(drawn: np.ndarray, cdf: Callable[[np.ndarray], np.ndarray], edge: int) -> float:
    """p-value of the integers' law against floors of a real variable's, tails pooled."""
    cells = np.arange(-edge, edge + 1)
    expected = np.diff(np.concatenate([[0.0], cdf(cells[1:]), [1.0]])) * len(drawn)
    found = np.bincount(np.clip(drawn, -edge, edge - 0) + edge, minlength=len(cells))
    return float(stats.chisquare(found, expected).pvalue)


def test_floored_gaussian_has_its_law() -> None:
    drawn = floored_gaussian(Fraction(7, 3), 60_000, SeededBits(1))
    assert chi_square(drawn, stats.norm(scale=7 / 3).cdf, 6) > 1e-3
    # The test can tell a scale 3% off, and rounding to the nearest from the floor.
    assert chi_square(drawn, stats.norm(scale=7.2 / 3).cdf, 6) < 1e-3
    assert chi_square(drawn, stats.norm(loc=0.5, scale=7 / 3).cdf, 6) < 1e-3


@pytest.mark.parametrize("dimension", [1, 2, 7])
def test_floored_gamma_norm_has_its_law(dimension: int) -> None:
    source = SeededBits(dimension)
    scale = 1000
    drawn = np.array([floored_gamma_norm(Fraction(scale), dimension, source) for _ in range(6_000)])
    norms = np.linalg.norm(drawn + 0.5, axis=1)
    assert stats.kstest(norms, stats.gamma(dimension, scale=scale).cdf).pvalue > 1e-3
    assert stats.kstest(norms, stats.gamma(dimension, scale=1.1 * scale).cdf).pvalue < 1e-3
    if dimension > 1:
        cosines = (1 + (drawn[:, -1] + 0.5) / norms) / 2
        half = (dimension - 1) / 2
        assert stats.kstest(cosines, stats.beta(half, half).cdf).pvalue > 1e-3


def test_one_dimension_is_laplace_on_the_lattice() -> None:
    source = SeededBits(5)
    drawn = np.array([floored_gamma_norm(Fraction(3, 2), 1, source)[0] for _ in range(20_000)])
    assert chi_square(drawn, stats.laplace(scale=1.5).cdf, 5) > 1e-3


class Scripted:
    """The given words, block by block, then words that settle everything."""

    is_private = False

    def __init__(self, words: list[int]) -> None:
        self.words = list(words)
        self.asked = 0

    def bits(self, n: int, /) -> int:
        assert n == 64
        self.asked += 1
        return self.words.pop(0) if self.words else 2**63 + 12345


def test_zero_digits_are_refined_and_not_taken_for_zero() -> None:
    # The first uniform begins with 64 zeros: its logarithm is not bounded yet.
    source = Scripted([0, 2**62])
    (drawn,) = floored_gaussian(Fraction(1), 1, source)
    assert source.asked == 4
    # U = 2^-65 or a little more, and the angle pi/2 plus nothing yet known of it.
    assert abs(drawn) <= math.sqrt(2 * 65 * math.log(2)) + 1


def test_a_floor_on_the_edge_is_refined() -> None:
    """A uniform whose first 64 digits leave an integer within the ball."""
    # cos(pi 2 U2) = 0 at U2 = 1/4: the product lies within 2^-60 of 0 on either side.
    edge = 2**62
    for second, expected in ((2**40, -1), (2**64 - 1, -1)):
        source = Scripted([2**63, edge, 2**63, second])
        (drawn,) = floored_gaussian(Fraction(1), 1, source)
        assert source.asked == 4
        assert drawn == expected  # Just beyond a quarter turn: slightly negative.
    source = Scripted([2**63, edge - 1, 2**63, 5])
    (drawn,) = floored_gaussian(Fraction(1), 1, source)
    assert drawn == 0


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_scale_out_of_range_is_refused(
    sampler: Callable[[Fraction, int, BitSource], np.ndarray],
) -> None:
    with pytest.raises(ParameterError, match="scale"):
        sampler(Fraction(0), 1, SeededBits(0))
    with pytest.raises(ParameterError, match="64 bits"):
        sampler(Fraction(10**30), 3, SeededBits(0))


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_seed_repeats(sampler: Callable[[Fraction, int, BitSource], np.ndarray]) -> None:
    first, again = (sampler(Fraction(50), 4, SeededBits(9)) for _ in range(2))
    assert first.tolist() == again.tolist()
    assert first.dtype == np.int64
