"""A ledger in a file that processes share: an SQLite database.

A charge is decided and written in one transaction that holds the write lock from its start (BEGIN
IMMEDIATE), so that no two processes decide on the same remainder. ``charge`` returns when the
charge is on disk, and only then is noise drawn; whatever kills the process before that leaves the
file as it was, or with the charge, never with less than was spent.

The journal is SQLite's rollback journal with synchronous=EXTRA: with FULL, the journal's removal
may not survive a power cut, and the last charge would be rolled back with it. A write-ahead log
with FULL is as durable and faster, but keeps charges in a second file for a while, which a copy or
a backup of the ledger would miss, and does not work on network file systems.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path

from oracle_dp._ledger_tables import (
    APPLICATION,
    TABLES,
    VERSION,
    count_charges,
    insert_amendment,
    insert_budget,
    insert_charge,
    read_amendments,
    read_charges,
    read_total,
    stored_budgets,
)
from oracle_dp.amendment import Amendment, amended
from oracle_dp.budget import (
    Budget,
    Charge,
    Total,
    admit,
    check_charge,
    read_budgets,
)
from oracle_dp.errors import LedgerError, LedgerFileError, ParameterError
from oracle_dp.ledger import Ledger, budget_of

PATIENCE = 60.0
"""Seconds to wait for other processes."""

_MODE = "rw"


class DurableLedger(Ledger):
    """Budgets and charges in a file, safe to share between threads and processes.

    Made by :meth:`Ledger.create` and :meth:`Ledger.open`. Pickling keeps the path alone. Each
    operation has a connection of its own, so that nothing is shared by a fork.

    Args:
        path: Of the file, which must be there.

    Raises:
        LedgerFileError: The file is missing, damaged, not a ledger, or of a newer version.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = _absolute(path)
        with self._connection() as connection:
            report = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if report != "ok":
                raise LedgerFileError(f"ledger: {self.path} is damaged; restore it from a backup")
            stored_budgets(connection)
            read_charges(connection)
            read_amendments(connection)

    @classmethod
    def made(cls, path: str | Path, budgets: Mapping[str, Budget | float]) -> DurableLedger:
        """A ledger in a new file.

        Raises:
            ParameterError: A budget is out of its range.
            LedgerFileError: The file is there already, or cannot be written.
        """
        target, entries = _absolute(path), read_budgets(budgets)
        # Written under another name, and linked when whole: no half-made ledger is ever found.
        unfinished = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
        try:
            os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            try:
                with closing(_connect(unfinished)) as connection:
                    connection.executescript(TABLES)
                    for name, budget in entries.items():
                        insert_budget(connection, name, budget)
                os.link(unfinished, target)
            finally:
                os.unlink(unfinished)
            _sync_folder(target.parent)
        except FileExistsError:
            raise LedgerFileError(
                f"ledger: {target} is there already; open it, or choose another name"
            ) from None
        except (OSError, sqlite3.Error) as error:
            raise LedgerFileError(f"ledger: {target} cannot be written ({error})") from error
        return cls(target)

    def __repr__(self) -> str:
        try:
            return super().__repr__()
        except LedgerFileError as error:
            return f"{type(self).__name__}({str(self.path)!r}: {error})"

    def __reduce__(self) -> tuple[object, ...]:
        return DurableLedger, (str(self.path),)

    @property
    def budgets(self) -> Mapping[str, Budget]:
        """Every data set's budget."""
        with self._connection() as connection:
            return stored_budgets(connection)

    @property
    def charges(self) -> tuple[Charge, ...]:
        """Every charge, in order."""
        with self._connection() as connection:
            return tuple(read_charges(connection))

    @property
    def amendments(self) -> tuple[Amendment, ...]:
        """Every change of a budget, in order."""
        with self._connection() as connection:
            return tuple(read_amendments(connection))

    def _total(self, dataset: str) -> Total:
        with self._connection() as connection:
            return read_total(connection, dataset)

    def add(self, dataset: str, budget: Budget | float) -> None:
        """A budget for one more data set.

        Raises:
            ParameterError: The name or the budget is out of its range.
            LedgerError: The data set has a budget already.
            LedgerFileError: The file cannot be used.
        """
        entries = read_budgets({dataset: budget})
        with self._transaction() as connection:
            if dataset in stored_budgets(connection):
                raise LedgerError(f"dataset: {dataset!r} has a budget already; choose another name")
            insert_budget(connection, dataset, entries[dataset])

    def amend(
        self,
        dataset: str,
        *,
        epsilon: float | Fraction | None = None,
        delta: float | Fraction | None = None,
        reason: str,
    ) -> Amendment:
        """As for a ledger in memory; on disk, with its reason, when this returns.

        Raises:
            ParameterError: As there.
            LedgerError: As there.
            LedgerFileError: The file cannot be used. Nothing was changed.
        """
        with self._transaction() as connection:
            budget = budget_of(stored_budgets(connection), dataset)
            spent = read_total(connection, dataset)
            after = amended(budget, spent, epsilon=epsilon, delta=delta, reason=reason)
            entry = Amendment(
                dataset=dataset,
                before=budget,
                after=after,
                charges=count_charges(connection, dataset),
                reason=reason,
            )
            insert_amendment(connection, entry)
        return entry

    def charge(self, charge: Charge) -> None:
        """Take a charge, before any noise is drawn; on disk when this returns.

        Raises:
            LedgerError: The data set has no budget, or one under another neighbour relation.
            OverspendError: The charge exceeds what remains. Nothing is charged.
            LedgerFileError: The file cannot be used. Nothing may be released.
        """
        check_charge(charge)
        with self._transaction() as connection:
            budget = budget_of(stored_budgets(connection), charge.dataset)
            admit(budget, read_total(connection, charge.dataset), charge)
            insert_charge(connection, charge)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A connection to a file that has been found to be a ledger of this version."""
        try:
            # SQLite alone opens the file: closing any other handle to it would drop the locks that
            # this process holds on it.
            if not self.path.exists():
                raise LedgerFileError(
                    f"ledger: there is no file {self.path}; make one with Ledger.create or "
                    "'oracle-dp ledger create'"
                )
            _check_only_name(self.path)
            with closing(_connect(self.path)) as connection:
                self._recognise(connection)
                yield connection
        # The last: SQLite quotes a damaged schema in its messages, which need not be text.
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            raise LedgerFileError(f"ledger: {self.path}: {_remedy(error)}") from error

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:  # Ctrl-C too; the error goes on.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def _recognise(self, connection: sqlite3.Connection) -> None:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if application != APPLICATION:
            raise LedgerFileError(f"ledger: {self.path} is not a ledger of oracle-dp")
        if version != VERSION:
            raise LedgerFileError(
                f"ledger: {self.path} is of version {version}, and {VERSION} is the latest known "
                "here; use the version of oracle-dp that wrote it"
            )


def _absolute(path: str | Path) -> Path:
    if not isinstance(path, str | Path) or not str(path):
        raise ParameterError(f"path: a file's name expected, not {path!r}")
    # Symbolic links are followed once: the journal must lie beside the file itself.
    return Path(path).expanduser().resolve()


def _check_only_name(path: Path) -> None:
    """Refuse a file with hard links: SQLite finds an interrupted charge's journal by name."""
    for _ in range(20):
        if path.stat().st_nlink == 1 or not path.is_file():
            return
        time.sleep(0.05)  # It has two names for an instant while it is made.
    raise LedgerFileError(
        f"ledger: {path} has a second name (a hard link), under which an interrupted charge would "
        "not be found; remove that link, or copy the file"
    )


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode={_MODE}", uri=True, timeout=PATIENCE, isolation_level=None
    )
    try:
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("PRAGMA foreign_keys = ON")
    except (sqlite3.Error, UnicodeDecodeError):
        connection.close()
        raise
    return connection


def _sync_folder(folder: Path) -> None:
    """Make a new name in a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remedy(error: Exception) -> str:
    text = "malformed" if isinstance(error, UnicodeDecodeError) else str(error)
    for sign, remedy in _REMEDIES.items():
        if sign in text:
            return remedy
    return f"{text}; nothing was charged"


_REMEDIES = {
    "not a database": "not a ledger of oracle-dp; nothing was charged",
    "malformed": "damaged; restore it from a backup; nothing was charged",
    "readonly": "cannot be written; change its permissions; nothing was charged",
    "locked": f"in use by another process for {PATIENCE:g} seconds; try again; nothing was charged",
    "unable to open": "cannot be opened; check its permissions; nothing was charged",
}
