"""``oracle-dp ledger``: files that say what may be spent on which data, and what was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oracle_dp.cli.choices import Composing, Relation
from oracle_dp.cli.console import named_errors

if TYPE_CHECKING:
    from fractions import Fraction

    from oracle_dp.ledger import Budget, Ledger

ledger = typer.Typer(help="What was spent on which data, in a file.", no_args_is_help=True)

File = Annotated[Path, typer.Argument(help="The ledger's file.")]
Named = Annotated[str | None, typer.Option(help="Only this data set.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@ledger.command()
def create(
    file: File,
    dataset: Annotated[str, typer.Option(help="A name for the data, of your choice.")],
    epsilon: Annotated[str, typer.Option(help="What may be spent in all: 1, 0.1 or 1/3.")],
    delta: Annotated[str, typer.Option(help="Likewise, in [0, 1).")] = "0",
    neighbors: Annotated[
        Relation, typer.Option(help="The relation that every charge must have.")
    ] = Relation.REPLACE,
    composition: Annotated[
        Composing, typer.Option(help="zcdp: add up rhos where that leaves more; needs a delta.")
    ] = Composing.BASIC,
) -> None:
    """Make a ledger with a budget for one data set, or add a data set to one."""
    with named_errors(spends=False):
        from oracle_dp.ledger import Budget, Ledger
        from oracle_dp.noise import rational

        budget = Budget(
            epsilon=rational("epsilon", epsilon),
            delta=rational("delta", delta),
            neighbors=neighbors.value,
            composition=composition.value,
        )
        if file.exists():
            Ledger.open(file).add(dataset, budget)
        else:
            Ledger.create(file, {dataset: budget})
        typer.echo(f"{file}: {dataset!r} may spend epsilon {epsilon}, delta {delta}")


@ledger.command()
def amend(
    file: File,
    dataset: Annotated[str, typer.Option(help="Whose budget.")],
    reason: Annotated[str, typer.Option(help="Why; kept in the ledger. Nothing private.")],
    epsilon: Annotated[str | None, typer.Option(help="The new total: 1, 0.1 or 1/3.")] = None,
    delta: Annotated[str | None, typer.Option(help="Likewise, in [0, 1).")] = None,
) -> None:
    """Raise a budget knowingly, or lower it to no less than is spent; it stays on record."""
    with named_errors(spends=False):
        from oracle_dp.ledger import Ledger
        from oracle_dp.noise import rational

        amended = Ledger.open(file).amend(
            dataset,
            epsilon=None if epsilon is None else rational("epsilon", epsilon),
            delta=None if delta is None else rational("delta", delta),
            reason=reason,
        )
        was, now = amended.before, amended.after
        typer.echo(
            f"{file}: {dataset!r} may spend epsilon {now.epsilon}, delta {now.delta} "
            f"(before: epsilon {was.epsilon}, delta {was.delta})"
        )


@ledger.command()
def show(file: File, dataset: Named = None, as_json: AsJson = False) -> None:
    """Every budget, what was spent of it, and by which charges."""
    _print(file, dataset, as_json, charges=True)


@ledger.command()
def remaining(file: File, dataset: Named = None, as_json: AsJson = False) -> None:
    """What may still be spent."""
    _print(file, dataset, as_json, charges=False)


def _print(file: Path, dataset: str | None, as_json: bool, *, charges: bool) -> None:
    with named_errors(spends=False):
        from oracle_dp.ledger import Ledger

        opened = Ledger.open(file)
        names = list(opened.budgets) if dataset is None else [dataset]
        entries = [_entry(opened, name, charges=charges) for name in names]
        if as_json:
            typer.echo(json.dumps({"ledger": str(file), "datasets": entries}))
        else:
            typer.echo("\n".join(map(_readable, entries)) or f"{file}: no data sets")


def _entry(opened: Ledger, name: str, *, charges: bool) -> dict[str, Any]:
    from oracle_dp.ledger import Composition
    from oracle_dp.privacy import Neighbors

    budget = opened.budget(name)
    entry: dict[str, Any] = {
        "dataset": name,
        "neighbors": Neighbors.parse(budget.neighbors).value,
        "composition": Composition.parse(budget.composition).value,
        "budget": _budget(budget),
        "spent": _figures(*opened.spent(name), up=True),
        "remaining": _figures(*opened.remaining(name), up=False),
    }
    if charges:
        entry["charges"] = [
            {"mechanism": charge.mechanism, **_figures(charge.epsilon, charge.delta, up=True)}
            for charge in opened.charges
            if charge.dataset == name
        ]
        entry["amendments"] = [
            {
                "charges_before": amendment.charges,
                "reason": amendment.reason,
                "before": _budget(amendment.before),
                "after": _budget(amendment.after),
            }
            for amendment in opened.amendments
            if amendment.dataset == name
        ]
    return entry


def _budget(budget: Budget) -> dict[str, Any]:
    from fractions import Fraction

    return _figures(Fraction(budget.epsilon), Fraction(budget.delta), up=False)


def _figures(epsilon: Fraction, delta: Fraction, *, up: bool) -> dict[str, Any]:
    """As numbers, rounded to the safe side, and exactly."""
    from oracle_dp.accounting._numbers import above, below

    rounded = above if up else below
    return {
        # Adding zero turns the -0.0 that rounding leaves into 0.0.
        "epsilon": rounded(epsilon) + 0.0,
        "delta": rounded(delta) + 0.0,
        "exact": {"epsilon": str(epsilon), "delta": str(delta)},
    }


def _readable(entry: dict[str, Any]) -> str:
    lines = [f"{entry['dataset']}  (neighbours: {entry['neighbors']}, {entry['composition']})"]
    for what in ("budget", "spent", "remaining"):
        lines.append(f"  {what:<10} {_line(entry[what])}")
    for charge in entry.get("charges", []):
        lines.append(f"    {charge['mechanism']:<28} {_line(charge)}")
    for amendment in entry.get("amendments", []):
        lines.append(
            f"  amended after {amendment['charges_before']} charges, from "
            f"{_line(amendment['before'])}\n    to {_line(amendment['after'])}: "
            f"{amendment['reason']}"
        )
    return "\n".join(lines)


def _line(figures: dict[str, Any]) -> str:
    return f"epsilon {figures['epsilon']:<12.6g} delta {figures['delta']:.6g}"
