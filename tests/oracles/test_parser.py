"""Model files on which HiGHS's parser hangs, crashes or eats memory end in a clear error."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from oracles import IntegerProgram, ModelFileError, SolverError, _parser, files
from oracles._highs_run import load_highspy

from .test_files import MPS, facts

READY = b"\x05\0\0\0\0\0\0\0ready"
REMEDY = r"write it anew .* or in the other format .* raise READ_SECONDS and READ_BYTES"
LATE = 3.0
"""Seconds that a busy machine may add."""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.mps"
    path.write_text(MPS)
    return path


class Script:
    """A process that stands in for the parser's."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path, self.note = folder / "script.py", folder / "pid"
        self.does("raise SystemExit(3)")
        monkeypatch.setattr(_parser, "_SCRIPT", self.path)

    def does(self, program: str) -> None:
        begin = (
            f"import os, signal, sys, time\nopen({str(self.note)!r}, 'w').write(str(os.getpid()))"
        )
        self.path.write_text(f"{begin}\nos.write(1, {READY!r})\n{program}\n")

    def pid(self) -> int:
        while not (self.note.exists() and self.note.read_text()):
            time.sleep(0.01)
        return int(self.note.read_text())

    def assert_gone(self) -> None:
        with pytest.raises(ProcessLookupError):  # which a zombie would prevent
            os.kill(self.pid(), 0)


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Script:
    return Script(tmp_path, monkeypatch)


# -- what the parser may do --------------------------------------------------------------------


# In HiGHS's parser of fixed files, which names with spaces lead to, all of these run for ever;
# a fuzzer found them.
@pytest.mark.parametrize(
    "text",
    [
        "\n" + MPS.replace(" N  cost", " N  c ost"),
        MPS.replace("ROWS\n", "\nROWS\n").replace("RHS\n", "RHS RHS\n", 1),
        MPS.replace("NAME          small\n", "\n").replace(" L  first", " L  fi rst"),
    ],
)
def test_the_parser_of_fixed_files_is_not_begun(tmp_path, monkeypatch, text):
    monkeypatch.setattr(files, "READ_SECONDS", 1.0)
    path = tmp_path / "m.mps"
    path.write_text(text)
    with pytest.raises(ModelFileError, match="has names with spaces"):
        IntegerProgram.from_mps(path)


def test_a_parser_that_does_not_end_is_ended(model, script, monkeypatch):
    monkeypatch.setattr(files, "READ_SECONDS", 1.0)
    script.does("time.sleep(8)")
    begun = time.monotonic()
    expected = rf"^m\.mps: is not read to its end within 1 seconds: .*{REMEDY}"
    with pytest.raises(ModelFileError, match=expected):
        IntegerProgram.from_mps(model)
    assert time.monotonic() - begun < 1.0 + LATE
    script.assert_gone()


def test_the_limit_grows_with_the_text(tmp_path, script, monkeypatch):
    given: list[dict[str, float]] = []

    def parse(_path: Path, **limits: float) -> list[str]:
        given.append(limits)
        return [""]

    monkeypatch.setattr(files, "parse", parse)
    path = tmp_path / "m.mps"
    for size in (0, 10**6):
        path.write_text(MPS + "*" * size)
        with pytest.raises(ModelFileError):
            IntegerProgram.from_mps(path)
    small, large = given
    assert small["seconds"] == pytest.approx(files.READ_SECONDS, abs=0.01)
    assert large["seconds"] - small["seconds"] == files.READ_SECONDS_PER_MEGABYTE
    assert large["memory"] - small["memory"] == files.READ_BYTES_PER_BYTE * 10**6


