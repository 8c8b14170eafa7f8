"""Releases survive being saved, and nothing but a release is ever read."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle_dp import (
    Binned,
    Categorical,
    Domain,
    Guarantee,
    Neighbors,
    ParameterError,
    Release,
    ReleaseFormatError,
    ScoringCard,
)
from oracle_dp.privacy import RUNNING_TIME, Contingency, ContingencyKind
from oracles import Certificate

GUARANTEE = Guarantee(
    mechanism="opdisc",
    theorem="a theorem (a place)",
    neighbors=Neighbors.ADD_REMOVE,
    epsilon=0.1,
    delta=1e-6,
    rho=0.005,
    sensitivity=2.0,
    sensitivity_source="proved",
    certificate=Certificate.SOLVER,
    contingencies=(RUNNING_TIME, Contingency(ContingencyKind.ORACLE_BOUND, "a bound ≤ 1")),
)
DOMAIN = Domain([Categorical("sex", ("Female", "Male")), Binned("age", (30.0, 40.5))])
CARD = ScoringCard(DOMAIN, ((0, 1), (-1, 0, 2)), ("no", "yes"))
CARD_TEXT = Release(CARD, GUARANTEE).to_json()
PLAIN_TEXT = Release({"x": [1, 2], "y": (True, None)}, GUARANTEE).to_json()


# -- there and back ----------------------------------------------------------------------------


@pytest.mark.parametrize("neighbors", list(Neighbors))
@pytest.mark.parametrize("certificate", list(Certificate))
@pytest.mark.parametrize("rho", [None, 0.0, 0.1])
def test_guarantee_comes_back(
    neighbors: Neighbors, certificate: Certificate, rho: float | None
) -> None:
    every = tuple(Contingency(kind, f"because of {kind.name}") for kind in ContingencyKind)
    there = replace(
        GUARANTEE, neighbors=neighbors, certificate=certificate, rho=rho, contingencies=every
    )
    back = Release.from_json(Release(1, there).to_json()).guarantee
    for field in fields(Guarantee):
        assert getattr(back, field.name) == getattr(there, field.name), field.name
    assert set(there.to_dict()) == {field.name for field in fields(Guarantee)}


figures = st.floats(min_value=0, allow_nan=False, allow_infinity=False)


@given(figures, st.floats(min_value=0, max_value=1, exclude_max=True), figures, st.text())
def test_figures_come_back_to_the_last_bit(
    epsilon: float, delta: float, rho: float, source: str
) -> None:
    there = replace(GUARANTEE, epsilon=epsilon, delta=delta, rho=rho, sensitivity_source=source)
    assert Release.from_json(Release(0, there).to_json()).guarantee == there


@pytest.mark.parametrize(
    ("value", "back"),
    [
        (3, 3),
        (2**70, 2**70),
        (-0.5, -0.5),
        (None, None),
        (True, True),
        ("", ""),
        ("ä\n\ud800", "ä\n\ud800"),
        ((), ()),
        ([1, [2, "x"]], (1, (2, "x"))),
        (np.int64(7), 7),
        (np.bool_(True), True),
        (np.arange(3), (0, 1, 2)),
        (np.array([[1, 2], [3, 4]]), ((1, 2), (3, 4))),
        (np.array(5), 5),
        (np.array(["a", "b"]), ("a", "b")),
        (np.array([np.int64(1), "b"], dtype=object), (1, "b")),
        ((np.array([1]), np.array([2, 3])), ((1,), (2, 3))),
        ({"a": np.array([1]), "b": {"c": [np.int64(2)]}}, {"a": (1,), "b": {"c": (2,)}}),
        ({1: "one"}, {"1": "one"}),
    ],
    ids=repr,
)
def test_plain_values_come_back(value: object, back: object) -> None:
    release = Release.from_json(Release(value, GUARANTEE).to_json())
    assert release.value == back
    assert type(release.value) is type(back)
    # What has come back once is a fixed point.
    assert Release.from_json(release.to_json()) == release


@pytest.mark.parametrize("indent", [None, 2])
def test_scoring_card_comes_back(indent: int | None) -> None:
    release = Release(CARD, GUARANTEE)
    text = release.to_json(indent=indent)
    assert Release.from_json(text) == Release.from_json(text.encode()) == release


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        [1, math.inf],
        {1, 2},
        b"bytes",
        1j,
        np.array([1j]),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        object(),
        [CARD],
        {"card": CARD},
        {1: "a", "1": "b"},
    ],
    ids=lambda value: repr(value).split(" at 0x")[0],
)
def test_a_value_that_would_not_come_back_is_not_written(value: object) -> None:
    with pytest.raises(ParameterError, match=r"^value: "):
        Release(value, GUARANTEE).to_json()


# -- what is not a release ---------------------------------------------------------------------


def changed(**changes: Any) -> str:
    return json.dumps({**json.loads(CARD_TEXT), **changes})


def without(key: str) -> str:
    data = json.loads(CARD_TEXT)
    del data[key]
    return json.dumps(data)


def in_guarantee(**changes: Any) -> str:
    return changed(guarantee={**GUARANTEE.to_dict(), **changes})


def in_card(**changes: Any) -> str:
    return changed(value={**CARD.to_dict(), **changes})


DAMAGED: dict[str, str | bytes] = {
    "empty": "",
    "cut": CARD_TEXT[: len(CARD_TEXT) // 2],
    "followed": CARD_TEXT + "}",
    "not text": b"\xff\xfe\x00oracle",
    "another encoding": CARD_TEXT.encode("utf-16")[1:],
    "null": "null",
    "number": "1",
    "string": '"oracle-dp/release"',
    "list": "[]",
    "foreign": '{"name": "x", "version": 1}',
    "long number": '{"schema": ' + "1" * 5000 + "}",
    "deep": "[" * 100_000,
    "deep value": changed(kind="plain", value=0).replace(
        '"value": 0', '"value": ' + "[" * 900 + "]" * 900
    ),
    "NaN": changed(kind="plain", value=math.nan),
    "newer": changed(version=2),
    "version true": changed(version=True),
    "version list": changed(version=[1]),
    "no version": without("version"),
    "no value": without("value"),
    "no guarantee": without("guarantee"),
    "no kind": without("kind"),
    "other schema": changed(schema="oracle-dp/ledger"),
    "other kind": changed(kind="pickle"),
    "kind list": changed(kind=["scoring_card"]),
    "kind object": changed(kind={}),
    "guarantee list": changed(guarantee=[]),
    "guarantee null": changed(guarantee=None),
    "guarantee text": changed(guarantee="private"),
    "epsilon text": in_guarantee(epsilon="1"),
    "epsilon true": in_guarantee(epsilon=True),
    "epsilon null": in_guarantee(epsilon=None),
    "epsilon negative": in_guarantee(epsilon=-1),
    "epsilon infinite": in_guarantee(epsilon=0.25).replace("0.25", "1e999"),
    "epsilon beyond floats": in_guarantee(epsilon=10**400),
    "delta one": in_guarantee(delta=1),
    "rho negative": in_guarantee(rho=-0.1),
    "sensitivity NaN": in_guarantee(sensitivity=math.nan),
    "mechanism number": in_guarantee(mechanism=1),
    "theorem null": in_guarantee(theorem=None),
    "source list": in_guarantee(sensitivity_source=[]),
    "relation unknown": in_guarantee(neighbors="friends"),
    "relation list": in_guarantee(neighbors=[]),
    "certificate unknown": in_guarantee(certificate="surely"),
    "contingencies text": in_guarantee(contingencies=""),
    "contingencies object": in_guarantee(contingencies={}),
    "contingency text": in_guarantee(contingencies=["seeded"]),
    "contingency unknown": in_guarantee(contingencies=[{"kind": "luck", "detail": ""}]),
    "contingency without detail": in_guarantee(contingencies=[{"kind": "seeded"}]),
    "card list": changed(value=[]),
    "card null": changed(value=None),
    "points short": in_card(points=[[0, 1]]),
    "points float": in_card(points=[[0, 1.0], [0, 0, 0]]),
    "points true": in_card(points=[[0, True], [0, 0, 0]]),
    "points null": in_card(points=None),
    "points text": in_card(points=["01", "012"]),
    "points beyond 64 bits": in_card(points=[[0, 2**63], [0, 0, 0]]),
    "threshold": in_card(threshold=0),
    "one class": in_card(classes=["no"]),
    "classes text": in_card(classes="ny"),
    "classes alike": in_card(classes=[1, True]),
    "class null": in_card(classes=[None, "yes"]),
    "class list": in_card(classes=[[], "yes"]),
    "domain empty": in_card(domain={}),
    "domain edges": in_card(domain={"attributes": [{"name": "age", "edges": [2, 1]}]}),
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
def test_what_is_no_release_is_refused(text: str | bytes) -> None:
    with pytest.raises(ReleaseFormatError):
        Release.from_json(text)


def test_the_error_says_what_to_do() -> None:
    with pytest.raises(ReleaseFormatError, match=r"cut off; save it again"):
        Release.from_json(CARD_TEXT[:-3])
    with pytest.raises(ReleaseFormatError, match=r"version 1 expected, found 2; read it with"):
        Release.from_json(changed(version=2))
    with pytest.raises(ReleaseFormatError, match=r"not a saved release of oracle-dp"):
        Release.from_json("{}")


def usable(release: Release[Any]) -> None:
    """Everything that a reader of a release may do works."""
    guarantee = release.guarantee
    assert 0 <= guarantee.epsilon < math.inf
    assert 0 <= guarantee.delta < 1
    assert isinstance(guarantee.neighbors, Neighbors)
    assert isinstance(guarantee.certificate, Certificate)
    assert str(release)
    assert Release.from_json(release.to_json()) == release
    if isinstance(release.value, ScoringCard):
        card = release.value
        row = [
            a.categories[0] if isinstance(a, Categorical) else a.edges[0]
            for a in card.domain.attributes
        ]
        assert card.predict([row])[0] in card.classes


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path to every entry of nested JSON."""
    keys = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    return [path] * bool(path) + [p for key in keys for p in places(data[key], (*path, key))]


