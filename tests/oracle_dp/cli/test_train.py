"""Training on Adult: what is printed, and what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from oracle_dp import (
    Release,
    ScoringCard,
)

from .support import refused, run, started

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
    trained = run("train", "adult", *words, "--save", str(saved), "--force")
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
        (("--epsilon", "nan"), ("epsilon must be a number",)),
        (("--epsilon", "much"), ("epsilon must be a number",)),
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


def test_options_of_other_mechanisms_are_refused() -> None:
    words = ("--attributes", "sex", "--mechanism", "opdisc", "--sparsity", "1")
    refused(run("train", "adult", *words), "sparsity: only 'exponential' has it")


def test_minimax_trains_saves_and_predicts(tmp_path: Path) -> None:
    saved = tmp_path / "model.json"
    words = ("--model", "minimax", "--groups", "sex, race", "--attributes", "relationship,sex,race")
    trained = run("train", "adult", *words, "--seed", "1", "--save", str(saved))
    assert trained.exit_code == 0, trained.output
    assert (
        "weight in the mixture (large groups weigh more, and harder ones): Male x White"
        in trained.stdout
    )
    assert "delta = 1.09921e-09" in trained.stdout  # 30,162^-2
    release = Release.from_json(saved.read_text(encoding="utf-8"))
    assert len(release.value.mixture) == 10
    rows = tmp_path / "rows.csv"
    rows.write_text("sex,race,relationship\nMale,White,Husband\nFemale,Black,Own-child\n", "utf-8")
    predicted = run("predict", str(saved), str(rows))
    assert predicted.exit_code == 0, predicted.output
    assert len(predicted.stdout.splitlines()) == 2


def test_groups_belong_to_one_model() -> None:
    refused(run("train", "adult", "--groups", "sex"), "groups: only --model minimax has it")
    refused(run("train", "adult", "--model", "minimax", "--groups", "shoe size"), "no attribute")
