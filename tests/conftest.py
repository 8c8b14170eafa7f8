"""Fixtures that all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes is the machine's affair: no test here is about it.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

VARIABLE = "ORACLE_DP_TEST_DATA"


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of original data sets; tests that need it skip where there is none."""
    named = os.environ.get(VARIABLE)
    if not named:
        pytest.skip(f"{VARIABLE} names no folder of original data sets")
    folder = Path(named)
    if not folder.is_dir():
        # A mistyped path must not look like a machine without the data.
        pytest.fail(f"{VARIABLE} is set, but {folder} is not a folder")
    return folder
