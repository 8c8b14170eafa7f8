"""The commands: one experiment, all of them, and the page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from experiments.framework.experiment import Experiment
from experiments.framework.page import default_path, first_figure, write_page
from experiments.framework.registry import experiment as by_name
from experiments.framework.registry import registered
from experiments.framework.runner import Ran, run

Quick = Annotated[bool, typer.Option("--quick/--full", help="small configs, or all of them")]
Jobs = Annotated[int | None, typer.Option(help="processes; default one per core")]


def main(experiment: Experiment) -> None:
    """The command of one experiment's module: run it, and say where its records are."""
    # Not as `__main__`: other processes import the function by its module's name.
    found = by_name(experiment.name)

    def one(
        quick: Quick = True,
        jobs: Jobs = None,
        records: Annotated[Path | None, typer.Option(help="file of the records")] = None,
    ) -> None:
        _report(run([found], quick=quick, jobs=jobs, records=records))

    one.__doc__ = found.title
    typer.run(one)


def _report(ran: Ran) -> None:
    typer.echo(f"{ran.computed} configs computed, {ran.kept} were there")
    for reason, configs in ran.missing.items():
        typer.echo(f"{configs} configs not run: {reason}")
    if ran.interrupted:
        typer.echo("interrupted: what was done is kept; the same command goes on from here")
        sys.exit(130)


app = typer.Typer(add_completion=False, help="Tables and figures, and the page that shows them.")


@app.command("all")
def run_all(quick: Quick = True, jobs: Jobs = None, output: Path | None = None) -> None:
    """Run every experiment, then write the page."""
    _report(run(registered(), quick=quick, jobs=jobs))
    report(quick, output)


@app.command()
def report(quick: Quick = False, output: Path | None = None) -> None:
    """Write the page from the records that are there."""
    path = output or default_path(quick)
    write_page(registered(), quick=quick, path=path)
    typer.echo(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


@app.command()
def figures(
    names: Annotated[list[str], typer.Argument(help="experiments")],
    output: Annotated[Path, typer.Option(help="folder")] = Path("docs/figures"),
) -> None:
    """Write the first figure of each experiment, from its full records, as NAME.svg."""
    output.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = output / f"{name}.svg"
        path.write_text(first_figure(by_name(name)), encoding="utf-8")
        typer.echo(str(path))
