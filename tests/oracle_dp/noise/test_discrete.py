"""Discrete Laplace and Gaussian noise: enumerated laws, goodness of fit, OpenDP, parameters."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from oracle_dp.errors import ParameterError
from oracle_dp.noise import (
    LARGEST_ARRAY_VARIANCE,
    SMALLEST_ARRAY_EXPONENT,
    SeededBits,
    SystemBits,
    bernoulli_exp,
    discrete,
    discrete_gaussian,
    discrete_gaussian_array,
    discrete_laplace,
    discrete_laplace_array,
    two_sided_geometric,
)

from .test_exact import fit, misfits, quantiles, two_sided_cdf, two_sided_law

VARIANCES = [Fraction(text) for text in ("1/10", "1/2", "1", "9/4", "50/7")]


def gaussian_law(variance):
    reach = 40 + int(40 * math.sqrt(variance))
    total = math.fsum(math.exp(-x * x / (2 * variance)) for x in range(-reach, reach + 1))
    return lambda x: math.exp(-x * x / (2 * variance)) / total


def gaussian_cdf(variance):
    reach = 40 + int(40 * math.sqrt(variance))
    grid = np.arange(-reach, reach + 1)
    law = np.exp(-(grid.astype(float) ** 2) / (2 * float(variance)))
    below = np.cumsum(law / law.sum())
    return lambda x: below[int(np.clip(x + reach, 0, len(grid) - 1))]


WITH_SCALES = list(zip(VARIANCES, (1, 1, 2, 2, 3), strict=True))
"""And t, the scale of the Laplace law that is drawn from."""


class RejectedError(Exception):
    """A second round began. Rounds are alike and independent, so one tells the law."""


def one_round(sampler, monkeypatch, laplace):
    """The sampler's first round: its outcome, or None if it is rejected."""

    def run(bits):
        rounds = []

        def first_only(exponent, source):
            rounds.append(exponent)
            if len(rounds) > 1:
                raise RejectedError
            return laplace(exponent, source)

        monkeypatch.setattr(discrete, "two_sided_geometric", first_only)
        try:
            return sampler(bits)
        except RejectedError:
            return None

    return run


def kept(variance, exponent):
    """The law of one round, by the formulas of the proof."""
    law, v = gaussian_law(variance), float(variance)
    share = math.exp(-v * exponent**2 / 2) / law(0) * math.tanh(exponent / 2)
    return lambda x: 1 - share if x is None else law(x) * share


def chosen_laplace(exponent, source):
    """A building block as one weighted choice, by the law established for it."""
    weights = [two_sided_law(exponent)(x) for x in range(-120, 121)]
    return source.choose(weights) - 120


def chosen_coin(gamma, source):
    p = math.exp(-gamma)
    return source.choose((1 - p, p)) == 1


def blockwise_misfits(sampler, variance, exponent, monkeypatch):
    monkeypatch.setattr(discrete, "bernoulli_exp", chosen_coin)
    run = one_round(sampler, monkeypatch, chosen_laplace)
    return misfits(run, kept(variance, exponent), [None, *range(-15, 16)], slack=1e-4)


@pytest.mark.parametrize(("variance", "t"), WITH_SCALES, ids=str)
def test_gaussian_law_follows_from_its_blocks(variance, t, monkeypatch):
    def sampler(bits):
        return discrete_gaussian(variance, bits)

    assert blockwise_misfits(sampler, variance, 1 / t, monkeypatch) == []
    # The proof's bound on the number of rounds.
    assert 1 - kept(variance, 1 / t)(None) >= 0.28


def test_gaussian_law_bit_by_bit(monkeypatch):
    variance = Fraction(1, 2)
    run = one_round(
        lambda bits: discrete_gaussian(variance, bits), monkeypatch, two_sided_geometric
    )
    assert misfits(run, kept(variance, 1.0), [None, -1, 0, 1], slack=0.2) == []


def with_the_wrong_centre(bits):
    variance, t = Fraction(9, 4), 2
    while True:
        drawn = discrete.two_sided_geometric(Fraction(1, t), bits)
        if discrete.bernoulli_exp((abs(drawn) - variance) ** 2 / (2 * variance), bits):
            return drawn


def without_rejection(bits):
    return discrete.two_sided_geometric(Fraction(1, 2), bits)


def with_another_variance(bits):
    return discrete_gaussian(Fraction(5, 2), bits)


@pytest.mark.parametrize(
    "mutant", [with_the_wrong_centre, without_rejection, with_another_variance]
)
def test_enumeration_catches_wrong_samplers(mutant, monkeypatch):
    assert blockwise_misfits(mutant, Fraction(9, 4), 1 / 2, monkeypatch)


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(2), Fraction(400), Fraction(10**6)])
def test_gaussian_draws_fit_and_no_variance_ten_percent_away(variance):
    edges = quantiles(discrete_gaussian_array(variance, 1_000, SeededBits(1)))
    draws = discrete_gaussian_array(variance, 20_000, SeededBits(2))
    assert fit(draws, gaussian_cdf(variance), edges) > 1e-3
    for wrong in (variance * Fraction(9, 10), variance * Fraction(11, 10)):
        assert fit(draws, gaussian_cdf(wrong), edges) < 1e-3


