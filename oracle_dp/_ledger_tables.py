"""The tables of a ledger's file, and what is written to and read from them.

Figures are text ("p/q"), never floating point. Charges are only ever added: triggers refuse to
change or delete one. No time is recorded: how long a run takes depends on the data.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

from oracle_dp.amendment import Amendment
from oracle_dp.budget import Budget, Charge, Composition, Total
from oracle_dp.errors import LedgerError, LedgerFileError
from oracle_dp.privacy import Neighbors

APPLICATION = 0x0D9_1ED6
"""Marks the file as a ledger (SQLite's application_id)."""

VERSION = 1
"""Of the tables (SQLite's user_version)."""

TABLES = f"""
PRAGMA synchronous = EXTRA;
BEGIN IMMEDIATE;
CREATE TABLE budgets (
    dataset TEXT PRIMARY KEY NOT NULL,
    epsilon TEXT NOT NULL,
    delta TEXT NOT NULL,
    neighbors TEXT NOT NULL,
    composition TEXT NOT NULL
);
CREATE TABLE charges (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    dataset TEXT NOT NULL REFERENCES budgets (dataset),
    mechanism TEXT NOT NULL,
    epsilon TEXT NOT NULL,
    delta TEXT NOT NULL,
    neighbors TEXT NOT NULL,
    rho TEXT
);
CREATE INDEX charges_of ON charges (dataset);
CREATE TRIGGER charges_stay BEFORE DELETE ON charges
    BEGIN SELECT RAISE(ABORT, 'a charge is never given back'); END;
CREATE TRIGGER charges_are_final BEFORE UPDATE ON charges
    BEGIN SELECT RAISE(ABORT, 'a charge is final'); END;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
COMMIT;
"""


AMENDMENTS = (
    """CREATE TABLE IF NOT EXISTS amendments (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        dataset TEXT NOT NULL REFERENCES budgets (dataset),
        epsilon_before TEXT NOT NULL,
        delta_before TEXT NOT NULL,
        epsilon_after TEXT NOT NULL,
        delta_after TEXT NOT NULL,
        charges INTEGER NOT NULL,
        reason TEXT NOT NULL
    )""",
    """CREATE TRIGGER IF NOT EXISTS amendments_stay BEFORE DELETE ON amendments
        BEGIN SELECT RAISE(ABORT, 'an amendment is never forgotten'); END""",
    """CREATE TRIGGER IF NOT EXISTS amendments_are_final BEFORE UPDATE ON amendments
        BEGIN SELECT RAISE(ABORT, 'an amendment is final'); END""",
)
"""Made with the first amendment, so that files without one are as they always were."""


def insert_budget(connection: sqlite3.Connection, name: str, budget: Budget) -> None:
    """Write one data set's budget.

    Raises:
        LedgerError: It cannot be written as text.
    """
    figures = _text(Fraction(budget.epsilon)), _text(Fraction(budget.delta))
    kinds = Neighbors.parse(budget.neighbors).value, Composition.parse(budget.composition).value
    connection.execute(
        "INSERT INTO budgets VALUES (?, ?, ?, ?, ?)", (_named(name), *figures, *kinds)
    )


def insert_charge(connection: sqlite3.Connection, charge: Charge) -> None:
    """Write one charge.

    Raises:
        LedgerError: It cannot be written as text.
    """
    figures = _text(charge.epsilon), _text(charge.delta), charge.neighbors.value
    rho = None if charge.rho is None else _text(charge.rho)
    connection.execute(
        "INSERT INTO charges (dataset, mechanism, epsilon, delta, neighbors, rho) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (charge.dataset, _named(charge.mechanism), *figures, rho),
    )


def insert_amendment(connection: sqlite3.Connection, amendment: Amendment) -> None:
    """Change a budget, and write down that it was changed.

    Raises:
        LedgerError: It cannot be written as text.
    """
    before, after = (
        (_text(Fraction(budget.epsilon)), _text(Fraction(budget.delta)))
        for budget in (amendment.before, amendment.after)
    )
    for statement in AMENDMENTS:
        connection.execute(statement)
    connection.execute(
        "UPDATE budgets SET epsilon = ?, delta = ? WHERE dataset = ?", (*after, amendment.dataset)
    )
    connection.execute(
        "INSERT INTO amendments (dataset, epsilon_before, delta_before, epsilon_after, "
        "delta_after, charges, reason) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (amendment.dataset, *before, *after, amendment.charges, _named(amendment.reason)),
    )


def read_amendments(connection: sqlite3.Connection) -> list[Amendment]:
    """Every amendment, in order.

    Raises:
        LedgerFileError: One is damaged.
    """
    there = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'amendments'")
    if there.fetchone() is None:
        return []
    rows = connection.execute(
        "SELECT dataset, epsilon_before, delta_before, epsilon_after, delta_after, charges, "
        "reason, neighbors, composition FROM amendments JOIN budgets USING (dataset) "
        "ORDER BY number"
    )
    with _sound_entries():
        return [_amendment(*row) for row in rows]


def _amendment(
    dataset: str,
    epsilon_before: str,
    delta_before: str,
    epsilon_after: str,
    delta_after: str,
    charges: int,
    reason: str,
    neighbors: str,
    composition: str,
) -> Amendment:
    before, after = (
        Budget(
            epsilon=Fraction(epsilon),
            delta=Fraction(delta),
            neighbors=neighbors,
            composition=composition,
        )
        for epsilon, delta in ((epsilon_before, delta_before), (epsilon_after, delta_after))
    )
    return Amendment(dataset=dataset, before=before, after=after, charges=charges, reason=reason)


def count_charges(connection: sqlite3.Connection, dataset: str) -> int:
    """How many charges there are on a data set."""
    found = connection.execute("SELECT count(*) FROM charges WHERE dataset = ?", (dataset,))
    return int(found.fetchone()[0])


def stored_budgets(connection: sqlite3.Connection) -> dict[str, Budget]:
    """Every budget, in the order in which they were added.

    Raises:
        LedgerFileError: One is damaged.
    """
    rows = connection.execute("SELECT * FROM budgets ORDER BY rowid")
    with _sound_entries():
        return {
            name: Budget(epsilon=Fraction(e), delta=Fraction(d), neighbors=n, composition=c)
            for name, e, d, n, c in rows
        }


def read_charges(connection: sqlite3.Connection) -> list[Charge]:
    """Every charge, in order.

    Raises:
        LedgerFileError: One is damaged.
    """
    rows = connection.execute(f"SELECT {_FIGURES} FROM charges ORDER BY number")
    with _sound_entries():
        return [_charge(*row) for row in rows]


def read_total(connection: sqlite3.Connection, dataset: str) -> Total:
    """The sums over the charges on a data set. Equal ones are read once.

    Raises:
        LedgerFileError: One is damaged.
    """
    rows = connection.execute(
        f"SELECT {_FIGURES}, count(*) FROM charges WHERE dataset = ? GROUP BY {_FIGURES}",
        (dataset,),
    )
    total = Total()
    with _sound_entries():
        for *figures, times in rows:
            total = total.plus(_charge(*figures), times=times)
    return total


_FIGURES = "dataset, mechanism, epsilon, delta, neighbors, rho"


def _charge(
    dataset: str, mechanism: str, epsilon: str, delta: str, neighbors: str, rho: str | None
) -> Charge:
    return Charge(
        dataset=dataset,
        mechanism=mechanism,
        epsilon=Fraction(epsilon),
        delta=Fraction(delta),
        neighbors=Neighbors.parse(neighbors),
        rho=None if rho is None else Fraction(rho),
    )


def _text(value: Fraction) -> str:
    try:
        return str(value)
    except ValueError:  # Python writes integers of some thousands of digits only.
        raise LedgerError(
            "epsilon, delta, rho: too many digits for a file; round it down"
        ) from None


def _named(name: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise LedgerError(f"name: {name!r} is no text that can be stored") from None
    return name


@contextmanager
def _sound_entries() -> Iterator[None]:
    try:
        yield
    except (TypeError, ValueError, ZeroDivisionError) as error:  # TypeError: a figure is no text.
        raise LedgerFileError(
            f"ledger: an entry of the file is damaged ({error}); restore it from a backup"
        ) from error
