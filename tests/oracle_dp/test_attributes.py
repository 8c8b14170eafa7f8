"""Thresholds and crossed attributes: what they read, what their codes mean, how they are saved."""

from __future__ import annotations

import itertools
import json
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle_dp import Binned, Categorical, Crossed, Domain, DomainError, Threshold
from oracle_dp.datasets import load_adult

RACE = Categorical("race", ("White", "Black"))
SEX = Categorical("sex", ("Female", "Male"))
AGE = Binned("age", (30, 40.5, 60))
DOMAIN = Domain([RACE, AGE, SEX])
STEPS = DOMAIN.thermometer("age")
PAIRS = DOMAIN.crossed("race", "sex")
MIXED = STEPS.crossed("sex", "age >= 30", "race")

finite = st.floats(allow_nan=False, allow_infinity=False)
edge_lists = st.lists(finite, min_size=1, max_size=6, unique=True).map(sorted)
names = st.text(min_size=1, max_size=3)
category_lists = st.lists(st.text(max_size=3), min_size=1, max_size=4, unique=True)
rows = st.tuples(st.sampled_from(RACE.categories), finite, st.sampled_from(SEX.categories))


def frame(given: list[tuple[str, float, str]]) -> pd.DataFrame:
    return pd.DataFrame(given, columns=["race", "age", "sex"])


# -- thresholds --------------------------------------------------------------------------------


def test_a_thermometer_stands_where_the_bins_stood() -> None:
    assert STEPS.names == ("race", "age >= 30", "age >= 40.5", "age >= 60", "sex")
    assert STEPS.columns == ("race", "age", "sex")
    assert STEPS.levels == (2, 2, 2, 2, 2)
    assert STEPS["age >= 40.5"] == Threshold("age", 40.5)
    assert STEPS["age >= 40.5"].labels == ("< 40.5", ">= 40.5")
    assert DOMAIN.names == ("race", "age", "sex")  # The domain itself is as it was.


def test_several_thermometers_at_once() -> None:
    domain = Domain([Binned("a", [1]), SEX, Binned("b", [1, 2])])
    assert domain.thermometer("b", "a").names == ("a >= 1", "sex", "b >= 1", "b >= 2")
    assert domain.thermometer("a")["b"] is domain["b"]


@given(edge_lists, st.lists(finite, max_size=10))
def test_the_thresholds_add_up_to_the_bin(edges: list[float], values: list[float]) -> None:
    bins = Domain([Binned("b", edges)])
    column = pd.DataFrame({"b": [*values, *edges]})
    steps = bins.thermometer("b").encode(column)
    assert steps.sum(axis=1).tolist() == bins.encode(column)[:, 0].tolist()
    # As a thermometer: no threshold is reached before the lower ones.
    assert (np.diff(steps, axis=1) <= 0).all()


@given(edge_lists)
def test_there_is_a_name_of_its_own_for_each_edge(edges: list[float]) -> None:
    assert len(set(Domain([Binned("b", edges)]).thermometer("b").names)) == len(edges)


# -- crossed attributes ------------------------------------------------------------------------


def test_a_crossed_attribute_stands_where_the_first_stood() -> None:
    assert PAIRS.names == ("race & sex", "age")
    assert PAIRS["race & sex"].labels == (
        "White & Female", "White & Male", "Black & Female", "Black & Male",
    )  # fmt: skip
    assert PAIRS.columns == ("race", "sex", "age")
    assert DOMAIN.crossed("sex", "race").names == ("age", "sex & race")
    assert PAIRS.crossed("race & sex", "age")["race & sex & age"].n_levels == 16
    assert MIXED.names == ("age >= 40.5", "age >= 60", "sex & age >= 30 & race")


def test_the_attributes_can_be_kept_beside_their_cross() -> None:
    both = Domain([*DOMAIN, Crossed([RACE, SEX])])
    assert both.columns == DOMAIN.columns
    assert both.encode([["Black", 35, "Female"]]).tolist() == [[1, 1, 0, 2]]


def test_codes_are_those_of_the_labels() -> None:
    for domain in (PAIRS, MIXED):
        for row in itertools.product(RACE.categories, (0, 30, 41, 99), SEX.categories):
            codes = domain.encode(frame([row]))[0]
            for attribute, code in zip(domain, codes, strict=True):
                alone = [
                    part.labels[Domain([part]).encode(frame([row]))[0, 0]]
                    for part in attribute.parts
                ]
                assert attribute.labels[code] == " & ".join(alone)


