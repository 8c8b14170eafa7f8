"""A ledger's file: shared, exact, never behind what was spent, and refused when it is not sound."""

from __future__ import annotations

import copy
import os
import pickle
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sklearn.base import clone

from oracle_dp import (
    Budget,
    Charge,
    Ledger,
    LedgerError,
    LedgerFileError,
    Neighbors,
    OverspendError,
    ParameterError,
    ZeroOneClassifier,
)
from oracle_dp import _ledger_tables as tables
from oracle_dp import ledger_file as module

from .ledger_killed import UNIT, kill_many, start


def charge(epsilon: Any = "1/10", delta: Any = 0, **changes: Any) -> Charge:
    settings: dict[str, Any] = {
        "dataset": "survey",
        "mechanism": "opdisc",
        "epsilon": epsilon,
        "delta": delta,
        "neighbors": Neighbors.REPLACE,
        **changes,
    }
    return Charge(**settings)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "privacy.ledger"


# -- figures -----------------------------------------------------------------------------------


def test_what_is_written_is_read_exactly(path: Path) -> None:
    ledger = Ledger.create(
        path, {"survey": Budget(epsilon="1/3", delta=1e-6), "census": 2}
    )  # rational text
    entries = (
        charge(Fraction(1, 7), Fraction(1, 10**9)),
        charge("1e-300", rho=Fraction(3, 10**200)),
        charge(2, dataset="census"),
    )
    for entry in entries:
        ledger.charge(entry)
    again = Ledger.open(path)
    assert again.charges == entries
    assert again.budgets == ledger.budgets
    assert again.budget("survey").epsilon == Fraction(1, 3)
    assert again.remaining("census") == (0, 0)
    spent = Fraction(1, 7) + Fraction(1, 10**300)
    assert again.remaining("survey") == (Fraction(1, 3) - spent, Fraction(999, 10**9))


def test_ten_tenths_fill_a_budget_of_one(path: Path) -> None:
    ledger = Ledger.create(path, {"survey": 1.0})
    for _ in range(10):
        ledger.charge(charge(0.1))
    with pytest.raises(OverspendError):
        ledger.charge(charge(5e-324))
    assert len(ledger.charges) == 10
    assert Ledger.open(path).remaining("survey") == (0, 0)


def test_refusals_charge_nothing(path: Path) -> None:
    ledger = Ledger.create(path, {"survey": 1.0})
    refused: list[tuple[Any, type[LedgerError]]] = [
        (charge(2), OverspendError),
        (charge(0, 1e-9), OverspendError),
        (charge(dataset="strangers"), LedgerError),
        (charge(neighbors="add_remove"), LedgerError),
        (charge(Fraction(1, 10**5000)), LedgerError),
        (charge(mechanism="\ud800"), LedgerError),
        ("charge", LedgerError),
    ]
    for entry, error in refused:
        with pytest.raises(error):
            ledger.charge(entry)
    assert ledger.charges == ()
    assert repr(ledger) == "DurableLedger('survey': epsilon 0 of 1 spent)"


def test_more_data_sets(path: Path) -> None:
    ledger = Ledger.create(path, {})
    ledger.add("survey", Budget(epsilon=1, delta=1e-6, neighbors="add_remove"))
    with pytest.raises(LedgerError, match="has a budget already"):
        ledger.add("survey", 100)
    with pytest.raises(ParameterError):
        ledger.add("", 1)
    assert Ledger.open(path).budgets == {
        "survey": Budget(epsilon=1, delta=1e-6, neighbors="add_remove")
    }


# -- copies ------------------------------------------------------------------------------------


def test_copies_and_pickles_are_the_same_file(path: Path) -> None:
    ledger = Ledger.create(path, {"survey": 1.0})
    estimator = ZeroOneClassifier(ledger=ledger, dataset="survey")
    assert copy.deepcopy(ledger) is ledger
    assert clone(estimator).ledger is ledger
    for each in (pickle.loads(pickle.dumps(ledger)), pickle.loads(pickle.dumps(estimator)).ledger):
        assert each.path == ledger.path
        each.charge(charge("1/2"))
    assert ledger.remaining("survey") == (0, 0)
    os.remove(path)
    with pytest.raises(LedgerFileError, match="there is no file"):
        pickle.loads(pickle.dumps(ledger))
    assert "there is no file" in repr(ledger)


def test_a_path_is_absolute(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    ledger = Ledger.create(path.name, {"survey": 1})
    monkeypatch.chdir("/")
    ledger.charge(charge())
    assert ledger.path == path.resolve()


def test_a_forked_process_charges_the_same_file(path: Path) -> None:
    ledger = Ledger.create(path, {"survey": 1})
    child = os.fork()
    if child == 0:
        try:
            ledger.charge(charge("3/4"))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    with pytest.raises(OverspendError):
        ledger.charge(charge("1/2"))


# -- unsound files -----------------------------------------------------------------------------


def altered(*statements: str) -> Callable[[Path], None]:
    def alter(path: Path) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.executescript(";".join(statements))
        connection.close()

    return alter


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1000])


