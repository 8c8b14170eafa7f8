"""Noise against dp-accounting's accountants, and a scheme accounted for as another is caught."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from dp_accounting import (
    GaussianDpEvent,
    NeighboringRelation,
    PoissonSampledDpEvent,
    SampledWithoutReplacementDpEvent,
    SelfComposedDpEvent,
)
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

from oracle_dp import ParameterError
from oracle_dp.accounting import poisson_gaussian_noise_multiplier
from oracle_dp.variational import PrivacyTarget, Sampling
from oracle_dp.variational.calibration import (
    Schedule,
    noise_multiplier,
    proximal_contribution,
    proximal_sensitivity,
)

TABLE = [
    (sampling, relation, epsilon, delta)
    for sampling, relation in [
        (Sampling.SINGLE_PASS, "replace"),
        (Sampling.SINGLE_PASS, "zero_out"),
        (Sampling.FULL, "replace"),
        (Sampling.FULL, "zero_out"),
        (Sampling.POISSON, "replace"),
        (Sampling.POISSON, "zero_out"),
        (Sampling.FIXED_SIZE, "replace"),
    ]
    for epsilon, delta in [(0.5, 1e-6), (1.0, 1e-6), (4.0, 1e-5)]
]
N, BATCH, STEPS = 1000, 32, 200


def schedule(sampling: Sampling) -> Schedule:
    if sampling is Sampling.FULL:
        return Schedule(sampling=sampling, n_records=N, batch_size=N, releases=STEPS)
    releases = N // BATCH if sampling is Sampling.SINGLE_PASS else STEPS
    return Schedule(sampling=sampling, n_records=N, batch_size=BATCH, releases=releases)


def spent(sampling: Sampling, relation: str, z: float, delta: float) -> float:
    """Epsilon by dp-accounting itself; z is noise over one record's contribution."""
    reach = 2 if relation == "replace" else 1
    if sampling is Sampling.FIXED_SIZE:
        event = SampledWithoutReplacementDpEvent(N, BATCH, GaussianDpEvent(z / 2))
        account = RdpAccountant([*range(2, 64), 128, 256, 512], NeighboringRelation.REPLACE_ONE)
        return account.compose(SelfComposedDpEvent(event, STEPS)).get_epsilon(delta)
    if sampling is Sampling.POISSON:
        named = {
            "replace": NeighboringRelation.REPLACE_ONE,
            "zero_out": NeighboringRelation.REPLACE_SPECIAL,
        }
        event = PoissonSampledDpEvent(BATCH / N, GaussianDpEvent(z))
        account = PLDAccountant(named[relation])
        return account.compose(SelfComposedDpEvent(event, STEPS)).get_epsilon(delta)
    times = STEPS if sampling is Sampling.FULL else 1
    account = PLDAccountant()
    account.compose(SelfComposedDpEvent(GaussianDpEvent(z / reach), times))
    return account.get_epsilon(delta)


def check(
    sampling: Sampling,
    relation: str,
    epsilon: float,
    delta: float,
    calibrate: Callable[[Schedule, PrivacyTarget], float],
) -> tuple[float, float]:
    """Epsilons that dp-accounting finds for 1% more and 1% less noise; ours is between."""
    z = calibrate(schedule(sampling), PrivacyTarget.checked(epsilon, delta, relation))
    more = spent(sampling, relation, z * 1.01, delta)
    less = spent(sampling, relation, z / 1.01, delta)
    assert more <= epsilon < less
    return more, less


@pytest.mark.parametrize(("sampling", "relation", "epsilon", "delta"), TABLE)
def test_noise_is_within_one_percent_of_what_the_accountant_needs(
    sampling: Sampling, relation: str, epsilon: float, delta: float
) -> None:
    more, less = check(sampling, relation, epsilon, delta, noise_multiplier)
    print(
        f"{sampling.value:11} {relation:8} epsilon {epsilon} delta {delta:g}: "
        f"{more:.4f} with 1% more noise, {less:.4f} with 1% less"
    )


def test_fixed_batches_accounted_for_as_poisson_are_caught() -> None:
    """The mutant's noise is short by half; under it epsilon is more than twice the claim."""

    def mutant(schedule: Schedule, target: PrivacyTarget) -> float:
        return poisson_gaussian_noise_multiplier(
            float(target.epsilon), delta=float(target.delta), steps=schedule.releases,
            sampling_probability=schedule.batch_size / schedule.n_records, neighbors="zero_out",
        )  # fmt: skip

    with pytest.raises(AssertionError):
        check(Sampling.FIXED_SIZE, "replace", 1.0, 1e-6, mutant)
    short = mutant(schedule(Sampling.FIXED_SIZE), PrivacyTarget.checked(1.0, 1e-6, "replace"))
    assert spent(Sampling.FIXED_SIZE, "replace", short, 1e-6) > 2.0


