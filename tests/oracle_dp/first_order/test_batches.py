"""Poisson batches: their law, and what runs over them are charged for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from oracle_dp.accounting import poisson_gaussian_epsilon
from oracle_dp.first_order.batches import poisson_batch, poisson_positions
from oracle_dp.first_order.sgd import stochastic_gradient_descent
from oracle_dp.noise import SeededBits
from oracle_dp.record_losses import LinearModelLoss
from oracle_dp.second_order.minibatch import minibatch_newton


@pytest.mark.parametrize("probability", [0.02, 0.3, 0.9])
def test_every_position_is_drawn_by_itself_with_its_probability(probability) -> None:
    source, draws, n = SeededBits(1), 4000, 12
    drawn = np.zeros((draws, n), dtype=bool)
    for row in drawn:
        positions = poisson_positions(n, probability, source)
        assert (np.diff(positions) > 0).all()
        row[positions] = True
    # 12 positions, and 11 pairs of neighbours, at a level of 1e-6 each.
    for column in drawn.T:
        assert binomtest(int(column.sum()), draws, probability).pvalue > 1e-6
    for one, two in zip(drawn.T, drawn.T[1:], strict=False):
        assert binomtest(int((one & two).sum()), draws, probability**2).pvalue > 1e-6


def test_the_ends_of_the_range() -> None:
    source = SeededBits(2)
    assert list(poisson_positions(5, 1.0, source)) == [0, 1, 2, 3, 4]
    assert len(poisson_positions(5, 1e-300, source)) == 0
    assert len(poisson_positions(0, 0.5, source)) == 0


def test_records_are_drawn_and_not_cells() -> None:
    # 900 equal records are one cell: its weight in a batch is binomial.
    x = np.vstack([np.tile([0.5, 0.0], (900, 1)), [[0.0, 0.5]]])
    losses = LinearModelLoss.from_data(x, np.ones(901))
    assert losses.problem.rows.n_rows == 2
    source = SeededBits(3)
    weights = [poisson_batch(losses, 0.1, 90.1, source).rows.total_weight for _ in range(300)]
    assert np.mean(weights) == pytest.approx(90.1, abs=2.5)
    assert np.std(weights) == pytest.approx(9.0, abs=1.5)
    assert poisson_batch(losses, 0.1, 90.1, source).divisor == 90.1


@pytest.mark.parametrize("relation", ["zero_out", "replace"])
@pytest.mark.parametrize(
    ("run", "per_step"), [(stochastic_gradient_descent, 1), (minibatch_newton, 2)]
)
def test_noise_is_for_all_that_is_released(run, per_step, relation, monkeypatch) -> None:
    scales: list[float] = []

    def keep(exact: np.ndarray, scale: float, source: Any) -> np.ndarray:
        scales.append(scale)
        return exact + 1.0

    monkeypatch.setattr("oracle_dp.mechanisms.spending.noisy", keep)
    losses = LinearModelLoss.from_data(np.eye(200) / 2, np.ones(200))
    run(losses, epsilon=1.0, delta=1e-6, steps=4, batch=40, neighbors=relation, random_state=1)
    assert len(scales) == 4 * per_step
    spent = poisson_gaussian_epsilon(
        1e-6, noise_multiplier=scales[0] * 40, sampling_probability=0.2, steps=4 * per_step,
        neighbors=relation,
    )  # fmt: skip
    assert 0.98 < spent <= 1 + 1e-9
