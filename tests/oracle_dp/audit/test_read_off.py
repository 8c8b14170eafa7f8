"""Laws that are read off are those of draws, and epsilon is the one that is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from oracle_dp.accounting import gaussian_epsilon
from oracle_dp.audit.read_off import (
    Law,
    Scripted,
    affine_law,
    exponential_word,
    laplace_tail,
    laplace_word,
    law_epsilon,
    normal_word,
    steered_epsilon,
)
from oracle_dp.errors import ParameterError
from oracle_dp.noise.floating import exponential, gaussian, laplace


@pytest.mark.parametrize("z", [-6.0, -1.5, -1e-3, 0.0, 0.4, 2.0, 7.5])
def test_words_make_the_samplers_draw_what_they_are_for(z: float) -> None:
    assert gaussian(Scripted([normal_word(z)]), 1.0, 1)[0] == pytest.approx(z, abs=1e-6)
    assert laplace(Scripted([laplace_word(z)]), 1.0, 1)[0] == pytest.approx(z, abs=1e-9)
    drawn = exponential(Scripted([exponential_word(abs(z))]), 1.0, 1)[0]
    assert drawn == pytest.approx(abs(z), abs=1e-9)


def test_the_last_word_is_handed_out_for_ever() -> None:
    source = Scripted([1 << 63, 5])
    assert [source.bits(64), source.bits(64), source.bits(64)] == [1 << 63, 5, 5]
    assert source.used == 3
    assert Scripted([1 << 63]).bits(1) == 1


def affine(source: Scripted) -> float:
    first, second = gaussian(source, 3.0, 2)
    return 7 + first - 4 / 3 * second


def test_an_affine_output_is_read() -> None:
    law = affine_law(affine, 2)
    assert law.locations[0] == pytest.approx(7)
    assert law.scale == pytest.approx(5)


def test_what_is_not_affine_is_refused() -> None:
    for run, noises in (
        (affine, 1),
        (lambda source: abs(affine(source) - 7), 2),
        (lambda source: 1.0, 2),
        (lambda source: math.nan * affine(source), 2),
    ):
        with pytest.raises(ParameterError, match=r"^run:"):
            affine_law(run, noises)


@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.3])
@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
def test_epsilon_of_gaussians_is_the_exact_one(mu: float, delta: float) -> None:
    first, second = (Law(np.array([place]), 2.0) for place in (5.0, 5.0 + 2 * mu))
    known = gaussian_epsilon(delta, mu=mu)
    shown = law_epsilon(first, second, delta=delta)
    assert known - 1e-4 <= shown <= known
    slack = [Law(law.locations, law.scale, slack=0.01) for law in (first, second)]
    assert law_epsilon(*slack, delta=delta) <= shown


def test_epsilon_of_other_laws() -> None:
    pair = [Law(np.array([place]), 2.0, tail=laplace_tail) for place in (0.0, 3.0)]
    assert law_epsilon(*pair, delta=0.0) == pytest.approx(1.5, abs=1e-8)
    assert law_epsilon(*pair, delta=0.0) <= 1.5
    # Scales that differ are told apart without any shift.
    wide, narrow = (Law(np.zeros(1), scale) for scale in (1.0, 0.5))
    assert law_epsilon(narrow, wide, delta=1e-6) > 3
    mixed = Law(np.array([0.0, 3.0]), 2.0, np.array([0.5, 0.5]), tail=laplace_tail)
    assert 0 < law_epsilon(pair[0], mixed, delta=0.0) < 1.5
    # No half-line that ends within this piece is better than its end.
    inside = law_epsilon(pair[0], mixed, delta=0.0, within=(-20.0, 0.0))
    assert inside < law_epsilon(pair[0], mixed, delta=0.0)
    with pytest.raises(ParameterError, match="delta"):
        law_epsilon(*pair, delta=1.0)


@pytest.mark.parametrize("sign", [-1, 1])
def test_steered_outputs(sign: int) -> None:
    """Monotone functions keep the epsilon of their noise; the rest takes something off."""

    def steered(shift: float, rest: float = 0.0):
        return lambda z, side: math.sinh(sign * (z + shift) / 4) + rest * side

    known = gaussian_epsilon(1e-3, mu=1.0)
    shown = steered_epsilon(steered(0.0), steered(1.0), delta=1e-3)
    assert known - 0.1 < shown <= known
    assert steered_epsilon(steered(0.0, 0.05), steered(1.0, 0.05), delta=1e-3) < shown
    pure = steered_epsilon(steered(0.0), steered(1.0), delta=0.0, reach=12.0, tail=laplace_tail)
    assert pure == pytest.approx(1.0, abs=1e-6)
    assert pure <= 1.0
    assert steered_epsilon(steered(0.0), steered(0.0), delta=0.0) == pytest.approx(0, abs=1e-4)
