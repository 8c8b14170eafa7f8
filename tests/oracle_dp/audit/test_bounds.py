"""Lower bounds on epsilon: from laws, from draws, from one run."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from oracle_dp.audit import (
    audit_by_draws,
    audit_in_one_run,
    counted_epsilon,
    event_epsilon,
    exact_epsilon,
    one_run_epsilon,
)
from oracle_dp.audit.one_run import chance
from oracle_dp.errors import ParameterError
from oracle_dp.noise import BitSource, SeededBits, bernoulli_exp, rational, two_sided_geometric

LAWS = st.lists(st.floats(0.01, 1), min_size=4, max_size=4).map(
    lambda weights: {i: w / sum(weights) for i, w in enumerate(weights)}
)


@given(LAWS, LAWS, st.sampled_from([0.0, 0.01, 0.3]))
@settings(deadline=None, max_examples=50)
def test_the_exact_bound_is_the_best_of_all_events(
    first: dict[int, float], second: dict[int, float], delta: float
) -> None:
    best = 0.0
    for size in range(1, 5):
        for event in itertools.combinations(range(4), size):
            p, q = (sum(law[i] for i in event) for law in (first, second))
            for own, other in ((p, q), (q, p)):
                if own > delta:
                    best = max(best, math.log((own - delta) / other))
    assert exact_epsilon(first, second, delta=delta) == pytest.approx(best, abs=1e-8)
    assert exact_epsilon(first, second, delta=delta) <= best


def test_outcomes_of_one_law_alone() -> None:
    first, second = {"a": 0.9, "b": 0.1}, {"a": 1.0}
    assert exact_epsilon(first, second) == math.inf
    # With delta = 0.1 the other outcome is forgiven; what is left is log(1 / 0.9) at most.
    assert exact_epsilon(first, second, delta=0.1) == pytest.approx(0.0, abs=1e-8)
    assert exact_epsilon(second, first, delta=0.05) > 0.6
    assert event_epsilon(0.1, 0.0, delta=0.1) == -math.inf


@pytest.mark.parametrize(
    ("law", "delta"),
    [
        ({"a": 0.5}, 0.0),
        ({"a": 1.5, "b": -0.5}, 0.0),
        ({"a": 1.0}, 1.0),
        ({"a": math.nan, "b": 0.5}, 0.0),
        ({"b": 0.5, "a": math.nan}, 0.0),
    ],
)
def test_what_is_no_law_is_refused(law: dict[str, float], delta: float) -> None:
    with pytest.raises(ParameterError):
        exact_epsilon(law, {"a": 1.0}, delta=delta)


@pytest.mark.parametrize("pair", [(math.nan, 0.1), (0.5, math.nan)])
def test_what_is_no_probability_does_not_pass_for_nothing_shown(pair: tuple[float, float]) -> None:
    with pytest.raises(ParameterError, match="not NaN"):
        event_epsilon(*pair, delta=0.0)


def test_clopper_pearson_against_the_binomial_law() -> None:
    """The bounds are where the binomial tails are half the error."""
    draws, k, m, error = 50, 20, 4, 0.02
    grid = np.linspace(0, 1, 100_001)
    low = grid[binom.sf(k - 1, draws, grid) >= error / 2].min()
    high = grid[binom.cdf(m, draws, grid) >= error / 2].max()
    bound = counted_epsilon(k, m, draws=draws, error=error)
    assert bound == pytest.approx(math.log(low / high), abs=1e-3)
    assert counted_epsilon(0, 0, draws=10, error=error) == -math.inf
    assert counted_epsilon(10, 10, draws=10, error=error) < 0


@pytest.mark.parametrize(
    "bad", [{"error": 0.0}, {"error": 1.0}, {"first": 11}, {"second": -1}, {"delta": 1.0}]
)
def test_counts_out_of_range_are_refused(bad: dict[str, float]) -> None:
    figures = {"first": 3, "second": 2, "error": 0.01, "delta": 0.0, **bad}
    first, second = int(figures.pop("first")), int(figures.pop("second"))
    with pytest.raises(ParameterError):
        counted_epsilon(first, second, draws=10, **figures)


def geometric(exponent: str, value: int, draws: int, source: BitSource) -> Iterable[int]:
    """A count with two-sided noise of pure epsilon ``exponent``, clipped."""
    for _ in range(draws):
        noisy = value + two_sided_geometric(rational("exponent", exponent), source)
        yield max(-3, min(4, noisy))


def test_draws_show_a_halved_noise_and_no_more_than_there_is() -> None:
    def shown(exponent: str, seed: int, error: float = 1e-5) -> float:
        def draws(value: int, number: int, source: BitSource) -> Iterable[int]:
            return geometric(exponent, value, number, source)

        return audit_by_draws(draws, [(0, 1), (1, 1)], draws=1_500, error=error, random_state=seed)

    assert 0.5 < shown("1", 1) <= 1
    assert 1 < shown("2", 1) <= 2
    # Even at an error of one in ten, so often it is exceeded at most.
    assert sum(shown("1", seed, error=0.1) > 1 for seed in range(15)) <= 1


def test_without_a_difference_nothing_is_shown() -> None:
    def draws(_: int, number: int, source: BitSource) -> Iterable[int]:
        return (source.bits(6) for _ in range(number))

    for seed in range(20):
        # 64 outcomes: some event always looks bad on the draws that chose it.
        assert audit_by_draws(draws, [(0, 1)], draws=400, error=0.01, random_state=seed) == 0


@pytest.mark.parametrize("bad", [{"draws": 3}, {"pairs": []}, {"delta": -0.1}, {"error": 2.0}])
def test_audits_that_cannot_be_are_refused(bad: dict[str, object]) -> None:
    given: dict[str, object] = {"pairs": [(0, 1)], "draws": 10, **bad}
    with pytest.raises(ParameterError):
        audit_by_draws(lambda data, number, source: [data] * number, **given)


# -- one run -----------------------------------------------------------------------------------


def test_randomised_response_in_one_run() -> None:
    """The worst case of the theorem: every guess is right with e^eps / (1 + e^eps)."""

    def attack(states: np.ndarray, source: BitSource) -> np.ndarray:
        # exp(-1) / (1 + exp(-1)) for a lie: rejection of (lie, rejected).
        def lies() -> bool:
            while True:
                if source.bits(1):
                    return False
                if bernoulli_exp(1, source):
                    return True

        return np.array([(1 if s else -1) * (-1 if lies() else 1) for s in states])

    shown = [audit_in_one_run(attack, canaries=5_000, random_state=seed) for seed in range(3)]
    assert all(0.8 < bound <= 1 for bound in shown)
    sure = audit_in_one_run(lambda states, _: np.where(states, 1, -1), canaries=200, random_state=0)
    assert sure > 2.5
    none = audit_in_one_run(lambda states, _: np.zeros(len(states)), canaries=20, random_state=0)
    assert none == 0


def test_the_tail_with_delta_by_its_definition() -> None:
    canaries, guesses, right, epsilon, delta = 40, 30, 22, 0.3, 0.01
    p = math.exp(epsilon) / (1 + math.exp(epsilon))

    def f(v: int) -> float:
        return sum(
            math.comb(guesses, j) * p**j * (1 - p) ** (guesses - j)
            for j in range(max(v, 0), guesses + 1)
        )

    steepest = max((f(right - i) - f(right)) / i for i in range(1, right + 1))
    expected = f(right) + 2 * canaries * delta * steepest
    assert chance(right, guesses, epsilon, delta=delta, canaries=canaries) == pytest.approx(
        expected
    )
    assert chance(right, guesses, epsilon, delta=0, canaries=canaries) == pytest.approx(f(right))
    # What delta forgives cannot be shown.
    pure = one_run_epsilon(950, 1000, canaries=1000, error=0.01)
    assert one_run_epsilon(950, 1000, canaries=1000, delta=1e-4, error=0.01) < pure < 3
    assert one_run_epsilon(950, 1000, canaries=1000, delta=0.5, error=0.01) == 0


@pytest.mark.parametrize(
    ("right", "guesses", "error"), [(5, 4, 0.1), (1, 11, 0.1), (-1, 4, 0.1), (1, 2, 0.0)]
)
def test_guesses_out_of_range_are_refused(right: int, guesses: int, error: float) -> None:
    with pytest.raises(ParameterError):
        one_run_epsilon(right, guesses, canaries=10, error=error)


def test_an_attack_that_does_not_guess_is_refused() -> None:
    with pytest.raises(ParameterError, match="attack"):
        audit_in_one_run(lambda states, _: [2] * len(states), canaries=5, random_state=0)
    with pytest.raises(ParameterError, match="canaries"):
        audit_in_one_run(lambda states, _: states, canaries=0, random_state=SeededBits(0))
