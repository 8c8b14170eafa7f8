"""``oracle-dp plan problem``: which mechanism for a problem class, tried on made-up records."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle_dp.cli.choices import Relation, split
from oracle_dp.cli.console import named_errors, spinner
from oracle_dp.cli.problem_classes import FROM_FILES, MOST, SIZES, ProblemClass, problem_of

if TYPE_CHECKING:
    from oracle_dp.solve_plan import MechanismEstimate


HEADING = f"{'epsilon':>9}  {'mechanism':<12}  {'excess loss':>11}  {'share':>8}  {'s':>7}"


def row(epsilon: str, line: MechanismEstimate) -> str:
    """An estimate under :data:`HEADING`; a dash where there is no figure."""
    excess = f"{line.excess:.4g}" if math.isfinite(line.excess) else "-"
    share = f"{line.relative:.2%}" if math.isfinite(line.relative) else "-"
    return (
        f"{float(epsilon):>9g}  {line.mechanism:<12}  {excess:>11}  {share:>8}  "
        f"{line.seconds:>7.2f}  {line.why}"
    )


def _listed(texts: Mapping[ProblemClass, str]) -> str:
    return "; ".join(f"{kind.value}: {text}" for kind, text in texts.items())


def plan_problem_command(
    problem: Annotated[ProblemClass, typer.Argument(help="The problem class.")],
    public: Annotated[
        Path | None, typer.Option(help=f"An OR-Library file. {_listed(FROM_FILES)}.")
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated numbers. "
            + _listed({kind: f"{what} ({default})" for kind, (what, default) in SIZES.items()})
            + "."
        ),
    ] = None,
    most: Annotated[
        int | None,
        typer.Option(
            help="What one record can do. "
            + _listed({kind: f"{what} ({default})" for kind, (what, default) in MOST.items()})
            + "."
        ),
    ] = None,
    records: Annotated[int, typer.Option(help="How many records to make up.")] = 1_000,
    epsilons: Annotated[str, typer.Option(help="Comma-separated privacy parameters.")] = "0.1,1,10",
    neighbors: Annotated[
        Relation, typer.Option(help="Which data sets are neighbours.")
    ] = Relation.REPLACE,
    runs: Annotated[int, typer.Option(help="Made-up data sets per line.")] = 5,
    opdisc: Annotated[
        bool, typer.Option("--opdisc", help="Try opdisc too; each of its runs needs a proof.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """Compare mechanisms on made-up records over a public domain. Nothing private is read."""
    with named_errors(spends=False):
        from oracle_dp.noise import positive_rational
        from oracle_dp.solve_plan import plan_problem

        shown = problem_of(problem, public, size, most)
        found: list[dict[str, object]] = []
        if not as_json:
            typer.echo(
                f"{problem.value}, {records:,} made-up records, neighbours: {neighbors.value}, "
                f"range sensitivity {shown.sensitivity(neighbors.value)}\n"
                f"{HEADING}"
            )
        for text in split(epsilons):
            lines = plan_problem(
                shown,
                epsilon=positive_rational("epsilons", text),
                neighbors=neighbors.value,
                n_records=records,
                runs=runs,
                with_opdisc=opdisc,
            )
            with spinner("trying on made-up data"):
                tried = list(lines)
            found += [{"epsilon": float(text), **line.to_dict()} for line in tried]
            if not as_json:
                for line in tried:
                    typer.echo(row(text, line))
        if as_json:
            typer.echo(json.dumps(found))
