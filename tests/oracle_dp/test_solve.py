"""solve_private: one call, every mechanism, every refusal before anything is charged."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oracle_dp import Ledger, ParameterError, PrivacyError, UncertifiedError
from oracle_dp.mechanisms.histogram import HistogramObjective
from oracle_dp.models import common_factor, prepare
from oracle_dp.privacy import ContingencyKind
from oracle_dp.problems import Assortment, BestSubset, MaximumCoverage, PMedian, SetCover
from oracle_dp.solve import solve_private
from oracles import (
    Certificate,
    Exhaustive,
    Highs,
    InfeasibleError,
    IntegerProgram,
    Limits,
    ModelFileError,
    OracleError,
    ProblemError,
    UnboundedError,
)

NAMES = ["open_a", "open_b", "size", "spare"]
PROGRAM = IntegerProgram(
    [-3, -5, -4, 2], [[2, 3, 1, 0], [1, 0, 0, 1]], row_upper=[5, 1], upper=[1, 1, 2, 1], names=NAMES
)
COMMON: dict[str, Any] = {"epsilon": 1, "sensitivity": 2, "random_state": 0}


@pytest.mark.parametrize("mechanism", ["auto", "opdisc", "exponential"])
@pytest.mark.parametrize("release", ["open_*", ["open_?", "size"], "*", ["size", "s*"]])
def test_released_variables_are_feasible_and_named(mechanism: str, release: Any) -> None:
    found = solve_private(PROGRAM, release=release, mechanism=mechanism, **COMMON)
    patterns = [release] if isinstance(release, str) else release
    named = {n for n in NAMES if any(Path(n).match(p) for p in patterns)}
    assert set(found.value) == named
    low, high = PROGRAM.lower.copy(), PROGRAM.upper.copy()
    for name, value in found.value.items():
        low[NAMES.index(name)] = high[NAMES.index(name)] = value
    fixed = IntegerProgram(
        PROGRAM.objective, PROGRAM.matrix, PROGRAM.row_lower, PROGRAM.row_upper, lower=low,
        upper=high,
    )  # fmt: skip
    assert Exhaustive().minimize(fixed).value is not None
    assert found.guarantee.certificate in (Certificate.EXACT, Certificate.SOLVER)
    assert any(c.kind is ContingencyKind.CALLER for c in found.guarantee.contingencies)


def test_auto_looks_at_constraints_only() -> None:
    other = PROGRAM.with_objective([9, -1, 0, 7])
    for release, expected in (("*", "exponential"), ("open_*", "opdisc")):
        for program in (PROGRAM, other):
            found = solve_private(program, release=release, **COMMON)
            assert found.guarantee.mechanism == expected


def test_top_r_counts_rows_that_a_base_set_holds() -> None:
    program = IntegerProgram([-3, -5, -4, 0], [[1, 1, 1, 1]], [2], [2], upper=np.ones(4))
    found = solve_private(
        program, release="*", mechanism="top_r", n_best=3, epsilon=50, sensitivity=1, random_state=0
    )
    assert found.value == {"x0": 0, "x1": 1, "x2": 1, "x3": 0}
    drawn = {
        tuple(
            solve_private(
                program, release="*", mechanism="top_r", n_best=1, epsilon=0.001, sensitivity=1,
                random_state=seed,
            ).value.values()
        )
        for seed in range(40)
    }  # fmt: skip
    assert len(drawn) == 6
    assert all(sum(w) == 2 for w in drawn)
    with pytest.raises(ProblemError, match="cannot be counted"):
        solve_private(PROGRAM, release="*", mechanism="top_r", **COMMON)


def test_maximise_means_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "model.lp"
    path.write_text(
        "Maximize\n obj: 3 open_a + 50 open_b\nSubject To\n r: open_a + open_b <= 1\n"
        "Binaries\n open_a open_b\nEnd\n"
    )
    for mechanism in ("opdisc", "exponential"):
        found = solve_private(
            path, release="open_*", mechanism=mechanism, epsilon=20, sensitivity=1, random_state=0
        )
        assert found.value == {"open_a": 0, "open_b": 1}


def test_pulp_models() -> None:
    pulp = pytest.importorskip("pulp", reason="PuLP is not installed")
    problem = pulp.LpProblem("toy", pulp.LpMaximize)
    a, b = (problem.add_variable(name, cat="Binary") for name in ("open_a", "open_b"))
    problem += 3 * a + 50 * b
    problem += a + b <= 1
    found = solve_private(problem, release="open_*", epsilon=20, sensitivity=1, random_state=0)
    assert found.value == {"open_a": 0, "open_b": 1}


def test_problem_classes_bring_their_sensitivity() -> None:
    g = np.random.default_rng(0)
    problem = PMedian(g.integers(0, 20, (20, 8)), g.integers(0, 50, 20), 3)
    for mechanism in ("auto", "counts", "exponential", "opdisc"):
        found = solve_private(problem, epsilon=1, mechanism=mechanism, random_state=0)
        assert sum(found.value.values()) == 3
        assert found.guarantee.sensitivity_source == "proved for PMedian"
    # The best three in integers, told apart from 53 others.
    found = solve_private(problem, epsilon=1, mechanism="top_r", n_best=3, random_state=0)
    assert sum(found.value.values()) == 3
    assert found.guarantee.certificate is Certificate.EXACT
    expected = problem.sensitivity("add_remove")
    found = solve_private(
        problem, epsilon=1, mechanism="exponential", neighbors="add_remove", random_state=0
    )
    assert found.guarantee.sensitivity == expected
    with pytest.raises(ParameterError, match="has its own"):
        solve_private(problem, epsilon=1, sensitivity=3)
    with pytest.raises(ParameterError, match="HistogramObjective"):
        solve_private(MaximumCoverage(g.integers(0, 2, (9, 5)), 2), epsilon=1, mechanism="counts")


def test_opdisc_on_further_classes_with_the_contingency_named() -> None:
    g = np.random.default_rng(0)
    problems = [
        MaximumCoverage((g.random((60, 12)) < 0.2).astype(int), 3),
        Assortment(g.integers(0, 6, (40, 10)), g.integers(1, 9, 10), 20, most=5),
        SetCover(
            np.eye(8, dtype=int)[g.integers(0, 8, 30)], (g.random((6, 8)) < 0.6).astype(int),
            most_objections=1,
        ),
    ]  # fmt: skip
    for problem in problems:
        ledger = Ledger({"people": 2.0})
        found = solve_private(
            problem, epsilon=2, mechanism="opdisc", random_state=0, ledger=ledger, dataset="people"
        )
        native = isinstance(problem, MaximumCoverage)
        assert found.guarantee.certificate is (Certificate.EXACT if native else Certificate.SOLVER)
        assert ledger.spent("people")[0] == 2
        if native:
            continue
        bound = ContingencyKind.ORACLE_BOUND
        assert any(c.kind is bound and "HiGHS" in c.detail for c in found.guarantee.contingencies)


def test_a_second_that_does_not_suffice_is_a_charged_refusal() -> None:
    hard = MaximumCoverage(np.zeros((0, 60), int), 8).synthetic(20_000, 1)
    ledger = Ledger({"people": 1.0})
    with pytest.raises(UncertifiedError, match=r"depends on the data.*not covered"):
        solve_private(
            hard, epsilon=1, mechanism="opdisc", limits=Limits(seconds=1), random_state=0,
            oracle="highs",
            ledger=ledger, dataset="people",
        )  # fmt: skip
    assert ledger.spent("people")[0] == 1


def test_histogram_objectives() -> None:
    histogram = HistogramObjective(
        IntegerProgram([0, 0], [[1, 1]], [1], [1], upper=[1, 1], names=["left", "right"]),
        [[0, 5], [5, 0]], [900, 20], released=(0, 1), oracle=Highs(),
    )  # fmt: skip
    found = solve_private(histogram, epsilon=1)
    assert found.value == {"left": 1, "right": 0}
    assert found.guarantee.mechanism == "counts"
    # Any other mechanism needs the sensitivity of the objective.
    found = solve_private(histogram, epsilon=1, sensitivity=5, mechanism="opdisc", random_state=0)
    assert set(found.value) == {"left", "right"}
    for changes, match in (({"mechanism": "opdisc"}, "sensitivity"), ({"release": "left"}, "own")):
        with pytest.raises(ParameterError, match=match):
            solve_private(histogram, epsilon=1, **changes)


@pytest.mark.parametrize(
    ("row", "upper", "error"),
    [([3, 4], [1, 1], InfeasibleError), ([1, math.inf], [1, math.inf], ProblemError)],
)
def test_a_histogram_without_an_answer_is_refused_uncharged(
    row: list[float], upper: list[float], error: type[Exception]
) -> None:
    program = IntegerProgram([0, 0], [[1, 1]], row[:1], row[1:], upper=upper)
    histogram = HistogramObjective(
        program, [[0, -5], [-5, 0]], [9, 2], released=(0, 1), oracle=Highs()
    )
    ledger = Ledger({"people": 1.0})
    with pytest.raises(error):
        solve_private(histogram, epsilon=1, ledger=ledger, dataset="people")
    assert ledger.spent("people")[0] == 0


def test_one_feasible_choice_is_public_and_free() -> None:
    program = IntegerProgram([-3, -5, 1], [[1, 1, 0]], row_lower=[2], upper=[1, 1, 1])
    ledger = Ledger({"people": 1.0})
    for mechanism in ("opdisc", "exponential"):
        found = solve_private(
            program, release=["x0", "x1"], mechanism=mechanism, ledger=ledger, dataset="people",
            **COMMON,
        )  # fmt: skip
        assert found.value == {"x0": 1, "x1": 1}
        assert (found.guarantee.mechanism, found.guarantee.epsilon) == ("public", 0.0)
    histogram = HistogramObjective(
        program, [[1, 2, 3]], [4], released=(0, 1), oracle=Highs()
    )  # Its spare variable is recourse.
    found = solve_private(histogram, epsilon=1, ledger=ledger, dataset="people")
    assert (found.value, found.guarantee.epsilon) == ({"x0": 1, "x1": 1}, 0.0)
    for problem in (MaximumCoverage([[0, 1], [1, 0]], 2), BestSubset([[0, 1]], [1], 2)):
        found = solve_private(problem, epsilon=1, ledger=ledger, dataset="people")
        assert (list(found.value.values()), found.guarantee.mechanism) == ([1, 1], "public")
    assert ledger.spent("people")[0] == 0


def test_a_cross_check_is_in_the_guarantee() -> None:
    found = solve_private(
        PROGRAM, release="open_*", mechanism="opdisc", cross_check=Exhaustive(), **COMMON
    )
    text = str(found.guarantee)
    assert "cross-checked" in text.replace("\n", " ")


# -- bad input: named, before any noise and any charge ------------------------------------------


def model(**changes: Any) -> IntegerProgram:
    given: dict[str, Any] = {
        "objective": [1, -2], "matrix": [[1, 1]], "row_upper": [1], "upper": [1, 1], **changes
    }  # fmt: skip
    return IntegerProgram(given.pop("objective"), given.pop("matrix"), **given)


BAD: dict[str, tuple[Any, dict[str, Any], type[Exception], str]] = {
    "unknown pattern": (model(), {"release": "open_*"}, ParameterError, "no variable matches"),
    "no pattern": (model(), {"release": []}, ParameterError, "release"),
    "release missing": (model(), {"release": None}, ParameterError, "release"),
    "continuous released": (
        model(integer=[False, True]), {}, ParameterError, "'x0' is continuous"),
    "continuous recourse": (
        model(integer=[True, False]), {"release": "x0"}, ProblemError, "'x1' is continuous"),
    "unbounded integer": (model(upper=[1, math.inf]), {}, ProblemError, "'x1' has no finite"),
    "infeasible": (model(row_lower=[3], row_upper=[4]), {}, InfeasibleError, "no point"),
    "unbounded": (
        model(matrix=None, row_upper=None, upper=[1, math.inf]), {}, UnboundedError, "bound"),
    "zero sensitivity": (model(), {"sensitivity": 0}, ParameterError, "sensitivity"),
    "negative sensitivity": (model(), {"sensitivity": -1}, ParameterError, "sensitivity"),
    "missing sensitivity": (model(), {"sensitivity": None}, ParameterError, "sensitivity"),
    "wide coefficients": (model(objective=[1, 2**31]), {}, ProblemError, "1e9"),
    "wide rows": (model(matrix=[[1e-10, 1]]), {}, ProblemError, "1e9"),
    "fractions in the objective": (model(objective=[1, 0.5]), {}, ProblemError, "public factor"),
    "irrational rows": (model(matrix=[[1 / 3, 1]]), {}, ProblemError, "short decimals"),
    "empty model": (IntegerProgram([]), {}, ProblemError, "empty"),
    "not a model": ("model.txt", {}, ParameterError, r"\.mps"),
    "not a model either": (3, {}, ParameterError, "expected, not a int"),
    "missing file": ("nowhere.mps", {}, ModelFileError, "nowhere"),
    "epsilon": (model(), {"epsilon": 0}, ParameterError, "epsilon"),
    "mechanism": (model(), {"mechanism": "magic"}, ParameterError, "magic"),
    "delta": (model(), {"delta": 0.1}, ParameterError, "delta"),
    "oracle": (model(), {"oracle": "cplex"}, ProblemError, "cplex"),
    "counts": (model(), {"mechanism": "counts"}, ParameterError, "HistogramObjective"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("mechanism", ["opdisc", "exponential"])
def test_bad_input_is_named_and_free(name: str, mechanism: str) -> None:
    program, changes, error, match = BAD[name]
    ledger = Ledger({"people": 1.0})
    given = {"release": "*", "mechanism": mechanism, **COMMON, **changes}
    with pytest.raises(error, match=match) as caught:
        solve_private(program, ledger=ledger, dataset="people", **given)
    assert isinstance(caught.value, PrivacyError | OracleError)
    assert "2147483648" not in str(caught.value)
    assert ledger.spent("people")[0] == 0


@pytest.mark.parametrize("objective", [[math.nan, 1], [math.inf, 1]])
def test_numbers_that_are_none_are_found_when_the_model_is_made(objective: list[float]) -> None:
    with pytest.raises(ProblemError, match="NaN or infinite"):
        model(objective=objective)


def test_truncated_and_duplicate_files(tmp_path: Path) -> None:
    path = tmp_path / "model.mps"
    path.write_text("NAME toy\nROWS\n N obj\n L r\nCOLUMNS\n x obj 1 r 1\n")
    with pytest.raises(ModelFileError):
        solve_private(path, release="*", **COMMON)
    with pytest.raises(ProblemError, match="used twice"):
        model(names=["a", "a"])


def test_rows_of_decimals_become_integers_exactly() -> None:
    # In floats 0.1 + 0.2 > 0.3: the row would be lost.
    program = IntegerProgram([-1, -1], [[0.1, 0.2]], row_upper=[0.3], upper=[1, 1])
    prepared = prepare(program, "*")
    assert prepared.program.matrix.toarray().tolist() == [[1, 2]]
    assert prepared.program.row_upper.tolist() == [3]
    found = solve_private(program, release="*", epsilon=100, sensitivity=1, random_state=0)
    assert found.value == {"x0": 1, "x1": 1}
    assert common_factor([0.25, 1.5, 3.0]) == 4
    assert common_factor([1 / 3]) is None
    assert common_factor([1e-10]) is None
