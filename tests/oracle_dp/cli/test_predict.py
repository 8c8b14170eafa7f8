"""Predictions for the rows of a CSV file."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from oracle_dp import (
    Binned,
    Categorical,
    Domain,
    OneVsRest,
    Release,
    ScoringCard,
)

from .support import CANARY, CARD, DOMAIN, GUARANTEE, refused, run, started

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
        (GOOD.replace(",", " ,").replace("\n", " \n"), ANSWER),
        ('sex,note,age\nMale,"a, ""b""\nc",1e2\n,,-5\n', ["yes", "no"]),
        ("age,sex\n", []),
    ],
    ids=[
        "plain",
        "mark",
        "crlf",
        "blank end",
        "no end",
        "blanks",
        "more blanks",
        "quotes",
        "no rows",
    ],
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
        (
            f"age,sex\n20,Male\n20,{CANARY}\n20,{CANARY}\n",
            ("line 3: column 'sex' has values outside its 3 public levels",),
        ),
        (f"age,sex\n20,Male\n{CANARY},Male\n", ("'age' must hold numbers", "on line 3)")),
        (f'age,sex,note\n20,Male,"a\nb"\n{CANARY},,\n', ("(first on line 4)",)),
        (f'age,sex,note\n20,{CANARY},"a\nb"\n', ("line 2: column 'sex'",)),
        ("age,sex\n,Male\n", ("line 2: column 'age' has missing values",)),
        ("age,sex\ninf,Male\n", ("line 2: column 'age' has infinite values",)),
        (f"age;sex\n20;{CANARY}\n", ("one column only, with semicolons in its name",)),
        (f"age,name\n20,{CANARY}\n", ("column 'sex' is missing",)),
        (f"sex,age,age\nMale,20,{CANARY}\n", ("columns 2 and 3 have the same name",)),
        (f"sex,sex,age\nMale,{CANARY},20\n", ("columns 1 and 2 have the same name",)),
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
    beneath = str(model / "rows.csv")
    refused(run("predict", gone, "-", stdin=GOOD), f"model: cannot read {gone}: there is no such")
    refused(run("predict", str(model), gone), f"rows: cannot read {gone}: there is no such file")
    refused(run("predict", str(tmp_path), "-", stdin=GOOD), "model: cannot read", "a folder")
    refused(run("predict", str(model), str(tmp_path)), "rows: cannot read", "it is a folder")
    refused(run("predict", str(model), beneath), "rows: cannot read", "is no folder")


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
