"""The Gaussian mechanism: against numerical integration, another library, and itself."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle_dp import ParameterError
from oracle_dp.accounting import gaussian_delta, gaussian_epsilon, gaussian_mu
from oracle_dp.accounting.gaussian import composed_mu


def hockey_stick(epsilon: float, mu: float) -> mpmath.mpf:
    """The integral of (p - e^epsilon q)_+ over the line, of N(mu, 1) and N(0, 1)."""
    with mpmath.workdps(60):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        start = e / m + m / 2

        def gap(z: mpmath.mpf) -> mpmath.mpf:
            return mpmath.npdf(z, m) - mpmath.exp(e) * mpmath.npdf(z)

        widths = [mpmath.mpf(w) for w in (0, 0.05, 0.2, 0.5, 1, 2, 4, 8, 16, 40)]
        scale = max(mpmath.mpf(1), 1)
        return mpmath.quad(gap, [start + w * scale for w in widths])


@pytest.mark.parametrize(
    ("epsilon", "mu"),
    [(0, 1), (1, 1), (1e-6, 1e-6), (1e-6, 1.0), (0.1, 0.02), (10, 3), (1e3, 40), (1e6, 1400)],
)
def test_delta_is_the_integral_rounded_up(epsilon: float, mu: float) -> None:
    truth = hockey_stick(epsilon, mu)
    delta = gaussian_delta(epsilon, mu=mu)
    assert delta >= truth * (1 - mpmath.mpf(10) ** -25)
    assert math.nextafter(delta, 0) < truth


def test_delta_far_out() -> None:
    assert gaussian_delta(1, mu=0.027) == pytest.approx(float(hockey_stick(1, 0.027)), rel=1e-12)
    assert 0 < gaussian_delta(1, mu=0.027) < 1e-300
    # Below every float: rounded up, not to nothing.
    assert gaussian_delta(1e6, mu=1) == 5e-324
    assert gaussian_delta(1e6, mu=0) == 0
    assert gaussian_delta(0, mu=1e6) == 1


# At epsilon = 0 the deltas are total variation distances, which tables of the normal law give.
def test_published_values() -> None:
    assert gaussian_delta(0, mu=2) == pytest.approx(0.6826894921370859, rel=1e-15)
    # Dong, Roth, Su 2022: 1-GDP is (epsilon, delta) with the values of Corollary 2.13; the second
    # is Phi(-1/2) - e Phi(-3/2) from a table of the normal law.
    assert gaussian_delta(1, mu=1) == pytest.approx(0.30853754 - math.e * 0.06680720, abs=2e-8)


@pytest.mark.parametrize(
    ("epsilon", "delta"), list(itertools.product([1e-4, 0.1, 1.0, 10.0], [1e-5, 1e-9])), ids=str
)
def test_as_dp_accounting_has_it(epsilon: float, delta: float) -> None:
    from dp_accounting import get_epsilon_gaussian, get_sigma_gaussian

    mu = gaussian_mu(epsilon, delta=delta)
    assert mu == pytest.approx(1 / get_sigma_gaussian(epsilon, delta), rel=1e-3)
    theirs = get_epsilon_gaussian(1 / mu, delta)
    assert gaussian_epsilon(delta, mu=mu) == pytest.approx(theirs, rel=1e-3, abs=1e-9)


epsilons = st.floats(1e-6, 1e6)
deltas = st.floats(1e-300, 0.999)
mus = st.floats(1e-6, 1e3)


@settings(deadline=None)
@given(epsilons, deltas)
def test_mu_is_the_last_that_is_allowed(epsilon: float, delta: float) -> None:
    mu = gaussian_mu(epsilon, delta=delta)
    assert gaussian_delta(epsilon, mu=mu) <= delta
    more = math.nextafter(mu, math.inf)
    assert gaussian_delta(epsilon, mu=more) > math.nextafter(delta, 0)
    assert gaussian_epsilon(delta, mu=mu) <= epsilon


@settings(deadline=None)
@given(deltas, mus)
def test_epsilon_is_the_first_that_is_enough(delta: float, mu: float) -> None:
    epsilon = gaussian_epsilon(delta, mu=mu)
    assert gaussian_delta(epsilon, mu=mu) <= delta
    if epsilon > 0:
        assert gaussian_delta(math.nextafter(epsilon, 0), mu=mu) > math.nextafter(delta, 0)


@settings(deadline=None)
@given(deltas, mus, st.integers(1, 3))
def test_monotone_to_the_last_bit(delta: float, mu: float, ulps: int) -> None:
    def up(value: float) -> float:
        for _ in range(ulps):
            value = math.nextafter(value, math.inf)
        return value

    assert gaussian_epsilon(up(delta), mu=mu) <= gaussian_epsilon(delta, mu=mu)
    assert gaussian_epsilon(delta, mu=up(mu)) >= gaussian_epsilon(delta, mu=mu)
    assert gaussian_delta(up(mu), mu=1.0) <= gaussian_delta(mu, mu=1.0)
    assert gaussian_mu(up(mu), delta=delta) >= gaussian_mu(mu, delta=delta)


@settings(deadline=None)
@given(st.lists(st.fractions(min_value=0, max_value=5), max_size=5), st.integers(1, 1000))
def test_composition_is_never_below_the_root(parts: list[Fraction], times: int) -> None:
    whole = composed_mu(parts, times=times)
    square = times * sum((mu * mu for mu in parts), Fraction(0))
    assert whole * whole >= square
    assert float(whole) == pytest.approx(math.sqrt(square), rel=1e-14)


def test_the_accountants_are_imported_where_they_are_used() -> None:
    program = "import sys, oracle_dp.accounting; print('dp_accounting' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_half_the_noise_is_caught() -> None:
    assert gaussian_delta(1, mu=2 * gaussian_mu(1, delta=1e-6)) > 1e-6


Bad = tuple[Callable[..., float], tuple[Any, ...], dict[str, Any], str]
BAD: list[Bad] = [
    (gaussian_delta, (-1,), {"mu": 1}, "epsilon"),
    (gaussian_delta, (math.nan,), {"mu": 1}, "epsilon"),
    (gaussian_delta, (1,), {"mu": -1}, "mu"),
    (gaussian_delta, (1,), {"mu": math.inf}, "mu"),
    (gaussian_delta, ("1",), {"mu": 1}, "epsilon"),
    (gaussian_delta, (True,), {"mu": 1}, "epsilon"),
    (gaussian_epsilon, (0,), {"mu": 1}, "delta"),
    (gaussian_epsilon, (1,), {"mu": 1}, "delta"),
    (gaussian_epsilon, (0.5,), {"mu": 1e5}, "mu"),
    (gaussian_mu, (1e7,), {"delta": 0.5}, "epsilon"),
    (gaussian_mu, (1,), {"delta": np.float64("nan")}, "delta"),
    (gaussian_mu, (1,), {"delta": None}, "delta"),
]


@pytest.mark.parametrize(
    ("function", "given_", "named", "name"), BAD, ids=lambda part: getattr(part, "__name__", None)
)
def test_bad_input_is_named(
    function: Callable[..., float], given_: Any, named: Any, name: str
) -> None:
    with pytest.raises(ParameterError, match=name):
        function(*given_, **named)


def test_numbers_of_every_kind() -> None:
    expected = gaussian_delta(0.5, mu=2.0)
    assert gaussian_delta(Fraction(1, 2), mu=2) == expected
    assert gaussian_delta(np.float32(0.5), mu=np.int64(2)) == expected  # a Real