def test_proximal_sensitivity_is_the_root_of_its_equation() -> None:
    for change, modulus, accuracy in [(0.1, 2.0, 1e-3), (1e-6, 50.0, 1e-12), (0.3, 0.5, 0.0)]:
        a = proximal_sensitivity(change, modulus=modulus, accuracy=accuracy)
        assert modulus * a * a >= change * a + 2 * accuracy
        b = a * (1 - 1e-9)
        assert modulus * b * b < change * b + 2 * accuracy


def test_known_values_of_the_sensitivity() -> None:
    """The paper's 4 M / (lambda B) at its own nu, and what zero-out really needs (2.56, not 2)."""
    lam, batch, bound = 3.0, 10, 2.0
    nu = 2 * bound**2 / (lam * batch**2)
    unit = bound / (lam * batch)
    replaced = proximal_sensitivity(2 * bound / batch, modulus=lam, accuracy=nu)
    assert replaced / unit == pytest.approx(1 + math.sqrt(5))
    assert replaced < 4 * unit
    zeroed = proximal_sensitivity(bound / batch, modulus=lam, accuracy=nu)
    assert zeroed / unit == pytest.approx((1 + math.sqrt(17)) / 2)
    assert zeroed > 2 * unit


def test_a_contribution_is_half_of_a_replacement_except_under_poisson() -> None:
    target = PrivacyTarget.checked(1.0, 1e-6, "replace")
    common = {"n_records": 100, "batch_size": 10, "releases": 5}
    fixed, poisson = (
        proximal_contribution(
            Schedule(sampling=sampling, **common), target, bound=2.0, modulus=4.0, accuracy=1e-9
        )
        for sampling in (Sampling.FIXED_SIZE, Sampling.POISSON)
    )
    assert fixed == pytest.approx(2.0 / (4.0 * 10), rel=1e-3)
    assert poisson == pytest.approx(2.0 / (4.0 * 10), rel=1e-3)
    assert poisson > fixed


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: PrivacyTarget.checked(1.0, 1e-6, "add_remove"), "neighbors: the number of rec"),
        (lambda: PrivacyTarget.checked(1.0, 1.0, "replace"), r"delta: lies in \(0, 1\)"),
        (lambda: PrivacyTarget.checked(0.0, 0.1, "replace"), "epsilon"),
        (lambda: schedule_of(Sampling.POISSON, batch_size=101), "batch_size: 101 exceeds n = 100"),
        (lambda: schedule_of(Sampling.FULL, batch_size=10), "batch_size: n = 100 expected"),
        (lambda: schedule_of(Sampling.SINGLE_PASS, releases=11), "lower steps or batch_size"),
        (lambda: schedule_of(Sampling.POISSON, releases=0), "releases: a positive"),
        (
            lambda: noise_multiplier(
                schedule_of(Sampling.FIXED_SIZE), PrivacyTarget.checked(1.0, 1e-6, "zero_out")
            ),
            "neighbors='replace' only; use sampling='poisson'",
        ),
    ],
)
def test_bad_schedules_are_named(make: Callable[[], object], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        make()


def schedule_of(sampling: Sampling, *, batch_size: int = 10, releases: int = 5) -> Schedule:
    return Schedule(sampling=sampling, n_records=100, batch_size=batch_size, releases=releases)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-11])
def test_noise_for_a_tiny_epsilon_is_found(epsilon: float) -> None:
    """The search ends, with what dp-accounting finds on a grid finer than the losses."""
    z = noise_multiplier(
        schedule_of(Sampling.POISSON), PrivacyTarget.checked(epsilon, 1e-6, "replace")
    )

    def delta_at(noise: float) -> float:
        account = PLDAccountant(
            NeighboringRelation.REPLACE_ONE, value_discretization_interval=2e-10
        )
        event = PoissonSampledDpEvent(0.1, GaussianDpEvent(noise))
        return float(account.compose(SelfComposedDpEvent(event, 5)).get_delta(epsilon))

    assert delta_at(1.01 * z) <= 1e-6 < delta_at(z / 1.01)
