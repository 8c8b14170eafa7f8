"""Options that several commands share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from oracle_dp.cli.choices import Lift, Mechanism, Missing, Model, Noise, Relation

OWN_FILE = "Your own CSV file"
TUNING = "Of one mechanism"

# A metavar of one word, because the names of all choices are cut on narrow terminals.
MechanismName = Annotated[
    Mechanism, typer.Option(metavar="NAME", help=f"How privacy is made: {', '.join(Mechanism)}.")
]
ModelName = Annotated[
    Model,
    typer.Option(
        metavar="NAME",
        help=f"{Model.ZERO_ONE}: a scoring card with the fewest errors. {Model.LOGISTIC}: logistic "
        f"regression for two classes, by --method. {Model.MINIMAX}: a logistic classifier for two "
        "classes with the least loss in the worst of --groups.",
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="logistic: newton, preconditioned, damped, cubic, gd, sgd, minibatch, amp, objective, "
        "opsamp, or objective_gaussian (the default).",
        rich_help_panel=TUNING,
    ),
]
Size = Annotated[
    int | None,
    typer.Option(
        help="logistic: a public number of rows to divide by, needed with --neighbors add_remove, "
        "where the real one is private.",
        rich_help_panel=TUNING,
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="minimax: attributes whose combinations of levels are the groups; public.",
        rich_help_panel=TUNING,
    ),
]
Neighbors = Annotated[
    Relation,
    typer.Option(metavar="NAME", help=f"Which data sets are neighbours: {', '.join(Relation)}."),
]
Weights = Annotated[
    str,
    typer.Option(
        metavar="LIST", help="Comma-separated integer values of every weight, 0 among them."
    ),
]
Attributes = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="Comma-separated attributes of the public domain. Default: all; for adult "
        "education, occupation, relationship, race and sex.",
    ),
]
MissingRows = Annotated[
    Missing | None,
    typer.Option(
        metavar="NAME",
        help=f"adult: {Missing.DROP} rows with '?' (the default), or keep '?' as a "
        f"{Missing.CATEGORY}.",
        show_default=False,
    ),
]
Sparsity = Annotated[
    float,
    typer.Option(
        help="exponential: prior exp(-sparsity) per non-zero weight.", rich_help_panel=TUNING
    ),
]
MaxAttributes = Annotated[
    int | None,
    typer.Option(
        help="exponential: most attributes with a non-zero weight.", rich_help_panel=TUNING
    ),
]
NBest = Annotated[
    int,
    typer.Option(
        help="top_r: how many of the best classifiers are told apart.", rich_help_panel=TUNING
    ),
]
Sweeps = Annotated[
    int,
    typer.Option(help="blockwise: how often every attribute is redrawn.", rich_help_panel=TUNING),
]
Delta = Annotated[
    float | None,
    typer.Option(
        help="blockwise: above 0, composition by zCDP. opdisc: of Gaussian noise. Default: 0; "
        "logistic and minimax: n^-2, at most 1e-4; 0 for the method objective.",
        rich_help_panel=TUNING,
    ),
]
LiftName = Annotated[
    Lift,
    typer.Option(
        metavar="NAME",
        help=f"opdisc: what noise is added along: {', '.join(Lift)}.",
        rich_help_panel=TUNING,
    ),
]
NoiseName = Annotated[
    Noise | None,
    typer.Option(
        metavar="NAME",
        help=f"opdisc: {Noise.GEOMETRIC} (also called {Noise.EXPONENTIAL}) for one_hot; for the "
        f"others {Noise.GAMMA_NORM}, or "
        f"{Noise.GAUSSIAN}, which needs --delta.",
        rich_help_panel=TUNING,
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option(help="Give up a run after so long; a refusal is not covered by epsilon."),
]
DomainPath = Annotated[
    Path | None,
    typer.Option(
        "--domain",
        metavar="FILE.toml",
        help="The public schema; draft one with 'oracle-dp domain'.",
        rich_help_panel=OWN_FILE,
    ),
]
LedgerPath = Annotated[
    Path | None,
    typer.Option("--ledger", metavar="FILE", help="Charge the ledger in this file."),
]
DatasetName = Annotated[
    str | None,
    typer.Option("--dataset", metavar="NAME", help="The ledger's name for the data."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
