from __future__ import annotations

import json
import pickle
from bisect import bisect_right
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle_dp.domain import Binned, Categorical, Domain
from oracle_dp.errors import DomainError

SEX = Categorical("sex", ("Female", "Male"))
AGE = Binned("age", (30, 40.5, 60))
FLAG = Categorical("flag", ("1", "0", "True"))
DOMAIN = Domain([SEX, AGE])

finite = st.floats(allow_nan=False, allow_infinity=False)
edge_lists = st.lists(finite, min_size=1, max_size=6, unique=True).map(sorted)
category_lists = st.lists(st.text(max_size=4), min_size=1, max_size=6, unique=True)


def frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame(columns)


# -- attributes --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Categorical("", ["a"]), "name"),
        (lambda: Categorical(3, ["a"]), "name"),
        (lambda: Categorical("c", []), "at least one"),
        (lambda: Categorical("c", "abc"), "sequence of strings"),
        (lambda: Categorical("c", [0, 1]), "sequence of strings"),
        (lambda: Categorical("c", ["a", "b", "a"]), "'a' is listed more than once"),
        (lambda: Binned("", [1.0]), "name"),
        (lambda: Binned("b", []), "at least one"),
        (lambda: Binned("b", [1.0, 1.0]), "increasing"),
        (lambda: Binned("b", [2.0, 1.0]), "increasing"),
        (lambda: Binned("b", [float("nan")]), "finite"),
        (lambda: Binned("b", [1.0, float("inf")]), "finite"),
        (lambda: Binned("b", [10**400]), "finite"),
        (lambda: Binned("b", ["1"]), "numbers"),
        (lambda: Binned("b", [True]), "numbers"),
        (lambda: Domain([]), "at least one"),
        (lambda: Domain([SEX, SEX]), "'sex' occurs more than once"),
        (lambda: Domain(["sex"]), "Categorical, a Binned"),
    ],
)
def test_a_malformed_schema_is_refused(make: Any, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        make()


def test_labels_say_what_a_level_holds() -> None:
    assert SEX.labels == ("Female", "Male")
    assert AGE.labels == ("< 30", "30 to < 40.5", "40.5 to < 60", ">= 60")
    assert Binned("big", [1_000_000]).labels == ("< 1000000", ">= 1000000")


@given(edge_lists)
def test_there_is_a_label_of_its_own_for_each_level(edges: list[float]) -> None:
    binned = Binned("b", edges)
    assert len(set(binned.labels)) == binned.n_levels == len(edges) + 1


# -- the domain --------------------------------------------------------------------------------


def test_domain_is_a_sequence_of_attributes() -> None:
    assert DOMAIN.names == ("sex", "age")
    assert DOMAIN.levels == (2, 4)
    assert len(DOMAIN) == 2
    assert list(DOMAIN) == [SEX, AGE]
    assert DOMAIN["age"] is AGE
    assert "age" in DOMAIN
    assert AGE in DOMAIN
    assert "income" not in DOMAIN
    assert repr(DOMAIN) == "Domain(sex: 2, age: 4)"


def test_a_sub_domain_has_the_order_asked_for() -> None:
    assert DOMAIN[["age", "sex"]] == Domain([AGE, SEX]) != DOMAIN
    assert DOMAIN["age", "sex"] == Domain([AGE, SEX])
    assert DOMAIN[["age"]].names == ("age",)


def test_equal_domains_are_interchangeable() -> None:
    twin = Domain((Categorical("sex", ["Female", "Male"]), Binned("age", [30.0, 40.5, 60.0])))
    assert twin == DOMAIN
    assert hash(twin) == hash(DOMAIN)
    assert pickle.loads(pickle.dumps(DOMAIN)) == DOMAIN


@pytest.mark.parametrize("names", ["income", ["sex", "income"], ["sex", 0], 0, ["sex", ["age"]]])
def test_an_unknown_name_is_refused_with_the_public_names(names: Any) -> None:
    with pytest.raises(DomainError, match="the domain has sex, age"):
        DOMAIN[names]


def test_a_repeated_or_empty_selection_is_refused() -> None:
    with pytest.raises(DomainError, match="'sex' occurs more than once"):
        DOMAIN[["sex", "sex"]]
    with pytest.raises(DomainError, match="at least one"):
        DOMAIN[[]]


# -- encoding ----------------------------------------------------------------------------------


def test_columns_are_found_by_name() -> None:
    data = frame(id=[7, 8, 9], age=[29.9, 30, 60], sex=["Male", "Female", "Male"])
    data.index = pd.Index([5, 5, 1])
    codes = DOMAIN.encode(data)
    assert codes.dtype == np.int64
    assert codes.tolist() == [[1, 0], [0, 1], [1, 3]]


@pytest.mark.parametrize(
    "data",
    [
        [["Male", 30], ["Female", 60.5]],
        np.array([["Male", 30], ["Female", 60.5]], dtype=object),
        (("Male", Decimal(30)), ("Female", Fraction(121, 2))),
    ],
)
def test_arrays_are_taken_in_the_order_of_the_domain(data: Any) -> None:
    assert DOMAIN.encode(data).tolist() == [[1, 1], [0, 3]]


def test_arrays_of_one_type() -> None:
    assert Domain([SEX]).encode(np.array([["Male"], ["Female"]])).tolist() == [[1], [0]]
    assert Domain([FLAG, AGE]).encode(np.array([[0, 35], [1, 7]])).tolist() == [[1, 1], [0, 0]]


@pytest.mark.parametrize("dtype", ["object", "str", "string", "category"])
def test_text_of_every_dtype(dtype: str) -> None:
    column = pd.Series(["Male", "Female", "Male"]).astype(dtype)
    assert Domain([SEX]).encode(column.to_frame("sex")).tolist() == [[1], [0], [1]]


@pytest.mark.parametrize("dtype", ["int64", "uint8", "Int64", "object", "category"])
def test_integers_are_categories_by_their_text(dtype: str) -> None:
    column = pd.Series([1, 0]).astype(dtype)
    assert Domain([FLAG]).encode(column.to_frame("flag")).tolist() == [[0], [1]]


@pytest.mark.parametrize("dtype", ["bool", "boolean", "object", "category"])
def test_booleans_are_categories_by_their_text(dtype: str) -> None:
    column = pd.Series([True, True]).astype(dtype)
    assert Domain([FLAG]).encode(column.to_frame("flag")).tolist() == [[2], [2]]


@pytest.mark.parametrize("dtype", ["int64", "float32", "Int64", "Float64", "object", "category"])
def test_numbers_of_every_dtype(dtype: str) -> None:
    column = pd.Series([29, 30, 60]).astype(dtype)
    assert Domain([AGE]).encode(column.to_frame("age")).tolist() == [[0], [1], [3]]


@pytest.mark.parametrize("dtype", ["object", "float64", "str", "category"])
def test_no_rows_are_ordinary_data(dtype: str) -> None:
    empty = pd.DataFrame({"sex": [], "age": []}).astype(dtype)
    assert DOMAIN.encode(empty).shape == (0, 2)
    assert DOMAIN.encode(np.empty((0, 2))).shape == (0, 2)
    assert len(DOMAIN.outside(empty)) == 0


@given(edge_lists, st.lists(finite | st.integers(-(2**53), 2**53), max_size=20))
def test_a_bin_is_closed_below_and_open_above(edges: list[float], values: list[float]) -> None:
    values = [*values, *edges]
    expected = [[bisect_right(edges, value)] for value in values]
    domain = Domain([Binned("b", edges)])
    assert domain.encode(frame(b=values)).tolist() == expected
    assert domain.encode(frame(b=pd.Series(values, dtype=object))).tolist() == expected


@given(category_lists, st.data())
def test_a_category_has_its_position_as_code(categories: list[str], data: st.DataObject) -> None:
    codes = data.draw(st.lists(st.integers(0, len(categories) - 1), max_size=20))
    column = pd.Series([categories[code] for code in codes], dtype=object)
    domain = Domain([Categorical("c", categories)])
    assert domain.encode(column.to_frame("c"))[:, 0].tolist() == codes


@given(st.lists(st.sampled_from([1, "1", True, "True", 0, "0"]), min_size=1, max_size=8))
def test_the_codes_of_a_row_depend_on_that_row_alone(values: list[Any]) -> None:
    domain = Domain([FLAG])
    together = domain.encode([[value] for value in values])
    alone = [domain.encode([[value]])[0] for value in values]
    assert together.tolist() == np.array(alone).tolist()


# -- refusals ----------------------------------------------------------------------------------

SECRETS = ("Zanzibar", "987654321")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (frame(sex=["Male"]), "'age' is missing"),
        (frame(sex=["Zanzibar"], age=[1]), "'sex' has values outside its 2 public levels"),
        (frame(sex=[987654321], age=[1]), "'sex' has values outside its 2 public levels"),
        (frame(sex=["Male", None], age=[1, 2]), "'sex' has missing values"),
        (frame(sex=["Male", np.nan], age=[1, 2]), "'sex' has missing values"),
        (frame(sex=pd.Categorical(["Male", None]), age=[1, 2]), "'sex' has missing values"),
        (frame(sex=pd.array(["Male", None], dtype="string"), age=[1, 2]), "'sex' has missing"),
        (frame(sex=["Male"], age=[np.nan]), "'age' has missing values"),
        (frame(sex=["Male"], age=[None]), "'age' has missing values"),
        (frame(sex=["Male"], age=pd.array([None], dtype="Int64")), "'age' has missing values"),
        (frame(sex=["Male"], age=[np.inf]), "'age' has infinite values"),
        (frame(sex=["Male"], age=pd.Series([-np.inf], dtype=object)), "'age' has infinite values"),
        (frame(sex=["Male"], age=pd.Series([10**400], dtype=object)), "'age' has infinite values"),
        (frame(sex=["Male"], age=["Zanzibar"]), "'age' must hold numbers"),
        (frame(sex=["Male"], age=["987654321"]), "'age' must hold numbers"),
        (frame(sex=["Male"], age=[True]), "'age' must hold numbers"),
        (frame(sex=["Male"], age=[987654321 + 1j]), "'age' must hold numbers"),
        (frame(sex=["Male"], age=pd.to_datetime(["2001-01-01"])), "'age' must hold numbers"),
        ([["Male", 1, "Zanzibar"]], "need 2 columns, in the order sex, age; .* 3 columns"),
        (["Zanzibar", 987654321], "an array with 1 dimensions"),
        ([["Male", 1], ["Zanzibar"]], "an array with 1 dimensions"),
        ([[["Zanzibar"], 1], [["Male", "x"], 2]], "'sex' has values outside"),
    ],
)
def test_data_outside_the_domain_are_refused_without_showing_them(data: Any, message: str) -> None:
    with pytest.raises(DomainError, match=message) as refusal:
        DOMAIN.encode(data)
    assert not any(secret in str(refusal.value) for secret in SECRETS)
    assert refusal.value.__cause__ is None


