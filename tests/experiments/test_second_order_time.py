"""The comparison of second-order methods: its configs, its records, its tables."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from experiments import second_order_docs, second_order_page, second_order_time
from experiments.framework.cells import computed
from experiments.framework.page import current
from experiments.framework.records import batch
from experiments.logistic_methods import METHODS, Asked
from experiments.second_order_captions import spent_at_start
from experiments.second_order_figures import LOOKS
from experiments.second_order_numbers import (
    NAMES,
    ORACLE,
    best,
    equals,
    ladder,
    ratio,
    short_ratio,
    where,
)
from experiments.second_order_verdicts import batches, oracles, utility
from oracle_dp.record_losses import LinearModelLoss

SMALL: dict[str, Any] = {
    "data": "synthetic",
    "epsilon": 1.0,
    "neighbors": "zero_out",
    "seeds": [0, 1],
    "tolerance": 1e-9,
    "factor": 2,
    "grid": {
        "DP-GD": [4, 16],
        "Hess-clip": [1, 4],
        "Gaussian objective": None,
        "classical objective, delta 0": None,
        "DP-GD-Oracle (not private)": [1, 2],
    },
}
CLOCK = ("wall_seconds", "processor_seconds")


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    return batch("second_order_time", SMALL, second_order_time.run(SMALL), {"seconds": 1.0})


@pytest.mark.parametrize("quick", [True, False])
def test_configs_are_data(quick: bool) -> None:
    configs = second_order_time.configs(quick)
    for config in configs:
        assert json.loads(json.dumps(config, allow_nan=False)) == config
        assert config["data"] in second_order_time.DATA
        assert config["grid"].keys() <= METHODS.keys()
    assert len({json.dumps(config) for config in configs}) == len(configs)
    if quick:  # No data that would have to be installed.
        assert {config["data"] for config in configs} == {"synthetic"}


def test_every_method_and_data_set_can_be_shown() -> None:
    assert LOOKS.keys() == METHODS.keys() - {"cubic Newton"}
    assert NAMES.keys() == second_order_time.DATA.keys()


def test_the_table_of_the_paper_is_covered() -> None:
    asked = {(c["data"], c["epsilon"]) for c in second_order_time.configs(False)}
    published = second_order_page.PUBLISHED
    assert {(data, e) for data in published for e in second_order_page.EPSILONS} <= asked
    assert published["adult"] == (12.08, 11.84, 22.17, 38.16)


def test_a_run_repeats_but_for_the_clock(records: list[dict[str, Any]]) -> None:
    again = second_order_time.run(SMALL)
    assert len(again) == len(records) == 3 + 3 + 1 + 1 + 2
    for first, second in zip(records, again, strict=True):
        for name in second.keys() - set(CLOCK):
            assert first[name] == second[name]
        assert all(seconds > 0 for name in CLOCK for seconds in second[name])


def test_records_say_what_is_guaranteed(records: list[dict[str, Any]]) -> None:
    for record in records:
        assert (record["neighbors"], record["epsilon"]) == ("zero_out", 1.0)
        assert len(record["loss"]) == len(record["excess"]) == 2
        if "not private" in record["method"]:
            assert record["guarantee"] is None
        else:
            assert "docs/theory/" in record["guarantee"]["theorem"]
            assert "seeded" in record["guarantee"]["contingencies"]
        pure = record["method"] == "classical objective, delta 0"
        assert record["delta"] == (0 if pure else 1e-8)


def test_excess_is_over_the_minimum(records: list[dict[str, Any]]) -> None:
    losses, _ = second_order_time.prepared("synthetic", 1e-9)
    at_zero = math.log(2)
    for record in records:
        assert record["gradient_norm"] <= 1e-9
        assert min(record["excess"]) > 0
        assert record["excess_at_zero"] == pytest.approx(at_zero - record["minimum"])
        for loss, excess in zip(record["loss"], record["excess"], strict=True):
            assert excess == pytest.approx(loss - record["minimum"], abs=1e-11)
    # Against a minimum found by somebody else.
    from scipy.optimize import minimize

    found = minimize(losses.value, np.zeros(100), jac=losses.gradient, method="L-BFGS-B", tol=1e-14)
    assert records[0]["minimum"] == pytest.approx(found.fun, abs=1e-6)
    assert records[0]["minimum"] <= found.fun + 1e-12


def test_every_number_of_the_page_recomputes(records: list[dict[str, Any]]) -> None:
    by_id = {record["id"]: record for record in records}
    traced = 0
    assert "zero_out" in second_order_page.page(records)[0].words
    for section in second_order_page.page(records):
        told = [part for part in section.parts if not isinstance(part, str)]
        for cell in (*told, *(section.table.cells() if section.table else ())):
            if cell.records:
                mine = [by_id[name] for name in cell.records]
                again = computed(mine, cell.field, how=cell.how, scale=cell.scale, form=cell.form)
                assert again == (cell.value, cell.text)
                traced += 1
        if section.figure is not None:
            section.figure().savefig(io.BytesIO(), format="svg")
    assert traced > 20


# -- comparing ---------------------------------------------------------------------------------


def made_up(method: str, steps: int, excess: float, seconds: float) -> dict[str, Any]:
    return {
        "method": method,
        "config": {},
        "steps": steps,
        "excess": [excess, excess],
        "processor_seconds": [2 * seconds, seconds],
    }


RACE = [
    made_up("DP-GD", 10, 0.3, 1.0),
    made_up("DP-GD", 20, 0.2, 2.0),
    made_up("DP-GD", 40, 0.1, 4.0),
    made_up("Hess-clip", 1, 0.25, 0.1),
    made_up("Hess-clip", 2, 0.18, 0.2),
    made_up("Hess-clip", 4, 0.19, 0.4),
]


def test_the_race_ends_at_the_excess_that_both_reach() -> None:
    first, second = equals(RACE, "Hess-clip")  # At 0.18, which DP-GD reaches at T = 40.
    assert (first["steps"], second["steps"]) == (40, 2)
    assert ratio((first, second), "processor_seconds") == pytest.approx(20)
    swapped = [{**r, "method": "Hess-clip" if r["method"] == "DP-GD" else "DP-GD"} for r in RACE]
    first, second = equals(swapped, "Hess-clip")
    assert ratio((first, second), "processor_seconds") == pytest.approx(1 / 20)


def test_the_best_of_a_grid() -> None:
    top = best(RACE, "Hess-clip")
    assert top is not None
    assert top["steps"] == 2
    assert best(RACE, "damped Newton") is None
    assert ladder([3, 50], 4) == [3, 12, 48]
    assert ladder(None, 2) == [None]


# -- methods -----------------------------------------------------------------------------------


def tiny_losses() -> LinearModelLoss:
    draws = np.random.default_rng(0)
    x = draws.normal(size=(400, 3))
    return LinearModelLoss.from_data(x, np.sign(x[:, 0] + draws.normal(size=400)))


@pytest.mark.parametrize("name", METHODS)
def test_methods_keep_to_what_is_asked(name: str) -> None:
    steps = 3 if not name.startswith(("approximate", "Gaussian", "classical")) else None
    asked = Asked(epsilon=1.0, delta=1e-5, neighbors="zero_out", steps=steps, seed=4)
    trained = METHODS[name](tiny_losses(), asked)
    assert trained.w.shape == (3,)
    assert np.array_equal(METHODS[name](tiny_losses(), asked).w, trained.w)
    if "not private" in name:
        assert trained.guarantee is None
        with pytest.raises(ValueError, match="zero_out"):
            METHODS[name](
                tiny_losses(),
                Asked(epsilon=1.0, delta=1e-5, neighbors="replace", steps=3, seed=4),
            )
    else:
        assert trained.guarantee is not None
        assert trained.guarantee.epsilon <= 1.0
        assert trained.guarantee.delta == (0 if "delta 0" in name else 1e-5)
        assert trained.guarantee.neighbors.value == "zero_out"


# -- what is committed -------------------------------------------------------------------------


def test_the_documents_tables_are_those_of_the_records() -> None:
    kept = current(second_order_time.EXPERIMENT, quick=False)
    text = second_order_docs.DOCUMENT.read_text(encoding="utf-8")
    assert second_order_docs.replaced(text, second_order_docs.render(kept)) == text
    assert "| synthetic | 0.1 |" in text


def test_the_documents_ranges_are_those_of_the_records() -> None:
    kept = current(second_order_time.EXPERIMENT, quick=False)

    def span(sets: Iterable[str], names: Sequence[str]) -> str:
        found = [
            short_ratio(equals(own, name), "processor_seconds")
            for data in sets
            for epsilon in (1.0, 10.0)
            for name in names
            if where(own := where(kept, data=data, epsilon=epsilon), method=name)
        ]
        return f"{min(found):g} to {max(found):g}"

    theirs = second_order_page.PUBLISHED
    text = " ".join(second_order_docs.DOCUMENT.read_text(encoding="utf-8").split())
    assert f"from epsilon = 1 on: {span(theirs, ['Hess-clip'])} times" in text
    others = NAMES.keys() - theirs.keys()
    assert f"it is {span(others, ['Hess-clip'])} times as fast" in text
    kept_curvature = span(NAMES, ["QU-add, curvature kept", "preconditioned"])
    assert f"these are {kept_curvature} times as fast" in text
    least, most = spent_at_start()
    assert f"it then spends {least:.2f} to {most:.2f}, whatever" in text


# -- what is said of the paper's claims --------------------------------------------------------


def run_of(method: str, steps: int, excess: float) -> dict[str, Any]:
    grid = {"DP-GD": [1, 8], "Hess-clip": [1, 4], ORACLE: [1, 4], "DP-SGD": [1, 4]}
    config = {"data": "adult", "epsilon": 1.0, "grid": grid, "factor": 2}
    changes = {"id": f"{method}{steps}", "config": config, "epsilon": 1.0}
    return made_up(method, steps, excess, 1.0) | changes


def test_figure_2_says_where_the_paper_is_not_confirmed() -> None:
    better = [run_of("DP-GD", 2, 0.2), run_of("Hess-clip", 2, 0.1)]
    worse = [run_of("DP-GD", 2, 0.1), run_of("Hess-clip", 2, 0.2)]
    assert "worse" not in "".join(map(str, utility(better)))
    assert "worse than DP-GD on Adult (at every epsilon), and better nowhere" in utility(worse)[0]


@pytest.mark.parametrize(
    ("steps", "excess", "told"),
    [
        (2, 0.1, "the oracle is better"),
        (2, 0.3, "the oracle is worse, as in the paper"),
        (4, 0.1, "the oracle ends at 4 steps, still falling, and is ahead of Hess-clip already"),
        (4, 0.3, "the oracle ends at 4 steps, still falling: no conclusion"),
    ],
)
def test_figure_3_concludes_what_its_grid_allows(steps: int, excess: float, told: str) -> None:
    own = [run_of("DP-GD", 2, 0.2), run_of("Hess-clip", 2, 0.2), run_of(ORACLE, steps, excess)]
    said = "".join(
        part if isinstance(part, str) else part.text for part in oracles(own, [("adult", 1.0)])
    )
    assert f"{excess:g} against 0.2 and 0.2, {told}. " in said


def test_figure_4_names_the_curves_that_end_too_early() -> None:
    own = [run_of("DP-GD", 4, 0.1), run_of("DP-GD", 8, 0.2), run_of("DP-SGD", 4, 0.1)]
    assert "on Adult DP-SGD at T = 4. " in batches(own, ("DP-GD", "DP-SGD"))[-1]


def test_ratios_have_two_digits() -> None:
    pair = [run_of("DP-GD", 1, 0.1), run_of("DP-GD", 1, 0.1)]
    pair[0]["processor_seconds"] = [211.85]
    assert short_ratio(pair, "processor_seconds") == 210
