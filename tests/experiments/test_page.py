"""The page that is committed: all its numbers come from the records that are committed."""

from __future__ import annotations

import random

import pytest

from experiments.framework import styles
from experiments.framework.page import default_path
from experiments.framework.records import load, path_of
from experiments.framework.registry import NAMES, registered
from experiments.framework.trace import numbers, outside

SAMPLE = 500


@pytest.fixture(scope="module")
def page() -> str:
    """The committed page."""
    return default_path(quick=False).read_text(encoding="utf-8")


def test_a_sample_of_its_numbers_is_computed_again(page: str) -> None:
    shown = numbers(page)
    chosen = random.Random(len(page)).sample(shown, min(SAMPLE, len(shown)))
    records = {name: {r["id"]: r for r in load(path_of(name, quick=False))} for name in NAMES}
    wrong = [
        (one, again) for one in chosen if (again := one.again(records[one.experiment])) != one.text
    ]
    assert wrong == []


def test_every_number_names_records_that_are_there(page: str) -> None:
    there = {name: {r["id"] for r in load(path_of(name, quick=False))} for name in NAMES}
    shown = numbers(page)
    assert all(set(one.records) <= there[one.experiment] for one in shown)
    assert {one.experiment for one in shown} == set(NAMES)


def test_it_fetches_nothing(page: str) -> None:
    assert outside(page) == []


def test_records_are_small() -> None:
    assert sum(path_of(name, quick=False).stat().st_size for name in NAMES) < 5_000_000


def test_configs_are_distinct() -> None:
    for one in registered():
        for quick in (True, False):
            configs = [str(sorted(config.items())) for config in one.configs(quick)]
            assert len(configs) == len(set(configs)), one.name


def test_curves_differ_without_colour() -> None:
    looks = [styles.curve(i) for i in range(len(styles.MARKERS))]
    assert len({look["marker"] for look in looks}) == len(looks)
    assert len({str(look["linestyle"]) for look in looks}) == len(looks)
