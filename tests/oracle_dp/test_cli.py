"""The command: what it prints, writes, refuses, and how soon it answers."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from oracle_dp import (
    Binned,
    Categorical,
    Domain,
    Guarantee,
    Neighbors,
    OneVsRest,
    Release,
    ScoringCard,
)
from oracle_dp.cli import app
from oracles import Certificate

COMMAND = Path(sys.executable).with_name("oracle-dp")
COMMANDS = ("train", "predict", "plan")

GUARANTEE = Guarantee(
    mechanism="opdisc",
    theorem="a theorem",
    neighbors=Neighbors.REPLACE,
    epsilon=1.0,
    delta=0.0,
    rho=0.5,
    sensitivity=2.0,
    sensitivity_source="proved",
    certificate=Certificate.EXACT,
    contingencies=(),
)
DOMAIN = Domain([Categorical("sex", ("Female", "Male", "")), Binned("age", (30, 40.5))])
CARD = ScoringCard(DOMAIN, ((0, 1, 0), (-1, 0, 2)), ("no", "yes"))
CANARY = "c4n4ry"


def run(*words: str, stdin: str | bytes | None = None) -> Result:
    """The command in this process."""
    return CliRunner().invoke(app, words, input=stdin)


def started(*words: str, **rest: Any) -> subprocess.CompletedProcess[str]:
    """The installed command in a process of its own."""
    return subprocess.run(
        [COMMAND, *words], capture_output=True, text=True, timeout=60, check=False, **rest
    )


def refused(result: Result, *parts: str, code: int = 1) -> None:
    """One line on stderr with these parts, nothing on stdout, no traceback."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert result.stderr.startswith("oracle-dp: ")
    assert result.stderr.count("\n") == 1
    for part in parts:
        assert part in result.stderr
    assert CANARY not in result.stderr


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.json"
    path.write_text(Release(CARD, GUARANTEE).to_json(), encoding="utf-8")
    return path