def test_text_that_is_not_utf_8_has_no_level() -> None:
    raw = pa.array([b"Zanzibar \xff", b"red"])
    text = pa.Array.from_buffers(pa.string(), 2, raw.buffers())
    column = pd.Series(text, dtype=pd.ArrowDtype(pa.string()))
    with pytest.raises(DomainError, match="has values outside its 2 public levels") as refusal:
        Domain([Categorical("x", ("red", "green"))]).encode(pd.DataFrame({"x": column}))
    assert refusal.value.__context__ is None


@pytest.mark.parametrize("strays", [1, 7])
def test_a_refusal_tells_nothing_of_the_number_of_rows(strays: int) -> None:
    data = frame(sex=["Zanzibar"] * strays + ["Male"] * 20, age=[1] * (strays + 20))
    with pytest.raises(DomainError) as refusal:
        DOMAIN.encode(data)
    with pytest.raises(DomainError) as other:
        DOMAIN.encode(frame(sex=["Tonga"], age=[1]))
    assert str(refusal.value) == str(other.value)


def test_a_column_that_is_there_twice_is_refused() -> None:
    data = pd.DataFrame([["Male", 1, 2]], columns=["sex", "age", "age"])
    with pytest.raises(DomainError, match="'age' occurs more than once"):
        DOMAIN.encode(data)
    assert DOMAIN[["sex"]].encode(data).tolist() == [[1]]


