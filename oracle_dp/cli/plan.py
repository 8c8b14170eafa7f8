"""``oracle-dp plan``: what a private run would cost and give, tried on public data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from oracle_dp.cli.choices import Mechanism, Missing, PublicData, Relation, integers, split
from oracle_dp.cli.console import named_errors, spinner

if TYPE_CHECKING:
    from oracle_dp.plan import Estimate
    from oracles.zero_one import CellTable

ADULT_ATTRIBUTES = "education,occupation,relationship,race,sex"
SYNTHETIC_LEVELS = "16,14,6,5,2"

plan = typer.Typer(
    help="Try settings on public or synthetic data, never on the private ones.",
    no_args_is_help=True,
)


@plan.callback()
def _plan() -> None:
    # A callback keeps the command's name while there is one.
    pass


@plan.command("train")
def plan_train(
    data: Annotated[
        PublicData, typer.Argument(help="Public or made-up data that stand in for yours.")
    ],
    epsilons: Annotated[
        str, typer.Option(help="Comma-separated privacy parameters.")
    ] = "0.01,0.03,0.1,0.3,1,3,10",
    attributes: Annotated[
        str | None, typer.Option(help="adult: comma-separated attributes of its domain.")
    ] = None,
    mechanism: Annotated[
        Mechanism, typer.Option(help="How privacy is made.")
    ] = Mechanism.EXPONENTIAL,
    neighbors: Annotated[
        Relation, typer.Option(help="Which data sets are neighbours.")
    ] = Relation.REPLACE,
    weights: Annotated[
        str, typer.Option(help="Comma-separated integer values of every weight, 0 among them.")
    ] = "-1,0,1",
    missing: Annotated[
        Missing, typer.Option(help="adult: drop rows with '?', or keep '?' as a category.")
    ] = Missing.DROP,
    rows: Annotated[
        int | None,
        typer.Option(help="Your public number of rows: the table is resampled to it."),
    ] = None,
    levels: Annotated[
        str | None,
        typer.Option(help="synthetic: comma-separated numbers of levels per attribute."),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Give up a run after so long, and say so.")
    ] = None,
    runs: Annotated[int, typer.Option(help="Seeded runs per epsilon.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """Estimate effort and error by epsilon.

    The runs are seeded and the data public: nothing private is spent. Effort on other data may
    differ; the exact mechanisms run until they are done.
    """
    with named_errors():
        from oracle_dp.plan import estimate
        from oracles import Limits

        if data is PublicData.ADULT:
            _only(levels, "levels", PublicData.SYNTHETIC)
            shape = attributes or ADULT_ATTRIBUTES
            cells = _adult(split(shape), "drop" if missing is Missing.DROP else "category", rows)
        else:
            _only(attributes, "attributes", PublicData.ADULT)
            shape = levels or SYNTHETIC_LEVELS
            cells = _synthetic(integers(shape), rows)
        lines = estimate(
            cells,
            _numbers(epsilons),
            mechanism=mechanism.value,
            neighbors=neighbors.value,
            weights=integers(weights),
            runs=runs,
            limits=None if seconds is None else Limits(seconds=seconds),
        )
        found: list[dict[str, object]] = []
        while True:
            with spinner("trying on public data"):
                line = next(lines, None)
            if line is None:
                break
            if not as_json and not found:
                what = f"{mechanism.value} on {data.value} {shape}, weights {weights}"
                typer.echo(_heading(what, cells.n_rows, neighbors.value, runs))
            found.append(line.to_dict())
            if not as_json:
                typer.echo(_row(line))
        if as_json:
            typer.echo(json.dumps(found))


def _adult(
    attributes: list[str], missing: Literal["drop", "category"], rows: int | None
) -> CellTable:
    from oracle_dp.datasets import load_adult
    from oracle_dp.plan import resample
    from oracles.zero_one import CellTable

    adult = load_adult(missing=missing)
    domain = adult.domain[attributes]
    codes = domain.encode(adult.X.iloc[adult.train])
    positive = (adult.y.iloc[adult.train] == adult.classes[1]).to_numpy()
    cells = CellTable.from_codes(codes, positive, domain.levels)
    return cells if rows is None else resample(cells, rows, seed=0)


def _synthetic(levels: tuple[int, ...], rows: int | None) -> CellTable:
    from oracle_dp.plan import synthetic

    return synthetic(levels, 10_000 if rows is None else rows, seed=0)


def _row(line: Estimate) -> str:
    if line.unfinished:
        return f"{line.epsilon:>9g}  not drawn within the limit"
    return (
        f"{line.epsilon:>9g}  {line.seconds:>9.2f}  {line.slowest:>9.2f}"
        f"  {line.error:>8.2%}  {line.spread:>8.2%}"
    )


def _heading(what: str, rows: int, neighbors: str, runs: int) -> str:
    return (
        f"{what}\n{rows:,} public rows, neighbours: {neighbors}, seeded runs per line: {runs}; "
        "the error is on these rows\n"
        f"{'epsilon':>9}  {'median s':>9}  {'slowest s':>9}  {'error':>8}  {'spread':>8}"
    )


def _only(given: str | None, option: str, data: PublicData) -> None:
    from oracle_dp.errors import ParameterError

    if given is not None:
        raise ParameterError(f"{option}: only {data.value!r} has it")


def _numbers(text: str) -> list[float]:
    from oracle_dp.errors import ParameterError

    try:
        return [float(part) for part in split(text)]
    except ValueError:
        raise ParameterError(
            f"epsilons: comma-separated numbers expected, such as 0.1,1,10, not {text!r}"
        ) from None
