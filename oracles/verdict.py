"""From what a solver claims to what can be stood behind: the step every backend shares.

A solver's status, objective and bound are claims made in floating point. :func:`judge` keeps
of them only what the problem's own data confirm, in this order:

1. integer variables are rounded, and the rounded point must be feasible;
2. its objective is computed again, and must be the one that the solver claimed;
3. the bound must not exceed that objective, nor the objective of a known feasible point;
4. what is then left of the bound decides the certificate.

Whatever fails on the way is ``Status.ERROR`` without a point. A solver that contradicts its own
model once is not to be believed in part. Infeasibility and unboundedness cannot be checked; they
come without a point, so nothing rests on them but a refusal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from oracles.arrays import FloatArray
from oracles.errors import ProblemError
from oracles.problem import IntegerProgram
from oracles.solution import Certificate, Solution, Status

if TYPE_CHECKING:
    from oracles.oracle import Oracle

CLAIM_TOLERANCE = 1e-6
"""How far a claimed objective or bound may stray before it is a contradiction, relative to
``max(1, |constant| + sum |c_j x_j|)``. Solvers evaluate the point before it is rounded."""

MAX_SCALE = 1e9
"""Largest ``|constant| + sum |c_j| max |x_j|`` for which a float bound can separate neighbouring
integers. One rounding at this size is about ``1e-7``, and a bound is the sum of many; a variable
without bounds makes the scale infinite."""

MAX_ROW_SCALE = 1e7
"""Largest sum ``|a_j| max |x_j|`` of a row of a mixed-integer program for which a solver's bound
is taken as proof. Solvers compare such sums with absolute tolerances and cut off feasible points
where rounding is larger: against enumeration of small random programs, HiGHS 1.16 had a wrong
bound for one in 6,500 with sums from 1e7 on, and for none of 75,000 below."""

_ABSOLUTE_MARGIN = 1e-4
_RELATIVE_MARGIN = 1e-10

LEAST_GAP = 2 * _ABSOLUTE_MARGIN
"""No fractional objective is proven within less: :func:`gap_margin` alone is as much."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Claim:
    """What a solver says, before anything is checked.

    Args:
        status: The solver's own status, translated. ``OPTIMAL`` and ``STOPPED`` are examined
            further; the others are final.
        point: The incumbent, shape ``(n_variables,)``, or None.
        objective: The incumbent's objective according to the solver, constant included; NaN
            when the solver reports none.
        bound: A lower bound on the optimum according to the solver, constant included; NaN or
            ``-inf`` when it has none.
    """

    status: Status
    point: FloatArray | None = None
    objective: float = math.nan
    bound: float = -math.inf


def judge(
    program: IntegerProgram, claim: Claim, *, oracle: str, known: FloatArray | None = None
) -> Solution[FloatArray]:
    """Check a solver's claim against the problem's data.

    Args:
        program: The problem that the solver was given.
        claim: What the solver says of it.
        oracle: Name and version of the solver.
        known: A point that is known to be feasible, if any: its objective is evidence against
            a claim of infeasibility and against a bound above it.

    Returns:
        The solution, with the strongest certificate that the claim supports. A bound is an
        ``int`` where the objective is integer and floats can tell integers apart (at most
        ``MAX_SCALE``): the smallest integer that the solver's bound, less a margin, leaves
        possible.
    """
    refuted = Solution[FloatArray](Status.ERROR, None, None, -math.inf, Certificate.NONE, oracle)
    if known is not None and (
        claim.status is Status.INFEASIBLE or _contradicts(program, known, bound=claim.bound)
    ):
        return refuted
    if claim.status in (Status.INFEASIBLE, Status.UNBOUNDED):
        return Solution(claim.status, None, None, -math.inf, Certificate.NONE, oracle)
    if claim.status is Status.ERROR or (claim.point is None and claim.status is Status.OPTIMAL):
        return refuted
    if claim.point is None:
        bound = valid_bound(program, claim.bound)
        return Solution(claim.status, None, None, bound, Certificate.NONE, oracle)

    point = _rounded(program, claim.point)
    if not program.is_feasible(point):
        return refuted
    if _contradicts(program, point, bound=claim.bound, objective=claim.objective):
        return refuted
    objective = program.objective_value(point)
    bound = min(valid_bound(program, claim.bound), objective)
    certificate = _certificate(program, claim.status, point, bound)
    return Solution(claim.status, point, objective, bound, certificate, oracle)


