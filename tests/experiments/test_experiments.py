"""The experiments' own sums: the same config gives the same records, and slopes are slopes."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy.stats import norm

from experiments import lift_excess, parity_epsilon, private_programs, variational_rates
from experiments.framework import Config, Experiment, Record
from experiments.framework.records import load, path_of
from experiments.private_programs_page import excess
from experiments.variational_slopes import exponent, slope, slope_half_width, unsaturated


def timeless(record: Record) -> Record:
    return {name: value for name, value in record.items() if "seconds" not in name}


@pytest.mark.parametrize(
    ("experiment", "chosen"),
    [
        (lift_excess.EXPERIMENT, {"lift": "one_hot", "epsilon": 1.0}),
        (parity_epsilon.EXPERIMENT, {"dimension": 4, "noise": "gamma_norm"}),
        (private_programs.EXPERIMENT, {"mechanism": "counts", "epsilon": 0.1}),
        (private_programs.EXPERIMENT, {"mechanism": "exponential", "family": "covering"}),
        (variational_rates.EXPERIMENT, {"method": "nispp_single", "n": 1000, "seed": 1}),
    ],
)
def test_the_same_config_gives_the_same_records(experiment: Experiment, chosen: Config) -> None:
    config = next(c for c in experiment.configs(True) if chosen.items() <= c.items())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Plans with little data say so.
        one, other = experiment.run(config), experiment.run(config)
    assert list(map(timeless, one)) == list(map(timeless, other))
    for record in one:
        assert {"neighbors", "epsilon", "delta", "guarantee"} <= record.keys()


def test_the_original_scale_against_its_formula() -> None:
    """P'[S] = (2 Q(sqrt d / sigma))^d / 2, sigma = 7 d sqrt(ln(1/delta)) / (8 epsilon)."""
    for record in load(path_of("parity_epsilon", quick=False)):
        if record["config"]["noise"] != parity_epsilon.ORIGINAL:
            assert record["shown_epsilon"] <= record["epsilon"] + 1e-9
            continue
        d, epsilon, delta = (record["config"][k] for k in ("dimension", "epsilon", "delta"))
        sigma = 7 * d * math.sqrt(math.log(1 / delta)) / (8 * epsilon)
        second = (2 * norm.sf(math.sqrt(d) / sigma)) ** d / 2
        assert record["shown_epsilon"] == pytest.approx(
            max(0, math.log((0.5 - delta) / second)), abs=1e-6
        )


def test_the_original_scale_is_refuted_more_and_more() -> None:
    bad = [
        r["shown_epsilon"]
        for r in load(path_of("parity_epsilon", quick=False))
        if {"noise": parity_epsilon.ORIGINAL, "delta": 1e-6, "epsilon": 1.0}.items()
        <= r["config"].items()
    ]
    assert max(bad) > 7


def test_excess_is_from_the_least_of_all() -> None:
    records = [{"losses": [12, 14]}, {"losses": [10]}, {"losses": [11, 20]}]
    assert excess(records, "losses") == pytest.approx(0.3)
    assert excess([{"losses": [-90]}, {"losses": [-100]}], "losses") == pytest.approx(0.1)


def test_slopes_of_a_power_law() -> None:
    generator = np.random.default_rng(0)
    records = [
        {
            "config": {"n": n},
            "gap": 3 * n**-0.5 * math.exp(0.1 * generator.standard_normal()),
            "start_gap": 0.2,
            "evaluations": n**1.5,
        }
        for n in (100, 1000, 10_000)
        for _ in range(200)
    ]
    used = unsaturated(records)
    assert {r["config"]["n"] for r in used} == {1000, 10_000}
    half = slope_half_width(records, "gap")
    assert 0 < half < 0.02
    assert abs(slope(records, "gap") + 0.5) <= half
    assert exponent(records, "evaluations") == pytest.approx(1.5)
