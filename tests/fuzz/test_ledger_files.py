"""Ledgers' files with damage: a ledger that takes a charge and keeps it, or ``LedgerError``."""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from oracle_dp import Charge, Ledger, LedgerError, Neighbors


def good() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger"
        ledger = Ledger.create(path, {"visits": 3.0})
        for _ in range(2):
            ledger.charge(charge())
        return path.read_bytes()


def charge() -> Charge:
    return Charge(
        dataset="visits",
        mechanism="opdisc",
        epsilon=Fraction(1),
        delta=Fraction(0),
        neighbors=Neighbors.REPLACE,
    )


GOOD = good()


EDITS = st.lists(
    st.tuples(
        st.integers(0, len(GOOD) - 1) | st.integers(0, 150), st.binary(min_size=1, max_size=40)
    ),
    min_size=1,
    max_size=5,
)
"""Places, and what is written over what is there: kept apart, so that failures can be printed."""


# A table whose name is no text and whose definition is none: SQLite's message is no text, either.
NO_TEXT = [(GOOD.index(b"tablebudgets") + 5, b"\x80" * 3), (GOOD.index(b"CREATE TABLE"), b"XXXX")]


def damaged(edits: list[tuple[int, bytes]], end: int | None) -> bytes:
    content = bytearray(GOOD)
    for at, put in edits:
        content[at : at + len(put)] = put
    return bytes(content[:end])


@given(edits=EDITS, end=st.none() | st.integers(0, len(GOOD)))
@example(edits=NO_TEXT, end=None)
@settings(max_examples=150)
def test_damaged_ledgers(edits: list[tuple[int, bytes]], end: int | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger"
        path.write_bytes(damaged(edits, end))
        try:
            ledger = Ledger.open(path)
            before = len(ledger.charges)
            ledger.charge(charge())
        except LedgerError:
            return
        assert len(Ledger.open(path).charges) == before + 1


@given(content=st.binary(max_size=200))
@settings(max_examples=50)
def test_any_bytes(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger"
        path.write_bytes(content)
        try:
            Ledger.open(path).charge(charge())
        except LedgerError:
            return
        raise AssertionError("no ledger, and charged")
