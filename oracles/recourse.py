"""Continuous recourse, proven feasible: a rational solve of a linear program's final basis.

A solver's continuous values satisfy rows up to its tolerances, which proves nothing. With the
integers fixed, what is left is a linear program; a basis says which rows and bounds hold with
equality, and the values that follow from these equations are rational numbers. If they satisfy
every row and bound, the integers are feasible, exactly, and the objective there is known exactly.
Which basis it is does not matter for that: floats propose it, and integers check it.

Coefficients are what their floats are in binary. Rows that are decimals should be multiplied to
integers before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from oracles._highs_answer import load
from oracles._highs_run import load_highspy, run
from oracles.arrays import FloatArray
from oracles.errors import ProblemError
from oracles.problem import IntegerProgram

MOST_EQUATIONS = 1_000
"""Largest system that is solved in rationals."""


def check_recourse(program: IntegerProgram) -> None:
    """Refuse continuous recourse of a size that rationals are not good for.

    Raises:
        ProblemError: Continuous variables, and rows that hold some, both exceed ``MOST_EQUATIONS``.
    """
    columns = np.flatnonzero(~program.integer)
    rows = int(np.count_nonzero(np.diff(program.matrix[:, columns].indptr)))
    if min(len(columns), rows) > MOST_EQUATIONS:
        raise ProblemError(
            f"program: feasibility of more than {MOST_EQUATIONS} continuous variables in as many "
            "rows cannot be proven in rational numbers; discretise them"
        )


def exact_objective(program: IntegerProgram, point: FloatArray) -> Fraction | None:
    """The objective at a feasible point with the same integers, exactly.

    Args:
        program: With continuous variables.
        point: Shape ``(n,)``; its integer variables hold integers, the others are not looked at.

    Returns:
        The objective where the final basis of the best continuous values puts them, if these
        satisfy all rows and bounds; else None.
    """
    left = _Fixed.of(program, point)
    basis = _final_basis(left)
    values = None if basis is None else left.solve(*basis)
    if values is None or not left.holds(values):
        return None
    return left.constant + sum(
        (Fraction(float(c)) * x for c, x in zip(left.program.objective, values, strict=True)),
        Fraction(0),
    )


@dataclass(frozen=True, eq=False)
class _Fixed:
    """What is left of a program when its integers are fixed.

    Attributes:
        program: The linear program, its sides rounded to floats.
        low: The exact sides of its rows; None for none.
        high: Likewise.
        constant: What the integers cost, exactly.
    """

    program: IntegerProgram
    low: list[Fraction | None]
    high: list[Fraction | None]
    constant: Fraction

    @classmethod
    def of(cls, program: IntegerProgram, point: FloatArray) -> _Fixed:
        whole = np.flatnonzero(program.integer)
        free = np.flatnonzero(~program.integer)
        fixed = [int(x) for x in point[whole]]
        moved = [_dot(row, fixed) for row in _rows(program, whole)]
        low = [_less(side, by) for side, by in zip(program.row_lower, moved, strict=True)]
        high = [_less(side, by) for side, by in zip(program.row_upper, moved, strict=True)]
        continuous = IntegerProgram(
            program.objective[free], program.matrix[:, free],
            [-math.inf if x is None else float(x) for x in low],
            [math.inf if x is None else float(x) for x in high],
            lower=program.lower[free], upper=program.upper[free],
            integer=np.zeros(len(free), dtype=bool),
        )  # fmt: skip
        costs = [
            Fraction(float(c)) * x for c, x in zip(program.objective[whole], fixed, strict=True)
        ]
        return cls(continuous, low, high, sum(costs, Fraction(program.constant)))

    def solve(self, columns: Sequence[str], rows: Sequence[str]) -> list[Fraction] | None:
        """The values that a basis stands for; None if it has none."""
        lower, upper = self.program.lower, self.program.upper
        values = [Fraction(0)] * len(columns)
        for j, status in enumerate(columns):
            end = {"kLower": lower[j], "kUpper": upper[j], "kZero": 0.0}.get(status, 0.0)
            if not math.isfinite(end):
                return None
            values[j] = Fraction(float(end))
        basic = [j for j, status in enumerate(columns) if status == "kBasic"]
        active = [
            (i, self.low[i] if status == "kLower" else self.high[i])
            for i, status in enumerate(rows)
            if status != "kBasic"
        ]
        if len(basic) != len(active) or any(side is None for _, side in active):
            return None
        if not basic:
            return values
        place = {j: k for k, j in enumerate(basic)}
        matrix, right = fmpq_mat(len(basic), len(basic)), fmpq_mat(len(basic), 1)
        table = _rows(self.program, np.arange(len(columns)))
        for k, (i, side) in enumerate(active):
            rest = side or Fraction(0)
            for j, a in table[i]:
                if j in place:
                    matrix[k, place[j]] = _fmpq(a)
                else:
                    rest -= a * values[j]
            right[k, 0] = _fmpq(rest)
        try:
            found = matrix.solve(right)
        except ZeroDivisionError:  # A singular matrix is no basis.
            return None
        for j, k in place.items():
            values[j] = Fraction(int(found[k, 0].p), int(found[k, 0].q))
        return values

    def holds(self, values: list[Fraction]) -> bool:
        """Whether values satisfy all bounds and rows, exactly."""
        for x, low, high in zip(values, self.program.lower, self.program.upper, strict=True):
            if not low <= x <= high:  # Python compares fractions with floats without rounding.
                return False
        for row, low, high in zip(
            _rows(self.program, np.arange(len(values))), self.low, self.high, strict=True
        ):
            activity = _dot(row, values)
            if (low is not None and activity < low) or (high is not None and activity > high):
                return False
        return True


def _final_basis(left: _Fixed) -> tuple[list[str], list[str]] | None:
    """HiGHS's basis at its optimum: the status of every column and row."""
    module = load_highspy()
    highs = module._Highs()
    for option, setting in (("output_flag", False), ("presolve", "off"), ("solver", "simplex")):
        highs.setOptionValue(option, setting)
    if not load(highs, left.program) or run(highs) == module.HighsStatus.kError:
        return None
    basis = highs.getBasis()
    if highs.getModelStatus().name != "kOptimal" or not basis.valid:
        return None
    return [s.name for s in basis.col_status], [s.name for s in basis.row_status]


def _rows(program: IntegerProgram, columns: NDArray[np.intp]) -> list[list[tuple[int, Fraction]]]:
    """Rows as exact entries of some columns, which are counted from 0."""
    part = program.matrix[:, columns].tocsr()
    return [
        [
            (int(j), Fraction(float(a)))
            for j, a in zip(
                part.indices[part.indptr[i] : part.indptr[i + 1]],
                part.data[part.indptr[i] : part.indptr[i + 1]],
                strict=True,
            )
        ]
        for i in range(program.n_rows)
    ]


def _dot(row: list[tuple[int, Fraction]], values: Sequence[int | Fraction]) -> Fraction:
    return sum((a * values[j] for j, a in row), Fraction(0))


def _less(side: float, by: Fraction) -> Fraction | None:
    return Fraction(float(side)) - by if math.isfinite(side) else None


def _fmpq(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)
