"""The experiments of the page, in its order."""

from __future__ import annotations

from importlib import import_module

from experiments.framework.experiment import Experiment

NAMES: tuple[str, ...] = (
    "adult_accuracy",
    "adult_author",
    "lift_excess",
    "parity_epsilon",
    "second_order_time",
    "second_order_conversion",
    "variational_rates",
    "private_programs",
)
"""Modules of ``experiments`` with an ``EXPERIMENT``. To add one, add its name."""


def experiment(name: str) -> Experiment:
    """The experiment of a module.

    Raises:
        ValueError: Its name is another one.
    """
    found: Experiment = import_module(f"experiments.{name}").EXPERIMENT
    if found.name != name:
        raise ValueError(f"experiments.{name} calls itself {found.name!r}")
    return found


def registered() -> list[Experiment]:
    """All of them."""
    return [experiment(name) for name in NAMES]
