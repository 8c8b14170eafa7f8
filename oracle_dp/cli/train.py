"""``oracle-dp train``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle_dp.cli.choices import DataSet, Mechanism, Missing, Relation, integers, split
from oracle_dp.cli.console import named_errors, spinner
from oracle_dp.cli.files import check_writable, write_whole

if TYPE_CHECKING:
    import pandas as pd

    from oracle_dp.estimators.zero_one import ZeroOneClassifier


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
    sparsity: Annotated[
        float, typer.Option(help="exponential: prior exp(-sparsity) per non-zero weight.")
    ] = 0.0,
    max_attributes: Annotated[
        int | None, typer.Option(help="exponential: most attributes with a non-zero weight.")
    ] = None,
    n_best: Annotated[
        int, typer.Option(help="top_r: how many of the best classifiers are told apart.")
    ] = 10,
    sweeps: Annotated[
        int, typer.Option(help="blockwise: how often every attribute is redrawn.")
    ] = 2,
    delta: Annotated[float, typer.Option(help="blockwise: above 0, composition by zCDP.")] = 0.0,
    seconds: Annotated[
        float | None,
        typer.Option(help="Give up after so long; a refusal is not covered by epsilon."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Reproduce a run. The release is then NOT private.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the release to this file, replacing it.")
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option(help="Charge the ledger in this file; needs --dataset.")
    ] = None,
    dataset: Annotated[str | None, typer.Option(help="The ledger's name for the data.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Train a private classifier that minimises classification error itself.

    Errors are measured on Adult's own test split, which is public; nothing is measured on the
    training rows.
    """
    with named_errors():
        from oracle_dp.datasets import load_adult
        from oracle_dp.estimators.zero_one import ZeroOneClassifier
        from oracle_dp.ledger import Ledger
        from oracles import Limits

        if save is not None:
            # Before anything is spent: a release that cannot be written would be lost.
            check_writable(save)
        adult = load_adult(missing=missing.value)
        names = split(attributes)
        classifier = ZeroOneClassifier(
            epsilon,
            mechanism=mechanism.value,
            neighbors=neighbors.value,
            weights=integers(weights),
            domain=adult.domain[names],
            classes=adult.classes,
            limits=None if seconds is None else Limits(seconds=seconds),
            random_state=seed,
            sparsity=sparsity,
            max_attributes=max_attributes,
            n_best=n_best,
            sweeps=sweeps,
            delta=delta,
            ledger=None if ledger is None else Ledger.open(ledger),
            dataset=dataset,
        )
        with spinner(f"training by {mechanism.value} (it runs until it is done)"):
            classifier.fit(adult.X.iloc[adult.train], adult.y.iloc[adult.train])
        report = _report(classifier, names, adult.X.iloc[adult.test], adult.y.iloc[adult.test])
        # Printed first: should the disk be full, what was paid for is on the terminal.
        typer.echo(json.dumps(report) if as_json else _readable(classifier, report))
        if save is not None:
            write_whole(save, classifier.release_.to_json() + "\n")


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