def test_another_kind_of_table_is_refused_rather_than_read_by_position() -> None:
    class Table:
        columns = ("age", "sex")

    with pytest.raises(DomainError, match=r"pandas\.DataFrame"):
        DOMAIN.encode(Table())


# -- the curator's report ----------------------------------------------------------------------


def test_outside_lists_what_encode_refuses() -> None:
    data = frame(
        sex=["Male", "Zanzibar", None, "Zanzibar", "Female", "Oz"],
        age=pd.Series([1, "x", np.inf, 2, None, 3], dtype=object),
    )
    report = DOMAIN.outside(data)
    assert list(report.columns) == ["column", "problem", "value", "rows"]
    assert report[["column", "problem", "rows"]].to_numpy().tolist() == [
        ["sex", "not a category", 2],
        ["sex", "missing", 1],
        ["sex", "not a category", 1],
        ["age", "not a number", 1],
        ["age", "infinite", 1],
        ["age", "missing", 1],
    ]
    assert report["value"].tolist()[0] == "Zanzibar"
    assert report["value"].tolist()[3:5] == ["x", "inf"]


def test_outside_is_empty_for_data_that_fit() -> None:
    assert DOMAIN.outside([["Male", 1]]).empty


# -- saving ------------------------------------------------------------------------------------


