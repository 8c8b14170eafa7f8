"""Costs and their sums: never below what is true, never above the plain methods."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle_dp import Guarantee, Neighbors, ParameterError
from oracle_dp.accounting import (
    Spend,
    compose,
    compose_pure,
    gaussian_delta,
    gaussian_epsilon,
    parallel,
    zcdp_epsilon,
    zcdp_rho,
)
from oracles import Certificate


def optimal_delta(epsilon: float, each: float, times: int) -> float:
    """Of ``times`` randomised responses, exactly: their losses are binomial."""
    p = 1 / (1 + math.exp(-each))
    total = 0.0
    for wins in range(times + 1):
        loss = (2 * wins - times) * each
        mass = math.comb(times, wins) * p**wins * (1 - p) ** (times - wins)
        total += mass * max(0.0, -math.expm1(epsilon - loss))
    return total


@pytest.mark.parametrize(("each", "times"), [(0.1, 100), (0.5, 20), (1.0, 7), (0.003, 400)])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
def test_pure_epsilons_compose_optimally(each: float, times: int, delta: float) -> None:
    epsilon = compose_pure([each] * times, delta=delta)
    assert optimal_delta(epsilon, each, times) <= delta
    assert optimal_delta(0.995 * epsilon, each, times) > delta
    assert epsilon <= times * each * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 2.0])
def test_rho_of_randomised_response_is_not_understated(epsilon: float) -> None:
    """Its KL divergence is epsilon tanh(epsilon / 2), about epsilon^2 / 2, and rho is no less."""
    rho = Spend.pure(epsilon).rho
    assert rho is not None
    assert epsilon * math.tanh(epsilon / 2) <= rho
    # Its loss is epsilon or -epsilon: a range of 2 epsilon, not of epsilon.
    halved = Spend.pure(2 * epsilon, bounded_range=True).rho
    assert halved is not None
    assert epsilon * math.tanh(epsilon / 2) <= halved


def test_pure_without_delta_is_a_sum() -> None:
    assert compose_pure([0.1] * 3, delta=0) >= Fraction(0.1) * 3
    assert compose_pure([], delta=0.1) == compose_pure([0.0, 0.0], delta=0.1) == 0
    assert compose_pure([0.7], delta=0.1) == 0.7


spends = st.one_of(
    st.builds(Spend.pure, st.floats(0, 3), bounded_range=st.booleans()),
    st.builds(Spend.zcdp, st.floats(0, 1)),
    st.builds(Spend.gaussian, st.floats(0, 1)),
    st.builds(lambda e, d: Spend.approximate(e, delta=d), st.floats(0, 3), st.floats(0, 1e-7)),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(spends, max_size=6), st.floats(1e-5, 0.1))
def test_composition_is_least_among_the_plain_ways(parts: list[Spend], delta: float) -> None:
    epsilon, used = compose(parts, delta=delta)
    assert used <= delta
    rhos = [p.rho for p in parts]
    if all(rho is not None for rho in rhos):
        assert epsilon <= zcdp_epsilon(
            delta, rho=sum(map(Fraction, rhos), Fraction(0))
        )  # none is None
    if all(p.mu is not None for p in parts):
        mu = math.sqrt(sum(float(p.mu or 0) ** 2 for p in parts))
        assert epsilon <= gaussian_epsilon(delta, mu=mu) * (1 + 1e-9)
    if all(p.epsilon is not None for p in parts):
        assert epsilon <= float(sum((Fraction(p.epsilon or 0) for p in parts), Fraction(0))) + 1e-9


@settings(max_examples=60, deadline=None)
@given(st.lists(spends, max_size=5), spends, st.floats(1e-5, 0.1))
def test_one_more_release_never_costs_less(
    parts: list[Spend], another: Spend, delta: float
) -> None:
    # One pure release alone is stated as pure, however much delta is there.
    filled = [*parts, Spend.pure(Fraction(1, 10**9))] if len(parts) == 1 else parts
    fewer, _ = compose(filled, delta=delta)
    more, _ = compose([*parts, another], delta=delta)
    assert more >= fewer * (1 - 2e-3)  # A tighter method may step in: it is tighter by its grid.


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=5), st.floats(1e-6, 0.1))
def test_gaussians_are_never_promised_too_much(mus: list[float], delta: float) -> None:
    epsilon, _ = compose([Spend.gaussian(mu) for mu in mus], delta=delta)
    truth = math.sqrt(math.fsum(mu * mu for mu in mus))
    assert gaussian_delta(epsilon, mu=truth * (1 - 1e-12)) <= delta
    # Known as zCDP only, the same releases cost more.
    loose, _ = compose([Spend.zcdp(Fraction(mu) ** 2 / 2) for mu in mus], delta=delta)
    assert epsilon <= loose


def test_the_whole_and_its_parts() -> None:
    few = [Spend.pure(2), *[Spend.pure(0.01, bounded_range=True)] * 200]
    epsilon, delta = compose(few, delta=1e-6)
    # The large one added, the many small ones concentrated: neither alone comes near.
    apart = 2 + zcdp_epsilon(1e-6, rho=200 * 0.01**2 / 8)
    assert epsilon <= apart * (1 + 1e-9)
    assert apart < 0.6 * min(2 + 200 * 0.01, zcdp_epsilon(1e-6, rho=2 + 200 * 0.01**2 / 8))
    assert delta == 1e-6
    assert compose([Spend.pure(1)], delta=1e-6) == (1, 0)
    assert compose([]) == (0, 0)


def test_too_little_delta_is_refused() -> None:
    for parts in ([Spend.zcdp(1)], [Spend.approximate(1, delta=1e-5), Spend.pure(1)]):
        with pytest.raises(ParameterError, match=r"delta: .*too little"):
            compose(parts, delta=0)
    with pytest.raises(ParameterError, match="too little"):
        compose([Spend.approximate(1, delta=0.6)] * 2, delta=0.99)


def test_disjoint_parts_cost_the_most_of_each() -> None:
    whole = parallel([Spend.pure(0.5), Spend.approximate(1, delta=1e-6), Spend.pure(2)])
    assert (whole.epsilon, whole.delta, whole.rho) == (2, Fraction(1e-6), None)
    assert parallel([Spend.pure(1), Spend.gaussian(2)]).rho == 2
    assert parallel([Spend.gaussian(1), Spend.gaussian(2)]).mu == 2
    assert compose([parallel([])]) == (0, 0)
    with pytest.raises(ParameterError, match="state the latter"):
        parallel([Spend.zcdp(1), Spend.approximate(1, delta=1e-6)])


def guarantee(epsilon: float, delta: float, rho: float | None) -> Guarantee:
    return Guarantee(
        mechanism="test",
        theorem="none",
        neighbors=Neighbors.REPLACE,
        epsilon=epsilon,
        delta=delta,
        rho=rho,
        sensitivity=1,
        sensitivity_source="test",
        certificate=Certificate.EXACT,
        contingencies=(),
    )


def test_a_guarantee_is_a_spend() -> None:
    assert Spend.of(guarantee(1, 0, 1 / 8)) == Spend.pure(1, bounded_range=True)
    assert Spend.of(guarantee(1, 0, None)) == Spend.pure(1)
    assert Spend.of(guarantee(1, 1e-6, None)) == Spend.approximate(1, delta=1e-6)
    both = Spend.of(guarantee(1, 1e-6, 0.01))
    assert (both.epsilon, both.rho) == (1, Fraction(0.01))


def test_pure_is_concentrated_by_as_much_as_is_true() -> None:
    """Randomised response attains no less than the conversion without bounded range allows."""
    each, times = 0.1, 1000
    p = 1 / (1 + math.exp(-each))
    # D_a for a near 1: the mean loss, per rho.
    mean = each * (2 * p - 1)
    rho = Fraction(Spend.pure(each).rho or 0)
    assert 0.99 * rho < mean <= rho
    # A bounded range of the exponential mechanism is no property of randomised response.
    assert mean > Fraction(Spend.pure(each, bounded_range=True).rho or 0)
    assert times * mean > 0


@pytest.mark.parametrize(
    ("figures", "name"),
    [
        ({}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"epsilon": 1, "delta": 1}, "delta"),
        ({"delta": 0.1, "rho": 1}, "delta"),
        ({"rho": -1}, "rho"),
        ({"mu": math.nan}, "mu"),
        ({"mu": "1"}, "mu"),
    ],
    ids=str,
)
def test_bad_figures_are_named(figures: dict[str, Any], name: str) -> None:
    with pytest.raises(ParameterError, match=name):
        Spend(**figures)


def test_what_is_no_spend() -> None:
    for ask in (compose, parallel):
        with pytest.raises(ParameterError, match="spends"):
            ask([0.1])  # on purpose


# -- zCDP against Gaussian noise, for which the accountant of dp-accounting is exact ------------


@pytest.mark.parametrize("epsilon", [1e-4, 1e-2, 1.0, 8.0])
@pytest.mark.parametrize("delta", [1e-5, 1e-9])
@pytest.mark.parametrize("n", [1, 100])
def test_conversions_against_the_pld(epsilon: float, delta: float, n: int) -> None:
    from dp_accounting import GaussianDpEvent
    from dp_accounting.pld import PLDAccountant

    def pld(mu: float) -> float:
        account = PLDAccountant(value_discretization_interval=epsilon / 1000)
        account.compose(GaussianDpEvent(math.sqrt(n) / mu), n)
        return float(account.get_epsilon(delta))

    from oracle_dp.accounting import gaussian_mu

    assert pld(gaussian_mu(epsilon, delta=delta)) == pytest.approx(epsilon, rel=1e-3)
    rho = zcdp_rho(epsilon, delta=delta)
    concentrated = pld(math.sqrt(2 * rho))
    assert concentrated <= epsilon
    each = [Spend.gaussian(math.sqrt(2 * rho / n))] * n
    assert compose(each, delta=delta)[0] == pytest.approx(concentrated, rel=1e-3)
    assert zcdp_epsilon(delta, rho=rho) <= epsilon
