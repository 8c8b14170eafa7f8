"""Fixtures for the tests of the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracle_dp import Release

from .support import CARD, GUARANTEE


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.json"
    path.write_text(Release(CARD, GUARANTEE).to_json(), encoding="utf-8")
    return path


@pytest.fixture
def untrained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whether a fit was begun; it goes no further."""
    begun: list[str] = []
    monkeypatch.setattr(
        "oracle_dp.estimators.zero_one.ZeroOneClassifier.fit",
        lambda self, x, y: begun.append("fit"),
    )
    monkeypatch.setattr(
        "oracle_dp.estimators.zero_one.ZeroOneClassifier.fit_cells",
        lambda self, cells: begun.append("fit"),
    )
    return begun
