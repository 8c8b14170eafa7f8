"""Noise in floating point, for vectors too long for the exact samplers. Named in every guarantee.

The laws below are those of the theorems only up to rounding, and the sums that such noise is
added to round once more: Mironov (2012, https://doi.org/10.1145/2382196.2382264) reads Laplace
noise's low bits, Jin, McMurtry, Rubinstein and Ohrimenko (2022, https://arxiv.org/abs/2112.05307)
those of Gaussian noise. A mechanism that draws from here
says so by :data:`oracle_dp.privacy.FLOATING_POINT_NOISE`. Randomness is the bit source's own: every
number takes fresh words from it, and no other generator comes between.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from oracle_dp.errors import ParameterError
from oracle_dp.noise.bits import BitSource, words

FloatArray = NDArray[np.float64]
Shape = int | tuple[int, ...]

_WORD = 2.0**-64


def gaussian(source: BitSource, scale: float, shape: Shape) -> FloatArray:
    """Independent Gaussians of mean 0 and standard deviation ``scale``.

    By inversion of a tail probability of 63 bits and a sign, so that both tails are equally fine.

    Args:
        source: Where the bits come from.
        scale: The standard deviation, positive and finite.
        shape: Shape of the array.

    Raises:
        ParameterError: ``scale`` is out of range.
    """
    negative, tail = _signs_and_tails(source, shape)
    magnitude = -ndtri(tail / 2)
    return np.asarray(np.where(negative, -magnitude, magnitude) * _checked(scale))


def laplace(source: BitSource, scale: float, shape: Shape) -> FloatArray:
    """Independent Laplace variables of mean 0 and density ``exp(-abs(x) / scale) / (2 scale)``.

    Args:
        source: Where the bits come from.
        scale: Positive and finite.
        shape: Shape of the array.

    Raises:
        ParameterError: ``scale`` is out of range.
    """
    negative, tail = _signs_and_tails(source, shape)
    magnitude = -np.log(tail)
    return np.asarray(np.where(negative, -magnitude, magnitude) * _checked(scale))


def exponential(source: BitSource, scale: float, shape: Shape) -> FloatArray:
    """Independent exponential variables of mean ``scale``.

    Args:
        source: Where the bits come from.
        scale: Positive and finite.
        shape: Shape of the array.

    Raises:
        ParameterError: ``scale`` is out of range.
    """
    tail = (_words(source, shape).astype(np.float64) + 0.5) * _WORD
    return np.asarray(-np.log(tail) * _checked(scale))


def gamma_norm(source: BitSource, scale: float, dimension: int) -> FloatArray:
    """A vector with density proportional to ``exp(-norm(x) / scale)``, Euclidean norm.

    Its norm is a Gamma variable of shape ``dimension``, here a sum of exponentials, and its
    direction is uniform.

    Args:
        source: Where the bits come from.
        scale: Positive and finite.
        dimension: Length of the vector, at least 1.

    Raises:
        ParameterError: ``scale`` or ``dimension`` is out of range.
    """
    if dimension < 1:
        raise ParameterError(f"dimension: a positive integer expected, not {dimension}")
    norm = exponential(source, scale, dimension).sum()
    direction = gaussian(source, 1.0, dimension)
    return np.asarray(norm * direction / np.linalg.norm(direction))


def _signs_and_tails(source: BitSource, shape: Shape) -> tuple[NDArray[np.bool_], FloatArray]:
    """A fair sign, and a uniform number in (0, 1) on a grid of 63 bits."""
    drawn = _words(source, shape)
    tail = ((drawn >> np.uint64(1)).astype(np.float64) + 0.5) * (2 * _WORD)
    return (drawn & np.uint64(1)).astype(bool), tail


def _words(source: BitSource, shape: Shape) -> NDArray[np.uint64]:
    """Words of 64 fresh bits each."""
    return words(source, math.prod(np.atleast_1d(shape).tolist())).reshape(shape)


def _checked(scale: float) -> float:
    if not 0 < scale < np.inf:
        raise ParameterError(f"scale: a positive finite number expected, not {scale}")
    return float(scale)
