"""What a published conversion from epsilon to zero-concentrated privacy really spends.

    python -m experiments.second_order_conversion [--quick | --full]

Ganesh et al. (2023) choose rho for an (epsilon, delta) by ``epsilon^2 / (4 log(1/delta) + 4
epsilon)``; the code that its authors published (tensorflow/privacy, research/dp_newton) solves
``rho + sqrt(4 rho log(sqrt(pi rho) / delta)) = epsilon`` (Bun and Steinke 2016, Lemmas 3.5 and 3.6)
by ``fsolve`` from 0.001 and does not look whether it was solved. All noise being Gaussian, a rho is
``sqrt(2 rho)``-Gaussian differential privacy, whose epsilon at delta is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scipy.optimize import fsolve

from experiments.framework import Cell, Config, Experiment, Record, Section, Table, label, main
from experiments.framework.styles import KNOWN_BAD, REFERENCE, axes, curve, epsilon_axis, legend
from oracle_dp.accounting import gaussian_epsilon, gaussian_mu

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = {"synthetic": 10_000, "a1a": 30_956, "Adult": 45_222}
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
START = 0.001
CAPTION = """Epsilon that a run really spends at delta = n^-2 if its rho comes from the paper's
formula, from the conversion in its authors' public code (transcribed; known bad), or from the exact
curve that this library uses. Below the line, a method adds more noise than it need; above it, it is
not as private as it says. For epsilon up to 0.1 the code's root finder leaves the domain, stops
without a solution (its flag is not 1) and returns its starting point, whatever was asked for. An
earlier version of the code starts at 0.005 and so spends about twice that. It cannot be told
whether the published numbers were made with this code. Neighbours: zero_out; nothing is sampled, so
that there are no seeds."""


def configs(quick: bool) -> Sequence[Config]:
    """Each data set's size with each epsilon; quick or not."""
    return [
        {"data": name, "n": n, "epsilon": epsilon} for name, n in SIZES.items()
        for epsilon in EPSILONS
    ]  # fmt: skip


def run(config: Config) -> list[Record]:
    """The three rho, and the epsilon that each is."""
    epsilon, delta = config["epsilon"], config["n"] ** -2
    published, solved = from_public_code(epsilon, delta)
    rhos = {
        "formula": epsilon**2 / (4 * math.log(1 / delta) + 4 * epsilon),
        "code": published,
        "ours": gaussian_mu(epsilon, delta=delta) ** 2 / 2,
    }
    return [
        {
            "neighbors": "zero_out",
            "epsilon": epsilon,
            "delta": delta,
            "guarantee": "docs/accounting.md: the epsilon of mu-Gaussian differential privacy",
            "solved": solved,
            "rho": rhos,
            "spent": {k: gaussian_epsilon(delta, mu=math.sqrt(2 * r)) for k, r in rhos.items()},
        }
    ]


def from_public_code(epsilon: float, delta: float) -> tuple[float, bool]:
    """KNOWN BAD: rho as the published code computes it, and whether its equation was solved."""

    def excess(rho: Any) -> Any:
        inside = math.sqrt(math.pi * rho[0]) / delta if rho[0] > 0 else math.nan
        return [rho[0] + math.sqrt(4 * rho[0] * math.log(inside)) - epsilon if inside > 1 else
                math.nan]  # fmt: skip

    root, _, flag, _ = fsolve(excess, START, full_output=True)
    return float(root[0]), flag == 1


def page(records: Sequence[Record]) -> Sequence[Section]:
    """One figure with its table."""
    title = "What the public code's conversion of epsilon spends"
    return [Section(title, CAPTION, lambda: _figure(records), _table(records))]


def _figure(records: Sequence[Record]) -> Figure:
    figure, panels = axes(2)
    looks = {
        "code": ("the public code's (known bad)", KNOWN_BAD),
        "formula": ("the paper's formula", curve(1)),
        "ours": ("exact", curve(0)),
    }
    for axis, name in zip(panels, ("synthetic", "Adult"), strict=True):
        own = [r for r in records if r["config"]["data"] == name]
        asked = [r["epsilon"] for r in own]
        for key, (text, look) in looks.items():
            axis.plot(asked, [r["spent"][key] for r in own], label=text, **look)
        axis.plot(asked, asked, label="epsilon asked for", **REFERENCE)
        epsilon_axis(axis, asked)
        axis.set(yscale="log", title=f"{name}, n = {SIZES[name]:,}")
        axis.set(xlabel="epsilon asked for", ylabel="epsilon spent")
    legend(figure, columns=2)
    return figure


def _table(records: Sequence[Record]) -> Table:
    columns = ("n", "epsilon", "rho: code", "formula", "exact", "spent: code", "formula", "exact",
               "code solved it")  # fmt: skip
    rows = []
    for record in records:
        numbers = [
            Cell.of([record], f"{kind}.{key}", how="value", form="{:.3g}")
            for kind in ("rho", "spent")
            for key in ("code", "formula", "ours")
        ]
        head = [label(f"{record['config']['n']:,}"), label(f"{record['epsilon']:g}")]
        rows.append([*head, *numbers, Cell.of([record], "solved", how="value", form="{}")])
    return Table(columns, rows)


EXPERIMENT = Experiment(
    name="second_order_conversion",
    title="A published conversion of epsilon, for small epsilon",
    configs=configs,
    run=run,
    page=page,
)

if __name__ == "__main__":
    main(EXPERIMENT)
