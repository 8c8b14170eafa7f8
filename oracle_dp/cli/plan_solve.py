"""``oracle-dp plan solve``: which mechanism for a program, tried on a public one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from oracle_dp.cli.choices import Relation, split
from oracle_dp.cli.console import named_errors, spinner
from oracle_dp.cli.plan_problem import HEADING, row


def plan_solve(
    model: Annotated[
        Path, typer.Argument(help="A PUBLIC model of the same shape as the private one.")
    ],
    release: Annotated[
        str, typer.Option(help="Comma-separated names or patterns of the variables to publish.")
    ],
    sensitivity: Annotated[
        float, typer.Option(help="The most by which one record changes a difference of objectives.")
    ],
    epsilons: Annotated[str, typer.Option(help="Comma-separated privacy parameters.")] = "0.1,1,10",
    neighbors: Annotated[
        Relation, typer.Option(help="Which data sets are neighbours.")
    ] = Relation.REPLACE,
    runs: Annotated[int, typer.Option(help="Seeded runs per line.")] = 5,
    seconds: Annotated[float, typer.Option(help="What a run may take.")] = 20.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """Compare mechanisms on a public model. Never name the private one: the plan is not private."""
    with named_errors(spends=False):
        from oracle_dp.noise import positive_rational
        from oracle_dp.plan_program import plan_program

        found: list[dict[str, object]] = []
        if not as_json:
            typer.echo(HEADING)
        for text in split(epsilons):
            lines = plan_program(
                model, epsilon=positive_rational("epsilons", text), sensitivity=sensitivity,
                release=split(release), neighbors=neighbors.value, runs=runs, seconds=seconds,
            )  # fmt: skip
            with spinner("trying on the public model"):
                tried = list(lines)
            found += [{"epsilon": float(text), **line.to_dict()} for line in tried]
            for line in [] if as_json else tried:
                typer.echo(row(text, line))
        if as_json:
            typer.echo(json.dumps(found))
