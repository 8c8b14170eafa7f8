"""Fitting to cells that were counted elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from oracle_dp import (
    Binned,
    Categorical,
    Domain,
    DomainError,
    Ledger,
    OverspendError,
    ParameterError,
    RepeatedFitWarning,
    ZeroOneClassifier,
)
from oracles.zero_one import CellTable, ClassCounts

DOMAIN = Domain([Categorical("sex", ("f", "m")), Binned("age", (30, 60))])


def people(classes: tuple[str, ...], n: int = 300) -> pd.DataFrame:
    generator = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "sex": generator.choice(["f", "m"], n),
            "age": generator.integers(0, 99, n),
            "y": generator.choice(classes, n),
        }
    )


@pytest.mark.parametrize("mechanism", ["exponential", "opdisc", "counts", "top_r", "blockwise"])
@pytest.mark.parametrize("classes", [("no", "yes"), ("b", "c", "a")], ids=len)
def test_the_release_is_that_of_the_rows(mechanism: str, classes: tuple[str, ...]) -> None:
    frame = people(classes)
    one, other = (
        ZeroOneClassifier(domain=DOMAIN, classes=classes, mechanism=mechanism, random_state=4)
        for _ in range(2)
    )
    one.fit(frame[["sex", "age"]], frame["y"])
    other.fit_cells(ClassCounts.from_frame(frame, DOMAIN, Categorical("y", classes)))
    assert one.release_ == other.release_
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.predict(frame).tolist() == other.predict(frame).tolist()
    assert one.feature_names_in_.tolist() == other.feature_names_in_.tolist()
    assert vars(one).keys() == vars(other).keys()


def test_cells_in_any_order_and_in_pieces() -> None:
    frame = people(("no", "yes"))
    table = CellTable.from_frame(frame, DOMAIN, Categorical("y", ("no", "yes")))
    halves = np.concatenate([table.positive // 2, table.positive - table.positive // 2])
    pieces = CellTable(
        np.concatenate([table.codes, table.codes])[::-1],
        np.ones((2 * table.n_cells, 2), int),
        halves[::-1],
        np.concatenate([table.negative, 0 * table.negative])[::-1],
        table.levels,
    )
    one, other = (
        ZeroOneClassifier(domain=DOMAIN, classes=("no", "yes"), random_state=4).fit_cells(cells)
        for cells in (table, pieces)
    )
    assert one.release_ == other.release_


CELLS = CellTable(np.array([[0, 1]]), np.ones((1, 2), int), [3], [1], (2, 3))


@pytest.mark.parametrize(
    ("changed", "cells", "error", "message"),
    [
        ({"domain": None}, CELLS, DomainError, "domain: a NoneType"),
        ({"classes": None}, CELLS, ParameterError, "classes: cells hold no labels"),
        ({"classes": ("a", "b", "c")}, CELLS, DomainError, "cells: of 2 classes, and classes="),
        ({"domain": DOMAIN[["age", "sex"]]}, CELLS, DomainError, "cells: their levels are not"),
        ({}, [[1]], DomainError, "cells: a CellTable or ClassCounts expected, not list"),
        (
            {"domain": Domain([Categorical("x", ["a"])])},
            CellTable.from_matrix([[2]], np.array([True])),
            DomainError,
            "cells: their levels are not",
        ),
        ({"epsilon": -1}, CELLS, ParameterError, "epsilon"),
        ({"epsilon": 3}, CELLS, OverspendError, "people"),
    ],
)
def test_what_is_refused_is_not_charged(
    changed: dict[str, Any], cells: Any, error: type[Exception], message: str
) -> None:
    ledger = Ledger({"people": 1.0})
    parameters = {"domain": DOMAIN, "classes": ("no", "yes"), "ledger": ledger, "dataset": "people"}
    classifier = ZeroOneClassifier(**(parameters | changed))
    with pytest.raises(error, match=message):
        classifier.fit_cells(cells)
    assert ledger.remaining("people") == (1, 0)
    assert not hasattr(classifier, "release_")


def test_copies_are_counted_and_the_ledger_charged() -> None:
    from sklearn.base import clone

    ledger = Ledger({"people": 2.0})
    classifier = ZeroOneClassifier(
        domain=DOMAIN, classes=("no", "yes"), ledger=ledger, dataset="people"
    )
    classifier.fit_cells(CELLS)
    with pytest.warns(RepeatedFitWarning, match="a second copy") as warned:
        clone(classifier).fit_cells(CELLS)
    assert warned[0].filename == __file__
    assert ledger.remaining("people") == (0, 0)
