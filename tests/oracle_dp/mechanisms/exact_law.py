"""The output distribution of objective perturbation with a one-hot lift, computed exactly.

Nothing here comes from the mechanism but its parameters: the geometric law, the sign and the
tie-break are written down again, so that a fault in the mechanism shows as a difference.
Sums are cut where what is left is below ``TAIL``; all terms are positive.
"""

from __future__ import annotations

import math

import numpy as np

TAIL = 1e-13


def one_coordinate(
    costs: np.ndarray, q: float, *, sign: int = -1, first: int | None = None
) -> np.ndarray:
    """Law of ``argmin_i costs[i] + sign * X_i`` for i.i.d. geometric X with parameter q.

    Args:
        costs: Integers, shape ``(m,)``.
        q: ``P[X = x] = (1 - q) q^x``.
        sign: -1 for the reward that the theorem asks for.
        first: The point that wins every tie; None: the lowest index wins.
    """
    m = len(costs)
    spread = int(costs.max() - costs.min())
    x = np.arange(spread + math.ceil(math.log(TAIL) / math.log(q)) + 1)
    mass = (1 - q) * q**x
    law = np.empty(m)
    for i in range(m):
        wins = np.ones(len(x))
        for j in range(m):
            if j == i:
                continue
            tie = (i == first) or (first not in (i, j) and i < j)
            # i beats j iff sign X_j >(=) costs[i] - costs[j] + sign x.
            need = costs[j] - costs[i] + x if sign < 0 else costs[i] - costs[j] + x
            wins *= _below(need, q, inclusive=tie) if sign < 0 else _above(need, q, inclusive=tie)
        law[i] = (mass * wins).sum()
    return law


def two_coordinates(
    costs: np.ndarray, q: float, *, first: tuple[int, int] | None = None
) -> tuple[np.ndarray, float]:
    """Law of ``argmin costs[a, b] - X_a - Y_b``, and what the sums leave out.

    The least of the X is independent of their excesses over it and moves no comparison, so only
    excesses with at least one zero are summed over (the law is memoryless). Ties go to ``first``,
    then to the lower index of the longer axis, then of the other.

    Returns:
        The probabilities, shape of ``costs``, each too small by at most the second item.
    """
    m, n = costs.shape
    if m > n:
        law, missing = two_coordinates(costs.T, q, first=first[::-1] if first else None)
        return law.T, missing
    top = math.ceil(math.log(1e-8 if m > 3 else TAIL) / math.log(q))
    law = np.zeros((m, n))
    covered = 0.0
    for zero in range(m):
        # The first zero is at position `zero`: those before it are positive.
        low = np.array([1] * zero + [0] * (m - zero))
        shape = [top] * zero + [1] + [top] * (m - zero - 1)
        excesses = np.array(list(np.ndindex(*shape))) + low
        for excess in np.array_split(excesses, max(1, len(excesses) // 20_000)):
            weight = (1 - q) ** m * q ** excess.sum(axis=1) / (1 - q**m)
            covered += weight.sum()
            score = costs[None, :, :] - excess[:, :, None]
            for b in range(n):
                _add(law, b, score, weight, q, first)
    return law, 1 - covered


def _add(
    law: np.ndarray,
    b: int,
    score: np.ndarray,
    weight: np.ndarray,
    q: float,
    first: tuple[int, int] | None,
) -> None:
    """Add to ``law[:, b]`` the probability that column b wins, row by row of the excesses."""
    n = score.shape[2]
    best = score.min(axis=1)
    rows = score.argmin(axis=1)
    if first is not None:
        preferred = score[:, first[0], first[1]] == best[:, first[1]]
        rows[preferred, first[1]] = first[0]
    spread = int(best.max() - best.min())
    x = np.arange(spread + math.ceil(math.log(TAIL) / math.log(q)) + 1)
    wins = np.repeat(weight[:, None], len(x), axis=1)
    for other in range(n):
        if other == b:
            continue
        need = (best[:, other] - best[:, b])[:, None] + x
        mine = other > b
        if first is not None and first[1] in (b, other):
            # Which row stands for a column decides whether the preferred point is in play.
            holder = rows[:, first[1]] == first[0]
            mine = np.where(holder, first[1] == b, other > b)[:, None]
        wins *= np.where(mine, _below(need, q, inclusive=True), _below(need, q, inclusive=False))
    total = (wins * ((1 - q) * q**x)).sum(axis=1)
    np.add.at(law[:, b], rows[:, b], total)


def _below(t: np.ndarray, q: float, *, inclusive: bool) -> np.ndarray:
    """P[X < t], or P[X <= t]."""
    count = np.maximum(t + int(inclusive), 0)
    return -np.expm1(count * math.log(q))


def _above(t: np.ndarray, q: float, *, inclusive: bool) -> np.ndarray:
    """P[X > t], or P[X >= t]."""
    return np.exp(np.maximum(t + int(not inclusive), 0) * math.log(q))
