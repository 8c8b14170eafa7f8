"""Conversion of zCDP: against the one mechanism whose exact figures are known."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from oracle_dp import ParameterError
from oracle_dp.accounting import gaussian_epsilon, zcdp_epsilon, zcdp_rho
from oracle_dp.accounting.zcdp import converts, largest_rho

EPSILONS = [Fraction(1, 1000), Fraction(1, 10), Fraction(1), Fraction(10), Fraction(300)]
DELTAS = [Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**6), Fraction(1, 10**12)]


def gaussian_delta(rho: float, epsilon: float) -> float:
    """The least delta of the Gaussian mechanism, which is rho-zCDP exactly (Balle, Wang 2018)."""
    mu = math.sqrt(2 * rho)
    far = math.exp(epsilon + float(norm.logcdf(-mu / 2 - epsilon / mu)))
    return float(norm.cdf(mu / 2 - epsilon / mu)) - far


@pytest.mark.parametrize(("epsilon", "delta"), list(itertools.product(EPSILONS, DELTAS)), ids=str)
def test_the_claim_holds_for_gaussian_noise_and_is_not_wasteful(
    epsilon: Fraction, delta: Fraction
) -> None:
    rho = largest_rho(epsilon, delta)
    assert gaussian_delta(float(rho), float(epsilon)) <= delta
    log = math.log(1 / delta)
    textbook = (float(epsilon) / (math.sqrt(log + epsilon) + math.sqrt(log))) ** 2
    assert rho >= textbook * (1 - 1e-6)
    # No order converts a little more.
    more = rho * Fraction(1001, 1000)
    orders = [1 + Fraction(math.exp(t / 8)).limit_denominator(10**9) for t in range(-160, 161)]
    assert not any(converts(more, epsilon, delta, a) for a in orders if a > 1)


def test_a_conversion_of_twice_the_rho_is_caught() -> None:
    epsilon, delta = Fraction(1), Fraction(1, 10**6)
    assert gaussian_delta(2 * float(largest_rho(epsilon, delta)), 1.0) > delta


def test_what_is_certain_only() -> None:
    # The order at which a small rho converts, and one at which it does not.
    assert converts(Fraction(1, 1000), Fraction(1), Fraction(1, 10**6), Fraction(30))
    assert not converts(Fraction(1, 1000), Fraction(1), Fraction(1, 10**6), Fraction(101, 100))


def test_figures_out_of_range_are_refused() -> None:
    with pytest.raises(ParameterError, match="out of the range"):
        largest_rho(Fraction(10) ** 400, Fraction(1, 2))


@given(
    st.fractions(Fraction(1, 10**6), 50, max_denominator=10**6),
    st.fractions(0, 5, max_denominator=10**6),
    st.floats(1e-12, 0.5),
    st.floats(1.0, 1e3),
)
@settings(max_examples=60)
def test_epsilon_grows_with_rho_and_falls_with_delta(
    rho: Fraction, more: Fraction, delta: float, factor: float
) -> None:
    """And is never below what Gaussian noise of that rho really has."""
    epsilon = zcdp_epsilon(delta, rho=rho)
    assert zcdp_epsilon(delta, rho=rho + more) >= epsilon * (1 - 1e-9)
    assert zcdp_epsilon(delta / factor, rho=rho) >= epsilon * (1 - 1e-9)
    assert epsilon >= gaussian_epsilon(delta, mu=math.sqrt(2 * rho) * (1 - 1e-12))
    if epsilon > 0:
        assert zcdp_rho(epsilon, delta=delta) == pytest.approx(float(rho), rel=1e-6)
