"""An audit of a mechanism that is run once: canaries, and an attack that guesses them.

Theorem (Steinke, Nasr, Jagielski 2023, Theorems 3.1 and 5.2). Each of m canaries is in one of two
states, by m fair coins; two data sets that differ in one coin are neighbours. The mechanism is run
once. From its output r of the coins are guessed, and v guesses are right. If the mechanism is
(epsilon, delta)-private, then with p = e^epsilon / (e^epsilon + 1), B ~ Binomial(r, p) and
f(v) = P[B >= v],

    P[at least v right] <= f(v) + 2 m delta max_{1 <= i <= v} (f(v - i) - f(v)) / i.

So an epsilon whose right side is below the error is refuted. The coins must be independent of each
other and of everything else, and the attack must see the output only.

Source: https://arxiv.org/abs/2305.08846.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oracle_dp.audit.bounds import ROUNDING, check_delta
from oracle_dp.audit.search import ERROR
from oracle_dp.errors import ParameterError
from oracle_dp.noise import BitSource, bit_source

LARGEST_EPSILON = 50.0
"""No more is looked for: a binomial tail in floats ends before it."""

Attack = Callable[[NDArray[np.bool_], BitSource], ArrayLike]
"""Runs the mechanism on canaries in these states; guesses +1 (True), -1 (False), or 0 (none)."""


def audit_in_one_run(
    attack: Attack,
    *,
    canaries: int,
    delta: float = 0.0,
    error: float = ERROR,
    random_state: int | BitSource | None = None,
) -> float:
    """A lower bound on a mechanism's epsilon, from one run with many canaries.

    Args:
        attack: Runs the mechanism once and guesses the canaries' states from its output alone.
        canaries: How many, at least 1.
        delta: Of the claim, in [0, 1).
        error: Probability with which the bound may be wrong.
        random_state: As everywhere; an integer repeats an audit.

    Returns:
        The bound, at confidence ``1 - error``; at least 0.

    Raises:
        ParameterError: A figure is out of range, or the guesses are not one of -1, 0, 1 for each
            canary.
    """
    if canaries < 1:
        raise ParameterError(f"canaries: at least 1 expected, not {canaries!r}")
    source = bit_source(random_state)
    states = np.array([source.bits(1) == 1 for _ in range(canaries)])
    guesses = np.asarray(attack(states.copy(), source))
    if guesses.shape != states.shape or not np.isin(guesses, (-1, 0, 1)).all():
        raise ParameterError("attack: a guess of -1, 0 or 1 for every canary expected")
    right = int((guesses == np.where(states, 1, -1)).sum())
    made = int((guesses != 0).sum())
    return one_run_epsilon(right, made, canaries=canaries, delta=delta, error=error)


def one_run_epsilon(
    right: int, guesses: int, *, canaries: int, delta: float = 0.0, error: float = ERROR
) -> float:
    """The largest epsilon that so many right guesses refute; at least 0.

    Raises:
        ParameterError: A figure is out of range.
    """
    check_delta(delta)
    if not 0 < error < 1:
        raise ParameterError(f"error: a probability between 0 and 1 expected, not {error!r}")
    if not 0 <= right <= guesses <= canaries:
        raise ParameterError("guesses: right <= guesses <= canaries expected")

    def refuted(epsilon: float) -> bool:
        return chance(right, guesses, epsilon, delta=delta, canaries=canaries) <= error

    low, high = 0.0, LARGEST_EPSILON
    if not refuted(low):
        return 0.0
    while high - low > ROUNDING:
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return max(0.0, low - ROUNDING)


def chance(right: int, guesses: int, epsilon: float, *, delta: float, canaries: int) -> float:
    """The theorem's right side: how probable so many right guesses are at most."""
    from scipy.stats import binom

    share = 1 / (1 + np.exp(-epsilon))
    tail = float(binom.sf(right - 1, guesses, share))
    if delta == 0 or right == 0:
        return min(1.0, tail)
    steps = np.arange(1, right + 1)
    # f(v - i) - f(v) is the mass of v - i, ..., v - 1.
    slopes = np.cumsum(binom.pmf(right - steps, guesses, share)) / steps
    return min(1.0, tail + 2 * canaries * delta * float(slopes.max()))
