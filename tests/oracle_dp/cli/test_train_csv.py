"""Training on a CSV file of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oracle_dp import Domain, OneVsRest, Release

from .support import DOMAIN_FILE, LOANS, own, refused, run

# At this epsilon the classifier with the fewest errors is drawn, but for one time in e^100.
EXACT = ("--epsilon", "1000")
PUBLIC = "purpose,age,repaid\ncar,30,no\nhouse,30,yes\ncar,20,yes\ncar,70,no\n"


def test_errors_on_private_rows_are_not_told(tmp_path: Path) -> None:
    words = own(tmp_path)
    report = json.loads(run(*words, *EXACT, "--json").stdout)
    assert (report["test_error"], report["majority_error"], report["test_rows"]) == (None,) * 3
    assert report["attributes"] == ["purpose", "age"]
    assert report["model"]["classes"] == ["no", "yes"]
    assert [c["kind"] for c in report["guarantee"]["contingencies"]] == ["running_time"]
    shown = run(*words, *EXACT)
    assert shown.exit_code == 0
    assert "no error is shown: the rows are private" in shown.stdout
    assert "%" not in shown.stdout


def test_errors_on_public_rows_are_measured(tmp_path: Path) -> None:
    public = tmp_path / "public.csv"
    public.write_text(PUBLIC, encoding="utf-8")
    words = [*own(tmp_path), *EXACT, "--public-test", str(public)]
    report = json.loads(run(*words, "--json").stdout)
    # Houses are repaid in LOANS; so the third public row is the wrong one, and one row of the two
    # that repaid is in the minority.
    assert report["test_error"] == 0.25
    assert report["majority_error"] == 0.5
    assert report["test_rows"] == 4
    assert "error on 4 public test rows   25.00%" in run(*words).stdout


def test_save_and_predict(tmp_path: Path) -> None:
    saved, rows = tmp_path / "card.json", tmp_path / "new.csv"
    assert run(*own(tmp_path), *EXACT, "--save", str(saved)).exit_code == 0
    rows.write_text("purpose,age\nhouse,30\ncar,30\n", encoding="utf-8")
    assert run("predict", str(saved), str(rows)).stdout.split() == ["yes", "no"]
    refused(run(*own(tmp_path), "--save", str(saved)), "there already; --force replaces it")


def test_three_classes(tmp_path: Path) -> None:
    domain = DOMAIN_FILE.replace('["no", "yes"]', '["no", "late", "yes"]')
    rows = LOANS.replace("60,,8,no", "60,,8,late")
    saved = tmp_path / "cards.json"
    words = [*own(tmp_path, rows, domain), *EXACT, "--save", str(saved), "--json"]
    assert json.loads(run(*words).stdout)["model"]["classes"] == ["no", "late", "yes"]
    assert isinstance(Release.from_json(saved.read_bytes()).value, OneVsRest)


def test_the_command_line_says_otherwise_than_the_file(tmp_path: Path) -> None:
    words = [*own(tmp_path), *EXACT, "--json"]
    swapped = json.loads(run(*words, "--classes", "yes,no").stdout)
    assert swapped["model"]["classes"] == ["yes", "no"]
    one = json.loads(run(*words, "--attributes", "age").stdout)
    assert one["attributes"] == ["age"]
    rows = LOANS.replace("note", "paid").replace(",no\n", ",0\n").replace(",yes\n", ",1\n")
    rows = rows.replace("repaid", "answer")
    words = own(tmp_path, rows)
    other = run(*words, *EXACT, "--json", "--target", "answer", "--classes", "0,1")
    assert json.loads(other.stdout)["model"]["classes"] == ["0", "1"]
    refused(run(*words, "--target", "answer"), "ParameterError: classes: not in the domain file")


def test_a_file_without_a_target(tmp_path: Path) -> None:
    head, attributes = DOMAIN_FILE.split("[target]")[0], DOMAIN_FILE.split('"yes"]')[1]
    words = own(tmp_path, domain=head + attributes)
    refused(run(*words), "ParameterError: target: not in the domain file")
    refused(run(*words, "--target", "repaid"), "ParameterError: classes: not in the domain file")
    assert run(*words, "--target", "repaid", "--classes", "no, yes").exit_code == 0


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_no_rows_are_ordinary_data(relation: str, tmp_path: Path) -> None:
    words = own(tmp_path, "age,purpose,repaid\n")
    report = json.loads(run(*words, "--json", "--neighbors", relation).stdout)
    assert report["neighbors"] == relation
    Domain.from_dict(report["model"]["domain"])


def test_rows_from_standard_input(tmp_path: Path) -> None:
    words = own(tmp_path)
    words[1] = "-"
    piped = run(*words, "--json", "--seed", "1", stdin=LOANS)
    assert piped.stdout == run(*own(tmp_path), "--json", "--seed", "1").stdout


@pytest.mark.parametrize(
    ("text", "differs"),
    [
        ("\ufeff" + LOANS, False),
        (LOANS.replace("\n", "\r\n"), False),
        (LOANS.replace(",", " , "), False),
        (LOANS.replace("\n", ",,\n"), False),
        (LOANS.replace(",8,", ',"a\n""b"" , c",'), False),
        (LOANS.replace("yes", "a").replace("no\n", "yes\n").replace(",a", ",no"), True),
    ],
    ids=["mark", "crlf", "blanks", "columns without a name", "quotes", "other labels"],
)
def test_spellings_of_the_same_rows(text: str, differs: bool, tmp_path: Path) -> None:
    words = ("--json", *EXACT, "--seed", "1")
    plain = run(*own(tmp_path), *words).stdout
    assert (run(*own(tmp_path, text), *words).stdout != plain) is differs


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("rows.csv",), "domain: a CSV file needs one; draft it with 'oracle-dp domain rows.csv'"),
        (("iris",), "domain: a CSV file needs one"),
        (("rows.csv", "--missing", "drop"), "missing: only 'adult' has it"),
        (("adult", "--target", "income"), "target: only a CSV file has it, not 'adult'"),
        (("adult", "--domain", "d.toml"), "domain: only a CSV file has it"),
        (("adult", "--classes", "a,b"), "classes: only a CSV file has it"),
        (("adult", "--public-test", "rows.csv"), "public_test: only a CSV file has it"),
    ],
    ids=str,
)
def test_options_of_the_other_source(words: tuple[str, ...], message: str) -> None:
    refused(run("train", *words), f"ParameterError: {message}")


def test_many_attributes_are_warned_of(tmp_path: Path) -> None:
    names = "abcdef"
    entries = "".join(f'[[attributes]]\nname = "{x}"\ncategories = ["0"]\n' for x in names)
    domain = DOMAIN_FILE.split("[[")[0] + entries
    rows = ",".join((*names, "repaid")) + "\n"
    done = run(*own(tmp_path, rows, domain), "--mechanism", "opdisc")
    assert done.exit_code == 0
    assert "oracle-dp: 6 attributes: opdisc runs until it is done" in done.stderr
    for words in (("--mechanism", "blockwise"), ("--attributes", "a,b")):
        assert run(*own(tmp_path, rows, domain), *words).stderr == ""