@pytest.mark.parametrize(
    ("program", "ending"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
        ("os.abort()", "SIGABRT"),
        ("raise SystemExit(7)", "exit code 7"),
        # Ended within a field, and within a length.
        (r"os.write(1, b'\x05\0\0\0\0\0\0\0mod')", "exit code 0"),
        (r"os.write(1, b'\x05\0\0')", "exit code 0"),
    ],
)
def test_a_parser_that_crashes_is_named(model, script, program, ending):
    script.does(f"import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); {program}")
    expected = rf"^m\.mps: crashes HiGHS's parser \({ending}\): .*{REMEDY}"
    with pytest.raises(ModelFileError, match=expected):
        IntegerProgram.from_mps(model)
    script.assert_gone()


def test_a_parser_that_eats_memory_is_stopped(tmp_path, monkeypatch):
    names = [f"x{j}" for j in range(20_000)]
    path = tmp_path / "m.lp"
    path.write_text(
        "Minimize\n c: " + "\n + ".join(names) + f"\nSubject To\n r: {names[0]} >= 1\nEnd\n"
    )
    assert IntegerProgram.from_lp(path).n_variables == 20_000
    monkeypatch.setattr(files, "READ_BYTES", 3e7)
    monkeypatch.setattr(files, "READ_BYTES_PER_BYTE", 0)
    with pytest.raises(ModelFileError, match=rf"^m\.lp: needs more than 0\.03 GB .*{REMEDY}"):
        IntegerProgram.from_lp(path)


@pytest.mark.parametrize("raised", [KeyboardInterrupt, ZeroDivisionError])
def test_ctrl_c_ends_the_parser(model, script, raised):
    script.does("signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(8)")

    def handle(*_: object) -> None:
        raise raised

    def interrupt() -> None:
        script.pid()
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, handle)
    begun = time.monotonic()
    try:
        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(raised):
            IntegerProgram.from_mps(model)
    finally:
        signal.signal(signal.SIGINT, before)
        thread.join()
    assert time.monotonic() - begun < LATE
    script.assert_gone()


def test_the_process_leaves_ctrl_c_to_its_parent_and_ends_without_one(tmp_path):
    pipe = tmp_path / "m.mps"
    os.mkfifo(pipe)  # which nobody writes to
    extension = load_highspy()._core.__file__
    command = [sys.executable, "-I", str(_parser._SCRIPT), extension, "1", str(2**30)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(bytes(pipe))
        process.stdin.close()
        assert process.stdout.read(len(READY)) == READY
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(timeout=1 + LATE) == 1
        finally:
            process.kill()


# -- where it runs -----------------------------------------------------------------------------


def test_no_folder_or_variable_of_the_user_reaches_the_process(model, tmp_path, monkeypatch):
    for name in ("array", "highspy", "oracles", "signal", "struct", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(5)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert IntegerProgram.from_mps(model.name).names == ("x", "y")


def test_any_name_of_a_file_or_variable(tmp_path):
    path = tmp_path / os.fsdecode(b"Gr\xf6\xdfe.mps")  # not UTF-8
    path.write_text(MPS.replace("    y ", "    größe "), encoding="utf-8")
    assert IntegerProgram.from_mps(path).names == ("x", "größe")


def test_threads_read_at_the_same_time(model):
    found: list[object] = []
    threads = [
        threading.Thread(target=lambda: found.append(facts(IntegerProgram.from_mps(model))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [facts(IntegerProgram.from_mps(model))] * 4


def test_a_pipe_is_no_model_file(tmp_path):
    os.mkfifo(tmp_path / "m.mps")
    with pytest.raises(ModelFileError, match="is a pipe or a device: write it to a file first"):
        IntegerProgram.from_mps(tmp_path / "m.mps")


def test_a_process_that_cannot_be_started_is_no_fault_of_the_file(model, script, monkeypatch):
    script.path.write_text("raise SystemExit(3)")
    with pytest.raises(SolverError, match=r"did not start HiGHS \(exit code 3\)"):
        IntegerProgram.from_mps(model)
    monkeypatch.setattr(sys, "executable", str(model))
    with pytest.raises(SolverError, match="cannot be started"):
        IntegerProgram.from_mps(model)
