"""``oracle-dp audit``: what can be measured of every mechanism's epsilon."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oracle_dp.cli import options
from oracle_dp.cli.console import named_errors

if TYPE_CHECKING:
    from oracle_dp.audit.standing import Audit, Finding


def audit(
    only: Annotated[
        str, typer.Option(metavar="TEXT", help="Only audits with this text in their name.")
    ] = "",
    seed: Annotated[int, typer.Option(help="Of the draws: the same seed repeats them.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores. Changes no figure.")] = 1,
    as_json: options.AsJson = False,
) -> None:
    """Measure lower bounds on epsilon, on toy data; nothing is spent.

    For every mechanism a bound above its claim would refute the claim. Some calibrations are known
    to break theirs, and have to be found out. A bound below a claim proves nothing: the proofs do.
    """
    with named_errors(spends=False):
        from oracle_dp.audit.standing import run, standing_set

        audits = standing_set(only)
        with _progress(audits) as followed:
            found = list(followed(run(audits, seed=seed, n_jobs=jobs)))
        typer.echo(json.dumps([_entry(one) for one in found]) if as_json else _table(found))
    if not all(one.as_expected for one in found):
        raise typer.Exit(1)


@contextmanager
def _progress(audits: list[Audit]) -> Iterator[Any]:
    """A bar on a terminal; nothing anywhere else."""
    if not sys.stderr.isatty():
        yield lambda findings: findings
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(audits[0].name, total=len(audits))

        def followed(findings: Iterable[Finding]) -> Iterator[Finding]:
            for one, following in zip(findings, [*audits[1:], None], strict=True):
                progress.update(task, advance=1, description=following.name if following else "")
                yield one

        yield followed


def _entry(finding: Finding) -> dict[str, Any]:
    audit, measured = finding.audit, finding.measured
    if math.isnan(measured):  # JSON has none; what is no number is never as expected.
        measured = 0.0 if audit.expected_violation else math.inf
    return {
        "mechanism": audit.name,
        "claimed": audit.claimed,
        "measured": min(sys.float_info.max, measured),
        "expected_violation": audit.expected_violation,
        "delta": audit.delta,
        "method": audit.method.value,
        "verdict": finding.verdict,
    }


def _table(found: list[Finding]) -> str:
    width = max(len(one.audit.name) for one in found)
    head = f"{'mechanism':<{width}}  claimed  delta  measured  method   verdict"
    lines = [head, "-" * len(head)]
    lines += [
        f"{one.audit.name:<{width}}  {one.audit.claimed:7.3f}  {one.audit.delta:5.3g}  "
        f"{_floor(one.measured):8.3f}  {one.audit.method.value:<7}  {one.verdict}"
        for one in found
    ]
    unexpected = sum(not one.as_expected for one in found)
    lines.append(
        f"\n{len(found)} audits, {unexpected} not as expected. Measured: a lower bound on epsilon, "
        "so that a\nclaim below it is false; a claim above it is not thereby proven."
    )
    return "\n".join(lines)


def _floor(measured: float) -> float:
    """Rounded down to what is printed, or a claim that holds would look violated."""
    return math.floor(measured * 1000) / 1000 if math.isfinite(measured) else measured
