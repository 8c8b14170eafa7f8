"""Models of PuLP read and written, against PuLP's own evaluation and its MPS files."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pulp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles.pulp_models
from oracles import IntegerProgram, SolverError

INF = math.inf
ROOT = Path(__file__).parents[2]


def facts(program: IntegerProgram) -> dict[str, object]:
    return {
        "names": program.names,
        "objective": program.objective.tolist(),
        "constant": program.constant,
        "negated": program.negated,
        "lower": program.lower.tolist(),
        "upper": program.upper.tolist(),
        "integer": program.integer.tolist(),
        "rows": program.matrix.toarray().tolist(),
        "sides": [program.row_lower.tolist(), program.row_upper.tolist()],
    }


# -- round trips -----------------------------------------------------------------------------

COEFFICIENT = st.sampled_from([0.0, 0.0, 1.0, -1.0, 3.0, 0.1, -1 / 3, 1e-13, 2.0**53, -1e18])
FINITE = st.floats(-1e9, 1e9) | st.integers(-9, 9).map(float)
NAME = st.text("abcxyzXYZ019_.=#$%é", min_size=1, max_size=6)


@st.composite
def sides(draw, size):
    """Bounds or sides: none, one, two, equal ones."""
    low = np.array(draw(st.lists(FINITE, min_size=size, max_size=size)))
    high = low + draw(st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.5]), min_size=size, max_size=size))
    for ends, none in ((low, -INF), (high, INF)):
        without = draw(st.lists(st.booleans(), min_size=size, max_size=size))
        ends[np.array(without, dtype=bool)] = none
    return low + 0.0, high + 0.0


@st.composite
def programs(draw):
    n, m = draw(st.integers(0, 6)), draw(st.integers(0, 5))
    vector = st.lists(COEFFICIENT, min_size=n, max_size=n)
    lower, upper = draw(sides(n))
    low, high = draw(sides(m))
    kept = np.isfinite(low) | np.isfinite(high)  # PuLP has no rows without a side
    rows = np.array([draw(vector) for _ in range(m)]).reshape(m, n)
    return IntegerProgram(
        draw(vector),
        rows[kept],
        low[kept],
        high[kept],
        lower=lower,
        upper=upper,
        integer=np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool),
        constant=draw(COEFFICIENT),
        names=draw(st.lists(NAME, min_size=n, max_size=n, unique=True)),
        negated=draw(st.booleans()),
    )


@given(programs())
@settings(deadline=None, max_examples=200, derandomize=True)
def test_writing_and_reading_gives_the_same_program(program):
    written = program.to_pulp()
    again = IntegerProgram.from_pulp(written)
    assert facts(again) == facts(program)
    # And once more from what PuLP has sorted and registered meanwhile.
    assert facts(IntegerProgram.from_pulp(written)) == facts(program)


@given(programs(), st.data())
@settings(deadline=None, max_examples=200, derandomize=True)
def test_a_written_model_means_the_same_to_pulp(program, data):
    """Objective and rows as PuLP evaluates them."""
    point = np.array([float(data.draw(st.integers(-5, 5))) for _ in range(program.n_variables)])
    written = program.to_pulp()
    for variable in written.variables():
        variable.varValue = point[program.names.index(variable.name)]
    sign = -1 if program.negated else 1
    size = float(np.abs(program.objective) @ np.abs(point)) + abs(program.constant)
    assert sign * pulp.value(written.objective) == pytest.approx(
        float(program.objective @ point) + program.constant, abs=1e-12 * (1 + size)
    )
    assert written.sense == (pulp.LpMaximize if program.negated else pulp.LpMinimize)
    activity = program.matrix.toarray() @ point
    reach = np.abs(program.matrix.toarray()) @ np.abs(point)
    clear = 1e-9 * (1 + reach + np.abs(np.nan_to_num(program.row_lower, posinf=0, neginf=0)))
    inside = (activity > program.row_lower + clear) & (activity < program.row_upper - clear)
    outside = (activity < program.row_lower - clear) | (activity > program.row_upper + clear)
    valid = all(constraint.valid() for constraint in written.constraints())
    if inside.all():
        assert valid
    if outside.any():
        assert not valid


def test_rows_that_look_like_a_range_stay_apart():
    program = IntegerProgram([1.0], [[1], [1]], [1, -INF], [INF, 3])
    assert IntegerProgram.from_pulp(program.to_pulp()).n_rows == 2
    ranges = IntegerProgram([1.0], [[1]], [1], [3])
    names = [constraint.name for constraint in ranges.to_pulp().constraints()]
    assert names == ["R0_lower", "R0_upper"]


def test_an_equation_is_no_half_of_a_range():
    model = pulp.LpProblem("names")
    x = model.add_variable("x", 0, 9)
    model += x
    model += x >= 1, "cap_lower"
    model += x == 3, "cap_upper"
    program = IntegerProgram.from_pulp(model)
    assert program.row_lower.tolist() == [1, 3]
    assert program.row_upper.tolist() == [INF, 3]


def test_crossed_halves_are_no_range():
    model = pulp.LpProblem("crossed")
    x = model.add_variable("x", 0, 9)
    model += x
    model += x >= 5, "cap_lower"
    model += x <= 3, "cap_upper"
    program = IntegerProgram.from_pulp(model)
    assert program.row_lower.tolist() == [5, -INF]
    assert program.row_upper.tolist() == [INF, 3]


def test_a_row_without_a_side_is_left_out():
    program = IntegerProgram([1.0], [[1], [2]], [-INF, 1], [INF, INF])
    assert IntegerProgram.from_pulp(program.to_pulp()).matrix.toarray().tolist() == [[2]]


# -- reading ---------------------------------------------------------------------------------


def diet() -> pulp.LpProblem:
    model = pulp.LpProblem("diet", pulp.LpMaximize)
    bread = model.add_variable("bread", 1, 5, pulp.LpInteger)
    apples = model.add_variable("apples", None, 2.5)
    cake = model.add_variable("cake", cat=pulp.LpBinary)
    fixed = model.add_variable("fixed", 4, 4)
    model += 3 * bread - 2 * apples + 7
    model += bread + 2 * apples + 1 <= 2 * cake + 5, "energy"
    model += apples - fixed == -3
    model += bread >= 2
    return model


def test_a_model_is_read():
    assert facts(IntegerProgram.from_pulp(diet())) == {
        "names": ("bread", "apples", "cake", "fixed"),
        "objective": [-3, 2, 0, 0],
        "constant": -7,
        "negated": True,
        "lower": [1, -INF, 0, 4],
        "upper": [5, 2.5, 1, 4],
        "integer": [True, False, True, False],
        "rows": [[1, 2, -2, 0], [0, 1, 0, -1], [1, 0, 0, 0]],
        "sides": [[-INF, -3, 2], [4, -3, INF]],
    }


def test_reading_agrees_with_the_file_that_pulp_writes(tmp_path):
    """PuLP's MPS file has no constant, and another order of variables."""
    model = diet()
    direct = IntegerProgram.from_pulp(model)
    model.writeMPS(str(tmp_path / "diet.mps"))
    by_file = IntegerProgram.from_mps(tmp_path / "diet.mps")
    order = [by_file.names.index(name) for name in direct.names]
    assert by_file.negated
    assert by_file.objective[order].tolist() == direct.objective.tolist()
    assert by_file.matrix.toarray()[:, order].tolist() == direct.matrix.toarray().tolist()
    for side in ("lower", "upper", "integer"):
        assert getattr(by_file, side)[order].tolist() == getattr(direct, side).tolist()
    assert by_file.row_lower.tolist() == direct.row_lower.tolist()
    assert by_file.row_upper.tolist() == direct.row_upper.tolist()


