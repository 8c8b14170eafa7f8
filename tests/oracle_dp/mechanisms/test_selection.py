"""The exponential mechanism over integer programs: guarantee, charges, limits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from oracle_dp import Ledger, OverspendError, ParameterError, UncertifiedError
from oracle_dp.mechanisms.selection import SelectionExponential
from oracle_dp.privacy import ContingencyKind
from oracles import Certificate, Exhaustive, IntegerProgram, Limits
from oracles.selection.base import BaseSet
from oracles.selection.facility import FacilityLoss
from oracles.selection.linear import ProgramLoss


def loss() -> FacilityLoss:
    g = np.random.default_rng(0)
    return FacilityLoss(BaseSet.subsets(8, exactly=3), g.integers(0, 20, (12, 8)))


def test_the_guarantee_says_what_it_rests_on() -> None:
    mechanism = SelectionExponential(
        loss(), epsilon=0.1, sensitivity=3, neighbors="add_remove", sensitivity_source="proved: toy"
    )
    release = mechanism.release()
    guarantee = release.guarantee
    assert release.value.sum() == 3
    assert (guarantee.epsilon, guarantee.delta) == (0.1, 0.0)
    assert guarantee.rho == pytest.approx(0.1**2 / 8)
    assert guarantee.certificate is Certificate.EXACT
    assert guarantee.sensitivity == 3.0
    assert {c.kind for c in guarantee.contingencies} == {ContingencyKind.RUNNING_TIME}
    assert mechanism.sampler.beta == Fraction(1, 30)


def test_a_callers_sensitivity_a_limit_and_a_seed_are_named() -> None:
    release = SelectionExponential(loss(), epsilon=1, sensitivity=3).release(
        limits=Limits(rounds=10_000), random_state=0
    )
    kinds = {c.kind for c in release.guarantee.contingencies}
    assert kinds >= {ContingencyKind.CALLER, ContingencyKind.COMPLETION, ContingencyKind.SEEDED}


def test_recourse_rests_on_its_oracle() -> None:
    program = IntegerProgram([3, -2, 4, -3], [[1, 1, 0, 1]], row_upper=[2], upper=[1, 1, 1, 2])
    release = SelectionExponential(
        ProgramLoss(program, (0, 1, 2), Exhaustive()), epsilon=1, sensitivity=1
    ).release(random_state=0)
    assert release.guarantee.certificate is Certificate.SOLVER
    bound = [c for c in release.guarantee.contingencies if c.kind is ContingencyKind.ORACLE_BOUND]
    assert "enumeration" in bound[0].detail


def test_every_draw_is_charged_before_it_is_made() -> None:
    ledger = Ledger({"people": 1.0})
    draws = SelectionExponential(loss(), epsilon="0.4", sensitivity=3).releases(
        5, ledger=ledger, dataset="people", random_state=0
    )
    assert len([next(draws), next(draws)]) == 2
    with pytest.raises(OverspendError):
        next(draws)
    assert ledger.spent("people")[0] == Fraction(4, 5)


def test_a_limit_refuses_and_keeps_the_charge() -> None:
    ledger = Ledger({"people": 1.0})
    g = np.random.default_rng(0)
    hard = FacilityLoss(BaseSet.subsets(40, exactly=12), g.integers(0, 100, (60, 40)))
    mechanism = SelectionExponential(hard, epsilon=1, sensitivity=100)
    with pytest.raises(UncertifiedError, match="depends on the data"):
        mechanism.release(limits=Limits(rounds=1), ledger=ledger, dataset="people", random_state=0)
    assert ledger.spent("people")[0] == 1


@pytest.mark.parametrize(
    "wrong",
    [{"epsilon": 0}, {"epsilon": -1}, {"sensitivity": 0}, {"sensitivity": float("nan")},
     {"neighbors": "next"}],
)  # fmt: skip
def test_parameters_out_of_range(wrong: dict[str, object]) -> None:
    given = {"epsilon": 1, "sensitivity": 1, **wrong}
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        SelectionExponential(loss(), **given)  # wrong on purpose


def test_node_limits_mean_nothing_here() -> None:
    with pytest.raises(ParameterError, match="nodes"):
        SelectionExponential(loss(), epsilon=1, sensitivity=1).release(limits=Limits(nodes=5))
