"""``oracle-dp solve``: a private answer to an integer program in a file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from oracle_dp.cli import options
from oracle_dp.cli.choices import Relation, split
from oracle_dp.cli.console import named_errors, spinner
from oracle_dp.cli.files import check_writable, write_whole


class SolveMechanism(StrEnum):
    """Mechanisms for a program in a file."""

    AUTO = "auto"
    OPDISC = "opdisc"
    EXPONENTIAL = "exponential"
    TOP_R = "top_r"


class Solver(StrEnum):
    """Solvers that prove minima."""

    HIGHS = "highs"
    CP_SAT = "cp_sat"
    SCIP = "scip"


PROMISE = (
    "Only the objective may depend on private data: you promise that constraints, bounds, names "
    "and --release are public."
)


def solve(
    model: Annotated[Path, typer.Argument(help="A file .mps, .lp, .mps.gz or .lp.gz.")],
    release: Annotated[
        str, typer.Option(help="Comma-separated names or patterns of the variables to publish.")
    ],
    sensitivity: Annotated[
        float,
        typer.Option(
            help="The most by which one record changes a difference of two objectives, positive."
        ),
    ],
    epsilon: Annotated[float, typer.Option(help="Privacy parameter, positive.")] = 1.0,
    mechanism: Annotated[
        SolveMechanism, typer.Option(help="How privacy is made; auto looks at constraints only.")
    ] = SolveMechanism.AUTO,
    neighbors: Annotated[
        Relation, typer.Option(help="Which data sets are neighbours.")
    ] = Relation.REPLACE,
    solver: Annotated[Solver, typer.Option(help="What proves minima.")] = Solver.HIGHS,
    cross_check: Annotated[
        Solver | None, typer.Option(help="A second solver for every minimum, which must agree.")
    ] = None,
    gap: Annotated[
        float | None,
        typer.Option(
            help="opdisc, for objectives or recourse that are not integer: how far from the "
            "minimum the answer may provably be."
        ),
    ] = None,
    n_best: Annotated[
        int, typer.Option(help="top_r: how many of the best choices are told apart.")
    ] = 10,
    seconds: Annotated[
        float | None,
        typer.Option(help="Give up after so long; a refusal is not covered by epsilon."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Reproduce a run. The release is then NOT private.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the release to this file.")
    ] = None,
    force: options.Force = False,
    ledger: options.LedgerPath = None,
    dataset: options.DatasetName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Publish a good choice of some integer variables of a model.

    Only the objective may depend on private data: you promise that constraints, bounds, names and
    --release are public. Of a maximisation the loss is minus the objective. The objective's value
    is never printed: it depends on the data.
    """
    with named_errors(spends=True):
        from oracle_dp.ledger import Ledger
        from oracle_dp.solve import solve_private
        from oracles import Limits

        if save is not None:
            # Before anything is spent: a release that cannot be written would be lost.
            check_writable(save, what="save", force=force)
        with spinner(f"solving by {mechanism.value} (it runs until it is done)"):
            found = solve_private(
                model,
                epsilon=epsilon,
                sensitivity=sensitivity,
                release=split(release),
                neighbors=neighbors.value,
                mechanism=mechanism.value,
                gap=gap,
                limits=None if seconds is None else Limits(seconds=seconds),
                ledger=None if ledger is None else Ledger.open(ledger),
                dataset=dataset,
                cross_check=None if cross_check is None else cross_check.value,
                random_state=seed,
                oracle=solver.value,
                n_best=n_best,
            )
        # Printed first: should the disk be full, what was paid for is on the terminal.
        if as_json:
            typer.echo(found.to_json(indent=None))
        else:
            lines = "\n".join(f"{name:<24} {value}" for name, value in found.value.items())
            typer.echo(f"{lines}\n\n{found.guarantee}\n\n{PROMISE}")
        if save is not None:
            write_whole(save, found.to_json() + "\n")
