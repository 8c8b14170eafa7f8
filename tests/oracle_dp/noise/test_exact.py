"""Exact samplers: enumerated laws first, then goodness of fit, then another library's sampler."""

import heapq
import itertools
import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from oracle_dp.noise import (
    SeededBits,
    SystemBits,
    bernoulli,
    bernoulli_exp,
    exact,
    geometric,
    geometric_array,
    two_sided_geometric,
    two_sided_geometric_array,
    uniform_below,
)

EXPONENTS = [Fraction(text) for text in ("1/2", "1", "3/2", "7/3", "1/5")]

# ------------------------------------------------------------------------------- closed forms


def bernoulli_law(p):
    return lambda outcome: float(p) if outcome else 1 - float(p)


def bernoulli_exp_law(gamma):
    return bernoulli_law(math.exp(-gamma))


def geometric_law(exponent):
    return lambda x: -math.expm1(-exponent) * math.exp(-exponent * x) if x >= 0 else 0.0


def two_sided_law(exponent):
    return lambda x: math.tanh(exponent / 2) * math.exp(-exponent * abs(x))


def geometric_cdf(exponent):
    return lambda x: -math.expm1(-exponent * (x + 1)) if x >= 0 else 0.0


def two_sided_cdf(exponent):
    def below(x):
        return math.exp(-exponent * -x) / (1 + math.exp(-exponent))

    return lambda x: 1 - below(-x - 1) if x >= 0 else below(x)


# -------------------------------------------------------------------------- exact enumeration


class UndecidedError(Exception):
    """The script ended before the sampler did; carries the weights of the next choice."""


class Script:
    """A bit source, and a maker of weighted choices, that follows a given path."""

    is_private = False

    def __init__(self, path):
        self._path = iter(path)

    def choose(self, weights):
        try:
            return next(self._path)
        except StopIteration:
            raise UndecidedError(weights) from None

    def bits(self, n, /):
        return sum(self.choose((0.5, 0.5)) << place for place in range(n))


def enumerate_law(sampler, *, slack):
    """Mass of every outcome decided so far, and the mass still undecided, below ``slack``.

    Runs the sampler on every path, heaviest first. Masses of bit strings are dyadic: no rounding.
    """
    decided, undecided = defaultdict(float), 1.0
    ticket = itertools.count()
    paths = [(-1.0, next(ticket), ())]
    while undecided > slack:
        mass, _, path = heapq.heappop(paths)
        try:
            outcome = sampler(Script(path))
        except UndecidedError as pause:
            for choice, weight in enumerate(pause.args[0]):
                heapq.heappush(paths, (mass * weight, next(ticket), (*path, choice)))
        else:
            decided[outcome] -= mass
            undecided += mass
    return decided, undecided


def outside_bracket(decided, undecided, law, support):
    """Outcomes whose closed form is not in [decided, decided + undecided]."""
    rounding = 1e-12
    return [
        x
        for x in set(support) | set(decided)
        if not decided[x] - rounding <= law(x) <= decided[x] + undecided + rounding
    ]


def misfits(sampler, law, support, *, slack):
    return outside_bracket(*enumerate_law(sampler, slack=slack), law, support)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7, 8, 13])
def test_uniform_below_has_its_law(n):
    misfit = misfits(
        lambda bits: uniform_below(bits, n), lambda x: 1 / n if x < n else 0, range(n), slack=2e-3
    )
    assert misfit == []


@pytest.mark.parametrize("p", [0, 1, Fraction(1, 2), Fraction(3, 7), Fraction(9, 10)])
def test_bernoulli_has_its_law(p):
    law, outcomes = bernoulli_law(p), (False, True)
    assert misfits(lambda bits: bernoulli(p, bits), law, outcomes, slack=0.01) == []


@pytest.mark.parametrize("gamma", [0, Fraction(3, 4), Fraction(3), *EXPONENTS])
def test_bernoulli_exp_has_its_law(gamma):
    law, outcomes = bernoulli_exp_law(gamma), (False, True)
    assert misfits(lambda bits: bernoulli_exp(gamma, bits), law, outcomes, slack=0.02) == []


@pytest.mark.parametrize("exponent", [Fraction(1), Fraction(1, 2), Fraction(3, 2)])
def test_geometric_has_its_law_bit_by_bit(exponent):
    law = geometric_law(exponent)
    assert misfits(lambda bits: geometric(exponent, bits), law, range(9), slack=0.1) == []


# Bit by bit, longer draws have too many paths. There, the building blocks become one weighted
# choice each, with the law that the tests above establish for them.


@pytest.mark.parametrize("exponent", [*EXPONENTS, Fraction(13, 4), Fraction(2, 7)])
def test_geometric_law_follows_from_its_blocks(exponent, monkeypatch):
    def choose_bernoulli_exp(top, bottom, source):
        p = math.exp(-top / bottom)
        return source.choose((1 - p, p)) == 1

    monkeypatch.setattr(exact, "_bernoulli_exp_unit", choose_bernoulli_exp)
    monkeypatch.setattr(exact, "uniform_below", lambda source, n: source.choose((1 / n,) * n))
    law, support = geometric_law(exponent), range(40)
    assert misfits(lambda bits: geometric(exponent, bits), law, support, slack=0.005) == []


