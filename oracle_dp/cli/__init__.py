"""The command ``oracle-dp``. Heavy packages are imported inside the commands that need them."""

from __future__ import annotations

from typing import Annotated

import typer

from oracle_dp.cli.audit import audit
from oracle_dp.cli.doctor import doctor
from oracle_dp.cli.domain import domain
from oracle_dp.cli.ledger import ledger
from oracle_dp.cli.plan import plan
from oracle_dp.cli.plan_problem import plan_problem_command
from oracle_dp.cli.plan_solve import plan_solve
from oracle_dp.cli.predict import predict
from oracle_dp.cli.solve import solve
from oracle_dp.cli.train import train

app = typer.Typer(
    name="oracle-dp",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # Paragraphs are wrapped to the terminal, not as they stand here.
)


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"oracle-dp {version('oracle-dp')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Differentially private optimisation for problems that are not convex."""


app.command()(train)
app.command()(predict)
app.command()(domain)
app.command()(solve)
plan.command("problem")(plan_problem_command)
plan.command("solve")(plan_solve)
app.command()(audit)
app.command()(doctor)
app.add_typer(plan, name="plan")
app.add_typer(ledger, name="ledger")


def main() -> None:
    """Entry point of the console script."""
    app(prog_name="oracle-dp")
