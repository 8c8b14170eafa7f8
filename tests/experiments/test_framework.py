"""Records survive interruptions; what a page shows can be computed again from them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from experiments.framework import (
    Cell,
    Config,
    Experiment,
    NotAvailableError,
    Record,
    Section,
    Table,
    label,
    quoted,
)
from experiments.framework import page as pages
from experiments.framework import records as stored
from experiments.framework.runner import run
from experiments.framework.styles import axes, curve
from experiments.framework.trace import numbers, outside

CONFIGS: list[Config] = [{"n": n, "seeds": [0, 1]} for n in range(6)]


def twice(config: Config) -> list[Record]:
    """Two records each, so that a batch can be torn."""
    return [{"square": config["n"] ** 2 + seed / 3} for seed in config["seeds"]]


def page(records: Sequence[Record]) -> list[Section]:
    def figure():
        drawn, (axis,) = axes()
        axis.plot([r["square"] for r in records], label="squares", **curve(0))
        return drawn

    rows = [
        [label("all"), Cell.of(records, "square", form="{:.3f}"), quoted("7 < 8", "a book")],
        [
            label("first"),
            [Cell.of(records[:2], "square", how="mean"), Cell.of(records[:2], "config.n")],
            Cell.of(records[:1], "square", how="value", scale=100, form="{:.1f} %"),
        ],
    ]
    caption = ["a < b & c, up to ", Cell.of(records, "square", how="most"), "."]
    return [Section("Squares", caption, figure, Table(["which", "mean", "else"], rows))]


def made(function=twice) -> Experiment:
    return Experiment("squares", "Squares", lambda quick: CONFIGS, function, page)


def found(path: Path) -> list[tuple[str, float]]:
    return sorted((record["id"], record["square"]) for record in stored.load(path))


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A file with all records."""
    path = tmp_path / "whole.jsonl"
    ran = run([made()], quick=True, jobs=1, records=path)
    assert (ran.computed, ran.kept, ran.interrupted) == (6, 0, False)
    return path


def test_records_say_what_made_them(whole: Path) -> None:
    for record in stored.load(whole):
        assert record["config"] in CONFIGS
        assert record["seed"] == [0, 1]
        assert record["versions"].keys() >= {"oracle-dp", "numpy", "python"}
        assert {"commit", "date", "seconds", "id"} <= record.keys()


def test_what_is_there_is_not_computed_again(whole: Path) -> None:
    def refuse(config: Config) -> list[Record]:
        raise AssertionError("computed again")

    ran = run([made(refuse)], quick=True, jobs=1, records=whole)
    assert (ran.computed, ran.kept) == (0, 6)


def test_an_interrupted_run_goes_on(whole: Path, tmp_path: Path) -> None:
    def stop(config: Config) -> list[Record]:
        if config["n"] == 3:
            raise KeyboardInterrupt
        return twice(config)

    path = tmp_path / "interrupted.jsonl"
    ran = run([made(stop)], quick=True, jobs=1, records=path)
    assert (ran.computed, ran.interrupted) == (3, True)
    assert len(stored.load(path)) == 6
    assert run([made()], quick=True, jobs=1, records=path).kept == 3
    assert found(path) == found(whole)


@pytest.mark.parametrize("share", [0, 0.02, 0.3, 0.5, 0.77, 0.999])
def test_a_file_that_was_cut_short_loses_only_its_last_batch(
    whole: Path, tmp_path: Path, share: float
) -> None:
    text, path = whole.read_bytes(), tmp_path / "cut.jsonl"
    path.write_bytes(text[: int(share * len(text))])
    kept = len(stored.load(path)) // 2
    assert kept >= int(share * 6) - 1
    ran = run([made()], quick=True, jobs=1, records=path)
    assert (ran.computed, ran.kept) == (6 - kept, kept)
    assert found(path) == found(whole)


def test_a_failure_keeps_what_is_done(tmp_path: Path) -> None:
    def fail(config: Config) -> list[Record]:
        if config["n"] == 4:
            raise RuntimeError("a fault")
        return twice(config)

    path = tmp_path / "failed.jsonl"
    with pytest.raises(RuntimeError, match="a fault"):
        run([made(fail)], quick=True, jobs=1, records=path)
    assert len(stored.load(path)) == 8


