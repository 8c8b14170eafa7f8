"""The gaps of the rates experiment are gaps."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.variational_problems import law, saddle_gap
from oracles.monotone import sample_points


@pytest.mark.parametrize("problem", ["bilinear", "group_robust"])
def test_saddle_gaps_are_positive(problem: str) -> None:
    population = law(problem)
    points = sample_points(population.domain, 5, np.random.default_rng(0))
    assert min(saddle_gap(population, point) for point in points) > 0
