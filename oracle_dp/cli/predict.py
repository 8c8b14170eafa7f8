"""``oracle-dp predict``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from oracle_dp.cli.console import named_errors
from oracle_dp.cli.files import read_table, with_numbers


def predict(
    model: Annotated[Path, typer.Argument(help="A release written by train --save.")],
    rows: Annotated[Path, typer.Argument(help="A CSV file with a header; '-' reads stdin.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """Predict the class of every row of a CSV file, one per line."""
    with named_errors():
        from oracle_dp.errors import ReleaseFormatError
        from oracle_dp.estimators.one_vs_rest import OneVsRest
        from oracle_dp.estimators.scoring_card import ScoringCard
        from oracle_dp.privacy import Release

        release = Release.from_json(model.read_bytes())
        classifier = release.value
        if not isinstance(classifier, ScoringCard | OneVsRest):
            raise ReleaseFormatError("model: this release holds no classifier")
        if not release.guarantee.is_private:
            typer.echo("oracle-dp: this model is SEEDED: NOT PRIVATE", err=True)
        labels = classifier.predict(with_numbers(read_table(rows), classifier.domain)).tolist()
        lines = [json.dumps(labels)] if as_json else [str(label) for label in labels]
        typer.echo("".join(f"{line}\n" for line in lines), nl=False)