def settled(program: IntegerProgram, point: FloatArray, *, oracle: str) -> Solution[FloatArray]:
    """The solution of a program whose rows and objective name no variable.

    Args:
        program: The program.
        point: A point within the bounds, integer where it has to be.
        oracle: Who says so.
    """
    if not program.is_feasible(point):
        return Solution(Status.INFEASIBLE, None, None, -math.inf, Certificate.NONE, oracle)
    objective = program.objective_value(point)
    certificate = Certificate.EXACT if isinstance(objective, int) else Certificate.BOUNDED
    return Solution(Status.OPTIMAL, point, objective, objective, certificate, oracle)


def recheck(
    program: IntegerProgram, found: Solution[FloatArray], oracle: Oracle
) -> Solution[FloatArray]:
    """Check the answer of an oracle that a caller supplied, as :func:`judge` does a solver's.

    The backends of this package are judged already. Of any other, at most ``SOLVER`` is kept: that
    its bound is a proof is its own word, and the guarantee must name it.
    """
    from oracles.exhaustive import Exhaustive
    from oracles.highs import Highs
    from oracles.pulp import Pulp

    if type(oracle) in (Exhaustive, Highs, Pulp):
        return found
    point = None if found.value is None else np.asarray(found.value, dtype=np.float64)
    whole = point is None or np.array_equal(point, _rounded(program, point))
    claim = Claim(
        status=found.status if whole else Status.ERROR,
        point=point,
        objective=math.nan if found.objective is None else float(found.objective),
        bound=float(found.bound),
    )
    judged = judge(program, claim, oracle=oracle.name)
    if found.certificate in (Certificate.EXACT, Certificate.SOLVER, Certificate.BOUNDED):
        return judged
    return replace(judged, certificate=Certificate.NONE)


def valid_bound(program: IntegerProgram, bound: float) -> int | float:
    """What a solver's bound is worth: an ``int`` where integers can be told apart.

    The bound of an integer objective is rounded up after a margin is taken off. The margin
    covers what a solver adds to a bound without knowing: sums in floating point, and reduced
    costs that are accepted although they are slightly negative.
    """
    if not math.isfinite(bound):
        return -math.inf
    scale = objective_scale(program)
    if not program.has_integer_objective or scale > MAX_SCALE:
        return bound
    return math.ceil(bound - max(_ABSOLUTE_MARGIN, _RELATIVE_MARGIN * scale))


def gap_margin(program: IntegerProgram) -> float:
    """What the gap of a fractional objective may be too small by, in units of the objective.

    Once what a solver adds to its bound, as in :func:`valid_bound`, and once as much for rounding:
    of costs that were sums of two numbers, by ``2^-53`` of the scale at the point and at the
    minimum each, and of the objective at the point, by less than that.
    """
    return 2 * max(_ABSOLUTE_MARGIN, _RELATIVE_MARGIN * objective_scale(program))


