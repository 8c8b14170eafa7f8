"""The command ``oracle-dp``. Heavy packages are imported inside the commands that need them."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import pandas as pd

    from oracle_dp.domain import Domain
    from oracle_dp.estimators.zero_one import ZeroOneClassifier

app = typer.Typer(
    name="oracle-dp",
    help="Differentially private optimisation for problems that are not convex.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


class DataSet(StrEnum):
    """Data sets that ship with their public schema."""

    ADULT = "adult"


class Mechanism(StrEnum):
    """Mechanisms that train a 0-1-loss classifier."""

    EXPONENTIAL = "exponential"
    OPDISC = "opdisc"
    COUNTS = "counts"
    TOP_R = "top_r"
    BLOCKWISE = "blockwise"


class Missing(StrEnum):
    """What becomes of rows with a missing value."""

    DROP = "drop"
    CATEGORY = "category"


class Relation(StrEnum):
    """Neighbour relations."""

    REPLACE = "replace"
    ADD_REMOVE = "add_remove"
    ZERO_OUT = "zero_out"


@app.callback()
def _root() -> None:
    # A callback keeps the commands' names in the help while there are few of them.
    pass


@app.command()
def train(
    data: Annotated[DataSet, typer.Argument(help="The data to train on.")],
    epsilon: Annotated[float, typer.Option(help="Privacy parameter, positive.")] = 1.0,
    attributes: Annotated[
        str, typer.Option(help="Comma-separated attributes of the public domain.")
    ] = "education,occupation,relationship,race,sex",
    mechanism: Annotated[
        Mechanism, typer.Option(help="How privacy is made.")
    ] = Mechanism.EXPONENTIAL,
    neighbors: Annotated[
        Relation, typer.Option(help="Which data sets are neighbours.")
    ] = Relation.REPLACE,
    weights: Annotated[
        str, typer.Option(help="Comma-separated integer values of every weight, 0 among them.")
    ] = "-1,0,1",
    missing: Annotated[
        Missing, typer.Option(help="Drop rows with '?', or keep '?' as a category.")
    ] = Missing.DROP,
    seconds: Annotated[
        float | None,
        typer.Option(help="Stop the solver after so long; a refusal is not covered by epsilon."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Reproduce a run. The release is then NOT private.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Write the release to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Train a private classifier that minimises classification error itself.

    Errors are measured on Adult's own test split, which is public; nothing is measured on the
    training rows.
    """
    with _named_errors():
        from oracle_dp.datasets import load_adult
        from oracle_dp.estimators.zero_one import ZeroOneClassifier
        from oracles import Limits

        if save is not None:
            # Before anything is spent: a release that cannot be written would be lost.
            _check_writable(save)
        adult = load_adult(missing=missing.value)
        names = [name.strip() for name in attributes.split(",")]
        classifier = ZeroOneClassifier(
            epsilon,
            mechanism=mechanism.value,
            neighbors=neighbors.value,
            weights=_integers(weights),
            domain=adult.domain[names],
            classes=adult.classes,
            limits=None if seconds is None else Limits(seconds=seconds),
            random_state=seed,
        )
        with _spinner("training: the oracle is proving its optimum"):
            classifier.fit(adult.X.iloc[adult.train], adult.y.iloc[adult.train])
        if save is not None:
            _write_whole(save, classifier.release_.to_json() + "\n")
        report = _report(classifier, names, adult.X.iloc[adult.test], adult.y.iloc[adult.test])
        typer.echo(json.dumps(report) if as_json else _readable(classifier, report))


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="A release written by train --save.")],
    rows: Annotated[Path, typer.Argument(help="A CSV file with a header; '-' reads stdin.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """Predict the class of every row of a CSV file, one per line."""
    with _named_errors():
        from oracle_dp.errors import ReleaseFormatError
        from oracle_dp.estimators.one_vs_rest import OneVsRest
        from oracle_dp.estimators.scoring_card import ScoringCard
        from oracle_dp.privacy import Release

        classifier = Release.from_json(model.read_bytes()).value
        if not isinstance(classifier, ScoringCard | OneVsRest):
            raise ReleaseFormatError("model: this release holds no classifier")
        labels = classifier.predict(_numbers(_table(rows), classifier.domain)).tolist()
        lines = [json.dumps(labels)] if as_json else [str(label) for label in labels]
        typer.echo("".join(f"{line}\n" for line in lines), nl=False)


def main() -> None:
    """Entry point of the console script."""
    app()


def _report(
    classifier: ZeroOneClassifier, attributes: list[str], x: pd.DataFrame, y: pd.Series[str]
) -> dict[str, object]:
    """What is printed: the release, and errors on the public test rows."""
    guarantee = classifier.release_.guarantee
    positive = float((y == classifier.classes_[1]).mean())
    return {
        "mechanism": guarantee.mechanism,
        "epsilon": guarantee.epsilon,
        "delta": guarantee.delta if guarantee.delta else 0,
        "neighbors": guarantee.neighbors.value,
        "certificate": guarantee.certificate.value,
        "test_error": float((classifier.predict(x) != y.to_numpy()).mean()),
        "majority_error": min(positive, 1 - positive),
        "test_rows": len(y),
        "attributes": attributes,
        "guarantee": guarantee.to_dict(),
        "model": classifier.release_.value.to_dict(),
    }


def _readable(classifier: ZeroOneClassifier, report: dict[str, object]) -> str:
    return (
        f"{classifier.release_}\n\n"
        f"error on {report['test_rows']:,} public test rows  {report['test_error']:7.2%}\n"
        f"error of the majority class      {report['majority_error']:7.2%}"
    )


def _table(path: Path) -> pd.DataFrame:
    """A CSV file as text, cell by cell.

    Raises:
        DomainError: It is not a table. The line is named, and no value shown.
    """
    import pandas as pd

    from oracle_dp.errors import DomainError

    # Not pandas.read_csv: it renames columns that occur twice, shifts rows that are longer than
    # the header, fills those that are shorter, and shows what it cannot read.
    raw = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    try:
        text = io.StringIO(raw.decode("utf-8-sig"), newline="")
        lines = csv.reader(text, skipinitialspace=True, strict=True)
        cells = [(lines.line_num, line) for line in lines]
    except UnicodeDecodeError:
        raise DomainError("rows: not text in UTF-8; save the file as CSV in UTF-8") from None
    except csv.Error:
        raise DomainError(f"rows: line {lines.line_num} is not CSV; check its quotes") from None
    while cells and not cells[-1][1]:  # An empty line elsewhere would shift the answers.
        cells.pop()
    if not cells:
        raise DomainError("rows: the file is empty; a header with the columns' names is needed")
    _, header = cells[0]
    for number, line in cells[1:]:
        if len(line) != len(header):
            raise DomainError(
                f"rows: line {number} has {len(line)} cells, the header {len(header)}"
            )
    return pd.DataFrame([line for _, line in cells[1:]], columns=header, dtype=str)


def _numbers(frame: pd.DataFrame, domain: Domain) -> pd.DataFrame:
    """The text of a CSV file with the columns of numbers as numbers."""
    import pandas as pd

    from oracle_dp.errors import DomainError

    frame = frame.copy()
    for column in domain.numeric_columns:
        # A column that occurs twice is the domain's to refuse.
        if list(frame.columns).count(column) == 1:
            try:
                frame[column] = pd.to_numeric(frame[column])
            except ValueError:
                raise DomainError(f"column {column!r} must hold numbers") from None
    return frame


def _integers(text: str) -> tuple[int, ...]:
    from oracle_dp.errors import ParameterError

    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ParameterError(
            f"weights: comma-separated integers expected, such as -1,0,1, not {text!r}"
        ) from None


def _check_writable(path: Path) -> None:
    from oracle_dp.errors import ParameterError

    whole = path.is_file() or not path.exists()
    folder = path.resolve().parent
    writable = folder.is_dir() and os.access(folder if whole else path, os.W_OK)
    if path.is_dir() or not writable:
        raise ParameterError(f"save: cannot write {path}; name a file in a folder that you own")


def _write_whole(path: Path, text: str) -> None:
    """Write a file entirely or not at all; a device or a pipe is written to as it is."""
    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    with tempfile.NamedTemporaryFile(
        "w", dir=path.parent, prefix=f".{path.name}.", delete=False, encoding="utf-8"
    ) as file:
        try:
            file.write(text)
            file.flush()
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


@contextmanager
def _spinner(message: str) -> Iterator[None]:
    """A moving line with the time on a terminal; nothing anywhere else."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task(message, total=None)
        yield


@contextmanager
def _named_errors() -> Iterator[None]:
    """Turn the project's errors, and those of files, into one line and an exit code."""
    from oracle_dp.errors import PrivacyError
    from oracles.errors import OracleError

    try:
        yield
    except (PrivacyError, OracleError, OSError, UnicodeDecodeError) as error:
        typer.echo(f"oracle-dp: {type(error).__name__}: {error}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        typer.echo("oracle-dp: interrupted; nothing is released", err=True)
        raise typer.Exit(INTERRUPTED) from None
