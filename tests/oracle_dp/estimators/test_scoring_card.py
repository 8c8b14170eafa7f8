"""A card adds up points, compares with 1, and holds only what it shows."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from oracle_dp import (
    Binned,
    Categorical,
    Domain,
    DomainError,
    ParameterError,
    ReleaseFormatError,
    ScoringCard,
)
from oracle_dp.estimators.scoring_card import THRESHOLD

DOMAIN = Domain([Categorical("sex", ("Female", "Male")), Binned("age", (30, 40))])
POINTS = ((0, 1), (-2, 0, 1))
CARD = ScoringCard(DOMAIN, POINTS, ("no", "yes"))


def test_totals_and_predictions_of_every_row() -> None:
    rows = pd.DataFrame({"age": [29, 30, 40] * 2, "sex": ["Female"] * 3 + ["Male"] * 3})
    assert CARD.margins(rows).tolist() == [-2, 0, 1, -1, 1, 2]
    assert CARD.predict(rows).tolist() == ["no", "no", "yes", "no", "yes", "yes"]
    assert THRESHOLD == 1
    assert CARD.predict([["Male", 40]]).tolist() == ["yes"]


def test_no_rows() -> None:
    none = pd.DataFrame({"sex": [], "age": []})
    assert CARD.margins(none).shape == CARD.predict(none).shape == (0,)


def test_large_points_are_added_without_overflow() -> None:
    card = ScoringCard(DOMAIN, ((2**61, 0), (2**61 - 1, 0, 1 - 2**61)), (0, 1))
    assert card.margins([["Female", 1], ["Female", 50]]).tolist() == [2**62 - 1, 1]


@pytest.mark.parametrize(
    ("classes", "kept"),
    [
        (("no", "yes"), ("no", "yes")),
        ((0, 1), (0, 1)),
        ((1, 0), (1, 0)),
        ((False, True), (False, True)),
        ((-1.5, 2.5), (-1.5, 2.5)),
        (("0", 1), ("0", 1)),
        ((True, "True"), (True, "True")),
        ((0, 2**70), (0, 2**70)),
        (["no", "yes"], ("no", "yes")),
        (np.array([0, 1], dtype=np.int8), (0, 1)),
        ((np.str_("no"), np.str_("yes")), ("no", "yes")),
        ((np.False_, np.True_), (False, True)),
        ((np.float64(0.5), np.int64(1)), (0.5, 1)),
    ],
    ids=repr,
)
def test_labels_are_predicted_and_saved_as_they_are(classes: Any, kept: tuple[Any, Any]) -> None:
    card = ScoringCard(DOMAIN, POINTS, classes)
    assert card.classes == kept
    assert [type(label) for label in card.classes] == [type(label) for label in kept]
    predicted = card.predict([["Female", 1], ["Male", 50]]).tolist()
    assert predicted == list(kept)
    assert [isinstance(label, str) for label in predicted] == [isinstance(k, str) for k in kept]
    assert ScoringCard.from_dict(json.loads(json.dumps(card.to_dict()))) == card


def test_numpy_points_become_integers() -> None:
    card = ScoringCard(DOMAIN, (np.array([0, 1]), np.array([-2, 0, 1], np.int8)), ("no", "yes"))
    assert card == CARD
    assert hash(card) == hash(CARD)
    assert {type(point) for block in card.points for point in block} == {int}


@pytest.mark.parametrize(
    ("points", "classes", "message"),
    [
        (((0, 1),), (0, 1), "points: one integer per level"),
        (((0, 1), (0, 1)), (0, 1), "points: one integer per level"),
        ((), (0, 1), "points: one integer per level"),
        (((0, 1), (0, 1, 0.5)), (0, 1), "points: integers"),
        (((0, 1), (0, 1, True)), (0, 1), "points: integers"),
        (((0, 1), (0, 1, None)), (0, 1), "points: integers"),
        ((0, 1), (0, 1), "points: a sequence"),
        (None, (0, 1), "points: a sequence"),
        (((2**62, 0), (0, 0, -1)), (0, 1), "points: a total could exceed"),
        (POINTS, (0,), "classes: a sequence of two"),
        (POINTS, (0, 1, 2), "classes: a sequence of two"),
        (POINTS, None, "classes: a sequence of two"),
        (POINTS, "ny", "classes: a sequence of two"),
        (POINTS, (0, 0), "classes: two distinct"),
        (POINTS, (1, True), "classes: two distinct"),
        (POINTS, (0, 0.0), "classes: two distinct"),
        (POINTS, (0, float("nan")), "classes: a label must not be NaN"),
        (POINTS, (0, np.inf), "classes: a label must not be NaN or infinite"),
        (POINTS, (0, None), "classes: a label must be"),
        (POINTS, (0, pd.NA), "classes: a label must be"),
        (POINTS, (0, b"1"), "classes: a label must be"),
        (POINTS, ([0], [1]), "classes: a label must be"),
    ],
    ids=str,
)
def test_a_malformed_card_is_refused(points: Any, classes: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        ScoringCard(DOMAIN, points, classes)


@pytest.mark.parametrize("key", ["domain", "points", "classes", "threshold"])
def test_a_saved_card_without_a_part_is_refused(key: str) -> None:
    data = CARD.to_dict()
    del data[key]
    with pytest.raises(ReleaseFormatError, match=key):
        ScoringCard.from_dict(data)


def test_text_shows_every_point_that_counts() -> None:
    assert str(CARD).splitlines() == [
        "sex  Male   +1",
        "age  < 30   -2",
        "     >= 40  +1",
        "other levels 0; predict 'yes' if the total is at least 1",
    ]
    zero = ScoringCard(DOMAIN, ((0, 0), (0, 0, 0)), ("no", "yes"))
    assert str(zero) == "predict 'no' always (every level has 0 points)"


def test_text_of_thresholds_and_pairs_names_their_columns() -> None:
    domain = Domain([*DOMAIN, Categorical("region", ("north", "south"))])
    domain = domain.thermometer("age").crossed("region", "sex")
    card = ScoringCard(domain, ((0, 1), (-1, 2), (0, 0, 0, -3)), (0, 1))
    assert str(card).splitlines() == [
        "age           >= 30         +1",
        "              < 40          -1",
        "              >= 40         +2",
        "region & sex  south & Male  -3",
        "other levels 0; predict 1 if the total is at least 1",
    ]
    rows = pd.DataFrame({"sex": ["Male"] * 4, "age": [20, 30, 40, 41], "region": ["north"] * 4})
    assert card.margins(rows).tolist() == [-1, 0, 3, 3]
    assert card.margins(rows.assign(region="south")).tolist() == [-4, -3, 0, 0]
    assert ScoringCard.from_dict(json.loads(json.dumps(card.to_dict()))) == card


def test_a_person_with_the_text_predicts_as_the_card_does() -> None:
    said: dict[tuple[str, str], int] = {}
    name = ""
    for line in str(CARD).splitlines()[:-1]:
        found = re.fullmatch(r"(\w*) +(.+?) +([+-]\d+)", line)
        assert found is not None
        name = found[1] or name
        said[name, found[2]] = int(found[3])
    for code, sex in enumerate(("Female", "Male")):
        for level, age in enumerate((10, 35, 50)):
            labels = ("sex", DOMAIN["sex"].labels[code]), ("age", DOMAIN["age"].labels[level])
            total = sum(said.get(label, 0) for label in labels)
            assert CARD.predict([[sex, age]])[0] == ("yes" if total >= 1 else "no")


@pytest.mark.parametrize(
    "rows",
    [
        pd.DataFrame({"sex": ["CANARY"], "age": [1]}),
        pd.DataFrame({"sex": ["Male"], "age": ["CANARY"]}),
        pd.DataFrame({"sex": ["Male"], "age": [np.inf]}),
        pd.DataFrame({"sex": ["Male"], "age": [np.nan]}),
        pd.DataFrame({"sex": [None], "age": [1]}),
        pd.DataFrame({"sex": ["Male"]}),
        pd.DataFrame([["Male", "Male", 1]], columns=["sex", "sex", "age"]),
        [["Male"]],
        ["Male", 1],
        None,
    ],
    ids=str,
)
def test_rows_that_do_not_fit_are_refused_without_a_value(rows: Any) -> None:
    for ask in (CARD.margins, CARD.predict):
        with pytest.raises(DomainError) as caught:
            ask(rows)
        assert "CANARY" not in str(caught.value)
