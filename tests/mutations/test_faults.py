"""Faults can still be planted; that they are caught is shown by ``python -m tests.mutations``."""

from __future__ import annotations

import ast

import pytest

from tests.mutations.__main__ import ROOT
from tests.mutations.fault import Fault
from tests.mutations.faults import FAULTS


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_can_be_planted(fault: Fault) -> None:
    text = (ROOT / fault.path).read_text(encoding="utf-8")
    assert text.count(fault.old) == 1
    changed = text.replace(fault.old, fault.new)
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text))
    for test in fault.tests:
        assert not test.endswith(".py") or (ROOT / test).is_file()


def test_there_are_enough_and_no_two_alike() -> None:
    assert len(FAULTS) >= 20
    assert len({fault.name for fault in FAULTS}) == len({(f.path, f.old) for f in FAULTS})
