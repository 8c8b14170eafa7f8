"""The commands: one experiment, all of them, and the page."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from experiments.framework.experiment import Experiment
from experiments.framework.page import NothingToShowError, default_path, first_figure, write_page
from experiments.framework.records import RecordsError, path_of
from experiments.framework.registry import NAMES, registered
from experiments.framework.registry import experiment as by_name
from experiments.framework.runner import Ran, run

Quick = Annotated[bool, typer.Option("--quick", help="small configs; the default")]
Full = Annotated[bool, typer.Option("--full", help="all configs: hours, and records under git")]
Jobs = Annotated[int | None, typer.Option(min=1, help="processes; default one per core")]


def main(experiment: Experiment) -> None:
    """The command of one experiment's module: run it, and say where its records are."""
    # Not as `__main__`: other processes import the function by its module's name.
    found = by_name(experiment.name)

    def one(
        quick: Quick = False,
        full: Full = False,
        jobs: Jobs = None,
        records: Annotated[Path | None, typer.Option(help="file of the records")] = None,
    ) -> None:
        small = _small(quick, full)
        _report(_run([found], quick=small, jobs=jobs, records=records))
        typer.echo(str(records or path_of(found.name, small)))

    one.__doc__ = found.title
    typer.run(one)


def _small(quick: bool, full: bool) -> bool:
    """Which of two sizes is asked for."""
    if quick and full:
        raise typer.BadParameter("--quick and --full: give one of them")
    return not full


def _run(
    experiments: Sequence[Experiment], *, quick: bool, jobs: int | None, records: Path | None = None
) -> Ran:
    """Run them; what a person can mend is one line."""
    with _told():
        return run(experiments, quick=quick, jobs=jobs, records=records)


@contextmanager
def _told() -> Iterator[None]:
    """Say in one line what is wrong with files, and end with exit code 1."""
    try:
        yield
    except (OSError, RecordsError, NothingToShowError) as error:
        typer.echo(f"experiments: {error}", err=True)
        raise typer.Exit(1) from None


def _report(ran: Ran) -> None:
    typer.echo(f"{ran.computed} configs computed, {ran.kept} were there")
    for reason, configs in ran.missing.items():
        typer.echo(f"{configs} configs not run: {reason}")
    if ran.interrupted:
        typer.echo("interrupted: what was done is kept; the same command goes on from here")
        sys.exit(130)


app = typer.Typer(add_completion=False, help="Tables and figures, and the page that shows them.")


@app.command("all")
def run_all(
    quick: Quick = False, full: Full = False, jobs: Jobs = None, output: Path | None = None
) -> None:
    """Run every experiment, then write the page."""
    _report(_run(registered(), quick=_small(quick, full), jobs=jobs))
    report(quick, full, output)


@app.command()
def report(quick: Quick = False, full: Full = False, output: Path | None = None) -> None:
    """Write the page from the records that are there."""
    small = _small(quick, full)
    path = output or default_path(small)
    with _told():
        write_page(registered(), quick=small, path=path)
    typer.echo(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


@app.command()
def figures(
    names: Annotated[list[str], typer.Argument(help="experiments")],
    output: Annotated[Path, typer.Option(help="folder")] = Path("docs/figures"),
) -> None:
    """Write the first figure of each experiment, from its full records, as NAME.svg."""
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise typer.BadParameter(f"{', '.join(unknown)}: one of {', '.join(NAMES)} expected")
    with _told():
        output.mkdir(parents=True, exist_ok=True)
        for name in names:
            path = output / f"{name}.svg"
            path.write_text(first_figure(by_name(name)), encoding="utf-8")
            typer.echo(str(path))
