"""Where the rows of a training run come from, and what is public about them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from oracle_dp.cli.choices import Missing, split
from oracle_dp.cli.files import read_bytes
from oracle_dp.cli.tables import read_table, with_numbers

if TYPE_CHECKING:
    import pandas as pd

    from oracle_dp.cli.models import Classifier
    from oracle_dp.domain import Domain
    from oracle_dp.domain_file import DomainFile
    from oracle_dp.estimators.zero_one import ZeroOneClassifier
    from oracles.zero_one import ClassCounts

PARQUET = ".parquet"
"""How the names of files end that are counted and not loaded."""

ADULT = "adult"
ADULT_ATTRIBUTES = "education,occupation,relationship,race,sex"


@dataclass(frozen=True, eq=False)
class Rows:
    """Attributes and labels of the same rows."""

    x: pd.DataFrame
    y: pd.Series[str]


@dataclass(frozen=True, eq=False)
class Source:
    """What a classifier is trained on.

    Attributes:
        domain: Public.
        classes: Public.
        test: Public rows to measure errors on; None where there are none.
    """

    domain: Domain
    classes: tuple[str, ...]
    test: Rows | None

    def train(self, classifier: Classifier) -> None:
        """Fit on the rows."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Loaded(Source):
    """Rows in memory: private, as far as the program knows."""

    rows: Rows

    def train(self, classifier: Classifier) -> None:
        """Fit on the rows."""
        classifier.fit(self.rows.x, self.rows.y)


@dataclass(frozen=True, eq=False)
class Counted(Source):
    """Rows that were counted where they are: the cells are as private."""

    cells: ClassCounts

    def train(self, classifier: Classifier) -> None:
        """Fit on the cells."""
        cast("ZeroOneClassifier", classifier).fit_cells(self.cells)


def adult(attributes: str | None, missing: Missing | None) -> Loaded:
    """The data set that ships, with its own split."""
    from oracle_dp.datasets import load_adult

    data = load_adult(missing=(missing or Missing.DROP).value)
    rows, test = (Rows(data.X.iloc[part], data.y.iloc[part]) for part in (data.train, data.test))
    return Loaded(
        data.domain[split(ADULT_ATTRIBUTES if attributes is None else attributes)],
        data.classes,
        test,
        rows,
    )


def confirmed(
    path: Path, *, target: str | None, classes: str | None, attributes: str | None
) -> DomainFile:
    """A domain file, with what the command line says otherwise.

    Raises:
        ParameterError: The file cannot be read, or the classes are not ones.
        DomainError: It is not a confirmed domain file, or lacks an attribute that is asked for.
    """
    from oracle_dp.domain_file import DomainFile, check_texts

    file = DomainFile.from_toml(read_bytes(path, "domain"))
    if attributes is not None:
        file = replace(file, domain=file.domain[split(attributes)])
    if target is not None and target != file.target:
        file = replace(file, target=target, classes=None)  # They were another column's.
    if classes is not None:
        file = replace(file, classes=check_texts(split(classes)))
    return file


def own_file(path: Path, file: DomainFile, public_test: Path | None) -> Source:
    """A CSV file of one's own. All of it is checked before anything is spent.

    Args:
        path: Of the private rows; ``-`` is standard input.
        file: Their public schema.
        public_test: Of rows that are public.

    Raises:
        ParameterError: A file cannot be read, the target or its classes are not named, or the
            test file is the private one or has no rows.
        DomainError: A file is not a table that fits the schema. No value is shown.
    """
    _, classes = _target(file)
    test = _public_rows(public_test, file, [path])
    return Loaded(file.domain, classes, test, _labelled(path, file, "rows"))


def parquet_files(
    paths: Sequence[str], file: DomainFile, public_test: Path | None, counts: str | None
) -> Source:
    """Parquet files of one's own, counted block by block before anything is spent.

    Args:
        paths: Files and globs of private rows.
        file: Their public schema. Their entries are compared as they are, blanks included.
        public_test: A CSV file of rows that are public.
        counts: A column that says how many rows each row stands for.

    Raises:
        ParameterError: As :func:`own_file`.
        DomainError: The test file is not a table that fits the schema.
        ProblemError: A Parquet file is not. File and row group are named, and no value.
        SolverError: pyarrow is not installed.
    """
    from oracle_dp.domain import Categorical
    from oracles.zero_one import ClassCounts

    target, classes = _target(file)
    test = _public_rows(public_test, file, [Path(path) for path in paths])
    labels = Categorical(target, classes)
    cells = ClassCounts.from_parquet(list(paths), file.domain, labels, counts=counts)
    return Counted(file.domain, classes, test, cells)


def _target(file: DomainFile) -> tuple[str, tuple[str, ...]]:
    """The labels' column and the classes."""
    from oracle_dp.errors import DomainError, ParameterError

    if not file.target:
        raise ParameterError("target: not in the domain file; name the labels' column by --target")
    if file.classes is None:
        raise ParameterError(
            "classes: not in the domain file for this target; name them by --classes "
            "negative,positive, from public knowledge"
        )
    if file.target in file.domain.columns:
        raise DomainError(
            f"target: {file.target!r} is among the attributes of the domain; remove it there, or "
            "choose others by --attributes"
        )
    return file.target, file.classes


def _public_rows(path: Path | None, file: DomainFile, private: Sequence[Path]) -> Rows | None:
    """The rows to measure errors on."""
    from oracle_dp.errors import ParameterError

    if path is None:
        return None
    if any(_same(rows, path) for rows in private):
        raise ParameterError("public_test: this is the file of private rows; name a public one")
    test = _labelled(path, file, "public_test")
    if not len(test.y):
        raise ParameterError("public_test: there are no rows below its header")
    return test


def _labelled(path: Path, file: DomainFile, what: str) -> Rows:
    """The rows of a file, if they fit the schema."""
    from oracle_dp.errors import DomainError

    frame = read_table(path, what=what)
    if file.target not in frame.columns:
        raise DomainError(f"{what}: no column {file.target!r}, the target, in the header")
    labels = frame[file.target]
    if not labels.isin(file.classes or ()).all():
        raise DomainError(
            f"{what}: column {file.target!r}, the target, has a value that is not one of the "
            f"classes {', '.join(map(repr, file.classes or ()))}; correct the rows, or the "
            "classes from public knowledge"
        )
    problem = ""
    try:
        frame = with_numbers(frame, file.domain)
        file.domain.encode(frame)
    except DomainError as error:
        problem = str(error)
    if problem:
        raise DomainError(f"{what}: {problem}")
    return Rows(frame, labels)


def _same(path: Path, other: Path) -> bool:
    try:
        return path == other or os.path.samestat(_stat(path), _stat(other))
    except OSError:  # One is not there, which is told when it is read.
        return False


def _stat(path: Path) -> os.stat_result:
    """Of a path; ``-`` is standard input, which may be a file."""
    return os.fstat(0) if str(path) == "-" else os.stat(path)
