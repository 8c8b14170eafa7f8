"""What stands beside the figures of :mod:`experiments.private_programs_page`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from experiments.framework import Cell, Record
from experiments.private_programs_numbers import (
    EXCESS,
    HALF_WIDTH,
    MECHANISMS,
    SECONDS,
    cases,
    epsilons,
    excess,
    half_width_of_excess,
    of,
    with_losses,
)
from oracles.verdict import MAX_SCALE

Parts = list[str | Cell]
FAMILIES = {
    "location": """Which places to open when the customers' homes are private (p-median). Costs
    are public. """,
    "covering": """Which sites to choose when it is private whom they reach (maximum coverage).
    There is no public table of counts to add noise to, so counts does not apply. """,
    "knapsack": """Which items to stock under one public knapsack row when everybody's ratings are
    private. Here counts adds noise to the totals of all items. """,
}
COMMON = """ draws (a refused run ends them), beyond the least loss that any run on the same records
found, in percent of it, with its 95% interval (Student's t, over the mechanism's randomness);
against epsilon; delta = 0 for all, neighbours: add_remove. The scale is linear below 0.1 %.
"Refused" in the table: a run reached the limit of wall-clock seconds (see the settings; on a busy
machine), and no release was made (a gap in the line); whether that happens depends on the data and
no epsilon covers it. top_r (R = 10) is tried at epsilon 1 with 1,000 records only, and not on
knapsacks. "auto" chooses from public facts and made-up records, and costs no privacy; an exact draw
that does not finish there within a plan's trials counts as too slow. Uniform is the mean of 200
random choices. Processor seconds (median of the runs) are of a shared machine. """


def how_to_read(records: Sequence[Record]) -> Parts:
    """What holds for all families."""
    draws = sorted({len(r["losses"]) for r in records if r.get("outcome") == "released"})
    found: Parts = [f"Mean loss of {' or '.join(map(str, draws))}{COMMON}"]
    return [
        *found,
        f"HiGHS without privacy had {SECONDS:g} s of the clock; where its certificate is not "
        '"solver" its answer may not be optimal, and excess is from the least known. ',
        *_unproven(records),
    ]


def _unproven(records: Sequence[Record]) -> Parts:
    """Where HiGHS finished and its answer is not taken for proven."""
    early = [
        r for r in records
        if r["config"]["mechanism"] == "optimum" and r["certificate"] == "none"
        and (r["seconds"] or math.inf) < SECONDS
    ]  # fmt: skip
    if not early:
        return []
    found: Parts = []
    for record in early:
        config = record["config"]
        found += [
            ", " if found else "",
            f"{config['instance']} with {config['records']:,} records (after ",
            Cell.of([record], "seconds", how="value", form="{:.1f} s)"),
        ]
    return [
        "It finished, but without a certificate, on ",
        *found,
        f": losses there can exceed {MAX_SCALE:,.0f}, and above that a bound in floating point is "
        "not taken to tell neighbouring integers apart. ",
    ]


def family(name: str, records: Sequence[Record]) -> Parts:
    """What the family is, and how good the choices of ``auto`` were."""
    return [FAMILIES[name], *_choices(records)]


def _choices(records: Sequence[Record]) -> Parts:
    """How often ``auto`` took what turned out best, and where it did not."""
    worse: Parts = []
    total = least = alike = 0
    for (instance, size), own in cases(records).items():
        for epsilon in epsilons(own):
            chosen, ranked = of(own, "auto", epsilon), _ranked(own, epsilon)
            taken = chosen and of(own, chosen["chosen"], epsilon)
            if chosen is None or taken is None or not ranked:
                continue
            total += 1
            if _excess(taken, own) == _excess(ranked[0], own):
                least += 1
                alike += any(_overlap(r, taken, own) for r in ranked if r is not taken)
                continue
            start = f"; {instance}, {size:,} records, epsilon {epsilon:g}: {chosen['chosen']} "
            best = f", where {ranked[0]['config']['mechanism']} has "
            end = " (intervals overlap)" if _overlap(taken, ranked[0], own) else ""
            worse += [start, _shown(taken, own), best, _shown(ranked[0], own), end]
    if not total:
        return []
    told = (
        f"Of {total} rows in which something was released, auto took the mechanism of least mean "
        f"excess in {least}; in {alike} of these another mechanism's interval overlaps its own. "
    )
    return [told, *(["Not so in ", *_unled(worse), "."] if worse else [])]


def _unled(parts: Parts) -> Parts:
    """A list without the mark before its first entry."""
    first, *others = parts
    return [str(first).removeprefix("; "), *others]


def _ranked(own: Sequence[Record], epsilon: float) -> list[Record]:
    """Those that released all draws, by their mean excess."""
    found = [of(own, name, epsilon) for name in MECHANISMS]
    done = [r for r in found if r is not None and r["outcome"] == "released"]
    return sorted(done, key=lambda r: _excess(r, own))


def _excess(one: Record, own: Sequence[Record]) -> float:
    if one["outcome"] == "refused":
        return math.inf
    return excess(with_losses(one, own), "losses")


def _overlap(one: Record, other: Record, own: Sequence[Record]) -> bool:
    """Whether the intervals of two means do."""
    apart = abs(_excess(one, own) - _excess(other, own))
    halves = [
        half_width_of_excess(with_losses(r, own), "losses") for r in (one, other) if r["losses"]
    ]
    return bool(apart <= sum(halves))


def _shown(one: Record, own: Sequence[Record]) -> Cell:
    if one["outcome"] == "refused":
        return Cell.of([one], "outcome", how="value", form="was {}")
    return Cell.of(with_losses(one, own), "losses", how=EXCESS, scale=100, form="{:.3g} %")


def spread(one: Record, own: Sequence[Record]) -> list[Cell]:
    """Mean excess and its interval."""
    chosen = with_losses(one, own)
    return [
        Cell.of(chosen, "losses", how=EXCESS, scale=100, form="{:.3g}"),
        Cell.of(chosen, "losses", how=HALF_WIDTH, scale=100, form="± {:.2g} %"),
    ]
