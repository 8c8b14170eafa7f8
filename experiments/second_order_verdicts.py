"""Whether the records agree with what the paper says of its figures: a few sentences for each.

Names and numbers in them are computed from the records that are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from experiments.framework import Cell, Record, quoted
from experiments.second_order_numbers import (
    COVERTYPE,
    NAMES,
    ORACLE,
    PAPER,
    best,
    equals,
    ladder,
    mean,
    sets_of,
    where,
)

Parts = list[str | Cell]
HERE = "experiments.second_order_verdicts"


def rises_at_end(own: Sequence[Record], method: str) -> bool:
    """Whether the least excess is before the grid's last T, so that a longer grid has no better."""
    top = best(own, method)
    if top is None or top["steps"] is None:
        return True
    return bool(top["steps"] != _rungs(top)[-1])


def _rungs(record: Record) -> list[int | None]:
    return ladder(record["config"]["grid"][record["method"]], record["config"]["factor"])


def utility(records: Sequence[Record]) -> Parts:
    """Figure 2: where Hess-clip is better than DP-GD, and where it is not."""
    won = _where(records, lambda own: _ahead(own, "Hess-clip", "DP-GD") > 0)
    lost = _where(records, lambda own: _ahead(own, "Hess-clip", "DP-GD") < 0)
    found = "The paper reports that Hess-clip almost always has the best excess loss. "
    if lost:
        found += f"Here it is worse than DP-GD on {lost}"
        found += f"; it is better on {won}. " if won else ", and better nowhere. "
        found += (
            "Likely why: DP-GD has here the same exact accounting and the best T of a long grid; "
            "at small epsilon noise decides and not the number of steps, and double noise leaves a "
            "quarter of the budget to curvature. Where the T of Hess-clip has a * in the table, "
            "more steps might be better. "
        )
    else:
        found += "So it is here against DP-GD, wherever both ran. "
    return [found]


def _ahead(own: Sequence[Record], ours: str, theirs: str) -> float:
    """Least excess of theirs less that of ours; 0 where one was not run."""
    first, second = best(own, ours), best(own, theirs)
    return 0.0 if first is None or second is None else mean(second) - mean(first)


def _where(records: Sequence[Record], holds: Callable[[Sequence[Record]], bool]) -> str:
    """The data sets with the epsilons at which something holds."""
    told = []
    for data in sets_of(records):
        epsilons = sorted({r["epsilon"] for r in where(records, data=data)})
        at = [e for e in epsilons if holds(where(records, data=data, epsilon=e))]
        if at:
            every = at == epsilons
            told.append(f"{NAMES[data]} ({'at every epsilon' if every else _listed(at)})")
    return "; ".join(told)


def _listed(epsilons: Iterable[float]) -> str:
    return ", ".join(f"{e:g}" for e in epsilons)


def oracles(records: Sequence[Record], cases: Sequence[tuple[str, float]]) -> Parts:
    """Figure 3: the oracle against the best of Hess-clip, a sentence for each panel."""
    found: Parts = [
        "The paper reports that its methods beat DP-GD-Oracle. Least excess here, oracle against "
        "Hess-clip and DP-GD: "
    ]
    for data, epsilon in cases:
        own = where(records, data=data, epsilon=epsilon)
        tops = [best(own, name) for name in (ORACLE, "Hess-clip", "DP-GD")]
        shown = [Cell.of([top], "excess", form="{:.2g}") for top in tops if top is not None]
        if len(shown) == len(tops):
            between: Parts = [shown[0], " against ", shown[1], " and ", shown[2]]
            found += [f"{NAMES[data]}, epsilon {epsilon:g}: ", *between, f", {_told(own)}; "]
    return [*found[:-1], f"{str(found[-1]).removesuffix('; ')}. {WHY_ORACLE}"]


WHY_ORACLE = """Where the oracle is ahead, one number per step does at least what the matrix does,
if it is had for nothing: its step size is chosen on the exact loss. Its grid ends long before that
of DP-GD, since a step of it evaluates all losses many times. """


def _told(own: Sequence[Record]) -> str:
    """What follows from one panel."""
    oracle = best(own, ORACLE)
    assert oracle is not None
    if rises_at_end(own, ORACLE):
        lead = _ahead(own, ORACLE, "Hess-clip")
        return "the oracle is better" if lead > 0 else "the oracle is worse, as in the paper"
    ends = f"ends at {oracle['steps']} steps, still falling"
    if _ahead(own, ORACLE, "Hess-clip") > 0:
        return f"the oracle {ends}, and is ahead of Hess-clip already"
    return f"the oracle {ends}: no conclusion"


def batches(records: Sequence[Record], names: Sequence[str]) -> Parts:
    """Figure 4: batches against DP-SGD, and which curves end before they rise."""
    least: Parts = []
    found = []
    for data in sets_of(where(records, method="DP-SGD")):
        own = where(records, data=data)
        tops = [best(own, name) for name in ("QU-add, batches", "DP-SGD")]
        shown = [Cell.of([top], "excess", form="{:.2g}") for top in tops if top is not None]
        if len(shown) == len(tops):
            least += ["; " if least else "", shown[0], " against ", shown[1], f" on {NAMES[data]}"]
        ends = [
            f"{name} at T = {max(r['steps'] for r in where(own, method=name)):,}"
            for name in names
            if not rises_at_end(own, name)
        ]
        found.append(f"on {NAMES[data]} {', '.join(ends) or 'none'}")
    return [
        "The paper reports that its methods are faster than DP-SGD too. Least excess here of "
        "QU-add with batches against DP-SGD: ",
        *least,
        f". Curves that end at their grid's last T, still falling: {'; '.join(found)}. Where "
        "one of two ends so, nothing follows from their least excesses, only from equal times. ",
    ]


# -- seconds of a step -------------------------------------------------------------------------


def step_factor(records: Sequence[Record], field: str) -> float:
    """Least seconds per step of Hess-clip over those of DP-GD, of one data set's records."""
    each = [
        min(min(r[field]) / r["steps"] for r in where(records, method=name))
        for name in ("Hess-clip", "DP-GD")
    ]
    return float(each[0] / each[1])


def step_cost(records: Sequence[Record]) -> Parts:
    """How many gradient steps' time a Newton step takes, on every data set, at epsilon 1."""
    found: Parts = []
    for data in sets_of(records):
        own = where(records, data=data, epsilon=1.0)
        both = [r for r in own if r["method"] in ("Hess-clip", "DP-GD")]
        if len({r["method"] for r in both}) == 2:
            how = f"{HERE}:step_factor"
            cell = Cell.of(both, "processor_seconds", how=how, form="{:.1f}")
            found += ["; " if found else "", cell, f" on {NAMES[data]}"]
    return found


def race(records: Sequence[Record]) -> Parts:
    """Figure 1: the ratio on the paper's set, of which there is a sample."""
    own = where(records, data="covertype_sample", epsilon=1.0)
    pair = best(own, "DP-GD"), best(own, "Hess-clip")
    if pair[0] is None or pair[1] is None:
        return []
    each = (
        Cell.of(
            both,
            "processor_seconds",
            how="experiments.second_order_numbers:short_ratio",
            form="{:g}",
        )
        for both in ((pair[0], pair[1]), equals(own, "Hess-clip"))
    )
    at_best, equal = each
    return [
        "The paper's set is Covertype, where it reports that Hess-clip is ",
        quoted(COVERTYPE[2], PAPER),
        " times as fast; on our sample of its rows that is ",
        *(
            at_best,
            " at the best T of each, and ",
            equal,
            " at equal excess: faster, and by less. ",
        ),
    ]
