"""A card per class: the largest total wins, ties go to the first, and files come back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from oracle_dp import (
    Binned,
    Categorical,
    Domain,
    DomainError,
    OneVsRest,
    ParameterError,
    ReleaseFormatError,
    ScoringCard,
)

DOMAIN = Domain([Categorical("sex", ("Female", "Male")), Binned("age", (30, 40))])
POINTS = [((0, 1), (-2, 0, 1)), ((0, 0), (0, 0, 0)), ((1, 0), (0, 0, 1))]
CLASSES = ("a", "b", "c")
CARDS = OneVsRest.from_points(DOMAIN, POINTS, CLASSES)
ROWS = pd.DataFrame({"sex": ["Female"] * 3 + ["Male"] * 3, "age": [29, 30, 40] * 2})


def test_the_largest_total_wins_and_a_tie_goes_to_the_first() -> None:
    margins = CARDS.margins(ROWS)
    assert margins.tolist() == [[-2, 0, 1], [0, 0, 1], [1, 0, 2], [-1, 0, 0], [1, 0, 0], [2, 0, 1]]
    assert CARDS.predict(ROWS).tolist() == ["c", "c", "c", "b", "a", "a"]
    for order in ((1, 2, 0), (2, 1, 0)):
        turned = OneVsRest.from_points(
            DOMAIN, [POINTS[i] for i in order], [CLASSES[i] for i in order]
        )
        assert turned.margins(ROWS).tolist() == margins[:, list(order)].tolist()
        assert turned.predict(ROWS).tolist()[3] == CLASSES[next(i for i in order if i > 0)]


def test_no_rows() -> None:
    assert CARDS.margins(ROWS.iloc[:0]).shape == (0, 3)
    assert CARDS.predict(ROWS.iloc[:0]).shape == (0,)


def test_each_card_is_of_its_class_against_the_rest() -> None:
    assert CARDS.classes == CLASSES
    assert CARDS.domain == DOMAIN
    for card, label, points in zip(CARDS.cards, CLASSES, POINTS, strict=True):
        assert card == ScoringCard(DOMAIN, points, (f"not {label}", label))


def test_text_shows_every_point_that_counts() -> None:
    assert str(CARDS).splitlines() == [
        "points for 'a'",
        "  sex  Male   +1",
        "  age  < 30   -2",
        "       >= 40  +1",
        "points for 'b'",
        "  none: every level has 0",
        "points for 'c'",
        "  sex  Female  +1",
        "  age  >= 40   +1",
        "other levels 0; predict the class with the largest total, on a tie the first",
    ]


@pytest.mark.parametrize(
    "classes",
    [
        (0, 1, 2),
        (2, 1, 0),
        ("a", 1, 2.5),
        ("not a", "a", "not not a"),
        (False, True, 2),
        np.array([3, 1, 2], dtype=np.int8),
        ["x", "y", "z"],
    ],
    ids=repr,
)
def test_labels_are_predicted_and_saved_as_they_are(classes: Any) -> None:
    cards = OneVsRest.from_points(DOMAIN, POINTS, classes)
    kept = [label.item() if isinstance(label, np.generic) else label for label in classes]
    for back in (cards, OneVsRest.from_dict(json.loads(json.dumps(cards.to_dict())))):
        assert back == cards
        assert hash(back) == hash(cards)
        assert list(back.classes) == kept
        assert list(map(type, back.classes)) == list(map(type, kept))
        assert back.predict(ROWS).tolist() == [kept[i] for i in (2, 2, 2, 1, 0, 0)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OneVsRest(()), "three or more"),
        (lambda: OneVsRest(CARDS.cards[:2]), "three or more"),
        (lambda: OneVsRest((*CARDS.cards, 1)), "scoring cards"),
        (lambda: OneVsRest(CARDS.cards + CARDS.cards[:1]), "classes: distinct labels"),
        (
            lambda: OneVsRest(
                (*CARDS.cards, ScoringCard(DOMAIN[["sex"]], ((0, 1),), ("not d", "d")))
            ),
            "same domain",
        ),
        (lambda: OneVsRest.from_points(DOMAIN, POINTS[:2], CLASSES), "one card per class"),
        (lambda: OneVsRest.from_points(DOMAIN, POINTS[:2], CLASSES[:2]), "three or more"),
        (lambda: OneVsRest.from_points(DOMAIN, POINTS, "abc"), "classes: a sequence of two"),
        (lambda: OneVsRest.from_points(DOMAIN, POINTS, ("a", "b", None)), "a label must be"),
        (lambda: OneVsRest.from_points(DOMAIN, [((0,),)] * 3, CLASSES), "one integer per level"),
    ],
)
def test_malformed_cards_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()


@pytest.mark.parametrize(
    "change",
    [
        *({key: None} for key in ("domain", "points", "classes", "threshold")),
        {"threshold": 2},
        {"classes": ["a", "b"]},
        {"classes": ["a", "b", "b"]},
        {"points": [[[0, 1], [0, 0, 0.5]]] * 3},
        {"points": [1, 2, 3]},
        {"points": 3},
    ],
    ids=str,
)
def test_damaged_files_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ReleaseFormatError, match="one-vs-rest: "):
        OneVsRest.from_dict(CARDS.to_dict() | change)
    for key in change:
        data = CARDS.to_dict()
        del data[key]
        with pytest.raises(ReleaseFormatError, match=key):
            OneVsRest.from_dict(data)


def test_rows_that_do_not_fit_are_refused_without_a_value() -> None:
    for ask in (CARDS.margins, CARDS.predict):
        with pytest.raises(DomainError, match="column 'sex' has values outside") as caught:
            ask(pd.DataFrame({"sex": ["CANARY"], "age": [1]}))
        assert "CANARY" not in str(caught.value)
