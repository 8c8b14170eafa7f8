"""MPS and LP files with damage: a program, or ``ModelFileError``, which tells no coefficient."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracles import IntegerProgram, ModelFileError

from .edits import SECRET, edited, nothing_logged, only

MPS = f"""\
NAME          small
ROWS
 N  cost
 L  first
 G  second
COLUMNS
    MARKER    'MARKER'  'INTORG'
    x         cost      {SECRET}   first  1.0
    x         second    1.0
    MARKER    'MARKER'  'INTEND'
    y         cost      2.0   first  {SECRET}
RHS
    RHS       cost      -5.0  first  4.0
    RHS       second    1.0
RANGES
    RNG       first     2.0
BOUNDS
 UP BND       y         {SECRET}
ENDATA
""".encode()

LP = f"""\
\\ a comment
Minimize
 cost: {SECRET} x + 2 y + 5
Subject To
 first: x + {SECRET} y <= 4
 second: x >= 1
Bounds
 y <= {SECRET}
General
 x
End
""".encode()

MPS_PIECES = (b"\n", b" ", b"-", b"1e999", b"nan", b"RANGES\n", b"SOS\n", b"ENDATA\n", b"'MARKER'")
LP_PIECES = (b"\n", b" <= ", b"[ x^2 ]/2", b"-inf", b"1e999", b"Binary\n", b"free", b"\\", b":")

SETTINGS = settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(content: bytes, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder, only(ModelFileError):
        path = Path(folder) / f"model{suffix}"
        path.write_bytes(content)
        reader = IntegerProgram.from_mps if ".mps" in suffix else IntegerProgram.from_lp
        program = reader(path)
        # What is read is a program that can be used.
        assert np.isfinite(program.objective).all()
        assert (program.lower <= program.upper).all()
        program.is_feasible(np.zeros(program.n_variables))


@given(content=edited(MPS, MPS_PIECES))
@SETTINGS
def test_damaged_mps(
    content: bytes, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    read(content, ".mps")
    nothing_logged(caplog, capfd)


@given(content=edited(LP, LP_PIECES))
@SETTINGS
def test_damaged_lp(
    content: bytes, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    read(content, ".lp")
    nothing_logged(caplog, capfd)


@given(
    content=st.binary(max_size=200), suffix=st.sampled_from([".mps", ".lp", ".mps.gz", ".lp.gz"])
)
@settings(max_examples=60)
def test_any_bytes(content: bytes, suffix: str) -> None:
    read(content, suffix)
