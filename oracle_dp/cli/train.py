"""``oracle-dp train``."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle_dp.cli import options
from oracle_dp.cli.choices import Lift, Mechanism, Missing, Model, Relation
from oracle_dp.cli.console import named_errors, spinner
from oracle_dp.cli.files import check_writable, write_whole
from oracle_dp.cli.models import classifier_of
from oracle_dp.cli.sources import (
    ADULT,
    PARQUET,
    Rows,
    Source,
    adult,
    confirmed,
    own_file,
    parquet_files,
)

if TYPE_CHECKING:
    from oracle_dp.cli.models import Classifier


EXACT = (Mechanism.EXPONENTIAL, Mechanism.OPDISC)
"""Mechanisms whose effort grows with all combinations of attributes, without a bound."""

MANY = 5
"""Attributes; with more, an exact mechanism may not end on rows that are hard to tell apart."""


@dataclass(frozen=True, slots=True)
class OwnFile:
    """The options that only files of one's own have."""

    domain: Path | None
    target: str | None
    classes: str | None
    public_test: Path | None
    counts: str | None


def train(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA",
            help="A CSV file with a header ('-' reads stdin), Parquet files (a quoted glob will "
            "do), or 'adult', which ships.",
        ),
    ],
    domain: options.DomainPath = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The labels' column. Default: the domain file's.",
            rich_help_panel=options.OWN_FILE,
        ),
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Public labels, comma-separated: negative,positive, or three and more. "
            "Default: the domain file's.",
            rich_help_panel=options.OWN_FILE,
        ),
    ] = None,
    public_test: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Measure errors on these rows. They are printed without any privacy: the file "
            "must be public, or its people's privacy is spent.",
            rich_help_panel=options.OWN_FILE,
        ),
    ] = None,
    counts: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Of Parquet files: how many rows each row stands for. Default: one.",
            rich_help_panel=options.OWN_FILE,
        ),
    ] = None,
    epsilon: Annotated[
        str, typer.Option(help="Privacy parameter, positive, such as 0.5 or 1/3.")
    ] = "1.0",
    attributes: options.Attributes = None,
    model: options.ModelName = Model.ZERO_ONE,
    method: options.Method = None,
    size: options.Size = None,
    groups: options.Groups = None,
    mechanism: options.MechanismName = Mechanism.EXPONENTIAL,
    neighbors: options.Neighbors = Relation.REPLACE,
    weights: options.Weights = "-1,0,1",
    missing: options.MissingRows = None,
    sparsity: options.Sparsity = 0.0,
    max_attributes: options.MaxAttributes = None,
    n_best: options.NBest = 10,
    sweeps: options.Sweeps = 2,
    delta: options.Delta = None,
    lift: options.LiftName = Lift.ONE_HOT,
    noise: options.NoiseName = None,
    seconds: options.Seconds = None,
    seed: Annotated[
        int | None, typer.Option(help="Reproduce a run. The release is then NOT private.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the release to this file.")
    ] = None,
    force: options.Force = False,
    ledger: options.LedgerPath = None,
    dataset: options.DatasetName = None,
    as_json: options.AsJson = False,
) -> None:
    """Train a private classifier: a scoring card with the fewest errors, or logistic regression.

    Errors are measured on public rows alone: Adult's own test split, or --public-test. Nothing is
    measured on the training rows.
    """
    with named_errors(spends=True):
        from oracle_dp.errors import ParameterError
        from oracle_dp.ledger import Ledger
        from oracle_dp.noise import positive_rational

        if save is not None:
            # Before anything is spent: a release that cannot be written would be lost.
            check_writable(save, what="save", force=force)
        own = OwnFile(domain, target, classes, public_test, counts)
        if model is not Model.ZERO_ONE and all(path.endswith(PARQUET) for path in data):
            raise ParameterError(f"model: from Parquet files only {Model.ZERO_ONE} is trained")
        with spinner("reading the rows"):
            source = _source(data, own, attributes, missing)
        common = {
            "epsilon": positive_rational("epsilon", epsilon),
            "neighbors": neighbors.value,
            "domain": source.domain,
            "classes": source.classes,
            "random_state": seed,
            "ledger": None if ledger is None else Ledger.open(ledger),
            "dataset": dataset,
        }
        asked = {
            "delta": delta,
            "groups": groups,
            "lift": lift,
            "max_attributes": max_attributes,
            "mechanism": mechanism,
            "method": method,
            "n_best": n_best,
            "noise": noise,
            "seconds": seconds,
            "size": size,
            "sparsity": sparsity,
            "sweeps": sweeps,
            "weights": weights,
        }
        classifier = classifier_of(model, common, asked)
        if model is Model.ZERO_ONE and mechanism in EXACT and len(source.domain) > MANY:
            typer.echo(
                f"oracle-dp: {len(source.domain)} attributes: {mechanism.value} runs until it is "
                "done, which may take too long; choose a few by --attributes, and try how long "
                "with 'oracle-dp plan train'",
                err=True,
            )
        how = mechanism.value if model is Model.ZERO_ONE else model.value
        with spinner(f"training by {how} (the first run compiles; then until done)"):
            source.train(classifier)
        report = _report(classifier, source)
        # Printed first: should the disk be full, what was paid for is on the terminal.
        typer.echo(json.dumps(report) if as_json else _readable(classifier, report))
        if save is not None:
            write_whole(save, classifier.release_.to_json() + "\n")


