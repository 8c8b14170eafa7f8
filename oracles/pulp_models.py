"""Models of PuLP: read into an :class:`IntegerProgram`, and written from one.

Reading keeps what PuLP's solvers would be given, and refuses what an :class:`IntegerProgram` cannot
express or PuLP takes without looking: special ordered sets, unknown categories, coefficients that
are expressions. Variables come in the order in which the objective names them, then the rows, then
``problem.variables()``. No message shows a coefficient: they may be private.

Writing and reading again gives the same program, with these conventions:

- PuLP has no range rows: one becomes two neighbours, ``R7_lower`` and ``R7_upper``. Two such
  neighbours with the same coefficients are read as one row.
- PuLP has no rows without a side: they are left out.
- The objective lists every variable, with coefficient 0 if need be: PuLP sorts variables by name
  and forgets those that it sees nowhere.
- Binary variables are integer variables with bounds 0 and 1, as in PuLP itself.

PuLP 4 is refused: its models are other objects, and its drivers answer in another form.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from oracles import arrays
from oracles.errors import ProblemError, SolverError
from oracles.problem import IntegerProgram

SUPPORTED = "pulp>=3.3.1,<4"

_DUMMY = "__dummy"
"""A variable of PuLP's own, fixed to 0, which stands in for an empty objective."""

_CHANGED_BY_PULP = re.compile(r"[-+\[\] >/]")
_LOWER, _UPPER = "_lower", "_upper"

_Row = tuple[str, dict[str, float], float, float]
"""Name, coefficients by variable, lower and upper side."""


def load_pulp() -> Any:
    """The module pulp, imported when it is first needed.

    Raises:
        SolverError: It is not installed, or its version is not supported.
    """
    try:
        import pulp
    except ImportError as error:
        raise SolverError(f"PuLP is not installed: pip install '{SUPPORTED}'") from error
    if not hasattr(pulp, "LpConstraintVar") or not hasattr(pulp.LpProblem, "add_variable"):
        raise SolverError(f"PuLP {pulp.__version__} is not supported: pip install '{SUPPORTED}'")
    return pulp


# -- reading -------------------------------------------------------------------------------------


def read(problem: Any) -> IntegerProgram:
    """The program of a ``pulp.LpProblem``; see :meth:`IntegerProgram.from_pulp`."""
    pulp = load_pulp()
    _refuse_what_is_no_program(pulp, problem)
    objective, constant = _expression("the objective", problem.objective)
    rows = _merged([_row(pulp, constraint) for constraint in problem.constraints()])
    variables = {v.name: v for v in problem.variables() if v.name != _DUMMY}
    order = dict.fromkeys(objective)
    for _, coefficients, _, _ in rows:
        order.update(dict.fromkeys(coefficients))
    names = [*order, *(name for name in variables if name not in order)]
    place = {name: j for j, name in enumerate(names)}
    chosen = [variables[name] for name in names]
    sign = {pulp.LpMinimize: 1.0, pulp.LpMaximize: -1.0}[problem.sense]
    return IntegerProgram(
        # Adding zero turns -0.0 into 0.0.
        sign * np.array([objective.get(name, 0.0) for name in names], dtype=np.float64) + 0.0,
        _matrix([coefficients for _, coefficients, _, _ in rows], place),
        [low for _, _, low, _ in rows],
        [high for _, _, _, high in rows],
        lower=[_bound(v, v.lowBound, -math.inf) for v in chosen],
        upper=[_bound(v, v.upBound, math.inf) for v in chosen],
        integer=np.array([v.cat != pulp.LpContinuous for v in chosen], dtype=bool),
        constant=sign * constant + 0.0,
        names=names,
        negated=sign < 0,
    )


def _refuse_what_is_no_program(pulp: Any, problem: Any) -> None:
    if not isinstance(problem, pulp.LpProblem):
        raise ProblemError(f"problem: a pulp.LpProblem expected, not {type(problem).__name__}")
    if isinstance(problem, pulp.FixedElasticSubProblem):
        raise ProblemError(
            "problem: an elastic sub-problem is a part of a model: "
            "extend a problem with it, and give that"
        )
    if problem.sos1 or problem.sos2:
        raise ProblemError(
            "problem: special ordered sets, which an IntegerProgram cannot express: "
            "write them with binary variables"
        )
    if problem.sense not in (pulp.LpMinimize, pulp.LpMaximize):
        raise ProblemError("problem: the sense must be pulp.LpMinimize or pulp.LpMaximize")
    names = [v.name for v in problem.variables()]
    if len(set(names)) != len(names):
        arrays.names(names, len(names))  # raises, and says which
    for variable in problem.variables():
        if variable.cat not in (pulp.LpContinuous, pulp.LpInteger, pulp.LpBinary):
            raise ProblemError(
                f"variable {variable.name!r}: its category is none of Continuous, Integer and "
                "Binary; write a semi-continuous variable with a binary one"
            )


