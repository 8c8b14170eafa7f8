"""Where a release is written, and that none is left half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from oracle_dp import (
    Release,
    ScoringCard,
)

from .support import COMMAND, ROOT, own, refused, run


def test_a_refused_release_is_not_saved(tmp_path: Path) -> None:
    words = ("--attributes", "education,occupation,relationship", "--seconds", "0.001")
    result = run("train", "adult", *words, "--save", str(tmp_path / "model.json"))
    refused(result, "UncertifiedError: no draw was accepted within the limits")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("where", ["no/such/folder/model.json", ".", "file/model.json"])
def test_a_place_that_cannot_be_written_is_found_before_anything_is_spent(
    where: str, tmp_path: Path, untrained: list[str]
) -> None:
    (tmp_path / "file").touch()
    result = run("train", "adult", "--save", str(tmp_path / where))
    refused(result, "save: cannot write", "name a file in a folder that you own")
    assert untrained == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes anywhere")
def test_a_folder_that_is_read_only(tmp_path: Path, untrained: list[str]) -> None:
    tmp_path.chmod(0o500)
    refused(run("train", "adult", "--save", str(tmp_path / "model.json")), "save: cannot write")
    assert untrained == []


def test_save_keeps_devices_and_links(tmp_path: Path) -> None:
    target, link, pipe = tmp_path / "target", tmp_path / "link", tmp_path / "pipe"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    os.mkfifo(pipe)
    words = ("train", "adult", "--attributes", "sex", "--weights", "0,1", "--save")
    refused(run(*words, str(link)), "save:", "is there already; --force replaces it")
    assert target.read_text(encoding="utf-8") == "old"
    assert run(*words, str(link), "--force").exit_code == 0
    assert link.is_symlink()
    assert isinstance(Release.from_json(target.read_bytes()).value, ScoringCard)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert run(*words, str(pipe)).exit_code == 0
        assert isinstance(Release.from_json(os.read(reader, 60_000)).value, ScoringCard)
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_an_interrupted_write_leaves_the_older_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = tmp_path / "model.json"
    saved.write_text("older", encoding="utf-8")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    words = ("train", "adult", "--attributes", "sex", "--weights", "0,1", "--save", str(saved))
    result = run(*words, "--force")
    assert result.exit_code == 1
    assert "No space left on device" in result.stderr
    assert "differential privacy" in result.stdout  # What was paid for is not lost.
    assert os.listdir(tmp_path) == ["model.json"]
    assert saved.read_text(encoding="utf-8") == "older"


def test_ctrl_c_where_nothing_is_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> bytes:
        raise KeyboardInterrupt

    words = own(tmp_path)
    monkeypatch.setattr(Path, "read_bytes", interrupted)
    for command in (("domain", words[1]), ("plan", "train", "--domain", words[3])):
        result = run(*command)
        assert result.exit_code == 130
        assert result.stderr == "oracle-dp: interrupted; nothing is released.\n"


def test_ctrl_c_ends_a_long_run_at_once(tmp_path: Path) -> None:
    saved = tmp_path / "model.json"
    run("train", "adult", "--attributes", "sex,race,relationship")  # Compiled, and kept on disk.
    attributes = "workclass,education,marital-status,occupation,relationship,race,sex"
    words = ("--attributes", attributes, "--weights", "-3,-2,-1,0,1,2,3")
    process = subprocess.Popen(
        [*COMMAND, "train", "adult", *words, "--save", str(saved)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        warned = process.stderr.readline()  # The last thing before training.
        time.sleep(3)
        assert process.poll() is None
        asked = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        took = time.monotonic() - asked
    finally:
        process.kill()
    assert process.returncode == 130
    told = err
    assert "7 attributes: exponential runs until it is done" in warned
    assert told == (
        "oracle-dp: interrupted; nothing is released. Count the epsilon as spent: when a run is "
        "interrupted may depend on the data\n"
    )
    assert out == ""
    assert took < 5  # About one second; the rest is for a busy machine.
    assert os.listdir(tmp_path) == []
