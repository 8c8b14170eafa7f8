"""``oracle-dp doctor``: what of this installation can be relied on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from oracle_dp.cli import options
from oracle_dp.cli.console import named_errors, spinner

if TYPE_CHECKING:
    from oracles.selftest import Check


def doctor(
    backend: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE:CLASS",
            help="Examine this oracle instead of those installed; may be given several times.",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Examine versions, noise, ledger files and every solver found; say what is unsafe.

    Solvers are given tiny integer programs with known optima, some of which released versions
    answered wrongly. The exit code is 1 if something is unsafe that a release can rest on. A wrong
    solver that offers no proof is none: it is named unsafe as a second opinion. With --backend,
    where an oracle is asked about by name, any wrong answer counts.
    """
    with named_errors(spends=False):
        from oracle_dp.doctor import sections
        from oracles.selftest import Severity

        report: dict[str, list[Check]] = {}
        for section in sections(backend or ()):
            with spinner(f"examining {section.title}"):
                found = list(section.checks)
            report.setdefault(section.title, []).extend(found)
            if not as_json:
                typer.echo("\n".join(_lines(section.title, found)))
    typer.echo(json.dumps(_entries(report)) if as_json else _summary(report))
    # No release can rest on a wrong answer without a proof; of an oracle that was asked about by
    # name, it is the answer all the same.
    fatal = (Severity.UNSAFE, Severity.WRONG) if backend else (Severity.UNSAFE,)
    if any(check.severity in fatal for found in report.values() for check in found):
        raise typer.Exit(1)


def _lines(title: str, found: list[Check]) -> list[str]:
    return [title] + [
        f"  {check.severity.value:<8} {check.what}{': ' if check.detail else ''}{check.detail}"
        for check in found
    ]


def _summary(report: dict[str, list[Check]]) -> str:
    from oracles.selftest import Severity

    explained = {
        Severity.UNSAFE: "UNSAFE. Do not release anything that rests on:",
        Severity.WRONG: "UNSAFE AS A SECOND OPINION. These answered wrongly. They offer no proof, "
        "so no release can\nrest on them; do not use them for cross_check or by themselves, and "
        "install another version or\nanother solver:",
    }
    lines = []
    for severity, meaning in explained.items():
        found = [
            f"  {title.removeprefix('backend ')}\n    {check.what}: {check.detail}"
            for title, checks in report.items()
            for check in checks
            if check.severity is severity
        ]
        lines += ["", meaning, *found] if found else []
    severities = {check.severity for checks in report.values() for check in checks}
    if Severity.UNSAFE not in severities:
        rested = " that a release can rest on" if Severity.WRONG in severities else ""
        lines += ["", f"Nothing unsafe{rested} was found."]
    return "\n".join(lines)


def _entries(report: dict[str, list[Check]]) -> list[dict[str, str]]:
    return [
        {
            "section": title,
            "what": check.what,
            "severity": check.severity.name.lower(),
            "detail": check.detail,
        }
        for title, found in report.items()
        for check in found
    ]
