"""The domain file as the documentation describes it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from oracle_dp import Binned, Categorical, Crossed, Domain, DomainError, Threshold
from oracle_dp.domain_file import MAX_CATEGORIES, DomainFile, check_texts

PAGE = Path(__file__).parents[2] / "docs" / "domain_file.md"
HEAD = "confirmed_public = true\n"


def test_the_example_in_the_documentation() -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    file = DomainFile.from_toml(example)
    assert (file.target, file.classes) == ("repaid", ("no", "yes"))
    sex, region = Categorical("sex", ("f", "m")), Categorical("region", ("north", "south"))
    assert file.domain == Domain(
        [
            Categorical("purpose", ("car", "house", "other", "")),
            Binned("age", (25, 45, 65)),
            Threshold("income", 30_000),
            Crossed([sex, region]),
        ]
    )


def test_bytes_with_a_mark() -> None:
    text = HEAD + '[[attributes]]\nname = "\u00e9ge"\nedges = [1]\n'
    assert DomainFile.from_toml(text.encode("utf-8-sig")) == DomainFile.from_toml(text)


def test_as_many_categories_as_allowed() -> None:
    listed = ",".join(f'"{i}"' for i in range(MAX_CATEGORIES))
    text = f'{HEAD}[[attributes]]\nname = "x"\ncategories = [{listed}'
    assert DomainFile.from_toml(text + "]").domain.levels == (MAX_CATEGORIES,)
    with pytest.raises(DomainError, match="10,001 categories, more than 10,000"):
        DomainFile.from_toml(text + ', "more"]')


def test_blanks_around_parts_of_a_crossed_attribute() -> None:
    parts = '{name = "x", categories = ["a"]}, {name = "y", categories = [" b"]}'
    with pytest.raises(DomainError, match="' b' has blanks around it"):
        DomainFile.from_toml(f"{HEAD}[[attributes]]\ncrossed = [{parts}]")


def test_nesting_without_end() -> None:
    with pytest.raises(DomainError, match="nested too deeply"):
        DomainFile.from_toml("x = " + "[" * 100_000)


@pytest.mark.parametrize("classes", [[1, 2], ["a", None], ["a", "b "]], ids=str)
def test_classes_that_no_cell_can_hold(classes: list[object]) -> None:
    with pytest.raises(DomainError):
        check_texts(classes)
