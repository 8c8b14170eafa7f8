"""What a person sees while a command runs and when it fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


@contextmanager
def spinner(message: str) -> Iterator[None]:
    """A moving line with the time on a terminal; nothing anywhere else."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task(message, total=None)
        yield


@contextmanager
def named_errors(*, spends: bool) -> Iterator[None]:
    """Turn the project's errors, and those of files, into one line and an exit code.

    Args:
        spends: Whether the command spends privacy, which then counts when it is interrupted.
    """
    from oracle_dp.errors import PrivacyError
    from oracles.errors import OracleError

    try:
        yield
    except (PrivacyError, OracleError, OSError) as error:
        typer.echo(f"oracle-dp: {type(error).__name__}: {error}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        spent = (
            " Count the epsilon as spent: when a run is interrupted may depend on the data"
            if spends
            else ""
        )
        typer.echo(f"oracle-dp: interrupted; nothing is released.{spent}", err=True)
        raise typer.Exit(INTERRUPTED) from None
