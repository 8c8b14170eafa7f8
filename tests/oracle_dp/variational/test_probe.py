"""What is wrong with a caller's own operator is found before anything is charged."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

from oracle_dp import Ledger, ParameterError
from oracle_dp.ledger import Budget
from oracle_dp.variational import (
    NisppPlan,
    NsegPlan,
    RecursivePlan,
    Sampling,
    nispp,
    nseg,
    recursive_nseg,
)
from oracle_dp.variational._probe import refuted
from oracles.errors import NonMonotoneWarning
from oracles.monotone import Ball, Box, RecordFunction

N = 40
ROWS = np.random.default_rng(0).uniform(-0.5, 0.5, (N, 2))
Function = Callable[[np.ndarray, "np.ndarray | slice"], object]
METHODS = [
    (nseg, NsegPlan(sampling=Sampling.POISSON, batch_size=8, steps=3, step=0.1)),
    (
        nispp,
        NisppPlan(sampling=Sampling.FULL, batch_size=N, steps=3, weight=0.5, accuracy=1e-6),
    ),
    (recursive_nseg, RecursivePlan(weight=1.0, rounds=2, steps=3)),
]


def own(function: Function, **changes: object) -> RecordFunction:
    promised = {"n_records": N, "lipschitz": 1.0, "bound": 2.0, **changes}
    return RecordFunction(function, Ball(1.0, np.zeros(2)), **promised)


def spoilt(w: np.ndarray, records: np.ndarray | slice) -> np.ndarray:
    """NaN for the last record alone."""
    values = w - ROWS[records]
    values[np.arange(N)[records] == N - 1, 1] = np.nan
    return values


@pytest.mark.parametrize(("method", "plan"), METHODS)
@pytest.mark.parametrize(
    ("function", "match"),
    [
        (lambda w, r: w - ROWS, r"shape \(1, 2\), one row for each .* expected, not \(40, 2\)"),
        (lambda w, r: (w - ROWS[r]).sum(axis=0), r"expected, not \(2,\)"),
        (lambda w, r: np.hstack([w - ROWS[r]] * 2), r"expected, not \(1, 4\)"),
        (lambda w, r: None, r"expected, not \(\)"),
        (lambda w, r: [["a", "b"]], "returned a ndarray that is no array of numbers"),
        (spoilt, r"NaN or infinite values in coordinates \[1\]"),
    ],
)
def test_wrong_values_are_named_and_nothing_is_charged(
    method: Callable[..., object], plan: object, function: Function, match: str
) -> None:
    ledger = Ledger({"own": Budget(epsilon=9, delta=0.1)})
    with pytest.raises(ParameterError, match=f"operator: its function.*{match}"):
        method(own(function), epsilon=1.0, delta=1e-5, plan=plan, ledger=ledger, dataset="own")
    assert ledger.charges == ()


def test_nispp_refuses_what_is_not_monotone_and_charges_nothing() -> None:
    ledger = Ledger({"own": Budget(epsilon=9, delta=0.1)})
    common = {"epsilon": 1.0, "delta": 1e-5, "ledger": ledger, "dataset": "own"}
    operator = own(lambda w, r: ROWS[r] - w)
    with pytest.raises(ParameterError, match="operator: declared monotone, and is not"):
        nispp(operator, plan=METHODS[1][1], **common)
    assert ledger.charges == ()
    # Declared as what it is, with lambda above L, it is within the theorem.
    plan = NisppPlan(sampling=Sampling.FULL, batch_size=N, steps=2, weight=3.0, accuracy=1e-6)
    nispp(own(lambda w, r: ROWS[r] - w, monotone=False), plan=plan, **common)
    assert len(ledger.charges) == 1


def test_nseg_warns_of_what_is_not_monotone() -> None:
    method, plan = METHODS[0]
    chain = RecursivePlan(weight=1.0, rounds=1, steps=2, batch_size=N)
    with pytest.warns(NonMonotoneWarning, match="not monotone at sampled points"):
        recursive_nseg(own(lambda w, r: ROWS[r] - w), epsilon=1.0, delta=1e-5, plan=chain)
    with pytest.warns(NonMonotoneWarning, match=r"not monotone at sampled points.*check_operator"):
        method(own(lambda w, r: ROWS[r] - w), epsilon=1.0, delta=1e-5, plan=plan)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        method(own(lambda w, r: ROWS[r] - w, monotone=False), epsilon=1.0, delta=1e-5, plan=plan)
        method(own(lambda w, r: w - ROWS[r]), epsilon=1.0, delta=1e-5, plan=plan)


def test_a_single_record_refutes_and_the_mean_need_not() -> None:
    signs = np.where(np.arange(N) == 7, -1.0, 1.0)
    operator = own(lambda w, r: signs[r, None] * w)
    assert refuted(operator)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_rounding_refutes_nothing(size: float, offset: float) -> None:
    """Rotations, for which the inner product is zero but for rounding, far from the origin."""
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    box = Box([offset - size] * 2, [offset + size] * 2)
    operator = RecordFunction(
        lambda w, r: np.tile(turn @ w, (len(np.arange(N)[r]), 1)),
        box, n_records=N, lipschitz=1.0, bound=2 * (offset + size),
    )  # fmt: skip
    assert not refuted(operator)


def test_rounding_of_a_large_constant_refutes_nothing() -> None:
    """A rotation so slow that the constant beside it leaves little but rounding of it."""
    turn = 1e-9 * np.array([[0.0, 1.0], [-1.0, 0.0]])
    operator = RecordFunction(
        lambda w, r: np.tile(turn @ w + 1e6 / 3, (len(np.arange(N)[r]), 1)),
        Ball(1.0, np.zeros(2)), n_records=N, lipschitz=1e-9, bound=1e6,
    )  # fmt: skip
    assert not refuted(operator)