def scribbled(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[5000:9000] = b"\xa5" * 4000
    path.write_bytes(bytes(content))


UNSOUND: list[tuple[str, Callable[[Path], Any], str]] = [
    ("missing", os.remove, "there is no file"),
    ("empty", lambda path: path.write_bytes(b""), "not a ledger"),
    ("text", lambda path: path.write_text("epsilon, delta\n" * 999), "not a ledger"),
    ("another database", altered("PRAGMA application_id = 7"), "not a ledger"),
    ("newer", altered(f"PRAGMA user_version = {tables.VERSION + 1}"), "of version 2"),
    ("cut off", cut, "damaged"),
    ("scribbled", scribbled, "damaged"),
    ("no tables", altered("DROP TABLE charges"), "no such table"),
    ("no number", altered("UPDATE budgets SET epsilon = 'much'"), "damaged"),
    ("no text", altered("UPDATE budgets SET epsilon = X'31'"), "damaged"),
    ("no relation", altered("UPDATE budgets SET neighbors = 'friends'"), "damaged"),
    ("no denominator", altered("UPDATE budgets SET delta = '1/0'"), "damaged"),
    (
        "a negative charge",
        altered("INSERT INTO charges VALUES (999, 'survey', 'x', '-1', '0', 'replace', NULL)"),
        "damaged",
    ),
]


@pytest.mark.parametrize(("what", "spoil", "message"), UNSOUND, ids=lambda part: str(part)[:20])
def test_unsound_files_are_refused(
    path: Path, what: str, spoil: Callable[[Path], Any], message: str
) -> None:
    ledger = Ledger.create(path, {"survey": 1000})
    for i in range(30):
        ledger.charge(charge(mechanism=f"{what} {i} " * 20))
    spoil(path)
    with pytest.raises(LedgerFileError, match=message):
        Ledger.open(path)
    if message != "damaged":
        with pytest.raises(LedgerFileError, match=message):
            ledger.charge(charge())


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(LedgerFileError, match="cannot be opened"):
        Ledger.open(tmp_path)
    for unusable in ("", None, 5):
        with pytest.raises(ParameterError, match="path"):
            Ledger.open(unusable)  # on purpose


def test_a_file_with_two_names_is_refused(path: Path) -> None:
    """A charge cut short leaves its journal beside one name; the other would read half of it."""
    ledger = Ledger.create(path, {"survey": 1})
    other = path.with_name("other")
    os.link(path, other)
    for name in (path, other):
        with pytest.raises(LedgerFileError, match="hard link"):
            Ledger.open(name)
    with pytest.raises(LedgerFileError, match="hard link"):
        ledger.charge(charge())
    other.unlink()
    ledger.charge(charge())
    # A symbolic link is followed to the one name.
    other.symlink_to(path)
    assert Ledger.open(other).charges == ledger.charges


def test_a_file_that_cannot_be_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger.create(path, {"survey": 1})
    # Permissions do not bind every user; SQLite's own flag does.
    monkeypatch.setattr(module, "_MODE", "ro")
    assert ledger.remaining("survey") == (1, 0)
    with pytest.raises(LedgerFileError, match="cannot be written"):
        ledger.charge(charge())


def test_a_file_in_use(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger.create(path, {"survey": 1})
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerFileError, match="in use"):
        ledger.charge(charge())
    other.execute("ROLLBACK")
    other.close()
    ledger.charge(charge())


def test_a_ledger_is_not_made_over_a_file(path: Path) -> None:
    Ledger.create(path, {"survey": 1}).charge(charge(1))
    with pytest.raises(LedgerFileError, match="there already"):
        Ledger.create(path, {"survey": 1})
    assert Ledger.open(path).remaining("survey") == (0, 0)
    with pytest.raises(LedgerFileError, match="cannot be written"):
        Ledger.create(path.parent / "nowhere" / "file", {"survey": 1})
    with pytest.raises(ParameterError):
        Ledger.create(path.with_name("other"), {"survey": -1})
    assert sorted(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("statement", ["DELETE FROM charges", "UPDATE charges SET epsilon = '0'"])
def test_charges_are_final(path: Path, statement: str) -> None:
    Ledger.create(path, {"survey": 1}).charge(charge())
    with pytest.raises(sqlite3.IntegrityError, match=r"never given back|is final"):
        altered(statement)(path)
    assert len(Ledger.open(path).charges) == 1


def test_a_failure_before_the_end_charges_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger.create(path, {"survey": 1})

    def insert_then_stop(connection: sqlite3.Connection, entry: Charge) -> None:
        tables.insert_charge(connection, entry)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, "insert_charge", insert_then_stop)
        with pytest.raises(KeyboardInterrupt):
            ledger.charge(charge())
    assert ledger.charges == ()
    ledger.charge(charge(1))


# -- many at once, and killed ------------------------------------------------------------------


def test_threads_lose_and_overspend_nothing(path: Path) -> None:
    ledger = Ledger.create(path, {"survey": 137 * UNIT})

    def spend(_: int) -> int:
        taken = 0
        for _ in range(25):
            try:
                ledger.charge(charge(UNIT))
                taken += 1
            except OverspendError:
                pass
        return taken

    with ThreadPoolExecutor(8) as pool:
        taken = sum(pool.map(spend, range(8)))
    assert taken == len(ledger.charges) == 137


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder without a disk, where there is one: locks are the same, and waits are not."""
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tmp_path
    with tempfile.TemporaryDirectory(dir=folder) as name:
        yield Path(name)


@pytest.mark.parametrize("fits", [1600, 1501])
def test_processes_lose_and_overspend_nothing(memory: Path, fits: int) -> None:
    path = memory / "privacy.ledger"
    ledger = Ledger.create(path, {"survey": fits * UNIT})
    workers = [start(path, "late", 200) for _ in range(8)]
    granted = [len(worker.communicate()[0]) for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 8
    assert sum(granted) == len(ledger.charges) == fits
    assert ledger.remaining("survey") == (0, 0)


def test_killed_processes_lose_nothing(tmp_path: Path) -> None:
    outcome = kill_many(20, tmp_path)
    assert outcome.acknowledged >= 20
    assert outcome.lost == 0
    assert outcome.beyond <= 20  # Charged, and killed before it was told.


def test_charges_that_are_lost_are_found_to_be(tmp_path: Path) -> None:
    assert kill_many(6, tmp_path, mode="early").lost > 0
