"""Drafts of domain files: what they list, what they leave out, and that they are not confirmed."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle_dp import Binned, Categorical, DomainError
from oracle_dp.domain_file import DomainFile
from oracle_dp.draft import MAX_EDGES, Draft, round_edges


def frame(**columns: Sequence[object]) -> pd.DataFrame:
    return pd.DataFrame({name: [str(cell) for cell in cells] for name, cells in columns.items()})


def drafted(*cells: object) -> Categorical | Binned | str:
    """The attribute of one column, or why there is none."""
    draft = Draft.from_rows(frame(x=cells))
    return draft.attributes[0] if draft.attributes else draft.left_out[0][1]


def test_text_lists_its_values_and_numbers_get_round_edges() -> None:
    assert drafted(*["red", "blue", ""] * 4) == Categorical("x", ("", "blue", "red"))
    assert drafted(*[0, 1] * 9) == Binned("x", (1,))
    assert drafted(*[1, 2, 3, 4] * 9) == Binned("x", (2, 3, 4))
    assert drafted(*range(16, 68), *range(16, 68)) == Binned("x", (20, 30, 40, 50, 60))
    assert drafted(*[0.1, 0.15, 0.2] * 9) == Binned("x", (0.15, 0.2))
    assert drafted(*[-3e7, 5e6, 2e7] * 9) == Binned("x", (-2e7, -1e7, 0, 1e7, 2e7))


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ([f"person {i}" for i in range(300)], "more than 50 distinct values"),
        ([f"person {i}" for i in range(5)], "perhaps an identifier"),
        ([f"person {i}" for i in range(12)] * 2, "perhaps an identifier"),
        (range(1000, 1300), "perhaps an identifier"),
        ([f"{i:05}" for i in range(300)], "more than 50 distinct values"),
        (["a word", "w" * 61] * 20, "free text"),
        (["a word", "two\nlines"] * 20, "free text"),
        (["same"] * 20, "the same in every row"),
        (["", "1", "2", "3", "4"] * 20, "some cells are empty or hold a mark"),
        (["?", "NA", "1", "2", "3", "4"] * 20, "some cells are empty or hold a mark"),
        ([f"{i},000" for i in range(60)] * 9, "more than 50 distinct values"),
        ([1e300, 1e300 * (1 + 2**-52)] * 9, "too close to each other"),
    ],
    ids=[
        "names", "few", "some", "numbers", "codes", "long", "lines", "constant", "empty",
        "marks", "thousands", "close",
    ],
)  # fmt: skip
def test_what_is_left_out_is_not_listed(cells: Sequence[object], reason: str) -> None:
    found = drafted(*cells)
    assert isinstance(found, str)
    assert reason in found
    text = Draft.from_rows(frame(x=cells)).to_toml()
    assert f"# Left out: 'x': {found}." in text
    assert not any(str(cell) in text for cell in cells if len(str(cell)) > 3 and cell != "same")


def test_codes_of_digits_are_text() -> None:
    assert drafted(*["0100", "0200"] * 9) == Categorical("x", ("0100", "0200"))


def test_one_row_moves_no_edge_and_the_order_of_rows_tells_nothing() -> None:
    generator = np.random.default_rng(5)
    amounts = generator.integers(100, 10_000, 400)
    colours = generator.choice(["red", "green", "blue"], 400, p=[0.1, 0.8, 0.1])
    rows = frame(amount=amounts, colour=colours)
    plain = Draft.from_rows(rows).to_toml()
    assert Draft.from_rows(rows.iloc[::-1].reset_index(drop=True)).to_toml() == plain
    for outlier in (-(10**9), 10**9):
        amounts[7] = outlier
        assert Draft.from_rows(frame(amount=amounts, colour=colours)).to_toml() == plain


finite = st.floats(allow_nan=False, allow_infinity=False)


@settings(deadline=None)
@given(finite, finite)
def test_edges_are_few_and_inside(a: float, b: float) -> None:
    low, high = sorted((a, b))
    edges = round_edges(low, high, whole=False) if low < high else []
    assert len(edges) <= MAX_EDGES
    assert all(x < y for x, y in pairwise(edges))
    assert all(low <= edge <= high for edge in edges)


@settings(deadline=None)
@given(st.integers(-(10**9), 10**9), st.integers(1, 10**9))
def test_edges_of_whole_numbers_are_round(low: int, width: int) -> None:
    edges = round_edges(low, low + width, whole=True)
    assert 1 <= len(edges) <= MAX_EDGES
    steps = {y - x for x, y in pairwise(edges)}
    assert len(steps) <= 1
    for step in steps:
        assert str(int(step)).rstrip("0") in ("1", "2", "5")
        assert all(edge % step == 0 for edge in edges)


# Any text but lone surrogates, which no file in UTF-8 holds.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@settings(deadline=None, max_examples=200)
@given(texts.filter(bool), st.lists(texts, min_size=2, max_size=4))
def test_the_file_says_what_the_draft_does(name: str, values: list[str]) -> None:
    try:
        draft = Draft.from_rows(pd.DataFrame({name: values, "label": values}), target="label")
    except DomainError:
        return  # The name is a number, or the target is not one.
    described = draft.to_dict()
    left_out = described.pop("left_out")
    assert len(left_out) + len(described["attributes"]) == 1
    if left_out:
        del described["attributes"]
    assert tomllib.loads(draft.to_toml()) == described


def test_a_draft_is_read_once_it_is_confirmed() -> None:
    rows = frame(sex=["f", "m"] * 10, age=range(30, 50), label=["no", "yes"] * 10)
    text = Draft.from_rows(rows.assign(age=rows["age"] + ".5"), target="label").to_toml()
    with pytest.raises(DomainError, match="not confirmed"):
        DomainFile.from_toml(text)
    assert "DRAFTED FROM PRIVATE ROWS" in text.splitlines()[0]
    file = DomainFile.from_toml(text.replace("confirmed_public = false", "confirmed_public = true"))
    assert (file.target, file.classes) == ("label", ("no", "yes"))
    assert file.domain.names == ("sex", "age")


def test_classes_are_in_the_order_of_numbers_or_of_the_alphabet() -> None:
    for given_, ordered in ((["10", "9"], ("9", "10")), (["b", "a", "1"], ("1", "a", "b"))):
        draft = Draft.from_rows(frame(x=["u", "v", "u"][: len(given_)], y=given_), target="y")
        assert draft.classes == ordered
        assert [a.name for a in draft.attributes] == ["x"]


@pytest.mark.parametrize(
    ("rows", "target", "message"),
    [
        (frame(x=["a", "b"]), "y", "no column 'y' in the header"),
        (frame(x=["a", "b"], y=["1", ""]), "y", "'y' has empty cells"),
        (frame(x=["a", "b"], y=["1", "1"]), "y", "not between 2 and 20 distinct values"),
        (frame(x=range(50), y=range(50)), "y", "not between 2 and 20 distinct values"),
        (frame(x=[], y=[]), None, "none below the header"),
        (frame(**{"x": ["a"], "1.5": ["b"]}), None, "the name of column 2 is a number"),
        (frame(**{"": ["a"]}), None, "the header names no column"),
    ],
    ids=str,
)
def test_rows_without_a_draft(rows: pd.DataFrame, target: str | None, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        Draft.from_rows(rows, target=target)
