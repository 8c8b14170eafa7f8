"""The rates experiment resumes where it stopped, and its picture shows what was measured."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments import variational_rates
from experiments.variational_plot import plot
from experiments.variational_problems import law, saddle_gap
from oracles.monotone import sample_points

SUMMARY = {
    "rows": [
        {"n": 100, "mean_gap": 0.5, "standard_error": 0.1, "gap_bound": 2.0, "saturated": True},
        {"n": 200, "mean_gap": 0.3, "standard_error": 0.1, "gap_bound": 1.5, "saturated": False},
        {"n": 400, "mean_gap": 0.2, "standard_error": 0.0, "gap_bound": 1.0, "saturated": False},
    ],
    "slope": -0.58,
}


def run(monkeypatch: pytest.MonkeyPatch, path: Path, *words: str) -> dict[str, Any]:
    command = ["rates", "--quick", "--problem", "bilinear", "--method", "nseg_single"]
    monkeypatch.setattr(sys, "argv", [*command, "--output", str(path), *words])
    variational_rates.main()
    return json.loads(path.read_text())


@pytest.mark.filterwarnings("ignore::oracle_dp.errors.VacuousBoundWarning")
def test_an_interrupted_experiment_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rates.json"
    whole = run(monkeypatch, path)
    assert [(r["n"], r["seed"]) for r in whole["records"]] == [
        (n, seed) for n in (1000, 3000) for seed in range(3)
    ]
    # Stopped after four runs; a mark shows which are kept and which are made again.
    kept = [{**record, "code": "before"} for record in whole["records"][:4]]
    path.write_text(json.dumps({**whole, "summaries": {}, "records": kept}))
    resumed = run(monkeypatch, path)
    assert [record["code"] == "before" for record in resumed["records"]] == [True] * 4 + [False] * 2
    assert [r["gap"] for r in resumed["records"]] == [r["gap"] for r in whole["records"]]
    assert resumed["summaries"].keys() == {"bilinear/nseg_single"}
    found = resumed["summaries"]["bilinear/nseg_single"]
    assert [row["n"] for row in found["rows"]] == [1000, 3000]
    assert found["slope"] == whole["summaries"]["bilinear/nseg_single"]["slope"]


def test_another_experiment_s_file_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "other.json"
    path.write_text(json.dumps({"experiment": "minimax_adult"}))
    with pytest.raises(SystemExit, match="of another experiment or size"):
        run(monkeypatch, path)
    assert json.loads(path.read_text()) == {"experiment": "minimax_adult"}


@pytest.mark.parametrize("problem", ["bilinear", "group_robust"])
def test_saddle_gaps_are_positive(problem: str) -> None:
    population = law(problem)
    points = sample_points(population.domain, 5, np.random.default_rng(0))
    assert min(saddle_gap(population, point) for point in points) > 0


def test_the_picture_holds_points_bounds_and_crosses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="the extra 'experiments'")
    drawn = []
    monkeypatch.setattr(pyplot, "close", drawn.append)
    path = tmp_path / "rates.png"
    plot({"bilinear/nseg_multi": SUMMARY}, ["nseg_single", "nseg_multi"], path)
    assert path.read_bytes().startswith(b"\x89PNG")
    (axis,) = drawn[0].axes
    assert (axis.get_xscale(), axis.get_yscale()) == ("log", "log")
    lines = {line.get_linestyle(): line for line in axis.lines}
    assert lines[":"].get_ydata().tolist() == [2.0, 1.5, 1.0]
    assert lines["-"].get_ydata().tolist() == [0.5, 0.3, 0.2]
    crosses = next(line for line in axis.lines if line.get_marker() == "x")
    assert crosses.get_xdata().tolist() == [100]
    assert [text.get_text() for text in axis.get_legend().get_texts()] == [
        "nseg_multi, slope -0.58"
    ]
