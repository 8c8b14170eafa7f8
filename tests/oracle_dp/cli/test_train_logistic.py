"""Training logistic regression from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oracle_dp import Release
from oracle_dp.estimators.linear_model import LinearModel

from .support import own, refused, run

ADULT = ("train", "adult", "--model", "logistic", "--attributes", "education,relationship")


@pytest.mark.parametrize("method", ["newton", "objective_gaussian", "objective"])
def test_methods_train_on_adult(method: str) -> None:
    done = run(*ADULT, "--method", method, "--epsilon", "5", "--json")
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert (report["epsilon"], report["neighbors"]) == (5, "replace")
    assert report["delta"] == (0 if method == "objective" else pytest.approx(30_162**-2))
    assert 0.15 < report["test_error"] < 0.22
    model = LinearModel.from_dict(report["model"])
    assert model.domain is not None
    assert model.domain.names == ("education", "relationship")


def test_a_csv_file_trains_saves_and_predicts(tmp_path: Path) -> None:
    saved = tmp_path / "model.json"
    words = ("--model", "logistic", "--epsilon", "100", "--seed", "1")
    done = run(*own(tmp_path), *words, "--save", str(saved))
    assert done.exit_code == 0, done.output
    assert "SEEDED: NOT PRIVATE" in done.stdout
    assert isinstance(Release.from_json(saved.read_text(encoding="utf-8")).value, LinearModel)
    predicted = run("predict", str(saved), str(tmp_path / "rows.csv"))
    assert predicted.exit_code == 0, predicted.output
    assert set(predicted.stdout.split()) == {"yes", "no"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--method", "newton"), "method: only --model logistic has it"),
        (("--model", "logistic", "--method", "sorcery"), "method: one of"),
        (("--model", "logistic", "--mechanism", "opdisc"), "mechanism: only --model zero_one"),
        (("--model", "logistic", "--seconds", "9"), "seconds: only --model zero_one"),
        (("--model", "logistic", "--max-attributes", "2"), "max_attributes: only --model zero_one"),
        (("--model", "logistic", "--delta", "0"), "delta: a number in (0, 1) expected"),
    ],
)
def test_what_does_not_go_together_is_refused(words: tuple[str, ...], message: str) -> None:
    refused(run("train", "adult", *words), message)


def test_a_private_number_of_rows_needs_a_public_size() -> None:
    words = ("train", "adult", "--attributes", "sex", "--model", "logistic", "--seed", "1")
    words += ("--neighbors", "add_remove", "--json")
    refused(run(*words), "size")
    result = run(*words, "--size", "30000", "--delta", "1e-6")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["neighbors"] == "add_remove"
    refused(run("train", "adult", "--size", "30"), "size: only --model logistic has it")