@pytest.fixture
def untrained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whether a fit was begun; it goes no further."""
    begun: list[str] = []
    monkeypatch.setattr(
        "oracle_dp.estimators.zero_one.ZeroOneClassifier.fit",
        lambda self, x, y: begun.append("fit"),
    )
    return begun


# -- help --------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)], ids=str)
def test_help(command: Sequence[str]) -> None:
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "Usage: oracle-dp" in result.stdout
    assert all(name in result.stdout for name in COMMANDS) or command


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from oracle_dp.cli import main; sys.argv = ['oracle-dp', '--help']\n"
        "try: main()\n"
        "finally: print('modules:', *sorted({m.split('.')[0] for m in sys.modules}))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    shown, imported = result.stdout.split("modules:")
    assert "Usage: oracle-dp" in shown
    heavy = {"numpy", "pandas", "scipy", "sklearn", "highspy", "numba", "joblib", "matplotlib"}
    assert "oracle_dp" in imported.split()
    assert heavy.isdisjoint(imported.split())


def test_without_a_command_the_help_is_shown() -> None:
    result = run()
    assert "Usage: oracle-dp" in result.output
    assert result.exit_code == 2


# -- train -------------------------------------------------------------------------------------

FAST = ("train", "adult", "--attributes", "education, relationship", "--epsilon", "10")


def test_train_prints_one_json_object_and_nothing_else() -> None:
    # In a process of its own: solvers write past Python.
    done = started(*FAST, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    report = json.loads(done.stdout)
    assert {
        "mechanism", "epsilon", "delta", "neighbors", "certificate", "test_error",
        "majority_error", "attributes", "model", "guarantee", "test_rows",
    } <= set(report)  # fmt: skip
    assert report["mechanism"] == "exponential"
    assert (report["epsilon"], report["delta"]) == (10, 0)
    assert report["neighbors"] == "replace"
    assert report["certificate"] in ("exact", "solver")
    assert report["attributes"] == ["education", "relationship"]
    assert report["test_rows"] == 15_060
    assert report["majority_error"] == pytest.approx(0.2457, abs=1e-4)
    # The best card of these two attributes errs on 18.5%; noise at this epsilon adds little.
    assert 0.15 < report["test_error"] < 0.22
    card = ScoringCard.from_dict(report["model"])
    assert card.domain.names == ("education", "relationship")
    kinds = {c["kind"] for c in report["guarantee"]["contingencies"]}
    assert kinds <= {"running_time", "oracle_bound"}


def test_train_save_predict(tmp_path: Path) -> None:
    saved = tmp_path / "model.json"
    saved.write_text("an older file", encoding="utf-8")
    words = ("--attributes", "sex,age", "--seed", "4", "--weights", "0,1", "--missing", "category")
    trained = run("train", "adult", *words, "--save", str(saved))
    assert trained.exit_code == 0, trained.output
    release = Release.from_json(saved.read_text(encoding="utf-8"))
    assert str(release) in trained.stdout
    assert "SEEDED: NOT PRIVATE" in trained.stdout
    assert "error on 16,281 public test rows" in trained.stdout
    assert os.listdir(tmp_path) == ["model.json"]

    rows = tmp_path / "rows.csv"
    rows.write_text("age,sex,name\n20,Male,x\n70,Female,y\n", encoding="utf-8")
    predicted = run("predict", str(saved), str(rows))
    assert predicted.exit_code == 0, predicted.output
    expected = release.value.predict([["Male", 20], ["Female", 70]]).tolist()
    assert predicted.stdout.splitlines() == expected
    assert json.loads(run("predict", str(saved), str(rows), "--json").stdout) == expected


def test_train_passes_its_options_on() -> None:
    words = ("--neighbors", "add_remove", "--seconds", "500", "--epsilon", "0.25", "--json")
    report = json.loads(run("train", "adult", "--attributes", "sex", *words).stdout)
    assert (report["epsilon"], report["neighbors"]) == (0.25, "add_remove")
    assert report["guarantee"]["sensitivity"] == 1
    assert "completion" in {c["kind"] for c in report["guarantee"]["contingencies"]}


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("--attributes", "sex,shoe-size"), ("no attribute 'shoe-size'", "education")),
        (("--attributes", ""), ("no attribute ''",)),
        (("--attributes", "sex,sex"), ("'sex' occurs more than once",)),
        (("--weights", "1,2"), ("weights: distinct integers with 0",)),
        (("--weights", "a,b"), ("weights: comma-separated integers", "'a,b'")),
        (("--weights", ""), ("weights: comma-separated integers",)),
        (("--weights", "0,0.5"), ("weights: comma-separated integers",)),
        (("--epsilon", "0"), ("epsilon must be positive, not 0",)),
        (("--epsilon", "-1"), ("epsilon must be positive",)),
        (("--epsilon", "nan"), ("epsilon must be finite",)),
        (("--mechanism", "opdisc", "--epsilon", "1e-30"), ("epsilon: 1e-30 is too small",)),
        (("--seconds", "0"), ("seconds must be positive",)),
        (("--seed", "-3"), ("random_state must be",)),
    ],
    ids=str,
)
def test_train_names_what_is_wrong(words: tuple[str, ...], parts: tuple[str, ...]) -> None:
    refused(run("train", "adult", "--attributes", "sex", *words), *parts)


@pytest.mark.parametrize(
    "words",
    [
        ("train",),
        ("train", "iris"),
        ("train", "adult", "--epsilon", "much"),
        ("train", "adult", "--neighbors", "friends"),
        ("train", "adult", "--mechanism", "laplace"),
        ("predict", "model.json"),
        ("guess",),
    ],
    ids=str,
)
def test_words_that_are_no_command(words: tuple[str, ...]) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage: oracle-dp" in result.stderr


def test_a_refused_release_is_not_saved(tmp_path: Path) -> None:
    words = ("--attributes", "education,occupation,relationship", "--seconds", "0.001")
    result = run("train", "adult", *words, "--save", str(tmp_path / "model.json"))
    refused(result, "UncertifiedError: no draw was accepted within the limits")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("where", ["no/such/folder/model.json", ".", "file/model.json"])
def test_a_place_that_cannot_be_written_is_found_before_anything_is_spent(
    where: str, tmp_path: Path, untrained: list[str]
) -> None:
    (tmp_path / "file").touch()
    result = run("train", "adult", "--save", str(tmp_path / where))
    refused(result, "save: cannot write", "name a file in a folder that you own")
    assert untrained == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes anywhere")
def test_a_folder_that_is_read_only(tmp_path: Path, untrained: list[str]) -> None:
    tmp_path.chmod(0o500)
    refused(run("train", "adult", "--save", str(tmp_path / "model.json")), "save: cannot write")
    assert untrained == []


def test_save_keeps_devices_and_links(tmp_path: Path) -> None:
    target, link, pipe = tmp_path / "target", tmp_path / "link", tmp_path / "pipe"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    os.mkfifo(pipe)
    words = ("train", "adult", "--attributes", "sex", "--weights", "0,1", "--save")
    assert run(*words, str(link)).exit_code == 0
    assert link.is_symlink()
    assert isinstance(Release.from_json(target.read_bytes()).value, ScoringCard)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert run(*words, str(pipe)).exit_code == 0
        assert isinstance(Release.from_json(os.read(reader, 60_000)).value, ScoringCard)
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_an_interrupted_write_leaves_the_older_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = tmp_path / "model.json"
    saved.write_text("older", encoding="utf-8")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    words = ("train", "adult", "--attributes", "sex", "--weights", "0,1", "--save", str(saved))
    result = run(*words)
    assert result.exit_code == 1
    assert "No space left on device" in result.stderr
    assert "differential privacy" in result.stdout  # What was paid for is not lost.
    assert os.listdir(tmp_path) == ["model.json"]
    assert saved.read_text(encoding="utf-8") == "older"


# -- Ctrl-C ------------------------------------------------------------------------------------


def test_ctrl_c_ends_a_long_run_at_once(tmp_path: Path) -> None:
    saved = tmp_path / "model.json"
    run("train", "adult", "--attributes", "sex,race,relationship")  # Compiled, and kept on disk.
    attributes = "workclass,education,marital-status,occupation,relationship,race,sex"
    words = ("--attributes", attributes, "--weights", "-3,-2,-1,0,1,2,3")
    process = subprocess.Popen(
        [COMMAND, "train", "adult", *words, "--save", str(saved)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        time.sleep(6)  # Loaded, and in the solver.
        assert process.poll() is None
        asked = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        took = time.monotonic() - asked
    finally:
        process.kill()
    assert process.returncode == 130
    assert err == (
        "oracle-dp: interrupted; nothing is released. Count the epsilon as spent: when a run is "
        "interrupted may depend on the data\n"
    )
    assert out == ""
    assert took < 2.5  # About one second; the rest is for a busy machine.
    assert os.listdir(tmp_path) == []


# -- predict -----------------------------------------------------------------------------------

GOOD = "age,sex\n20,Male\n30,Male\n40.5,Female\n"
ANSWER = ["no", "yes", "yes"]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (GOOD, ANSWER),
        ("\ufeff" + GOOD, ANSWER),
        (GOOD.replace("\n", "\r\n"), ANSWER),
        (GOOD + "\n\n", ANSWER),
        (GOOD.rstrip("\n"), ANSWER),
        (GOOD.replace(",", ", "), ANSWER),
        ('sex,note,age\nMale,"a, ""b""\nc",1e2\n,,-5\n', ["yes", "no"]),
        ("age,sex\n", []),
    ],
    ids=["plain", "mark", "crlf", "blank end", "no end", "blanks", "quotes", "no rows"],
)
def test_predict_reads_csv(text: str, answer: list[str], model: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_bytes(text.encode())
    for words, stdin in (((str(rows),), None), (("-",), text.encode())):
        lines = run("predict", str(model), *words, stdin=stdin)
        assert lines.exit_code == 0, lines.output
        assert lines.stdout == "".join(f"{label}\n" for label in answer)
        assert (
            json.loads(run("predict", str(model), *words, "--json", stdin=stdin).stdout) == answer
        )


def test_predict_in_a_process_of_its_own(model: Path) -> None:
    done = started("predict", str(model), "-", "--json", input=GOOD)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == ANSWER


@pytest.mark.parametrize("classes", [(0, 1), (False, True), (0.5, 2.5), ("no", 1)], ids=str)
def test_predict_prints_labels_of_every_type(classes: Any, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    model.write_text(Release(ScoringCard(DOMAIN, CARD.points, classes), GUARANTEE).to_json())
    printed = run("predict", str(model), "-", stdin=GOOD).stdout.split()
    assert printed == [str(classes[label == "yes"]) for label in ANSWER]
    listed = json.loads(run("predict", str(model), "-", "--json", stdin=GOOD).stdout)
    assert listed == [classes[label == "yes"] for label in ANSWER]


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        (f"age,sex\n20,{CANARY}\n", ("column 'sex' has values outside its 3 public levels",)),
        (f"age,sex\n{CANARY},Male\n", ("column 'age' must hold numbers",)),
        ("age,sex\n,Male\n", ("column 'age' has missing values",)),
        ("age,sex\ninf,Male\n", ("column 'age' has infinite values",)),
        (f"age,name\n20,{CANARY}\n", ("column 'sex' is missing",)),
        (f"sex,age,age\nMale,20,{CANARY}\n", ("column 'age' occurs more than once",)),
        (f"sex,sex,age\nMale,{CANARY},20\n", ("column 'sex' occurs more than once",)),
        (f"age,sex\n20,Male\n20,Male,{CANARY}\n", ("line 3 has 3 cells, the header 2",)),
        (f"age,sex\n20,Male\n{CANARY}\n", ("line 3 has 1 cells, the header 2",)),
        ("age,sex\n\n20,Male\n", ("line 2 has 0 cells, the header 2",)),
        (f'age,sex\n20,"{CANARY}\n', ("is not CSV; check its quotes",)),
        (f'age,sex\n20,"Male"{CANARY}\n', ("line 2 is not CSV; check its quotes",)),
        ("", ("the file is empty; a header",)),
        ("\n\n", ("the file is empty; a header",)),
        (b"age,sex\n20,M\xe4le\n", ("not text in UTF-8",)),
        (b"\xff\xfea\x00", ("not text in UTF-8",)),
    ],
    ids=str,
)
def test_rows_that_do_not_fit_are_refused_without_a_value(
    rows: str | bytes, parts: tuple[str, ...], model: Path, tmp_path: Path
) -> None:
    raw = rows.encode() if isinstance(rows, str) else rows
    path = tmp_path / "rows.csv"
    path.write_bytes(raw)
    refused(run("predict", str(model), str(path)), "DomainError", *parts)
    refused(run("predict", str(model), "-", stdin=raw), "DomainError", *parts)


def test_files_that_are_not_there(model: Path, tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    refused(run("predict", gone, "-", stdin=GOOD), "FileNotFoundError", gone)
    refused(run("predict", str(model), gone), "FileNotFoundError", gone)
    refused(run("predict", str(tmp_path), "-", stdin=GOOD), "IsADirectoryError")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[:-20], "not JSON, or cut off; save it again"),
        (lambda text: "", "not JSON, or cut off; save it again"),
        (lambda text: b"\xff\xff", "not JSON, or cut off; save it again"),
        (lambda text: "{}", "this JSON is not a saved release of oracle-dp"),
        (lambda text: text.replace('"version": 1', '"version": 2'), "version 1 expected, found 2"),
        (lambda text: text.replace('"points"', '"dots"'), "scoring card: missing or malformed"),
        (lambda text: Release((1, 2), GUARANTEE).to_json(), "this release holds no classifier"),
    ],
    ids=["cut", "empty", "binary", "foreign", "newer", "damaged", "no card"],
)
def test_a_model_that_is_none(damage: Any, message: str, model: Path) -> None:
    spoilt = damage(model.read_text(encoding="utf-8"))
    model.write_bytes(spoilt if isinstance(spoilt, bytes) else spoilt.encode())
    refused(run("predict", str(model), "-", stdin=GOOD), "ReleaseFormatError", message)


def test_a_seeded_release_predicts_too(tmp_path: Path) -> None:
    # A card of many levels, to see that the columns are found by name.
    wide = Domain([Categorical(f"c{i}", ("a", "b")) for i in range(20)])
    card = ScoringCard(wide, ((0, 1), *[(0, 0)] * 19), (0, 1))
    model = tmp_path / "model.json"
    model.write_text(Release(card, GUARANTEE).to_json(), encoding="utf-8")
    text = io.StringIO()
    print(*(f"c{i}" for i in reversed(range(20))), sep=",", file=text)
    print(*["a"] * 19, "b", sep=",", file=text)
    print("b", *["a"] * 19, sep=",", file=text)
    assert run("predict", str(model), "-", stdin=text.getvalue()).stdout.split() == ["1", "0"]


WIDE = Domain([*DOMAIN, Binned("height", (1.5,))]).thermometer("age")
TALL = ScoringCard(
    WIDE.crossed("sex", "height"), ((0, 1, 2, 0, 0, 0), (-1, 0), (0, 1)), ("no", "yes")
)
MEASURED = "height,age,sex\n1.4,20,Male\n1.4,30,Male\n1.6,40.5,Female\n2,29,Female\n"


def test_predict_finds_the_columns_of_thresholds_and_pairs(tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    model.write_text(Release(TALL, GUARANTEE).to_json(), encoding="utf-8")
    answer = ["yes", "yes", "yes", "no"]
    assert TALL.margins([["Male", 1.4, 20]]).tolist() == [1]
    assert run("predict", str(model), "-", stdin=MEASURED).stdout.split() == answer
    spoilt = MEASURED.replace("40.5", CANARY)
    refused(run("predict", str(model), "-", stdin=spoilt), "column 'age' must hold numbers")
    spoilt = MEASURED.replace("1.6", "")
    refused(run("predict", str(model), "-", stdin=spoilt), "column 'height' has missing values")
    spoilt = MEASURED.replace("height", "age >= 30")
    refused(run("predict", str(model), "-", stdin=spoilt), "column 'height' is missing")


@pytest.mark.parametrize("classes", [("a", "b", "c"), (0, 1, 2), (True, "b", 0.5)], ids=str)
def test_predict_with_a_card_per_class(classes: Any, tmp_path: Path) -> None:
    points = [CARD.points, ((0, 0, 0), (0, 0, 0)), ((0, 0, 0), (1, 0, 0))]
    cards = OneVsRest.from_points(DOMAIN, points, classes)
    model = tmp_path / "model.json"
    model.write_text(Release(cards, GUARANTEE).to_json(), encoding="utf-8")
    printed = run("predict", str(model), "-", stdin=GOOD).stdout.split()
    assert printed == [str(classes[i]) for i in (2, 0, 0)]
    listed = json.loads(run("predict", str(model), "-", "--json", stdin=GOOD).stdout)
    assert listed == [classes[i] for i in (2, 0, 0)]


# -- plan --------------------------------------------------------------------------------------


def test_plan_is_a_table_that_aligns() -> None:
    words = ("--attributes", "sex,race", "--epsilons", "0.1,10", "--runs", "2", "--rows", "500")
    result = run("plan", "train", "adult", *words)
    assert result.exit_code == 0
    title, rows, heading, *lines = result.stdout.splitlines()
    assert "sex,race" in title
    assert "500 public rows" in rows
    assert [line.split()[0] for line in lines] == ["0.1", "10"]
    assert {len(line) for line in lines} == {len(heading)}


def test_plan_on_synthetic_data_as_json() -> None:
    words = ("--levels", "3,2", "--rows", "200", "--epsilons", "5", "--runs", "1", "--json")
    (line,) = json.loads(run("plan", "train", "synthetic", *words).stdout)
    assert line["epsilon"] == 5
    assert 0 <= line["error"] < 0.6
    assert not line["unfinished"]


def test_plan_says_what_a_limit_left_undone() -> None:
    words = ("--epsilons", "0.1", "--runs", "1", "--seconds", "1e-6")
    result = run("plan", "train", "adult", *words)
    assert result.exit_code == 0
    assert "not drawn within the limit" in result.stdout


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--epsilons", "nan"), "epsilon"),
        (("--epsilons", "a"), "epsilons"),
        (("--runs", "0"), "runs"),
        (("--rows", "0"), "rows"),
        (("--attributes", "height"), "height"),
        (("--weights", "1"), "weights"),
        (("--levels", "3,3"), "levels: only 'synthetic' has it"),
    ],
)
def test_plan_names_what_is_wrong(words: tuple[str, ...], named: str) -> None:
    result = run("plan", "train", "adult", *words)
    refused(result, named)


def test_options_of_other_mechanisms_are_refused() -> None:
    words = ("--attributes", "sex", "--mechanism", "opdisc", "--sparsity", "1")
    refused(run("train", "adult", *words), "sparsity: only 'exponential' has it")