@given(st.lists(category_lists, min_size=2, max_size=3))
def test_there_is_a_label_of_its_own_for_each_combination(categories: list[list[str]]) -> None:
    crossed = Crossed([Categorical(f"c{i}", listed) for i, listed in enumerate(categories)])
    assert len(set(crossed.labels)) == crossed.n_levels == np.prod([*map(len, categories)])


def test_labels_that_would_be_the_same_are_quoted() -> None:
    crossed = Crossed([Categorical("a", ["x", "x & y"]), Categorical("b", ["z", "y & z"])])
    assert crossed.labels == ("'x' & 'z'", "'x' & 'y & z'", "'x & y' & 'z'", "'x & y' & 'y & z'")


# -- encoding ----------------------------------------------------------------------------------


@given(st.lists(rows, min_size=1, max_size=6))
def test_the_codes_of_a_row_depend_on_that_row_alone(given: list[tuple[str, float, str]]) -> None:
    for domain in (STEPS, PAIRS, MIXED):
        together = domain.encode(frame(given))
        alone = [domain.encode(frame([row]))[0].tolist() for row in given]
        assert together.tolist() == alone
        assert ((together >= 0) & (together < domain.levels)).all()
        array = frame(given)[list(domain.columns)].to_numpy(dtype=object)
        assert domain.encode(array).tolist() == alone


@pytest.mark.parametrize("domain", [STEPS, PAIRS, MIXED], ids=str)
def test_no_rows_are_ordinary_data(domain: Domain) -> None:
    assert domain.encode(frame([])).shape == (0, len(domain))
    assert domain.encode(np.empty((0, 3))).shape == (0, len(domain))
    assert domain.outside(frame([])).empty


def test_adult_as_thermometers_and_pairs() -> None:
    adult = load_adult()
    domain = adult.domain.thermometer("age", "capital-gain").crossed("race", "sex")
    codes, bins = domain.encode(adult.X), adult.domain.encode(adult.X)
    assert codes[:, :5].sum(axis=1).tolist() == bins[:, 0].tolist()
    race, sex = (adult.domain.names.index(name) for name in ("race", "sex"))
    pair = codes[:, domain.names.index("race & sex")]
    assert pair.tolist() == (2 * bins[:, race] + bins[:, sex]).tolist()


# -- refusals ----------------------------------------------------------------------------------

SECRET = "Zanzibar"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Threshold("", 1), "name"),
        (lambda: Threshold(3, 1), "name"),
        (lambda: Threshold("a", "1"), "edge of 'a'"),
        (lambda: Threshold("a", True), "edge of 'a'"),
        (lambda: Threshold("a", float("nan")), "edge of 'a'"),
        (lambda: Threshold("a", float("inf")), "edge of 'a'"),
        (lambda: Threshold("a", 10**400), "edge of 'a'"),
        (lambda: DOMAIN.thermometer(), "at least one"),
        (lambda: DOMAIN.thermometer("sex"), "'sex' is not binned"),
        (lambda: DOMAIN.thermometer("size"), "no attribute 'size'"),
        (lambda: DOMAIN.thermometer("age", "age"), "'age' occurs more than once"),
        (lambda: STEPS.thermometer("age"), "the domain has race, age >= 30"),
        (lambda: STEPS.thermometer("age >= 30"), "is not binned"),
        (lambda: Crossed([]), "at least two"),
        (lambda: Crossed([SEX]), "at least two"),
        (lambda: Crossed(["sex", "race"]), "each must be an attribute"),
        (lambda: Crossed([SEX, SEX]), "read the same column"),
        (lambda: Crossed([AGE, Threshold("age", 5)]), "age, age >= 5 read the same column"),
        (lambda: Crossed([Binned(c, range(99)) for c in "abcd"]), "has 100,000,000 levels"),
        (lambda: DOMAIN.crossed(), "at least one"),
        (lambda: DOMAIN.crossed("sex"), "at least two"),
        (lambda: DOMAIN.crossed("sex", "size"), "no attribute 'size'"),
        (lambda: DOMAIN.crossed("sex", "sex"), "'sex' occurs more than once"),
        (lambda: STEPS.crossed("age >= 30", "age >= 60"), "read the same column"),
        (lambda: Domain([Threshold("a", 1), Threshold("a", 1.0)]), "'a >= 1' occurs more than"),
        (
            lambda: Domain([Categorical("age", "12"), Threshold("age", 1)]),
            "sequence of strings",
        ),
        (
            lambda: Domain([Categorical("age", ["12"]), Threshold("age", 1)]),
            "'age' is read both as numbers and as categories",
        ),
        (
            lambda: Domain([AGE, Crossed([SEX, Categorical("age", ["12"])])]),
            "'age' is read both as numbers and as categories",
        ),
    ],
)
def test_a_malformed_schema_is_refused(make: Any, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        make()


@pytest.mark.parametrize("domain", [STEPS, PAIRS, MIXED], ids=str)
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((SECRET, 1, "Male"), "column 'race' has values outside its 2 public levels"),
        (("White", 1, SECRET), "column 'sex' has values outside its 2 public levels"),
        ((None, 1, "Male"), "column 'race' has missing values"),
        (("White", SECRET, "Male"), "column 'age' must hold numbers"),
        (("White", None, "Male"), "column 'age' has missing values"),
        (("White", np.inf, "Male"), "column 'age' has infinite values"),
    ],
    ids=str,
)
def test_a_refusal_names_the_column_and_no_value(domain: Domain, row: Any, message: str) -> None:
    with pytest.raises(DomainError, match=message) as refusal:
        domain.encode(frame([("White", 1, "Male"), row]))
    assert SECRET not in str(refusal.value)


