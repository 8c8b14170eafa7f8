"""``oracle-dp predict``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oracle_dp.cli import options
from oracle_dp.cli.console import named_errors
from oracle_dp.cli.files import read_bytes
from oracle_dp.cli.tables import first_line_outside, read_table, with_numbers

if TYPE_CHECKING:
    import pandas as pd

    from oracle_dp.domain import Domain
    from oracle_dp.estimators.linear_model import LinearModel
    from oracle_dp.estimators.minimax_model import MinimaxModel
    from oracle_dp.estimators.one_vs_rest import OneVsRest
    from oracle_dp.estimators.scoring_card import ScoringCard


def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A release written by train --save.")
    ],
    rows: Annotated[
        Path, typer.Argument(metavar="ROWS", help="A CSV file with a header; '-' reads stdin.")
    ],
    as_json: options.AsJson = False,
) -> None:
    """Predict the class of every row of a CSV file, one per line."""
    with named_errors(spends=False):
        from oracle_dp.errors import ReleaseFormatError
        from oracle_dp.estimators.linear_model import LinearModel
        from oracle_dp.estimators.minimax_model import MinimaxModel
        from oracle_dp.estimators.one_vs_rest import OneVsRest
        from oracle_dp.estimators.scoring_card import ScoringCard
        from oracle_dp.privacy import Release

        release = Release.from_json(read_bytes(model, "model"))
        classifier = release.value
        known = isinstance(classifier, ScoringCard | OneVsRest | LinearModel | MinimaxModel)
        if not known or classifier.domain is None:
            raise ReleaseFormatError("model: this release holds no classifier of tables")
        if not release.guarantee.is_private:
            typer.echo("oracle-dp: this model is SEEDED: NOT PRIVATE", err=True)
        labels = _labels(classifier, classifier.domain, read_table(rows))
        lines = [json.dumps(labels)] if as_json else [str(label) for label in labels]
        typer.echo("".join(f"{line}\n" for line in lines), nl=False)


def _labels(
    classifier: ScoringCard | OneVsRest | LinearModel | MinimaxModel,
    domain: Domain,
    frame: pd.DataFrame,
) -> list[Any]:
    """The predictions; a row that does not fit is named by its line, for who asks owns the rows."""
    from oracle_dp.errors import DomainError

    frame = with_numbers(frame, domain, name_line=True)
    problem = ""
    try:
        labels: list[Any] = classifier.predict(frame).tolist()
    except DomainError as error:
        problem = str(error)
    if not problem:
        return labels
    present = all(column in frame.columns for column in domain.columns)
    line = first_line_outside(frame, domain) if present else None
    raise DomainError(problem if line is None else f"line {line}: {problem}")
