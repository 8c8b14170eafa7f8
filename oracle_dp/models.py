"""Models as users have them: read, checked, brought to integers, their released variables named.

Everything here looks at the model before any noise is drawn and before anything is charged. No
message shows a coefficient of the objective, which is private.
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from oracle_dp.errors import ParameterError
from oracles import IntegerProgram, ProblemError, UnboundedError
from oracles.arrays import FloatArray

SPAN = 1e9
"""Coefficients may differ by this factor; beyond it solvers' tolerances mean nothing."""

MOST_SCALE = 10**9
"""Decimals are multiplied to integers by at most this."""

EXACT = 2**53


@dataclass(frozen=True, eq=False)
class Model:
    """A program and which of its integers are published.

    Attributes:
        program: All coefficients of rows integer; objective and variables too, unless a gap allows
            others.
        released: Indices of the published variables.
    """

    program: IntegerProgram
    released: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the published variables."""
        return tuple(self.program.names[j] for j in self.released)


def read_program(given: Any) -> IntegerProgram:
    """An ``IntegerProgram`` from one, from a ``pulp.LpProblem``, or from a model file.

    Raises:
        ParameterError: It is something else.
        ProblemError: The model or file is malformed, truncated, has duplicate names, or numbers
            that are not finite.
    """
    if isinstance(given, IntegerProgram):
        return given
    if isinstance(given, str | Path):
        path = Path(given)
        stem = path.name.removesuffix(".gz").lower()
        if stem.endswith(".mps"):
            return IntegerProgram.from_mps(path)
        if stem.endswith(".lp"):
            return IntegerProgram.from_lp(path)
        raise ParameterError("program: a file .mps, .lp, .mps.gz or .lp.gz expected")
    if any(kind.__name__ == "LpProblem" for kind in type(given).__mro__):
        return IntegerProgram.from_pulp(given)
    raise ParameterError(
        "program: an IntegerProgram, a pulp.LpProblem, a path to a model file or a private problem "
        f"expected, not a {type(given).__name__}"
    )


def prepare(
    program: IntegerProgram, release: str | Sequence[str], *, with_gap: bool = False
) -> Model:
    """Check a program and bring it to integers.

    Args:
        program: As the user has it.
        release: Names of the variables to publish, or patterns with ``*``, ``?`` and ``[...]``.
        with_gap: Whether the mechanism allows continuous recourse and any finite objective.

    Raises:
        ParameterError: A pattern matches nothing, or a matched variable is continuous.
        ProblemError: The model is empty, has unbounded variables, coefficients that span more than
            1e9, or rows that are not short decimals; or, without a gap, continuous recourse or an
            objective that is not integer.
        UnboundedError: The objective improves along a variable without a bound.
    """
    if program.n_variables == 0:
        raise ProblemError("program: the model is empty; it has no variables")
    released = _matched(program, release)
    for j in released:
        if not program.integer[j]:
            raise ParameterError(
                f"release: {program.names[j]!r} is continuous; only integers can be published"
            )
    if not with_gap and not program.integer.all():
        name = program.names[int(np.argmin(program.integer))]
        raise ProblemError(
            f"program: {name!r} is continuous; recourse must be integer, so that the minimum can "
            "be proven: discretise it, or state the gap that is to be proven (opdisc)"
        )
    _check_bounds(program)
    for what, numbers in (("objective", program.objective), ("matrix", program.matrix.data)):
        used = np.abs(numbers[numbers != 0])
        if used.size and used.max() / used.min() > SPAN:
            raise ProblemError(f"{what}: coefficients span a factor of more than 1e9; rescale them")
    if not with_gap and not program.has_integer_objective:
        # Not multiplied here: by what would depend on the data.
        raise ProblemError(
            "objective: integer coefficients expected, since the noise lies on a lattice; multiply "
            "them by a public factor, and the sensitivity with them; or state the gap that is to "
            "be proven (opdisc)"
        )
    return Model(_whole_rows(program), released)


def _matched(program: IntegerProgram, release: str | Sequence[str]) -> tuple[int, ...]:
    patterns = [release] if isinstance(release, str) else list(release)
    if not patterns or not all(isinstance(pattern, str) and pattern for pattern in patterns):
        raise ParameterError("release: at least one name or pattern of a variable expected")
    chosen: set[int] = set()
    for pattern in patterns:
        exact = [j for j, name in enumerate(program.names) if name == pattern]
        found = exact or [
            j for j, name in enumerate(program.names) if fnmatch.fnmatchcase(name, pattern)
        ]
        if not found:
            raise ParameterError(
                f"release: no variable matches {pattern!r}; the model has "
                f"{program.n_variables} variables, such as {program.names[0]!r}"
            )
        chosen |= set(found)
    return tuple(sorted(chosen))


def _check_bounds(program: IntegerProgram) -> None:
    bounded = np.isfinite(program.lower) & np.isfinite(program.upper)
    if bounded.all():
        return
    name = program.names[int(np.argmin(bounded))]
    improving = np.where(program.objective > 0, program.lower, program.upper)
    if program.n_rows == 0 and np.isinf(improving[program.objective != 0]).any():
        raise UnboundedError("program: the objective has no minimum: bound what improves it")
    raise ProblemError(f"program: {name!r} has no finite bounds; state both")


def _whole_rows(program: IntegerProgram) -> IntegerProgram:
    """Multiply rows of short decimals to integers: the same feasible points, exactly."""
    if _is_whole(program.matrix.data, program.row_lower, program.row_upper):
        return program
    matrix = program.matrix.copy()
    data, low, high = matrix.data.copy(), program.row_lower.copy(), program.row_upper.copy()
    for i in range(program.n_rows):
        part = slice(matrix.indptr[i], matrix.indptr[i + 1])
        factor = common_factor([*data[part], *(x for x in (low[i], high[i]) if math.isfinite(x))])
        if factor is None:
            raise ProblemError(
                f"matrix: row number {i} is not of short decimals; multiply it to integers"
            )
        data[part] = _times(data[part], factor)
        # Integers on the left: sides move to the next integer inside.
        low[i], high[i] = _times(np.array([low[i], high[i]]), factor)
    matrix.data = data
    return IntegerProgram(
        program.objective, matrix, low, high, lower=program.lower, upper=program.upper,
        integer=program.integer, constant=program.constant, names=program.names,
        negated=program.negated,
    )  # fmt: skip


def common_factor(numbers: Sequence[float]) -> int | None:
    """The least integer that makes all of them integers, read as the decimals that print them.

    None if it exceeds ``MOST_SCALE``, or a product 2^53.
    """
    factor = 1
    fractions = [Fraction(repr(float(number))) for number in numbers]
    for fraction in fractions:
        factor = math.lcm(factor, fraction.denominator)
        if factor > MOST_SCALE:
            return None
    return None if any(abs(x * factor) > EXACT for x in fractions) else factor


def _times(numbers: FloatArray, factor: int) -> FloatArray:
    """Products of short decimals that are integers; infinities stay."""
    return np.array(
        [float(Fraction(repr(float(x))) * factor) if math.isfinite(x) else x for x in numbers]
    )


def _is_whole(*vectors: FloatArray) -> bool:
    joined = np.concatenate(vectors)
    finite = joined[np.isfinite(joined)]
    return bool(np.array_equal(finite, np.rint(finite)))
