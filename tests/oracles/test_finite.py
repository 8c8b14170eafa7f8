"""Finite tables."""

from __future__ import annotations

import numpy as np
import pytest

from oracles import Certificate, InfeasibleError, ProblemError
from oracles.finite import FiniteTable


def test_minimises_loss_minus_rewards_over_the_allowed_points() -> None:
    generator = np.random.default_rng(1)
    for _ in range(50):
        shape = tuple(generator.integers(2, 6, size=generator.integers(1, 4)))
        losses = generator.integers(0, 3, size=shape)
        allowed = generator.random(shape) < 0.7
        allowed.flat[0] = True
        rewards = [generator.integers(0, 40, size=m) for m in shape]
        found = FiniteTable(losses, allowed).minimize(rewards, scale=16)
        scores = {
            point: 16 * int(losses[point])
            - sum(int(r[i]) for r, i in zip(rewards, point, strict=True))
            for point in np.ndindex(shape)
            if allowed[point]
        }
        best = min(scores.values())
        assert found.objective == best
        assert found.value == next(point for point, score in scores.items() if score == best)
        assert found.certificate is Certificate.EXACT


def test_large_numbers_do_not_overflow() -> None:
    found = FiniteTable([2**62, 2**62 - 1]).minimize([np.array([2**62, 0])], scale=2**20)
    assert found.objective == 2**82 - 2**62


def test_refuses_what_is_not_an_integer_table() -> None:
    with pytest.raises(ProblemError, match="losses"):
        FiniteTable([0.5, 1.0])
    with pytest.raises(ProblemError, match="losses"):
        FiniteTable(3)
    with pytest.raises(ProblemError, match="allowed"):
        FiniteTable([1, 2], [True])
    with pytest.raises(InfeasibleError):
        FiniteTable([1, 2], [False, False]).check()
