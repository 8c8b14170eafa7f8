"""UCI's Adult (census income) data with its public schema.

Source: Barry Becker and Ronny Kohavi (1996), Adult, UCI Machine Learning Repository,
DOI 10.24432/C5XW20, licence CC BY 4.0. ``build_adult.py`` makes the shipped file from the
original ones.

The categories are those that ``adult.names`` lists, in its order. The bin edges come from what
the numbers mean, never from their distribution: see ``_SCHEMA``. ``fnlwgt``, the survey's
weight of a record, describes the sampling and not the person: it is in the frame, and not in the
domain.
"""

from __future__ import annotations

import lzma
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oracle_dp.domain import Attribute, Binned, Categorical, Domain
from oracle_dp.errors import ParameterError

N_TRAIN = 32_561
"""Rows of the original training file; they come first."""

_MISSING = "?"
_LABEL = "income"

# UCI marks missing values in these columns only.
_WITH_MISSING = ("workclass", "occupation", "native-country")

# UCI's order. Text lists categories (none has a blank in it), numbers are bin edges.
_SCHEMA: dict[str, str | tuple[int, ...]] = {
    "age": (25, 35, 45, 55, 65),  # years: decades of a working life, 65 the usual pension age
    "workclass": "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov "
    "Without-pay Never-worked",
    "education": "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th "
    "7th-8th 12th Masters 1st-4th 10th Doctorate 5th-6th Preschool",
    "education-num": (9, 10, 13, 14),  # 9: high-school diploma alone, 13: bachelor's degree
    "marital-status": "Married-civ-spouse Divorced Never-married Separated Widowed "
    "Married-spouse-absent Married-AF-spouse",
    "occupation": "Tech-support Craft-repair Other-service Sales Exec-managerial "
    "Prof-specialty Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing "
    "Transport-moving Priv-house-serv Protective-serv Armed-Forces",
    "relationship": "Wife Own-child Husband Not-in-family Other-relative Unmarried",
    "race": "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black",
    "sex": "Female Male",
    "capital-gain": (1, 1_000, 10_000),  # dollars: none, then powers of ten
    "capital-loss": (1, 1_000, 3_000),  # dollars: none; a year's tax deduction ends at 3,000
    "hours-per-week": (20, 35, 41, 50),  # full time starts at 35, overtime after 40
    "native-country": "United-States Cambodia England Puerto-Rico Canada Germany "
    "Outlying-US(Guam-USVI-etc) India Japan Greece South China Cuba Iran Honduras Philippines "
    "Italy Poland Jamaica Vietnam Mexico Portugal Ireland France Dominican-Republic Laos Ecuador "
    "Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia El-Salvador "
    "Trinadad&Tobago Peru Hong Holand-Netherlands",
}


@dataclass(frozen=True, eq=False)
class AdultData:
    """The Adult data and what is public about it.

    Attributes:
        frame: All 48,842 rows in the original order, training rows first: UCI's 14 columns
            (categories as strings, numbers as int64), then ``income``.
        domain: The public schema of the 13 usable attributes.
        train: Positions of the training rows, int64: 32,561, or the 30,162 complete ones.
        test: Positions of the test rows, int64: 16,281, or the 15,060 complete ones.
    """

    frame: pd.DataFrame
    domain: Domain
    train: NDArray[np.int64]
    test: NDArray[np.int64]

    @property
    def X(self) -> pd.DataFrame:
        """The attributes: ``frame`` without ``income``, shape ``(48842, 14)``."""
        return self.frame.drop(columns=_LABEL)

    @property
    def y(self) -> pd.Series[Any]:
        """The label ``income`` of each row, one of ``classes``."""
        return self.frame[_LABEL]

    @property
    def classes(self) -> tuple[str, str]:
        """The two labels; the second is the positive one."""
        return ("<=50K", ">50K")


def load_adult(*, missing: Literal["category", "drop"] = "category") -> AdultData:
    """Load the Adult data that ship with the package.

    Args:
        missing: ``"category"`` keeps every row, and makes UCI's marker ``"?"`` the last category
            of workclass, occupation and native-country. ``"drop"`` leaves the rows with a ``"?"``
            out of ``train`` and ``test``, and the marker out of the domain; how many rows
            remain is then taken as public. ``frame`` has all rows either way.

    Returns:
        The data with domain, label and the original split. The frame is a copy of one's own.

    Raises:
        ParameterError: ``missing`` is neither of the two.
    """
    if missing not in ("category", "drop"):
        raise ParameterError(f"missing: must be 'category' or 'drop', not {missing!r}")
    frame = _read()
    rows = np.arange(len(frame), dtype=np.int64)
    if missing == "drop":
        incomplete = (frame[list(_WITH_MISSING)] == _MISSING).any(axis=1)
        rows = rows[~incomplete.to_numpy()]
    return AdultData(
        frame=frame,
        domain=_domain(marker=_MISSING if missing == "category" else None),
        train=rows[rows < N_TRAIN],
        test=rows[rows >= N_TRAIN],
    )


def _read() -> pd.DataFrame:
    shipped = resources.files("oracle_dp.datasets").joinpath("adult.csv.xz")
    with shipped.open("rb") as packed, lzma.open(packed) as text:
        # Without the filter pandas would take some markers for NaN.
        return pd.read_csv(text, na_filter=False)


def _domain(marker: str | None) -> Domain:
    attributes: list[Attribute] = []
    for name, levels in _SCHEMA.items():
        if isinstance(levels, tuple):
            attributes.append(Binned(name, levels))
        else:
            extra = [marker] if marker and name in _WITH_MISSING else []
            attributes.append(Categorical(name, levels.split() + extra))
    return Domain(attributes)
