"""Plans: budgets too small for them are refused, and vacuous bounds are warned of."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from oracle_dp import Ledger, ParameterError, VacuousBoundWarning
from oracle_dp.ledger import Budget
from oracle_dp.variational import (
    Constants,
    NisppPlan,
    NsegPlan,
    PrivacyTarget,
    RecursivePlan,
    Sampling,
    nispp,
    nispp_multi_pass,
    nispp_single_pass,
    nseg,
    nseg_multi_pass,
    nseg_single_pass,
    recursive_nseg,
)
from oracles.monotone import MatrixGame

GAME = MatrixGame(np.random.default_rng(0).uniform(-1, 1, (60, 3, 3)))
CONSTANTS = Constants(
    dimension=8,
    lipschitz=1.0,
    bound=2.83,
    diameter=2.0,
    magnitude=1.0,
    noise_length=2.83 * math.sqrt(8),
)


@pytest.mark.parametrize("make", [nseg_multi_pass, nispp_multi_pass])
@pytest.mark.parametrize("sampling", [Sampling.FULL, Sampling.POISSON])
def test_several_passes_are_refused_where_noise_drowns_the_operator(
    make: Callable[..., object], sampling: Sampling
) -> None:
    target = PrivacyTarget.checked(0.01, 1e-6, "replace")
    with pytest.raises(ParameterError, match=r"epsilon: too small for n = 500.*raise epsilon or n"):
        make(CONSTANTS, 500, target, sampling=sampling)


def test_the_default_plan_is_refused_before_the_charge() -> None:
    ledger = Ledger({"games": Budget(epsilon=9.0, delta=0.1)})
    for method in (nseg, nispp):
        with pytest.raises(ParameterError, match="epsilon: too small"):
            method(GAME, epsilon=1e-9, delta=1e-6, ledger=ledger, dataset="games")
    with pytest.raises(ParameterError, match=r"epsilon: too small for n = 12.*no step fits"):
        recursive_nseg(
            GAME, epsilon=1e-9, delta=1e-6, ledger=ledger, dataset="games",
            plan=RecursivePlan(weight=1.0),
        )  # fmt: skip
    assert ledger.charges == ()


@pytest.mark.parametrize(
    ("make", "epsilon"),
    [(nseg_single_pass, 0.1), (nispp_single_pass, 0.1), (nseg_multi_pass, 0.1),
     (nispp_multi_pass, 0.05)],
)  # fmt: skip
def test_a_bound_no_better_than_any_point_s_is_warned_of(
    make: Callable[..., NsegPlan | NisppPlan], epsilon: float
) -> None:
    with pytest.warns(VacuousBoundWarning, match=r"gap_bound: .* no better than M D = 5\.66"):
        plan = make(CONSTANTS, 500, PrivacyTarget.checked(epsilon, 1e-6, "replace"))
    assert plan.gap_bound >= CONSTANTS.trivial_gap
    # Warnings are errors here: with more of epsilon there is none.
    good = make(CONSTANTS, 500, PrivacyTarget.checked(3.0, 1e-6, "replace"))
    assert good.gap_bound < CONSTANTS.trivial_gap


def test_numpy_s_integers_are_integers() -> None:
    values = [
        nseg(
            GAME, epsilon=1.0, delta=1e-5, random_state=0,
            plan=NsegPlan(sampling=Sampling.POISSON, batch_size=kind(20), steps=kind(5), step=0.1),
        ).value
        for kind in (int, np.int64)
    ]  # fmt: skip
    np.testing.assert_array_equal(*values)
    values = [
        recursive_nseg(
            GAME, epsilon=1.0, delta=1e-5, random_state=0,
            plan=RecursivePlan(weight=1.0, rounds=kind(2), steps=kind(5), batch_size=kind(9)),
        ).value
        for kind in (int, np.int64)
    ]  # fmt: skip
    np.testing.assert_array_equal(*values)


@pytest.mark.parametrize("field", ["weight", "accuracy"])
@pytest.mark.parametrize("given", ["a", None, math.nan, -1.0])
def test_what_is_no_positive_number_is_named(field: str, given: object) -> None:
    fields = {"weight": 10.0, "accuracy": 1e-6, field: given}
    plan = NisppPlan(sampling=Sampling.FULL, batch_size=60, steps=2, **fields)
    with pytest.raises(ParameterError, match="weight, accuracy: positive finite numbers"):
        nispp(GAME, epsilon=1.0, delta=1e-5, plan=plan)
    if field == "weight":
        with pytest.raises(ParameterError, match="weight: a positive finite number"):
            recursive_nseg(GAME, epsilon=1.0, delta=1e-5, plan=RecursivePlan(weight=given))


@pytest.mark.parametrize("field", ["rounds", "steps", "batch_size"])
def test_rounds_steps_and_batches_are_integers(field: str) -> None:
    for given in ("a", 1.5, True):
        plan = RecursivePlan(weight=1.0, **{field: given})
        with pytest.raises(ParameterError, match=rf"{field}.*: "):
            recursive_nseg(GAME, epsilon=1.0, delta=1e-5, plan=plan)
