"""``oracle-dp solve`` and ``oracle-dp plan problem``."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from oracle_dp import Ledger, Release
from oracle_dp.cli import app
from oracle_dp.cli.plan_problem import row
from oracle_dp.cli.problem_classes import ProblemClass, problem_of
from oracle_dp.solve_plan import MechanismEstimate
from oracles import _parser, files

MODEL = """Minimize
 obj: -3 open_a - 5 open_b - 4 open_c + 2 spare
Subject To
 r1: 2 open_a + 3 open_b + open_c <= 5
 r2: open_a + spare <= 1
Bounds
 0 <= open_c <= 2
Generals
 open_c
Binaries
 open_a open_b spare
End
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.lp"
    path.write_text(MODEL)
    return path


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_private_answer_is_printed_with_its_guarantee_and_the_promise(model: Path) -> None:
    done = call("solve", model, "--release", "open_*", "--sensitivity", 1, "--seed", 0)
    assert done.exit_code == 0, done.output
    assert "open_a" in done.output
    assert "spare  " not in done.output
    assert "SEEDED: NOT PRIVATE" in done.output
    assert "you promise that constraints" in done.output


def test_json_is_the_release_and_holds_no_objective(model: Path, tmp_path: Path) -> None:
    saved = tmp_path / "release.json"
    done = call(
        "solve", model, "--release", "open_a,open_b,open_c,spare", "--sensitivity", 1,
        "--mechanism", "exponential", "--seed", 0, "--json", "--save", saved,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    printed = json.loads(done.output)
    assert set(printed["value"]) == {"open_a", "open_b", "open_c", "spare"}
    assert printed["guarantee"]["mechanism"] == "exponential"
    assert set(printed) == {"schema", "version", "kind", "value", "guarantee"}
    assert dict(Release.from_json(saved.read_text()).value) == printed["value"]


def test_a_gap_for_an_objective_that_is_not_integer(tmp_path: Path) -> None:
    path = tmp_path / "fractional.lp"
    path.write_text(
        MODEL.replace("-3 open_a", "-3.25 open_a").replace("open_b spare\n", "open_b\n")
    )
    given = ["solve", path, "--release", "open_*", "--sensitivity", 1, "--seed", 0]
    refused = call(*given)
    assert refused.exit_code == 1
    assert "ProblemError" in refused.output
    done = call(*given, "--gap", 0.01, "--json")
    assert done.exit_code == 1  # The continuous variable has no upper bound.
    assert "'spare' has no finite bounds" in done.output
    path.write_text(path.read_text().replace("Bounds\n", "Bounds\n 0 <= spare <= 1.5\n"))
    done = call(*given, "--gap", 0.01, "--json")
    assert done.exit_code == 0, done.output
    printed = json.loads(done.output)
    assert set(printed["value"]) == {"open_a", "open_b", "open_c"}
    assert printed["guarantee"]["certificate"] == "bounded"


def test_a_second_solver(model: Path) -> None:
    pytest.importorskip("ortools", reason="OR-Tools is not installed: the extra [ortools]")
    done = call(
        "solve", model, "--release", "open_*", "--sensitivity", 1, "--solver", "cp_sat",
        "--cross-check", "highs", "--seed", 0,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "CP-SAT" in "".join(done.output.split())


def test_a_plan_on_a_public_model(model: Path) -> None:
    done = call(
        "plan", "solve", model, "--release", "open_*", "--sensitivity", 1, "--epsilons", "0.1,5",
        "--runs", 3, "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    lines = json.loads(done.output)
    assert [line["mechanism"] for line in lines] == ["exponential", "opdisc"] * 2
    for line in lines:
        stated = float(line["why"].split(" on average")[0].split()[-1])
        assert 0 <= line["excess"] <= stated
    shown = call("plan", "solve", model, "--release", "x", "--sensitivity", 1)
    assert shown.exit_code == 1
    assert "ParameterError: release" in shown.output
    for command in (
        ["solve", model, "--release", "*", "--sensitivity", 1],
        ["problem", "coverage"],
    ):
        wrong = call("plan", *command, "--epsilons", "some")
        assert wrong.exit_code == 1
        assert "ParameterError: epsilons" in wrong.output


def test_a_file_that_does_not_end(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, ledger = tmp_path / "script.py", tmp_path / "ledger"
    script.write_text("import time; time.sleep(8)")
    monkeypatch.setattr(_parser, "_SCRIPT", script)
    monkeypatch.setattr(files, "READ_SECONDS", 0.5)
    Ledger.create(ledger, {"homes": 1.0})
    done = call(
        "solve", model, "--release", "*", "--sensitivity", 1, "--ledger", ledger,
        "--dataset", "homes",
    )  # fmt: skip
    assert done.exit_code == 1
    assert "ModelFileError: model.lp: is not read to its end within 0.5 seconds" in done.output
    assert Ledger.open(ledger).charges == ()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["--release", "close_*"], "ParameterError: release"),
        (["--sensitivity", "0"], "ParameterError: sensitivity"),
        (["--epsilon", "-1"], "ParameterError: epsilon"),
        (["--mechanism", "top_r"], "ProblemError: program"),
    ],
)
def test_errors_are_one_line(model: Path, changes: list[str], message: str) -> None:
    given = {"--release": "*", "--sensitivity": "1", **dict([changes])}
    done = call("solve", model, *(word for pair in given.items() for word in pair))
    assert done.exit_code == 1
    assert message in done.output
    assert done.output.count("\n") == 1


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    done = call("solve", tmp_path / "nothing.mps", "--release", "*", "--sensitivity", 1)
    assert done.exit_code == 1
    assert "ModelFileError: nothing.mps" in done.output


def test_a_plan_compares_mechanisms_on_made_up_records(tmp_path: Path) -> None:
    network = tmp_path / "network.txt"
    network.write_text("6 7 2\n1 2 3\n2 3 4\n3 4 5\n4 5 3\n5 6 4\n1 6 9\n2 5 2\n")
    done = call(
        "plan", "problem", "p_median", "--public", network, "--records", 200, "--epsilons", "1",
        "--runs", 2, "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    lines = json.loads(done.output)
    assert [line["mechanism"] for line in lines] == ["counts", "exponential"]
    assert all(line["excess"] >= 0 for line in lines)
    shown = call("plan", "problem", "coverage", "--size", "10,3", "--records", 50, "--runs", 2,
                 "--epsilons", "1", "--opdisc")  # fmt: skip
    assert shown.exit_code == 0, shown.output
    assert [line.split()[1] for line in shown.output.splitlines()[2:]] == ["exponential", "opdisc"]
    assert call("plan", "problem", "p_median").exit_code == 1
    for wrong in (
        ["coverage", "--public", network], ["p_median", "--public", network, "--size", "3"],
        ["coverage", "--most", 3], ["set_cover", "--most", 0], ["facility"],
    ):  # fmt: skip
        refused = call("plan", "problem", *wrong)
        assert refused.exit_code == 1
        assert "ParameterError" in refused.output
    for size in ("60", "60,8,1", "0,1", "many"):
        wrong = call("plan", "problem", "coverage", "--size", size)
        assert wrong.exit_code == 1
        assert "ParameterError: size" in wrong.output


PUBLIC_FILES = {
    "p_median": "4 4 2\n1 2 3\n2 3 4\n3 4 5\n4 1 6\n",
    "facility": "2 3\n9 1.5\n9 2.5\n4 8.4 4.8\n5 5 5\n2 1 7.25\n",
    "multi_knapsack": "1\n3 2 0\n5 6 7\n1 2 3\n3 1 1\n4 4\n",
    "set_cover": "2 3\n1 2 3\n2 1 2\n2 2 3\n",
}
SIZES = {"coverage": "6,2", "assortment": "6", "best_subset": "6,2,1", "shortest_path": "3,3"}


@pytest.mark.parametrize("kind", list(ProblemClass))
def test_every_problem_class_can_be_planned(kind: ProblemClass, tmp_path: Path) -> None:
    given: list[object] = ["--records", 50, "--epsilons", "1", "--runs", 1, "--json"]
    if kind in PUBLIC_FILES:
        public = tmp_path / "public.txt"
        public.write_text(PUBLIC_FILES[kind])
        given += ["--public", public]
    else:
        given += ["--size", SIZES[kind]]
    done = call("plan", "problem", kind, *given)
    assert done.exit_code == 0, done.output
    tried = {line["mechanism"]: line["excess"] for line in json.loads(done.output)}
    assert "exponential" in tried
    assert all(0 <= excess < math.inf for excess in tried.values())


def test_a_cover_in_lp_format_and_the_bound_of_a_record(tmp_path: Path) -> None:
    path = tmp_path / "cover.lp"
    path.write_text("Minimize\n c: a + 2 b\nSubject To\n r: a + b >= 1\nBinaries\n a b\nEnd\n")
    cover = problem_of(ProblemClass.SET_COVER, path, None, 2)
    assert (cover.n_choices, cover.sensitivity("add_remove")) == (2, 2)
    streets = problem_of(ProblemClass.SHORTEST_PATH, None, "3,4", 2)
    assert (streets.n_choices, streets.sensitivity("replace")) == (17, 4)


def test_a_mechanism_that_does_not_finish_has_no_figures() -> None:
    shown = row("1", MechanismEstimate("opdisc", math.inf, math.nan, 2.5, "too slow"))
    assert shown.split() == ["1", "opdisc", "-", "-", "2.50", "too", "slow"]
