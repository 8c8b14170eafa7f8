"""Tiny programs with known optima, and a few that take long; for trying oracles.

Some are reports of wrong answers by released solvers. Their optima can be checked by hand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from oracles.problem import IntegerProgram

INF = math.inf


@dataclass(frozen=True, slots=True)
class Case:
    """A program and its optimum: ``inf`` if it is infeasible, ``-inf`` if it is unbounded."""

    name: str
    program: IntegerProgram
    optimum: float


def cases() -> list[Case]:
    """The programs."""
    return [
        Case(
            "knapsack of three",
            IntegerProgram([-3, -4, -5], [[2, 3, 4]], None, [6], upper=[1] * 3),
            -8,
        ),
        Case("constant and signs", IntegerProgram([2, -1], upper=[1, 4], constant=-7), -11),
        Case(
            "equation in two integers",
            IntegerProgram([1, 1], [[3, 5]], [7], [7], lower=[-10, -10], upper=[10, 10]),
            -1,
        ),
        Case(
            # https://github.com/coin-or/pulp/issues/238: 5 and 3 were returned, which is 6001.
            "two variables, 392 x + 1347 y <= 6000",
            IntegerProgram([-392, -1347], [[392, 1347]], None, [6000], lower=[1, 1], upper=[15, 4]),
            -5830,
        ),
        Case(
            # https://github.com/coin-or/Cbc/issues/293: 2 and 0 were returned, at 19712.
            "two variables, 0.65 <= 0.63 x + 1.27 y <= 1.28",
            IntegerProgram(
                [9856, 444], np.array([[1, 1], [0.63, 1.27]]), [-INF, 0.65], [5, 1.28], upper=[5, 5]
            ),
            444,
        ),
        Case(
            # https://github.com/ERGO-Code/HiGHS/issues/3094: 10000 was returned.
            "two branches of unequal cost",
            IntegerProgram(
                [0, 0, 0, 0, 10, 8],
                [
                    [-1000, 0, 1, 0, 0, 0],
                    [0, -1000, 0, 1, 0, 0],
                    [0, 0, 1, 0, 1, 0],
                    [0, 0, 0, 1, 0, 1],
                    [1, 1, 0, 0, 0, 0],
                ],
                [-INF, -INF, 1000, 1000, -INF],
                [0, 0, 1000, 1000, 1],
                upper=[1, 1, 1000, 1000, 1000, 1000],
                integer=[True, True, False, False, False, False],
            ),
            8000,
        ),
        Case(
            # https://github.com/coin-or/Cbc/issues/199: 1 was returned.
            "one binary among continuous",
            IntegerProgram(
                [0, 0, 0, 1],
                [[4, 4, 0, 1], [0, 0, 4, 1], [1, 1, 1, 0]],
                [3, 1, 1],
                [INF, INF, 1],
                upper=[1, INF, INF, INF],
                integer=[True, False, False, False],
            ),
            0,
        ),
        Case(
            # https://github.com/coin-or/pulp/issues/662: "infeasible" was returned.
            "five binaries, one point",
            IntegerProgram(
                [0, 0, 0, 1, 1],
                [
                    [1, 0, 0, 0, 1],
                    [1, 0, 0, 1, 0],
                    [0, 1, 0, 0, 1],
                    [0, 0, 0, 1, 1],
                    [0, 0, 1, 0, 0],
                    [0, 9000, 7200, 0, 10800],
                ],
                [1, 1, -INF, -INF, 1, 16200],
                [1, INF, 1, 1, 1, INF],
                upper=[1] * 5,
            ),
            0,
        ),
        Case(
            # Called infeasible by HiGHS's presolve.
            "coefficients from 10 to 1e9",
            IntegerProgram(
                [-3, 6, 6, -3],
                [[10, 1e9, 1000, -999]],
                [1000002000],
                [1000002000],
                lower=[0, 1, -1, -2],
                upper=[4, 1, 4, 0],
            ),
            18,
        ),
        Case(
            "big M at the solver's tolerance",
            IntegerProgram([0, 1], [[1, -1e9]], None, [0], lower=[1, 0], upper=[1, 1]),
            1,
        ),
        Case("parity: infeasible", IntegerProgram([1, 1], [[2, 2]], [3], [3], upper=[5, 5]), INF),
        Case("no integer in the bounds", IntegerProgram([1], lower=[0.2], upper=[0.8]), INF),
        Case("unbounded", IntegerProgram([-1, 1], upper=[INF, 1]), -INF),
    ]


def knapsack(items: int) -> IntegerProgram:
    """Random weights and values, half the weight allowed; ``2**items`` points."""
    rng = np.random.default_rng(0)
    weights, values = rng.integers(10, 100, (2, items))
    return IntegerProgram(-values, [weights], None, [weights.sum() // 2], upper=np.ones(items))


def market_split() -> IntegerProgram:
    """Five equations in 40 binaries, and what they are missed by (Cornuejols, Dawande 1998).

    Branch and bound does not end within minutes.
    """
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 100, (5, 40))
    half = weights.sum(axis=1) // 2
    return IntegerProgram(
        np.r_[np.zeros(40), np.ones(10)],
        np.hstack([weights, np.eye(5), -np.eye(5)]),
        half,
        half,
        upper=np.r_[np.ones(40), np.full(10, INF)],
        integer=np.arange(50) < 40,
    )