def _expression(where: str, expression: Any) -> tuple[dict[str, float], float]:
    """Coefficients by name, and the constant."""
    if expression is None:
        return {}, 0.0
    if not (hasattr(expression, "items") and hasattr(expression, "constant")):
        raise ProblemError(f"{where}: a linear expression of PuLP expected")
    entries = {v.name: _number(where, a) for v, a in expression.items() if v.name != _DUMMY}
    return entries, _number(where, expression.constant)


def _number(where: str, value: Any) -> float:
    if type(value) is float:
        return value
    if not isinstance(value, numbers.Real):
        raise ProblemError(
            f"{where}: a coefficient is not a real number; products of variables are not linear"
        )
    return arrays.scalar(where, value)


def _bound(variable: Any, bound: Any, default: float) -> float:
    limit = default if bound is None else _number(f"bounds of {variable.name!r}", bound)
    if variable.cat == "Binary":  # set after construction: PuLP itself stores bounds 0 and 1
        return max(0.0, limit) if default < 0 else min(1.0, limit)
    return limit


def _row(pulp: Any, constraint: Any) -> _Row:
    where = f"row {constraint.name!r}"
    entries, constant = _expression(where, constraint)
    side = 0.0 - constant
    if constraint.sense == pulp.LpConstraintEQ:
        return constraint.name or "", entries, side, side
    if constraint.sense == pulp.LpConstraintLE:
        return constraint.name or "", entries, -math.inf, side
    if constraint.sense == pulp.LpConstraintGE:
        return constraint.name or "", entries, side, math.inf
    raise ProblemError(f"{where}: its sense is none of <=, >= and ==")


def _merged(rows: Iterable[_Row]) -> list[_Row]:
    """The rows, the two halves of a range as one."""
    merged: list[_Row] = []
    for row in rows:
        name, entries, low, high = row
        if merged and name.endswith(_UPPER) and low == -math.inf:
            other, same, least, most = merged[-1]
            pair = other == name.removesuffix(_UPPER) + _LOWER and most == math.inf
            if pair and same == entries and least <= high:
                merged[-1] = name.removesuffix(_UPPER), entries, least, high
                continue
        merged.append(row)
    return merged


def _matrix(rows: Sequence[dict[str, float]], place: dict[str, int]) -> sp.csr_array:
    starts = np.cumsum([0, *(len(row) for row in rows)])
    columns = np.array([place[name] for row in rows for name in row], dtype=np.int64)
    entries = np.array([a for row in rows for a in row.values()], dtype=np.float64)
    return sp.csr_array((entries, columns, starts), shape=(len(rows), len(place)))


# -- writing -------------------------------------------------------------------------------------


def write(program: IntegerProgram, names: Sequence[str] | None = None) -> Any:
    """The program as a ``pulp.LpProblem``; see :meth:`IntegerProgram.to_pulp`."""
    pulp = load_pulp()
    labels = arrays.names(program.names if names is None else names, program.n_variables)
    for label in labels:
        if not label or label == _DUMMY or _CHANGED_BY_PULP.search(label):
            raise ProblemError(
                f"names: PuLP does not take {label!r} as it is (blanks and any of -+[]>/ are "
                "replaced): pass other names, one for each variable"
            )
    sign = -1.0 if program.negated else 1.0
    problem = pulp.LpProblem("program", pulp.LpMaximize if program.negated else pulp.LpMinimize)
    variables = [
        problem.add_variable(
            label,
            None if low == -math.inf else low,
            None if high == math.inf else high,
            pulp.LpInteger if whole else pulp.LpContinuous,
        )
        for label, low, high, whole in zip(
            labels,
            program.lower.tolist(),
            program.upper.tolist(),
            program.integer.tolist(),
            strict=True,
        )
    ]
    costs = (sign * program.objective + 0.0).tolist()
    problem.setObjective(
        pulp.LpAffineExpression(
            zip(variables, costs, strict=True), constant=sign * program.constant + 0.0
        )
    )
    for i in range(program.n_rows):
        _write_row(pulp, problem, variables, program, i)
    return problem


def _write_row(
    pulp: Any, problem: Any, variables: Sequence[Any], program: IntegerProgram, i: int
) -> None:
    begin, end = program.matrix.indptr[i], program.matrix.indptr[i + 1]
    columns = program.matrix.indices[begin:end].tolist()
    entries = program.matrix.data[begin:end].tolist()
    low, high = float(program.row_lower[i]), float(program.row_upper[i])
    if low == high:
        sides = [("", pulp.LpConstraintEQ, low)]
    else:
        both = low > -math.inf and high < math.inf
        sides = [
            (_LOWER if both else "", pulp.LpConstraintGE, low),
            (_UPPER if both else "", pulp.LpConstraintLE, high),
        ]
    for suffix, sense, side in sides:
        if math.isfinite(side):
            expression = pulp.LpAffineExpression(
                [(variables[j], a) for j, a in zip(columns, entries, strict=True)]
            )
            problem.addConstraint(
                pulp.LpConstraint(expression, sense=sense, name=f"R{i}{suffix}", rhs=side)
            )
