"""Arrays of draws, and what the samplers accept: public parameters, never a float by mistake."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle_dp.errors import ParameterError
from oracle_dp.noise import (
    SMALLEST_ARRAY_EXPONENT,
    SeededBits,
    bernoulli,
    bernoulli_exp,
    exact,
    geometric,
    geometric_array,
    positive_rational,
    rational,
    two_sided_geometric,
    two_sided_geometric_array,
)


def test_draws_of_a_seed_are_pinned():
    one_sided = geometric_array(Fraction(1, 66), 8, SeededBits(2024))
    assert one_sided.tolist() == [19, 98, 91, 35, 62, 65, 65, 42]
    two_sided = two_sided_geometric_array(Fraction(7, 300), 8, SeededBits(2024))
    assert two_sided.tolist() == [-11, -9, -61, -20, 13, 3, -3, 24]


@pytest.mark.parametrize("shape", [(), 0, 3, (2, 3), (4, 0)])
def test_arrays_are_the_scalar_draws_in_order(shape):
    drawn = two_sided_geometric_array(Fraction(1, 7), shape, SeededBits(5))
    source = SeededBits(5)
    scalars = [two_sided_geometric(Fraction(1, 7), source) for _ in range(drawn.size)]
    assert drawn.dtype == np.int64
    assert drawn.shape == np.empty(shape).shape
    assert drawn.ravel().tolist() == scalars


def test_array_refuses_a_draw_beyond_int64(monkeypatch):
    monkeypatch.setattr(exact, "_geometric", lambda *_: 2**63 - 1)
    assert geometric_array(1, 2, SeededBits(0)).tolist() == [2**63 - 1] * 2
    monkeypatch.setattr(exact, "_geometric", lambda *_: 2**63)
    with pytest.raises(ParameterError, match="exponent 1 does not fit in int64") as refusal:
        geometric_array(1, 2, SeededBits(0))
    assert str(2**63) not in str(refusal.value)


def test_array_refuses_exponents_that_would_overflow():
    geometric_array(SMALLEST_ARRAY_EXPONENT, 3, SeededBits(0))
    with pytest.raises(ParameterError, match=r"below 2\*\*-40.*one value at a time"):
        geometric_array(SMALLEST_ARRAY_EXPONENT / 2, 3, SeededBits(0))


@pytest.mark.parametrize(
    ("sampler", "value", "message"),
    [
        (bernoulli, Fraction(3, 2), r"p must lie in \[0, 1\], not 3/2"),
        (bernoulli, -1, r"p must lie in \[0, 1\], not -1"),
        (bernoulli_exp, Fraction(-1, 2), "gamma must be 0 or more, not -1/2"),
        (geometric, 0, "exponent must be positive, not 0"),
        (two_sided_geometric, -1, "exponent must be positive, not -1"),
        (geometric, 0.5, "exponent must be a Fraction or an int, not 0.5.*rational"),
        (bernoulli, True, "p must be a Fraction or an int, not True"),
    ],
)
def test_samplers_refuse_what_they_cannot_honour(sampler, value, message):
    with pytest.raises(ParameterError, match=message):
        sampler(value, SeededBits(0))


def test_numpy_integers_inside_fractions_cannot_overflow():
    exponent = Fraction(np.int32(1), np.int32(2**31 - 1))
    assert geometric(exponent, SeededBits(4)) == geometric(Fraction(1, 2**31 - 1), SeededBits(4))
    assert type(rational("epsilon", exponent).denominator) is int


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_rational_is_never_above_either_reading_of_a_float(value):
    readings = Fraction(value), Fraction(repr(value))
    assert rational("epsilon", value) == rational("epsilon", np.float64(value)) == min(readings)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, Fraction(3)),
        (Fraction(2, 3), Fraction(2, 3)),
        (0.1, Fraction(1, 10)),
        (0.3, Fraction(0.3)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int16(-4), Fraction(-4)),
        (" 1e-3 ", Fraction(1, 1000)),
        ("1/3", Fraction(1, 3)),
    ],
)
def test_rational_reads(value, number):
    assert rational("epsilon", value) == number


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, True, np.True_, None, 1j, [1], "", "nan", "1/0", "1e999999999"],
)
def test_rational_refuses(value):
    with pytest.raises(ParameterError, match=r"^epsilon must be "):
        rational("epsilon", value)


def test_positive_rational_refuses_zero_and_below():
    assert positive_rational("epsilon", 5e-324) > 0
    for value in (0, -0.0, -1, "-1/2"):
        with pytest.raises(ParameterError, match=f"epsilon must be positive, not {value}"):
            positive_rational("epsilon", value)
