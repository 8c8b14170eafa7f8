"""``oracle-dp plan problem``: which mechanism for a problem class, tried on made-up records."""

from __future__ import annotations

import json
import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle_dp.cli.choices import Relation, split
from oracle_dp.cli.console import named_errors, spinner

if TYPE_CHECKING:
    from oracle_dp.problems import PrivateProblem
    from oracle_dp.solve_plan import MechanismEstimate


class ProblemClass(StrEnum):
    """Problem classes whose public part is a file or a few numbers."""

    P_MEDIAN = "p_median"
    COVERAGE = "coverage"


HEADING = f"{'epsilon':>9}  {'mechanism':<12}  {'excess loss':>11}  {'share':>8}  {'s':>7}"


def row(epsilon: str, line: MechanismEstimate) -> str:
    """An estimate under :data:`HEADING`; a dash where there is no figure."""
    excess = f"{line.excess:.4g}" if math.isfinite(line.excess) else "-"
    share = f"{line.relative:.2%}" if math.isfinite(line.relative) else "-"
    return (
        f"{float(epsilon):>9g}  {line.mechanism:<12}  {excess:>11}  {share:>8}  "
        f"{line.seconds:>7.2f}  {line.why}"
    )


def plan_problem_command(
    problem: Annotated[ProblemClass, typer.Argument(help="The problem class.")],
    public: Annotated[
        Path | None, typer.Option(help="p_median: the public network, an OR-Library file.")
    ] = None,
    size: Annotated[
        str, typer.Option(help="coverage: number of sites, and how many of them to choose.")
    ] = "60,8",
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

        shown = _problem(problem, public, size)
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


def _problem(problem: ProblemClass, public: Path | None, size: str) -> PrivateProblem:
    import numpy as np

    from oracle_dp.cli.choices import integers
    from oracle_dp.errors import ParameterError
    from oracle_dp.problems import MaximumCoverage, PMedian
    from oracle_dp.problems.orlib import read_p_median

    if problem is ProblemClass.P_MEDIAN:
        if public is None:
            raise ParameterError("public: name the OR-Library file of the public network")
        read = read_p_median(public)
        return PMedian(read.distances, np.zeros(len(read.distances), np.int64), read.p)
    numbers = integers(size, name="size")
    if len(numbers) != 2 or numbers[0] < 1:
        raise ParameterError(f"size: two positive integers expected, such as 60,8, not {size!r}")
    return MaximumCoverage(np.zeros((0, numbers[0]), np.int64), numbers[1])
