"""What is no linear model is refused by name, and no message shows a coefficient."""

from __future__ import annotations

import math

import numpy as np
import pulp
import pytest

from oracles import IntegerProgram, ProblemError

INF = math.inf


def broken(kind: str) -> object:
    model = pulp.LpProblem("broken")
    x, y = model.add_variable("x", 0, 9), model.add_variable("y", 0, 9)
    model += x + y
    model += x + y <= 4, "cap"
    cap = model.get_constraint_by_name("cap")
    if kind == "duplicate":
        model += model.add_variable("x", 0, 2) <= 1
    elif kind == "sos":
        model.sos1["choice"] = {x: 1, y: 2}
    elif kind == "elastic":
        return cap.makeElasticSubProblem(penalty=2)
    elif kind == "semicontinuous":
        model += model.add_variable("z", 0, 2, "SemiContinuous") <= 1
    elif kind == "product":
        cap.expr[x] = y
    elif kind == "objective product":
        model.objective[x] = x + y
    elif kind == "constant":
        cap.constant = x + y
    elif kind == "complex":
        cap.expr[x] = 98765j
    elif kind == "objective":
        model.objective = x
    elif kind == "nan cost":
        model.objective[x] = math.nan
    elif kind == "inf cost":
        model.objective[x] = INF
    elif kind == "nan entry":
        cap.expr[x] = np.float64("nan")
    elif kind == "nan side":
        cap.constant = math.nan
    elif kind == "nan bound":
        x.lowBound = math.nan
    elif kind == "inf bound":
        x.lowBound = INF
    elif kind == "text bound":
        x.upBound = "98765"
    elif kind == "crossed":
        x.lowBound = 98765
    elif kind == "large":
        model.objective[x] = 2**53 + 98765
    elif kind == "row sense":
        cap.sense = 98765
    elif kind == "sense":
        model.sense = 0
    return model


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("duplicate", "'x' is used twice"),
        ("sos", "special ordered sets"),
        ("elastic", "elastic sub-problem"),
        ("semicontinuous", "'z'.*semi-continuous"),
        ("product", "'cap'.*not linear"),
        ("objective product", "objective.*not linear"),
        ("constant", "'cap'.*not linear"),
        ("complex", "'cap'.*real number"),
        ("objective", "objective: a linear expression"),
        ("nan cost", "objective: NaN or infinite"),
        ("inf cost", "objective: NaN or infinite"),
        ("nan entry", "matrix: NaN or infinite"),
        ("nan side", "row bounds: NaN"),
        ("nan bound", "variable bounds: NaN"),
        ("inf bound", "lower bound of inf"),
        ("text bound", "bounds of 'x'"),
        ("crossed", "exceeds upper at 'x'"),
        ("large", "2\\^53"),
        ("row sense", "'cap': its sense"),
        ("sense", "the sense must be"),
    ],
)
def test_what_is_no_program_is_refused(kind, message):
    with pytest.raises(ProblemError, match=message) as caught:
        IntegerProgram.from_pulp(broken(kind))
    assert "98765" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_products_are_refused_by_pulp_itself():
    model = pulp.LpProblem("product")
    x = model.add_variable("x")
    with pytest.raises(TypeError, match="Non-constant expressions cannot be multiplied"):
        _ = x * x


@pytest.mark.parametrize("thing", [None, "model.mps", IntegerProgram([1])])
def test_other_things_are_no_models(thing):
    with pytest.raises(ProblemError, match=r"a pulp\.LpProblem expected"):
        IntegerProgram.from_pulp(thing)


@pytest.mark.parametrize("name", ["a b", "x[1]", "x-1", "a+b", "a/b", "a>b", "", "__dummy"])
def test_a_name_that_pulp_would_change_is_refused_or_replaced(name):
    program = IntegerProgram([1, 2], upper=[1, 1], names=[name, "other"])
    with pytest.raises(ProblemError, match="names: PuLP does not take"):
        program.to_pulp()
    renamed = program.to_pulp(names=["first", "second"])
    assert IntegerProgram.from_pulp(renamed).names == ("first", "second")
    for wrong in (["one"], ["twice", "twice"]):
        with pytest.raises(ProblemError, match="names"):
            program.to_pulp(names=wrong)