def test_what_is_not_available_is_named_and_tried_again(whole: Path, tmp_path: Path) -> None:
    def lacking(config: Config) -> list[Record]:
        if config["n"] % 2:
            raise NotAvailableError("no odd numbers here")
        return twice(config)

    path = tmp_path / "lacking.jsonl"
    ran = run([made(lacking)], quick=True, jobs=1, records=path)
    assert (ran.computed, dict(ran.missing)) == (3, {"squares: no odd numbers here": 3})
    assert run([made()], quick=True, jobs=1, records=path).computed == 3
    assert found(path) == found(whole)


def test_two_runs_do_not_write_to_one_file(whole: Path) -> None:
    with stored.Store(whole), pytest.raises(BlockingIOError, match="another run"):
        run([made()], quick=True, jobs=1, records=whole)


@pytest.mark.parametrize(
    ("records", "message"),
    [([], "no record"), ([{"square": float("nan")}], "JSON"), ([{"id": "mine"}], "names")],
)
def test_records_that_cannot_be_kept_are_refused(
    tmp_path: Path, records: list[Record], message: str
) -> None:
    path = tmp_path / "none.jsonl"
    with pytest.raises(ValueError, match=message):
        run([made(lambda config: records)], quick=True, jobs=1, records=path)
    assert stored.load(path) == []


SLOW = """
import time, sys
from pathlib import Path
sys.path.insert(0, {here!r})
from tests.experiments.test_framework import made, twice
from experiments.framework.commands import _report
from experiments.framework.runner import run

def slow(config):
    time.sleep(0 if config["n"] < 2 else 60)
    return twice(config)

_report(run([made(slow)], quick=True, jobs=2, records=Path({path!r})))
"""


def test_control_c_keeps_what_is_done_and_ends_the_workers(tmp_path: Path) -> None:
    path = tmp_path / "killed.jsonl"
    here = str(Path(__file__).parents[2])
    child = subprocess.Popen(
        [sys.executable, "-c", SLOW.format(here=here, path=str(path))],
        stdout=subprocess.PIPE,
        text=True,
        cwd=here,
        start_new_session=True,
    )
    begun = time.monotonic()
    while len(stored.load(path)) < 4 and time.monotonic() < begun + 60:
        time.sleep(0.1)
    os.killpg(child.pid, signal.SIGINT)
    output, _ = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "interrupted" in output
    assert len(stored.load(path)) == 4
    with pytest.raises(ProcessLookupError):
        _wait_for_the_end_of(child.pid)


def _wait_for_the_end_of(group: int) -> None:
    """Until no process of the group is left."""
    for _ in range(100):
        os.killpg(group, 0)
        time.sleep(0.1)


def test_a_page_is_self_contained_and_traced(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "FOLDER", tmp_path)
    whole.rename(stored.path_of("squares", quick=True))
    path = tmp_path / "page.html"
    pages.write_page([made()], quick=True, path=path)
    text = path.read_text(encoding="utf-8")
    assert outside(text) == []
    records = {r["id"]: r for r in stored.load(stored.path_of("squares", quick=True))}
    shown = numbers(text)
    assert [one.text for one in shown] == ["25.33", "9.333", "0.17", "0.00", "0.0 %"]
    assert all(one.again(records) == one.text for one in shown)
    assert "a &lt; b &amp; c" in text
    assert 'data-source="a book"' in text
    # Both sizes of the figure, whose inner references do not meet.
    assert text.count("<svg") == 2
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', text)) <= set(ids)


def test_a_page_names_what_was_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "FOLDER", tmp_path)

    def lacking(config: Config) -> list[Record]:
        if config["n"] in (2, 5):
            raise NotAvailableError("no data")
        return twice(config)

    run([made(lacking)], quick=True, jobs=1, records=stored.path_of("squares", quick=True))
    path = tmp_path / "page.html"
    pages.write_page([made()], quick=True, path=path)
    text = " ".join(path.read_text(encoding="utf-8").split())
    assert "4 of 6 configurations have been run. Not yet: n 2; n 5." in text


def test_a_changed_record_is_noticed(whole: Path) -> None:
    records = {record["id"]: record for record in stored.load(whole)}
    cell = Cell.of(list(records.values()), "square", form="{:.3f}")
    first = cell.records[0]
    records[first] = {**records[first], "square": records[first]["square"] + 1}
    again = Cell.of([records[name] for name in cell.records], "square", form="{:.3f}")
    assert again.text != cell.text


def test_outside_references_are_noticed() -> None:
    for text in (
        '<img src="https://example.org/a.png">',
        "<script>1</script>",
        "<style>@import 'a.css'</style>",
        '<a href="https://example.org">a</a>',
    ):
        assert outside(text)
