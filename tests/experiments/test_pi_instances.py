"""The registered experiment, smaller: it finds a planted fault and no violation."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.pi_instances import (
    INSTANCES,
    exact_noise,
    fast_noise,
    instance,
    lower_epsilon,
    outcomes,
)


@pytest.mark.parametrize("number", range(INSTANCES))
def test_no_violation_is_found(number: int) -> None:
    given = instance(number)
    assert lower_epsilon(given, outcomes(given, 10_000, fast_noise(given))) <= given.epsilon


@pytest.mark.parametrize("noise", ["gamma_norm", "gaussian"])
def test_a_tenth_of_the_noise_is_found(noise: str) -> None:
    given = [g for g in map(instance, range(INSTANCES)) if g.noise == noise]
    found = [lower_epsilon(g, outcomes(g, 20_000, fast_noise(g, share=0.1))) for g in given]
    assert any(measured > g.epsilon for measured, g in zip(found, given, strict=True))


@pytest.mark.parametrize("number", [1, 2])
def test_both_samplers_have_the_same_law(number: int) -> None:
    given = instance(number)
    shares = [
        np.bincount(outcomes(given, 4_000, draw)[0], minlength=len(given.first)) / 4_000
        for draw in (exact_noise(given), fast_noise(given))
    ]
    # Five standard errors of a difference of shares.
    assert np.abs(shares[0] - shares[1]).max() < 5 * np.sqrt(0.5 / 4_000)