@pytest.mark.parametrize("exponent", [*EXPONENTS, Fraction(13, 4), Fraction(2, 7)])
def test_two_sided_law_follows_from_the_one_sided(exponent, monkeypatch):
    weights = [geometric_law(exponent)(x) for x in range(200)]  # the rest is below rounding
    monkeypatch.setattr(exact, "_geometric", lambda *args: args[-1].choose(weights))
    law, support = two_sided_law(exponent), range(-40, 41)
    assert misfits(lambda bits: two_sided_geometric(exponent, bits), law, support, slack=1e-4) == []


# Samplers with one mistake each. The enumeration has to see every one of them.


def modulo(bits):
    return bits.bits(3) % 5


def bernoulli_exp_of_the_fraction_only(bits):
    return bernoulli_exp(Fraction(7, 3) % 1, bits)


def geometric_without_floor(bits):
    return geometric(Fraction(1, 2), bits)  # the law asked for has exponent 3/2


def geometric_without_rejection(bits):
    quotient = 0
    while bernoulli_exp(1, bits):
        quotient += 1
    return uniform_below(bits, 2) + 2 * quotient


def two_sided_with_two_zeros(bits):
    sign = 1 - 2 * bits.bits(1)
    return sign * geometric(1, bits)


@pytest.mark.parametrize(
    ("mutant", "law", "support", "slack"),
    [
        (modulo, lambda x: 0.2, range(5), 0.01),
        (bernoulli_exp_of_the_fraction_only, bernoulli_exp_law(7 / 3), (False, True), 0.02),
        (geometric_without_floor, geometric_law(3 / 2), range(9), 0.1),
        (geometric_without_rejection, geometric_law(1 / 2), range(9), 0.1),
        (two_sided_with_two_zeros, two_sided_law(1), range(-9, 10), 0.1),
    ],
)
def test_enumeration_catches_wrong_samplers(mutant, law, support, slack):
    assert misfits(mutant, law, support, slack=slack)


# ---------------------------------------------------------------------------- goodness of fit


def fit(draws, cdf, edges):
    """The p-value of the draws against the law, over the bins that the edges cut."""
    masses = np.diff([0.0, *map(cdf, edges), 1.0])
    counts = np.bincount(np.searchsorted(edges, draws), minlength=len(masses))
    return stats.chisquare(counts, masses * draws.size).pvalue


def quantiles(draws, *, bins=20):
    """Distinct integer edges that cut the draws into at most ``bins`` bins of similar size."""
    edges = np.quantile(draws, np.arange(1, bins) / bins, method="inverted_cdf")
    return np.unique(edges.astype(np.int64))


@pytest.mark.parametrize(
    "exponent", [Fraction(text) for text in ("7/3", "1", "1/5", "1/66", "1/1000000000")]
)
@pytest.mark.parametrize(
    ("sample", "make_cdf"),
    [(geometric_array, geometric_cdf), (two_sided_geometric_array, two_sided_cdf)],
)
def test_draws_fit_their_law_and_no_law_five_percent_away(sample, make_cdf, exponent):
    edges = quantiles(sample(exponent, 1_000, SeededBits(1)))
    draws = sample(exponent, 40_000, SeededBits(2))
    assert fit(draws, make_cdf(exponent), edges) > 1e-3
    for wrong in (exponent * Fraction(19, 20), exponent * Fraction(21, 20)):
        assert fit(draws, make_cdf(wrong), edges) < 1e-4


@pytest.mark.parametrize("gamma", [Fraction(1, 100), Fraction(5, 7), Fraction(7, 2)])
def test_bernoulli_exp_draws_fit(gamma):
    source, n = SeededBits(3), 20_000
    successes = sum(bernoulli_exp(gamma, source) for _ in range(n))
    assert stats.binomtest(successes, n, math.exp(-gamma)).pvalue > 1e-3


def test_extreme_exponents_are_fast_and_right():
    assert not geometric_array(1000, 2_000, SystemBits()).any()
    assert not any(bernoulli_exp(10**12, SystemBits()) for _ in range(100))
    tiny = [geometric(Fraction(1, 10**40), SeededBits(seed)) for seed in range(200)]
    assert 0.7 < sum(tiny) / 200 / 10**40 < 1.3


def test_opendp_draws_the_same_two_sided_law():
    import opendp.prelude as dp  # Three seconds to import: only where it is compared.

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    theirs = np.array(dp.m.make_geometric(*space, scale=66.0)([0] * 60_000))

    def agreement(exponent):
        ours = two_sided_geometric_array(exponent, theirs.size, SystemBits())
        edges = quantiles(np.concatenate([ours, theirs]))
        table = [np.bincount(np.searchsorted(edges, draws)) for draws in (ours, theirs)]
        return stats.chi2_contingency(table).pvalue

    # OpenDP takes no seed: one run in 1e9 fails by chance.
    assert agreement(Fraction(1, 66)) > 1e-9
    assert agreement(Fraction(11, 660)) < 1e-9
    assert agreement(Fraction(9, 660)) < 1e-9
