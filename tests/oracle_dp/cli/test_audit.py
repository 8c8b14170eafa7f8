"""``oracle-dp audit``: the report, its JSON, and its exit code."""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Callable

import pytest

from oracle_dp.audit import standing
from oracle_dp.audit.standing import Audit, Method
from oracle_dp.cli.audit import _progress

from .support import refused, run


def test_the_report() -> None:
    result = run("audit", "--only", "law")
    assert result.exit_code == 0
    head, _, line, *_ = result.stdout.splitlines()
    assert head.split() == ["mechanism", "claimed", "delta", "measured", "method", "verdict"]
    assert line.index("1.000") + 5 == head.index("claimed") + 7
    assert line.endswith("holds")


def test_json() -> None:
    result = run("audit", "--only", "released_sigma", "--json")
    assert result.exit_code == 0
    for entry in json.loads(result.stdout):
        assert entry["expected_violation"] is True
        assert entry["measured"] > entry["claimed"] == 1.0
        assert entry["mechanism"].startswith("released_sigma")


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    def plant(measured: float) -> None:
        audit = Audit(
            mechanism="m", variant="v", claimed=1.0, method=Method.EXACT, measure=lambda _: measured
        )
        monkeypatch.setattr(standing, "standing_set", lambda _: [audit])

    return plant


@pytest.mark.parametrize("measured", [1.5, math.inf, math.nan])
def test_a_violation_shows_in_the_exit_code(
    planted: Callable[[float], None], measured: float
) -> None:
    planted(measured)
    result = run("audit")
    assert result.exit_code == 1
    assert "VIOLATED" in result.stdout
    assert "1 not as expected" in result.stdout
    assert json.loads(run("audit", "--json").stdout)[0]["measured"] >= 1.5


def test_what_is_no_number_finds_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    blind = Audit(
        mechanism="m", variant="v", claimed=1.0, method=Method.EXACT, expected_violation=True,
        measure=lambda _: math.nan,
    )  # fmt: skip
    monkeypatch.setattr(standing, "standing_set", lambda _: [blind])
    result = run("audit", "--json")
    assert result.exit_code == 1
    (entry,) = json.loads(result.stdout)
    assert entry["measured"] <= entry["claimed"]
    assert entry["verdict"].startswith("MISSED")


def test_a_claim_that_holds_is_not_rounded_above_itself(planted: Callable[[float], None]) -> None:
    planted(0.99999)
    assert "0.999" in run("audit").stdout


def test_no_such_audit() -> None:
    refused(run("audit", "--only", "nothing"), "only: no audit has 'nothing' in its name")


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    audits = standing.standing_set("law")
    with _progress(audits) as followed:
        assert [one.audit for one in followed(standing.run(audits, seed=0))] == audits
    assert "100%" in terminal.getvalue()