@st.composite
def edited_values(draw: st.DrawFn) -> str:
    """A release with an entry somewhere replaced or removed, still JSON."""
    data = json.loads(draw(st.sampled_from([CARD_TEXT, PLAIN_TEXT])))
    for _ in range(draw(st.integers(1, 2))):
        *above, last = draw(st.sampled_from(places(data)))
        parent = data
        for key in above:
            parent = parent[key]
        if draw(st.booleans()):
            parent[last] = draw(junk)
        else:
            del parent[last]
    return json.dumps(data)


@st.composite
def edited_text(draw: st.DrawFn) -> str:
    """A release with some characters cut out or put in."""
    text = draw(st.sampled_from([CARD_TEXT, PLAIN_TEXT]))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        stop = draw(st.integers(start, min(len(text), start + 8)))
        put = draw(st.text(alphabet='{}[]",:0123456789.eE-+truefalsn\\ \x00', max_size=4))
        text = text[:start] + put + text[stop:]
    return text


@given(edited_values() | edited_text() | st.text())
def test_only_a_release_or_the_named_error_comes_out(text: str) -> None:
    try:
        release = Release.from_json(text)
    except ReleaseFormatError:
        return
    usable(release)


@given(st.binary())
def test_bytes_are_a_release_or_refused(raw: bytes) -> None:
    with pytest.raises(ReleaseFormatError):
        Release.from_json(raw)