def test_a_model_without_an_objective():
    model = pulp.LpProblem("feasible")
    model += model.add_variable("x", 0, 3, pulp.LpInteger) >= 1
    program = IntegerProgram.from_pulp(model)
    assert (program.objective.tolist(), program.constant) == ([0.0], 0.0)
    assert model.objective is None


def test_pulps_dummy_variable_is_not_read(tmp_path):
    """PuLP adds one to an empty objective, and to an empty row."""
    model = pulp.LpProblem("feasible")
    model += model.add_variable("x", 0, 3, pulp.LpInteger) >= 1
    model += pulp.LpAffineExpression() <= 2, "empty"
    model.fixObjective()
    model.writeLP(str(tmp_path / "m.lp"))
    assert "__dummy" in [v.name for v in model.variables()]
    program = IntegerProgram.from_pulp(model)
    assert program.names == ("x",)
    assert program.matrix.toarray().tolist() == [[1], [0]]


def test_an_empty_model():
    program = IntegerProgram.from_pulp(pulp.LpProblem("empty"))
    assert (program.n_variables, program.n_rows) == (0, 0)


def test_a_category_set_afterwards_is_honoured():
    model = pulp.LpProblem("late")
    x, y = model.add_variable("x", -3, 0.5), model.add_variable("y")
    x.cat = y.cat = pulp.LpBinary
    model += x + y
    program = IntegerProgram.from_pulp(model)
    assert program.integer.all()
    assert (program.lower.tolist(), program.upper.tolist()) == ([0, 0], [0.5, 1])


def test_an_extended_elastic_model_is_an_ordinary_one():
    model = pulp.LpProblem("soft")
    x = model.add_variable("x", 0, 9)
    model += x
    elastic = (x >= 5).makeElasticSubProblem(penalty=2)
    model.extend(elastic)
    assert IntegerProgram.from_pulp(model).n_variables == 4


# -- the package -----------------------------------------------------------------------------


def test_importing_the_package_does_not_import_pulp():
    code = "import sys, oracles.pulp, oracles.pulp_models; sys.exit('pulp' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_a_missing_pulp_is_said_to_be_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pulp", None)
    with pytest.raises(SolverError, match="pip install 'pulp"):
        IntegerProgram([1]).to_pulp()


def test_another_pulp_is_refused(monkeypatch):
    monkeypatch.delattr(pulp, "LpConstraintVar")  # gone in PuLP 4
    monkeypatch.setattr(pulp, "__version__", "4.2.0")
    with pytest.raises(SolverError, match=r"PuLP 4\.2\.0 is not supported"):
        IntegerProgram([1]).to_pulp()
    assert oracles.pulp_models.SUPPORTED in (ROOT / "pyproject.toml").read_text()
