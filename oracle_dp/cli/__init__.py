"""The command ``oracle-dp``. Heavy packages are imported inside the commands that need them."""

from __future__ import annotations

import typer

from oracle_dp.cli.plan import plan
from oracle_dp.cli.plan_problem import plan_problem_command
from oracle_dp.cli.plan_solve import plan_solve
from oracle_dp.cli.predict import predict
from oracle_dp.cli.solve import solve
from oracle_dp.cli.train import train

app = typer.Typer(
    name="oracle-dp",
    help="Differentially private optimisation for problems that are not convex.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(train)
app.command()(predict)
app.command()(solve)
plan.command("problem")(plan_problem_command)
plan.command("solve")(plan_solve)
app.add_typer(plan, name="plan")


def main() -> None:
    """Entry point of the console script."""
    app()
