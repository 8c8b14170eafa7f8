"""Engines that are optional."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from oracles.errors import SolverError


def needed(module: str, extra: str) -> Any:
    """Import a module of an optional engine.

    Raises:
        SolverError: It is not installed. The extra that brings it is named.
    """
    try:
        return import_module(module)
    except ImportError:
        missing = module
    raise SolverError(
        f"{missing.split('.')[0]} is not installed; pip install 'oracle-dp[{extra}]' brings it"
    )
