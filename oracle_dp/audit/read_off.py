"""A law on the line, read off a mechanism by handing it noise that is known.

Run on scripted bits, a mechanism whose output is an affine function of its noise shows the
function: its value at one point and its change with every single number. The law of the output is
then known, with whatever scale and sensitivity the code really has, and so is epsilon: without
draws, and without error but rounding. Where the output is affine only nearly, ``tolerance`` says
how nearly; runs on random noise check it, and what it allows is taken off the bound. Where it is
monotone in one noise, half-lines are half-lines of that noise (:func:`steered_epsilon`).

What this cannot see is whether the samplers draw their laws; their own tests do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr

from oracle_dp.audit.bounds import check_delta, event_epsilon
from oracle_dp.errors import ParameterError
from oracles.arrays import FloatArray

Run = Callable[["Scripted"], float]
"""One number that a mechanism releases, or that is computed from its release."""

Tail = Callable[[FloatArray], FloatArray]
"""``P[Z > z]`` of a law that is symmetric about 0."""

CHECKS = 6
"""Runs on random noise that an affine function has to foresee."""

_GRID = 201
_HALF = 1 << 63


@dataclass
class Scripted:
    """A bit source that hands out given words, and then the last one for ever.

    Attributes:
        words: Of 64 bits, at least one.
        used: How many were asked for.
    """

    words: Sequence[int]
    used: int = field(default=0, init=False)
    is_private = False

    def bits(self, n: int, /) -> int:
        """The first ``n`` bits of the next words, as many as hold them."""
        count = -(-n // 64)
        drawn = 0
        for _ in range(count):
            drawn = drawn << 64 | self.words[min(self.used, len(self.words) - 1)]
            self.used += 1
        return drawn >> (64 * count - n)


def normal_word(z: float) -> int:
    """The word for which :func:`oracle_dp.noise.floating.gaussian` draws z."""
    return _signed_word(2 * float(ndtr(-abs(z))), negative=z < 0)


def laplace_word(z: float) -> int:
    """The word for which :func:`oracle_dp.noise.floating.laplace` draws z."""
    return _signed_word(math.exp(-abs(z)), negative=z < 0)


def exponential_word(z: float) -> int:
    """The word for which :func:`oracle_dp.noise.floating.exponential` draws z, not negative."""
    return min(int(math.exp(-z) * 2 * _HALF), 2 * _HALF - 1)


def _signed_word(tail: float, *, negative: bool) -> int:
    return min(int(tail * _HALF), _HALF - 1) << 1 | negative


def normal_tail(z: FloatArray) -> FloatArray:
    """Of the standard Gaussian."""
    return np.asarray(ndtr(-z))


def laplace_tail(z: FloatArray) -> FloatArray:
    """Of density ``exp(-abs(z)) / 2``."""
    return np.asarray(np.where(z > 0, np.exp(-np.abs(z)) / 2, 1 - np.exp(-np.abs(z)) / 2))


@dataclass(frozen=True)
class Law:
    """A mixture of one symmetric law, moved and scaled.

    Attributes:
        locations: Of the parts.
        scale: Of all parts.
        weights: Of the parts; they add up to 1.
        slack: By how much, in units of the scale, outputs may be off.
        tail: Of the symmetric law.
    """

    locations: FloatArray
    scale: float
    weights: FloatArray = field(default_factory=lambda: np.ones(1))
    slack: float = 0.0
    tail: Tail = normal_tail

    def beyond(self, threshold: FloatArray, side: int, slack: float) -> FloatArray:
        """The mass above the thresholds (``side`` 1) or below (-1), which ``slack`` pushes out."""
        distance = side * (threshold[:, None] - self.locations) / self.scale + slack
        return np.asarray(self.tail(distance) @ self.weights)


def law_epsilon(
    first: Law, second: Law, *, delta: float, within: tuple[float, float] | None = None
) -> float:
    """What the half-lines show about two laws; at least 0.

    Args:
        first: On one data set.
        second: On a neighbour.
        delta: Of the claim, in [0, 1).
        within: Where half-lines may end; by default far beyond both laws.

    Raises:
        ParameterError: ``delta`` is out of range.
    """
    check_delta(delta)
    reach = 9 * max(first.scale, second.scale)
    every = np.concatenate([first.locations, second.locations])
    whole = within or (float(every.min()) - reach, float(every.max()) + reach)
    best = 0.0
    for own, other in ((first, second), (second, first)):
        for side in (1, -1):
            low, high = whole
            for _ in range(3):
                grid = np.linspace(low, high, _GRID)
                mass = own.beyond(grid, side, own.slack), other.beyond(grid, side, -other.slack)
                shown = [event_epsilon(p, q, delta=delta) for p, q in zip(*mass, strict=True)]
                at = int(np.argmax(shown))
                best = max(best, shown[at])
                low, high = grid[max(at - 1, 0)], grid[min(at + 1, _GRID - 1)]
    return best


def affine_law(
    run: Run,
    noises: int,
    *,
    word: Callable[[float], int] = normal_word,
    tail: Tail = normal_tail,
    before: Sequence[int] = (),
    tolerance: float = 1e-6,
) -> Law:
    """The law of an output that is an affine function of its noise.

    Args:
        run: The mechanism, on one data set.
        noises: How many numbers it draws, or how many of those it draws matter.
        word: From a number to the word that makes the sampler draw it.
        tail: Of the sampler's law; for more than one number Gaussian.
        before: Words that are drawn before the noise.
        tolerance: How far from affine the output may be, in standard deviations.

    Raises:
        ParameterError: It is not affine up to the tolerance, or does not depend on the noise.
    """

    def output(z: Sequence[float], rest: float = 0.5) -> float:
        # The last word is no number's, but whatever else is drawn: it must not matter.
        return run(Scripted([*before, *map(word, z), word(rest)]))

    base = output([1.0] * noises)
    flipped = [output([-1.0 if j == i else 1.0 for j in range(noises)]) for i in range(noises)]
    slopes = (base - np.array(flipped)) / 2
    centre, scale = base - slopes.sum(), float(np.linalg.norm(slopes))
    if scale == 0:
        raise ParameterError("run: its output does not depend on the noise")
    generator = np.random.default_rng(0)
    for *z, rest in generator.standard_normal((CHECKS, noises + 1)).tolist():
        off = abs(output(z, rest) - centre - slopes @ z)
        if not off <= tolerance * scale:
            raise ParameterError(
                f"run: its output is no affine function of {noises} numbers within {tolerance:g}"
            )
    return Law(np.array([centre]), scale, slack=tolerance, tail=tail)


Steered = Callable[[float, float], float]
"""An output, given the noise that counts and, from -1 to 1, how far to one side all the rest lies.

