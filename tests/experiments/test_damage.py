"""Damaged records, and commands that cannot be done: nothing is lost, and one line says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from experiments.framework import commands, registry
from experiments.framework import page as pages
from experiments.framework import records as stored
from experiments.framework.runner import run
from tests.experiments.test_framework import found, made, whole

__all__ = ["whole"]


@pytest.mark.parametrize("gone", [1, 2, 5, 11, 12])
def test_a_line_that_is_lost_anywhere_costs_its_batch_alone(
    whole: Path, tmp_path: Path, gone: int
) -> None:
    lines = whole.read_bytes().splitlines(keepends=True)
    path = tmp_path / "lost.jsonl"
    path.write_bytes(b"".join(lines[:gone] + lines[gone + 1 :]))
    assert len(stored.load(path)) == 10
    ran = run([made()], quick=True, jobs=1, records=path)
    assert (ran.computed, ran.kept) == (1, 5)
    assert found(path) == found(whole)
    assert run([made()], quick=True, jobs=1, records=path).computed == 0


@pytest.mark.parametrize("line", [b"garbage\n", b'{"hello": 1}\n', b"[]\n", b'{"id": "x-0"}\n'])
def test_a_line_that_is_no_record_is_named_and_the_file_kept(whole: Path, line: bytes) -> None:
    lines = whole.read_bytes().splitlines(keepends=True)
    damaged = b"".join([*lines[:4], line, *lines[4:]])
    whole.write_bytes(damaged)
    for use in (stored.load, stored.Store):
        with pytest.raises(stored.RecordsError, match="line 5"):
            use(whole)
    assert whole.read_bytes() == damaged


def test_records_without_their_environment_are_refused(whole: Path) -> None:
    lines = whole.read_bytes().splitlines(keepends=True)
    whole.write_bytes(b"".join(lines[1:]))
    with pytest.raises(stored.RecordsError, match="no line of environment"):
        stored.load(whole)


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(commands.app, arguments)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(stored, "FOLDER", tmp_path / "records")
    monkeypatch.setattr(commands, "registered", lambda: [made()])
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["all", "--quick", "--full"], "give one of them"),
        (["report", "--full", "--quick"], "give one of them"),
        (["all", "--jobs", "0"], "than or equal to 1"),
        (["figures", "nonsense"], registry.NAMES[0]),
    ],
)
def test_what_cannot_be_asked_for(empty: Path, arguments: list[str], told: str) -> None:
    ended = invoke(*arguments)
    assert ended.exit_code == 2
    assert told in " ".join(ended.output.split())
    assert not (empty / "records").exists()


def test_a_page_is_not_replaced_by_one_without_records(empty: Path) -> None:
    page = empty / "page.html"
    page.write_text("as it was", encoding="utf-8")
    ended = invoke("report", "--full", "--output", str(page))
    assert ended.exit_code == 1
    assert "experiments: no records of full runs" in ended.output
    assert page.read_text(encoding="utf-8") == "as it was"
    figure = invoke("figures", "parity_epsilon", "--output", str(empty))
    assert figure.exit_code == 1
    assert "no figure" in figure.output


def test_files_that_cannot_be_written_and_two_runs_are_one_line_each(empty: Path) -> None:
    ended = invoke("all", "--jobs", "1", "--output", str(empty / "missing" / "page.html"))
    assert ended.exit_code == 1
    assert "missing" in ended.output.splitlines()[-1]
    with stored.Store(stored.path_of("squares", quick=True)):
        ended = invoke("all", "--jobs", "1")
    assert ended.exit_code == 1
    assert "another run is writing" in ended.output
    assert pages.default_path(quick=True) != pages.default_path(quick=False)
