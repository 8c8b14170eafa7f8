"""``oracle-dp domain``."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle_dp.cli import options
from oracle_dp.cli.console import named_errors
from oracle_dp.cli.files import check_writable, write_whole
from oracle_dp.cli.tables import read_table

if TYPE_CHECKING:
    from oracle_dp.draft import Draft

WARNING = (
    "oracle-dp: DRAFTED FROM PRIVATE ROWS: as private as they are. A person must confirm from "
    "public knowledge that every level, edge and class is public before it is used"
)


def domain(
    rows: Annotated[
        Path, typer.Argument(metavar="FILE.csv", help="Private rows; '-' reads stdin.")
    ],
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of the labels.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.toml",
            help="Write the draft to this file, not to the terminal.",
        ),
    ] = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Draft a domain file from a CSV file, for a person to check and confirm.

    The draft is NOT private and NOT public: it is read from the rows. 'train' refuses it until a
    person has checked it against public knowledge and set 'confirmed_public = true' in it.
    """
    with named_errors(spends=False):
        from oracle_dp.draft import Draft

        if output is not None:
            check_writable(output, what="output", force=force)
        draft = Draft.from_rows(read_table(rows), target=target)
        if output is not None:
            write_whole(output, draft.to_toml())
        # On stderr, so that it stands on the terminal where the draft goes into a file.
        typer.echo(WARNING, err=True)
        if as_json:
            typer.echo(json.dumps(draft.to_dict()))
        elif output is None:
            typer.echo(draft.to_toml(), nl=False)
        else:
            typer.echo(_summary(draft, rows, output))


def _summary(draft: Draft, rows: Path, output: Path) -> str:
    lines = [f"{output}: {len(draft.attributes)} attributes, {len(draft.left_out)} left out"]
    lines += [f"  {name!r}: {reason}" for name, reason in draft.left_out]
    command = shlex.join(["oracle-dp", "train", str(rows), "--domain", str(output)])
    if draft.target is None:
        command += " --target COLUMN --classes NEGATIVE,POSITIVE"
    lines.append(
        "check every line of it and set 'confirmed_public = true'; begin with a few attributes, "
        "and\nsee by 'oracle-dp plan train --domain' how long they take. Then: "
        f"{command} --attributes LIST"
    )
    return "\n".join(lines)
