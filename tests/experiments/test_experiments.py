"""The experiments' own sums: the same config gives the same records, and slopes are slopes."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from experiments import lift_excess, parity_epsilon, private_programs, variational_rates
from experiments.framework import Config, Experiment, Record
from experiments.framework.records import load, path_of
from experiments.private_programs_captions import family
from experiments.private_programs_numbers import excess, half_width_of_excess
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
    # 12.71 is Student's t for two values, whose mean has a standard error of 1.
    assert half_width_of_excess(records, "losses") == pytest.approx(12.706 / 10, abs=1e-4)


def test_a_plans_choices_are_judged_by_the_records() -> None:
    def of(mechanism: str, losses: list[int], **more: Any) -> Record:
        config = {"instance": "x", "records": 10, "mechanism": mechanism, "epsilon": 1.0}
        return {"id": mechanism, "config": config, "losses": losses, **more}

    exact = of("exponential", [100, 101, 100], outcome="released")
    planned = {**of("auto", []), "chosen": "opdisc"}
    clear = of("opdisc", [200, 201, 200], outcome="released")
    near = of("opdisc", [100, 102, 101], outcome="released")
    refused = of("opdisc", [], outcome="refused")

    def said(taken: Record, chosen: str = "opdisc") -> str:
        parts = family("covering", [exact, {**planned, "chosen": chosen}, taken])
        return "".join(part if isinstance(part, str) else part.text for part in parts)

    assert "in 0; in 0" in said(clear)
    assert "opdisc 100 %, where exponential has 0.333 %." in said(clear)
    assert "opdisc was refused, where exponential has 0.333 %." in said(refused)
    assert "(intervals overlap)" in said(near)
    assert "in 1; in 0" in said(clear, "exponential")
    assert "in 1; in 1" in said(near, "exponential")


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