def dual_bound(program: IntegerProgram, multipliers: FloatArray) -> float:
    """The bound that row multipliers prove by weak duality for a linear program.

    Any multipliers give a bound, so this one does not rest on a claim of optimality.

    Args:
        program: The program; integrality is ignored.
        multipliers: One for each row, shape ``(m,)``, positive where the lower side binds.
    """
    y = multipliers.copy()
    y[np.isinf(np.where(y > 0, program.row_lower, program.row_upper))] = 0.0
    reduced = program.objective - program.matrix.T @ y
    # Solvers accept reduced costs of the wrong sign up to 1e-7. Against an infinite bound they
    # count as zero, or no program with a free variable would have a bound.
    open_end = np.isinf(np.where(reduced > 0, program.lower, program.upper))
    tiny = np.abs(reduced) <= 1e-7 * np.maximum(1.0, np.abs(program.objective))
    reduced[open_end & tiny] = 0.0
    return (
        program.constant
        + _least(y, program.row_lower, program.row_upper)
        + _least(reduced, program.lower, program.upper)
    )


def _least(weights: FloatArray, lower: FloatArray, upper: FloatArray) -> float:
    """The minimum of ``weights @ x`` over a box."""
    ends = np.where(weights > 0, lower, upper)[weights != 0]
    return float(weights[weights != 0] @ ends)


def check_provable(size: float, scale: int) -> None:
    """Refuse an objective that no solver's bound could prove, before any solver is asked.

    Args:
        size: Sum of ``|c_j| max |x_j|``, infinite without bounds.
        scale: What of that is a factor that the caller may choose.

    Raises:
        ProblemError: The size is above ``MAX_SCALE``.
    """
    if size > MAX_SCALE:
        raise ProblemError(
            f"objective: with {scale} steps per unit it is too large, or has variables without "
            f"bounds, for a solver's floats to prove a minimum (a sum of at most {MAX_SCALE:g}): "
            "state bounds, divide the coefficients by a public factor, or ask for fewer steps"
        )


def objective_scale(program: IntegerProgram) -> float:
    """``|constant| + sum |c_j| max |x_j|`` over the bounds; infinite without bounds."""
    used = program.objective != 0
    reach = np.maximum(np.abs(program.lower[used]), np.abs(program.upper[used]))
    return float(np.abs(program.objective[used]) @ reach + abs(program.constant))


def _rounded(program: IntegerProgram, point: FloatArray) -> FloatArray:
    """A copy of a point with its integer variables rounded, if it has the program's shape."""
    if point.shape != program.integer.shape:
        return point
    # Adding zero turns the -0.0 that rounding leaves into 0.0.
    return np.where(program.integer, np.rint(point), point) + 0.0


def _contradicts(
    program: IntegerProgram, point: FloatArray, *, bound: float, objective: float = math.nan
) -> bool:
    """Whether a claimed bound or objective cannot be reconciled with a feasible point."""
    actual = float(program.objective_value(point))
    size = float(np.abs(program.objective) @ np.abs(point)) + abs(program.constant)
    allowed = CLAIM_TOLERANCE * max(1.0, size)
    # Both comparisons are false for NaN: a missing claim contradicts nothing.
    return bound > actual + allowed or abs(objective - actual) > allowed


def _certificate(
    program: IntegerProgram, status: Status, point: FloatArray, bound: int | float
) -> Certificate:
    if bound == -math.inf or _row_scale(program, point) > MAX_ROW_SCALE:
        return Certificate.NONE
    if program.has_integer_objective:
        # An int bound equals the objective only if the solver's bound exceeds it minus one.
        proven = isinstance(bound, int) and bound == program.objective_value(point)
        return Certificate.SOLVER if proven else Certificate.NONE
    return Certificate.BOUNDED if status is Status.OPTIMAL else Certificate.NONE


def _row_scale(program: IntegerProgram, point: FloatArray) -> float:
    """The largest sum ``|a_j| max |x_j|`` of a row; without bounds on a variable, at a point."""
    if program.n_rows == 0 or not program.integer.any():
        return 0.0
    reach = np.maximum(np.abs(program.lower), np.abs(program.upper))
    reach = np.where(np.isfinite(reach), reach, np.maximum(1.0, np.abs(point)))
    return float((abs(program.matrix) @ reach).max())