def test_columns_are_asked_for_by_their_own_names() -> None:
    with pytest.raises(DomainError, match="column 'age' is missing"):
        STEPS.encode(frame([("White", 1, "Male")]).rename(columns={"age": "age >= 30"}))
    with pytest.raises(DomainError, match="need 3 columns, in the order race, sex, age"):
        PAIRS.encode([["White", 1]])


@pytest.mark.parametrize("domain", [STEPS, PAIRS, MIXED], ids=str)
def test_what_does_not_fit_is_listed_once(domain: Domain) -> None:
    data = frame([("Oz", "x", "Male"), ("White", np.inf, "Male"), ("Oz", 1, "Male")])
    report = domain.outside(data).sort_values(["column", "problem"])
    assert report.to_numpy().tolist() == [
        ["age", "infinite", "inf", 1],
        ["age", "not a number", "x", 1],
        ["race", "not a category", "Oz", 2],
    ]


# -- saving ------------------------------------------------------------------------------------


@pytest.mark.parametrize("domain", [STEPS, PAIRS, MIXED], ids=str)
def test_a_domain_comes_back(domain: Domain) -> None:
    assert Domain.from_dict(json.loads(json.dumps(domain.to_dict()))) == domain
    twin = pickle.loads(pickle.dumps(domain))
    assert (twin, hash(twin)) == (domain, hash(domain))


@given(names, edge_lists, category_lists)
def test_every_domain_comes_back(name: str, edges: list[float], categories: list[str]) -> None:
    bins = Domain([Binned(name, edges), Categorical(f"not {name}", categories)])
    for domain in (bins, bins.thermometer(name), bins.crossed(f"not {name}", name)):
        assert Domain.from_dict(json.loads(json.dumps(domain.to_dict()))) == domain


def test_the_form_on_disk() -> None:
    # Files outlive versions: these keys stay readable.
    domain = Domain([SEX, AGE, RACE]).thermometer("age").crossed("age >= 60", "sex")
    assert domain.to_dict() == {
        "attributes": [
            {"column": "age", "edge": 30.0},
            {"column": "age", "edge": 40.5},
            {
                "crossed": [
                    {"column": "age", "edge": 60.0},
                    {"name": "sex", "categories": ["Female", "Male"]},
                ]
            },
            {"name": "race", "categories": ["White", "Black"]},
        ]
    }


GOOD = {"name": "c", "categories": ["a"]}
EDGE = {"column": "b", "edge": 1}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"edge": 1}, r"attributes\[0\]: key 'column' is missing"),
        (EDGE | {"name": "b"}, r"attributes\[0\]: unknown key 'name'"),
        (EDGE | {"edge": "1"}, "edge of 'b'"),
        (EDGE | {"column": 1}, "name: "),
        ({"crossed": [GOOD, EDGE], "name": "x"}, r"attributes\[0\]: unknown key 'name'"),
        ({"crossed": GOOD}, r"attributes\[0\].crossed: need a list"),
        ({"crossed": [GOOD, "d"]}, r"attributes\[0\].crossed\[1\]: need a table"),
        ({"crossed": [GOOD, {"crossed": [GOOD, EDGE]}]}, r"crossed\[1\]: unknown key 'crossed'"),
        ({"crossed": [GOOD]}, "at least two"),
    ],
)
def test_a_malformed_description_is_refused_by_key(entry: Any, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        Domain.from_dict({"attributes": [entry]})
