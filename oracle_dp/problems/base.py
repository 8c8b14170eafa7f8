"""What every private problem offers to mechanisms and to the planner."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from oracle_dp.errors import DomainError, ParameterError
from oracle_dp.mechanisms.histogram import Histogram
from oracle_dp.privacy import Neighbors
from oracles import IntegerProgram
from oracles.selection.base import IntArray
from oracles.selection.envelope import SelectionLoss


class PrivateProblem(ABC):
    """A problem with a public set of choices and a private, integer loss to be minimised."""

    @abstractmethod
    def sensitivity(self, neighbors: Neighbors | str) -> int:
        """Range sensitivity of the loss, from public facts only; proven in the class's docstring.

        Raises:
            ParameterError: The relation is unknown, or the choices do not differ for anybody.
        """

    @abstractmethod
    def program(self) -> IntegerProgram:
        """The problem as an integer program; its first variables are the choice."""

    @property
    @abstractmethod
    def n_choices(self) -> int:
        """How many variables are published."""

    @property
    def choice_names(self) -> tuple[str, ...]:
        """Names of the published variables, as the program has them."""
        return tuple(f"choose_{j}" for j in range(self.n_choices))

    @abstractmethod
    def value(self, choice: IntArray) -> int:
        """The loss of a choice. It depends on the data: it is not private."""

    @abstractmethod
    def synthetic(self, n_records: int, seed: int) -> PrivateProblem:
        """The same public problem with made-up records: what plans are tried on."""

    def loss(self) -> SelectionLoss | None:
        """The loss with its minorants, for exact sampling; None where there are none."""
        return None

    def histogram(self) -> Histogram | None:
        """Public counts that the loss is computed from, if there are any worth noising."""
        return None

    @property
    def sensitivity_source(self) -> str:
        """What the guarantee says of the sensitivity."""
        return f"proved for {type(self).__name__}"


def doubled(relation: Neighbors | str, single: int) -> int:
    """Twice ``single`` where a record is replaced: the ranges of two records' losses add up.

    Raises:
        ParameterError: The relation is unknown, or ``single`` is not positive.
    """
    if single <= 0:
        raise ParameterError("problem: no choice differs from another for anybody; nothing to do")
    return single * (2 if Neighbors.parse(relation) is Neighbors.REPLACE else 1)


def integer_table(name: str, given: ArrayLike, dimensions: int) -> IntArray:
    """A copy of integers.

    Raises:
        DomainError: They are something else. No entry is shown.
    """
    raw = np.asarray(given)
    if raw.ndim != dimensions or raw.dtype.kind not in "iub":
        raise DomainError(f"{name}: integers with {dimensions} dimensions expected")
    return raw.astype(np.int64)


def within(name: str, table: IntArray, least: int, most: int) -> IntArray:
    """The table, if its entries are between two public numbers.

    Raises:
        DomainError: They are not.
    """
    if table.size and not (least <= int(table.min()) and int(table.max()) <= most):
        raise DomainError(f"{name}: every entry must be between {least} and {most}")
    return table
