"""Errors on Adult that the documents show are means of the records that are committed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from experiments import adult_accuracy
from experiments.adult_curves import CURVES
from experiments.framework.page import current

ROOT = Path(__file__).parents[2]
NAMES = {"opdisc": "opdisc_one_hot", "ZeroOneClassifier": "exponential"}
"""Of curves, where a document calls them by another name."""


@pytest.fixture(scope="module")
def means() -> Mapping[tuple[str, float], str]:
    """Of five attributes, complete rows: mean errors in percent as they are shown."""
    found = {}
    for record in current(adult_accuracy.EXPERIMENT, quick=False):
        config = record["config"]
        if (config["features"], config["missing"]) == ("five", "drop") and "mechanism" in config:
            shown = f"{100 * np.mean(record['error']):.2f}" if record["reached"] else "-"
            found[config["mechanism"], config["epsilon"]] = shown
    return found


@pytest.mark.parametrize(("document", "rows"), [("README.md", 5), ("docs/logistic.md", 9)])
def test_tables_are_of_the_records(
    document: str, rows: int, means: Mapping[tuple[str, float], str]
) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    table = re.search(r"^\|[^\n]*\| epsilon 1 \| 0\.1 \| 0\.01 \|.*?(?=\n\n)", text, re.M | re.S)
    assert table is not None
    lines = table.group().splitlines()[2:]
    assert len(lines) == rows
    for line in lines:
        first, *shown = (entry.strip(" *") for entry in line.strip("|").split("|"))
        name = first.split("`")[1]
        expected = [means[NAMES.get(name, name), epsilon] for epsilon in (1.0, 0.1, 0.01)]
        assert shown[:3] == expected, name


def test_the_best_logistic_regressions_are_of_the_records(
    means: Mapping[tuple[str, float], str],
) -> None:
    ours = [
        name for name, curve in CURVES.items()
        if curve.detail.startswith("logistic") and name not in ("diffprivlib", "opsamp")
    ]  # fmt: skip
    assert len(ours) == 8
    best = [min(means[name, epsilon] for name in ours) for epsilon in (1.0, 0.1, 0.01)]
    said = f"{best[0]} (epsilon 1), {best[1]} (0.1), {best[2]} (0.01)"
    assert said in (ROOT / "README.md").read_text(encoding="utf-8")
