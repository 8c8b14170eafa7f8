"""Random batches: against densities integrated on their own, and the traps of the naive calls."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import norm

from oracle_dp import ParameterError
from oracle_dp.accounting import (
    fixed_size_gaussian_epsilon,
    fixed_size_gaussian_noise_multiplier,
    gaussian_epsilon,
    poisson_gaussian_epsilon,
    poisson_gaussian_noise_multiplier,
)
from oracle_dp.accounting._renyi import fixed_size, mixture_divergence, poisson

Density = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def mixture(weights: list[float], means: list[float], sigma: float) -> Density:
    def density(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return sum(
            (w * norm.pdf(x, m, sigma) for w, m in zip(weights, means, strict=True)),
            np.zeros_like(x),
        )

    return density


def integrated_delta(epsilon: float, p: Density, q: Density, sigma: float) -> float:
    """The larger hockey-stick divergence of the two orders, by a fine sum over the line."""
    x = np.linspace(-2 - 14 * sigma, 2 + 14 * sigma, 400_001)
    px, qx, width = p(x), q(x), x[1] - x[0]
    factor = math.exp(epsilon)
    return max(float(np.maximum(a - factor * b, 0).sum() * width) for a, b in ((px, qx), (qx, px)))


def pair(relation: str, q: float, sigma: float, x: float = 1.0, other: float = -1.0) -> Any:
    """Of one step, on data whose other records contribute nothing."""
    one = mixture([1 - q, q], [0.0, x], sigma)
    if relation == "replace":
        return one, mixture([1 - q, q], [0.0, other], sigma)
    return one, mixture([1.0], [0.0], sigma)


STEPS = [(0.5, 0.7, 1e-3), (0.1, 1.0, 1e-5), (0.9, 2.0, 1e-4), (0.01, 0.5, 1e-6)]


@pytest.mark.parametrize("relation", ["replace", "add_remove", "zero_out"])
@pytest.mark.parametrize(("q", "sigma", "delta"), STEPS)
def test_one_step_is_the_integral(relation: str, q: float, sigma: float, delta: float) -> None:
    epsilon = poisson_gaussian_epsilon(
        delta, noise_multiplier=sigma, sampling_probability=q, steps=1, neighbors=relation
    )
    # Enough, and not by much.
    assert integrated_delta(epsilon, *pair(relation, q, sigma), sigma) <= delta
    assert integrated_delta(0.995 * epsilon, *pair(relation, q, sigma), sigma) > delta


@pytest.mark.parametrize(("q", "sigma", "delta"), STEPS)
def test_no_other_pair_of_records_is_worse(q: float, sigma: float, delta: float) -> None:
    epsilon = poisson_gaussian_epsilon(
        delta, noise_multiplier=sigma, sampling_probability=q, steps=1, neighbors="replace"
    )
    for x in (-1, -0.5, 0, 0.5, 1):
        for other in (-1, -0.3, 0, 0.3, 1):
            one = pair("replace", q, sigma, x, other)
            assert integrated_delta(epsilon, *one, sigma) <= delta


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_many_steps_are_bracketed(relation: str) -> None:
    """Of the losses of independent steps, drawn: never above what is claimed, and close."""
    q, sigma, steps, delta = 0.2, 1.5, 30, 1e-3
    epsilon = poisson_gaussian_epsilon(
        delta, noise_multiplier=sigma, sampling_probability=q, steps=steps, neighbors=relation
    )
    rng = np.random.default_rng(1)
    p, other = pair(relation, q, sigma)
    losses = np.zeros(400_000)
    for _ in range(steps):
        x = rng.normal(0, sigma, losses.size) + (rng.random(losses.size) < q)
        losses += np.log(p(x) / other(x))

    def estimate(at: float) -> tuple[float, float]:
        excess = np.maximum(-np.expm1(at - losses), 0)
        return float(excess.mean()), float(excess.std() / math.sqrt(losses.size))

    mean, error = estimate(epsilon)
    assert mean - 5 * error < delta
    mean, error = estimate(0.9 * epsilon)
    assert mean - 5 * error > delta


# -- traps -------------------------------------------------------------------------------------


def test_the_renyi_accountant_ignores_replacement() -> None:
    from dp_accounting import GaussianDpEvent, NeighboringRelation
    from dp_accounting.rdp import RdpAccountant

    naive = RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)
    naive.compose(GaussianDpEvent(1.0), 10)
    ours = poisson_gaussian_epsilon(
        1e-6,
        noise_multiplier=1.0,
        sampling_probability=1,
        steps=10,
        neighbors="replace",
        accountant="rdp",
    )
    truth = gaussian_epsilon(1e-6, mu=2 * math.sqrt(10))
    assert naive.get_epsilon(1e-6) < 0.6 * truth  # The naive call promises too much.
    assert truth <= ours <= 1.001 * truth


def test_the_pld_accountant_doubles_the_shift() -> None:
    from dp_accounting import GaussianDpEvent, NeighboringRelation
    from dp_accounting.pld import PLDAccountant

    # Noise over the sensitivity of the sum under replacement, 2, as one would think of it.
    naive = PLDAccountant(NeighboringRelation.REPLACE_ONE)
    naive.compose(GaussianDpEvent(1.0 / 2))
    right = PLDAccountant(NeighboringRelation.REPLACE_ONE)
    right.compose(GaussianDpEvent(1.0))
    truth = gaussian_epsilon(1e-6, mu=2)
    assert naive.get_epsilon(1e-6) > 1.5 * truth
    assert right.get_epsilon(1e-6) == pytest.approx(truth, rel=1e-3)


def test_fixed_batches_mean_another_multiplier() -> None:
    """Without replacement the accountant does not double: the naive call promises too much."""
    from dp_accounting import (
        GaussianDpEvent,
        NeighboringRelation,
        SampledWithoutReplacementDpEvent,
    )
    from dp_accounting.rdp import RdpAccountant

    sigma, n, size = 2.0, 20, 19
    naive = RdpAccountant(orders=[4], neighboring_relation=NeighboringRelation.REPLACE_ONE)
    naive.compose(SampledWithoutReplacementDpEvent(n, size, GaussianDpEvent(sigma)))
    orders, ours = fixed_size(sigma, size, n)
    # All other records contribute -1: the sum is -size, and 2 more where the batch has the record.
    truth = renyi([size / n, 1 - size / n], [2.0, 0.0], [1.0], [0.0], sigma, 4)
    assert naive.rdp[0] < 0.5 * truth
    assert truth <= ours[list(orders).index(4)] < 4 * truth


def renyi(
    wp: list[float], mp: list[float], wq: list[float], mq: list[float], sigma: float, order: float
) -> float:
    """By adaptive quadrature, of which the largest value is taken out."""

    def log_density(w: list[float], m: list[float], x: NDArray[np.float64]) -> Any:
        parts = [math.log(a) + norm.logpdf(x, b, sigma) for a, b in zip(w, m, strict=True)]
        return np.logaddexp.reduce(parts)

    def log_integrand(x: Any) -> Any:
        return order * log_density(wp, mp, x) - (order - 1) * log_density(wq, mq, x)

    ends = -15 * sigma, 2 * order + 15 * sigma
    line = np.linspace(*ends, 2001)
    values = log_integrand(line)
    peak, top = float(line[np.argmax(values)]), float(values.max())
    total, _ = quad(
        lambda x: math.exp(log_integrand(x) - top),
        *ends,
        points=[peak, 0.0, -1.0, 1.0],
        limit=2000,
        epsabs=0,
        epsrel=1e-12,
    )
    return (math.log(total) + top) / (order - 1)


@pytest.mark.parametrize("order", [1.5, 2, 8, 33.3])
@pytest.mark.parametrize(("q", "sigma"), [(0.01, 1.0), (0.5, 2.0), (0.9, 0.7), (1e-4, 20.0)])
def test_the_renyi_divergence_under_replacement(q: float, sigma: float, order: float) -> None:
    truth = renyi([1 - q, q], [0, 1], [1 - q, q], [0, -1], sigma, order)
    assert mixture_divergence(sigma, q, order) == pytest.approx(truth, rel=1e-9)


# -- accountants and calibration ---------------------------------------------------------------


@pytest.mark.parametrize("relation", ["replace", "add_remove", "zero_out"])
@pytest.mark.parametrize(("q", "sigma", "steps"), [(0.01, 1.0, 1000), (0.1, 4.0, 50)])
def test_renyi_is_never_below_the_pld(relation: str, q: float, sigma: float, steps: int) -> None:
    tight, loose = (
        poisson_gaussian_epsilon(
            1e-6,
            noise_multiplier=sigma,
            sampling_probability=q,
            steps=steps,
            neighbors=relation,
            accountant=accountant,
        )
        for accountant in ("pld", "rdp")
    )
    assert tight <= loose <= 1.4 * tight


@pytest.mark.parametrize(("relation", "epsilon"), [("replace", 1.0), ("add_remove", 1e-4)])
def test_poisson_calibration(relation: str, epsilon: float) -> None:
    fixed: dict[str, Any] = {"sampling_probability": 0.05, "steps": 100, "neighbors": relation}
    sigma = poisson_gaussian_noise_multiplier(epsilon, delta=1e-6, **fixed)
    assert poisson_gaussian_epsilon(1e-6, noise_multiplier=sigma, **fixed) <= epsilon
    assert poisson_gaussian_epsilon(1e-6, noise_multiplier=0.999 * sigma, **fixed) > epsilon


def test_millions_of_steps_take_seconds() -> None:
    """dp-accounting alone raises an integer to the power of the steps first, for minutes."""
    fixed: dict[str, Any] = {"noise_multiplier": 1, "sampling_probability": 1e-6}
    few, many = (
        poisson_gaussian_epsilon(1e-6, steps=steps, neighbors="add_remove", **fixed)
        for steps in (10_000, 3_000_001)
    )
    assert few < many < 0.1


def test_fixed_size_calibration() -> None:
    fixed: dict[str, Any] = {"batch_size": 50, "n": 1000, "steps": 20}
    sigma = fixed_size_gaussian_noise_multiplier(1.0, delta=1e-6, **fixed)
    assert fixed_size_gaussian_epsilon(1e-6, noise_multiplier=sigma, **fixed) <= 1
    assert fixed_size_gaussian_epsilon(1e-6, noise_multiplier=0.999 * sigma, **fixed) > 1


def test_whole_batches_are_exact() -> None:
    whole = gaussian_epsilon(1e-6, mu=2 * 3 / 4)
    given_ = fixed_size_gaussian_epsilon(1e-6, noise_multiplier=4, batch_size=7, n=7, steps=9)
    assert given_ == pytest.approx(whole, rel=1e-12)


def test_underflow_is_not_no_loss() -> None:
    """A step whose divergence vanishes beside 1 is not free, however many there are."""
    _, step = poisson(1e6, 1e-9, replace=False)
    assert step.min() <= 0  # What dp-accounting would take for perfect privacy.
    spent = poisson_gaussian_epsilon(
        1e-12,
        noise_multiplier=1e6,
        sampling_probability=1e-9,
        steps=1,
        neighbors="add_remove",
        accountant="rdp",
    )
    assert spent > 0


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"noise_multiplier": 0}, "noise_multiplier"),
        ({"noise_multiplier": math.nan}, "noise_multiplier"),
        ({"sampling_probability": 0}, "sampling_probability"),
        ({"sampling_probability": 1.1}, "sampling_probability"),
        ({"steps": 0}, "steps"),
        ({"steps": 1.5}, "steps"),
        ({"neighbors": "friends"}, "neighbors"),
        ({"accountant": "moments"}, "accountant"),
        ({"delta": 1e-12}, "delta"),
        ({"delta": 0}, "delta"),
    ],
    ids=str,
)
def test_bad_input_is_named(changes: dict[str, Any], name: str) -> None:
    given_: dict[str, Any] = {
        "delta": 1e-6,
        "noise_multiplier": 1.0,
        "sampling_probability": 0.1,
        "steps": 3,
        "neighbors": "replace",
        **changes,
    }
    delta = given_.pop("delta")
    with pytest.raises(ParameterError, match=name):
        poisson_gaussian_epsilon(delta, **given_)


def test_a_batch_is_not_larger_than_the_data() -> None:
    for ask, first in (
        (fixed_size_gaussian_epsilon, 1e-6),
        (fixed_size_gaussian_noise_multiplier, 1),
    ):
        extra = {"noise_multiplier": 1} if first == 1e-6 else {"delta": 1e-6}
        with pytest.raises(ParameterError, match="batch_size"):
            ask(first, batch_size=8, n=7, steps=1, **extra)  # two signatures
