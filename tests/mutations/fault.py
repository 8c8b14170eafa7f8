"""What a planted fault is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A fault.

    Attributes:
        name: What goes wrong.
        path: The file, from the root.
        old: Text that occurs in it once.
        new: What stands there instead.
        tests: What pytest is given.
    """

    name: str
    path: str
    old: str
    new: str
    tests: tuple[str, ...]
