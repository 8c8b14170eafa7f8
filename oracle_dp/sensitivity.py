"""Range sensitivities that are proved here, and who else may vouch for one."""

from __future__ import annotations

from oracle_dp.privacy import Neighbors

ZERO_ONE = {Neighbors.REPLACE: 2, Neighbors.ADD_REMOVE: 1, Neighbors.ZERO_OUT: 1}
"""Of the number of errors: a record's loss is 0 or 1, so a difference of two losses changes by at
most 1 when the record appears or vanishes, and by at most 2 when it is replaced
(docs/theory/objective_perturbation.md, Lemma 1)."""

PROVED = "proved for the 0-1 loss"
ASSERTED = "asserted by the caller"


def is_proved(source: str) -> bool:
    """Whether a sensitivity's source is a proof, of this package, and not the caller's word."""
    return source.startswith("proved")