@given(category_lists, edge_lists)
def test_a_domain_survives_json(categories: list[str], edges: list[float]) -> None:
    domain = Domain([Categorical("c", categories), Binned("b", edges)])
    assert Domain.from_dict(json.loads(json.dumps(domain.to_dict()))) == domain


GOOD = {"name": "c", "categories": ["a"]}


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ([], "domain: need a table"),
        ({}, "key 'attributes' is missing"),
        ({"attributes": [GOOD], "more": 1}, "unknown key 'more'"),
        ({"attributes": GOOD}, "attributes: need a list"),
        ({"attributes": []}, "at least one"),
        ({"attributes": [GOOD, "c"]}, r"attributes\[1\]: need a table"),
        ({"attributes": [GOOD, {"name": "d"}]}, r"attributes\[1\]: key 'categories' is missing"),
        ({"attributes": [{"categories": ["a"]}]}, r"attributes\[0\]: key 'name' is missing"),
        ({"attributes": [{"edges": [1]}]}, r"attributes\[0\]: key 'name' is missing"),
        ({"attributes": [GOOD | {"edges": [1]}]}, r"attributes\[0\]: unknown key 'categories'"),
        ({"attributes": [GOOD | {"categories": "ab"}]}, r"attributes\[0\].categories: need a list"),
        ({"attributes": [GOOD | {"categories": [1]}]}, "categories of 'c'"),
        ({"attributes": [{"name": "b", "edges": ["1"]}]}, "edges of 'b'"),
        ({"attributes": [GOOD | {"name": 1}]}, "name: "),
        ({"attributes": [GOOD, GOOD]}, "'c' occurs more than once"),
    ],
)
def test_a_malformed_description_is_refused_by_key(description: Any, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        Domain.from_dict(description)
