"""The published conversion of epsilon: solved where it is, and wrong where it is not."""

from __future__ import annotations

import json
import math

import pytest

from experiments import second_order_conversion
from experiments.second_order_conversion import from_public_code
from oracle_dp.accounting import gaussian_delta


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 10.0])
def test_it_solves_its_equation_at_larger_epsilon(epsilon: float) -> None:
    rho, solved = from_public_code(epsilon, 1e-8)
    assert solved
    right = rho + math.sqrt(4 * rho * math.log(math.sqrt(math.pi * rho) / 1e-8))
    assert right == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.01, 0.03, 0.1])
def test_it_returns_its_starting_point_at_small_epsilon(epsilon: float) -> None:
    assert from_public_code(epsilon, 1e-8) == (second_order_conversion.START, False)


def test_records() -> None:
    configs = second_order_conversion.configs(True)
    assert json.loads(json.dumps(configs)) == configs
    found = [record for config in configs for record in second_order_conversion.run(config)]
    for record in found:
        asked, spent = record["epsilon"], record["spent"]
        assert spent["formula"] < asked  # Valid, and wasteful.
        assert spent["ours"] == pytest.approx(asked, rel=1e-6)
        assert (spent["code"] > 2 * asked) == (asked <= 0.1) == (not record["solved"])
        # What is said to be spent is: delta at that epsilon is the one of the target.
        mu = math.sqrt(2 * record["rho"]["code"])
        assert gaussian_delta(spent["code"], mu=mu) == pytest.approx(record["delta"], rel=1e-3)
    assert second_order_conversion.run(configs[0]) == found[:1]