# -- what is said ------------------------------------------------------------------------------


def test_neighbors_parse() -> None:
    for member in Neighbors:
        assert Neighbors.parse(member.value) is Neighbors.parse(member) is member
    unusable: list[Any] = ["friends", "REPLACE", "", None, 1, []]
    for given_ in unusable:
        with pytest.raises(ParameterError, match="'replace', 'add_remove', 'zero_out'"):
            Neighbors.parse(given_)


def test_only_seeded_noise_is_not_private() -> None:
    for kind in ContingencyKind:
        guarantee = replace(GUARANTEE, contingencies=(Contingency(kind, "so"),))
        assert guarantee.is_private is (kind is not ContingencyKind.SEEDED)
        assert ("NOT PRIVATE" in str(guarantee)) is (kind is ContingencyKind.SEEDED)
    assert replace(GUARANTEE, contingencies=()).is_private


def test_text_says_everything() -> None:
    text = " ".join(str(GUARANTEE).split())  # It is wrapped.
    for part in ("0.1", "1e-06", "add_remove", "opdisc", "a theorem (a place)", "2 (proved)"):
        assert part in text
    for contingency in GUARANTEE.contingencies:
        assert f"{contingency.kind.value}: {contingency.detail}" in text
    assert "certificate solver" in text
    assert "pure" not in text
    assert str(replace(GUARANTEE, delta=0.0)).startswith("pure (epsilon = 0.1, delta = 0)")
    assert str(Release(CARD, GUARANTEE)) == f"{CARD}\n\n{GUARANTEE}"


@pytest.mark.parametrize("make", [lambda: Release(CARD, GUARANTEE), lambda: Release(1, GUARANTEE)])
def test_a_release_holds_nothing_else(make: Callable[[], Release[Any]]) -> None:
    release = make()
    assert [field.name for field in fields(release)] == ["value", "guarantee"]
    assert set(json.loads(release.to_json())) == {
        "schema", "version", "kind", "value", "guarantee",
    }  # fmt: skip
    with pytest.raises((AttributeError, TypeError)):
        release.objective = 17
    with pytest.raises((AttributeError, TypeError)):
        release.guarantee.objective = 17
