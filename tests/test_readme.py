"""The README's examples of private integer programs run as they stand; tables are whole."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

README = Path(__file__).parents[1] / "README.md"
PAGES = [README, *sorted((README.parent / "docs").glob("*.md"))]
EXAMPLES = [
    block
    for block in re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    if "solve_private(" in block or "opdisc(" in block
]


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4
    assert any("pulp.LpProblem" in block and "solve_private(model" in block for block in EXAMPLES)


@pytest.mark.parametrize("block", EXAMPLES)
def test_examples_run(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    namespace: dict[str, Any] = {}
    exec(compile(block, str(README), "exec"), namespace)
    assert "epsilon" in capsys.readouterr().out
    assert namespace["release"].guarantee.epsilon == 1.0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_table_has_a_head(page: Path) -> None:
    """An empty line in a table makes text of what follows."""
    for block in re.split(r"\n\s*\n", page.read_text(encoding="utf-8")):
        rows = [line for line in block.splitlines() if re.match(r"\|.*\|$", line)]
        assert not rows or re.fullmatch(r"[| :-]+", rows[1]), rows[0][:80]