It is monotone in the first; the rest, of which :data:`UNSEEN` is never further out, moves it by at
most as much as at -1 and 1.
"""

UNSEEN = 1e-14
"""Chance that is left out of what :func:`steered_epsilon` looks at."""

_THRESHOLDS = np.linspace(-0.8, 0.8, 17)


def steered_epsilon(
    first: Steered, second: Steered, *, delta: float, reach: float = 8.0, tail: Tail = normal_tail
) -> float:
    """What the half-lines show about outputs that are monotone in one noise; at least 0.

    Args:
        first: On one data set.
        second: On a neighbour.
        delta: Of the claim, in [0, 1).
        reach: Noise from ``-reach`` to ``reach`` is looked at.
        tail: Of the noise's law.

    Raises:
        ParameterError: ``delta`` is out of range.
    """
    check_delta(delta)
    sides = [_Side(steered, reach, tail) for steered in (first, second)]
    best = 0.0
    for own, other in (sides, sides[::-1]):
        for place in _THRESHOLDS * reach:
            threshold = own.steered(float(place), 0.0)
            for above in (True, False):
                least = own.beyond(threshold, above=above, outward=True) - UNSEEN
                if least > delta:
                    most = other.beyond(threshold, above=above, outward=False) + UNSEEN
                    best = max(best, event_epsilon(least, most, delta=delta))
    return best


class _Side:
    """Half-lines' probabilities on one data set."""

    def __init__(self, steered: Steered, reach: float, tail: Tail) -> None:
        self.steered, self.reach, self.tail = steered, reach, tail
        self.spread = abs(steered(0.0, 1.0) - steered(0.0, -1.0))
        self.rises = steered(reach, 0.0) > steered(-reach, 0.0)

    def beyond(self, threshold: float, *, above: bool, outward: bool) -> float:
        """A lower bound on the mass beyond it if it is pushed ``outward``, else an upper bound."""
        from scipy.optimize import brentq

        push = 1 if above == outward else -1
        level = threshold + push * self.spread
        ends = [self.steered(end, 0.0) - level for end in (-self.reach, self.reach)]
        if ends[0] * ends[1] > 0:
            return float((ends[0] > 0) == above)
        found = brentq(lambda z: self.steered(z, 0.0) - level, -self.reach, self.reach, xtol=1e-9)
        upper = above == self.rises
        # The root is known up to 1e-9, and taken on the safe side.
        safe = found + (1e-8 if upper == outward else -1e-8)
        return float(self.tail(np.array(safe if upper else -safe)))
