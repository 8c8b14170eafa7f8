"""From a CSV file to predictions, as a person would do it, in processes of their own."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from .support import started

COLUMNS = [
    "status",
    "duration",
    "history",
    "purpose",
    "amount",
    "savings",
    "employment",
    "rate",
    "personal",
    "debtors",
    "residence",
    "property",
    "age",
    "plans",
    "housing",
    "credits",
    "job",
    "liable",
    "telephone",
    "foreign",
    "risk",
]


def test_german_credit(test_data: Path, tmp_path: Path) -> None:
    original = (test_data / "german" / "german.data").read_text(encoding="ascii")
    people = [line.split() for line in original.splitlines()]
    assert len(people) == 1000
    private, public, draft = (tmp_path / name for name in ("rows.csv", "test.csv", "german.toml"))
    for path, rows in ((private, people[:700]), (public, people[700:])):
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([COLUMNS, *rows])

    done = started("domain", str(private), "--target", "risk", "-o", str(draft))
    assert done.returncode == 0, done.stderr
    assert f"{draft}: 20 attributes, 0 left out" in done.stdout

    card = tmp_path / "card.json"
    words = (
        "train",
        str(private),
        "--domain",
        str(draft),
        "--attributes",
        "status,history,savings",
    )
    refused = started(*words, "--save", str(card))
    assert refused.returncode == 1
    assert "not confirmed" in refused.stderr
    assert not card.exists()

    # The code book of the data lists these, whether or not they occur.
    text = draft.read_text(encoding="utf-8").replace("public = false", "public = true")
    draft.write_text(text, encoding="utf-8")
    words = (*words, "--epsilon", "10", "--save", str(card), "--public-test", str(public), "--json")
    trained = started(*words)
    assert trained.returncode == 0, trained.stderr
    report = json.loads(trained.stdout)
    predicted = started("predict", str(card), str(public))
    assert predicted.returncode == 0, predicted.stderr
    answers = predicted.stdout.split()
    wrong = sum(answer != row[-1] for answer, row in zip(answers, people[700:], strict=True))
    assert report["test_error"] == wrong / 300
    assert report["majority_error"] == sum(row[-1] == "2" for row in people[700:]) / 300
    assert report["test_error"] < 0.4