def _source(
    data: list[str], own: OwnFile, attributes: str | None, missing: Missing | None
) -> Source:
    """What to train on."""
    from oracle_dp.errors import ParameterError

    if data == [ADULT]:
        for option, value in asdict(own).items():
            if value is not None:
                raise ParameterError(f"{option}: only a CSV file has it, not {ADULT!r}")
        return adult(attributes, missing)
    parquet = [path.endswith(PARQUET) for path in data]
    if not all(parquet) and len(data) > 1:
        raise ParameterError(
            f"data: one CSV file, or Parquet files, whose names end in {PARQUET}, expected"
        )
    if missing is not None:
        raise ParameterError(f"missing: only {ADULT!r} has it; in a domain '?' is a category")
    if own.domain is None:
        raise ParameterError(
            "domain: Parquet files need one, written from public knowledge"
            if all(parquet)
            else f"domain: a CSV file needs one; draft it with 'oracle-dp domain {data[0]}', or "
            f"name the data set that ships, {ADULT!r}"
        )
    file = confirmed(own.domain, target=own.target, classes=own.classes, attributes=attributes)
    if all(parquet):
        return parquet_files(data, file, own.public_test, own.counts)
    if own.counts is not None:
        raise ParameterError("counts: only Parquet files have it")
    return own_file(Path(data[0]), file, own.public_test)


def _report(classifier: Classifier, source: Source) -> dict[str, object]:
    """What is printed: the release, and errors on public rows."""
    guarantee = classifier.release_.guarantee
    return {
        "mechanism": guarantee.mechanism,
        "epsilon": guarantee.epsilon,
        "delta": guarantee.delta if guarantee.delta else 0,
        "neighbors": guarantee.neighbors.value,
        "certificate": guarantee.certificate.value,
        **_errors(classifier, source.test),
        "attributes": list(source.domain.names),
        "guarantee": guarantee.to_dict(),
        "model": classifier.release_.value.to_dict(),
    }


def _errors(classifier: Classifier, test: Rows | None) -> dict[str, object]:
    """Shares of wrong rows, from public rows or not at all."""
    if test is None:
        return {"test_error": None, "majority_error": None, "test_rows": None}
    largest = int(test.y.value_counts().max())
    return {
        "test_error": float((classifier.predict(test.x) != test.y.to_numpy()).mean()),
        "majority_error": (len(test.y) - largest) / len(test.y),
        "test_rows": len(test.y),
    }


def _readable(classifier: Classifier, report: dict[str, object]) -> str:
    if report["test_rows"] is None:
        errors = (
            "no error is shown: the rows are private, and an error measured on them would be "
            "about\nthem; --public-test FILE measures on rows that are public"
        )
    else:
        errors = (
            f"error on {report['test_rows']:,} public test rows  {report['test_error']:7.2%}\n"
            f"error of the majority class      {report['majority_error']:7.2%}"
        )
    return f"{classifier.release_}\n\n{errors}"
