"""Floating-point noise: the laws, the tails, and where the bits come from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from oracle_dp.errors import ParameterError
from oracle_dp.noise import SeededBits
from oracle_dp.noise.floating import exponential, gamma_norm, gaussian, laplace

SCALE = 2.5

SAMPLERS = {
    "gaussian": (gaussian, stats.norm(scale=SCALE)),
    "laplace": (laplace, stats.laplace(scale=SCALE)),
    "exponential": (exponential, stats.expon(scale=SCALE)),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_law(name: str) -> None:
    sampler, law = SAMPLERS[name]
    drawn = sampler(SeededBits(1), SCALE, 40_000)
    assert stats.kstest(drawn, law.cdf).pvalue > 1e-3
    # The test can tell 3% more noise.
    assert stats.kstest(1.03 * drawn, law.cdf).pvalue < 1e-3


def test_gamma_norm_has_a_gamma_norm_and_no_direction() -> None:
    source = SeededBits(2)
    drawn = np.array([gamma_norm(source, SCALE, 5) for _ in range(8_000)])
    norms = np.linalg.norm(drawn, axis=1)
    assert stats.kstest(norms, stats.gamma(5, scale=SCALE).cdf).pvalue > 1e-3
    # One coordinate of a uniform direction in R^5: (1 + z) / 2 is Beta(2, 2).
    cosines = (1 + drawn[:, 3] / norms) / 2
    assert stats.kstest(cosines, stats.beta(2, 2).cdf).pvalue > 1e-3


class Scripted:
    """Every word is the same."""

    is_private = False

    def __init__(self, word: int) -> None:
        self.word = word
        self.asked = 0

    def bits(self, n: int, /) -> int:
        assert n % 64 == 0
        self.asked += n // 64
        return sum(self.word << 64 * i for i in range(n // 64))


@pytest.mark.parametrize(
    ("word", "expected"),
    # A tail of 2^-64 on either side: the sign is the last bit.
    [(0, -stats.norm.ppf(2.0**-65)), (1, stats.norm.ppf(2.0**-65)), (2**64 - 2, 0.0)],
)
def test_gaussian_tails_are_equally_fine(word: int, expected: float) -> None:
    (drawn,) = gaussian(Scripted(word), 1.0, 1)
    assert drawn == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("word", [0, 2**64 - 1, 2**64 - 2])
@pytest.mark.parametrize("sampler", [gaussian, laplace, exponential])
def test_no_word_gives_an_infinity(sampler: Callable[..., np.ndarray], word: int) -> None:
    assert np.isfinite(sampler(Scripted(word), 1.0, 3)).all()


@pytest.mark.parametrize("sampler", [gaussian, laplace, exponential])
def test_one_fresh_word_for_each_number(sampler: Callable[..., np.ndarray]) -> None:
    source = Scripted(12345)
    assert sampler(source, 1.0, (4, 5)).shape == (4, 5)
    assert source.asked == 20


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
@pytest.mark.parametrize("sampler", [gaussian, laplace, exponential])
def test_a_scale_out_of_range_is_refused(sampler: Callable[..., np.ndarray], scale: float) -> None:
    with pytest.raises(ParameterError, match="scale"):
        sampler(SeededBits(0), scale, 1)


def test_a_dimension_out_of_range_is_refused() -> None:
    with pytest.raises(ParameterError, match="dimension"):
        gamma_norm(SeededBits(0), 1.0, 0)