def test_laplace_is_the_two_sided_geometric_law():
    scale, source = Fraction(7, 3), SeededBits(5)
    scalars = [discrete_laplace(scale, source) for _ in range(50)]
    source = SeededBits(5)
    assert scalars == [two_sided_geometric(1 / scale, source) for _ in range(50)]
    assert discrete_laplace_array(scale, 50, SeededBits(5)).tolist() == scalars
    draws = discrete_laplace_array(scale, 20_000, SeededBits(6))
    edges = quantiles(draws[:1_000])
    assert fit(draws, two_sided_cdf(1 / scale), edges) > 1e-3
    assert fit(draws, two_sided_cdf(scale), edges) < 1e-9


def test_the_privacy_of_the_gaussian_by_its_definition():
    """Renyi divergences of a shift by 1 and 2, summed: within the zCDP of the theorem, and near."""
    for variance in (Fraction(1, 2), Fraction(3), Fraction(40)):
        law, grid = gaussian_law(variance), range(-300, 301)
        for shift in (1, 2):
            rho = shift**2 / (2 * float(variance))
            for order in (1.1, 2, 5, 20):
                # In logarithms: the law underflows where the sums no longer matter.
                v = float(variance)
                terms = [-(order * (x - shift) ** 2 - (order - 1) * x * x) / (2 * v) for x in grid]
                divergence = (np.logaddexp.reduce(terms) + math.log(law(0))) / (order - 1)
                assert divergence <= order * rho + 1e-9
                # Equal where the shifted centre is an integer.
                if (order * shift) % 1 == 0:
                    assert divergence == pytest.approx(order * rho, rel=1e-9)


def test_gaussian_draws_of_a_seed_are_pinned_and_arrays_are_scalars():
    drawn = discrete_gaussian_array(Fraction(81, 2), (2, 3), SeededBits(2024))
    source = SeededBits(2024)
    scalars = [discrete_gaussian(Fraction(81, 2), source) for _ in range(6)]
    assert drawn.ravel().tolist() == scalars == [-4, 1, -5, -7, -2, -4]
    assert drawn.dtype == np.int64


def test_extreme_variances():
    assert not discrete_gaussian_array(Fraction(1, 10**6), 200, SystemBits()).any()
    large = [discrete_gaussian(10**60, SeededBits(seed)) for seed in range(200)]
    assert 0.75 < np.mean([(x / 10**30) ** 2 for x in large]) < 1.3
    discrete_gaussian_array(LARGEST_ARRAY_VARIANCE, 3, SeededBits(0))
    discrete_laplace_array(1 / SMALLEST_ARRAY_EXPONENT, 3, SeededBits(0))


def test_a_draw_beyond_int64_is_refused_and_not_shown(monkeypatch):
    monkeypatch.setattr(discrete, "_discrete_gaussian", lambda *_: 2**63)
    with pytest.raises(ParameterError, match="variance 1 does not fit in int64") as refusal:
        discrete_gaussian_array(1, 2, SeededBits(0))
    assert str(2**63) not in str(refusal.value)


@pytest.mark.parametrize(
    ("sampler", "value", "message"),
    [
        (discrete_gaussian, 0, "variance must be positive, not 0"),
        (discrete_gaussian, 0.5, r"variance must be a Fraction or an int, not 0\.5"),
        (discrete_laplace, Fraction(-1, 2), "scale must be positive, not -1/2"),
        (discrete_laplace, True, "scale must be a Fraction or an int, not True"),
    ],
)
def test_parameters_that_are_refused(sampler, value, message):
    with pytest.raises(ParameterError, match=message):
        sampler(value, SeededBits(0))


def test_arrays_that_could_overflow_are_refused():
    with pytest.raises(ParameterError, match=r"above 2\*\*80"):
        discrete_gaussian_array(LARGEST_ARRAY_VARIANCE + 1, 1, SeededBits(0))
    with pytest.raises(ParameterError, match=r"below 2\*\*-40"):
        discrete_laplace_array(2**41, 1, SeededBits(0))


def test_opendp_draws_the_same_gaussian_law():
    import opendp.prelude as dp  # Three seconds to import: only where it is compared.

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    theirs = np.array(dp.m.make_gaussian(*space, scale=12.0)([0] * 30_000))

    def agreement(variance):
        ours = discrete_gaussian_array(variance, theirs.size, SystemBits())
        edges = quantiles(np.concatenate([ours, theirs]))
        table = [np.bincount(np.searchsorted(edges, draws)) for draws in (ours, theirs)]
        return stats.chi2_contingency(table).pvalue

    # OpenDP takes no seed: one run in 1e9 fails by chance.
    assert agreement(Fraction(144)) > 1e-9
    assert agreement(Fraction(144) * Fraction(81, 100)) < 1e-9
    assert bernoulli_exp(0, SystemBits())
