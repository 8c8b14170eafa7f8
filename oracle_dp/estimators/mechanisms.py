"""Which mechanism trains a scoring card, and with which of the estimator's parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from oracle_dp.errors import ParameterError
from oracle_dp.mechanisms.blockwise import blockwise
from oracle_dp.mechanisms.counts import counts_zero_one
from oracle_dp.mechanisms.exponential import exponential
from oracle_dp.mechanisms.opdisc import opdisc
from oracle_dp.mechanisms.top_r import top_r
from oracle_dp.privacy import Neighbors, Release
from oracle_dp.sensitivity import PROVED, ZERO_ONE
from oracles.zero_one import CellTable, ZeroOneProblem
from oracles.zero_one.cells import IntArray

Weights = tuple[IntArray, ...]
Common = Mapping[str, Any]
"""``epsilon``, ``neighbors``, ``limits``, ``ledger``, ``dataset``, ``random_state`` and
``contingencies``: what all mechanisms are given."""

DEFAULTS: dict[str, object] = {
    "delta": 0,
    "lift": "one_hot",
    "noise": None,
    "sparsity": 0,
    "max_attributes": None,
    "n_best": 10,
    "sweeps": 2,
}
"""Parameters that only some mechanisms have, with the values that mean nothing was asked for."""


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A way to train.

    Attributes:
        train: Takes cells, weights, the common parameters and its own options.
        options: Which of ``DEFAULTS`` it has.
    """

    train: Callable[[CellTable, tuple[int, ...], Common, Common], Release[Weights]]
    options: tuple[str, ...] = ()


def _opdisc(
    cells: CellTable, weights: tuple[int, ...], common: Common, options: Common
) -> Release[Weights]:
    return opdisc(ZeroOneProblem(cells, weights), **_proved(common), **options)


def _top_r(
    cells: CellTable, weights: tuple[int, ...], common: Common, options: Common
) -> Release[Weights]:
    return top_r(ZeroOneProblem(cells, weights), **_proved(common), **options)


def _proved(common: Common) -> dict[str, Any]:
    sensitivity = ZERO_ONE[Neighbors.parse(common["neighbors"])]
    return {**common, "sensitivity": sensitivity, "sensitivity_source": PROVED}


MECHANISMS = {
    "exponential": Mechanism(
        lambda cells, weights, common, options: exponential(
            cells, weights=weights, **common, **options
        ),
        ("sparsity", "max_attributes"),
    ),
    "opdisc": Mechanism(_opdisc, ("delta", "lift", "noise")),
    "counts": Mechanism(
        lambda cells, weights, common, options: counts_zero_one(cells, weights=weights, **common)
    ),
    "top_r": Mechanism(_top_r, ("n_best",)),
    "blockwise": Mechanism(
        lambda cells, weights, common, options: blockwise(
            cells, weights=weights, **common, **options
        ),
        ("delta", "sweeps"),
    ),
}


def select(name: str, given: Mapping[str, Any]) -> tuple[Mechanism, dict[str, Any]]:
    """A mechanism by name, with its options.

    Args:
        name: One of ``MECHANISMS``.
        given: A value for each of ``DEFAULTS``.

    Raises:
        ParameterError: There is no such mechanism, or an option was set that it does not have.
    """
    if not isinstance(name, str) or name not in MECHANISMS:
        known = ", ".join(map(repr, MECHANISMS))
        raise ParameterError(f"mechanism: one of {known} expected, not {name!r}")
    mechanism = MECHANISMS[name]
    for option, default in DEFAULTS.items():
        if option not in mechanism.options and given[option] != default:
            having = " and ".join(repr(m) for m, x in MECHANISMS.items() if option in x.options)
            raise ParameterError(f"{option}: only {having} has it, not mechanism {name!r}")
    return mechanism, {option: given[option] for option in mechanism.options}
