"""Whether counted draws fit an enumerated law."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import TypeVar

from scipy.stats import chisquare

OutcomeT = TypeVar("OutcomeT", bound=Hashable)


def p_value(seen: Counter[OutcomeT], law: Mapping[OutcomeT, float], least: float = 8.0) -> float:
    """Chi-square of the counts; outcomes expected fewer than ``least`` times are put together."""
    assert set(seen) <= set(law)
    n = sum(seen.values())
    often = [w for w, p in law.items() if n * p >= least]
    counts = [float(seen[w]) for w in often]
    expected = [n * law[w] for w in often]
    if n - sum(expected) > 1e-6 * n:
        counts.append(n - sum(counts))
        expected.append(n - sum(expected))
    return float(chisquare(counts, expected).pvalue)
