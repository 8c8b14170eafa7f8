"""A release needs a proof, whichever solver is behind PuLP."""

from __future__ import annotations

import shutil

import pulp
import pytest

from oracle_dp import Ledger, opdisc
from oracle_dp.privacy import ContingencyKind
from oracles import Certificate, Highs, IntegerProgram, ProblemError, Pulp, SolverError
from oracles.released import ReleasedVariables


def model() -> pulp.LpProblem:
    """Choose where to open; the cost of each place comes from people."""
    problem = pulp.LpProblem("places", pulp.LpMinimize)
    places = [problem.add_variable(f"place{j}", cat=pulp.LpBinary) for j in range(3)]
    share = problem.add_variable("share", 0, 1)
    problem += 3 * places[0] - 2 * places[1] + 4 * places[2]
    problem += pulp.lpSum(places) + share >= 2
    return problem


def problem(oracle: Highs | Pulp, released: tuple[int, ...] = (0, 1, 2)) -> ReleasedVariables:
    program = IntegerProgram([3, -2, 4], [[1, 1, 1]], [2], upper=[1, 1, 1])
    return ReleasedVariables(program, released, oracle)


def test_highs_through_pulp_certifies_and_is_named() -> None:
    release = opdisc(problem(Pulp("HiGHS")), epsilon=1, sensitivity=2, random_state=3)
    assert release.guarantee.certificate is Certificate.SOLVER
    details = {c.kind: c.detail for c in release.guarantee.contingencies}
    assert "through PuLP" in details[ContingencyKind.ORACLE_BOUND]
    assert "HiGHS" in details[ContingencyKind.ORACLE_BOUND]
    direct = opdisc(problem(Highs()), epsilon=1, sensitivity=2, random_state=3)
    assert release.value.tolist() == direct.value.tolist()


@pytest.mark.skipif(
    shutil.which("cbc") is None, reason="no command cbc: apt-get install coinor-cbc"
)
def test_cbc_proves_nothing_which_is_found_before_the_charge() -> None:
    ledger = Ledger({"people": 1.0})
    with pytest.raises(SolverError, match=r"COIN_CMD .* proves no minimum .* Highs"):
        opdisc(
            problem(Pulp("COIN_CMD")), epsilon=0.6, sensitivity=2, ledger=ledger, dataset="people"
        )
    assert not ledger.charges


def test_a_failing_command_is_found_before_the_charge() -> None:
    ledger = Ledger({"people": 1.0})
    oracle = Pulp(pulp.COIN_CMD(path="/bin/false"))
    with pytest.raises(Exception, match="solver failed") as caught:
        opdisc(problem(oracle), epsilon=0.6, sensitivity=2, ledger=ledger, dataset="people")
    assert type(caught.value).__name__ == "SolverError"
    assert not ledger.charges


def test_a_continuous_variable_of_a_model_cannot_be_released() -> None:
    program = IntegerProgram.from_pulp(model())
    share = program.names.index("share")
    with pytest.raises(ProblemError, match="'share' is continuous"):
        ReleasedVariables(program, (0, share), Pulp("HiGHS"))


def test_variables_are_released_by_name_or_number() -> None:
    program = IntegerProgram([3, -2, 4], [[1, 1, 1]], [2], upper=[1, 1, 1], names=["a", "b", "c"])
    by_name = ReleasedVariables(program, ("c", "a"), Highs())
    assert by_name.lift.coordinates == (2, 0)
    with pytest.raises(ProblemError, match="no variable 'd'"):
        ReleasedVariables(program, ("d",), Highs())
