"""The command that drafts a domain file."""

from __future__ import annotations

import json
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest

from .support import CANARY, LOANS, own, refused, run

WARNING = "oracle-dp: DRAFTED FROM PRIVATE ROWS: as private as they are. A person must confirm"


def test_the_draft_is_printed_and_the_warning_beside_it(tmp_path: Path) -> None:
    done = run("domain", own(tmp_path)[1], "--target", "repaid")
    assert done.exit_code == 0
    assert done.stderr.startswith(WARNING)
    assert "DRAFTED FROM PRIVATE ROWS" in done.stdout.splitlines()[0]
    assert tomllib.loads(done.stdout) == {
        "confirmed_public": False,
        "target": {"column": "repaid", "classes": ["no", "yes"]},
        "attributes": [
            {"name": "age", "edges": [30, 40, 50, 60]},
            {"name": "purpose", "categories": ["", "car", "house"]},
        ],
    }
    assert "# Left out: 'note': another whole number in every row" in done.stdout


def test_a_draft_in_a_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    draft = tmp_path / "draft.toml"
    words = ("domain", own(tmp_path)[1], "-o", str(draft))
    done = run(*words)
    assert done.exit_code == 0
    assert done.stderr.startswith(WARNING)
    assert f"{draft}: 3 attributes, 1 left out" in done.stdout
    assert "'note': another whole number" in done.stdout
    assert draft.stat().st_mode & 0o077 == 0
    draft.write_text("mine", encoding="utf-8")
    refused(run(*words), f"output: {draft} is there already; --force replaces it")
    assert draft.read_text(encoding="utf-8") == "mine"
    assert run(*words, "--force").exit_code == 0
    assert "DRAFTED FROM PRIVATE ROWS" in draft.read_text(encoding="utf-8")


def test_train_refuses_a_draft_until_it_is_confirmed(tmp_path: Path, untrained: list[str]) -> None:
    draft = tmp_path / "draft.toml"
    run("domain", own(tmp_path)[1], "--target", "repaid", "-o", str(draft))
    words = ("train", str(tmp_path / "rows.csv"), "--domain", str(draft))
    refused(run(*words), "DomainError: domain file: not confirmed. Check from public knowledge")
    assert untrained == []


def test_without_a_target_the_file_says_how_to_name_one(tmp_path: Path) -> None:
    text = run("domain", "-", stdin=LOANS).stdout
    assert "# [target]" in text
    assert [a["name"] for a in tomllib.loads(text)["attributes"]] == ["age", "purpose", "repaid"]


def test_json(tmp_path: Path) -> None:
    words = ("domain", own(tmp_path)[1], "--target", "repaid", "--json")
    report = json.loads(run(*words).stdout)
    assert report["confirmed_public"] is False
    assert report["left_out"][0]["column"] == "note"
    draft = tmp_path / "draft.toml"
    assert json.loads(run(*words, "-o", str(draft)).stdout) == report
    assert tomllib.loads(draft.read_text(encoding="utf-8"))["attributes"] == report["attributes"]


def test_a_header_that_is_somebodys_row(tmp_path: Path) -> None:
    rows = f"{CANARY},41.5,no\n{CANARY},20,yes\n"
    refused(run("domain", own(tmp_path, rows)[1]), "the name of column 2 is a number")


@pytest.mark.parametrize("where", [".", "no/such/folder/draft.toml"])
def test_a_place_that_cannot_be_written(where: str, tmp_path: Path) -> None:
    refused(run("domain", own(tmp_path)[1], "-o", str(tmp_path / where)), "output: cannot write")


def test_a_hundred_thousand_identifiers_are_soon_left_out(tmp_path: Path) -> None:
    n = 100_000
    ages = np.random.default_rng(0).integers(18, 90, n)
    rows = [f"{i},{CANARY} {i},{age},{'fm'[i % 2]},{i % 3}\n" for i, age in enumerate(ages)]
    words = ("domain", own(tmp_path, "id,name,age,sex,label\n" + "".join(rows))[1])
    begun = time.process_time()
    done = run(*words, "--target", "label")
    # About half a second for a tenth of the million rows that are to take a few.
    assert time.process_time() - begun < 3
    assert CANARY not in done.output
    assert [a["name"] for a in tomllib.loads(done.stdout)["attributes"]] == ["age", "sex"]
