"""The standing set: complete, quick enough to be run, and able to fail."""

from __future__ import annotations

import importlib
import math
from pathlib import Path

import pytest

import oracle_dp
from oracle_dp.audit import standing
from oracle_dp.audit.standing import Audit, Finding, Method, perturbation, run, standing_set
from oracle_dp.audit.standing.zero_one import MOVED
from oracle_dp.errors import ParameterError
from oracle_dp.mechanisms import counts
from oracle_dp.privacy import Neighbors

NAN = math.nan
PACKAGES = ("mechanisms", "first_order", "second_order", "variational")


def names() -> set[str]:
    """Of every mechanism there is."""
    root = Path(oracle_dp.__file__).parent
    modules = [
        importlib.import_module(f"oracle_dp.{package}.{path.stem}")
        for package in PACKAGES
        for path in (root / package).glob("*.py")
        if path.stem != "__init__"
    ]
    return {module.MECHANISM for module in modules if hasattr(module, "MECHANISM")}


def test_every_mechanism_is_audited() -> None:
    sound = [audit for audit in standing_set() if not audit.expected_violation]
    few = {"counts", "opdisc", "gradient_descent", "cubic_newton", "nispp", "variational_gap"}
    assert few <= names() <= {audit.mechanism for audit in sound}
    # No other package has mechanisms.
    root = Path(oracle_dp.__file__).parent
    stating = {path for path in root.rglob("*.py") if "\nMECHANISM = " in path.read_text()}
    assert {path.parent.name for path in stating} == set(PACKAGES)
    labels = [audit.name for audit in standing_set()]
    assert len(set(labels)) == len(labels)


def test_every_lift_and_noise_is_audited() -> None:
    assert len(perturbation.VARIANTS) == 5
    for lift, noise in perturbation.VARIANTS:
        drawn = {Method.DRAWS} if lift in perturbation.DRAWN else set()
        found = {audit.method for audit in standing_set(f"{lift}, {noise}")}
        assert found == {Method.EXACT, *drawn}


def test_closed_forms_hold_and_the_known_bad_are_found_out() -> None:
    exact = [audit for audit in standing_set() if audit.method is Method.EXACT]
    found = list(run(exact, seed=0))
    assert all(one.as_expected for one in found)
    assert sum(one.violates for one in found) == 2
    # Not by being blind: twice as much would be found out.
    assert [one.audit.name for one in found if one.measured < 0.55] == []


@pytest.mark.parametrize("name", ["one_hot, geometric, draws", "counts (replace)", "planted"])
def test_draws(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oracle_dp.audit.standing.zero_one.DRAWS", 2_000)
    monkeypatch.setattr("oracle_dp.audit.standing.perturbation.DRAWS", 2_000)
    monkeypatch.setattr("oracle_dp.audit.standing.estimators.CANARIES", 2_000)
    for finding in run(standing_set(name), seed=1):
        assert finding.as_expected
        assert finding.measured > 0.25


def test_the_audit_by_draws_finds_a_wrong_sensitivity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(counts.L1_SENSITIVITY, Neighbors.REPLACE, 1)
    assert next(run(standing_set("counts (replace)"), seed=0)).violates
    monkeypatch.setitem(counts.L1_SENSITIVITY, Neighbors.REPLACE, 2)


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_the_audit_of_counts_sees_what_the_mechanism_does(
    relation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    exponent = counts._exponent
    monkeypatch.setattr(counts, "_exponent", lambda *given: 2 * exponent(*given))
    assert next(run(standing_set(f"counts ({relation})"), seed=0)).violates
    used = []
    seen = counts.noisy_differences
    monkeypatch.setattr(
        counts, "noisy_differences", lambda *a, **k: used.append(k) or seen(*a, **k)
    )
    counts.counts_zero_one(MOVED[0], epsilon=1, neighbors=relation, random_state=0)
    assert [(one["epsilon"], one["neighbors"].value) for one in used] == [(1, relation)]


def test_the_audit_in_one_run_finds_a_fourfold_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    audits = standing_set("exponential (replace, ZeroOne")
    monkeypatch.setattr("oracle_dp.audit.standing.estimators.EPSILON", 4)
    (finding,) = run(audits, seed=0)
    assert finding.audit.claimed == 1
    assert finding.measured > 1.5


def test_verdicts() -> None:
    def finding(measured: float, *, expected: bool) -> Finding:
        audit = Audit(
            mechanism="m", variant="v", claimed=1.0, method=Method.EXACT,
            expected_violation=expected, measure=lambda _: measured,
        )  # fmt: skip
        return next(run([audit], seed=0))

    verdicts = {
        (measured, expected): finding(measured, expected=expected).verdict
        for measured in (0.5, 1.5, NAN)
        for expected in (False, True)
    }
    assert verdicts == {
        (0.5, False): "holds",
        (1.5, False): "VIOLATED",
        (0.5, True): "MISSED: the audit is blind",
        (1.5, True): "found out",
        (NAN, False): "VIOLATED",
        (NAN, True): "MISSED: the audit is blind",
    }
    assert not any(finding(NAN, expected=expected).as_expected for expected in (False, True))


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"there are .*blockwise"):
        standing_set("no such thing")
    assert set(standing.MODULES) == {
        path.stem for path in Path(standing.__file__).parent.glob("*.py") if path.stem != "__init__"
    }
