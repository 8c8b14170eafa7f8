"""The benchmark of streamed Newton iterations, at the size of a test."""

from __future__ import annotations

import pytest

from benchmarks.scale_newton import LAYOUTS, generate, measure


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_an_iteration_over_streamed_rows(layout, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("benchmarks.scale_newton.ROW_GROUP", 6000)
    for folder in (tmp_path / "one", tmp_path / "other"):
        generate(folder, layout, 20_000, seed=3)
    one, other = (path.read_bytes() for path in sorted(tmp_path.rglob("*.parquet")))
    assert one == other
    found = measure(tmp_path / "one", layout, threads=2)
    assert found["dimension"] == 105
    assert found["rows"] == 20_000
    assert 0 < found["iteration_seconds"] < 60
    assert 0 < found["peak_bytes"] < 2e9
