"""The native search against general solvers on one instance, side by side in one run.

    python -m benchmarks.search [--seconds 60] [--attributes education,...]

Education, occupation, relationship, race and sex of Adult's complete training rows (d = 43),
weights {-1, 0, 1}. HiGHS and CP-SAT (if OR-Tools is installed) get the formulation over cells and
the optimum itself as a start; each has ``--seconds`` to prove it. Prints times, bounds and ratios
as one JSON object; where a solver does not finish, its ratio is a lower bound and says so.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from importlib.metadata import version
from typing import Any

import numpy as np

from oracle_dp.datasets import load_adult
from oracles import Certificate, Highs, Limits
from oracles.zero_one import CellTable, minimize
from oracles.zero_one.formulation import Formulation, formulate

ATTRIBUTES = "education,occupation,relationship,race,sex"


def adult_cells(attributes: list[str]) -> CellTable:
    """Adult's complete training rows."""
    adult = load_adult(missing="drop")
    domain = adult.domain[attributes]
    positive = (adult.y.iloc[adult.train] == adult.classes[1]).to_numpy()
    return CellTable.from_codes(domain.encode(adult.X.iloc[adult.train]), positive, domain.levels)


def native(cells: CellTable) -> tuple[dict[str, Any], tuple[np.ndarray, ...]]:
    """Prove the optimum, from nothing."""
    begun = time.perf_counter()
    found = minimize(cells, method="search")
    seconds = time.perf_counter() - begun
    if found.value is None or found.certificate is not Certificate.EXACT:
        raise SystemExit("the native search has no proof")
    record = {"solver": found.oracle, "seconds": seconds, "proven": True}
    return {**record, "objective": found.objective, "bound": found.bound}, found.value


def with_highs(program: Formulation, start: np.ndarray, seconds: float) -> dict[str, Any]:
    """HiGHS from the optimum."""
    begun = time.perf_counter()
    found = Highs().minimize(program.program, limits=Limits(seconds=seconds), start=start)
    return {
        "solver": found.oracle,
        "seconds": time.perf_counter() - begun,
        "proven": found.certificate is Certificate.SOLVER,
        "objective": found.objective,
        "bound": found.bound,
    }


def with_cp_sat(program: Formulation, start: np.ndarray, seconds: float) -> dict[str, Any]:
    """CP-SAT from the optimum; every coefficient of the formulation is an integer."""
    from ortools.sat.python import cp_model

    stated, model = program.program, cp_model.CpModel()
    bounds = zip(stated.lower, stated.upper, stated.names, strict=True)
    variables = [model.new_int_var(int(a), int(b), name) for a, b, name in bounds]
    matrix = stated.matrix.tocsr()
    for i in range(stated.n_rows):
        part = slice(matrix.indptr[i], matrix.indptr[i + 1])
        terms = zip(matrix.indices[part], matrix.data[part], strict=True)
        activity = sum(int(a) * variables[j] for j, a in terms)
        if np.isfinite(stated.row_lower[i]):
            model.add(activity >= int(stated.row_lower[i]))
        if np.isfinite(stated.row_upper[i]):
            model.add(activity <= int(stated.row_upper[i]))
    costs = zip(stated.objective, variables, strict=True)
    model.minimize(sum(int(c) * x for c, x in costs if c) + int(stated.constant))
    for variable, value in zip(variables, start, strict=True):
        model.add_hint(variable, int(value))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 2
    begun = time.perf_counter()
    status = solver.solve(model)
    return {
        "solver": f"CP-SAT {version('ortools')}",
        "seconds": time.perf_counter() - begun,
        "proven": status == cp_model.OPTIMAL,
        "objective": int(solver.objective_value),
        "bound": int(solver.best_objective_bound),
    }


def main() -> None:
    """Run all that are installed and print the comparison."""
    parser = argparse.ArgumentParser(description="native search against general solvers")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--attributes", default=ATTRIBUTES)
    options = parser.parse_args()
    cells = adult_cells(options.attributes.split(","))
    native(cells)  # Compiled and warm.
    record, optimum = native(cells)
    program = formulate(cells, [-1, 0, 1], None)
    start = program.point(optimum)
    rivals = [with_highs(program, start, options.seconds)]
    if importlib.util.find_spec("ortools") is None:
        print("CP-SAT not run: pip install '.[ortools]'", file=sys.stderr)
    else:
        rivals.append(with_cp_sat(program, start, options.seconds))
    for rival in rivals:
        ratio = rival["seconds"] / record["seconds"]
        rival["ratio" if rival["proven"] else "ratio_at_least"] = round(ratio)
    found = {"attributes": options.attributes, "levels": sum(cells.levels)}
    found |= {"cells": cells.n_cells, "native": record, "rivals": rivals}
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
