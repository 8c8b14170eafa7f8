"""Adult's split as the comparison uses it: rows for estimators, and the same rows as cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import pandas as pd

from oracle_dp import Domain
from oracle_dp.datasets import load_adult
from oracles.zero_one import CellTable

FEATURES = {
    "two": ("relationship", "education"),
    "three": ("education", "occupation", "relationship"),
    "five": ("education", "occupation", "relationship", "race", "sex"),
    "seven": (
        "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex",
    ),
}  # fmt: skip
"""Categorical attributes of Adult; ``seven`` leaves out native-country alone."""

Missing = Literal["category", "drop"]


@dataclass(frozen=True, eq=False)
class Task:
    """Training and test rows with their public schema.

    Attributes:
        domain: The attributes.
        classes: The negative and the positive label.
        x_train: The attributes' columns of the training rows.
        y_train: Their labels.
        x_test: As ``x_train``.
        y_test: As ``y_train``.
        train: The training rows as cells.
        test: The test rows as cells.
    """

    domain: Domain
    classes: tuple[str, str]
    x_train: pd.DataFrame
    y_train: np.ndarray
    x_test: pd.DataFrame
    y_test: np.ndarray
    train: CellTable
    test: CellTable

    @property
    def delta(self) -> float:
        """One over the square of the number of training rows, which is public under replace."""
        return float(self.train.n_rows) ** -2

    @property
    def dimension(self) -> int:
        """Number of levels of all attributes."""
        return sum(self.train.levels)

    def error_of_weights(self, weights: Sequence[np.ndarray]) -> float:
        """Share of the test rows that a scoring card gets wrong."""
        return self.test.errors(weights) / self.test.n_rows

    def error_of_line(self, coefficients: np.ndarray, intercept: float) -> float:
        """Share of the test rows that one coefficient per level and an intercept get wrong."""
        positive = np.asarray(coefficients)[self.test.columns].sum(axis=1) + intercept > 0
        wrong = np.where(positive, self.test.negative, self.test.positive).sum()
        return float(wrong) / self.test.n_rows


@lru_cache(maxsize=2)
def task(features: str, missing: Missing) -> Task:
    """The rows of a set of attributes.

    Args:
        features: A key of ``FEATURES``.
        missing: ``"drop"``: complete rows, 30,162 and 15,060. ``"category"``: all rows, 32,561 and
            16,281, with ``?`` as a level of workclass and occupation.
    """
    adult = load_adult(missing=missing)
    names = list(FEATURES[features])
    domain = adult.domain[names]
    x_train, x_test = (adult.X.iloc[rows][names] for rows in (adult.train, adult.test))
    y_train, y_test = (adult.y.iloc[rows].to_numpy() for rows in (adult.train, adult.test))
    cells = [
        CellTable.from_codes(domain.encode(x), y == adult.classes[1], domain.levels)
        for x, y in ((x_train, y_train), (x_test, y_test))
    ]
    return Task(domain, adult.classes, x_train, y_train, x_test, y_test, cells[0], cells[1])
