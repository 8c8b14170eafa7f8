"""Ledgers' files with damage: a ledger that takes a charge and keeps it, or ``LedgerError``."""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path

from hypothesis import given, settings
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


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    content = bytearray(GOOD)
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, len(content) - 1) | st.integers(0, 150))
        size = draw(st.integers(1, 40))
        content[at : at + size] = draw(st.binary(min_size=size, max_size=size))
    return (
        bytes(content[: draw(st.integers(0, len(content)))])
        if draw(st.booleans())
        else bytes(content)
    )


@given(content=damaged())
@settings(max_examples=150)
def test_damaged_ledgers(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger"
        path.write_bytes(content)
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
