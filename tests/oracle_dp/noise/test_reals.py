"""Exact decisions about reals: bit by bit, and against closed forms."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq, fmpz
from scipy.stats import chisquare

from oracle_dp.noise import SeededBits
from oracle_dp.noise.reals import (
    BLOCK,
    MANTISSA,
    NotAProbabilityError,
    bernoulli_real,
    dyadic,
    pick_cost,
    pick_mass,
    pick_real,
    real_exp,
)


class Scripted:
    """Gives the digits of one number, and counts how many were asked for."""

    is_private = False

    def __init__(self, *blocks: int) -> None:
        self.blocks = list(blocks)
        self.asked = 0

    def bits(self, n: int, /) -> int:
        self.asked += n
        return self.blocks.pop(0)


def ratio(numerator: int, denominator: int) -> arb:
    return arb(fmpq(numerator, denominator))


def test_the_coin_compares_its_digits_with_the_probability() -> None:
    half = 1 << (BLOCK - 1)
    assert bernoulli_real(lambda: ratio(1, 2), Scripted(half - 1))
    assert not bernoulli_real(lambda: ratio(1, 2), Scripted(half))
    third = (1 << BLOCK) // 3
    assert bernoulli_real(lambda: ratio(1, 3), Scripted(third - 1))
    assert not bernoulli_real(lambda: ratio(1, 3), Scripted(third + 1))


def test_open_answers_are_refined_until_they_part() -> None:
    # 1/3 = 0.010101...: the first block of its own digits decides nothing, nor does the second.
    first = (1 << BLOCK) // 3
    source = Scripted(first, first, 0)
    assert bernoulli_real(lambda: ratio(1, 3), source)
    assert source.asked == 3 * BLOCK
    assert not bernoulli_real(lambda: ratio(1, 3), Scripted(first, first, (1 << BLOCK) - 1))


def test_a_wide_enclosure_is_refined_too() -> None:
    calls = []

    def coarse_then_fine() -> arb:
        calls.append(ctx.prec)
        return arb(0.5, 0.4) if len(calls) == 1 else ratio(1, 2)

    assert bernoulli_real(coarse_then_fine, Scripted(1 << (BLOCK - 2), 0))
    assert calls == sorted(set(calls))


@pytest.mark.parametrize("p", [ratio(3, 2), ratio(-1, 2)])
def test_what_is_no_probability_is_refused(p: arb) -> None:
    with pytest.raises(NotAProbabilityError, match="outside"):
        bernoulli_real(lambda: p, SeededBits(0))


def test_probability_one_and_zero() -> None:
    assert all(bernoulli_real(lambda: arb(1), SeededBits(i)) for i in range(20))
    assert not any(bernoulli_real(lambda: arb(0), SeededBits(i)) for i in range(20))


def test_coin_of_an_exponential_has_its_frequency() -> None:
    source = SeededBits(5)
    n = 20_000
    hits = sum(bernoulli_real(lambda: real_exp(Fraction(-7, 5)), source) for _ in range(n))
    p = math.exp(-1.4)
    assert abs(hits - n * p) < 4.5 * math.sqrt(n * p * (1 - p))
    assert abs(hits - n * 1.1 * p) > 4.5 * math.sqrt(n * p * (1 - p))  # A tenth more would show.


def test_dyadic_is_a_monotone_function_near_the_exponential() -> None:
    for logarithm in (-1000.0, -3.3, 0.0, 1e-9, 47.5, 2700.0):
        shift = 64 - math.floor(logarithm / math.log(2))
        mass = dyadic(logarithm, shift)
        assert mass == dyadic(logarithm, shift)
        assert mass < dyadic(logarithm + 1e-9 * max(1, abs(logarithm)), shift)
        with ctx.workprec(200):
            exact = arb(logarithm).exp() * arb(2) ** (shift + MANTISSA)
            assert abs(arb(mass) / exact - 1) < 2.0**-40


def test_pick_mass_is_exact_by_counting() -> None:
    masses, total = [3, 0, 2], 8

    class Every:
        is_private = False
        value = 0

        def bits(self, n: int, /) -> int:
            assert n == 3
            return self.value

    counted: Counter[int | None] = Counter()
    for Every.value in range(8):
        counted[pick_mass(masses, total, Every())] += 1
    assert counted == {0: 3, 2: 2, None: 3}
    with pytest.raises(NotAProbabilityError, match="above"):
        pick_mass([5, 4], total, Every())


@pytest.mark.parametrize("beta", [Fraction(1, 3), Fraction(2), Fraction(1, 1000)])
def test_pick_cost_has_its_law(beta: Fraction) -> None:
    costs = [7, 4, 4, 9, 5]
    source = SeededBits(11)
    n = 20_000
    counted = Counter(pick_cost(costs, beta, source) for _ in range(n))
    weights = [math.exp(-float(beta) * cost) for cost in costs]
    expected = [n * weight / sum(weights) for weight in weights]
    seen = [(counted[i], e) for i, e in enumerate(expected) if e > 5]
    if len(seen) < len(costs):
        seen.append((n - sum(s for s, _ in seen), n - sum(e for _, e in seen)))
        assert seen[-1][1] < 20
    assert chisquare(*zip(*seen, strict=True)).pvalue > 1e-6


def test_pick_cost_of_far_and_huge_costs() -> None:
    assert pick_cost([10**30, 0, 10**30], Fraction(1), SeededBits(1)) == 1
    assert {pick_cost([3, 3], Fraction(10**9), SeededBits(i)) for i in range(40)} == {0, 1}


def test_pick_real_places_its_digits_on_the_line() -> None:
    # Weights 1, 2, 1: the line is cut at a quarter and at three quarters.
    def weights() -> list[arb]:
        return [arb(1), arb(2), arb(1)]

    quarter, top = 1 << (BLOCK - 2), 1 << BLOCK
    cases = {
        0: 0,
        quarter - 1: 0,
        quarter: 1,
        3 * quarter - 1: 1,
        3 * quarter: 2,
        top - 1: 2,
    }
    for digits, index in cases.items():
        assert pick_real(weights, Scripted(digits)) == index


def test_pick_real_refines_what_is_open() -> None:
    # The cut is at 1/3, whose own digits leave the answer open for as long as they last.
    def weights() -> list[arb]:
        return [real_exp(Fraction(0)), real_exp(Fraction(0)) * 2]

    first = (1 << BLOCK) // 3
    source = Scripted(first, first, 0)
    assert pick_real(weights, source) == 0
    assert source.asked == 3 * BLOCK
    assert pick_real(weights, Scripted(first, first, (1 << BLOCK) - 1)) == 1

    calls: list[int] = []

    def coarse_then_fine() -> list[arb]:
        calls.append(ctx.prec)
        return [arb(1), arb(1, 0.9) if len(calls) == 1 else arb(1)]

    assert pick_real(coarse_then_fine, Scripted((1 << BLOCK) * 2 // 5, 0)) == 0
    assert calls == [BLOCK + 32, 2 * BLOCK + 32]


def test_pick_real_of_zeros_one_weight_and_far_weights() -> None:
    half, top = 1 << (BLOCK - 1), 1 << BLOCK
    zeros = [arb(0), arb(1), arb(0), arb(1), arb(0)]
    for digits, index in ((0, 1), (half - 1, 1), (half, 3), (top - 2, 3)):
        # At an end of a stretch the first digits may be those of the end itself.
        assert pick_real(lambda: zeros, Scripted(digits, 1, 1)) == index
    assert pick_real(lambda: [real_exp(Fraction(-(10**6)))], Scripted(top - 1)) == 0
    # A multiple beyond all floats against one that is as small.
    huge = arb(fmpz(3) ** 4000)
    far = [arb(1), real_exp(Fraction(-4000)) * huge]
    assert pick_real(lambda: far, SeededBits(2)) == 1


@pytest.mark.parametrize(
    ("weights", "message"),
    [([arb(1), arb(-1)], "negative"), ([arb(0), arb(0)], "positive sum"), ([], "positive sum")],
    ids=str,
)
def test_pick_real_refuses_what_is_no_law(weights: list[arb], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pick_real(lambda: weights, SeededBits(0))


def test_pick_real_has_its_law() -> None:
    source, n = SeededBits(13), 20_000
    exponents = [Fraction(0), Fraction(1, 3), Fraction(2), Fraction(5, 7)]

    def weights() -> list[arb]:
        return [real_exp(-x) for x in exponents[:-1]] + [real_exp(-exponents[-1]) * 3]

    counted = Counter(pick_real(weights, source) for _ in range(n))
    exact = [math.exp(-float(x)) for x in exponents[:-1]] + [3 * math.exp(-5 / 7)]
    for scale, fits in ((1.0, True), (1.2, False)):
        expected = [exact[0] * scale, *exact[1:]]
        expected = [n * e / sum(expected) for e in expected]
        assert (chisquare([counted[i] for i in range(4)], expected).pvalue > 1e-6) == fits
