"""``oracle-dp plan``: what a private run would cost and give, tried on data that are public."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle_dp.cli import options
from oracle_dp.cli.choices import Lift, Mechanism, Missing, PublicData, Relation, integers, split
from oracle_dp.cli.console import named_errors, spinner
from oracle_dp.cli.sources import ADULT_ATTRIBUTES, adult, confirmed

if TYPE_CHECKING:
    from oracle_dp.plan import Estimate
    from oracles.zero_one import CellTable

SYNTHETIC_LEVELS = "16,14,6,5,2"
SYNTHETIC_ROWS = 10_000

plan = typer.Typer(
    help="Try settings on public or synthetic data, never on the private ones.",
    no_args_is_help=True,
)


@plan.callback()
def _plan() -> None:
    # A callback keeps the command's name while there is one.
    pass


@dataclass(frozen=True, eq=False)
class Stage:
    """What a plan is tried on.

    Attributes:
        cells: Public or made-up rows.
        name: For the heading.
        cards: Scoring cards of one training run: one per class, of three classes or more.
    """

    cells: CellTable
    name: str
    cards: int = 1


@plan.command("train")
def plan_train(
    data: Annotated[
        PublicData | None,
        typer.Argument(
            metavar="DATA",
            help=f"What stands in for your rows: {' or '.join(PublicData)}; or use --domain.",
            show_default=False,
        ),
    ] = None,
    domain: options.DomainPath = None,
    epsilons: Annotated[
        str, typer.Option(metavar="LIST", help="Comma-separated privacy parameters.")
    ] = "0.01,0.03,0.1,0.3,1,3,10",
    attributes: options.Attributes = None,
    mechanism: options.MechanismName = Mechanism.EXPONENTIAL,
    neighbors: options.Neighbors = Relation.REPLACE,
    weights: options.Weights = "-1,0,1",
    missing: options.MissingRows = None,
    delta: options.Delta = None,
    lift: options.LiftName = Lift.ONE_HOT,
    noise: options.NoiseName = None,
    rows: Annotated[
        int | None,
        typer.Option(help="Your public number of rows. Default: all of adult, or 10,000."),
    ] = None,
    levels: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="synthetic: comma-separated numbers of levels per attribute. "
            f"Default: {SYNTHETIC_LEVELS}.",
        ),
    ] = None,
    seconds: options.Seconds = None,
    runs: Annotated[int, typer.Option(help="Seeded runs per epsilon.")] = 5,
    as_json: options.AsJson = False,
) -> None:
    """Estimate effort and error by epsilon.

    The runs are seeded and the data public: nothing private is read or spent. With --domain the
    rows are made up, with that file's levels. Effort on other data may differ; the exact
    mechanisms run until they are done.
    """
    with named_errors(spends=False):
        from oracle_dp.plan import estimate
        from oracles import Limits

        stage = _stage(data, domain, attributes, levels, missing, rows)
        wanted = _numbers(epsilons)
        lines = estimate(
            stage.cells,
            [_share(epsilon, stage.cards) for epsilon in wanted],
            mechanism=mechanism.value,
            neighbors=neighbors.value,
            weights=integers(weights),
            options={
                "delta": _share(delta, stage.cards) if delta else 0,
                "lift": lift.value,
                "noise": None if noise is None else noise.value,
            },
            runs=runs,
            limits=None if seconds is None else Limits(seconds=seconds),
        )
        found: list[dict[str, object]] = []
        for epsilon in wanted:
            with spinner("trying on public data"):
                line = replace(next(lines), epsilon=epsilon)
            if not as_json and not found:
                what = f"{mechanism.value} on {stage.name}, weights {weights}"
                typer.echo(_heading(what, stage, neighbors.value, runs))
            found.append(line.to_dict())
            if not as_json:
                typer.echo(_row(line))
        if as_json:
            typer.echo(json.dumps(found))


def _stage(
    data: PublicData | None,
    domain: Path | None,
    attributes: str | None,
    levels: str | None,
    missing: Missing | None,
    rows: int | None,
) -> Stage:
    """What to try on; options that it does not have are refused."""
    from oracle_dp.errors import ParameterError

    if (data is None) == (domain is None):
        raise ParameterError(
            f"data: one of {', '.join(map(repr, map(str, PublicData)))} or --domain FILE.toml "
            "expected, and not both"
        )
    if data is not PublicData.ADULT:
        _only(missing, "missing", PublicData.ADULT)
    if data is PublicData.SYNTHETIC:
        if attributes is not None:
            raise ParameterError("attributes: only 'adult' and a domain file have some")
        shape = SYNTHETIC_LEVELS if levels is None else levels
        return Stage(_synthetic(integers(shape), rows), f"synthetic {shape}")
    _only(levels, "levels", PublicData.SYNTHETIC)
    if domain is None:
        shape = ADULT_ATTRIBUTES if attributes is None else attributes
        return Stage(_adult(shape, missing, rows), f"adult {shape}")
    file = confirmed(domain, target=None, classes=None, attributes=attributes)
    cards = 1 if file.classes is None or len(file.classes) == 2 else len(file.classes)
    name = f"made-up rows for {','.join(file.domain.names)}"
    return Stage(_synthetic(file.domain.levels, rows), name, cards)


def _adult(attributes: str, missing: Missing | None, rows: int | None) -> CellTable:
    from oracle_dp.plan import resample
    from oracles.zero_one import CellTable

    source = adult(attributes, missing)
    codes = source.domain.encode(source.rows.x)
    positive = (source.rows.y == source.classes[1]).to_numpy()
    cells = CellTable.from_codes(codes, positive, source.domain.levels)
    return cells if rows is None else resample(cells, rows, seed=0)


def _synthetic(levels: tuple[int, ...], rows: int | None) -> CellTable:
    from oracle_dp.plan import synthetic

    return synthetic(levels, SYNTHETIC_ROWS if rows is None else rows, seed=0)


def _share(epsilon: float, cards: int) -> float | Fraction:
    """What one card gets: as the estimator shares it out."""
    from oracle_dp.noise import positive_rational

    return epsilon if cards == 1 else positive_rational("epsilon", epsilon) / cards


def _row(line: Estimate) -> str:
    if line.unfinished:
        return f"{line.epsilon:>9g}  not drawn within the limit"
    return (
        f"{line.epsilon:>9g}  {line.seconds:>9.2f}  {line.slowest:>9.2f}"
        f"  {line.error:>8.2%}  {line.spread:>8.2%}"
    )


def _heading(what: str, stage: Stage, neighbors: str, runs: int) -> str:
    several = f"; one of {stage.cards} cards, on its share of epsilon" if stage.cards > 1 else ""
    return (
        f"{what}{several}\n{stage.cells.n_rows:,} public rows, neighbours: {neighbors}, seeded "
        f"runs per line: {runs}; the error is on these rows\n"
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
